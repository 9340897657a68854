// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Puts our trace and an oracle's side by side and says which of six things happened.
 */
#include "harness/compare.h"

static const char *const outcome_names[] = {
#define X(sym, name, text) name,
	COMPARE_OUTCOMES(X)
#undef X
};

static const char *const fault_names[] = {
#define X(sym, name) name,
	COMPARE_FAULTS(X)
#undef X
};

/* The frames before the first that the oracle reached by something else than .eh_frame. */
static u32 cut_guesses(const struct compare_oracle *oracle, struct compare_result *result)
{
	u32 k;

	for (k = 0; k < oracle->nr; k++) {
		u8 via = oracle->frame[k].via;

		if (via == COMPARE_VIA_DEBUG_FRAME || via == COMPARE_VIA_GUESS) {
			result->cut = oracle->nr - k;
			result->cut_via = via;
			return k;
		}
	}
	return oracle->nr;
}

static enum compare_field differs(const struct ehu_entry *a, const struct compare_frame *b,
				  u64 fp_lost)
{
	if (a->ip != b->pc)
		return COMPARE_PC;
	if (b->sp_known && a->sp != b->sp)
		return COMPARE_SP;
	if (a->flags & EHU_ENTRY_FP_KNOWN && b->fp_known && (a->fp ^ b->fp) & ~fp_lost)
		return COMPARE_FP;
	return COMPARE_NOTHING;
}

/* Stops that are ours by choice: what the oracle can follow there, we said that we do not. */
static bool explains_shorter(enum ehf_stop stop)
{
	switch (ehf_stop_class(stop)) {
	case EHF_CLASS_UNSUPPORTED:
	case EHF_CLASS_OVER_LIMIT:
	case EHF_CLASS_POLICY:
	case EHF_CLASS_UNKNOWN_REG:
	case EHF_CLASS_MALFORMED:
		return true;
	default:
		return false;
	}
}

/**
 * compare_traces() - compare two traces of one stack
 * @ours: our trace, after a walk
 * @oracle: the oracle's
 * @result: filled in
 *
 * The oracle's trace is cut before its first frame that it did not reach by .eh_frame, and at
 * our depth. Ours-shorter is explained by the class of our stop, ours-longer only by a proved
 * fault of the oracle. An oracle's trace without frames, or ours without, is untestable.
 */
void compare_traces(const struct ehu_trace *ours, const struct compare_oracle *oracle,
		    struct compare_result *result)
{
	u32 k, nr;

	*result = (struct compare_result){ .outcome = COMPARE_UNTESTABLE };
	nr = cut_guesses(oracle, result);
	/* Where our array is full, what the oracle found behind it says nothing. */
	if (ours->stop == EHF_STOP_TRACE_FULL && nr > ours->nr)
		nr = ours->nr;
	result->nr_oracle = nr;
	if (!ours->nr || !nr)
		return;

	for (k = 0; k < ours->nr && k < nr; k++) {
		result->field = differs(&ours->entry[k], &oracle->frame[k], oracle->fp_lost);
		if (result->field) {
			result->outcome = COMPARE_DIFFERENT;
			result->at = k;
			return;
		}
	}
	result->at = k;
	if (ours->nr < nr) {
		result->outcome = COMPARE_OURS_SHORTER;
		result->explained = explains_shorter(ours->stop);
	} else if (ours->nr > nr) {
		result->outcome = COMPARE_OURS_LONGER;
		/* A full array on the oracle's side is its limit, not the end of its stack. */
		result->explained = oracle->fault || (oracle->full && nr == oracle->nr);
		if (oracle->fault == COMPARE_FAULT_SIGNED_RA && ours->entry[nr].ip != oracle->next_pc)
			result->explained = false;
	} else if (k == 1 && ehf_stop_class(ours->stop) != EHF_CLASS_COMPLETE) {
		result->outcome = COMPARE_NEITHER;
	} else {
		result->outcome = COMPARE_EQUAL;
	}
}

/**
 * compare_chain() - compare a trace with the pcs that another unwinder found
 * @ours: our trace
 * @pcs: topmost first, return addresses as they are
 * @nr: how many
 * @result: filled in
 *
 * A chain that ends before ours is a failure where ours reaches the end of the stack: whoever
 * made the chain could go on to the end. One that goes on is one unless our stop has a reason of
 * its own, as for compare_traces(), or the memory is not there (the copied stack ends).
 */
void compare_chain(const struct ehu_trace *ours, const u64 *pcs, u32 nr,
		   struct compare_chain *result)
{
	bool complete = ehf_stop_class(ours->stop) == EHF_CLASS_COMPLETE;
	u32 k;

