// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The table of mapped files: opens each once, and checks that it is the one that was mapped.
 */
#include "harness/module.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "harness/debuginfo.h"
#include "harness/perf_proc.h"
#include "harness/vdso.h"

#define NR_BUCKETS	4096	/* a power of two */

/* Files that are kept apart; a recording of a whole machine has some thousands. */
#define MAX_MODULES	16384

struct modules {
	struct module_params params;
	char *symfs;
	struct debuginfo *roots;	/* knows where a process's paths start */
	struct module *bucket[NR_BUCKETS];
	struct module *first;
	struct module *last;
	u32 nr;
	struct module *overflow;
};

/* What tells two files of one name apart; compared as bytes. */
struct key {
	u8 bytes[32];
	u32 len;
};

enum key_kind { KEY_NAME, KEY_BUILD_ID, KEY_INODE, KEY_SIZE };

static const char deleted[] = " (deleted)";

/**
 * module_status_name() - the name of a status, as reports and JSON have it
 * @status: the status
 *
 * Return: a constant string.
 */
const char *module_status_name(enum module_status status)
{
	static const char *const names[] = {
#define X(sym, name, usable, text) [MODULE_##sym] = name,
		MODULE_STATUSES(X)
#undef X
	};

	return (unsigned int)status < MODULE_NR_STATUSES ? names[status] : "unknown";
}

/**
 * module_status_text() - what a status means
 * @status: the status
 *
 * Return: a constant string.
 */
const char *module_status_text(enum module_status status)
{
	static const char *const texts[] = {
#define X(sym, name, usable, text) [MODULE_##sym] = text,
		MODULE_STATUSES(X)
#undef X
	};

	return texts[status];
}

/**
 * module_identity_name() - the name of a way to identify a file
 * @identity: the way
 *
 * Return: a constant string.
 */
const char *module_identity_name(enum module_identity identity)
{
	static const char *const names[] = {
#define X(sym, name, text) [MODULE_ID_##sym] = name,
		MODULE_IDENTITIES(X)
#undef X
	};

	return (unsigned int)identity < MODULE_NR_IDENTITIES ? names[identity] : "unknown";
}

/**
 * module_usable() - may its bytes be used?
 * @m: the module
 *
 * Return: true for an image that is the mapped one as far as that can be known, with CFI or
 * without.
 */
bool module_usable(const struct module *m)
{
	static const bool usable[] = {
#define X(sym, name, use, text) [MODULE_##sym] = use,
		MODULE_STATUSES(X)
#undef X
	};

	return usable[m->status];
}

/**
 * module_table_new() - make a table
 * @params: copied, @params->symfs too
 *
 * Return: the table, NULL where memory is short.
 */
struct modules *module_table_new(const struct module_params *params)
{
	struct modules *mods = calloc(1, sizeof(*mods));

	if (!mods)
		return NULL;
	mods->params = *params;
	mods->symfs = strdup(params->symfs ? params->symfs : "");
	mods->params.symfs = mods->symfs;
	mods->roots = debuginfo_new(&(struct debuginfo_options){
		.symfs = params->symfs, .no_openat2 = params->no_openat2 });
	if (mods->symfs && mods->roots)
		return mods;
	module_table_free(mods);
	return NULL;
}

static void free_module(struct module *m)
{
	while (m->places) {
		struct module_place *pl = m->places;

		m->places = pl->next;
		free(pl);
	}
	pager_close(m->file);
	free(m->seg);
	if (m->file_path != m->path)
		free(m->file_path);
	free(m->path);
	free(m);
}

/**
 * module_table_free() - end a table and all its modules and places
 * @mods: the table, or NULL
 */
void module_table_free(struct modules *mods)
{
	if (!mods)
		return;
	while (mods->first) {
		struct module *m = mods->first;

		mods->first = m->next;
		free_module(m);
	}
	debuginfo_free(mods->roots);
	free(mods->symfs);
	free(mods);
}

/**
 * module_table_pager() - who reads the files of a table
 * @mods: the table
 *
 * Return: the pager.
 */
struct pager *module_table_pager(const struct modules *mods)
{
	return mods->params.pager;
}

/**
 * module_first() - all modules, in the order in which they were met
 * @mods: the table
 *
 * Return: the first one; struct module.next leads to the others.
 */
struct module *module_first(const struct modules *mods)
{
	return mods->first;
}

