// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A running process described by COMM and MMAP2 records, from /proc. */

#define _GNU_SOURCE
#include "harness/perf_proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes of program headers and of one note segment that are looked at for a build-id. */
#define MAX_PHDRS	128
#define MAX_NOTES	4096

/* Room for the fixed part of MMAP2, a path and sample_id. */
#define MAX_RECORD	8192

struct record {
	u8 bytes[MAX_RECORD];
	size_t size;
};

static void put(struct record *r, const void *bytes, size_t len)
{
	memcpy(r->bytes + r->size, bytes, len);
	r->size += len;
}

static void put32(struct record *r, u32 n)
{
	put(r, &n, sizeof(n));
}

static void put64(struct record *r, u64 n)
{
	put(r, &n, sizeof(n));
}

static void begin(struct record *r, u32 type, u16 misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	r->size = 0;
	put(r, &h, sizeof(h));
}

/* A string padded to 8 bytes, then the sample_id; hands the record over. */
static int finish(struct record *r, const char *text, const struct perf_proc_out *out)
{
	size_t len = strlen(text) + 1;
	u16 size;

	if (len > MAX_RECORD - r->size - out->id_size - 8)
		return 0;	/* no path that the kernel could open is that long */
	put(r, text, len);
	len = -r->size & 7;
	memset(r->bytes + r->size, 0, len + out->id_size);
	r->size += len + out->id_size;
	size = (u16)r->size;
	memcpy(r->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return out->fn(out->arg, r->bytes, r->size);
}

/**
 * perf_proc_id_size() - bytes of the sample_id that follows records other than samples
 * @sample_type: of the event
 *
 * Return: bytes.
 */
u32 perf_proc_id_size(u64 sample_type)
{
	u64 t = sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);

	return 8 * (u32)__builtin_popcountll(t);
}

/**
 * perf_proc_threads() - threads of a process
 * @pid: process
 * @tids: array of their ids, to be freed
 *
 * Return: their number, or a negative errno: -ESRCH if there is no such process.
 */
int perf_proc_threads(pid_t pid, pid_t **tids)
{
	char path[64];
	struct dirent *e;
	pid_t *list = NULL;
	int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(dir))) {
		int tid = atoi(e->d_name);
		pid_t *more;

		if (tid <= 0)
			continue;
		more = realloc(list, (size_t)(nr + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(dir);
			return -ENOMEM;
		}
		list = more;
		list[nr++] = tid;
	}
	closedir(dir);
	*tids = list;
	return nr ? nr : -ESRCH;
}

static bool read_exact(int fd, u64 pos, void *to, size_t len)
{
	return pos <= INT64_MAX && pread(fd, to, len, (off_t)pos) == (ssize_t)len;
}

/* Looks for NT_GNU_BUILD_ID in a note segment; returns the id's size. */
static u32 find_note(const u8 *p, size_t len, u8 id[PERF_ABI_BUILD_ID_LEN])
{
	size_t at = 0;

	while (len - at >= 12) {
		u32 h[3];	/* name size, descriptor size, type */
		size_t name;
		size_t desc;

		memcpy(h, p + at, sizeof(h));
		at += sizeof(h);
		name = ((size_t)h[0] + 3) & ~(size_t)3;
		desc = ((size_t)h[1] + 3) & ~(size_t)3;
		if (name > len - at || desc > len - at - name)
			return 0;
		if (h[2] == NT_GNU_BUILD_ID && h[0] == 4 && !memcmp(p + at, "GNU", 4)) {
			u32 size = h[1] < PERF_ABI_BUILD_ID_LEN ? h[1] : PERF_ABI_BUILD_ID_LEN;

			memcpy(id, p + at + name, size);
			return size;
		}
		at += name + desc;
	}
	return 0;
}

static u32 find_in_segment(int fd, u64 pos, u64 size, u8 id[PERF_ABI_BUILD_ID_LEN])
{
	u8 notes[MAX_NOTES];

	if (size > sizeof(notes))
		size = sizeof(notes);
	return read_exact(fd, pos, notes, size) ? find_note(notes, size, id) : 0;
}

static u32 find_in_file(int fd, u8 id[PERF_ABI_BUILD_ID_LEN])
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} h;
	const int order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	u32 size = 0;

	if (!read_exact(fd, 0, &h, sizeof(h.e32)) || memcmp(h.ident, ELFMAG, SELFMAG) ||
	    h.ident[EI_DATA] != order)
		return 0;
	if (h.ident[EI_CLASS] == ELFCLASS32) {
		for (u32 i = 0; !size && i < h.e32.e_phnum && i < MAX_PHDRS; i++) {
			Elf32_Phdr ph;

			if (!read_exact(fd, h.e32.e_phoff + (u64)i * sizeof(ph), &ph, sizeof(ph)))
				break;
			if (ph.p_type == PT_NOTE)
				size = find_in_segment(fd, ph.p_offset, ph.p_filesz, id);
		}
	} else if (h.ident[EI_CLASS] == ELFCLASS64 && read_exact(fd, 0, &h, sizeof(h.e64))) {
		for (u32 i = 0; !size && i < h.e64.e_phnum && i < MAX_PHDRS; i++) {
			Elf64_Phdr ph;

			if (h.e64.e_phoff > INT64_MAX ||
			    !read_exact(fd, h.e64.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
				break;
			if (ph.p_type == PT_NOTE)
				size = find_in_segment(fd, ph.p_offset, ph.p_filesz, id);
		}
	}
	return size;
}

/**
 * perf_proc_build_id() - build-id of an ELF file of this machine's byte order
 * @path: file; what is no regular file is not opened for long
 * @id: filled
 *
 * Return: bytes of the id, 0 if it has none or is no such file.
 */
u32 perf_proc_build_id(const char *path, u8 id[PERF_ABI_BUILD_ID_LEN])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	u32 size;

	if (fd < 0)
		return 0;
	size = find_in_file(fd, id);
	close(fd);
	return size;
}