	*result = (struct compare_chain){ 0 };
	for (k = 0; k < ours->nr && k < nr; k++) {
		if (ours->entry[k].ip != pcs[k])
			break;
	}
	result->at = k;
	if (k < ours->nr && k < nr)
		result->failed = true;
	else if (ours->nr > nr)
		result->failed = complete;
	else if (ours->nr < nr)
		result->failed = !explains_shorter(ours->stop) && ours->stop != EHF_STOP_MEMORY &&
				 ours->stop != EHF_STOP_TRACE_FULL;
	else
		result->equal = true;
}

/**
 * compare_failed() - does a result count as a failure
 * @result: of compare_traces()
 *
 * Return: true for a different trace and for an unexplained shorter or longer one.
 */
bool compare_failed(const struct compare_result *result)
{
	switch (result->outcome) {
	case COMPARE_DIFFERENT:
		return true;
	case COMPARE_OURS_SHORTER:
	case COMPARE_OURS_LONGER:
		return !result->explained;
	default:
		return false;
	}
}

static bool same_entry(const struct ehu_entry *a, const struct ehu_entry *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->via == b->via &&
	       (a->flags & EHU_ENTRY_EXACT) == (b->flags & EHU_ENTRY_EXACT);
}

/* @some has the frames of @whole from the top on; a frame pointer may be lost, not changed. */
static bool is_prefix(const struct ehu_trace *whole, const struct ehu_trace *some, u32 *at)
{
	for (*at = 0; *at < some->nr; ++*at) {
		const struct ehu_entry *b = &some->entry[*at];

		if (*at >= whole->nr || !same_entry(&whole->entry[*at], b))
			return false;
		if (!(b->flags & EHU_ENTRY_FP_KNOWN))
			continue;
		if (!(whole->entry[*at].flags & EHU_ENTRY_FP_KNOWN) ||
		    whole->entry[*at].fp != b->fp)
			return false;
	}
	return true;
}

/**
 * compare_same() - are two traces of ours the same
 * @a: one
 * @b: the other
 * @at: set to the first frame that differs, or to their number
 *
 * Return: whether frames, what is known of them, and the stop are the same.
 */
bool compare_same(const struct ehu_trace *a, const struct ehu_trace *b, u32 *at)
{
	for (*at = 0; *at < a->nr && *at < b->nr; ++*at) {
		const struct ehu_entry *x = &a->entry[*at], *y = &b->entry[*at];

		if (!same_entry(x, y) || x->flags != y->flags || x->fp != y->fp)
			return false;
	}
	return a->nr == b->nr && a->stop == b->stop;
}

/**
 * compare_faulted() - is a trace with a failing read a prefix of the one without
 * @whole: the trace without
 * @faulted: the same stack walked again while one read failed, or with less of its bytes
 * @at: set to the first frame that contradicts
 *
 * Where the value was not needed the whole trace is right, with the same stop. A shorter one
 * ends by a stop of class fault or unknown-register.
 *
 * Return: whether it is.
 */
bool compare_faulted(const struct ehu_trace *whole, const struct ehu_trace *faulted, u32 *at)
{
	enum ehf_stop_class cls = ehf_stop_class(faulted->stop);

	if (!is_prefix(whole, faulted, at))
		return false;
	if (faulted->nr == whole->nr && faulted->stop == whole->stop)
		return true;
	return cls == EHF_CLASS_FAULT || cls == EHF_CLASS_UNKNOWN_REG;
}

/**
 * compare_outcome_name() - the name of an outcome in reports
 * @outcome: any value
 *
 * Return: a constant string.
 */
const char *compare_outcome_name(enum compare_outcome outcome)
{
	return (unsigned int)outcome < COMPARE_NR_OUTCOMES ? outcome_names[outcome] : "?";
}

/**
 * compare_fault_name() - the name of a fault of libdw in reports
 * @fault: any value
 *
 * Return: a constant string.
 */
const char *compare_fault_name(enum compare_fault fault)
{
	return (unsigned int)fault < COMPARE_NR_FAULTS ? fault_names[fault] : "?";
}

/**
 * compare_field_name() - the name of what differs
 * @field: any value
 *
 * Return: a constant string.
 */
const char *compare_field_name(enum compare_field field)
{
	static const char *const names[] = { "nothing", "pc", "sp", "fp" };

	return (unsigned int)field < EHF_ARRAY_SIZE(names) ? names[field] : "?";
}

/**
 * compare_via_name() - how an oracle reached a frame
 * @via: any value
 *
 * Return: a constant string.
 */
const char *compare_via_name(enum compare_via via)
{
	static const char *const names[] = { "regs", "eh-frame", "debug-frame", "guess",
					     "signal-code" };

	return (unsigned int)via < EHF_ARRAY_SIZE(names) ? names[via] : "?";
}
