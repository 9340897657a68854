/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Addresses to names: symbol, file and line, inline chain. Nothing is opened before the first
 * lookup that needs it.
 */
#ifndef HARNESS_SYMBOLS_H
#define HARNESS_SYMBOLS_H

#include "harness/debuginfo.h"

/*	symbol		name		meaning */
#define SYMBOLS_TABLES(X) \
	X(NONE,		"none",		"no symbol covers the address") \
	X(SYMTAB,	"symtab",	".symtab of the file or of its debug file") \
	X(DEBUGDATA,	"gnu_debugdata", "MiniDebugInfo: .symtab inside .gnu_debugdata") \
	X(DYNSYM,	"dynsym",	".dynsym of the file") \
	X(PLT,		"plt",		"a PLT stub, named after its relocation") \
	X(PERF_MAP,	"perf-map",	"/tmp/perf-PID.map, written by a JIT compiler")

enum symbols_table {
#define X(sym, name, text) SYMBOLS_TABLE_##sym,
	SYMBOLS_TABLES(X)
#undef X
	SYMBOLS_NR_TABLES
};

/*	symbol		name		meaning */
#define SYMBOLS_STATES(X) \
	X(UNOPENED,	"unopened",	"nobody has asked for a name in it") \
	X(OPEN,		"open",		"its file is the right one") \
	X(DELETED,	"deleted",	"its file was deleted; its bytes were reached all the same") \
	X(CACHED,	"cached",	"its file is gone or another build; found by build-id elsewhere") \
	X(STALE,	"stale",	"its file is now another build, and nothing else was found") \
	X(MISSING,	"missing",	"its file cannot be opened, and nothing else was found")

enum symbols_state {
#define X(sym, name, text) SYMBOLS_##sym,
	SYMBOLS_STATES(X)
#undef X
	SYMBOLS_NR_STATES
};

/**
 * struct symbols_options - what a session is to do
 * @debuginfo: how files are searched
 * @raw: leave mangled names as they are
 * @no_lines: symbols only: no DWARF is opened
 */
struct symbols_options {
	struct debuginfo_options debuginfo;
	bool raw;
	bool no_lines;
};

/**
 * struct symbols_stats - what a session has done
 * @tables: symbol tables read (.symtab, .dynsym, .gnu_debugdata, perf maps)
 * @debug_files: separate files accepted
 * @dwarfs: files whose DWARF was opened
 * @lookups: questions
 * @by_table: answers by the table of their symbol
 * @guesses: answers from a symbol without a size
 * @with_line: answers with a file name
 * @disagreements: answers where .symtab and .debug_info name different functions
 * @names_cut: names longer than SYMBOLS_NAME_MAX
 * @not_demangled: names that begin like mangled ones, but were not demangled
 * @units_damaged: DWARF units, or parts of them, that could not be followed
 * @dwarfs_faulted: files whose DWARF was given up, as libdw faulted on it
 * @ranges_outside: DWARF ranges where the file has no code (removed by the linker)
 * @map_lines_bad: lines of perf maps that are none
 */
struct symbols_stats {
	u64 tables;
	u64 debug_files;
	u64 dwarfs;
	u64 lookups;
	u64 by_table[SYMBOLS_NR_TABLES];
	u64 guesses;
	u64 with_line;
	u64 disagreements;
	u64 names_cut;
	u64 not_demangled;
	u64 units_damaged;
	u64 dwarfs_faulted;
	u64 ranges_outside;
	u64 map_lines_bad;
};

/* Longest name in an answer, in bytes; a longer one is cut and says so. */
#define SYMBOLS_NAME_MAX	4096

/* Longest inline chain in an answer; the real ones have a few dozen. */
#define SYMBOLS_PLACES_MAX	256

/**
 * struct symbols_place - one level of the inline chain
 * @name: function, readable and safe to print; NULL where DWARF has none
 * @raw: its linkage name as the file has it, or its plain name
 * @file: source file, safe to print; NULL where it is not known
 * @line: 0 where it is not known
 * @column: 0 where it is not known
 *
 * @file, @line and @column are where the execution is: in the innermost place by the line table,
 * in the others the call of the place before.
 */
struct symbols_place {
	const char *name;
	const char *raw;
	const char *file;
	u32 line;
	u32 column;
};

/**
 * struct symbols_answer - what is known about an address
 * @table: where the symbol comes from
 * @name: the symbol, readable and safe to print; NULL with SYMBOLS_TABLE_NONE
 * @raw: as the file has it; not safe to print
 * @start: its address, in the same space as the question
 * @size: bytes that it covers; for a guess, up to the next symbol
 * @offset: the printed address less @start
 * @guess: the symbol has no size of its own; it was taken to reach to the next one
 * @disagrees: .debug_info names another function than the symbol table
 * @nr_places: levels of the inline chain, 0 where no DWARF covers the address
 * @place: innermost first; the last one is the function itself
 * @cut: the chain had more levels than SYMBOLS_PLACES_MAX
 */
struct symbols_answer {
	enum symbols_table table;
	const char *name;
	const char *raw;
	u64 start;
	u64 size;
	u64 offset;
	bool guess;
	bool disagrees;
	bool cut;
	u32 nr_places;
	struct symbols_place *place;
};

/**
 * struct symbols_key - which module
 * @path: as /proc/PID/maps or a record has it; " (deleted)" at its end is understood
 * @pid: the process that maps it, 0 for none
 * @host_path: this host's name for the file, whatever the session's symfs says; NULL for @path
 * @build_id: what was seen in the process or the record, @build_id_len bytes, 0 for unknown
 * @map_start: one range of the process that maps it, to reach a deleted file; else 0
 * @map_end: one past the range
 * @bytes: the image itself, @size bytes, for a vDSO; must outlive the session
 * @jit: no file: anonymous executable memory of @pid. Addresses are then those of the process.
 */
struct symbols_key {
	const char *path;
	pid_t pid;
	const char *host_path;
	const u8 *build_id;
	u32 build_id_len;
	u64 map_start;
	u64 map_end;
	const void *bytes;
	u64 size;
	bool jit;
};

struct symbols;
struct symbols_module;

struct symbols *symbols_new(const struct symbols_options *opts);
void symbols_free(struct symbols *s);
const struct symbols_stats *symbols_stats(const struct symbols *s);
struct debuginfo *symbols_debuginfo(const struct symbols *s);

struct symbols_module *symbols_module(struct symbols *s, const struct symbols_key *key);
const struct symbols_answer *symbols_lookup(struct symbols_module *mod, u64 addr,
					    bool activation);
enum symbols_state symbols_module_state(struct symbols_module *mod, const char **why);
const struct debuginfo_file *symbols_module_file(const struct symbols_module *mod);

const char *symbols_function(const struct symbols_answer *a);
const char *symbols_table_name(enum symbols_table table);
const char *symbols_state_name(enum symbols_state state);

#endif /* HARNESS_SYMBOLS_H */
