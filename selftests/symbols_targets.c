// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Do our names, lines and inline chains equal addr2line's on programs built here, wherever
 * their debug information is? Every address of the target's own functions is asked about.
 */
#include "harness/symbols.h"
#include "harness/symbols_int.h"
#include "selftests/lib/symbols_build.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char c_source[] =
	"#define INLINE static inline __attribute__((always_inline))\n"
	"volatile int sink;\n"
	"INLINE int leaf(int a) { sink += a; return a * sink; }\n"
	"INLINE int middle(int a)\n"
	"{\n"
	"	int b = leaf(a);\n"
	"\n"
	"	return b + leaf(b + 1);\n"
	"}\n"
	"INLINE int outer(int a) { for (int i = 0; i < 3; i++) a += middle(a ^ i); return a; }\n"
	"__attribute__((noinline)) static int local(int a)\n"
	"{\n"
	"	return outer(a) + middle(a);\n"
	"}\n"
	"__attribute__((noinline)) int target_one(int a) { return local(a) + leaf(a); }\n"
	"__attribute__((noinline)) int target_two(int n)\n"
	"{\n"
	"	return n < 2 ? n : target_two(n - 1) + outer(n);\n"
	"}\n"
	"#ifdef MAIN\n"
	"int main(int argc, char **argv) { (void)argv; return target_one(argc) + target_two(argc); }\n"
	"#endif\n";

static const char cxx_source[] =
	"#include <vector>\n"
	"#include <string>\n"
	"namespace outer { namespace {\n"
	"template <typename T> struct Holder {\n"
	"	T value;\n"
	"	explicit Holder(T v) : value(v) {}\n"
	"	__attribute__((noinline)) T twice(T more) { return value + more + value; }\n"
	"	inline T once() const { return value; }\n"
	"};\n"
	"} // namespace\n"
	"__attribute__((noinline)) int work(const std::vector<int> &v)\n"
	"{\n"
	"	int sum = 0;\n"
	"	auto add = [&sum](int x) __attribute__((noinline)) { sum += x; };\n"
	"	for (int x : v)\n"
	"		add(Holder<int>(x).once() + Holder<int>(x).twice(2));\n"
	"	return sum;\n"
	"}\n"
	"} // namespace outer\n"
	"int operator+(const std::string &s, struct odd *) { return (int)s.size(); }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	std::vector<int> v;\n"
	"	(void)argv;\n"
	"	for (int i = 0; i < argc; i++) v.push_back(i);\n"
	"	return outer::work(v) + (std::string(argv[0]) + (struct odd *)0);\n"
	"}\n";

/* What one source says about an address: "function file:line" for each level. */
#define MAX_TEXT	8192

static void ours(struct symbols_module *mod, u64 addr, char *text)
{
	const struct symbols_answer *a = symbols_lookup(mod, addr, true);
	size_t used = 0;

	*text = '\0';
	for (u32 i = 0; i < a->nr_places; i++) {
		const struct symbols_place *p = &a->place[i];

		used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s %s:%u\n",
					 p->name ? p->name : "??", p->file ? p->file : "??", p->line);
	}
}

/* The next answer of addr2line -a -f -i -C: pairs of lines up to the next address. */
static bool theirs(FILE *f, char line[MAX_TEXT], char *text)
{
	static char name[MAX_TEXT];
	size_t used = 0;

	*text = '\0';
	while (fgets(line, MAX_TEXT, f) && strncmp(line, "0x", 2)) {
		char *end;

		line[strcspn(line, "\n")] = '\0';
		strcpy(name, line);
		if (!fgets(line, MAX_TEXT, f))
			return false;
		end = strstr(line, " (discriminator");
		line[end ? (size_t)(end - line) : strcspn(line, "\n")] = '\0';
		end = strrchr(line, ':');
		if (end && end[1] == '?')
			end[1] = '0';
		used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s %s\n", name, line);
	}
	return true;
}

