// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walks every FDE of an image once for each side, cuts its range at the boundaries of both, and
 * gives every piece an outcome. Our rows by the short way are held against those by the long one.
 */
#include "harness/check_static.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/order.h"

struct odd_range {
	u64 start;
	u64 end;
};

/* An FDE's rows by the short way, next to those of its program. */
struct plain_way {
	struct ehf_ctx ctx;
	struct ehf_cost cost;		/* apart from that of the program */
	struct ehf_pass pass;
	struct ehf_plain_row row[64];
	u32 nr;
	u32 at;
	bool over;			/* it has come to its end, or has been found to differ */
};

struct check {
	struct image *img;
	const struct static_fdes *fdes;
	const struct static_sink *sink;
	struct static_result *r;
	struct ehf_cost cost;
	struct ehf_cost walk_cost;
	struct ehf_memo memo;		/* what long CIEs came to: not run again for each FDE */
	struct ehf_memo walk_memo;
	struct ehf_ctx ctx;
	struct ehf_ctx walk_ctx;
	struct plain_way plain;
	struct oracle *dw;
	struct oracle *third;		/* opened when it is first needed */
	bool third_failed;
	bool told_failed;
	u64 budget;			/* work that oracles and lookups may still cause */
	u64 fde_budget;			/* and for the FDE at hand */
	u64 *edge;			/* where lookups can change; made when first needed */
	size_t nr_edges;
	enum static_outcome last;	/* what was counted last */
	u32 longest_expr;		/* bytes, of the FDE at hand */
	struct ehf_cie cie;		/* the last one that was read */
	struct odd_range range[STATIC_NR_ODDITIES];
	struct oracle_row dw_row;
	struct oracle_row third_row;
	char dw_why[100];
	char third_why[100];
};

/**
 * static_outcome_key() - the JSON key of an outcome
 * @outcome: the outcome
 *
 * Return: a constant string.
 */
const char *static_outcome_key(enum static_outcome outcome)
{
	static const char *const keys[] = {
#define X(sym, key, text) [STATIC_##sym] = key,
		STATIC_OUTCOMES(X)
#undef X
	};

	return keys[outcome];
}

/**
 * static_oddity_kind() - the name of an oddity in JSON
 * @odd: the oddity
 *
 * Return: a constant string.
 */
const char *static_oddity_kind(enum static_oddity odd)
{
	static const char *const kinds[] = {
#define X(sym, kind, text) [STATIC_ODD_##sym] = kind,
		STATIC_ODDITIES(X)
#undef X
	};

	return kinds[odd];
}

/**
 * static_oddity_text() - what an oddity means
 * @odd: the oddity
 *
 * Return: a constant string, to be read behind its count.
 */
const char *static_oddity_text(enum static_oddity odd)
{
	static const char *const texts[] = {
#define X(sym, kind, text) [STATIC_ODD_##sym] = text,
		STATIC_ODDITIES(X)
#undef X
	};

	return texts[odd];
}

/**
 * static_shape_key() - the JSON key of an expression's shape
 * @shape: the shape
 *
 * Return: a constant string.
 */
const char *static_shape_key(enum static_shape shape)
{
	static const char *const keys[] = {
#define X(sym, key, text) [STATIC_SHAPE_##sym] = key,
		STATIC_SHAPES(X)
#undef X
	};

	return keys[shape];
}

/**
 * static_shape_text() - what an expression's shape is called
 * @shape: the shape
 *
 * Return: a constant string.
 */
const char *static_shape_text(enum static_shape shape)
{
	static const char *const texts[] = {
#define X(sym, key, text) [STATIC_SHAPE_##sym] = text,
		STATIC_SHAPES(X)
#undef X
	};

	return texts[shape];
}

/**
 * static_total() - the sum over all outcomes
 * @by_outcome: rows or bytes
 *
 * Return: the sum.
 */
u64 static_total(const u64 *by_outcome)
{
	u64 sum = 0;

	for (u32 i = 0; i < STATIC_NR_OUTCOMES; i++)
		sum += by_outcome[i];
	return sum;
}

/**
 * static_result_add() - add a file's counts to a sum
 * @sum: the sum
 * @r: the file's
 */
