/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Separate debug information: where it is searched, and what a candidate must prove.
 *
 * The search order, for a file F of build-id xxyyyy (docs/symbols.md has the reasons):
 *
 *	1. F's .gnu_debuglink NAME:	DIR/NAME, DIR/.debug/NAME, D/DIR/NAME
 *					where DIR is F's folder, as named and then as resolved
 *	2. F's build-id:		D/.build-id/xx/yyyy.debug
 *	3. perf's build-id cache:	B/.build-id/xx/yyyy/debug, .../elf, B/.build-id/xx/yyyy
 *
 * D is each global debug folder (/usr/lib/debug), B each build-id cache (~/.debug). All of it
 * happens below --symfs where that is given. Without it, a target in another mount namespace
 * or chroot has 1 and 2 below /proc/PID/root, then 2 and 3 on this host, which only a build-id
 * can reach.
 */
#ifndef HARNESS_DEBUGINFO_H
#define HARNESS_DEBUGINFO_H

#include "ehframe/base.h"

#include <libelf.h>
#include <stdbool.h>
#include <sys/types.h>

/* What can be asked for, and what a file was found to hold. */
enum debuginfo_content {
	DEBUGINFO_SYMTAB = 1,	/* .symtab */
	DEBUGINFO_INFO = 2,	/* .debug_info, compressed or not */
	DEBUGINFO_FRAME = 4,	/* .debug_frame, compressed or not */
	DEBUGINFO_STR = 8,	/* .debug_str: what a dwz file may be all about */
	DEBUGINFO_CODE = 16,	/* a PT_LOAD segment and .dynsym or code with bytes in the file */
};

/*	symbol		name		meaning */
#define DEBUGINFO_VERDICTS(X) \
	X(ACCEPTED,	"accepted",	"it is what was asked for") \
	X(ABSENT,	"absent",	"there is no such file") \
	X(UNREADABLE,	"unreadable",	"it cannot be opened or read") \
	X(NOT_REGULAR,	"not-regular",	"a folder, a FIFO, a device: no regular file") \
	X(SYMLINK_LOOP,	"symlink-loop",	"too many symbolic links") \
	X(NOT_ELF,	"not-elf",	"no ELF file") \
	X(DAMAGED,	"damaged",	"its headers contradict each other") \
	X(SAME_FILE,	"same-file",	"the stripped file itself under another name") \
	X(OTHER_MACHINE, "other-machine", "another machine, class or byte order") \
	X(NO_BUILD_ID,	"no-build-id",	"it has no build-id, the file that it is for has one") \
	X(OTHER_BUILD,	"other-build",	"its build-id is another one") \
	X(WRONG_CRC,	"wrong-crc",	"its CRC32 is not the one in .gnu_debuglink") \
	X(OTHER_LAYOUT,	"other-layout",	"its segments have other addresses") \
	X(LACKS,	"lacks-content", "the right build, without what is asked for") \
	X(BAD_NAME,	"bad-name",	"the link holds no usable name")

enum debuginfo_verdict {
#define X(sym, name, text) DEBUGINFO_##sym,
	DEBUGINFO_VERDICTS(X)
#undef X
	DEBUGINFO_NR_VERDICTS
};

/**
 * struct debuginfo_options - how to search
 * @symfs: root of the files and of every candidate, NULL for none
 * @debug_dirs: global debug folders, ended by NULL; NULL for /usr/lib/debug
 * @buildid_dirs: build-id caches, ended by NULL; NULL for ~/.debug
 * @log: told about every candidate, accepted or not; may be NULL
 * @log_arg: its first argument
 * @no_openat2: resolve links below a root by hand, as on a kernel before 5.6 (for tests)
 *
 * @log gets the candidate's path as this host would reach it, the verdict and one line of text.
 */
struct debuginfo_options {
	const char *symfs;
	const char *const *debug_dirs;
	const char *const *buildid_dirs;
	void (*log)(void *arg, const char *path, enum debuginfo_verdict verdict, const char *text);
	void *log_arg;
	bool no_openat2;
};

/**
 * struct debuginfo_file - an ELF file that was opened for what it says about code
 * @path: its name in the root that it was found in
 * @host_path: a name for it on this host
 * @fd: open file, -1 for one in memory
 * @bytes: the whole of it; private pages, zeros where the file shrank under us
 * @size: bytes of it
 * @elf: libelf's view of the same bytes
 * @pid: the process whose root @path is in, 0 for none
 * @in_root: @path is below symfs or below /proc/PID/root
 * @holds: DEBUGINFO_* flags
 * @machine: ELF's e_machine
 * @build_id: @build_id_len bytes of it, 0 where there is none
 */
struct debuginfo_file {
	char *path;
	char *host_path;
	int fd;
	const u8 *bytes;
	u64 size;
	Elf *elf;
	pid_t pid;
	bool in_root;
	unsigned int holds;
	u16 machine;
	u8 build_id[64];
	u32 build_id_len;

	/* for debuginfo*.c only */
	dev_t dev;
	ino_t ino;
	int guard;
};

/**
 * struct debuginfo - a session of searching
 * @opts: as given; the strings are copies
 * @nr: candidates by verdict
 *
 * Not for use by two threads at a time.
 */
struct debuginfo {
	struct debuginfo_options opts;
	u64 nr[DEBUGINFO_NR_VERDICTS];

	/* for debuginfo*.c only */
	char **debug_dirs;
	char **buildid_dirs;
	int symfs_fd;
};

struct debuginfo *debuginfo_new(const struct debuginfo_options *opts);
void debuginfo_free(struct debuginfo *di);
const char *debuginfo_verdict_name(enum debuginfo_verdict verdict);

enum debuginfo_verdict debuginfo_open(struct debuginfo *di, pid_t pid, const char *path,
				      struct debuginfo_file **file);
enum debuginfo_verdict debuginfo_open_host(struct debuginfo *di, const char *host_path,
					   const char *name, struct debuginfo_file **file);
enum debuginfo_verdict debuginfo_open_memory(const void *bytes, u64 size, const char *name,
					     struct debuginfo_file **file);
void debuginfo_close(struct debuginfo_file *file);

struct debuginfo_file *debuginfo_find(struct debuginfo *di, const struct debuginfo_file *main,
				      unsigned int need);
struct debuginfo_file *debuginfo_find_elf(struct debuginfo *di, pid_t pid, const u8 *build_id,
					  u32 build_id_len);
struct debuginfo_file *debuginfo_find_alt(struct debuginfo *di,
					  const struct debuginfo_file *debug);
bool debuginfo_has_altlink(const struct debuginfo_file *debug);
const u8 *debuginfo_section(const struct debuginfo_file *file, const char *name, u64 *size);

/* Paths below a root, for debuginfo*.c and the files that describe a target: debuginfo_root.c. */

/**
 * struct debuginfo_root - where absolute paths start
 * @fd: the folder, -1 for this host's own root
 * @prefix: what to put before a path to name it on this host, "" for the host's root
 * @own_fd: @fd is to be closed by debuginfo_root_close()
 */
struct debuginfo_root {
	int fd;
	char prefix[4096];
	bool own_fd;
};

void debuginfo_root_open(struct debuginfo *di, pid_t pid, struct debuginfo_root *root);
void debuginfo_root_close(struct debuginfo_root *root);
int debuginfo_root_file(const struct debuginfo *di, const struct debuginfo_root *root,
			const char *path, enum debuginfo_verdict *verdict);
enum debuginfo_verdict debuginfo_open_fd(int fd, const struct debuginfo_root *root,
					 const char *path, struct debuginfo_file **file);

#endif /* HARNESS_DEBUGINFO_H */
