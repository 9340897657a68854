// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Finds out what a core dump's process had mapped: from NT_FILE, or from its program and the
 * dynamic linker's list where a core (qemu-user's) has none.
 */
#include "harness/core_maps.h"

#include "ehframe/cursor.h"
#include "harness/image.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE		UINT64_C(4095)
#define MAX_LIBRARIES	1024

static void notef(const struct core_maps_opts *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void notef(const struct core_maps_opts *o, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	o->note(o->arg, text);
}

static int tell(const struct core_maps_opts *o, const char *name, u64 start, u64 end, u64 pos,
		u32 prot, const u8 *id, u32 id_len)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .pid = o->pid, .tid = o->pid,
	};

	rec.mmap = (struct perf_rec_mmap){
		.addr = start, .len = end - start, .pgoff = pos, .name = name,
		.has_prot = true, .prot = prot, .flags = MAP_PRIVATE, .data = !(prot & PROT_EXEC),
	};
	if (id_len && id_len <= sizeof(rec.mmap.build_id)) {
		memcpy(rec.mmap.build_id, id, id_len);
		rec.mmap.build_id_size = (u8)id_len;
	}
	return o->record(o->arg, &rec);
}

static u32 prot_of(u32 flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

/* A field of an ELF file's first page as the core has it. */
static u64 field(const struct core *c, const u8 *p, u64 avail, u64 pos, u32 len)
{
	return pos <= avail && len <= avail - pos ?
		ehf_number(p + pos, len, c->arch->abi.big_endian) : 0;
}

static u32 id_in_notes(const struct core *c, const u8 *p, u64 len, u8 *id)
{
	while (len >= 16) {
		u64 namesz = field(c, p, len, 0, 4), descsz = field(c, p, len, 4, 4);
		u64 desc = 12 + ((namesz + 3) & ~UINT64_C(3)), next;

		if (desc > len || descsz > len - desc)
			return 0;
		if (field(c, p, len, 8, 4) == NT_GNU_BUILD_ID && namesz == 4 &&
		    !memcmp(p + 12, "GNU", 4) && descsz <= PERF_ABI_BUILD_ID_LEN) {
			memcpy(id, p + desc, descsz);
			return (u32)descsz;
		}
		next = desc + ((descsz + 3) & ~UINT64_C(3));
		if (next >= len)
			return 0;
		p += next;
		len -= next;
	}
	return 0;
}

/* The build-id of the file whose first byte is mapped at @start: kernels dump that page. */
static u32 build_id(const struct core *c, u64 start, u8 *id)
{
	bool wide = c->arch->elf_class == ELFCLASS64;
	u64 avail = 0, phoff, size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const u8 *p = core_at(c, start, &avail);
	u32 nr, len = 0;

	if (!p || avail < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) ||
	    p[EI_CLASS] != c->arch->elf_class)
		return 0;
	phoff = wide ? field(c, p, avail, offsetof(Elf64_Ehdr, e_phoff), 8) :
		       field(c, p, avail, offsetof(Elf32_Ehdr, e_phoff), 4);
	nr = (u32)field(c, p, avail, wide ? offsetof(Elf64_Ehdr, e_phnum) :
					    offsetof(Elf32_Ehdr, e_phnum), 2);
	for (u32 k = 0; k < nr && !len && phoff < avail; k++, phoff += size) {
		u64 pos, room;

		if (field(c, p, avail, phoff, 4) != PT_NOTE)
			continue;
		pos = wide ? field(c, p, avail, phoff + offsetof(Elf64_Phdr, p_offset), 8) :
			     field(c, p, avail, phoff + offsetof(Elf32_Phdr, p_offset), 4);
		room = wide ? field(c, p, avail, phoff + offsetof(Elf64_Phdr, p_filesz), 8) :
			      field(c, p, avail, phoff + offsetof(Elf32_Phdr, p_filesz), 4);
		if (pos < avail)
			len = id_in_notes(c, p + pos, room < avail - pos ? room : avail - pos, id);
	}
	return len;
}

/* Entries of one file follow each other; the first has the ELF header, which has the id. */
static int tell_files(const struct core *c, const struct core_maps_opts *o)
{
	u8 id[PERF_ABI_BUILD_ID_LEN];
	const char *name = "";
	u32 id_len = 0;

	for (u32 k = 0; k < c->nr_files; k++) {
		const struct core_file *f = &c->file[k];
		const struct core_segment *s = core_segment_at(c, f->start);
		int rc;

		if (strcmp(name, f->name)) {
			name = f->name;
			id_len = f->pos ? 0 : build_id(c, f->start, id);
		}
		rc = tell(o, f->name, f->start, f->end, f->pos, s ? prot_of(s->flags) : PROT_READ, id,
			  id_len);
		if (rc)
			return rc;
	}
	return 0;
}

static int tell_vdso(const struct core *c, const struct core_maps_opts *o)
{
	const struct core_segment *s = c->vdso ? core_segment_at(c, c->vdso) : NULL;

	return s ? tell(o, "[vdso]", c->vdso, s->end, 0, PROT_READ | PROT_EXEC, NULL, 0) : 0;
}

static int tell_image(const struct core_maps_opts *o, const struct image *img, const char *name,
		      u64 bias)
{
	for (u32 k = 0; k < img->nr_segs; k++) {
		const struct image_segment *s = &img->seg[k];
		u64 in_page = s->addr & PAGE;
		int rc;

		if (s->end == s->addr || s->pos < in_page)
			continue;
		rc = tell(o, name, bias + s->addr - in_page, (bias + s->end + PAGE) & ~PAGE,
			  s->pos - in_page, prot_of(s->flags), img->build_id,
			  img->build_id_len <= PERF_ABI_BUILD_ID_LEN ? img->build_id_len : 0);
		if (rc)
			return rc;
	}
	return 0;
}