static __attribute__((format(printf, 3, 4)))
void set_status(struct module *m, enum module_status status, const char *format, ...)
{
	va_list ap;

	m->status = status;
	va_start(ap, format);
	vsnprintf(m->why, sizeof(m->why), format, ap);
	va_end(ap);
}

static const char *hex(char *out, size_t size, const u8 *id, u32 len)
{
	size_t n = 0;

	for (u32 k = 0; k < len && n + 3 <= size; k++)
		n += (size_t)snprintf(out + n, size - n, "%02x", id[k]);
	return n ? out : "none";
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_vdso(const char *name)
{
	return !strcmp(name, "[vdso]") || !strcmp(name, "[vdso32]");
}

/* Which of a kernel's vDSOs it is. */
enum vdso { VDSO_NATIVE, VDSO_COMPAT, VDSO_X32 };

/*
 * The program says, where it was mapped before. Else the address does: the vDSO of a task with
 * addresses of 32 bits lies below 4 GiB, that of a 64-bit one near its stack, far above.
 */
static enum vdso which_vdso(const struct perf_rec_mmap *map, const struct ehu_arch *arch)
{
	if (arch == &ehu_arch_x32)
		return VDSO_X32;
	if (arch)
		return arch->abi.word_size == 4 ? VDSO_COMPAT : VDSO_NATIVE;
	return map->addr < UINT64_C(1) << 32 ? VDSO_COMPAT : VDSO_NATIVE;
}

/* What the name alone says: true where there is no file to open. */
static bool by_name(struct module *m, const char *name)
{
	static const char *const anon[] = {
		"//anon", "/anon_hugepage", "/memfd:", "/dev/zero", "/SYSV", "[anon", "anon_inode:",
	};
	size_t len = strlen(name);

	for (size_t k = 0; k < EHF_ARRAY_SIZE(anon); k++) {
		if (begins(name, anon[k])) {
			set_status(m, MODULE_ANON, "memory without a file");
			return true;
		}
	}
	if (!*name) {
		set_status(m, MODULE_ANON, "memory without a name");
		return true;
	}
	if (*name != '/' || begins(name, "//")) {
		set_status(m, MODULE_SPECIAL, "not a file");
		return true;
	}
	if (len >= sizeof(deleted) && !strcmp(name + len - (sizeof(deleted) - 1), deleted)) {
		set_status(m, MODULE_DELETED, "it was gone when it was recorded");
		return true;
	}
	return false;
}

/* The build-ids are equal; perf's tables may pad a short one with zeros. */
static bool same_build_id(const u8 *want, u32 want_len, const struct image *img)
{
	if (!img->build_id_len || want_len < img->build_id_len ||
	    memcmp(want, img->build_id, img->build_id_len))
		return false;
	for (u32 k = img->build_id_len; k < want_len; k++) {
		if (want[k])
			return false;
	}
	return true;
}

/* Compares with the recorded build-id, which the module holds; false where it is another file. */
static bool check_build_id(struct module *m, const struct image *img)
{
	char want[48], have[48];

	m->identity = MODULE_ID_BUILD_ID;
	if (same_build_id(m->build_id, m->build_id_len, img))
		return true;
	set_status(m, MODULE_STALE, "its build-id is %.40s, recorded was %.40s",
		   hex(have, sizeof(have), img->build_id, img->build_id_len),
		   hex(want, sizeof(want), m->build_id, m->build_id_len));
	return false;
}

static void unverified(struct module *m, const char *why)
{
	m->identity = MODULE_ID_UNVERIFIED;
	snprintf(m->why, sizeof(m->why), "%s", why);
}

/* Compares with the recorded inode; false where it is another file. */
static bool check_inode(struct module *m, const struct perf_rec_mmap *map, int fd)
{
	struct stat st;
	long version = 0;

	if (!map->has_inode || !map->ino) {
		unverified(m, "neither build-id nor inode was recorded");
		return true;
	}
	if (*m->owner->symfs || fstat(fd, &st)) {
		unverified(m, "no build-id was recorded, and it is looked for elsewhere");
		return true;
	}
	/* Some file systems show another device than the kernel's; other machines, too. */
	if (st.st_dev != makedev(map->maj, map->min)) {
		unverified(m, "no build-id was recorded, and the device differs");
		return true;
	}
	m->identity = MODULE_ID_INODE;
	if (st.st_ino != map->ino) {
		set_status(m, MODULE_STALE, "its inode is %" PRIu64 ", recorded was %" PRIu64,
			   (u64)st.st_ino, map->ino);
		return false;
	}
	/* The call writes an int, whatever its number says. */
	if (map->generation && !ioctl(fd, FS_IOC_GETVERSION, &version) && (u32)version &&
	    (u32)version != (u32)map->generation) {
		set_status(m, MODULE_STALE,
			   "its inode was used again: generation %u, recorded was %u",
			   (u32)version, (u32)map->generation);
		return false;
	}
	return true;
}

static enum module_status from_image(enum image_status status)
{
	switch (status) {
	case IMAGE_OK:
		return MODULE_OK;
	case IMAGE_NO_CFI:
		return MODULE_NO_CFI;
	case IMAGE_OTHER_MACHINE:
		return MODULE_OTHER_MACHINE;
	case IMAGE_NOT_ELF:
		return MODULE_NOT_ELF;
	case IMAGE_UNREADABLE:
		return MODULE_UNREADABLE;
	default:
		return MODULE_DAMAGED;
	}
}

/* Takes over from the image what is needed of it. */
static bool take_image(struct module *m, const struct image *img)
{
	m->seg = calloc(img->nr_segs + 1, sizeof(*m->seg));
	if (!m->seg) {
		set_status(m, MODULE_UNREADABLE, "out of memory");
		return false;
	}
	memcpy(m->seg, img->seg, img->nr_segs * sizeof(*m->seg));
	m->nr_segs = img->nr_segs;
	m->arch = img->arch;
	m->type = img->type;
	m->section = img->section;
	m->hdr_stop = img->hdr_stop;
	m->has_debug_frame = img->has_debug_frame;
	memcpy(m->build_id, img->build_id, img->build_id_len);
	m->build_id_len = img->build_id_len;
	if (img->nr_exec) {
		m->exec_start = img->exec[0].addr;
		m->exec_end = img->exec[img->nr_exec - 1].end;
	}
	return true;
}

/* Behind the colon of an image's message; the path is known. */
static const char *without_path(const struct module *m, const char *text)
{
	size_t len = strlen(m->file_path);

	return !strncmp(text, m->file_path, len) && text[len] == ':' ? text + len + 2 : text;
}

static void give_up(struct module *m)
{
	m->arch = NULL;
	pager_close(m->file);
	m->file = NULL;
}

/*
 * What the pager opens the file by when it needs it again, and messages call it: a name in which
 * no link is left that this host would follow elsewhere. That the name leads to the very file is
 * seen here, as later by the pager.
 */
static bool name_file(struct module *m, const struct debuginfo_root *root, const char *path, int fd)
{
	char link[64], real[4096], *name = NULL;
	struct stat want, have;
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, real, sizeof(real) - 1);
	real[got > 0 ? got : 0] = '\0';
	if (fstat(fd, &want))
		return false;
	/* As this host names it; else as the target does. */
	for (int k = 0; k < 3; k++) {
		free(name);
		if (asprintf(&name, "%s%s", k ? root->prefix : "", k == 2 ? path : real) < 0)
			return false;
		if (!stat(name, &have) && have.st_dev == want.st_dev && have.st_ino == want.st_ino)
			break;
	}
	if (m->file_path != m->path)
		free(m->file_path);
	m->file_path = name;
	return true;
}

