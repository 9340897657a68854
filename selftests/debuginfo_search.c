// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Is separate debug information searched in the stated order, and is each candidate made to
 * prove itself? Four guards have a test of their own that fails without them: first_is_verified,
 * symfs_holds_for_both, mount_namespace here, own_symbols_are_not_enough in symbols_targets.c.
 */
#include "harness/debuginfo.h"
#include "selftests/lib/symbols_build.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static const char source[] =
	"int table[4];\n"
	"#if BUILD == 2\n"
	"int other(void) { return 2; }\n"
	"#endif\n"
	"__attribute__((noinline)) int inner(int a) { return table[a & 3] + BUILD; }\n"
	"int main(int argc, char **argv) { (void)argv; return inner(argc) + inner(argc + 1); }\n";

/* What the log said last of each verdict, and how often it spoke. */
struct heard {
	char path[DEBUGINFO_NR_VERDICTS][4096];
	int nr;
};

static void hear(void *arg, const char *path, enum debuginfo_verdict verdict, const char *text)
{
	struct heard *h = arg;

	h->nr++;
	snprintf(h->path[verdict], sizeof(h->path[0]), "%s", path);
	TH_LOG("%s: %s (%s)", path, debuginfo_verdict_name(verdict), text);
}

FIXTURE(search)
{
	struct debuginfo *di;
	struct debuginfo_file *main;
	struct heard heard;
	const char *debug_dirs[2];
	const char *buildid_dirs[2];
	char id[129];
};

FIXTURE_VARIANT(search)
{
	const char *flags;
};

FIXTURE_VARIANT_ADD(search, build_id) { .flags = "-Wl,--build-id=sha1" };
FIXTURE_VARIANT_ADD(search, crc) { .flags = "-Wl,--build-id=none" };

/* d/prog: stripped, with a debug link to prog.debug; full and prog.debug beside the folder. */
FIXTURE_SETUP(search)
{
	struct debuginfo_options opts = { .log = hear, .log_arg = &self->heard };

	build_enter();
	ASSERT_TRUE(build_write("prog.c", source));
	BUILD("mkdir d g c && $CC -O1 -g -DBUILD=1 %s -o full prog.c", variant->flags);
	BUILD("$CC -O1 -g -DBUILD=2 %s -o other prog.c", variant->flags);
	BUILD("objcopy --only-keep-debug full prog.debug && "
	      "objcopy --only-keep-debug other other.debug && "
	      "objcopy -S --add-gnu-debuglink=prog.debug full d/prog");
	self->debug_dirs[0] = strdup(build_path("g"));
	self->buildid_dirs[0] = strdup(build_path("c"));
	opts.debug_dirs = self->debug_dirs;
	opts.buildid_dirs = self->buildid_dirs;
	self->di = debuginfo_new(&opts);
	ASSERT_NE(NULL, self->di);
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, build_path("d/prog"),
						     &self->main));
	for (u32 i = 0; i < self->main->build_id_len; i++)
		snprintf(self->id + 2 * i, 3, "%02x", self->main->build_id[i]);
}

FIXTURE_TEARDOWN(search)
{
	debuginfo_close(self->main);
	debuginfo_free(self->di);
	free((char *)(uintptr_t)self->debug_dirs[0]);
	free((char *)(uintptr_t)self->buildid_dirs[0]);
	build_remove();
}

/* Where the search ends; "" for nowhere. */
static const char *found_at(struct debuginfo *di, const struct debuginfo_file *main,
			    unsigned int need)
{
	static char path[4096];
	struct debuginfo_file *f = debuginfo_find(di, main, need);

	snprintf(path, sizeof(path), "%s", f ? f->host_path : "");
	if (f) {
		EXPECT_EQ(need, f->holds & need);
	}
	debuginfo_close(f);
	return path;
}

