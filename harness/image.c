// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Opens ELF images: tells the kinds apart, finds segments and CFI, and serves them as target
 * memory.
 */
#include "harness/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND	0x70000001
#endif

static __attribute__((format(printf, 5, 6)))
enum image_status fail(struct image_error *err, const char *path, enum image_status status,
		       u64 offset, const char *format, ...)
{
	int n = snprintf(err->text, sizeof(err->text), "%s: ", path);
	va_list ap;

	err->status = status;
	err->offset = offset;
	if (n > 0 && (size_t)n < sizeof(err->text)) {
		va_start(ap, format);
		vsnprintf(err->text + n, sizeof(err->text) - (size_t)n, format, ap);
		va_end(ap);
	}
	return status;
}

/**
 * image_status_name() - the name of a status, as reports and JSON have it
 * @status: the status
 *
 * Return: a constant string.
 */
const char *image_status_name(enum image_status status)
{
	static const char *const names[] = {
#define X(sym, name, text) [IMAGE_##sym] = name,
		IMAGE_STATUSES(X)
#undef X
	};

	return (unsigned int)status < IMAGE_NR_STATUSES ? names[status] : "unknown";
}

/**
 * image_segment_at() - the PT_LOAD that an address lies in
 * @img: the image
 * @addr: ELF virtual address
 *
 * Return: the segment, NULL where none covers it. Of overlapping ones the first.
 */
const struct image_segment *image_segment_at(const struct image *img, u64 addr)
{
	for (u32 i = 0; i < img->nr_segs; i++) {
		if (addr >= img->seg[i].addr && addr < img->seg[i].end)
			return &img->seg[i];
	}
	return NULL;
}

/**
 * image_bytes_at() - the file's bytes at an address
 * @img: the image
 * @addr: ELF virtual address
 * @avail: filled in with how many bytes of that segment follow, above 0
 *
 * Return: a pointer to them, NULL where the file has no byte for the address (a gap, or what
 *         is zero in memory beyond the file's part).
 */
const u8 *image_bytes_at(const struct image *img, u64 addr, u64 *avail)
{
	const struct image_segment *s = image_segment_at(img, addr);

	if (!s || addr >= s->file_end)
		return NULL;
	*avail = s->file_end - addr;
	return img->bytes + s->pos + (addr - s->addr);
}

static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const struct image *img = ((const struct image_mem *)mem)->image;
	const u8 *p = image_bytes_at(img, addr, avail);

	if (p && *avail > len)
		*avail = len;
	return p;
}

static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	const struct image_mem *m = (const struct image_mem *)mem;
	u64 avail = 0;
	const u8 *p = image_bytes_at(m->image, addr, &avail);

	if (!p || avail < len)
		return false;
	memcpy(dst, p, len);
	return true;
}

static bool mem_read_counted(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct image_mem *m = (struct image_mem *)(uintptr_t)mem;

	m->reads++;
	m->bytes += len;
	return mem_read(mem, addr, dst, len);
}

/**
 * image_ctx() - what the core needs to read an image's CFI
 * @img: the image
 * @limits: bounds on the work
 * @cost: counters; must outlive the result
 *
 * .eh_frame is at hand, once it is known where it stands.
 *
 * Return: the context; valid as long as the image.
 */
struct ehf_ctx image_ctx(const struct image *img, const struct ehf_limits *limits,
			 struct ehf_cost *cost)
{
	struct ehf_ctx ctx = {
		.mem = img->mem, .abi = &img->arch->abi, .limits = limits, .cost = cost,
	};
	const struct ehf_section *s = &img->section;
	u64 avail = 0;
	const u8 *p = s->eh_frame < s->eh_frame_end ? image_bytes_at(img, s->eh_frame, &avail) :
						      NULL;

	if (p && avail >= s->eh_frame_end - s->eh_frame)
		ctx.hand = (struct ehf_hand){ p, s->eh_frame, s->eh_frame_end - s->eh_frame };
	return ctx;
}

