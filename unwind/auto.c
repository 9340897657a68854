// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Program headers in a task's memory: from PT_GNU_EH_FRAME and the PT_LOADs to a registration.
 *
 * Source of all numbers: System V gABI, chapters 4 and 5; LSB 5.0, 10.6 for PT_GNU_EH_FRAME.
 */
#include "unwind/auto.h"

#include "ehframe/lookup.h"

enum { PT_LOAD = 1, PT_PHDR = 6, PT_GNU_EH_FRAME = 0x6474e550, PF_X = 1 };

/* A program header. Fields of the file, not yet in memory. */
struct phdr {
	u32 type;
	u32 flags;
	u64 off;
	u64 vaddr;
	u64 filesz;
	u64 memsz;
};

/* ELFCLASS follows from the size of an address: x32 is ELFCLASS32. */
static u32 phdr_size(const struct ehf_abi *abi)
{
	return abi->addr_size == 4 ? 32 : 56;
}

static bool read_phdr(const struct ehf_ctx *ctx, u64 addr, struct phdr *p)
{
	u32 size = phdr_size(ctx->abi);
	u32 word = ctx->abi->addr_size;
	struct ehf_cursor c;

	ehf_open(&c, ctx, addr, addr + size);
	p->type = (u32)ehf_fixed(&c, 4);
	p->flags = word == 8 ? (u32)ehf_fixed(&c, 4) : 0;
	p->off = ehf_fixed(&c, word);
	p->vaddr = ehf_fixed(&c, word);
	ehf_skip(&c, word);		/* p_paddr */
	p->filesz = ehf_fixed(&c, word);
	p->memsz = ehf_fixed(&c, word);
	if (word == 4)
		p->flags = (u32)ehf_fixed(&c, 4);
	return !c.stop;
}

static int keep_load(struct ehu_image *image, const struct phdr *p)
{
	if (image->nr_loads == EHU_MAX_LOADS)
		return -ERANGE;
	image->load[image->nr_loads++] = (struct ehu_load){
		.start = p->vaddr,
		.end = p->vaddr + p->memsz,
		.file_end = p->vaddr + p->filesz,
		.exec = p->flags & PF_X,
	};
	return 0;
}

/*
 * Reads the headers once each and leaves addresses as they are in the file. Where the image lies
 * is told by a header that describes a place which is known: by PT_PHDR if @base is NULL, else
 * by the PT_LOAD that the file's first byte is in, which is at *@base.
 */