/* Compare all addresses of @reference's functions that match @pattern. Returns how many. */
static int compare_all(struct symbols_module *mod, const char *reference, const char *pattern,
		       const char *tool, int *with_inlines)
{
	static char line[MAX_TEXT], want[MAX_TEXT], got[MAX_TEXT];
	unsigned long long addr;
	int nr = 0, failed = 0;
	FILE *addrs, *f;

	*with_inlines = 0;
	if (!build_try("nm -S --defined-only %s | awk '$3 ~ /[tTwW]/ && $4 ~ /%s/ { print $1, $2 }' | "
		       "while read a s; do i=0; while [ $i -lt $((0x$s)) ]; do "
		       "printf '%%x\\n' $((0x$a + i)); i=$((i + 1)); done; done > addrs && "
		       "%s -a -f -i -C -e %s < addrs > answers", reference, pattern, tool, reference))
		return 0;
	addrs = fopen(build_path("addrs"), "r");
	f = fopen(build_path("answers"), "r");
	if (!addrs || !f || !fgets(line, sizeof(line), f))
		return 0;
	while (fscanf(addrs, "%llx", &addr) == 1 && theirs(f, line, want)) {
		ours(mod, addr, got);
		nr++;
		*with_inlines += strchr(got, '\n') && strchr(strchr(got, '\n') + 1, '\n');
		if (strcmp(want, got) && failed++ < 5)
			TH_LOG("%llx: addr2line says\n%sand we say\n%s", addr, want, got);
	}
	fclose(addrs);
	fclose(f);
	EXPECT_EQ(0, failed);
	return nr;
}

FIXTURE(target)
{
	struct symbols *s;
	struct symbols_module *mod;
	const char *debug_dirs[2];
	const char *buildid_dirs[2];
};

/* @build makes full, the reference, and prog, what is asked about. */
FIXTURE_VARIANT(target)
{
	const char *build;
	const char *tool;
	bool cxx;
	int debug_files;
};

#define C_FULL "$CC -O2 -g -DMAIN -Wl,--build-id=sha1 -o full prog.c && "
#define STRIP "objcopy -S full prog && objcopy --only-keep-debug full prog.debug && "
#define ID "id=$(readelf -n full | sed -n 's/.*Build ID: //p') && " \
	   "xx=$(echo $id | cut -c1-2) && yy=$(echo $id | cut -c3-) && "

FIXTURE_VARIANT_ADD(target, c) { .build = C_FULL "cp full prog" };
FIXTURE_VARIANT_ADD(target, cxx) {
	.build = "$CXX -O2 -g -o full prog.cc && cp full prog", .cxx = true
};
/* binutils 2.40 shows no inline chains for what clang 14 writes. */
FIXTURE_VARIANT_ADD(target, clang_without_aranges) {
	.build = "clang -O2 -g -DMAIN -o full prog.c && cp full prog", .tool = "llvm-addr2line"
};
FIXTURE_VARIANT_ADD(target, dwarf_4) {
	.build = "$CC -O2 -gdwarf-4 -DMAIN -o full prog.c && cp full prog"
};
FIXTURE_VARIANT_ADD(target, no_pie) {
	.build = "$CC -O2 -g -no-pie -fno-pie -DMAIN -o full prog.c && cp full prog"
};
FIXTURE_VARIANT_ADD(target, plugin) {
	.build = "$CC -O2 -g -fPIC -shared -o full prog.c && cp full prog"
};
FIXTURE_VARIANT_ADD(target, sections_removed) {
	.build = "$CC -O2 -g -DMAIN -ffunction-sections -Wl,--gc-sections,-e,target_two "
		 "-nostartfiles -o full prog.c && cp full prog"
};
FIXTURE_VARIANT_ADD(target, compressed) {
	.build = C_FULL "objcopy --compress-debug-sections=zlib-gabi full prog"
};
FIXTURE_VARIANT_ADD(target, zdebug) {
	.build = C_FULL "objcopy --compress-debug-sections=zlib-gnu full prog"
};
FIXTURE_VARIANT_ADD(target, split_dwarf) {
	.build = C_FULL "$CC -O2 -g -gsplit-dwarf -DMAIN -o prog prog.c"
};
FIXTURE_VARIANT_ADD(target, split_dwarf_4) {
	.build = "$CC -O2 -gdwarf-4 -DMAIN -o full prog.c && "
		 "$CC -O2 -gdwarf-4 -gsplit-dwarf -DMAIN -o prog prog.c"
};
FIXTURE_VARIANT_ADD(target, debuglink) {
	.build = C_FULL STRIP "objcopy --add-gnu-debuglink=prog.debug prog", .debug_files = 1
};
FIXTURE_VARIANT_ADD(target, debuglink_by_eu_strip) {
	.build = C_FULL "eu-strip -f prog.debug -o prog full", .debug_files = 1
};
FIXTURE_VARIANT_ADD(target, build_id) {
	.build = C_FULL STRIP ID "mkdir -p g/.build-id/$xx && mv prog.debug g/.build-id/$xx/$yy.debug",
	.debug_files = 1
};
FIXTURE_VARIANT_ADD(target, perf_cache) {
	.build = C_FULL STRIP ID "mkdir -p c/.build-id/$xx/$yy && mv prog.debug c/.build-id/$xx/$yy/debug",
	.debug_files = 1
};
FIXTURE_VARIANT_ADD(target, compressed_debuglink) {
	.build = C_FULL STRIP "objcopy --compress-debug-sections prog.debug && "
		 "objcopy --add-gnu-debuglink=prog.debug prog", .debug_files = 1
};
/* Trap 4: the file has its .symtab, so that names need no debug file; lines do. */
FIXTURE_VARIANT_ADD(target, own_symbols_are_not_enough) {
	.build = C_FULL STRIP "objcopy -g --add-gnu-debuglink=prog.debug full prog",
	.debug_files = 1
};

