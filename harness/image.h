/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ELF images: what a file (or a vDSO in memory) maps, where its CFI stands, what it names.
 */
#ifndef HARNESS_IMAGE_H
#define HARNESS_IMAGE_H

#include "arch/arch.h"
#include "ehframe/lookup.h"

#include <libelf.h>
#include <sys/types.h>

/*	symbol		name		meaning */
#define IMAGE_STATUSES(X) \
	X(OK,		"ok",		"an image with CFI") \
	X(NO_CFI,	"no-cfi",	"neither .eh_frame nor .eh_frame_hdr") \
	X(RELOCATABLE,	"relocatable",	"a relocatable object, not linked yet") \
	X(DEBUG_FILE,	"debug-file",	"separate debug information without the code") \
	X(OTHER_MACHINE, "other-machine", "a machine that is not supported yet") \
	X(NOT_ELF,	"not-elf",	"no ELF file") \
	X(TRUNCATED,	"truncated",	"the file ends before something that it announces") \
	X(DAMAGED,	"damaged",	"its headers contradict each other, or its CFI is unusable") \
	X(UNREADABLE,	"unreadable",	"it cannot be opened or read")

enum image_status {
#define X(sym, name, text) IMAGE_##sym,
	IMAGE_STATUSES(X)
#undef X
	IMAGE_NR_STATUSES
};

/**
 * struct image_error - why there is no image
 * @status: the kind
 * @offset: where in the file; meaningful where the text names it
 * @text: one line: file, offset where there is one, and what is wrong
 */
struct image_error {
	enum image_status status;
	u64 offset;
	char text[512];
};

/**
 * struct image_segment - a PT_LOAD, or one executable range
 * @addr: ELF virtual address of the first byte
 * @end: one past the last byte in memory
 * @pos: position in the file of the byte at @addr
 * @file_end: one past the last address that the file has bytes for
 * @flags: PF_*
 */
struct image_segment {
	u64 addr;
	u64 end;
	u64 pos;
	u64 file_end;
	u32 flags;
};

struct image;

/**
 * struct image_mem - an image as target memory, by ELF virtual address
 * @mem: what the core is given
 * @image: whose bytes
 * @reads: calls of @mem.read so far
 * @bytes: bytes that they copied
 */
struct image_mem {
	struct ehf_mem mem;
	struct image *image;
	u64 reads;
	u64 bytes;
};

/**
 * struct image_symbol - a named address
 * @addr: ELF virtual address
 * @size: bytes; 0 where the file does not say
 * @end: one past the last address that may be its: where its section ends if @size is 0
 * @name: in the file's string table; valid as long as the image
 */
struct image_symbol {
	u64 addr;
	u64 size;
	u64 end;
	const char *name;
};

/**
 * struct image - an ELF file or memory image
 * @path: as it was opened
 * @fd: open file, -1 for an image in memory
 * @bytes: the whole of it; private pages, zeros where the file shrank under us
 * @size: bytes of it
 * @elf: libelf's view of the same bytes
 * @arch: its machine
 * @type: ELF's e_type: ET_EXEC or ET_DYN
 * @mem: its segments by ELF virtual address, with ->direct
 * @copying: the same without ->direct: every read copies, and is counted
 * @seg: PT_LOADs by ascending address, @nr_segs of them
 * @exec: executable ranges, merged and ascending, @nr_exec of them
 * @hdr: .eh_frame_hdr's address, 0 where there is none; @hdr_end one past its last byte
 * @hdr_by_phdr: a PT_GNU_EH_FRAME names it (else only a section header does)
 * @eh_frame: .eh_frame's address by its section header, 0 where none names it
 * @eh_frame_end: one past its last byte
 * @nr_eh_frame: sections with that name
 * @has_debug_frame: there is a .debug_frame (never used)
 * @section: what lookups use; set up by ehf_section_init()
 * @hdr_stop: why .eh_frame_hdr is not used although it is there; EHF_STOP_NONE where it is
 * @build_id: @build_id_len bytes of it, 0 where there is none
 */
struct image {
	char *path;
	int fd;
	const u8 *bytes;
	u64 size;
	Elf *elf;
	const struct ehu_arch *arch;
	u16 type;
	const struct ehf_mem *mem;
	const struct ehf_mem *copying;
	struct image_segment *seg;
	u32 nr_segs;
	struct image_segment *exec;
	u32 nr_exec;
	u64 hdr;
	u64 hdr_end;
	bool hdr_by_phdr;
	u64 eh_frame;
	u64 eh_frame_end;
	u32 nr_eh_frame;
	bool has_debug_frame;
	struct ehf_section section;
	enum ehf_stop hdr_stop;
	u8 build_id[64];
	u32 build_id_len;

	/* for image*.c only */
	struct image_mem direct_mem;
	struct image_mem copy_mem;
	struct image_symbol *sym;
	size_t nr_syms;
	bool syms_loaded;
	int guard;
};

enum image_status image_open(const char *path, struct image **img, struct image_error *err);
enum image_status image_open_fd(int fd, const char *path, struct image **img,
				struct image_error *err);
enum image_status image_open_memory(const void *bytes, u64 size, const char *name,
				    struct image **img, struct image_error *err);
void image_close(struct image *img);
const char *image_status_name(enum image_status status);
bool image_changed(const struct image *img);
const struct image_segment *image_segment_at(const struct image *img, u64 addr);
const u8 *image_bytes_at(const struct image *img, u64 addr, u64 *avail);
struct ehf_ctx image_ctx(const struct image *img, const struct ehf_limits *limits,
			 struct ehf_cost *cost);

const struct image_symbol *image_symbol_at(struct image *img, u64 addr);
const struct image_symbol *image_symbol_named(struct image *img, const char *name);
bool image_section_named(const struct image *img, const char *name, u64 *addr, u64 *size);

/* A file mapping that survives the file's shrinking: harness/image_map.c. */
int image_map(int fd, u64 size, const u8 **bytes);
void image_unmap(int guard);
bool image_map_shrank(int guard);

#endif /* HARNESS_IMAGE_H */
