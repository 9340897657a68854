/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of harness/symbols share among themselves. */
#ifndef HARNESS_SYMBOLS_INT_H
#define HARNESS_SYMBOLS_INT_H

#include "harness/symbols.h"
#include "harness/symbols_ranges.h"

/**
 * struct symbols_name - one symbol
 * @addr: first address
 * @size: bytes, 0 where the file does not say
 * @limit: one past the last address of its section
 * @name: as in the file; ended by NUL
 * @rank: of symbols with one address, the lowest answers
 * @table: where it comes from
 */
struct symbols_name {
	u64 addr;
	u64 size;
	u64 limit;
	const char *name;
	u32 rank;
	enum symbols_table table;
};

/**
 * struct symbols_names - the symbols of a module
 * @name: by address, then rank, after symbols_names_sort()
 * @nr: of them
 * @sized: which one answers where a size says so
 * @guessed: which one answers elsewhere
 */
struct symbols_names {
	struct symbols_name *name;
	size_t nr;
	size_t room;
	struct symbols_ranges sized;
	struct symbols_ranges guessed;
};

bool symbols_names_add(struct symbols_names *n, const struct symbols_name *name);
void symbols_names_read(struct symbols_names *n, const struct debuginfo_file *file,
			bool from_debugdata, struct symbols_stats *stats);
bool symbols_names_sort(struct symbols_names *n);
const struct symbols_name *symbols_names_find(const struct symbols_names *n, u64 addr,
					      u64 *end, bool *guess);
void symbols_names_free(struct symbols_names *n);

/* A symbol's name without its version: bytes before "@GLIBC_2.2". */
size_t symbols_name_length(const char *name);

/* PLT stubs: symbols_plt.c. Names are made with @keep, which lives as long as @n. */
void symbols_plt_read(struct symbols_names *n, const struct debuginfo_file *file,
		      const char *(*keep)(void *arg, const char *text), void *arg);

/* MiniDebugInfo: symbols_mini.c. The bytes are freed by the caller, after the file. */
struct debuginfo_file *symbols_mini_open(const struct debuginfo_file *file, void **bytes);

/* Perf maps: symbols_jit.c. The bytes that names point into are freed by the caller. */
bool symbols_jit_read(struct symbols_names *n, struct debuginfo *di, pid_t pid, char **bytes,
		      const char **why, struct symbols_stats *stats);

/**
 * struct symbols_level - one level of an inline chain, as DWARF has it
 * @linkage: linkage name, or NULL
 * @name: plain name, or NULL
 * @dir: compilation folder where @file is relative, or NULL
 * @file: source file, or NULL
 * @line: 0 where unknown
 * @column: 0 where unknown
 */
struct symbols_level {
	const char *linkage;
	const char *name;
	const char *dir;
	const char *file;
	u32 line;
	u32 column;
};

/* A call that may end by a fault: symbols_guard.c. */
int symbols_guard(void (*fn)(void *arg), void *arg);

struct symbols_dwarf;

struct symbols_dwarf *symbols_dwarf_open(struct debuginfo *di, const struct debuginfo_file *file,
					 const char **why, struct symbols_stats *stats);
u32 symbols_dwarf_chain(struct symbols_dwarf *d, u64 addr, struct symbols_level *level, u32 room,
			bool *cut);
const char *symbols_dwarf_fault(const struct symbols_dwarf *d);
void symbols_dwarf_close(struct symbols_dwarf *d);

#endif /* HARNESS_SYMBOLS_INT_H */