void static_result_add(struct static_result *sum, const struct static_result *r)
{
	sum->fdes += r->fdes;
	sum->over_limit_in_walk += r->over_limit_in_walk;
	sum->exec_bytes += r->exec_bytes;
	sum->exec_covered += r->exec_covered;
	for (u32 i = 0; i < STATIC_NR_OUTCOMES; i++) {
		sum->rows[i] += r->rows[i];
		sum->bytes[i] += r->bytes[i];
	}
	for (u32 i = 0; i < EHF_NR_STOPS; i++)
		sum->stops[i] += r->stops[i];
	for (u32 i = 0; i < STATIC_NR_ODDITIES; i++)
		sum->odd[i] += r->odd[i];
	for (u32 i = 0; i < STATIC_NR_SHAPES; i++)
		sum->shapes[i] += r->shapes[i];
	sum->own_rows += r->own_rows;
	sum->plain_rows += r->plain_rows;
	sum->plain_differs += r->plain_differs;
}

/*
 * Once a file has cost this many instructions of ours, the FDEs that are left get a small limit
 * each: a long CIE that thousands of FDEs share would take hours. Real files stay far below:
 * libLLVM has 2 million in all.
 */
#define OWN_BUDGET	UINT64_C(2000000000)
static const struct ehf_limits limits_after = {
	.record_len = 1U << 30, .insns = 1000, .states = EHF_MAX_STATES, .expr_len = 64,
	.scan_records = 1000,
};

static void count(struct check *c, enum static_outcome outcome, u64 bytes)
{
	c->r->rows[outcome]++;
	c->r->bytes[outcome] += bytes;
	c->last = outcome;
}

static void flush_range(struct check *c, enum static_oddity odd)
{
	struct odd_range *range = &c->range[odd];

	if (range->end > range->start && c->sink->range)
		c->sink->range(c->sink->arg, c->img, odd, range->start, range->end);
	range->start = range->end = 0;
}

static void note_row(struct check *c, enum static_oddity odd, u64 start, u64 end)
{
	struct odd_range *range = &c->range[odd];

	c->r->odd[odd]++;
	if (range->end == start && range->end) {
		range->end = end;
		return;
	}
	flush_range(c, odd);
	range->start = start;
	range->end = end;
}

static void count_shapes(struct check *c, const struct ehf_row *row)
{
	static const u8 shape[] = {
		[EHF_CFA_NONE] = STATIC_SHAPE_OTHER,
		[EHF_CFA_REG] = STATIC_SHAPE_VALUE,
		[EHF_CFA_VAL_EXPR] = STATIC_SHAPE_VALUE,
		[EHF_CFA_AT_REG] = STATIC_SHAPE_LOAD,
		[EHF_CFA_AT_SUM] = STATIC_SHAPE_SUM,
		[EHF_CFA_IP_STEP] = STATIC_SHAPE_STEP,
		[EHF_CFA_STOP] = STATIC_SHAPE_OTHER,
	};

	if (row->cfa.expr_len) {
		c->r->shapes[shape[row->cfa.kind]]++;
		if (row->cfa.expr_len > c->longest_expr)
			c->longest_expr = row->cfa.expr_len;
	}
	for (u32 k = 0; k < EHF_NR_TRACKED; k++) {
		if (!row->rule[k].expr_len)
			continue;
		c->r->shapes[STATIC_SHAPE_FP + k]++;
		if (row->rule[k].expr_len > c->longest_expr)
			c->longest_expr = row->rule[k].expr_len;
	}
}

/* What CFI alone shows to be wrong or useless in a row. */
static void look_for_oddities(struct check *c, const struct ehf_row *row)
{
	const struct ehf_rule *fp = &row->rule[EHF_FP];
	u16 sp = c->img->arch->abi.reg_sp;

	count_shapes(c, row);
	if (row->stop)
		return;
	if (fp->kind == EHF_RULE_STOP)
		note_row(c, STATIC_ODD_FP_UNSUPPORTED, row->start, row->end);
	if (row->cfa.kind != EHF_CFA_REG || row->cfa.reg != sp)
		return;
	if (row->cfa.off < 0)
		note_row(c, STATIC_ODD_CFA_BELOW_SP, row->start, row->end);
	else if (fp->kind == EHF_RULE_AT_CFA && fp->off < 0 && row->cfa.off < -fp->off)
		note_row(c, STATIC_ODD_FP_BELOW_SP, row->start, row->end);
}

