/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Core dumps of any machine in arch/: threads, memory, mapped files, as the file has them.
 */
#ifndef HARNESS_CORE_H
#define HARNESS_CORE_H

#include "arch/arch.h"
#include "ehframe/mem.h"

#include <stddef.h>

/* Bounds; what does not fit is counted. */
#define CORE_MAX_THREADS	65536
#define CORE_MAX_FILES		262144

/**
 * struct core_segment - a PT_LOAD
 * @addr: first address
 * @end: one past the last address
 * @file_end: one past the last address that the file has bytes for
 * @pos: position in the file of the byte at @addr
 * @flags: PF_*
 */
struct core_segment {
	u64 addr;
	u64 end;
	u64 file_end;
	u64 pos;
	u32 flags;
};

/**
 * struct core_file - an entry of NT_FILE
 * @start: first address
 * @end: one past the last
 * @pos: position in the file, in bytes
 * @name: path; in the core's bytes
 */
struct core_file {
	u64 start;
	u64 end;
	u64 pos;
	const char *name;
};

/**
 * struct core_thread - an NT_PRSTATUS and what follows it
 * @tid: thread number
 * @signal: pr_cursig: what it was stopped by
 * @regs: registers by DWARF number
 * @ra_mask: bits of a return address that are address, by NT_ARM_PAC_MASK; 0 where there is none
 */
struct core_thread {
	u32 tid;
	u32 signal;
	struct ehu_regs regs;
	u64 ra_mask;
};

/**
 * struct core - a core dump
 * @mem: its memory, as far as the file has it, with ->direct
 * @arch: its machine
 * @seg: PT_LOADs by ascending address, @nr_segs of them
 * @thread: threads in the file's order, @nr_threads of them: the first is the one that dumped
 * @file: entries of NT_FILE, @nr_files of them; none in cores of qemu-user
 * @phdr: AT_PHDR, AT_ENTRY, AT_BASE and AT_SYSINFO_EHDR of the auxiliary vector; 0 where there
 *	is none
 * @missing: bytes that its program headers announce and the file ends before
 * @dropped: threads and files beyond the bounds, and notes that contradict themselves
 */
struct core {
	struct ehf_mem mem;
	const struct ehu_arch *arch;
	struct core_segment *seg;
	u32 nr_segs;
	struct core_thread *thread;
	u32 nr_threads;
	struct core_file *file;
	u32 nr_files;
	u64 phdr;
	u64 entry;
	u64 base;
	u64 vdso;
	u64 missing;
	u64 dropped;

	/* for core.c and core_notes.c only */
	const u8 *bytes;
	u64 size;
	int fd;
	int guard;
	u32 max_threads;
};

struct core *core_open(const char *path, char *why, size_t n);
struct core *core_open_memory(const void *bytes, u64 size, char *why, size_t n);
void core_close(struct core *core);
const struct core_segment *core_segment_at(const struct core *core, u64 addr);
const u8 *core_at(const struct core *core, u64 addr, u64 *avail);
bool core_word(const struct core *core, u64 addr, u64 *value);

/* harness/core_notes.c */
int core_notes_read(struct core *core, const u8 *p, u64 len, u64 align);

#endif /* HARNESS_CORE_H */
