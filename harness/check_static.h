/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The static check of one file: every row that we compute for it, against libdw's, with a third
 * opinion where they differ.
 */
#ifndef HARNESS_CHECK_STATIC_H
#define HARNESS_CHECK_STATIC_H

#include "harness/image.h"
#include "harness/oracle.h"
#include "harness/plain_rows.h"
#include "harness/static_fdes.h"

/*	symbol		key		what an interval of addresses came to */
#define STATIC_OUTCOMES(X) \
	X(EQUAL,	"equal",	"ours and libdw's rules are the same") \
	X(BOTH_REFUSE,	"both_refuse",	"neither gives a row") \
	X(UNSUPPORTED,	"unsupported",	"legal CFI outside of our subset") \
	X(OVER_LIMIT,	"over_limit",	"past a limit, also for a file") \
	X(MALFORMED,	"malformed",	"we refuse a wrong program, libdw does not") \
	X(CORRUPT,	"corrupt",	"we refuse a damaged section, libdw does not") \
	X(SHADOWED,	"shadowed",	"a lookup finds another FDE there") \
	X(ORACLE_FAILED, "oracle_failed", "libdw gives no row, we do") \
	X(ORACLE_WRONG,	"oracle_wrong",	"libdw is outvoted, and known to be wrong") \
	X(DIFFERENT,	"different",	"the rules differ")

enum static_outcome {
#define X(sym, key, text) STATIC_##sym,
	STATIC_OUTCOMES(X)
#undef X
	STATIC_NR_OUTCOMES
};

/*	symbol		kind			what it says, in front of its count */
#define STATIC_ODDITIES(X) \
	X(HEADER,	"header-unusable",	".eh_frame_hdr cannot be used") \
	X(NO_TABLE,	"no-table",		"no search table") \
	X(EMPTY_TABLE,	"empty-table",		"the search table has 0 entries") \
	X(TABLE_MISSES,	"table-misses",		"FDEs that the search table misses") \
	X(TERMINATOR,	"terminator",		"terminators in front of other records") \
	X(BAD_RECORD,	"bad-record",		"records that end the scan") \
	X(UNREADABLE,	"unreadable-fde",	"FDEs that cannot be read") \
	X(UNSORTED,	"unsorted",		"table entries out of order") \
	X(WRONG_START,	"wrong-start",		"table entries that do not fit their FDE") \
	X(SAME_START,	"duplicate",		"table entries with the start of another") \
	X(OVERLAPPING,	"overlapping",		"FDEs that overlap others") \
	X(ZERO_LENGTH,	"zero-length",		"FDEs with an empty range") \
	X(DEAD,		"dead",			"FDEs that start at 0, where there is no code") \
	X(SECTIONS,	"eh-frame-sections",	"sections named .eh_frame") \
	X(DEBUG_FRAME,	"debug-frame",		".debug_frame present (not used)") \
	X(CFA_BELOW_SP,	"cfa-below-sp",		"rows whose CFA lies below SP") \
	X(FP_BELOW_SP,	"fp-slot-below-sp",	"rows whose FP slot lies below SP") \
	X(FP_UNSUPPORTED, "fp-unsupported",	"rows whose rule for FP is not followed")

/*	symbol		key		rows whose rule is written as an expression of this shape */
#define STATIC_SHAPES(X) \
	X(VALUE,	"cfa-value",	"CFA reg+off") \
	X(LOAD,		"cfa-load",	"CFA *(reg+off)+add") \
	X(SUM,		"cfa-sum",	"CFA *(reg+off+reg2*n)+add") \
	X(STEP,		"cfa-plt",	"CFA by the pc's low bits (PLT)") \
	X(OTHER,	"cfa-other",	"CFA by another expression") \
	X(FP,		"fp",		"FP") \
	X(RA,		"ra",		"RA") \
	X(SP,		"sp",		"SP")

enum static_shape {
#define X(sym, key, text) STATIC_SHAPE_##sym,
	STATIC_SHAPES(X)
#undef X
	STATIC_NR_SHAPES
};

enum static_oddity {
#define X(sym, kind, text) STATIC_ODD_##sym,
	STATIC_ODDITIES(X)
#undef X
	STATIC_NR_ODDITIES
};