static int by_addr(const void *a, const void *b)
{
	const struct image_segment *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Executable ranges, merged where they touch; the segments are sorted. */
static void merge_exec(struct image *img)
{
	for (u32 i = 0; i < img->nr_segs; i++) {
		const struct image_segment *s = &img->seg[i];
		struct image_segment *last = img->nr_exec ? &img->exec[img->nr_exec - 1] : NULL;

		if (!(s->flags & PF_X) || s->addr == s->end)
			continue;
		if (last && s->addr <= last->end) {
			if (s->end > last->end)
				last->end = s->end;
		} else {
			img->exec[img->nr_exec++] = *s;
		}
	}
}

static void read_build_id(struct image *img, const GElf_Phdr *ph)
{
	u64 left = ph->p_filesz;
	u64 align = ph->p_align == 8 ? 8 : 4;
	const u8 *p;

	if (ph->p_offset > img->size || left > img->size - ph->p_offset)
		return;
	p = img->bytes + ph->p_offset;
	while (left >= 12 && !img->build_id_len) {
		const struct ehf_abi *abi = &img->arch->abi;
		u64 word[3] = { 0, 0, 0 };
		u64 name, desc;

		for (u32 k = 0; k < 12; k++)
			word[k / 4] |= (u64)p[k] << 8 * (abi->big_endian ? 3 - k % 4 : k % 4);
		name = (12 + word[0] + align - 1) & ~(align - 1);	/* below 2^33 */
		desc = (name + word[1] + align - 1) & ~(align - 1);
		if (name > left || word[1] > left - name)
			return;
		if (word[2] == NT_GNU_BUILD_ID && word[0] == 4 && !memcmp(p + 12, "GNU", 4) &&
		    word[1] <= sizeof(img->build_id)) {
			img->build_id_len = (u32)word[1];
			memcpy(img->build_id, p + name, word[1]);
		}
		if (desc >= left)
			return;
		p += desc;
		left -= desc;
	}
}

static enum image_status read_segments(struct image *img, struct image_error *err)
{
	size_t nr = 0;

	if (elf_getphdrnum(img->elf, &nr))
		return fail(err, img->path, IMAGE_DAMAGED, 0, "bad program headers: %s",
			    elf_errmsg(-1));
	img->seg = calloc(nr + 1, sizeof(*img->seg));
	img->exec = calloc(nr + 1, sizeof(*img->exec));
	if (!img->seg || !img->exec)
		return fail(err, img->path, IMAGE_UNREADABLE, 0, "out of memory");
	for (size_t i = 0; i < nr; i++) {
		struct image_segment *s = &img->seg[img->nr_segs];
		GElf_Phdr ph;

		if (!gelf_getphdr(img->elf, (int)i, &ph))
			return fail(err, img->path, IMAGE_DAMAGED, 0, "bad program header %zu: %s",
				    i, elf_errmsg(-1));
		if (ph.p_type == PT_NOTE)
			read_build_id(img, &ph);
		if (ph.p_type == PT_GNU_EH_FRAME && !img->hdr && ph.p_memsz) {
			img->hdr = ph.p_vaddr;
			img->hdr_end = ph.p_vaddr + ph.p_memsz;
			img->hdr_by_phdr = true;
			if (img->hdr_end < img->hdr)
				return fail(err, img->path, IMAGE_DAMAGED, 0,
					    "PT_GNU_EH_FRAME wraps around");
		}
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_offset > img->size || ph.p_filesz > img->size - ph.p_offset)
			return fail(err, img->path, IMAGE_TRUNCATED, img->size,
				    "truncated at %#" PRIx64 ": segment %zu is %#" PRIx64
				    " bytes at %#" PRIx64, img->size, i, ph.p_filesz, ph.p_offset);
		if (ph.p_filesz > ph.p_memsz || ph.p_memsz > ~ph.p_vaddr)
			return fail(err, img->path, IMAGE_DAMAGED, ph.p_offset,
				    "segment %zu (at %#" PRIx64 ") has impossible sizes", i,
				    ph.p_offset);
		s->addr = ph.p_vaddr;
		s->end = ph.p_vaddr + ph.p_memsz;
		s->file_end = ph.p_vaddr + ph.p_filesz;
		s->pos = ph.p_offset;
		s->flags = ph.p_flags;
		img->nr_segs++;
	}
	qsort(img->seg, img->nr_segs, sizeof(*img->seg), by_addr);
	merge_exec(img);
	return IMAGE_OK;
}