/* /proc escapes newlines in paths, the kernel's own records do not. */
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = 0;
}

/* Build-id of the file that is mapped, whatever is at its path by now. */
static u32 map_build_id(pid_t pid, u64 start, u64 end, u64 ino, const char *name,
			u8 id[PERF_ABI_BUILD_ID_LEN])
{
	char path[MAX_RECORD];
	struct stat st;
	u32 size;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	size = perf_proc_build_id(path, id);	/* needs privilege */
	if (size)
		return size;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	if (stat(path, &st) || st.st_ino != ino || !S_ISREG(st.st_mode))
		return 0;
	return perf_proc_build_id(path, id);
}

/**
 * perf_proc_mapping() - describe one mapping by an MMAP2 record
 * @pid: process
 * @line: its line of /proc/PID/maps; changed
 * @out: where the record goes
 *
 * Of data, only what can be read is told, as perf does.
 *
 * Return: 0, or what @out->fn returned.
 */
int perf_proc_mapping(pid_t pid, char *line, const struct perf_proc_out *out)
{
	struct record r;
	u8 id[24] = { 0 };
	char perms[5];
	char *name;
	u64 start, end, pgoff, ino;
	u32 maj, min;
	u16 misc = PERF_RECORD_MISC_USER;
	u32 id_size = 0;
	u32 prot;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &start, &end, perms, &pgoff, &maj, &min, &ino, &at) < 7 || !at)
		return 0;
	prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
	       (perms[2] == 'x' ? PROT_EXEC : 0);
	if (!(prot & (PROT_READ | PROT_EXEC)))
		return 0;
	misc |= prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA;
	name = line + at;
	unescape(name);
	if (out->build_ids && name[0] == '/')
		id_size = map_build_id(pid, start, end, ino, name, id);

	misc |= id_size ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0;
	begin(&r, PERF_RECORD_MMAP2, misc);
	put32(&r, (u32)pid);
	put32(&r, (u32)pid);
	put64(&r, start);
	put64(&r, end - start);
	put64(&r, pgoff);
	if (id_size) {
		put32(&r, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? id_size << 24 : id_size);
		put(&r, id, PERF_ABI_BUILD_ID_LEN);
	} else {
		put32(&r, maj);
		put32(&r, min);
		put64(&r, ino);
		put64(&r, 0);		/* generation: /proc does not tell */
	}
	put32(&r, prot);
	put32(&r, perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	return finish(&r, *name ? name : "//anon", out);
}

static int describe_comm(pid_t pid, pid_t tid, const struct perf_proc_out *out)
{
	struct record r;
	char path[64];
	char name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return 0;	/* the thread has ended */
	if (fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = 0;
	fclose(f);
	begin(&r, PERF_RECORD_COMM, 0);
	put32(&r, (u32)pid);
	put32(&r, (u32)tid);
	return finish(&r, name, out);
}

/**
 * perf_proc_describe() - describe a running process as perf does when it attaches
 * @pid: process
 * @out: where the records go
 *
 * A COMM for each thread, an MMAP2 for each mapping. Their time is 0: before everything.
 *
 * Return: 0, what @out->fn returned if that was not 0, or a negative errno.
 */
int perf_proc_describe(pid_t pid, const struct perf_proc_out *out)
{
	char path[64];
	char *line = NULL;
	size_t room = 0;
	pid_t *tids;
	FILE *f;
	int nr;
	int rc = 0;

	nr = perf_proc_threads(pid, &tids);
	if (nr < 0)
		return nr;
	for (int i = 0; i < nr && !rc; i++)
		rc = describe_comm(pid, tids[i], out);
	free(tids);
	if (rc)
		return rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!rc && getline(&line, &room, f) > 0)
		rc = perf_proc_mapping(pid, line, out);
	free(line);
	fclose(f);
	return rc;
}

/**
 * perf_proc_vdso() - this process's own vDSO
 * @size: bytes of the mapping
 *
 * No capture carries the vDSO's bytes. A 64-bit process of the same kernel has the same image;
 * a recording from elsewhere cannot be served with it.
 *
 * Return: the ELF image, NULL if there is none.
 */
const void *perf_proc_vdso(size_t *size)
{
	u64 at = getauxval(AT_SYSINFO_EHDR);
	char line[512];
	u64 start, end;
	FILE *f;

	*size = 0;
	if (!at)
		return NULL;
	f = fopen("/proc/self/maps", "re");
	if (!f)
		return NULL;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && start == at)
			*size = end - start;
	}
	fclose(f);
	return *size ? (const void *)(uintptr_t)at : NULL;
}