/*
 * Instructions that libdw may execute for one file and for one FDE; rows that are left are
 * oracle_failed. It starts each row from the FDE's beginning, which is quadratic: a file's budget
 * takes about five seconds. The largest FDE seen (31,438 instructions, in libcufft) takes most
 * of an FDE's.
 */
#define STATIC_FILE_BUDGET	UINT64_C(1500000000)
#define STATIC_FDE_BUDGET	UINT64_C(300000000)

/**
 * struct static_result - what the check of one file came to; it is sent through a pipe
 * @status: whether there was something to check
 * @changed: the file changed while it was read: the result is void
 * @fdes: FDEs, of the table and the scan together
 * @rows: by outcome: maximal intervals between boundaries of either side
 * @bytes: by outcome: their addresses
 * @over_limit_in_walk: rows that only the limits for files reach
 * @exec_bytes: bytes of executable segments
 * @exec_covered: those that an FDE covers
 * @stops: by reason: rows that we do not give
 * @odd: by kind: how many
 * @shapes: by shape: rows with such an expression
 * @own_rows: rows that the program of an FDE has, before anything cuts them
 * @plain_rows: those that the short way (ehframe/plain.h) gives as well
 * @plain_differs: FDEs for which it says anything else
 */
struct static_result {
	enum image_status status;
	bool changed;
	u64 fdes;
	u64 rows[STATIC_NR_OUTCOMES];
	u64 bytes[STATIC_NR_OUTCOMES];
	u64 over_limit_in_walk;
	u64 exec_bytes;
	u64 exec_covered;
	u64 stops[EHF_NR_STOPS];
	u64 odd[STATIC_NR_ODDITIES];
	u64 shapes[STATIC_NR_SHAPES];
	u64 own_rows;
	u64 plain_rows;
	u64 plain_differs;
};

/**
 * struct static_finding - an interval on which oracles and we do not agree
 * @start: first address
 * @end: one past the last
 * @outcome: STATIC_DIFFERENT, STATIC_ORACLE_WRONG or STATIC_ORACLE_FAILED
 * @kind: for STATIC_ORACLE_WRONG, the name of the proof in docs/oracles.md; for
 *	STATIC_ORACLE_FAILED why, else NULL
 * @diff: ORACLE_DIFF_* between ours and libdw
 * @fde: the FDE
 * @ours: our row
 * @dw_answer: what libdw said, with @dw
 * @third_name: the third opinion's name; NULL where there is none
 * @third_answer: what it said, with @third
 */
struct static_finding {
	u64 start;
	u64 end;
	enum static_outcome outcome;
	const char *kind;
	u32 diff;
	const struct ehf_fde *fde;
	const struct ehf_row *ours;
	enum oracle_answer dw_answer;
	const struct oracle_row *dw;
	const char *third_name;
	enum oracle_answer third_answer;
	const struct oracle_row *third;
};

/**
 * struct static_sink - who is told of single things
 * @finding: of a disagreement
 * @plain: of an FDE for which the short way says anything else: first at @ours, where it has @is;
 *	that is NULL where it has nothing
 * @range: of rows with an oddity, merged where they touch
 * @arg: passed to all
 */
struct static_sink {
	void (*finding)(void *arg, struct image *img, const struct static_finding *finding);
	void (*plain)(void *arg, struct image *img, const struct ehf_fde *fde,
		      const struct ehf_row *ours, const struct ehf_plain_row *is);
	void (*range)(void *arg, struct image *img, enum static_oddity odd, u64 start, u64 end);
	void *arg;
};

void check_static(struct image *img, const struct static_fdes *fdes, const struct static_sink *sink,
		  struct static_result *r);
const char *static_outcome_key(enum static_outcome outcome);
const char *static_oddity_kind(enum static_oddity odd);
const char *static_oddity_text(enum static_oddity odd);
const char *static_shape_key(enum static_shape shape);
const char *static_shape_text(enum static_shape shape);
void static_result_add(struct static_result *sum, const struct static_result *r);
u64 static_total(const u64 *by_outcome);

#endif /* HARNESS_CHECK_STATIC_H */