FIXTURE_SETUP(target)
{
	struct symbols_options opts = { 0 };
	struct symbols_key key = { 0 };

	build_enter();
	ASSERT_TRUE(build_write("prog.c", c_source));
	ASSERT_TRUE(build_write("prog.cc", cxx_source));
	BUILD("%s", variant->build);
	self->debug_dirs[0] = strdup(build_path("g"));
	self->buildid_dirs[0] = strdup(build_path("c"));
	opts.debuginfo.debug_dirs = self->debug_dirs;
	opts.debuginfo.buildid_dirs = self->buildid_dirs;
	self->s = symbols_new(&opts);
	ASSERT_NE(NULL, self->s);
	key.path = build_path("prog");
	self->mod = symbols_module(self->s, &key);
	ASSERT_NE(NULL, self->mod);
}

FIXTURE_TEARDOWN(target)
{
	symbols_free(self->s);
	free((char *)(uintptr_t)self->debug_dirs[0]);
	free((char *)(uintptr_t)self->buildid_dirs[0]);
	build_remove();
}

TEST_F_TIMEOUT(target, as_addr2line, 300)
{
	const struct symbols_stats *stats = symbols_stats(self->s);
	int nr, inlines;

	EXPECT_EQ(0, stats->tables);
	nr = compare_all(self->mod, "full", variant->cxx ? "^(_ZN|main)" : "^(local|target_|main$)",
			 variant->tool ? variant->tool : "addr2line", &inlines);
	TH_LOG("%d addresses, %d in inlined code", nr, inlines);
	EXPECT_GT(nr, 80);
	EXPECT_GT(inlines, nr / 10);
	EXPECT_EQ(variant->debug_files, stats->debug_files);
	EXPECT_EQ(0, stats->disagreements);
	EXPECT_EQ(0, stats->guesses);
	EXPECT_EQ(0, stats->units_damaged);
	EXPECT_EQ(0, stats->dwarfs_faulted);
	EXPECT_EQ(nr, stats->with_line);
	EXPECT_EQ(nr, stats->by_table[SYMBOLS_TABLE_SYMTAB]);
}

/* ---- debug information that cannot be used ---- */

FIXTURE(broken) { struct symbols *s; struct symbols_module *mod; };

FIXTURE_SETUP(broken)
{
	struct symbols_options opts = { 0 };
	struct symbols_key key = { 0 };

	build_enter();
	ASSERT_TRUE(build_write("prog.c", c_source));
	BUILD(C_FULL STRIP "objcopy --add-gnu-debuglink=prog.debug prog");
	self->s = symbols_new(&opts);
	key.path = build_path("prog");
	self->mod = symbols_module(self->s, &key);
}

FIXTURE_TEARDOWN(broken)
{
	symbols_free(self->s);
	build_remove();
}

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
	return addr;
}

TEST_F(broken, other_build_is_refused)
{
	const struct symbols_answer *a;
	const char *why;
	u64 addr = address_of("full", "local");

	BUILD("$CC -O1 -g -DMAIN -Wl,--build-id=sha1 -o other prog.c && "
	      "objcopy --only-keep-debug other prog.debug");
	a = symbols_lookup(self->mod, addr, true);
	EXPECT_NULL(a->name);
	EXPECT_EQ(0, a->nr_places);
	EXPECT_EQ(SYMBOLS_OPEN, symbols_module_state(self->mod, &why));
	EXPECT_STREQ("no .debug_info, here or elsewhere", why);
	EXPECT_LE(1, symbols_debuginfo(self->s)->nr[DEBUGINFO_OTHER_BUILD]);
}

