// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Opens core dumps, and serves what memory they hold. Nothing in one is trusted.
 */
#include "harness/core.h"

#include "ehframe/cursor.h"
#include "harness/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * core_segment_at() - the PT_LOAD that an address lies in
 * @core: the core
 * @addr: address
 *
 * Return: the last one that begins at or below it and covers it; NULL where none does.
 */
const struct core_segment *core_segment_at(const struct core *core, u64 addr)
{
	u32 low = 0, high = core->nr_segs;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (core->seg[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < core->seg[low - 1].end ? &core->seg[low - 1] : NULL;
}

/**
 * core_at() - the file's bytes at an address
 * @core: the core
 * @addr: address
 * @avail: set to how many follow in that segment, above 0
 *
 * Return: a pointer to them, or NULL where the file has none.
 */
const u8 *core_at(const struct core *core, u64 addr, u64 *avail)
{
	const struct core_segment *s = core_segment_at(core, addr);

	if (!s || addr >= s->file_end)
		return NULL;
	*avail = s->file_end - addr;
	return core->bytes + s->pos + (addr - s->addr);
}

/**
 * core_word() - a word of its memory
 * @core: the core
 * @addr: address
 * @value: filled in: as long as an address in ELF's class
 *
 * Return: false where the file has not all of its bytes.
 */
bool core_word(const struct core *core, u64 addr, u64 *value)
{
	u32 len = core->arch->elf_class == ELFCLASS32 ? 4 : 8;
	u64 avail = 0;
	const u8 *p = core_at(core, addr, &avail);

	*value = 0;
	if (!p || avail < len)
		return false;
	*value = ehf_number(p, len, core->arch->abi.big_endian);
	return true;
}

static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const u8 *p = core_at((const struct core *)mem, addr, avail);

	if (p && *avail > len)
		*avail = len;
	return p;
}

/* Across segments that touch, as long as the file has all of the bytes. */
static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	u8 *to = dst;

	while (len) {
		u64 avail = 0;
		const u8 *p = core_at((const struct core *)mem, addr, &avail);
		u32 part = avail < len ? (u32)avail : len;

		if (!p)
			return false;
		memcpy(to, p, part);
		to += part;
		addr += part;
		len -= part;
	}
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The fields of a header, whatever the class. */
struct head {
	u64 phoff, shoff;
	u32 phentsize, phnum;
};

static u64 field(const struct core *c, u64 pos, u32 len)
{
	return pos <= c->size && len <= c->size - pos ?
		ehf_number(c->bytes + pos, len, c->arch->abi.big_endian) : 0;
}

static void read_head(const struct core *c, struct head *h)
{
	bool wide = c->arch->elf_class == ELFCLASS64;

	h->phoff = wide ? field(c, offsetof(Elf64_Ehdr, e_phoff), 8) :
			  field(c, offsetof(Elf32_Ehdr, e_phoff), 4);
	h->shoff = wide ? field(c, offsetof(Elf64_Ehdr, e_shoff), 8) :
			  field(c, offsetof(Elf32_Ehdr, e_shoff), 4);
	h->phentsize = (u32)field(c, wide ? offsetof(Elf64_Ehdr, e_phentsize) :
					    offsetof(Elf32_Ehdr, e_phentsize), 2);
	h->phnum = (u32)field(c, wide ? offsetof(Elf64_Ehdr, e_phnum) :
					offsetof(Elf32_Ehdr, e_phnum), 2);
	/* More than 65,534: the number stands in the first section header. */
	if (h->phnum == PN_XNUM && h->shoff)
		h->phnum = (u32)field(c, h->shoff + (wide ? offsetof(Elf64_Shdr, sh_info) :
							    offsetof(Elf32_Shdr, sh_info)), 4);
}

struct phdr {
	u64 type, flags, offset, vaddr, filesz, memsz, align;
};

static void read_phdr(const struct core *c, u64 pos, struct phdr *p)
{
#define F(type, name)	field(c, pos + offsetof(type, name), sizeof(((type *)0)->name))
#define PHDR(type) (struct phdr){ \
	F(type, p_type), F(type, p_flags), F(type, p_offset), F(type, p_vaddr), \
	F(type, p_filesz), F(type, p_memsz), F(type, p_align), \
}
	*p = c->arch->elf_class == ELFCLASS64 ? PHDR(Elf64_Phdr) : PHDR(Elf32_Phdr);
#undef PHDR
#undef F
}