/* The file that the process that maps it has at @path; -1 with the reason told. */
static int find_file(struct module *m, const struct perf_rec_mmap *map, const char *path)
{
	const struct module_params *params = &m->owner->params;
	enum debuginfo_verdict verdict = DEBUGINFO_UNREADABLE;
	struct debuginfo_root root = { .fd = -1 };
	int fd;

	m->by_exe = params->exe && params->exe_path && !strcmp(path, params->exe);
	if (m->by_exe)
		path = params->exe_path;
	else
		debuginfo_root_open(m->owner->roots, params->live ? (pid_t)map->pid : 0, &root);
	fd = debuginfo_root_file(m->owner->roots, &root, path, &verdict);
	if (fd < 0 && verdict == DEBUGINFO_NOT_REGULAR)
		set_status(m, MODULE_NOT_ELF, "not a regular file");
	else if (fd < 0)
		set_status(m, verdict == DEBUGINFO_ABSENT ? MODULE_DELETED : MODULE_UNREADABLE, "%s",
			   strerror(errno));
	if (fd >= 0 && !name_file(m, &root, path, fd)) {
		set_status(m, MODULE_UNREADABLE, "out of memory");
		close(fd);
		fd = -1;
	}
	debuginfo_root_close(&root);
	return fd;
}