/* Takes from the budgets; once one is overdrawn nothing more is given. */
static bool spend(struct check *c, u64 work)
{
	if (work >= c->fde_budget || work >= c->budget) {
		if (work >= c->budget)
			c->budget = 0;
		c->fde_budget = 0;
		return false;
	}
	c->fde_budget -= work;
	c->budget -= work;
	return true;
}

static struct oracle *open_third(struct check *c)
{
	if (c->third || c->third_failed)
		return c->third;
	c->third = oracle_libdwarf_open(c->img, c->third_why, sizeof(c->third_why));
	if (!c->third)
		c->third = oracle_llvm_open(c->img, c->third_why, sizeof(c->third_why));
	c->third_failed = !c->third;
	return c->third;
}

/*
 * Of FDEs that overlap libdw keeps the one that it met first, and answers with it for all its
 * range. That its row is the one of another FDE which covers the address is the proof.
 */
static bool dw_used_another_fde(struct check *c, const struct static_finding *f)
{
	struct ehf_fde other = { 0 };
	struct ehf_row row = { 0 };

	if (f->dw_answer != ORACLE_ROW || !spend(c, c->fdes->nr))
		return false;
	for (size_t i = 0; i < c->fdes->nr; i++) {
		const struct static_fde *sf = &c->fdes->fde[i];

		if (sf->stop || f->start < sf->start || f->start >= sf->end ||
		    sf->addr == f->fde->addr ||
		    ehf_fde_parse(&c->ctx, &c->img->section, sf->addr, &other))
			continue;
		ehf_row_eval(&c->ctx, &other, f->start, &row);
		if (!row.stop && !oracle_compare(&c->ctx, c->img->arch, &other, &row, f->dw))
			return true;
	}
	return false;
}

/*
 * The faults of libdw that docs/oracles.md proves, told by what differs. One that is not listed
 * there is a difference, whoever is outvoted.
 */
static const char *known_fault(struct check *c, const struct static_fde *sf,
			       const struct static_finding *f)
{
	if (sf->flags & STATIC_FDE_OVERLAPS && dw_used_another_fde(c, f))
		return "libdw-first-interned-fde";
	if (f->dw_answer == ORACLE_ROW && f->diff == ORACLE_DIFF_SP &&
	    c->img->arch == &ehu_arch_s390x && f->ours->rule[EHF_SP].kind == EHF_RULE_UNSPEC &&
	    f->dw->rule[EHF_SP].kind == ORACLE_SAME)
		return "libdw-s390-sp-same";
	return NULL;
}

/* libdwarf takes about as long as libdw for an instruction, and starts over for each register. */
#define THIRD_COST	4

static void disagree(struct check *c, const struct static_fde *sf, struct static_finding *f,
		     u64 insns)
{
	struct oracle *third = NULL;
	bool opposes = false;

	if (f->dw_answer == ORACLE_FAILS) {
		/* The same for every row that is left: told once, and nobody else is asked. */
		count(c, STATIC_ORACLE_FAILED, f->end - f->start);
		if (c->told_failed)
			return;
		c->told_failed = true;
		f->outcome = STATIC_ORACLE_FAILED;
		f->kind = c->dw_row.why;
		if (c->sink->finding)
			c->sink->finding(c->sink->arg, c->img, f);
		return;
	}
	if (spend(c, THIRD_COST * insns + c->fdes->nr))
		third = open_third(c);
	if (third) {
		f->third_name = third->name;
		f->third = &c->third_row;
		f->third_answer = third->row(third, f->start, f->fde, &c->third_row);
		opposes = f->third_answer == ORACLE_ROW && !third->weak &&
			  oracle_compare(&c->ctx, c->img->arch, f->fde, f->ours, f->third);
	}
	/* Which FDE a lookup finds is nothing that the third one, asked by FDE, could say. */
	f->kind = opposes ? NULL : known_fault(c, sf, f);
	if (f->kind) {
		f->outcome = STATIC_ORACLE_WRONG;
	} else if (f->dw_answer != ORACLE_ROW && !opposes) {
		f->outcome = STATIC_ORACLE_FAILED;
		f->kind = f->dw->why;
	} else {
		f->outcome = STATIC_DIFFERENT;
	}
	count(c, f->outcome, f->end - f->start);
	if (c->sink->finding)
		c->sink->finding(c->sink->arg, c->img, f);
}