TEST_F(search, order_of_links)
{
	char third[2 * BUILD_PATH];

	snprintf(third, sizeof(third), "g%s/d/prog.debug", build_dir);
	BUILD("mkdir -p d/.debug g%s/d && cp prog.debug d/ && cp prog.debug d/.debug/ && "
	      "cp prog.debug %s", build_dir, third);
	EXPECT_STREQ(build_path("d/prog.debug"), found_at(self->di, self->main, DEBUGINFO_INFO));
	BUILD("rm d/prog.debug");
	EXPECT_STREQ(build_path("d/.debug/prog.debug"),
		     found_at(self->di, self->main, DEBUGINFO_INFO));
	BUILD("rm d/.debug/prog.debug");
	EXPECT_STREQ(build_path(third), found_at(self->di, self->main, DEBUGINFO_INFO));
	BUILD("rm %s", third);
	EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_INFO));
}

TEST_F(search, order_of_build_ids)
{
	char base[BUILD_PATH], path[2 * BUILD_PATH];

	if (!self->main->build_id_len)
		return;		/* nothing to build a path from */
	snprintf(base, sizeof(base), ".build-id/%.2s/%s", self->id, self->id + 2);
	BUILD("mkdir -p g/.build-id/%.2s c/%s && cp prog.debug g/%s.debug && "
	      "cp full c/%s/elf && cp prog.debug c/%s/debug", self->id, base, base, base, base);
	snprintf(path, sizeof(path), "g/%s.debug", base);
	EXPECT_STREQ(build_path(path), found_at(self->di, self->main, DEBUGINFO_SYMTAB));
	BUILD("rm %s", path);
	snprintf(path, sizeof(path), "c/%s/debug", base);
	EXPECT_STREQ(build_path(path), found_at(self->di, self->main, DEBUGINFO_SYMTAB));
	BUILD("rm %s", path);
	snprintf(path, sizeof(path), "c/%s/elf", base);
	EXPECT_STREQ(build_path(path), found_at(self->di, self->main, DEBUGINFO_SYMTAB));
	BUILD("rm -r c/%s && cp full c/%s", base, base);
	snprintf(path, sizeof(path), "c/%s", base);
	EXPECT_STREQ(build_path(path), found_at(self->di, self->main, DEBUGINFO_SYMTAB));
}

/* Trap 1: the first regular file of the right name is of another build. */
TEST_F(search, first_is_verified)
{
	enum debuginfo_verdict why = self->main->build_id_len ? DEBUGINFO_OTHER_BUILD :
				     DEBUGINFO_WRONG_CRC;

	BUILD("mkdir d/.debug && cp other.debug d/prog.debug && cp prog.debug d/.debug/");
	EXPECT_STREQ(build_path("d/.debug/prog.debug"),
		     found_at(self->di, self->main, DEBUGINFO_INFO));
	EXPECT_EQ(1, self->di->nr[why]);
	EXPECT_STREQ(build_path("d/prog.debug"), self->heard.path[why]);
	BUILD("rm d/.debug/prog.debug");
	EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_INFO));
}

TEST_F(search, not_the_file_itself)
{
	BUILD("mkdir d/.debug && ln d/prog d/prog.debug && cp d/prog d/.debug/prog.debug");
	EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_SYMTAB));
	EXPECT_EQ(1, self->di->nr[DEBUGINFO_SAME_FILE]);
	/* A copy has another inode; without the right CRC, or without contents, it is no use. */
	EXPECT_EQ(1, self->di->nr[DEBUGINFO_LACKS] + self->di->nr[DEBUGINFO_WRONG_CRC]);
}

TEST_F(search, goes_on_to_what_holds_more)
{
	if (!self->main->build_id_len)
		return;		/* with a CRC there is one right file only */
	BUILD("mkdir d/.debug && objcopy --strip-debug prog.debug d/prog.debug && "
	      "cp prog.debug d/.debug/");
	EXPECT_STREQ(build_path("d/prog.debug"), found_at(self->di, self->main, DEBUGINFO_SYMTAB));
	EXPECT_STREQ(build_path("d/.debug/prog.debug"),
		     found_at(self->di, self->main, DEBUGINFO_SYMTAB | DEBUGINFO_INFO));
	EXPECT_EQ(1, self->di->nr[DEBUGINFO_LACKS]);
	EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_FRAME));
}