/* Where a program header of the program stands, as an ELF virtual address. */
static bool find_phdr(const struct image *img, u32 type, GElf_Phdr *ph)
{
	size_t nr = 0;

	if (elf_getphdrnum(img->elf, &nr))
		return false;
	for (size_t k = 0; k < nr; k++) {
		if (gelf_getphdr(img->elf, (int)k, ph) && ph->p_type == type)
			return true;
	}
	return false;
}

static bool find_bias(const struct core *c, const struct core_maps_opts *o, const struct image *img,
		      u64 *bias)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;

	*bias = 0;
	if (!gelf_getehdr(img->elf, &eh))
		return false;
	if (c->phdr && find_phdr(img, PT_PHDR, &ph)) {
		*bias = c->phdr - ph.p_vaddr;
	} else if (c->entry) {
		*bias = c->entry - eh.e_entry;
	} else if (img->type == ET_EXEC) {
		return true;
	} else {
		notef(o, "%s: where it was loaded is not known: the core has no auxiliary vector",
		      img->path);
		return false;
	}
	if (*bias & PAGE) {
		notef(o, "%s is not the program of this core: its entry is elsewhere", img->path);
		return false;
	}
	return true;
}

/* A name in the core's memory; false for one that does not end, or is empty. */
static bool read_name(const struct core *c, u64 addr, char *name, size_t size)
{
	u64 avail = 0;
	const u8 *p = core_at(c, addr, &avail);
	size_t len = p ? strnlen((const char *)p, avail < size ? (size_t)avail : size) : 0;

	if (!len || len >= size || len >= avail)
		return false;
	memcpy(name, p, len + 1);
	return true;
}

static int tell_library(const struct core *c, const struct core_maps_opts *o, const char *name,
			u64 bias)
{
	struct image_error err = { 0 };
	struct image *img = NULL;
	char *path = NULL;
	int rc = 0;

	if (asprintf(&path, "%s%s", o->symfs ? o->symfs : "", name) < 0)
		return -ENOMEM;
	image_open(path, &img, &err);
	if (!img)
		notef(o, "%s", err.text);
	else if (img->arch != c->arch)
		notef(o, "%s is of another machine", path);
	else
		rc = tell_image(o, img, name, bias);
	image_close(img);
	free(path);
	return rc;
}

/* The dynamic linker's list: DT_DEBUG points to struct r_debug, that to struct link_map. */
static int tell_libraries(const struct core *c, const struct core_maps_opts *o, const struct image *img,
			  u64 bias)
{
	u32 word = c->arch->elf_class == ELFCLASS32 ? 4 : 8;
	u64 at, tag, value, debug = 0, map = 0;
	char name[1024];
	GElf_Phdr ph;

	if (!find_phdr(img, PT_DYNAMIC, &ph))
		return 0;
	at = ph.p_vaddr + bias;
	for (u64 k = 0; k < ph.p_memsz / (2 * word) && core_word(c, at, &tag) && tag; k++) {
		if (tag == DT_DEBUG && core_word(c, at + word, &value))
			debug = value;
		at += 2 * word;
	}
	if (!debug || !core_word(c, debug + word, &map)) {
		notef(o, "no list of libraries in the core (DT_DEBUG): only %s is known", img->path);
		return 0;
	}
	for (u32 k = 0; map && k < MAX_LIBRARIES; k++) {
		u64 l_addr, l_name;
		int rc = 0;

		if (!core_word(c, map, &l_addr) || !core_word(c, map + word, &l_name))
			break;
		/* The first is the program, without a name. */
		if (k && read_name(c, l_name, name, sizeof(name)) && name[0] == '/')
			rc = tell_library(c, o, name, l_addr);
		if (rc)
			return rc;
		if (!core_word(c, map + 3 * word, &map))
			break;
	}
	return 0;
}

static int tell_program(const struct core *c, const struct core_maps_opts *o)
{
	struct image_error err = { 0 };
	struct image *img = NULL;
	u64 bias;
	int rc = 0;

	if (!o->exe) {
		notef(o, "the core names no files (NT_FILE): --exe tells the program");
		return 0;
	}
	image_open(o->exe, &img, &err);
	if (!img) {
		notef(o, "%s", err.text);
		return 0;
	}
	if (img->arch != c->arch) {
		notef(o, "%s is of another machine than the core", o->exe);
	} else if (find_bias(c, o, img, &bias)) {
		rc = tell_image(o, img, o->exe, bias);
		if (!rc)
			rc = tell_libraries(c, o, img, bias);
	}
	image_close(img);
	return rc;
}

/**
 * core_maps_exe() - the name that NT_FILE has for the program
 * @core: the core
 *
 * Return: the name of the file that is mapped at the program's entry (AT_ENTRY), or NULL.
 */
const char *core_maps_exe(const struct core *core)
{
	for (u32 k = 0; core->entry && k < core->nr_files; k++) {
		if (core->entry >= core->file[k].start && core->entry < core->file[k].end)
			return core->file[k].name;
	}
	return NULL;
}

/**
 * core_maps_tell() - tell all mappings
 * @core: the core
 * @opts: what else is known, and who is told
 *
 * A file's build-id comes along where the core has the page that it stands in.
 *
 * Return: 0, or what @opts->record returned, or -ENOMEM.
 */
int core_maps_tell(const struct core *core, const struct core_maps_opts *opts)
{
	int rc = core->nr_files ? tell_files(core, opts) : tell_program(core, opts);

	return rc ? rc : tell_vdso(core, opts);
}
