// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The search for separate debug information: candidates in order, each verified, each logged.
 */
#include "harness/debuginfo.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* What a debug link says. */
struct link {
	const char *name;	/* in the file's bytes, ended by NUL */
	u32 crc;
};

/* One search. @main is the file that wants to be described. */
struct search {
	struct debuginfo *di;
	const struct debuginfo_file *main;
	unsigned int need;
	const u8 *build_id;
	u32 build_id_len;
	const struct link *link;	/* set while candidates come from a debug link */
	struct debuginfo_root root;
	struct debuginfo_file *found;
	char *seen[32];			/* paths that were tried, with their root's prefix */
	int nr_seen;
};

static char **copy_list(const char *const *list, const char *otherwise)
{
	const char *const one[] = { otherwise, NULL };
	size_t nr = 0;
	char **copy;

	if (!list)
		list = one;
	while (list[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++)
		copy[i] = strdup(list[i]);
	return copy;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/**
 * debuginfo_new() - begin a session
 * @opts: copied, with the strings in it
 *
 * Return: the session, or NULL with errno set; debuginfo_free() ends it. A symfs that cannot be
 * opened is no error: there is just nothing below it.
 */
struct debuginfo *debuginfo_new(const struct debuginfo_options *opts)
{
	struct debuginfo *di = calloc(1, sizeof(*di));
	const char *home = getenv("HOME");
	char cache[PATH_MAX];

	if (!di)
		return NULL;
	snprintf(cache, sizeof(cache), "%s/.debug", home ? home : "");
	di->opts = *opts;
	di->symfs_fd = -1;
	di->opts.symfs = NULL;
	/* "/" is the host's own root: no links to be kept in. */
	if (opts->symfs && *opts->symfs && strcmp(opts->symfs, "/")) {
		di->opts.symfs = strdup(opts->symfs);
		di->symfs_fd = open(opts->symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	di->debug_dirs = copy_list(opts->debug_dirs, "/usr/lib/debug");
	di->buildid_dirs = copy_list(opts->buildid_dirs, home ? cache : NULL);
	if (!di->debug_dirs || !di->buildid_dirs) {
		debuginfo_free(di);
		return NULL;
	}
	return di;
}

/**
 * debuginfo_free() - end a session; files that were opened in it stay open
 * @di: the session, or NULL
 */
void debuginfo_free(struct debuginfo *di)
{
	if (!di)
		return;
	if (di->symfs_fd >= 0)
		close(di->symfs_fd);
	free((char *)(uintptr_t)di->opts.symfs);
	free_list(di->debug_dirs);
	free_list(di->buildid_dirs);
	free(di);
}

static void say(struct search *s, const char *path, enum debuginfo_verdict verdict,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static void say(struct search *s, const char *path, enum debuginfo_verdict verdict,
		const char *format, ...)
{
	char host[2 * PATH_MAX], text[512];
	va_list args;

	s->di->nr[verdict]++;
	if (!s->di->opts.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(host, sizeof(host), "%s%s", s->root.prefix, path);
	s->di->opts.log(s->di->opts.log_arg, host, verdict, text);
}

static void hex(const u8 *bytes, u32 len, char *text)
{
	for (u32 i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[2 * len] = '\0';
}

static const char *missing(unsigned int lacks)
{
	if (lacks & DEBUGINFO_INFO)
		return "no .debug_info";
	if (lacks & DEBUGINFO_FRAME)
		return "no .debug_frame";
	if (lacks & DEBUGINFO_SYMTAB)
		return "no .symtab";
	return lacks & DEBUGINFO_CODE ? "no code and no .dynsym" : "no .debug_str";
}

/* The first executable segment: a prelinked file and its debug file would differ in it. */
static bool text_addr(Elf *elf, u64 *addr)
{
	size_t nr;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr && i < INT_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X) {
			*addr = ph.p_vaddr;
			return true;
		}
	}
	return false;
}

static u32 file_crc(const struct debuginfo_file *f)
{
	uLong crc = crc32(0, NULL, 0);

	for (u64 at = 0; at < f->size; at += 1 << 24) {
		u64 left = f->size - at;

		crc = crc32(crc, f->bytes + at, left < 1 << 24 ? (uInt)left : 1 << 24);
	}
	return (u32)crc;
}

/* Is it the same build? Where a file has a build-id nothing else is proof. */
static enum debuginfo_verdict same_build(struct search *s, const struct debuginfo_file *f,
					 const char *path)
{
	char want[129], have[129];
	u32 crc;

	if (s->build_id_len) {
		hex(s->build_id, s->build_id_len, want);
		hex(f->build_id, f->build_id_len, have);
		if (!f->build_id_len) {
			say(s, path, DEBUGINFO_NO_BUILD_ID, "no build-id, wanted %s", want);
			return DEBUGINFO_NO_BUILD_ID;
		}
		if (strcmp(want, have)) {
			say(s, path, DEBUGINFO_OTHER_BUILD, "build-id %s, wanted %s", have, want);
			return DEBUGINFO_OTHER_BUILD;
		}
		return DEBUGINFO_ACCEPTED;
	}
	if (!s->link) {
		say(s, path, DEBUGINFO_NO_BUILD_ID, "nothing to prove the build by");
		return DEBUGINFO_NO_BUILD_ID;
	}
	crc = file_crc(f);
	if (crc == s->link->crc)
		return DEBUGINFO_ACCEPTED;
	say(s, path, DEBUGINFO_WRONG_CRC, "CRC32 %08x, wanted %08x", crc, s->link->crc);
	return DEBUGINFO_WRONG_CRC;
}

static enum debuginfo_verdict verify(struct search *s, const struct debuginfo_file *f,
				     const char *path)
{
	enum debuginfo_verdict verdict;
	u64 ours, theirs;

	if (s->main && s->main->fd >= 0 && f->dev == s->main->dev && f->ino == s->main->ino) {
		say(s, path, DEBUGINFO_SAME_FILE, "it is the file itself");
		return DEBUGINFO_SAME_FILE;
	}
	if (s->main && (f->machine != s->main->machine ||
			memcmp(f->bytes + EI_CLASS, s->main->bytes + EI_CLASS, 2))) {
		say(s, path, DEBUGINFO_OTHER_MACHINE, "machine %u, wanted %u, or another class",
		    f->machine, s->main->machine);
		return DEBUGINFO_OTHER_MACHINE;
	}
	verdict = same_build(s, f, path);
	if (verdict != DEBUGINFO_ACCEPTED)
		return verdict;
	if (s->main && text_addr(s->main->elf, &ours) && text_addr(f->elf, &theirs) &&
	    ours != theirs && !(s->need & DEBUGINFO_STR)) {
		say(s, path, DEBUGINFO_OTHER_LAYOUT, "text at %#llx, wanted %#llx",
		    (unsigned long long)theirs, (unsigned long long)ours);
		return DEBUGINFO_OTHER_LAYOUT;
	}
	if (s->need & ~f->holds) {
		say(s, path, DEBUGINFO_LACKS, "%s", missing(s->need & ~f->holds));
		return DEBUGINFO_LACKS;
	}
	return DEBUGINFO_ACCEPTED;
}

static bool seen(struct search *s, const char *path)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", s->root.prefix, path);
	for (int i = 0; i < s->nr_seen; i++) {
		if (!strcmp(s->seen[i], full))
			return true;
	}
	if (s->nr_seen < (int)EHF_ARRAY_SIZE(s->seen)) {
		s->seen[s->nr_seen] = strdup(full);
		s->nr_seen += !!s->seen[s->nr_seen];
	}
	return false;
}

static bool try(struct search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True ends the search. */
static bool try(struct search *s, const char *format, ...)
{
	enum debuginfo_verdict verdict;
	struct debuginfo_file *f;
	char path[PATH_MAX];
	va_list args;
	int len, fd;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (len < 0 || len >= (int)sizeof(path)) {
		say(s, "", DEBUGINFO_BAD_NAME, "a path of %d bytes", len);
		return false;
	}
	if (seen(s, path))
		return false;
	fd = debuginfo_root_file(s->di, &s->root, path, &verdict);
	if (fd < 0) {
		say(s, path, verdict, "%s", debuginfo_verdict_name(verdict));
		return false;
	}
	verdict = debuginfo_open_fd(fd, &s->root, path, &f);
	if (verdict != DEBUGINFO_ACCEPTED) {
		say(s, path, verdict, "%s", debuginfo_verdict_name(verdict));
		return false;
	}
	if (verify(s, f, path) != DEBUGINFO_ACCEPTED) {
		debuginfo_close(f);
		return false;
	}
	say(s, path, DEBUGINFO_ACCEPTED, "accepted");
	f->pid = s->main ? s->main->pid : 0;
	s->found = f;
	return true;
}

/* The folder of "/a/b": "/a"; of "/b": ""; of "b": ".". */
static void folder_of(const char *path, char *dir, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(dir, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* The file's folder without links, as seen in the root. */
static bool resolved_folder(const struct search *s, char *dir, size_t size)
{
	char link[64], full[PATH_MAX], top[PATH_MAX] = "";
	ssize_t len;

	if (s->main->fd < 0 || s->root.own_fd)
		return false;
	if (s->root.fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", s->root.fd);
		len = readlink(link, top, sizeof(top) - 1);
		if (len <= 0)
			return false;
		top[len] = '\0';
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->main->fd);
	len = readlink(link, full, sizeof(full) - 1);
	if (len <= 0)
		return false;
	full[len] = '\0';
	if (strncmp(full, top, strlen(top)) || full[strlen(top)] != '/')
		return false;
	folder_of(full + strlen(top), dir, size);
	return true;
}

static bool by_link(struct search *s, const char *dir)
{
	const char *name = s->link->name;

	if (try(s, "%s/%s", dir, name) || try(s, "%s/.debug/%s", dir, name))
		return true;
	for (char **d = s->di->debug_dirs; *d && *dir != '.'; d++) {
		if (try(s, "%s%s/%s", *d, dir, name))
			return true;
	}
	return false;
}

static bool by_build_id(struct search *s, const char *suffix)
{
	char id[129];

	if (!s->build_id_len)
		return false;
	hex(s->build_id, s->build_id_len, id);
	for (char **d = s->di->debug_dirs; *d; d++) {
		if (try(s, "%s/.build-id/%.2s/%s%s", *d, id, id + 2, suffix))
			return true;
	}
	return false;
}

/* perf's cache, in its layouts since 2010 (a file) and since 2017 (a folder of them). */
static bool by_cache(struct search *s)
{
	static const char *const names[] = { "/debug", "/elf", "" };
	char id[129];

	if (!s->build_id_len)
		return false;
	hex(s->build_id, s->build_id_len, id);
	for (char **d = s->di->buildid_dirs; *d; d++) {
		for (size_t i = 0; i < EHF_ARRAY_SIZE(names); i++) {
			if (try(s, "%s/.build-id/%.2s/%s%s", *d, id, id + 2, names[i]))
				return true;
		}
	}
	return false;
}

/* Once a process's own root has nothing: this host's, where only a build-id can tell. */
static void leave_process_root(struct search *s)
{
	if (s->root.own_fd) {
		debuginfo_root_close(&s->root);
		*s->root.prefix = '\0';
	}
}

static struct debuginfo_file *end(struct search *s)
{
	debuginfo_root_close(&s->root);
	for (int i = 0; i < s->nr_seen; i++)
		free(s->seen[i]);
	return s->found;
}

/* Name, padding to 4 bytes, CRC32 in the file's byte order. */
static bool read_link(struct search *s, struct link *link)
{
	u64 size, len;
	const u8 *p = debuginfo_section(s->main, ".gnu_debuglink", &size);
	const u8 *c;

	if (!p)
		return false;
	len = strnlen((const char *)p, size);
	if (!len || len == size || size < 4 || (len + 4) / 4 * 4 > size - 4) {
		say(s, s->main->path, DEBUGINFO_BAD_NAME, ".gnu_debuglink is cut short");
		return false;
	}
	c = p + (len + 4) / 4 * 4;
	link->name = (const char *)p;
	/* A name with a folder in it could point anywhere; no linker or objcopy writes one. */
	if (strchr(link->name, '/')) {
		say(s, s->main->path, DEBUGINFO_BAD_NAME, ".gnu_debuglink holds a '/'");
		return false;
	}
	if (s->main->bytes[EI_DATA] == ELFDATA2MSB)
		link->crc = (u32)c[0] << 24 | (u32)c[1] << 16 | (u32)c[2] << 8 | c[3];
	else
		link->crc = (u32)c[3] << 24 | (u32)c[2] << 16 | (u32)c[1] << 8 | c[0];
	return true;
}

static bool by_links(struct search *s)
{
	char dir[PATH_MAX], real[PATH_MAX];
	struct link link;
	bool found;

	if (s->main->fd < 0 || !read_link(s, &link))
		return false;
	s->link = &link;
	folder_of(s->main->path, dir, sizeof(dir));
	found = by_link(s, dir) || (resolved_folder(s, real, sizeof(real)) &&
				    strcmp(real, dir) && by_link(s, real));
	s->link = NULL;
	return found;
}

/**
 * debuginfo_find() - find the separate debug information of a file
 * @di: session
 * @main: the file
 * @need: DEBUGINFO_* flags that the result must hold, all of them
 *
 * The order is the one at the top of harness/debuginfo.h. What @main itself holds plays no part:
 * a file with a .symtab of its own may still need the .debug_info of another. A candidate that
 * is not accepted is logged and counted, and the search goes on.
 *
 * Return: the file, NULL where none was accepted; debuginfo_close() gives it back.
 */
struct debuginfo_file *debuginfo_find(struct debuginfo *di, const struct debuginfo_file *main,
				      unsigned int need)
{
	struct search s = {
		.di = di, .main = main, .need = need,
		.build_id = main->build_id, .build_id_len = main->build_id_len,
	};

	debuginfo_root_open(di, main->pid, &s.root);
	if (by_links(&s) || by_build_id(&s, ".debug"))
		return end(&s);
	leave_process_root(&s);
	if (by_build_id(&s, ".debug") || by_cache(&s))
		return end(&s);
	return end(&s);
}

/**
 * debuginfo_find_elf() - find a file itself by its build-id
 * @di: session
 * @pid: the process that maps it, 0 for none in particular
 * @build_id: what the process or the record has for it
 * @build_id_len: bytes of it
 *
 * For a file that is gone, or that another build has taken the place of.
 *
 * Return: the file, NULL where none was accepted; debuginfo_close() gives it back.
 */
struct debuginfo_file *debuginfo_find_elf(struct debuginfo *di, pid_t pid, const u8 *build_id,
					  u32 build_id_len)
{
	struct search s = {
		.di = di, .need = DEBUGINFO_CODE,
		.build_id = build_id, .build_id_len = build_id_len,
	};

	if (build_id_len < 2 || build_id_len > 64)
		return NULL;
	debuginfo_root_open(di, pid, &s.root);
	if (by_build_id(&s, ""))
		return end(&s);
	leave_process_root(&s);
	if (by_cache(&s) || by_build_id(&s, ""))
		return end(&s);
	return end(&s);
}

/**
 * debuginfo_has_altlink() - tell whether a file shares debug information with others (dwz)
 * @debug: a file with .debug_info
 *
 * Return: true where there is a .gnu_debugaltlink, usable or not.
 */
bool debuginfo_has_altlink(const struct debuginfo_file *debug)
{
	u64 size;

	return debuginfo_section(debug, ".gnu_debugaltlink", &size);
}

/**
 * debuginfo_find_alt() - find the file that holds what several debug files share (dwz)
 * @di: session
 * @debug: a file with a .gnu_debugaltlink: a path, a NUL, the build-id of the other
 *
 * Order: the path (relative to @debug's folder where it is not absolute), then D/.build-id,
 * then perf's cache. The build-id must be equal.
 *
 * Return: the file, NULL where there is none; debuginfo_close() gives it back.
 */
struct debuginfo_file *debuginfo_find_alt(struct debuginfo *di,
					  const struct debuginfo_file *debug)
{
	struct search s = { .di = di, .main = debug, .need = DEBUGINFO_STR };
	char dir[PATH_MAX], real[PATH_MAX];
	const char *name;
	u64 size, len;
	const u8 *p = debuginfo_section(debug, ".gnu_debugaltlink", &size);

	if (!p)
		return NULL;
	name = (const char *)p;
	len = strnlen(name, size);
	if (!len || size - len < 3 || size - len - 1 > 64) {
		say(&s, debug->path, DEBUGINFO_BAD_NAME, ".gnu_debugaltlink has no build-id");
		return NULL;
	}
	s.build_id = p + len + 1;
	s.build_id_len = (u32)(size - len - 1);
	debuginfo_root_open(di, debug->in_root ? debug->pid : 0, &s.root);
	if (*name == '/' && try(&s, "%s", name))
		return end(&s);
	folder_of(debug->path, dir, sizeof(dir));
	if (*name != '/' && try(&s, "%s/%s", dir, name))
		return end(&s);
	/* D/.build-id/xx/yyyy.debug is often a link; the path is relative to what it names. */
	if (*name != '/' && resolved_folder(&s, real, sizeof(real)) &&
	    try(&s, "%s/%s", real, name))
		return end(&s);
	if (by_build_id(&s, ".debug"))
		return end(&s);
	leave_process_root(&s);
	if (by_build_id(&s, ".debug") || by_cache(&s))
		return end(&s);
	return end(&s);
}