static enum static_outcome refusal(enum ehf_stop stop)
{
	switch (ehf_stop_class(stop)) {
	case EHF_CLASS_OVER_LIMIT:
		return STATIC_OVER_LIMIT;
	case EHF_CLASS_MALFORMED:
		return STATIC_MALFORMED;
	case EHF_CLASS_CORRUPT:
	case EHF_CLASS_FAULT:
		return STATIC_CORRUPT;
	default:
		return STATIC_UNSUPPORTED;
	}
}

/* Whether a row of libdw's is one: a CFA that it will not give is a refusal as well. */
static bool dw_refuses(enum oracle_answer answer, const struct oracle_row *row)
{
	return answer != ORACLE_ROW || row->rule[ORACLE_CFA].kind == ORACLE_REFUSED ||
	       row->rule[ORACLE_CFA].kind == ORACLE_UNDEF;
}

static void judge(struct check *c, const struct static_fde *sf, const struct ehf_fde *fde,
		  const struct ehf_row *ours, u64 start, u64 end, enum oracle_answer answer,
		  u64 insns)
{
	struct static_finding f = {
		.start = start, .end = end, .fde = fde, .ours = ours,
		.dw_answer = answer, .dw = &c->dw_row,
	};

	if (ours->stop) {
		c->r->stops[ours->stop]++;
		count(c, dw_refuses(answer, &c->dw_row) ? STATIC_BOTH_REFUSE :
							  refusal(ours->stop), end - start);
		return;
	}
	if (answer == ORACLE_ROW) {
		f.diff = oracle_compare(&c->ctx, c->img->arch, fde, ours, &c->dw_row);
		if (!f.diff) {
			count(c, STATIC_EQUAL, end - start);
			return;
		}
	}
	disagree(c, sf, &f, insns);
}

enum owner { OWN, OTHER, NOBODY };

/* A record that a scan passes costs about as much as this many instructions. */
#define STEP_COST	10

/* So does a lookup for a piece of an FDE that is not found for all of its range. */
#define PIECE_COST	200

/* Whose address @pc is, by our lookup. */
static enum owner lookup(struct check *c, u64 addr, u64 pc, struct ehf_fde *scratch)
{
	struct ehf_found found;
	enum ehf_stop stop = ehf_fde_find(&c->ctx, &c->img->section, pc, scratch, &found);

	if (!found.by_table)
		spend(c, found.steps * STEP_COST);
	if (stop)
		return NOBODY;
	return scratch->addr == addr ? OWN : OTHER;
}

/*
 * Whether one owner has the whole range. Without a table an FDE that overlaps no other is found
 * by every scan, and needs none. In a table the position that a search ends at never goes
 * down as pc goes up, sorted or not: when it gives this FDE for the first and the last byte, it
 * does for all between.
 */
static bool owned_whole(struct check *c, const struct static_fde *sf, struct ehf_fde *scratch)
{
	const struct ehf_section *s = &c->img->section;

	if (!(s->table && s->nr_fdes))
		return !(sf->flags & STATIC_FDE_OVERLAPS) && sf->start >= s->text_start &&
		       sf->end <= s->text_end;
	return lookup(c, sf->addr, sf->start, scratch) == OWN &&
	       lookup(c, sf->addr, sf->end - 1, scratch) == OWN;
}

static void make_edges(struct check *c)
{
	const struct ehf_section *s = &c->img->section;
	struct ehf_entry e = { 0, 0 };
	u64 entries = s->table ? s->nr_fdes : 0;

	c->edge = calloc(2 * c->fdes->nr + (size_t)entries + 1, sizeof(*c->edge));
	if (!c->edge)
		return;
	for (size_t i = 0; i < c->fdes->nr; i++) {
		c->edge[c->nr_edges++] = c->fdes->fde[i].start;
		c->edge[c->nr_edges++] = c->fdes->fde[i].end;
	}
	for (u64 i = 0; i < entries && ehf_entry_read(&c->ctx, s, i, &e); i++)
		c->edge[c->nr_edges++] = e.start;
	qsort(c->edge, c->nr_edges, sizeof(*c->edge), order_u64);
}

/*
 * The next address above @pc where an FDE or an entry begins or ends, at most @end: what a
 * lookup finds can change only there.
 */
static u64 next_edge(struct check *c, u64 pc, u64 end)
{
	size_t low = 0, high;

	if (!c->edge)
		make_edges(c);
	high = c->nr_edges;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->edge[mid] <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->nr_edges && c->edge[low] < end ? c->edge[low] : end;
}

