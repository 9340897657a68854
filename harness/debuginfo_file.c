// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One ELF file opened for what it says about code: what it holds, and which build it is.
 */
#include "harness/debuginfo.h"
#include "harness/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * debuginfo_verdict_name() - a verdict's name in logs and JSON
 * @verdict: any value
 *
 * Return: the name.
 */
const char *debuginfo_verdict_name(enum debuginfo_verdict verdict)
{
	static const char *const names[] = {
#define X(sym, name, text) [DEBUGINFO_##sym] = name,
		DEBUGINFO_VERDICTS(X)
#undef X
	};

	return (unsigned int)verdict < DEBUGINFO_NR_VERDICTS ? names[verdict] : "?";
}

static bool has_name(const char *name, const char *dot, const char *gnu)
{
	return !strcmp(name, dot) || !strcmp(name, gnu);
}

static unsigned int content_of(const char *name, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || !sh->sh_size)
		return 0;
	if (sh->sh_type == SHT_SYMTAB)
		return sh->sh_entsize && sh->sh_size > sh->sh_entsize ? DEBUGINFO_SYMTAB : 0;
	if (sh->sh_type == SHT_DYNSYM)
		return DEBUGINFO_CODE;
	if (sh->sh_flags & SHF_EXECINSTR)
		return DEBUGINFO_CODE;
	if (has_name(name, ".debug_info", ".zdebug_info"))
		return DEBUGINFO_INFO;
	if (has_name(name, ".debug_frame", ".zdebug_frame"))
		return DEBUGINFO_FRAME;
	if (has_name(name, ".debug_str", ".zdebug_str"))
		return DEBUGINFO_STR;
	return 0;
}

/* A build-id of one byte would name 1/256 of all files. */
static bool note_build_id(struct debuginfo_file *f, Elf_Data *data)
{
	size_t off = 0, next, name, desc;
	GElf_Nhdr n;

	if (!data || !data->d_buf)
		return false;
	while ((next = gelf_getnote(data, off, &n, &name, &desc)) > 0) {
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof("GNU") &&
		    !memcmp((char *)data->d_buf + name, "GNU", sizeof("GNU")) &&
		    n.n_descsz >= 2 && n.n_descsz <= sizeof(f->build_id)) {
			memcpy(f->build_id, (char *)data->d_buf + desc, n.n_descsz);
			f->build_id_len = n.n_descsz;
			return true;
		}
		off = next;
	}
	return false;
}

/* Sections first: the segments of a debug file point at bytes that are not there. */
static bool read_sections(struct debuginfo_file *f, u64 shoff)
{
	Elf_Scn *scn = NULL;
	size_t nr, strings;
	GElf_Shdr sh;

	/* libelf takes headers past the end of the file for none at all. */
	if (elf_getshdrnum(f->elf, &nr) || elf_getshdrstrndx(f->elf, &strings) || (shoff && !nr))
		return false;
	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		     (sh.sh_offset > f->size || sh.sh_size > f->size - sh.sh_offset)))
			return false;
		name = elf_strptr(f->elf, strings, sh.sh_name);
		f->holds |= content_of(name ? name : "", &sh);
		if (sh.sh_type == SHT_NOTE && !f->build_id_len)
			note_build_id(f, elf_getdata(scn, NULL));
	}
	return true;
}

static void read_segments(struct debuginfo_file *f)
{
	size_t nr;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &nr))
		return;
	for (size_t i = 0; i < nr && i < INT32_MAX && !f->build_id_len; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &ph) || ph.p_type != PT_NOTE ||
		    ph.p_offset > INT64_MAX)
			continue;
		note_build_id(f, elf_getdata_rawchunk(f->elf, (int64_t)ph.p_offset, ph.p_filesz,
						      ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
	}
}

static enum debuginfo_verdict finish(struct debuginfo_file *f)
{
	GElf_Ehdr eh;

	elf_version(EV_CURRENT);
	/* libelf wants char *; the pages are private, and it is only asked to read. */
	f->elf = elf_memory((char *)(uintptr_t)f->bytes, f->size);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &eh))
		return DEBUGINFO_NOT_ELF;
	f->machine = eh.e_machine;
	if (!read_sections(f, eh.e_shoff))
		return DEBUGINFO_DAMAGED;
	if (!f->build_id_len)
		read_segments(f);
	return DEBUGINFO_ACCEPTED;
}

static struct debuginfo_file *new_file(const char *prefix, const char *path)
{
	struct debuginfo_file *f = calloc(1, sizeof(*f));
	size_t size = strlen(prefix) + strlen(path) + 1;

	if (!f)
		return NULL;
	f->fd = -1;
	f->guard = -1;
	f->in_root = *prefix;
	f->path = strdup(path);
	f->host_path = malloc(size);
	if (!f->path || !f->host_path) {
		debuginfo_close(f);
		return NULL;
	}
	strcpy(f->host_path, prefix);
	strcat(f->host_path, path);
	return f;
}

static enum debuginfo_verdict map_fd(struct debuginfo_file *f, int fd)
{
	struct stat st;