TEST_F(search, debug_frame)
{
	BUILD("$CC -O1 -g -DBUILD=1 %s -fno-asynchronous-unwind-tables -o full prog.c && "
	      "objcopy --only-keep-debug full d/prog.debug && cd d && "
	      "objcopy -S --add-gnu-debuglink=prog.debug ../full prog", variant->flags);
	debuginfo_close(self->main);
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, build_path("d/prog"),
						     &self->main));
	EXPECT_STREQ(build_path("d/prog.debug"), found_at(self->di, self->main, DEBUGINFO_FRAME));
}

/* Each of these stands where the debug file should be; the right one comes after it. */
TEST_F(search, things_that_are_no_debug_file)
{
	static const struct { const char *command; enum debuginfo_verdict want; } things[] = {
		{ "mkdir d/prog.debug", DEBUGINFO_NOT_REGULAR },
		{ "mkfifo d/prog.debug", DEBUGINFO_NOT_REGULAR },
		{ "ln -s /dev/zero d/prog.debug", DEBUGINFO_NOT_REGULAR },
		{ "ln -s prog.debug d/prog.debug", DEBUGINFO_SYMLINK_LOOP },
		{ "ln -s nowhere d/prog.debug", DEBUGINFO_ABSENT },
		{ ": > d/prog.debug", DEBUGINFO_NOT_ELF },
		{ "echo no > d/prog.debug", DEBUGINFO_NOT_ELF },
		{ "head -c 1000 prog.debug > d/prog.debug", DEBUGINFO_DAMAGED },
	};

	BUILD("mkdir d/.debug && cp prog.debug d/.debug/");
	for (size_t i = 0; i < EHF_ARRAY_SIZE(things); i++) {
		u64 before = self->di->nr[things[i].want];

		BUILD("rm -rf d/prog.debug && %s", things[i].command);
		EXPECT_STREQ(build_path("d/.debug/prog.debug"),
			     found_at(self->di, self->main, DEBUGINFO_INFO));
		EXPECT_EQ(before + 1, self->di->nr[things[i].want]) {
			TH_LOG("%s", things[i].command);
		}
	}
}

TEST_F(search, every_prefix_of_a_debug_file)
{
	struct stat st;

	ASSERT_EQ(0, stat(build_path("prog.debug"), &st));
	BUILD("cp prog.debug d/");
	for (off_t len = st.st_size - 1; len > 0; len -= 97) {
		struct debuginfo_file *f;

		ASSERT_EQ(0, truncate(build_path("d/prog.debug"), len));
		f = debuginfo_find(self->di, self->main, DEBUGINFO_INFO);
		EXPECT_NULL(f);
		debuginfo_close(f);
	}
}

TEST_F(search, bad_links)
{
	static const char *const links[] = {
		"printf 'a/b\\0\\1\\2\\3\\4'", "printf 'x'", "printf 'abcdefgh'", "printf '\\0\\0\\0\\0'",
		"printf 'abc\\0\\1\\2'",
	};

	BUILD("cp prog.debug d/ && mkdir d/a && cp prog.debug d/a/b");
	for (size_t i = 0; i < EHF_ARRAY_SIZE(links); i++) {
		debuginfo_close(self->main);
		BUILD("%s > link && objcopy -S --remove-section=.gnu_debuglink "
		      "--add-section .gnu_debuglink=link full d/prog", links[i]);
		ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, build_path("d/prog"),
							     &self->main));
		EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_INFO));
		EXPECT_EQ(i + 1, self->di->nr[DEBUGINFO_BAD_NAME]);
	}
}

/* ---- roots ---- */