/* The build-id stays right: whatever else is damaged, no crash, no hang, and no wrong build. */
TEST_F_TIMEOUT(broken, damaged_debug_files, 300)
{
	u64 addr = address_of("full", "target_two");
	struct stat st;
	u8 *bytes, *copy;
	u64 seed = 1;
	FILE *f;

	ASSERT_EQ(0, stat(build_path("prog.debug"), &st));
	bytes = malloc((size_t)st.st_size);
	copy = malloc((size_t)st.st_size);
	f = fopen(build_path("prog.debug"), "r");
	ASSERT_EQ((size_t)st.st_size, fread(bytes, 1, (size_t)st.st_size, f));
	fclose(f);
	for (int round = 0; round < 1500; round++) {
		struct symbols_options opts = { 0 };
		struct symbols_key key = { .path = build_path("prog") };
		struct symbols *s = symbols_new(&opts);
		struct symbols_module *mod = symbols_module(s, &key);

		memcpy(copy, bytes, (size_t)st.st_size);
		for (int i = 0; i < 1 + round % 16; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* Past the notes that prove the build. */
			copy[1024 + (seed >> 33) % ((u64)st.st_size - 1024)] = (u8)(seed >> 20);
		}
		f = fopen(build_path("prog.debug"), "w");
		fwrite(copy, 1, (size_t)st.st_size, f);
		fclose(f);
		for (u64 at = 0; at < 64; at += 8)
			symbols_lookup(mod, addr + at, true);
		symbols_free(s);
	}
	free(bytes);
	free(copy);
}

/* A section at the very end of a file, and of a page: what is read past it is past the mapping. */
static void put_at_end(const u8 *bytes, size_t size, u8 *copy, size_t room, const char *name,
		       u32 cut_256th)
{
	const Elf64_Ehdr *eh = (const void *)bytes;
	Elf64_Shdr *sh = (void *)(copy + eh->e_shoff);
	const char *names;

	memset(copy, 0xff, room);
	memcpy(copy, bytes, size);
	names = (char *)copy + sh[eh->e_shstrndx].sh_offset;
	for (u32 i = 0; i < eh->e_shnum; i++) {
		u64 part = sh[i].sh_size * cut_256th / 256;

		if (strcmp(names + sh[i].sh_name, name))
			continue;
		memcpy(copy + room - part, bytes + sh[i].sh_offset, part);
		sh[i].sh_offset = room - part;
		sh[i].sh_size = part;
	}
}

TEST_F_TIMEOUT(broken, sections_cut_at_a_page_end, 300)
{
	static const char *const sections[] = {
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
		".debug_rnglists", ".debug_aranges", ".symtab", ".strtab",
	};
	u64 addr = address_of("full", "target_two");
	size_t size, room;
	struct stat st;
	u8 *bytes, *copy;
	FILE *f;

	ASSERT_EQ(0, stat(build_path("prog.debug"), &st));
	size = (size_t)st.st_size;
	room = (2 * size + 8192) & ~(size_t)4095;
	bytes = malloc(size);
	copy = malloc(room);
	f = fopen(build_path("prog.debug"), "r");
	ASSERT_EQ(size, fread(bytes, 1, size, f));
	fclose(f);
	for (size_t k = 0; k < EHF_ARRAY_SIZE(sections); k++) {
		for (u32 cut = 1; cut <= 256; cut += 3) {
			struct symbols_options opts = { 0 };
			struct symbols_key key = { .path = build_path("prog") };
			struct symbols *s = symbols_new(&opts);
			struct symbols_module *mod = symbols_module(s, &key);

			put_at_end(bytes, size, copy, room, sections[k], cut);
			f = fopen(build_path("prog.debug"), "w");
			ASSERT_EQ(room, fwrite(copy, 1, room, f));
			fclose(f);
			for (u64 at = 0; at < 64; at += 4)
				symbols_lookup(mod, addr + at, true);
			EXPECT_EQ(1, symbols_stats(s)->debug_files > 0);
			symbols_free(s);
		}
	}
	free(bytes);
	free(copy);
}