/* Takes the descriptor. */
static void open_fd(struct module *m, const struct perf_rec_mmap *map, int fd)
{
	struct pager *pager = m->owner->params.pager;
	struct image_error err = { 0 };
	struct image *img = NULL;
	enum image_status status;
	int copy, res;

	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0) {
		set_status(m, MODULE_UNREADABLE, "%s", strerror(errno));
		close(fd);
		return;
	}
	if (!m->build_id_len && !check_inode(m, map, fd)) {
		close(copy);
		close(fd);
		return;
	}
	status = image_open_fd(copy, m->file_path, &img, &err);
	if (!img) {
		m->identity = MODULE_ID_NONE;
		set_status(m, status == IMAGE_NO_CFI ? MODULE_DAMAGED : from_image(status), "%s",
			   without_path(m, err.text));
		close(fd);
		return;
	}
	m->status = from_image(status);
	if ((m->build_id_len && !check_build_id(m, img)) || !take_image(m, img)) {
		close(fd);
	} else {
		res = pager_open_fd(pager, fd, m->file_path, &m->file);
		if (res)
			set_status(m, MODULE_UNREADABLE, "%s", strerror(-res));
		else if (image_changed(img))
			set_status(m, MODULE_UNREADABLE, "it shrank while it was read");
	}
	if (!module_usable(m))
		give_up(m);
	image_close(img);
}

/* The bytes that stand for a recorded vDSO; NULL with the reason told. */
static const void *find_vdso(struct module *m, const struct perf_rec_mmap *map,
			     const struct ehu_arch *arch, size_t *size)
{
	const struct module_params *params = &m->owner->params;
	enum vdso which = which_vdso(map, arch);
	const void *bytes;

	m->identity = MODULE_ID_CORE;
	*size = (size_t)params->vdso_size;
	if (params->vdso)
		return params->vdso;
	if (params->no_vdso) {
		set_status(m, MODULE_SPECIAL, "the vDSO of another kernel");
		return NULL;
	}
	m->identity = MODULE_ID_OWN_VDSO;
	if (which == VDSO_X32) {
		set_status(m, MODULE_SPECIAL, "the vDSO of an x32 task, of which none is run here");
		return NULL;
	}
	bytes = which == VDSO_COMPAT ? vdso_compat(size) : perf_proc_vdso(size);
	if (!bytes && which == VDSO_COMPAT) {
		set_status(m, MODULE_SPECIAL, "the vDSO of a 32-bit task, and none can be run here");
	} else if (!bytes || *size != map->len) {
		set_status(m, MODULE_SPECIAL, "a vDSO of %" PRIu64 " bytes; ours has %zu", map->len,
			   *size);
		return NULL;
	}
	return bytes;
}

static void open_vdso(struct module *m, const struct perf_rec_mmap *map,
		      const struct ehu_arch *arch)
{
	struct image_error err = { 0 };
	struct image *img = NULL;
	enum image_status status;
	size_t size = 0;
	const void *bytes;
	int fd = *m->owner->symfs ? find_file(m, map, "/[vdso]") : -1;

	/* A recording's own may have been put below the prefix, by the name that it is mapped by. */
	if (fd >= 0) {
		open_fd(m, map, fd);
		return;
	}
	set_status(m, MODULE_OK, "%s", "");
	bytes = find_vdso(m, map, arch, &size);
	if (!bytes) {
		m->identity = MODULE_ID_NONE;
		return;
	}
	status = image_open_memory(bytes, size, m->path, &img, &err);
	if (!img) {
		m->identity = MODULE_ID_NONE;
		set_status(m, MODULE_SPECIAL, "%s", without_path(m, err.text));
		return;
	}
	m->status = from_image(status);
	if ((!m->build_id_len || check_build_id(m, img)) && take_image(m, img) &&
	    pager_open_memory(m->owner->params.pager, bytes, size, &m->file))
		set_status(m, MODULE_UNREADABLE, "out of memory");
	if (module_usable(m)) {
		m->memory = bytes;
		m->memory_size = size;
	} else {
		give_up(m);
	}
	image_close(img);
}

static void key_add(struct key *key, const void *bytes, u32 len)
{
	if (len > sizeof(key->bytes) - key->len)
		len = (u32)sizeof(key->bytes) - key->len;
	memcpy(key->bytes + key->len, bytes, len);
	key->len += len;
}

static void key_kind(struct key *key, enum key_kind kind)
{
	u8 byte = (u8)kind;

	key->len = 0;
	key_add(key, &byte, 1);
}