FIXTURE(root) { struct debuginfo *di; struct debuginfo_file *main; const char *dirs[2]; };
FIXTURE_VARIANT(root) { bool no_openat2; };
FIXTURE_VARIANT_ADD(root, openat2) { .no_openat2 = false };
FIXTURE_VARIANT_ADD(root, by_hand) { .no_openat2 = true };

static struct debuginfo *open_session(const char *symfs, const char *const *dirs, bool no_openat2)
{
	static struct heard heard;
	const struct debuginfo_options opts = {
		.symfs = symfs, .debug_dirs = dirs, .buildid_dirs = dirs, .no_openat2 = no_openat2,
		.log = hear, .log_arg = &heard,
	};

	return debuginfo_new(&opts);
}

/* DIR/prog and DIR/prog.debug on the host; DIR/s is a root, with the same folder in it. */
FIXTURE_SETUP(root)
{
	build_enter();
	ASSERT_TRUE(build_write("prog.c", source));
	BUILD("mkdir -p s%s && $CC -O1 -g -DBUILD=1 -Wl,--build-id=sha1 -o full prog.c && "
	      "$CC -O1 -g -DBUILD=2 -Wl,--build-id=sha1 -o other prog.c && "
	      "objcopy --only-keep-debug full prog.debug && "
	      "objcopy -S --add-gnu-debuglink=prog.debug full prog && cp prog s%s/", build_dir,
	      build_dir);
	self->dirs[0] = "/g";
	self->di = open_session(build_path("s"), self->dirs, variant->no_openat2);
	ASSERT_NE(NULL, self->di);
}

FIXTURE_TEARDOWN(root)
{
	debuginfo_close(self->main);
	debuginfo_free(self->di);
	build_remove();
}

/* Trap 2: the file is taken from symfs, its debug file from the host; or the other way round. */
TEST_F(root, symfs_holds_for_both)
{
	char want[2 * BUILD_PATH];

	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, build_path("prog"),
						     &self->main));
	snprintf(want, sizeof(want), "%s/s%s/prog", build_dir, build_dir);
	EXPECT_STREQ(want, self->main->host_path);
	EXPECT_STREQ("", found_at(self->di, self->main, DEBUGINFO_INFO));
	BUILD("cp prog.debug s%s/", build_dir);
	snprintf(want, sizeof(want), "%s/s%s/prog.debug", build_dir, build_dir);
	EXPECT_STREQ(want, found_at(self->di, self->main, DEBUGINFO_INFO));
	debuginfo_close(self->main);
	BUILD("rm s%s/prog", build_dir);
	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(self->di, 0, build_path("prog"), &self->main));
}

/* An absolute link in a root means that root; one with many ".." ends there as well. */
TEST_F(root, links_stay_inside)
{
	char want[2 * BUILD_PATH];
	struct debuginfo_file *f;

	BUILD("mkdir -p s/g && cp prog.debug s/g/real && ln -s /g/real s%s/prog.debug && "
	      "ln -s ../../../../../../../../../../..%s/prog.debug s/g/up && "
	      "ln -s %s/prog.debug s/g/out", build_dir, build_dir, build_dir);
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, build_path("prog"),
						     &self->main));
	snprintf(want, sizeof(want), "%s/s%s/prog.debug", build_dir, build_dir);
	EXPECT_STREQ(want, found_at(self->di, self->main, DEBUGINFO_INFO));
	/* Both lead to the link in the root, and by it to /g/real. */
	EXPECT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(self->di, 0, "/g/up", &f));
	debuginfo_close(f);
	BUILD("rm s%s/prog.debug", build_dir);
	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(self->di, 0, "/g/up", &f));
	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(self->di, 0, "/g/out", &f));
	BUILD("ln -s loop s/g/loop");
	EXPECT_EQ(DEBUGINFO_SYMLINK_LOOP, debuginfo_open(self->di, 0, "/g/loop", &f));
	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(self->di, 0, "/../../etc/passwd", &f));
	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(self->di, 0, "/g/real/x", &f));
}