static int read_phdrs(const struct ehf_ctx *ctx, u64 phdr, u32 phnum, u32 phentsize,
		      const u64 *base, struct ehu_image *image, bool *has_bias)
{
	const struct ehf_abi *abi = ctx->abi;
	struct phdr p;
	u32 k;
	int ret;

	*image = (struct ehu_image){ 0 };
	*has_bias = false;
	if (phentsize != phdr_size(abi))
		return -EINVAL;
	if (phnum > EHU_MAX_PHDRS)
		return -ERANGE;
	if (phdr > ehf_addr(abi, ~0ULL) - phnum * phentsize)
		return -EINVAL;
	for (k = 0; k < phnum; k++) {
		if (!read_phdr(ctx, phdr + k * phentsize, &p))
			return -EFAULT;
		if (p.type != PT_LOAD && p.type != PT_PHDR && p.type != PT_GNU_EH_FRAME)
			continue;
		if (p.memsz > ehf_addr(abi, ~0ULL) - p.vaddr || p.filesz > p.memsz)
			return -EINVAL;
		if (p.type == PT_PHDR && !base && !*has_bias) {
			image->bias = phdr - p.vaddr;
			*has_bias = true;
		} else if (p.type == PT_GNU_EH_FRAME && !image->hdr_end) {
			image->hdr = p.vaddr;
			image->hdr_end = p.vaddr + p.memsz;
		} else if (p.type == PT_LOAD) {
			if (base && !*has_bias && p.off < EHF_PAGE) {
				image->bias = *base - (p.vaddr - p.off);
				*has_bias = true;
			}
			ret = keep_load(image, &p);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* From addresses in the file to addresses in memory. */
static int place(const struct ehf_abi *abi, struct ehu_image *image)
{
	u32 k;

	image->bias = ehf_addr(abi, image->bias);
	for (k = 0; k < image->nr_loads; k++) {
		struct ehu_load *l = &image->load[k];
		u64 size = l->end - l->start;
		u64 file_size = l->file_end - l->start;

		l->start = ehf_addr(abi, l->start + image->bias);
		if (size > ehf_addr(abi, ~0ULL) - l->start)
			return -EINVAL;
		l->end = l->start + size;
		l->file_end = l->start + file_size;
	}
	if (image->hdr_end) {
		u64 size = image->hdr_end - image->hdr;

		image->hdr = ehf_addr(abi, image->hdr + image->bias);
		if (size > ehf_addr(abi, ~0ULL) - image->hdr)
			return -EINVAL;
		image->hdr_end = image->hdr + size;
	}
	return 0;
}

/**
 * ehu_auto_phdrs() - read the program headers of a started program
 * @ctx: memory and machine
 * @phdr: where they are (AT_PHDR)
 * @phnum: how many (AT_PHNUM)
 * @phentsize: bytes of each (AT_PHENT)
 * @bias: how far the image lies from where its file wants it, or NULL: then PT_PHDR says so
 * @image: filled in
 *
 * Return: 0; -EINVAL for headers of another machine's size or that make no sense, or without
 * PT_PHDR where it is needed; -ERANGE for more than EHU_MAX_PHDRS or EHU_MAX_LOADS; -EFAULT
 * where they cannot be read.
 */
int ehu_auto_phdrs(const struct ehf_ctx *ctx, u64 phdr, u32 phnum, u32 phentsize,
		   const u64 *bias, struct ehu_image *image)
{
	bool has_bias;
	int ret = read_phdrs(ctx, phdr, phnum, phentsize, NULL, image, &has_bias);

	if (ret)
		return ret;
	if (bias)
		image->bias = *bias;
	else if (!has_bias)
		return -EINVAL;
	return place(ctx->abi, image);
}

/**
 * ehu_auto_ehdr() - read the headers of an image whose first page was mapped
 * @ctx: memory and machine
 * @arch: the same machine
 * @base: where the file's first byte is
 * @image: filled in
 *
 * Return: 0; -EINVAL for what is no ELF image of this machine or makes no sense; others as
 * ehu_auto_phdrs().
 */
int ehu_auto_ehdr(const struct ehf_ctx *ctx, const struct ehu_arch *arch, u64 base,
		  struct ehu_image *image)
{
	const struct ehf_abi *abi = ctx->abi;
	u32 word = abi->addr_size;
	u32 magic, machine, phentsize, phnum;
	u8 class, data;
	struct ehf_cursor c;
	bool has_bias;
	u64 phoff;
	int ret;

	*image = (struct ehu_image){ 0 };
	if (base > ehf_addr(abi, ~0ULL) - 64)
		return -EINVAL;
	ehf_open(&c, ctx, base, base + (word == 4 ? 52 : 64));
	/* Byte by byte: the order of the others is not known yet. */
	magic = (u32)ehf_u8(&c) << 24;
	magic |= (u32)ehf_u8(&c) << 16;
	magic |= (u32)ehf_u8(&c) << 8;
	magic |= ehf_u8(&c);
	class = ehf_u8(&c);
	data = ehf_u8(&c);
	ehf_skip(&c, 12);		/* the rest of e_ident, e_type */
	machine = (u32)ehf_fixed(&c, 2);
	ehf_skip(&c, 4 + word);		/* e_version, e_entry */
	phoff = ehf_fixed(&c, word);
	ehf_skip(&c, word + 4 + 2);	/* e_shoff, e_flags, e_ehsize */
	phentsize = (u32)ehf_fixed(&c, 2);
	phnum = (u32)ehf_fixed(&c, 2);
	if (c.stop)
		return -EFAULT;
	if (magic != 0x7f454c46 || class != arch->elf_class ||
	    data != (abi->big_endian ? 2 : 1) || machine != arch->e_machine)
		return -EINVAL;
	if (phoff > ehf_addr(abi, ~0ULL) - base)
		return -EINVAL;
	ret = read_phdrs(ctx, base + phoff, phnum, phentsize, &base, image, &has_bias);
	if (ret)
		return ret;
	if (!has_bias)
		return -EINVAL;
	return place(abi, image);
}

static const struct ehu_load *load_of(const struct ehu_image *image, u64 addr)
{
	u32 k;

	for (k = 0; k < image->nr_loads; k++)
		if (addr >= image->load[k].start && addr < image->load[k].file_end)
			return &image->load[k];
	return NULL;
}

/**
 * ehu_auto_add() - register what an image's headers describe
 * @reg: the registry
 * @ctx: memory and machine
 * @image: from ehu_auto_phdrs() or ehu_auto_ehdr()
 * @flags: EHU_ADD_CHECK or 0
 * @added: as for ehu_registry_add()
 *
 * All executable PT_LOADs become text ranges of one section. Program headers do not say where
 * .eh_frame ends, only where the PT_LOAD does that it is in: a bound, not the end, so that
 * there is no scan.
 *
 * Return: 0; -ENOENT for an image without PT_GNU_EH_FRAME or without text; -EINVAL also where
 * the header or .eh_frame is in no PT_LOAD; others as ehu_registry_add().
 */
int ehu_auto_add(struct ehu_registry *reg, const struct ehf_ctx *ctx,
		 const struct ehu_image *image, u32 flags, struct ehu_added *added)
{
	struct ehu_section_args args = { .flags = flags };
	struct ehu_text text[EHU_MAX_LOADS] = { { 0, 0 } };
	struct ehf_section probe = { .hdr = image->hdr, .hdr_end = image->hdr_end };
	const struct ehu_load *load;
	u32 k;

	*added = (struct ehu_added){ .stop = EHF_STOP_NONE };
	if (flags & ~(u32)EHU_ADD_CHECK)
		return -EINVAL;
	for (k = 0; k < image->nr_loads; k++) {
		load = &image->load[k];
		if (load->exec && load->start < load->end)
			text[args.nr_texts++] = (struct ehu_text){ load->start, load->end };
	}
	if (image->hdr == image->hdr_end || !args.nr_texts)
		return -ENOENT;
	load = load_of(image, image->hdr);
	if (!load || image->hdr_end > load->file_end)
		return -EINVAL;
	/* Where .eh_frame is, only the header says; what it is bounded by follows from that. */
	probe.eh_frame_end = ~0ULL;
	added->stop = ehf_section_init(ctx, &probe);
	if (added->stop)
		return ehf_stop_class(added->stop) == EHF_CLASS_FAULT ? -EFAULT : -EINVAL;
	load = load_of(image, probe.eh_frame);
	if (!load)
		return -EINVAL;
	args.text = text;
	args.hdr = image->hdr;
	args.hdr_end = image->hdr_end;
	/* The header is read once more: it must then say the same. */
	args.eh_frame = probe.eh_frame;
	args.eh_frame_end = load->file_end;
	return ehu_registry_add(reg, ctx, &args, added);
}