static enum oracle_answer ask_dw(struct check *c, const struct ehf_fde *fde, u64 pc, u64 insns)
{
	if (!c->dw) {
		snprintf(c->dw_row.why, sizeof(c->dw_row.why), "cannot open it: %s", c->dw_why);
		return ORACLE_FAILS;
	}
	if (!spend(c, insns)) {
		snprintf(c->dw_row.why, sizeof(c->dw_row.why),
			 "budget of %" PRIu64 " instructions used up, %s",
			 c->budget ? STATIC_FDE_BUDGET : STATIC_FILE_BUDGET,
			 c->budget ? "for this FDE" : "for this file");
		return ORACLE_FAILS;
	}
	return c->dw->row(c->dw, pc, fde, &c->dw_row);
}

/*
 * libdw once more at an FDE's last byte: that its last row does not hold as long as it says, or
 * that its lookup ends early, would show nowhere else. Only a disagreement counts.
 */
static void check_last(struct check *c, const struct static_fde *sf, const struct ehf_fde *fde,
		       const struct ehf_row *ours, u64 insns)
{
	u64 end = fde->range_end;
	enum oracle_answer answer;

	if (c->last != STATIC_EQUAL)
		return;
	answer = ask_dw(c, fde, end - 1, insns);
	if (answer == ORACLE_FAILS)
		return;
	if (answer == ORACLE_ROW && !oracle_compare(&c->ctx, c->img->arch, fde, ours, &c->dw_row))
		return;
	/* One byte of what was counted before is its own piece now. */
	c->r->bytes[c->last]--;
	judge(c, sf, fde, ours, end - 1, end, answer, insns);
}

static void plain_differs(struct check *c, const struct ehf_fde *fde, const struct ehf_row *ours,
			  const struct ehf_plain_row *is)
{
	c->plain.over = true;
	c->r->plain_differs++;
	if (c->sink->plain)
		c->sink->plain(c->sink->arg, c->img, fde, ours, is);
}

/* Has a pass look at one FDE, wherever the last one was. */
static void plain_begin(struct check *c, const struct ehf_fde *fde)
{
	struct plain_way *w = &c->plain;
	const struct ehf_fde *is = &w->pass.fde;
	enum ehf_stop stop;

	w->ctx.limits = c->ctx.limits;
	w->nr = 0;
	w->at = 0;
	w->over = false;
	w->pass.rec.next = fde->addr;
	if (!ehf_pass_next(&w->pass, &stop) || stop || is->addr != fde->addr ||
	    is->start != fde->start || is->range_end != fde->range_end || is->end != fde->end ||
	    is->insns != fde->insns || is->cie.addr != fde->cie.addr) {
		const struct ehf_row none = { .start = fde->start, .end = fde->range_end };

		plain_differs(c, fde, &none, NULL);
	}
}

/* The short way's next row has to be @ours, or be where it ends. */
static void plain_row(struct check *c, const struct ehf_fde *fde, const struct ehf_row *ours)
{
	struct plain_way *w = &c->plain;
	const struct ehf_plain_row *is;

	c->r->own_rows++;
	if (w->over)
		return;
	if (w->at == w->nr) {
		w->nr = ehf_pass_rows(&w->pass, w->row, EHF_ARRAY_SIZE(w->row));
		w->at = 0;
	}
	is = w->at < w->nr ? &w->row[w->at++] : NULL;
	if (!is || !plain_row_same(c->ctx.abi, is, ours))
		plain_differs(c, fde, ours, is);
	else if (is->row.word & EHF_PLAIN_STOP)
		w->over = true;
	else
		c->r->plain_rows++;
}

/* Nothing is left of it. */
static void plain_end(struct check *c, const struct ehf_fde *fde, const struct ehf_row *last)
{
	struct plain_way *w = &c->plain;

	if (w->over)
		return;
	if (w->at < w->nr || ehf_pass_rows(&w->pass, w->row, EHF_ARRAY_SIZE(w->row)))
		plain_differs(c, fde, last, &w->row[w->at < w->nr ? w->at : 0]);
}