/* ---- what libdw may not survive ---- */

static void read_nothing(void *arg)
{
	volatile u8 *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*(int *)arg += *page;
}

static void assert_nothing(void *arg)
{
	(void)arg;
	abort();
}

static int deeper(volatile int *n)
{
	volatile char room[4096];

	room[0] = (char)++*n;
	return *n < 100000000 ? deeper(n) + room[0] : 0;
}

static void end_stack(void *arg)
{
	deeper(arg);
}

static void count_up(void *arg)
{
	++*(int *)arg;
}

TEST(a_fault_ends_the_call)
{
	int n = 0;

	EXPECT_EQ(0, symbols_guard(count_up, &n));
	EXPECT_EQ(1, n);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(SIGSEGV, symbols_guard(read_nothing, &n));
		EXPECT_EQ(SIGABRT, symbols_guard(assert_nothing, &n));
	}
	EXPECT_EQ(SIGSEGV, symbols_guard(end_stack, &n));
	EXPECT_EQ(0, symbols_guard(count_up, &n));
}

/* One that is not libdw's ends the program as ever. */
TEST(other_faults_stay_faults)
{
	static const int signals[] = { SIGSEGV, SIGABRT };
	int n = 0, status;

	symbols_guard(count_up, &n);
	for (size_t k = 0; k < EHF_ARRAY_SIZE(signals); k++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_DUMPABLE, 0);
			for (int fd = 0; fd < 3; fd++)
				close(fd);
			if (k)
				assert_nothing(NULL);
			read_nothing(&n);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		/* A sanitizer's handler ends it by exiting. */
		EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == signals[k] :
						  WEXITSTATUS(status) != 0);
	}
}

/* The pages that a file is mapped at. */
static u8 *mapping_of(const char *path, size_t *size)
{
	unsigned long long start, end;
	char line[1024];
	u8 *at = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && !at && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strstr(line, path) || sscanf(line, "%llx-%llx", &start, &end) != 2)
			continue;
		at = (u8 *)(uintptr_t)start;
		*size = (size_t)(end - start);
	}
	if (maps)
		fclose(maps);
	return at;
}

/*
 * Whatever faults: the file is given up and says why, and symbols still answer. Its pages cannot be
 * read here, which is what libdw meets where a file sends it astray.
 */
TEST_F(broken, dwarf_that_faults)
{
	const struct symbols_stats *stats = symbols_stats(self->s);
	const struct symbols_answer *a;
	const char *why;
	size_t size = 0;
	u8 *at;

	BUILD("objcopy -g --add-gnu-debuglink=prog.debug full prog");
	a = symbols_lookup(self->mod, address_of("full", "local"), true);
	EXPECT_LT(0, a->nr_places);
	EXPECT_EQ(0, stats->dwarfs_faulted);
	at = mapping_of(build_path("prog.debug"), &size);
	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, mprotect(at, size, PROT_NONE));
	for (int i = 1; i < 3; i++) {
		a = symbols_lookup(self->mod, address_of("full", "target_two") + (u64)i, true);
		EXPECT_STREQ("target_two", a->name);
		EXPECT_EQ(0, a->nr_places);
		EXPECT_EQ(1, stats->dwarfs_faulted);
	}
	symbols_module_state(self->mod, &why);
	EXPECT_STREQ(".debug_info: libdw failed on it: Segmentation fault", why);
}

TEST_F(broken, mini_debug_info)
{
	const struct symbols_stats *stats = symbols_stats(self->s);
	const struct symbols_answer *a;
	u64 one = address_of("full", "local"), two = address_of("full", "target_two");

	/* As Fedora makes it: all function symbols that .dynsym lacks, through xz. */
	BUILD("rm prog.debug && nm -D full --format=posix --defined-only | awk '{ print $1 }' | sort > dyn && "
	      "nm full --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' | sort > all && "
	      "comm -13 dyn all > keep && objcopy --only-keep-debug full mini && "
	      "objcopy -S --remove-section .gdb_index --remove-section .comment "
	      "--keep-symbols=keep mini && xz --keep mini && "
	      "objcopy -S --add-section .gnu_debugdata=mini.xz full prog");
	a = symbols_lookup(self->mod, one + 3, true);
	EXPECT_EQ(SYMBOLS_TABLE_DEBUGDATA, a->table);
	EXPECT_STREQ("local", a->name);
	EXPECT_EQ(3, a->offset);
	a = symbols_lookup(self->mod, two + 1, true);
	EXPECT_STREQ("target_two", a->name);
	EXPECT_EQ(2, stats->tables);
	/* As eu-addr2line has it. */
	BUILD("test \"$(eu-addr2line -f -e prog %#llx | head -1)\" = local", (unsigned long long)one);
}