/* Whether a section's bytes are where the process would see them. */
static bool is_loaded(const struct image *img, const GElf_Shdr *sh)
{
	u64 avail = 0;
	const u8 *p = image_bytes_at(img, sh->sh_addr, &avail);

	return p && (u64)(p - img->bytes) == sh->sh_offset && sh->sh_size <= avail;
}

struct sections {
	bool nobits_code;	/* executable bytes or .eh_frame are only announced */
	bool nobits_eh_frame;
	bool unloaded_eh_frame;
	GElf_Shdr eh_frame, hdr, unwind;	/* sh_size 0: none */
};

static void look_at_section(struct image *img, const GElf_Shdr *sh, const char *name,
			    struct sections *found)
{
	bool is_frame = !strcmp(name, ".eh_frame");

	if (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame"))
		img->has_debug_frame |= sh->sh_type != SHT_NOBITS && sh->sh_size;
	if (sh->sh_type == SHT_NOBITS) {
		if (is_frame)
			found->nobits_eh_frame = true;
		if (is_frame || (sh->sh_flags & SHF_EXECINSTR && sh->sh_flags & SHF_ALLOC &&
				 sh->sh_size))
			found->nobits_code = true;
		return;
	}
	if (!(sh->sh_flags & SHF_ALLOC) || !sh->sh_size)
		return;
	if (is_frame) {
		if (!img->nr_eh_frame++)
			found->eh_frame = *sh;
	} else if (!strcmp(name, ".eh_frame_hdr")) {
		found->hdr = *sh;
	} else if (sh->sh_type == SHT_X86_64_UNWIND && img->arch->e_machine == EM_X86_64 &&
		   !found->unwind.sh_size) {
		found->unwind = *sh;
	}
}

static enum image_status read_sections(struct image *img, struct sections *found,
				       struct image_error *err)
{
	size_t nr = 0, names = 0;

	if (elf_getshdrnum(img->elf, &nr))
		return fail(err, img->path, IMAGE_DAMAGED, 0, "bad section headers: %s",
			    elf_errmsg(-1));
	if (nr && elf_getshdrstrndx(img->elf, &names))
		names = 0;
	for (size_t i = 1; i < nr; i++) {
		Elf_Scn *scn = elf_getscn(img->elf, i);
		const char *name;
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh))
			continue;
		name = names ? elf_strptr(img->elf, names, sh.sh_name) : NULL;
		look_at_section(img, &sh, name ? name : "", found);
	}
	return IMAGE_OK;
}

/* Takes over what the section headers say, as far as the segments agree. */
static void use_sections(struct image *img, struct sections *found)
{
	const GElf_Shdr *frame = &found->eh_frame;

	if (!frame->sh_size && found->unwind.sh_size && found->unwind.sh_addr != img->hdr)
		frame = &found->unwind;
	if (frame->sh_size) {
		if (is_loaded(img, frame)) {
			img->eh_frame = frame->sh_addr;
			img->eh_frame_end = frame->sh_addr + frame->sh_size;
		} else {
			found->unloaded_eh_frame = true;
		}
	}
	if (!img->hdr && found->hdr.sh_size && is_loaded(img, &found->hdr)) {
		img->hdr = found->hdr.sh_addr;
		img->hdr_end = found->hdr.sh_addr + found->hdr.sh_size;
	}
}