/* Rows of one FDE, both sides, from its first address to its last. */
static void check_rows(struct check *c, const struct static_fde *sf, const struct ehf_fde *fde)
{
	struct ehf_fde scratch = { .cie = fde->cie };
	bool whole = owned_whole(c, sf, &scratch);
	struct ehf_row ours = { .end = fde->start };
	struct ehf_program p;
	u64 pc = fde->start;

	c->longest_expr = 0;
	plain_begin(c, fde);
	ehf_program_start(&p, &c->ctx, fde);
	while (pc < fde->range_end) {
		enum oracle_answer answer;
		enum owner owner = OWN;
		u64 end;

		if (pc >= ours.end) {
			if (!ehf_program_next(&p, &ours))
				break;
			look_for_oddities(c, &ours);
			plain_row(c, fde, &ours);
		}
		end = ours.end;
		if (!whole && spend(c, PIECE_COST)) {
			owner = lookup(c, fde->addr, pc, &scratch);
			end = next_edge(c, pc, end);
		}
		if (owner == OTHER || (owner == NOBODY && sf->flags & STATIC_FDE_OVERLAPS)) {
			count(c, STATIC_SHADOWED, end - pc);
			pc = end;
			continue;
		}
		answer = ask_dw(c, fde, pc, p.insns);
		if (answer == ORACLE_ROW && c->dw_row.end > pc && c->dw_row.end < end)
			end = c->dw_row.end;
		if (owner == NOBODY && answer == ORACLE_NONE)
			count(c, STATIC_BOTH_REFUSE, end - pc);
		else
			judge(c, sf, fde, &ours, pc, end, answer, p.insns);
		if (end == fde->range_end && end - pc > 1 && owner == OWN)
			check_last(c, sf, fde, &ours, p.insns);
		pc = end;
	}
	plain_end(c, fde, &ours);
}

/* Whether the limits of a walk could cut this FDE short; most need no second evaluation. */
static bool may_exceed_walk(const struct ehf_fde *fde, u64 insns, u32 expr)
{
	const struct ehf_limits *walk = &ehf_limits_walk, *file = &ehf_limits_file;

	return fde->end - fde->addr > walk->record_len ||
	       fde->cie.end - fde->cie.addr > walk->record_len || insns > walk->insns ||
	       walk->states < file->states || expr > walk->expr_len;
}

static void count_over_limit(struct check *c, const struct static_fde *sf,
			     const struct ehf_fde *fde)
{
	struct ehf_fde limited = { 0 };
	struct ehf_program file, walk;
	struct ehf_row a = { 0 }, b = { 0 };
	enum ehf_stop stop = ehf_fde_parse(&c->walk_ctx, &c->img->section, sf->addr, &limited);

	ehf_program_start(&file, &c->ctx, fde);
	if (!stop)
		ehf_program_start(&walk, &c->walk_ctx, &limited);
	while (ehf_program_next(&file, &a)) {
		if (!stop && !(ehf_program_next(&walk, &b) && b.start == a.start))
			break;
		if (!a.stop && (stop || ehf_stop_class(b.stop) == EHF_CLASS_OVER_LIMIT))
			c->r->over_limit_in_walk++;
		/* The walk's last row reaches to the end: it covers what the file's go on with. */
		if (!stop && ehf_stop_class(b.stop) == EHF_CLASS_OVER_LIMIT)
			stop = b.stop;
	}
}

/* An FDE that cannot be read has no range: it counts as one row without bytes. */
static void check_unreadable(struct check *c, const struct static_fde *sf)
{
	enum static_outcome outcome = refusal(sf->stop);
	struct ehf_fde fde = { .addr = sf->addr };

	c->r->stops[sf->stop]++;
	if (sf->flags & STATIC_FDE_TABLE && ask_dw(c, &fde, sf->start, 0) != ORACLE_ROW)
		outcome = STATIC_BOTH_REFUSE;
	count(c, outcome, 0);
}

static void check_fde(struct check *c, const struct static_fde *sf)
{
	struct ehf_fde fde = { .cie = c->cie };
	u64 before = c->cost.insns;

	c->fde_budget = STATIC_FDE_BUDGET;
	if (c->cost.insns > OWN_BUDGET)
		c->ctx.limits = &limits_after;
	if (sf->stop) {
		check_unreadable(c, sf);
		return;
	}
	/* It was read once; only a file that changes under us can make it unreadable now. */
	if (ehf_fde_parse_with(&c->ctx, &c->img->section, sf->addr, &c->cie, &fde))
		return;
	c->cie = fde.cie;
	check_rows(c, sf, &fde);
	if (c->ctx.limits == &ehf_limits_file &&
	    may_exceed_walk(&fde, c->cost.insns - before, c->longest_expr))
		count_over_limit(c, sf, &fde);
}