TEST_F(broken, mini_debug_info_that_is_none)
{
	static const char *const makes[] = {
		"echo no > mini.xz", "head -c 100000 /dev/zero | xz > mini.xz",
		"xz < full | head -c 2000 > mini.xz", "head -c 300000000 /dev/zero | xz -0 > mini.xz",
	};

	for (size_t i = 0; i < EHF_ARRAY_SIZE(makes); i++) {
		struct symbols_options opts = { 0 };
		struct symbols_key key = { .path = build_path("bad") };
		struct symbols *s = symbols_new(&opts);

		BUILD("%s; objcopy -S --add-section .gnu_debugdata=mini.xz full bad", makes[i]);
		EXPECT_NULL(symbols_lookup(symbols_module(s, &key), address_of("full", "local"),
					   true)->name);
		symbols_free(s);
	}
}

TEST_F(broken, stale_and_deleted)
{
	struct symbols_options opts = { 0 };
	struct symbols_key key = { .path = build_path("prog"), .build_id = (const u8 *)"wrong",
				   .build_id_len = 5 };
	struct symbols *s = symbols_new(&opts);
	struct symbols_module *mod = symbols_module(s, &key);
	char path[BUILD_PATH];
	const char *why;

	EXPECT_EQ(SYMBOLS_STALE, symbols_module_state(mod, &why));
	EXPECT_STREQ("the file is now another build", why);
	EXPECT_NULL(symbols_lookup(mod, address_of("full", "local"), true)->name);
	snprintf(path, sizeof(path), "%s/prog (deleted)", build_dir);
	key = (struct symbols_key){ .path = path };
	mod = symbols_module(s, &key);
	EXPECT_EQ(SYMBOLS_MISSING, symbols_module_state(mod, &why));
	EXPECT_STREQ("the file was deleted", why);
	symbols_free(s);
}

/* The bytes of a deleted file are found through the process that maps them. */
TEST_F(broken, deleted_but_mapped)
{
	struct symbols_options opts = { 0 };
	struct symbols_key key = { 0 };
	struct symbols *s = symbols_new(&opts);
	struct symbols_module *mod;
	char path[BUILD_PATH], line[1024];
	unsigned long long start, end;
	const char *why;
	u64 addr = address_of("full", "local");
	FILE *maps;
	void *p;
	int fd = open(build_path("full"), O_RDONLY);

	ASSERT_LE(0, fd);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	BUILD("rm full");
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == (uintptr_t)p)
			break;
	}
	fclose(maps);
	snprintf(path, sizeof(path), "%s/full (deleted)", build_dir);
	key = (struct symbols_key){ .path = path, .pid = getpid(), .map_start = start,
				    .map_end = end };
	mod = symbols_module(s, &key);
	EXPECT_EQ(SYMBOLS_DELETED, symbols_module_state(mod, &why));
	EXPECT_STREQ("local", symbols_lookup(mod, addr, true)->name);
	symbols_free(s);
}

/* ---- dwz ---- */

TEST_TIMEOUT(dwz, 300)
{
	struct symbols_options opts = { 0 };
	struct symbols_key key = { 0 };
	struct symbols *s = symbols_new(&opts);
	int inlines;

	build_enter();
	ASSERT_TRUE(build_write("prog.c", c_source));
	BUILD("for i in full two; do $CC -O2 -g -DMAIN -Wl,--build-id=sha1 -o $i prog.c || exit; done; "
	      "cp full prog && dwz -m common prog two");
	key.path = build_path("prog");
	EXPECT_GT(compare_all(symbols_module(s, &key), "full", "^(local|target_)", "addr2line",
			      &inlines), 80);
	symbols_free(s);
	/* Without the common file: names that are in it are missing, nothing is made up. */
	s = symbols_new(&opts);
	BUILD("rm common");
	symbols_lookup(symbols_module(s, &key), address_of("full", "local"), true);
	symbols_free(s);
	build_remove();
}

TEST_HARNESS_MAIN
