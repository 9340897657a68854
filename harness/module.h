/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Mapped files: which file on disk a mapping was of, whether it still is that file, and where
 * its CFI lies in a task.
 */
#ifndef HARNESS_MODULE_H
#define HARNESS_MODULE_H

#include "harness/image.h"
#include "harness/pager.h"
#include "harness/perf_decode.h"

/*	symbol		name		usable	meaning */
#define MODULE_STATUSES(X) \
	X(OK,		"ok",		true,	"an image with CFI") \
	X(NO_CFI,	"no-cfi",	true,	"an image without .eh_frame: no pc has an FDE") \
	X(STALE,	"stale",	false,	"the file is not the one that was mapped") \
	X(DELETED,	"deleted",	false,	"the file is gone") \
	X(UNREADABLE,	"unreadable",	false,	"the file cannot be opened or read") \
	X(NOT_ELF,	"not-elf",	false,	"no ELF file") \
	X(OTHER_MACHINE, "other-machine", false, "a machine that is not supported yet") \
	X(DAMAGED,	"damaged",	false,	"an ELF file whose headers or CFI cannot be used") \
	X(ANON,		"anonymous",	false,	"memory without a file, such as generated code") \
	X(SPECIAL,	"special",	false,	"[vsyscall], [stack] and the like") \
	X(OVERFLOW,	"too-many",	false,	"one of more files than are kept apart")

enum module_status {
#define X(sym, name, usable, text) MODULE_##sym,
	MODULE_STATUSES(X)
#undef X
	MODULE_NR_STATUSES
};

/*	symbol		name		meaning */
#define MODULE_IDENTITIES(X) \
	X(NONE,		"none",		"nothing to identify") \
	X(BUILD_ID,	"build-id",	"by the build-id that was recorded") \
	X(INODE,	"inode",	"by device, inode and, where it is known, generation") \
	X(UNVERIFIED,	"unverified",	"by its path alone") \
	X(OWN_VDSO,	"own-vdso",	"the vDSO of the kernel that runs now stands in") \
	X(CORE,		"core",		"its bytes are in the core dump")

enum module_identity {
#define X(sym, name, text) MODULE_ID_##sym,
	MODULE_IDENTITIES(X)
#undef X
	MODULE_NR_IDENTITIES
};

struct modules;

/**
 * struct module_cover - a module's code, in bytes; see module_cover_read()
 * @exec: bytes of executable segments
 * @fde: of them, those that an FDE covers
 * @supported: of those, the ones whose row a walk can follow
 * @why: where not all of it could be found out, the reason; else NULL. A constant string
 * @known: somebody has asked
 */
struct module_cover {
	u64 exec;
	u64 fde;
	u64 supported;
	const char *why;
	bool known;
};

/**
 * struct module - a mapped file
 * @owner: the table that it is in
 * @next: the next one of the table, in the order in which they were met
 * @path: name as recorded
 * @file_path: what was opened, as this host names it: no link in it leads out of the prefix or of
 *	the process's own root; equal to @path where nothing was
 * @by_exe: it was opened by the name that the caller has for the program, not below a prefix
 * @status: whether it can be used
 * @identity: how it was found to be the file that was mapped; OK and NO_CFI only (and
 *	BUILD_ID or INODE where that is what made it stale)
 * @why: one line for a person where it is not usable, or its identity unverified; else ""
 * @arch: its machine; NULL unless usable
 * @type: ELF's e_type
 * @seg: PT_LOADs by ascending address, @nr_segs of them
 * @exec_start: first executable ELF virtual address
 * @exec_end: one past the last
 * @section: its CFI by ELF virtual addresses
 * @build_id: @build_id_len bytes: of the file where it is usable, else as recorded
 * @has_debug_frame: there is a .debug_frame (never used)
 * @hdr_stop: why its .eh_frame_hdr is not used although it is there
 * @file: its bytes; NULL unless usable
 * @memory: bytes of an image in memory (the vDSO), @memory_size of them; else NULL
 * @mappings: mappings of it that were recorded
 * @text_mappings: of them, executable ones: where there are none, its status matters to nobody
 * @no_segment: of them, those that no PT_LOAD explains, and second ones of part of a PT_LOAD: no
 *	section is known for them
 * @corrupt: walks that met corrupt CFI in it. A kernel would have removed the section at the
 *	first; here it stays, so that no result depends on the order of samples
 * @corrupt_stop: the first such reason
 * @frames: for whoever counts frames by module; not touched here
 * @cover: for module_cover_read(); not touched here
 */