static void count_oddities(const struct image *img, const struct static_fdes *f, u64 *odd)
{
	const struct ehf_section *s = &img->section;

	odd[STATIC_ODD_HEADER] = !!img->hdr_stop;
	odd[STATIC_ODD_NO_TABLE] = !s->table;
	odd[STATIC_ODD_EMPTY_TABLE] = s->table && !s->nr_fdes && f->nr;
	if (s->table && s->nr_fdes)
		odd[STATIC_ODD_TABLE_MISSES] = f->table_misses;
	odd[STATIC_ODD_TERMINATOR] = f->nr_terminators;
	odd[STATIC_ODD_BAD_RECORD] = !!f->bad_stop;
	odd[STATIC_ODD_UNREADABLE] = f->unreadable;
	odd[STATIC_ODD_UNSORTED] = f->unsorted;
	odd[STATIC_ODD_WRONG_START] = f->wrong_start;
	odd[STATIC_ODD_SAME_START] = f->same_start;
	odd[STATIC_ODD_OVERLAPPING] = f->overlapping;
	odd[STATIC_ODD_ZERO_LENGTH] = f->zero_length;
	odd[STATIC_ODD_DEAD] = f->dead;
	odd[STATIC_ODD_SECTIONS] = img->nr_eh_frame > 1 ? img->nr_eh_frame : 0;
	odd[STATIC_ODD_DEBUG_FRAME] = img->has_debug_frame;
}

/* Bytes of @ranges that the FDEs, which are ordered by start, cover. */
static void count_coverage(const struct image *img, const struct static_fdes *f,
			   struct static_result *r)
{
	for (u32 k = 0; k < img->nr_exec; k++) {
		u64 pos = img->exec[k].addr, end = img->exec[k].end;

		r->exec_bytes += end - pos;
		for (size_t i = 0; i < f->nr && pos < end; i++) {
			u64 from = f->fde[i].start, to = f->fde[i].end;

			if (f->fde[i].stop || to <= pos || from >= end)
				continue;
			if (from < pos)
				from = pos;
			if (to > end)
				to = end;
			r->exec_covered += to - from;
			pos = to;
		}
	}
}

/**
 * check_static() - check all rows of an image
 * @img: the image
 * @fdes: its FDEs
 * @sink: who is told of single things
 * @r: counts; its status is left alone, the rest is filled in
 *
 * Each FDE is walked once by us. libdw is asked once for each piece of its range between
 * boundaries of either side, which are our rows' starts and the ends that libdw names; its
 * own starts are wrong behind a DW_CFA_restore_state.
 */
void check_static(struct image *img, const struct static_fdes *fdes, const struct static_sink *sink,
		  struct static_result *r)
{
	struct check *c = calloc(1, sizeof(*c));

	if (!c) {
		r->status = IMAGE_UNREADABLE;
		return;
	}
	c->img = img;
	c->fdes = fdes;
	c->sink = sink;
	c->r = r;
	c->budget = STATIC_FILE_BUDGET;
	c->ctx = image_ctx(img, &ehf_limits_file, &c->cost);
	c->walk_ctx = image_ctx(img, &ehf_limits_walk, &c->walk_cost);
	c->ctx.memo = &c->memo;
	c->ctx.generation = 1;
	c->walk_ctx.memo = &c->walk_memo;
	c->walk_ctx.generation = 1;
	c->plain.ctx = image_ctx(img, &ehf_limits_file, &c->plain.cost);
	ehf_pass_start(&c->plain.pass, &c->plain.ctx, &img->section);
	r->fdes = fdes->nr;
	count_oddities(img, fdes, r->odd);
	count_coverage(img, fdes, r);
	c->dw = oracle_dw_open(img, c->dw_why, sizeof(c->dw_why));
	if (fdes->bad_stop) {
		r->stops[fdes->bad_stop]++;
		count(c, STATIC_CORRUPT, 0);
	}
	for (size_t i = 0; i < fdes->nr; i++)
		check_fde(c, &fdes->fde[i]);
	for (u32 odd = 0; odd < STATIC_NR_ODDITIES; odd++)
		flush_range(c, odd);
	if (c->dw)
		c->dw->close(c->dw);
	if (c->third)
		c->third->close(c->third);
	r->changed = image_changed(img);
	free(c->edge);
	free(c);
}