	f->fd = fd;
	if (fstat(fd, &st))
		return DEBUGINFO_UNREADABLE;
	if (st.st_size <= 0)
		return DEBUGINFO_NOT_ELF;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = (u64)st.st_size;
	f->guard = image_map(fd, f->size, &f->bytes);
	if (f->guard < 0)
		return DEBUGINFO_UNREADABLE;
	return finish(f);
}

/**
 * debuginfo_open_fd() - open a file that debuginfo_root_file() found
 * @fd: the file; closed with @file, at once where there is none
 * @root: where @path starts
 * @path: what it is called there
 * @file: as debuginfo_open() has it
 *
 * Return: DEBUGINFO_ACCEPTED, or why not.
 */
enum debuginfo_verdict debuginfo_open_fd(int fd, const struct debuginfo_root *root,
					 const char *path, struct debuginfo_file **file)
{
	struct debuginfo_file *f = new_file(root->prefix, path);
	enum debuginfo_verdict verdict;

	*file = NULL;
	if (!f) {
		close(fd);
		return DEBUGINFO_UNREADABLE;
	}
	verdict = map_fd(f, fd);
	if (verdict == DEBUGINFO_ACCEPTED)
		*file = f;
	else
		debuginfo_close(f);
	return verdict;
}

static enum debuginfo_verdict open_in(struct debuginfo *di, const struct debuginfo_root *root,
				      const char *path, const char *name,
				      struct debuginfo_file **file)
{
	enum debuginfo_verdict verdict = DEBUGINFO_UNREADABLE;
	int fd = debuginfo_root_file(di, root, path, &verdict);

	*file = NULL;
	return fd < 0 ? verdict : debuginfo_open_fd(fd, root, name, file);
}

/**
 * debuginfo_open() - open a file by the path that a process or a record has for it
 * @di: session
 * @pid: the process whose path it is, 0 for none in particular
 * @path: absolute; below symfs or /proc/PID/root where debuginfo_root_open() says so
 * @file: the open file, NULL unless accepted; debuginfo_close() gives it back
 *
 * Return: DEBUGINFO_ACCEPTED, or why not.
 */
enum debuginfo_verdict debuginfo_open(struct debuginfo *di, pid_t pid, const char *path,
				      struct debuginfo_file **file)
{
	enum debuginfo_verdict verdict;
	struct debuginfo_root root;

	debuginfo_root_open(di, pid, &root);
	verdict = open_in(di, &root, path, path, file);
	debuginfo_root_close(&root);
	if (*file)
		(*file)->pid = pid;
	return verdict;
}

/**
 * debuginfo_open_host() - open a file of this host, whatever symfs says
 * @di: session
 * @host_path: such as /proc/PID/map_files/RANGE of a deleted file
 * @name: what it is called
 * @file: as debuginfo_open() has it
 *
 * Return: DEBUGINFO_ACCEPTED, or why not.
 */
enum debuginfo_verdict debuginfo_open_host(struct debuginfo *di, const char *host_path,
					   const char *name, struct debuginfo_file **file)
{
	const struct debuginfo_root host = { .fd = -1 };

	return open_in(di, &host, host_path, name, file);
}

/**
 * debuginfo_open_memory() - open an image in memory, such as a vDSO
 * @bytes: must outlive the file, and must not change
 * @size: bytes of it
 * @name: what it is called
 * @file: as debuginfo_open() has it
 *
 * Return: DEBUGINFO_ACCEPTED, or why not.
 */
enum debuginfo_verdict debuginfo_open_memory(const void *bytes, u64 size, const char *name,
					     struct debuginfo_file **file)
{
	struct debuginfo_file *f = new_file("", name);
	enum debuginfo_verdict verdict;

	*file = NULL;
	if (!f)
		return DEBUGINFO_UNREADABLE;
	f->bytes = bytes;
	f->size = size;
	verdict = finish(f);
	if (verdict == DEBUGINFO_ACCEPTED)
		*file = f;
	else
		debuginfo_close(f);
	return verdict;
}

/**
 * debuginfo_close() - give a file back
 * @file: the file, or NULL
 */
void debuginfo_close(struct debuginfo_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	image_unmap(file->guard);
	if (file->fd >= 0)
		close(file->fd);
	free(file->host_path);
	free(file->path);
	free(file);
}

/**
 * debuginfo_section() - the bytes of a section as they are in the file
 * @file: the file
 * @name: of the section; the first one with that name counts
 * @size: bytes of it
 *
 * Return: the bytes, NULL where there is no such section or it has none.
 */
const u8 *debuginfo_section(const struct debuginfo_file *file, const char *name, u64 *size)
{
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(file->elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		const char *found;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(file->elf, strings, sh.sh_name);
		if (!found || strcmp(found, name))
			continue;
		if (!sh.sh_size || sh.sh_offset > file->size ||
		    sh.sh_size > file->size - sh.sh_offset)
			return NULL;
		*size = sh.sh_size;
		return file->bytes + sh.sh_offset;
	}
	return NULL;
}