/* The header's tables of contents must lie in the file before libelf is asked for them. */
static enum image_status check_tables(struct image *img, const GElf_Ehdr *eh,
				      struct image_error *err)
{
	u64 phdrs = (u64)eh->e_phnum * eh->e_phentsize;

	if (eh->e_phnum && (eh->e_phoff > img->size || phdrs > img->size - eh->e_phoff))
		return fail(err, img->path, IMAGE_TRUNCATED, img->size,
			    "truncated at %#" PRIx64 ": program headers are %#" PRIx64
			    " bytes at %#" PRIx64, img->size, phdrs, (u64)eh->e_phoff);
	return IMAGE_OK;
}

static enum image_status check_section_table(struct image *img, const GElf_Ehdr *eh,
					     struct image_error *err)
{
	u64 entry = img->arch->elf_class == ELFCLASS64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	u64 shdrs = (u64)eh->e_shnum * eh->e_shentsize;

	if (eh->e_shoff && !eh->e_shnum)
		shdrs = entry;
	if (eh->e_shoff && (eh->e_shoff > img->size || shdrs > img->size - eh->e_shoff))
		return fail(err, img->path, IMAGE_TRUNCATED, img->size,
			    "truncated at %#" PRIx64 ": section headers are %#" PRIx64
			    " bytes at %#" PRIx64, img->size, shdrs, (u64)eh->e_shoff);
	if (eh->e_shoff && eh->e_shnum && eh->e_shentsize != entry)
		return fail(err, img->path, IMAGE_DAMAGED, 0x3a,
			    "section headers of %u bytes each (at 0x3a in the ELF header)",
			    eh->e_shentsize);
	return IMAGE_OK;
}

/* Which machine it is, and whether it is one that can be checked. */
static enum image_status find_arch(struct image *img, const GElf_Ehdr *eh,
				   struct image_error *err)
{
	bool big = img->bytes[EI_DATA] == ELFDATA2MSB;

	img->arch = ehu_arch_find(eh->e_machine, img->bytes[EI_CLASS], big);
	if (img->arch)
		return IMAGE_OK;
	return fail(err, img->path, IMAGE_OTHER_MACHINE, 0x12,
		    "machine %u, ELF%s, %s-endian is not supported yet (e_machine at 0x12)",
		    eh->e_machine, img->bytes[EI_CLASS] == ELFCLASS64 ? "64" : "32",
		    big ? "big" : "little");
}

/* Fills in what the core needs; .eh_frame by section header stands in for a broken header. */
static enum image_status find_cfi(struct image *img, const struct sections *found,
				  struct image_error *err)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = { .mem = img->mem, .abi = &img->arch->abi, .limits = &ehf_limits_file, .cost = &cost };
	struct ehf_section *s = &img->section;
	const struct image_segment *seg;
	enum ehf_stop stop;

	if (img->nr_exec) {
		s->text_start = img->exec[0].addr;
		s->text_end = img->exec[img->nr_exec - 1].end;
	}
	if (!img->hdr && !img->eh_frame) {
		if (found->unloaded_eh_frame)
			return fail(err, img->path, IMAGE_DAMAGED, found->eh_frame.sh_offset,
				    "no segment loads .eh_frame (at %#" PRIx64 ")",
				    (u64)found->eh_frame.sh_offset);
		return fail(err, img->path, IMAGE_NO_CFI, 0, "no .eh_frame%s",
			    img->has_debug_frame ? "; .debug_frame present (not used)" : "");
	}
	if (img->hdr) {
		seg = image_segment_at(img, img->hdr);
		s->hdr = img->hdr;
		s->hdr_end = img->hdr_end;
		if (seg && s->hdr_end > seg->file_end)
			s->hdr_end = seg->file_end > s->hdr ? seg->file_end : s->hdr;
		s->eh_frame = img->eh_frame;
		/* Without a section header the segment that holds .eh_frame bounds it. */
		s->eh_frame_end = img->eh_frame ? img->eh_frame_end : ~0ULL;
		stop = ehf_section_init(&ctx, s);
		if (!stop && !img->eh_frame) {
			seg = image_segment_at(img, s->eh_frame);
			if (!seg || s->eh_frame >= seg->file_end)
				stop = EHF_STOP_BAD_HEADER;
			else
				s->eh_frame_end = seg->file_end;
		}
		if (!stop) {
			s->scan = img->eh_frame != 0;
			return IMAGE_OK;
		}
		img->hdr_stop = stop;
		if (!img->eh_frame)
			return fail(err, img->path, IMAGE_DAMAGED, 0, ".eh_frame_hdr at address %#"
				    PRIx64 ": %s, and no section header names .eh_frame",
				    img->hdr, ehf_stop_name(stop));
	}
	s->hdr = 0;
	s->hdr_end = 0;
	s->eh_frame = img->eh_frame;
	s->eh_frame_end = img->eh_frame_end;
	s->scan = true;
	stop = ehf_section_init(&ctx, s);
	if (stop)
		return fail(err, img->path, IMAGE_DAMAGED, 0, ".eh_frame at address %#" PRIx64
			    ": %s", img->eh_frame, ehf_stop_name(stop));
	return IMAGE_OK;
}