static u32 hash_bytes(u32 h, const void *bytes, size_t len)
{
	const u8 *p = bytes;

	/* FNV-1a */
	while (len--)
		h = (h ^ *p++) * 16777619U;
	return h;
}

static struct module *new_module(struct modules *mods, const char *name)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->owner = mods;
	m->path = strdup(name);
	m->file_path = m->path;
	if (!m->path) {
		free(m);
		return NULL;
	}
	if (mods->last)
		mods->last->next = m;
	else
		mods->first = m;
	mods->last = m;
	mods->nr++;
	return m;
}

/* All files beyond the bound are one module, which is of no use. */
static struct module *overflow(struct modules *mods)
{
	if (!mods->overflow) {
		mods->overflow = new_module(mods, "(other files)");
		if (mods->overflow)
			set_status(mods->overflow, MODULE_OVERFLOW, "more than %d files",
				   MAX_MODULES);
	}
	return mods->overflow;
}

/* The build-id that was recorded, here or in a table elsewhere; @len is 0 where none was. */
static const u8 *recorded_id(const struct modules *mods, const struct perf_rec_mmap *map, u32 *len)
{
	const u8 *id = NULL;

	*len = map->build_id_size;
	if (*len)
		return map->build_id;
	if (mods->params.build_id)
		id = mods->params.build_id(mods->params.arg, map->name, len);
	if (!id)
		*len = 0;
	if (*len > PERF_ABI_BUILD_ID_LEN)
		*len = PERF_ABI_BUILD_ID_LEN;
	return id;
}

/**
 * module_find() - the module that a mapping is of
 * @mods: the table
 * @map: the mapping
 * @arch: the machine of the process's program, or NULL where that is not known yet
 *
 * Opens the file when it is met first. Two files that had one path at different times are
 * different modules, as far as build-id or inode tell them apart.
 *
 * Return: the module, whatever its status; NULL where memory is short.
 */
struct module *module_find(struct modules *mods, const struct perf_rec_mmap *map,
			   const struct ehu_arch *arch)
{
	struct key key = { 0 };
	struct module *m;
	const u8 *id;
	u32 id_len, h;
	int fd;

	id = recorded_id(mods, map, &id_len);
	if (id_len) {
		key_kind(&key, KEY_BUILD_ID);
		key_add(&key, id, id_len);
	} else if (map->has_inode && map->ino) {
		key_kind(&key, KEY_INODE);
		key_add(&key, &map->maj, sizeof(map->maj));
		key_add(&key, &map->min, sizeof(map->min));
		key_add(&key, &map->ino, sizeof(map->ino));
		key_add(&key, &map->generation, sizeof(map->generation));
	} else {
		key_kind(&key, is_vdso(map->name) ? KEY_SIZE : KEY_NAME);
		if (is_vdso(map->name)) {
			u8 which = (u8)which_vdso(map, arch);

			key_add(&key, &map->len, sizeof(map->len));
			key_add(&key, &which, sizeof(which));
		}
	}
	h = hash_bytes(hash_bytes(2166136261U, map->name, strlen(map->name)), key.bytes, key.len);
	for (m = mods->bucket[h & (NR_BUCKETS - 1)]; m; m = m->hash_next) {
		if (m->hash == h && m->key_len == key.len && !memcmp(m->key, key.bytes, key.len) &&
		    !strcmp(m->path, map->name))
			return m;
	}
	if (mods->nr >= MAX_MODULES)
		return overflow(mods);
	m = new_module(mods, map->name);
	if (!m)
		return NULL;
	m->hash = h;
	m->key_len = key.len;
	memcpy(m->key, key.bytes, key.len);
	m->hash_next = mods->bucket[h & (NR_BUCKETS - 1)];
	mods->bucket[h & (NR_BUCKETS - 1)] = m;
	if (id_len)
		memcpy(m->build_id, id, id_len);
	m->build_id_len = id_len;
	if (is_vdso(map->name))
		open_vdso(m, map, arch);
	else if (!by_name(m, map->name) && (fd = find_file(m, map, map->name)) >= 0)
		open_fd(m, map, fd);
	return m;
}

/**
 * module_dup_fd() - a descriptor of the very file, for who has to read it another way
 * @m: the module
 *
 * Return: a descriptor that the caller closes; -1 where there is none, or the file is another
 * one by now.
 */
int module_dup_fd(struct module *m)
{
	return m->file ? pager_dup_fd(m->file) : -1;
}
