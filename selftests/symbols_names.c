// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Does each kind of symbol answer where it should, and nowhere else? Sizes, gaps, labels without
 * size, PLT stubs, perf maps, the vDSO, and names made to harm.
 */
#include "harness/demangle.h"
#include "harness/symbols.h"
#include "harness/symbols_ranges.h"
#include "selftests/lib/symbols_build.h"

#include <elf.h>
#include <sys/auxv.h>
#include <time.h>

static unsigned int seed = 1;

static unsigned int any(unsigned int below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Against the definition: the highest prio of the ranges that cover an address. */
TEST(ranges)
{
	for (int round = 0; round < 2000; round++) {
		struct symbols_ranges r = { 0 };
		int nr = (int)any(12);
		int want[64];

		memset(want, -1, sizeof(want));
		for (int i = 0; i < nr; i++) {
			u64 start = any(60), end = start + any(round % 2 ? 8 : 40);

			ASSERT_TRUE(symbols_ranges_add(&r, start, end, (u64)i, (u32)i));
			for (u64 at = start; at < end && at < 64; at++)
				want[at] = i;
		}
		ASSERT_TRUE(symbols_ranges_flatten(&r));
		for (u64 at = 0; at < 64; at++) {
			const struct symbols_range *f = symbols_ranges_find(&r, at);

			ASSERT_EQ(want[at], f ? (int)f->item : -1);
		}
		symbols_ranges_free(&r);
	}
}

TEST(ranges_at_the_edges)
{
	struct symbols_ranges r = { 0 };

	EXPECT_TRUE(symbols_ranges_flatten(&r));
	EXPECT_NULL(symbols_ranges_find(&r, 0));
	symbols_ranges_add(&r, 0, UINT64_MAX, 1, 1);
	symbols_ranges_add(&r, 5, 5, 2, 2);
	symbols_ranges_add(&r, 7, 6, 3, 3);
	EXPECT_TRUE(symbols_ranges_flatten(&r));
	EXPECT_EQ(1, r.nr);
	EXPECT_EQ(1, symbols_ranges_find(&r, UINT64_MAX - 1)->item);
	EXPECT_NULL(symbols_ranges_find(&r, UINT64_MAX));
	symbols_ranges_free(&r);
}

/* A deep nest is what makes a walk back through starts quadratic. */
TEST(ranges_cost)
{
	struct symbols_ranges r = { 0 };

	for (u64 i = 0; i < 500000; i++) {
		ASSERT_TRUE(symbols_ranges_add(&r, i, 2000000 - i, i, (u32)i));
	}
	ASSERT_TRUE(symbols_ranges_flatten(&r));
	for (u64 i = 0; i < 1000000; i++) {
		ASSERT_NE(NULL, symbols_ranges_find(&r, i));
	}
	symbols_ranges_free(&r);
}

/* ---- demangling ---- */

TEST(demangle_known)
{
	static const char *const names[][2] = {
		{ "_ZN3foo3barEiPKc", "foo::bar(int, char const*)" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
		{ "_RNvC7mycrate3foo", "mycrate::foo" },
		{ "_RNvMs_C7mycrateNtB4_3Bar3new", "<mycrate::Bar>::new" },
		{ "_ZL5localv.isra.0", "local() [clone .isra.0]" },
	};
	char out[DEMANGLE_MAX_OUT];

	for (size_t i = 0; i < EHF_ARRAY_SIZE(names); i++) {
		EXPECT_EQ(DEMANGLE_DONE, demangle(names[i][0], out, sizeof(out)));
		EXPECT_STREQ(names[i][1], out);
	}
	EXPECT_EQ(DEMANGLE_PLAIN, demangle("main", out, sizeof(out)));
	EXPECT_EQ(DEMANGLE_PLAIN, demangle("", out, sizeof(out)));
	EXPECT_EQ(DEMANGLE_REFUSED, demangle("_Zzzzz", out, sizeof(out)));
	EXPECT_EQ(DEMANGLE_TOO_LONG, demangle("_ZN3foo3barEiPKc", out, 8));
}

/* Each stands for more text than there is memory, or for deep recursion. */
TEST_TIMEOUT(demangle_bounded, 120)
{
	static char name[100000], out[DEMANGLE_MAX_OUT];
	char *p = name;

	p += sprintf(p, "_Z1f4pairIiiE");
	for (int i = 0; i < 30; i++) {
		static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

		p += sprintf(p, "S_IS%c_S%c_E", digit[i], digit[i]);
	}
	EXPECT_EQ(DEMANGLE_TOO_LONG, demangle(name, out, sizeof(out)));
	p = name + sprintf(name, "_RIC1a");
	for (int i = 0; i < 1000; i++)
		p += sprintf(p, "TB3_B3_");
	demangle(name, out, sizeof(out));
	memset(name, 0, sizeof(name));
	memcpy(name, "_Z", 2);
	memset(name + 2, 'N', DEMANGLE_MAX_IN - 3);
	EXPECT_EQ(DEMANGLE_REFUSED, demangle(name, out, sizeof(out)));
	memset(name + 2, 'P', DEMANGLE_MAX_IN - 3);
	EXPECT_NE(DEMANGLE_DONE, demangle(name, out, sizeof(out)));
	memset(name + 2, 'P', sizeof(name) - 3);
	EXPECT_EQ(DEMANGLE_TOO_LONG, demangle(name, out, sizeof(out)));
}

TEST_TIMEOUT(demangle_any_bytes, 300)
{
	static const char alphabet[] = "_ZRNSTIELXJDpdtFvicbCMKQsuyh0123456789abBGiuAPOr$.";
	char name[400], out[DEMANGLE_MAX_OUT];

	for (int round = 0; round < 200000; round++) {
		size_t len = 2 + any(sizeof(name) - 3);

		memcpy(name, any(2) ? "_R" : "_Z", 2);
		for (size_t i = 2; i < len; i++)
			name[i] = alphabet[any(sizeof(alphabet) - 1)];
		name[len] = '\0';
		demangle(name, out, sizeof(out));
	}
}

TEST(printable)
{
	char out[64], wide[256];

	EXPECT_EQ(0, demangle_printable("a<b>&\"'c", out, sizeof(out)));
	EXPECT_STREQ("a<b>&\"'c", out);		/* HTML is the page's business */
	EXPECT_EQ(0, demangle_printable("a\033[31mb\n\177", out, sizeof(out)));
	EXPECT_STREQ("a\\x1b[31mb\\x0a\\x7f", out);
	EXPECT_EQ(0, demangle_printable("gr\303\274n \342\202\254", out, sizeof(out)));
	EXPECT_STREQ("gr\303\274n \342\202\254", out);
	EXPECT_EQ(0, demangle_printable("\302\233x \340\200\257 \355\240\200", wide, sizeof(wide)));
	EXPECT_STREQ("\\xc2\\x9bx \\xe0\\x80\\xaf \\xed\\xa0\\x80", wide);
	EXPECT_EQ(0, demangle_printable("\342\200\256x", out, sizeof(out)));	/* right to left */
	EXPECT_STREQ("\\xe2\\x80\\xaex", out);
	EXPECT_EQ(76, demangle_printable("0123456789012345678901234567890123456789012345678901234567890123"
					 "456789012345678901234567890123456789", out, sizeof(out)));
	EXPECT_STREQ("012345678901234567890123...[100 bytes]", out);
}

/* ---- symbol tables ---- */

FIXTURE(names) { struct symbols *s; struct symbols_module *mod; };

FIXTURE_SETUP(names)
{
	struct symbols_options opts = { 0 };

	build_enter();
	self->s = symbols_new(&opts);
	ASSERT_NE(NULL, self->s);
}

FIXTURE_TEARDOWN(names)
{
	symbols_free(self->s);
	build_remove();
}

static struct symbols_module *module(struct symbols *s, const char *name)
{
	struct symbols_key key = { .path = build_path(name) };

	return symbols_module(s, &key);
}

/* Addresses by name from nm, of the file that still has them. */
static u64 address_of(const char *file, const char *name)
{
	unsigned long long addr = 0;
	FILE *f;

	if (!build_try("nm %s | awk '$3 == \"%s\" { print $1 }' > addr", file, name))
		return 0;
	f = fopen(build_path("addr"), "r");
	if (!f || fscanf(f, "%llx", &addr) != 1)
		addr = 0;
	if (f)
		fclose(f);
	EXPECT_NE(0, addr);
	return addr;
}

static const char asm_source[] =
	"	.text\n"
	"	.globl	sized, bare, outer\n"
	"	.type	sized, @function\n"
	"sized:	.skip	16, 0x90\n"
	"	.size	sized, . - sized\n"
	"gap:	.skip	16, 0x90\n"		/* stripped: only its bytes stay */
	"bare:	.skip	16, 0x90\n"		/* no size, no type */
	"	.type	outer, @function\n"
	"outer:	.skip	8, 0x90\n"
	"inner:	.skip	8, 0x90\n"		/* a label inside */
	"	.size	outer, . - outer\n"
	"tail:	.skip	8, 0x90\n"
	"	.section .note.GNU-stack\n";

TEST_F(names, a_symbol_answers_inside_its_size)
{
	const struct symbols_answer *a;
	struct symbols_module *mod;
	u64 sized, bare, outer;

	ASSERT_TRUE(build_write("a.s", asm_source));
	BUILD("$CC -nostdlib -shared -o full a.s && "
	      "objcopy -N gap -N tail full prog");
	sized = address_of("full", "sized");
	bare = address_of("full", "bare");
	outer = address_of("full", "outer");
	mod = module(self->s, "prog");
	a = symbols_lookup(mod, sized + 15, true);
	EXPECT_STREQ("sized", a->name);
	EXPECT_EQ(15, a->offset);
	EXPECT_EQ(16, a->size);
	EXPECT_FALSE(a->guess);
	/* The gap after it: not "sized+0x10". */
	EXPECT_NULL(symbols_lookup(mod, sized + 16, true)->name);
	EXPECT_NULL(symbols_lookup(mod, sized + 31, true)->name);
	/* As a return address it is behind a call that is still in "sized". */
	a = symbols_lookup(mod, sized + 16, false);
	EXPECT_STREQ("sized", a->name);
	EXPECT_EQ(16, a->offset);
	/* Without a size: a guess, up to the next symbol. */
	a = symbols_lookup(mod, bare + 15, true);
	EXPECT_STREQ("bare", a->name);
	EXPECT_TRUE(a->guess);
	EXPECT_EQ(16, a->size);
	/* A label inside of a function is not the function, and does not reach past it. */
	EXPECT_STREQ("outer", symbols_lookup(mod, outer + 9, true)->name);
	EXPECT_NULL(symbols_lookup(mod, outer + 16, true)->name);
	EXPECT_EQ(1, symbols_stats(self->s)->guesses);
}

/* A core's program may lie outside the prefix below which its libraries are looked for. */
TEST_F(names, a_file_of_this_host_beside_a_prefix)
{
	struct symbols_options opts = { .debuginfo.symfs = build_path("root") };
	struct symbols_key key = { 0 };
	struct symbols_module *below, *named;
	struct symbols *s;
	char path[512];
	u64 sized;

	ASSERT_TRUE(build_write("a.s", asm_source));
	BUILD("mkdir root && $CC -nostdlib -shared -o prog a.s");
	sized = address_of("prog", "sized");
	s = symbols_new(&opts);
	ASSERT_NE(NULL, s);
	snprintf(path, sizeof(path), "%s", build_path("prog"));
	key.path = path;
	below = symbols_module(s, &key);
	key.host_path = path;
	named = symbols_module(s, &key);
	EXPECT_NE(below, named);
	EXPECT_EQ(named, symbols_module(s, &key));
	EXPECT_NULL(symbols_lookup(below, sized, true)->name);
	EXPECT_STREQ("sized", symbols_lookup(named, sized, true)->name);
	symbols_free(s);
}

TEST_F(names, dynsym_only_gap)
{
	struct symbols_module *mod;
	u64 hidden, shown;

	ASSERT_TRUE(build_write("a.c", "int shown(int a) { return a + 1; }\n"
				"__attribute__((noinline, used)) static int hidden(int a) { return a * 3; }\n"
				"int user(int a) { return hidden(a); }\n"));
	BUILD("$CC -O1 -fPIC -shared -o full a.c && strip -s -o prog full");
	hidden = address_of("full", "hidden");
	shown = address_of("full", "shown");
	mod = module(self->s, "prog");
	EXPECT_STREQ("shown", symbols_lookup(mod, shown, true)->name);
	EXPECT_EQ(SYMBOLS_TABLE_DYNSYM, symbols_lookup(mod, shown, true)->table);
	EXPECT_NULL(symbols_lookup(mod, hidden, true)->name);
	EXPECT_EQ(SYMBOLS_TABLE_NONE, symbols_lookup(mod, hidden, true)->table);
}

FIXTURE(plt) { struct symbols *s; };
FIXTURE_VARIANT(plt) { const char *flags; };
FIXTURE_VARIANT_ADD(plt, lazy) { .flags = "-Wl,-z,lazy -fcf-protection=none" };
FIXTURE_VARIANT_ADD(plt, ibt) { .flags = "-Wl,-z,lazy,-z,ibtplt -fcf-protection=full" };
FIXTURE_VARIANT_ADD(plt, got) { .flags = "-Wl,-z,now -fcf-protection=none -DADDRESS" };
FIXTURE_VARIANT_ADD(plt, lld) { .flags = "-fuse-ld=lld" };
FIXTURE_VARIANT_ADD(plt, mold) { .flags = "-fuse-ld=mold" };

FIXTURE_SETUP(plt)
{
	struct symbols_options opts = { 0 };

	build_enter();
	self->s = symbols_new(&opts);
	ASSERT_TRUE(build_write("a.c", "#include <stdio.h>\n#include <stdlib.h>\n"
				"#ifdef ADDRESS\nint (*volatile f)(const char *) = puts;\n#endif\n"
				"int main(void) { puts(\"a\"); return (int)strtol(getenv(\"A\"), NULL, rand()); }\n"));
	BUILD("$CC -O1 %s -o full a.c && strip -s -o prog full", variant->flags);
}

FIXTURE_TEARDOWN(plt)
{
	symbols_free(self->s);
	build_remove();
}

/* Against objdump, which knows binutils' own layouts; and never by the target's own name. */
TEST_F(plt, as_objdump)
{
	struct symbols_module *mod = module(self->s, "prog");
	unsigned long long addr;
	char name[256];
	int nr = 0;
	FILE *f;

	BUILD("objdump -d full | sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p' > want");
	f = fopen(build_path("want"), "r");
	while (fscanf(f, "%llx %255s", &addr, name) == 2) {
		const struct symbols_answer *a = symbols_lookup(mod, addr, true);

		EXPECT_EQ(SYMBOLS_TABLE_PLT, a->table);
		EXPECT_STREQ(name, a->name);
		EXPECT_STREQ(name, symbols_lookup(mod, addr + 5, true)->name);
		nr++;
	}
	fclose(f);
	EXPECT_LE(1, nr);
}

/* Each function that main() calls has a stub, in whatever layout. */
TEST_F(plt, all_are_named)
{
	static const char *const want[] = { "puts@plt", "rand@plt", "getenv@plt", "strtol@plt" };
	struct symbols_module *mod = module(self->s, "prog");
	unsigned long long addr, size;
	unsigned int seen = 0;
	FILE *f;

	BUILD("readelf -SW full | sed 's/^ *\\[ *[0-9]*\\] *//' | "
	      "awk '$1 ~ /^\\.plt/ { print $3, $5 }' > want");
	f = fopen(build_path("want"), "r");
	while (fscanf(f, "%llx %llx", &addr, &size) == 2) {
		for (u64 at = 0; at < size; at++) {
			const char *name = symbols_lookup(mod, addr + at, true)->name;

			for (size_t i = 0; i < EHF_ARRAY_SIZE(want); i++)
				seen |= (unsigned int)(name && !strcmp(name, want[i])) << i;
		}
	}
	fclose(f);
	EXPECT_EQ(15, seen);
}

TEST_F(names, plt_of_cxx)
{
	struct symbols_module *mod;
	unsigned long long addr;
	FILE *f;

	ASSERT_TRUE(build_write("a.cc", "int *p; int main() { p = new int[3]; return 0; }\n"));
	BUILD("$CXX -O1 -o prog a.cc && objdump -d prog | sed -n 's/^\\([0-9a-f]*\\) <_Znam@plt>:$/\\1/p' "
	      "> addr");
	f = fopen(build_path("addr"), "r");
	ASSERT_EQ(1, fscanf(f, "%llx", &addr));
	fclose(f);
	mod = module(self->s, "prog");
	EXPECT_STREQ("operator new[](unsigned long)@plt", symbols_lookup(mod, addr, true)->name);
	EXPECT_EQ(0, symbols_stats(self->s)->not_demangled);
}

TEST_F(names, made_to_harm)
{
	const struct symbols_answer *a;
	struct symbols_module *mod;
	u64 addr;

	ASSERT_TRUE(build_write("a.c", "int shown(int a) { return a + 1; }\n"
				"int other(int a) { return a + 2; }\n"));
	BUILD("$CC -O1 -fPIC -shared -o full a.c && "
	      "{ printf 'shown '; head -c 1048576 /dev/zero | tr '\\0' x; "
	      "printf '\\nother \\033[2J<script>;\\n'; } > map && "
	      "objcopy --redefine-syms=map full prog");
	addr = address_of("full", "shown");
	mod = module(self->s, "prog");
	a = symbols_lookup(mod, addr, true);
	if (a->table == SYMBOLS_TABLE_SYMTAB) {
		EXPECT_LE(1048576, strlen(a->raw));
		EXPECT_GT(SYMBOLS_NAME_MAX, strlen(a->name));
		EXPECT_NE(NULL, strstr(a->name, "...[1048576 bytes]"));
		EXPECT_EQ(1, symbols_stats(self->s)->names_cut);
	}
	a = symbols_lookup(mod, address_of("full", "other"), true);
	EXPECT_STREQ("\\x1b[2J<script>;", a->name);
}

TEST_F(names, vdso)
{
	const u8 *image = (const u8 *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct symbols_key key = { .path = "[vdso]", .bytes = image, .size = 8192 };
	struct symbols_module *mod;
	const char *why;
	bool found = false;

	ASSERT_NE(NULL, image);
	mod = symbols_module(self->s, &key);
	for (u64 at = 0; at < key.size && !found; at++) {
		const struct symbols_answer *a = symbols_lookup(mod, at, true);

		found = a->name && strstr(a->name, "clock_gettime");
	}
	EXPECT_TRUE(found);
	EXPECT_EQ(SYMBOLS_OPEN, symbols_module_state(mod, &why));
}

TEST_F(names, modules_are_opened_once_and_late)
{
	struct symbols_key key = { .path = "/bin/true", .pid = getpid() };
	struct symbols_module *mod = symbols_module(self->s, &key);

	EXPECT_NULL(symbols_module_file(mod));
	EXPECT_EQ(0, symbols_stats(self->s)->tables);
	key.pid = 1;
	EXPECT_EQ(mod, symbols_module(self->s, &key)) {
		TH_LOG("init has our root, as far as we may look");
	}
	symbols_lookup(mod, 0, true);
	EXPECT_NE(NULL, symbols_module_file(mod));
	EXPECT_EQ(SYMBOLS_TABLE_NONE, symbols_lookup(NULL, 0, false)->table);
}

/* ---- perf maps ---- */

TEST_F(names, perf_map)
{
	struct symbols_key key = { .pid = getpid(), .jit = true };
	const struct symbols_answer *a;
	struct symbols_module *mod;
	char path[64], *big;
	const char *why;
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	mod = symbols_module(self->s, &key);
	f = fopen(path, "w");
	fprintf(f, "1000 100 JS:~old name file.js:3\n"
		"not a line\n\n1200 0 empty\n1300 10\n"
		"ffffffffffffff00 200 wraps\n"
		"1080 10 <b>new\033\n"
		"2000 8 _ZN3foo3barEv\n");
	big = malloc(1 << 20);
	memset(big, 'y', (1 << 20) - 1);
	big[(1 << 20) - 1] = '\0';
	fprintf(f, "3000 10 %s", big);
	fclose(f);
	free(big);
	a = symbols_lookup(mod, 0x1010, true);
	EXPECT_EQ(SYMBOLS_TABLE_PERF_MAP, a->table);
	EXPECT_STREQ("JS:~old name file.js:3", a->name);
	EXPECT_EQ(0x10, a->offset);
	EXPECT_STREQ("<b>new\\x1b", symbols_lookup(mod, 0x1085, true)->name);
	EXPECT_STREQ("JS:~old name file.js:3", symbols_lookup(mod, 0x1090, true)->name);
	EXPECT_NULL(symbols_lookup(mod, 0x1100, true)->name);
	EXPECT_STREQ("foo::bar()", symbols_lookup(mod, 0x2000, true)->name);
	EXPECT_NE(NULL, strstr(symbols_lookup(mod, 0x300f, true)->name, "...[1048575 bytes]"));
	EXPECT_EQ(4, symbols_stats(self->s)->map_lines_bad);
	EXPECT_EQ(SYMBOLS_OPEN, symbols_module_state(mod, &why));
	unlink(path);
}

static void expect_no_map(const char *reason)
{
	struct symbols_key key = { .pid = getpid(), .jit = true };
	struct symbols_options opts = { 0 };
	struct symbols *s = symbols_new(&opts);
	const char *why;

	EXPECT_EQ(SYMBOLS_MISSING, symbols_module_state(symbols_module(s, &key), &why));
	EXPECT_STREQ(reason, why);
	symbols_free(s);
}

TEST_F(names, perf_map_that_is_none)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	expect_no_map("no perf map");
	BUILD("mkfifo %s", path);
	expect_no_map("its perf map cannot be read");
	unlink(path);
	if (geteuid())
		return;		/* cannot make a file of somebody else's */
	BUILD("echo '1000 10 a' > %s && chown 65534 %s", path, path);
	expect_no_map("its perf map belongs to somebody else");
	unlink(path);
}

TEST_HARNESS_MAIN