static enum image_status setup(struct image *img, struct image_error *err)
{
	struct sections found = { 0 };
	enum image_status status;
	GElf_Ehdr eh;

	if (img->size < SELFMAG || memcmp(img->bytes, ELFMAG, SELFMAG))
		return fail(err, img->path, IMAGE_NOT_ELF, 0, "not an ELF file");
	if (img->size < EI_NIDENT ||
	    img->size < (img->bytes[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr) :
							      sizeof(Elf32_Ehdr)))
		return fail(err, img->path, IMAGE_TRUNCATED, img->size,
			    "truncated at %#" PRIx64 ", inside the ELF header", img->size);
	elf_version(EV_CURRENT);
	/* libelf changes nothing of it; its prototype does not say so. */
	img->elf = elf_memory((char *)(uintptr_t)img->bytes, img->size);
	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF || !gelf_getehdr(img->elf, &eh))
		return fail(err, img->path, IMAGE_DAMAGED, 0, "bad ELF header: %s",
			    elf_errmsg(-1));
	status = find_arch(img, &eh, err);
	if (status)
		return status;
	img->type = eh.e_type;
	if (eh.e_type == ET_REL)
		return fail(err, img->path, IMAGE_RELOCATABLE, 0x10,
			    "relocatable object: link it first");
	if (eh.e_type == ET_CORE)
		return fail(err, img->path, IMAGE_NO_CFI, 0x10, "a core file has no CFI");
	status = check_section_table(img, &eh, err);
	if (!status)
		status = read_sections(img, &found, err);
	if (!status && found.nobits_code)
		return fail(err, img->path, IMAGE_DEBUG_FILE, 0, "separate debug file: %s is NOBITS",
			    found.nobits_eh_frame ? ".eh_frame" : "its code");
	if (!status)
		status = check_tables(img, &eh, err);
	if (!status)
		status = read_segments(img, err);
	if (status)
		return status;
	use_sections(img, &found);
	return find_cfi(img, &found, err);
}

static struct image *new_image(const char *path)
{
	struct image *img = calloc(1, sizeof(*img));

	if (!img)
		return NULL;
	img->path = strdup(path);
	if (!img->path) {
		free(img);
		return NULL;
	}
	img->fd = -1;
	img->guard = -1;
	img->direct_mem = (struct image_mem){ { mem_read, mem_direct }, img, 0, 0 };
	img->copy_mem = (struct image_mem){ { mem_read_counted, NULL }, img, 0, 0 };
	img->mem = &img->direct_mem.mem;
	img->copying = &img->copy_mem.mem;
	return img;
}

static enum image_status finish(struct image *img, struct image **out, struct image_error *err)
{
	enum image_status status = setup(img, err);