TEST_F(root, symfs_that_is_not_there)
{
	struct debuginfo *di = open_session(build_path("nowhere"), NULL, variant->no_openat2);

	EXPECT_EQ(DEBUGINFO_ABSENT, debuginfo_open(di, 0, build_path("prog"), &self->main));
	debuginfo_free(di);
}

/* A child whose root is DIR/s, by a mount namespace where that works, else by chroot. */
static pid_t child_in(const char *root, bool chrooted)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chrooted ? chroot(root) :
		    unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(root, build_path(""), NULL, MS_BIND, NULL))
			_exit(1);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

/* Trap 3: the host has another build at the path that the process has. */
static void other_namespace(struct debuginfo_file **main, bool chrooted, bool no_openat2)
{
	struct debuginfo *di = open_session(NULL, NULL, no_openat2);
	struct debuginfo_file *host;
	char root[2 * BUILD_PATH], want[2 * BUILD_PATH];
	pid_t pid;

	if (chrooted)
		snprintf(root, sizeof(root), "%s/s", build_dir);
	else
		snprintf(root, sizeof(root), "%s/s%s", build_dir, build_dir);
	BUILD("cp prog.debug s%s/ && cp prog.debug right && objcopy --only-keep-debug other "
	      "prog.debug && objcopy -S --add-gnu-debuglink=prog.debug other prog", build_dir);
	pid = child_in(root, chrooted);
	if (pid < 0)
		SKIP(return, "no other root: %s", strerror(errno));
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(di, pid, build_path("prog"), main));
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(di, 0, build_path("prog"), &host));
	EXPECT_NE(0, memcmp((*main)->build_id, host->build_id, host->build_id_len));
	snprintf(want, sizeof(want), "/proc/%d/root%s/prog.debug", (int)pid, build_dir);
	EXPECT_STREQ(want, found_at(di, *main, DEBUGINFO_INFO));
	EXPECT_STREQ(build_path("prog.debug"), found_at(di, host, DEBUGINFO_INFO));
	/* A process that is gone has no root: the host's file is then refused by its build-id. */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!chrooted) {	/* else the open file's own folder is on the host as well */
		EXPECT_STREQ("", found_at(di, *main, DEBUGINFO_INFO));
	}
	debuginfo_close(host);
	debuginfo_free(di);
}

TEST_F(root, mount_namespace)
{
	other_namespace(&self->main, false, variant->no_openat2);
}

TEST_F(root, chroot)
{
	other_namespace(&self->main, true, variant->no_openat2);
}

/* ---- dwz ---- */

TEST(altlink)
{
	struct debuginfo_file *one, *alt;
	struct debuginfo *di;

	build_enter();
	if (!build_try("command -v dwz"))
		SKIP(return, "no dwz");
	ASSERT_TRUE(build_write("prog.c", source));
	BUILD("for i in 1 2; do $CC -O1 -g -DBUILD=$i -Wl,--build-id=sha1 -o p$i prog.c || exit; "
	      "done; dwz -m common p1 p2");
	di = open_session(NULL, NULL, false);
	ASSERT_EQ(DEBUGINFO_ACCEPTED, debuginfo_open(di, 0, build_path("p1"), &one));
	ASSERT_TRUE(debuginfo_has_altlink(one));
	alt = debuginfo_find_alt(di, one);
	ASSERT_NE(NULL, alt);
	EXPECT_STREQ(build_path("common"), alt->path);
	debuginfo_close(alt);
	/* The common file of other programs has the same name, and another build-id. */
	BUILD("cp full common 2>/dev/null || cp p2 common");
	EXPECT_NULL(debuginfo_find_alt(di, one));
	EXPECT_EQ(1, di->nr[DEBUGINFO_OTHER_BUILD]);
	debuginfo_close(one);
	debuginfo_free(di);
	build_remove();
}

TEST_HARNESS_MAIN