struct module {
	struct modules *owner;
	struct module *next;
	char *path;
	char *file_path;
	bool by_exe;
	enum module_status status;
	enum module_identity identity;
	char why[160];
	const struct ehu_arch *arch;
	u16 type;
	struct image_segment *seg;
	u32 nr_segs;
	u64 exec_start;
	u64 exec_end;
	struct ehf_section section;
	u8 build_id[64];
	u32 build_id_len;
	bool has_debug_frame;
	enum ehf_stop hdr_stop;
	struct pager_file *file;
	const void *memory;
	u64 memory_size;
	u64 mappings;
	u64 text_mappings;
	u64 no_segment;
	u64 corrupt;
	enum ehf_stop corrupt_stop;
	u64 frames;
	struct module_cover cover;

	/* for module.c only */
	struct module *hash_next;
	struct module_place *places;
	u32 hash;
	u32 key_len;
	u8 key[32];
};

/**
 * struct module_place - a usable module at a load bias
 * @module: the module
 * @next: another place of the same module
 * @bias: target address minus ELF virtual address
 * @section: its CFI by target addresses, as ehf_section_init() left it when it read the
 *	header as a walk does. One for all text ranges of the place
 * @stop: why @section is not to be used: EHF_STOP_NONE where it is
 * @refs: maps that hold it
 * @mark: for task_maps.c: the count of places that saw it last
 */
struct module_place {
	struct module *module;
	struct module_place *next;
	u64 bias;
	struct ehf_section section;
	enum ehf_stop stop;
	u32 refs;
	u64 mark;
};

/**
 * struct module_params - where files are looked for
 * @pager: who reads them; must outlive the table
 * @symfs: root of all recorded paths, which no symbolic link leads out of; NULL or "" for none
 * @build_id: optional: the build-id that is known for a path from elsewhere (perf.data's header
 *	table, perf_data_build_id()), @size bytes; NULL where none is. Asked where a mapping
 *	has none of its own
 * @arg: passed to it
 * @no_vdso: do not let this kernel's vDSO stand in for a recorded one: set for a recording
 *	of another machine or kernel
 * @vdso: optional: the recorded vDSO itself, @vdso_size bytes; must outlive the table
 * @exe: optional: the file of this recorded name is found at @exe_path, whatever @symfs is
 * @exe_path: where, or NULL
 * @live: the processes run now, on this machine: their files are looked up in their own roots
 * @no_openat2: as on a kernel before 5.6 (for tests)
 */
struct module_params {
	struct pager *pager;
	const char *symfs;
	const u8 *(*build_id)(void *arg, const char *path, u32 *size);
	void *arg;
	bool no_vdso;
	const void *vdso;
	u64 vdso_size;
	const char *exe;
	const char *exe_path;
	bool live;
	bool no_openat2;
};

struct modules *module_table_new(const struct module_params *params);
void module_table_free(struct modules *mods);
struct pager *module_table_pager(const struct modules *mods);
struct module *module_first(const struct modules *mods);
struct module *module_find(struct modules *mods, const struct perf_rec_mmap *map,
			   const struct ehu_arch *arch);

const char *module_status_name(enum module_status status);
const char *module_status_text(enum module_status status);
const char *module_identity_name(enum module_identity identity);
bool module_usable(const struct module *m);
const struct image_segment *module_segment(const struct module *m, const struct perf_rec_mmap *map,
					   const struct module_place *there, u64 *bias);
struct module_place *module_place_get(struct module *m, u64 bias);
void module_place_put(struct module_place *pl);
void module_corrupt(const struct ehf_section *s, enum ehf_stop stop);
int module_dup_fd(struct module *m);

#endif /* HARNESS_MODULE_H */