static void add_segment(struct core *c, const struct phdr *p)
{
	struct core_segment *s = &c->seg[c->nr_segs];
	u64 here = p->offset < c->size ? c->size - p->offset : 0;

	if (p->filesz > p->memsz || p->memsz > ~p->vaddr) {
		c->dropped++;
		return;
	}
	if (here > p->filesz)
		here = p->filesz;
	c->missing += p->filesz - here;
	*s = (struct core_segment){
		.addr = p->vaddr, .end = p->vaddr + p->memsz, .file_end = p->vaddr + here,
		.pos = p->offset, .flags = (u32)p->flags,
	};
	c->nr_segs++;
}

static int read_phdrs(struct core *c, const struct head *h)
{
	u32 size = c->arch->elf_class == ELFCLASS64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct phdr p;
	u32 nr = h->phnum;
	int rc = 0;

	if (h->phentsize != size || h->phoff > c->size)
		return -EINVAL;
	if (nr > (c->size - h->phoff) / size) {
		c->dropped += nr - (c->size - h->phoff) / size;
		nr = (u32)((c->size - h->phoff) / size);
	}
	c->seg = calloc((size_t)nr + 1, sizeof(*c->seg));
	if (!c->seg)
		return -ENOMEM;
	for (u32 k = 0; k < nr && !rc; k++) {
		read_phdr(c, h->phoff + (u64)k * size, &p);
		if (p.type == PT_LOAD)
			add_segment(c, &p);
		if (p.type != PT_NOTE || p.offset > c->size)
			continue;
		if (p.filesz > c->size - p.offset) {
			c->missing += p.filesz - (c->size - p.offset);
			p.filesz = c->size - p.offset;
		}
		rc = core_notes_read(c, c->bytes + p.offset, p.filesz, p.align == 8 ? 8 : 4);
	}
	qsort(c->seg, c->nr_segs, sizeof(*c->seg), by_addr);
	return rc;
}

static const char *parse(struct core *c)
{
	struct head h;
	int rc;

	if (c->size < sizeof(Elf32_Ehdr) || memcmp(c->bytes, ELFMAG, SELFMAG))
		return "not an ELF file";
	c->arch = ehu_arch_find((u16)ehf_number(c->bytes + 18, 2, c->bytes[EI_DATA] == ELFDATA2MSB),
				c->bytes[EI_CLASS], c->bytes[EI_DATA] == ELFDATA2MSB);
	if (!c->arch)
		return "of a machine that is not supported yet";
	if (field(c, offsetof(Elf64_Ehdr, e_type), 2) != ET_CORE)
		return "not a core dump";
	read_head(c, &h);
	rc = read_phdrs(c, &h);
	if (rc)
		return rc == -ENOMEM ? "out of memory" : "bad program headers";
	if (!c->nr_threads)
		return "no thread in it (NT_PRSTATUS)";
	return NULL;
}

static const char *map_file(struct core *c, const char *path)
{
	struct stat st;

	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->fd < 0 || fstat(c->fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return st.st_size ? "not a regular file" : "empty file";
	c->size = (u64)st.st_size;
	c->guard = image_map(c->fd, c->size, &c->bytes);
	return c->guard < 0 ? strerror(errno) : NULL;
}

static struct core *new_core(void)
{
	struct core *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = -1;
	c->guard = -1;
	c->mem = (struct ehf_mem){ .read = mem_read, .direct = mem_direct };
	return c;
}

/**
 * core_open() - open a core dump
 * @path: a file
 * @why: filled in on failure: one line
 * @n: bytes of @why
 *
 * A file that ends early is taken as far as it goes (@missing).
 *
 * Return: the core, or NULL.
 */
struct core *core_open(const char *path, char *why, size_t n)
{
	struct core *c = new_core();
	const char *problem = c ? map_file(c, path) : "out of memory";

	if (!problem)
		problem = parse(c);
	if (!problem)
		return c;
	snprintf(why, n, "%s: %s", path, problem);
	core_close(c);
	return NULL;
}

/**
 * core_open_memory() - open a core dump that is in memory
 * @bytes: the core; must outlive the result
 * @size: bytes of it
 * @why: filled in on failure: one line
 * @n: bytes of @why
 *
 * Return: the core, or NULL.
 */
struct core *core_open_memory(const void *bytes, u64 size, char *why, size_t n)
{
	struct core *c = new_core();
	const char *problem = "out of memory";

	if (c) {
		c->bytes = bytes;
		c->size = size;
		problem = parse(c);
	}
	if (!problem)
		return c;
	snprintf(why, n, "%s", problem);
	core_close(c);
	return NULL;
}

/**
 * core_close() - give a core back
 * @core: the core, or NULL
 */
void core_close(struct core *core)
{
	if (!core)
		return;
	image_unmap(core->guard);
	if (core->fd >= 0)
		close(core->fd);
	free(core->seg);
	free(core->thread);
	free(core->file);
	free(core);
}