	if (status && image_changed(img))
		fail(err, img->path, status, err->offset, "the file shrank while it was read");
	if ((status && status != IMAGE_NO_CFI) || !img->arch) {
		image_close(img);
		return status;
	}
	*out = img;
	return status;
}

static enum image_status open_regular(struct image *n, int fd, struct image **img,
				      struct image_error *err)
{
	const char *path = n->path;
	struct stat st;

	n->fd = fd;
	if (fstat(fd, &st)) {
		fail(err, path, IMAGE_UNREADABLE, 0, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		fail(err, path, S_ISDIR(st.st_mode) ? IMAGE_UNREADABLE : IMAGE_NOT_ELF, 0,
		     "not a regular file");
	} else if (!st.st_size) {
		fail(err, path, IMAGE_NOT_ELF, 0, "empty file");
	} else {
		n->size = (u64)st.st_size;
		n->guard = image_map(fd, n->size, &n->bytes);
		if (n->guard >= 0)
			return finish(n, img, err);
		fail(err, path, IMAGE_UNREADABLE, 0, "%s", strerror(errno));
	}
	image_close(n);
	return err->status;
}

/**
 * image_open_fd() - open an image by a file descriptor
 * @fd: a regular file; belongs to the image afterwards, and is closed on failure too
 * @path: what messages call it
 * @img: set on IMAGE_OK, and on IMAGE_NO_CFI, which still has segments and symbols (but not
 *	for a core file); else NULL
 * @err: filled in unless the status is IMAGE_OK
 *
 * Return: the status.
 */
enum image_status image_open_fd(int fd, const char *path, struct image **img,
				struct image_error *err)
{
	struct image *n = new_image(path);

	*img = NULL;
	if (!n) {
		close(fd);
		return fail(err, path, IMAGE_UNREADABLE, 0, "out of memory");
	}
	return open_regular(n, fd, img, err);
}

/* O_NONBLOCK: a FIFO without a writer would hold us up before fstat() refuses it. */
static int open_path(const char *path, struct image_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		fail(err, path, IMAGE_UNREADABLE, 0, "%s", strerror(errno));
	return fd;
}

/**
 * image_open() - open an image by its path
 * @path: a file
 * @img: as image_open_fd() has it
 * @err: filled in unless the status is IMAGE_OK
 *
 * Return: the status.
 */
enum image_status image_open(const char *path, struct image **img, struct image_error *err)
{
	int fd = open_path(path, err);

	*img = NULL;
	return fd < 0 ? err->status : image_open_fd(fd, path, img, err);
}

/**
 * image_open_memory() - open an image that is in memory, such as a vDSO
 * @bytes: the image; must outlive it, and must not change
 * @size: bytes of it
 * @name: what messages call it
 * @img: as image_open_fd() has it
 * @err: filled in unless the status is IMAGE_OK
 *
 * Return: the status.
 */
enum image_status image_open_memory(const void *bytes, u64 size, const char *name,
				    struct image **img, struct image_error *err)
{
	struct image *n = new_image(name);

	*img = NULL;
	if (!n)
		return fail(err, name, IMAGE_UNREADABLE, 0, "out of memory");
	n->bytes = bytes;
	n->size = size;
	return finish(n, img, err);
}

/**
 * image_close() - give an image back
 * @img: the image, or NULL
 */
void image_close(struct image *img)
{
	if (!img)
		return;
	elf_end(img->elf);
	image_unmap(img->guard);
	if (img->fd >= 0)
		close(img->fd);
	free(img->sym);
	free(img->exec);
	free(img->seg);
	free(img->path);
	free(img);
}

/**
 * image_changed() - tell whether the file shrank while it was open
 * @img: the image
 *
 * Return: true where zeros stood in for bytes that were gone: no result can be trusted.
 */
bool image_changed(const struct image *img)
{
	return image_map_shrank(img->guard);
}
