// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/stop.h: every reason has a name, a text and a class of its own, and every one that
 * ehframe/ can give is given here by the least input that has it.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/stop.h"

#define START	0x1000

/* A CIE of this kind and an FDE; one of them has these instructions. Looked up at its start. */
static enum ehf_stop run_both(struct b *b, const struct b_cie *o, const u8 *insns, u32 len,
			      bool in_cie)
{
	struct ehf_row row;
	u64 cie = b_cie(b, o);

	if (in_cie)
		b_bytes(b, insns, len);
	b_close(b);
	b_fde(b, cie, START, 0x40);
	if (!in_cie)
		b_bytes(b, insns, len);
	b_close(b);
	b_end(b);
	return ehf_row_find(&b->ctx, &b->s, START, &row);
}

/* One FDE with these instructions behind a plain CIE, looked up at @pc. */
static enum ehf_stop run(struct b *b, const u8 *insns, u32 len, u64 pc)
{
	struct ehf_row row;
	u64 cie = b_cie(b, &b_zr);

	b_put(b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	b_close(b);
	b_fde(b, cie, START, 0x40);
	b_bytes(b, insns, len);
	b_close(b);
	b_end(b);
	return ehf_row_find(&b->ctx, &b->s, pc, &row);
}

#define RUN(...) \
	run(b, (const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ }), START)

/* A CIE of this kind, and an FDE, looked up in it. */
static enum ehf_stop run_cie(struct b *b, const struct b_cie *o)
{
	struct ehf_fde fde;
	u64 cie = b_cie(b, o), addr;

	b_close(b);
	addr = b_fde(b, cie, START, 0x40);
	b_close(b);
	b_end(b);
	return ehf_fde_parse(&b->ctx, &b->s, addr, &fde);
}

static enum ehf_stop run_hdr(struct b *b, u8 version, u64 count, bool wrong_start)
{
	struct ehf_row row;
	enum ehf_stop stop;

	RUN(DW_CFA_nop);
	b->nr_fdes = 1;
	b->fdes[0].start += wrong_start;
	b_hdr(b, 0x1b, 0x03, 0x3b);
	b->buf[b->s.hdr - B_BASE] = version;
	b_poke(b, (u32)(b->s.hdr - B_BASE) + 8, count, 4);
	stop = ehf_section_init(&b->ctx, &b->s);
	return stop ? stop : ehf_row_find(&b->ctx, &b->s, START + 8, &row);
}

/* Each of these gives the reason that it is named after. */
static enum ehf_stop make(struct b *b, enum ehf_stop stop)
{
	struct b_cie o = b_zr;
	struct ehf_fde fde;

	switch (stop) {
	case EHF_STOP_NONE:
		return RUN(DW_CFA_nop);
	case EHF_STOP_NO_FDE:
		return run(b, NULL, 0, START + 0x40);
	case EHF_STOP_SECTION_MEMORY:
		b->fault_at = 1;
		return RUN(DW_CFA_nop);
	case EHF_STOP_OPCODE:
		return RUN(0x3f);
	case EHF_STOP_EXPRESSION:
		return RUN(DW_CFA_def_cfa_expression, 1, DW_OP_dup);
	case EHF_STOP_ENCODING:
		o.fde_enc = 0x9b;
		return run_cie(b, &o);
	case EHF_STOP_AUGMENTATION:
		o.aug = "R";
		return run_cie(b, &o);
	case EHF_STOP_CIE_VERSION:
		o.version = 2;
		return run_cie(b, &o);
	case EHF_STOP_ADDRESS_SIZE:
		o.version = 4;
		b_cie(b, &o);
		b_close(b);
		b->buf[12]++;
		return ehf_cie_parse(&b->ctx, &b->s, B_BASE, &fde.cie);
	case EHF_STOP_SP_RULE:
		return RUN(DW_CFA_expression, 7, 1, DW_OP_dup);
	case EHF_STOP_LIMIT_FDE_LENGTH:
		b->limits.record_len = 5;
		return run_cie(b, &o);
	case EHF_STOP_LIMIT_INSNS:
		b->limits.insns = 2;
		return RUN(DW_CFA_nop);
	case EHF_STOP_LIMIT_STATES:
		b->limits.states = 0;
		return RUN(DW_CFA_remember_state);
	case EHF_STOP_LIMIT_EXPRESSION:
		b->limits.expr_len = 1;
		return RUN(DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 8);
	case EHF_STOP_LIMIT_LEB:
		return RUN(DW_CFA_GNU_args_size, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			   0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0);
	case EHF_STOP_LIMIT_SCAN:
		b->limits.scan_records = 1;
		return RUN(DW_CFA_nop);
	case EHF_STOP_LOC_BACKWARDS:
		o.fde_enc = 0x03;
		return run_both(b, &o, (const u8[]){ DW_CFA_set_loc, 0, 0, 0, 0 }, 5, false);
	case EHF_STOP_RESTORE_EMPTY:
		return RUN(DW_CFA_restore_state);
	case EHF_STOP_REG_AFTER_EXPR:
		return RUN(DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 8, DW_CFA_def_cfa_offset,
			   8);
	case EHF_STOP_TRUNCATED:
		return RUN(DW_CFA_def_cfa, 7);
	case EHF_STOP_LEB_RANGE:
		return RUN(DW_CFA_GNU_args_size, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			   0xff, 0x7f);
	case EHF_STOP_OFFSET_RANGE:
		return RUN(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			   0x80, 0x01);
	case EHF_STOP_CFA_UNDEFINED:
		return run_both(b, &o, NULL, 0, false);
	case EHF_STOP_CIE_ADVANCES:
		return run_both(b, &o, (const u8[]){ DW_CFA_advance_loc | 1 }, 1, true);
	case EHF_STOP_FDE_RANGE:
		o.fde_enc = 0x04;
		b_cie(b, &o);
		b_close(b);
		b_fde(b, B_BASE, START, ~0ULL);
		b_close(b);
		return ehf_fde_parse(&b->ctx, &b->s, b->fdes[0].addr, &fde);
	case EHF_STOP_TABLE_MISMATCH:
		return run_hdr(b, 1, 1, true);
	case EHF_STOP_BAD_EXPRESSION:
		return RUN(DW_CFA_def_cfa_expression, 1, DW_OP_const2u, 0, 0);
	case EHF_STOP_BAD_HEADER:
		return run_hdr(b, 2, 1, false);
	case EHF_STOP_BAD_TABLE:
		return run_hdr(b, 1, 2, false);
	case EHF_STOP_BAD_RECORD_LENGTH:
		b_fixed(b, 100, 4);
		b->s.eh_frame_end = b_pos(b);
		return ehf_cie_parse(&b->ctx, &b->s, B_BASE, &fde.cie);
	case EHF_STOP_BAD_CIE_POINTER:
		b_fixed(b, 4, 4);
		b_fixed(b, 5, 4);
		b->s.eh_frame_end = b_pos(b);
		return ehf_fde_parse(&b->ctx, &b->s, B_BASE, &fde);
	case EHF_STOP_BAD_CIE:
		o.code_align = 0;
		return run_cie(b, &o);
	default:
		return EHF_NR_STOPS;
	}
}

/* Reasons that come from stepping, not from the format. */
static bool of_the_walk(enum ehf_stop stop)
{
	switch (stop) {
	case EHF_STOP_RA_UNDEFINED:
	case EHF_STOP_RA_ZERO:
	case EHF_STOP_END_MARKER:
	case EHF_STOP_PC_NOT_IN_MODULE:
	case EHF_STOP_MEMORY:
	case EHF_STOP_FP_UNKNOWN:
	case EHF_STOP_CFA_REG:
	case EHF_STOP_RA_REG:
	case EHF_STOP_SP_REG:
	case EHF_STOP_RA_NOT_SAVED:
	case EHF_STOP_REG_RULE:
	case EHF_STOP_SIGNAL_FRAME:
	case EHF_STOP_TRACE_FULL:
	case EHF_STOP_NO_PROGRESS:
	case EHF_STOP_CFA_BELOW_SP:
	case EHF_STOP_STACK_SWITCH:
	case EHF_STOP_MISALIGNED:
		return true;
	default:
		return false;
	}
}

FIXTURE(reason)
{
	struct b b;
};

FIXTURE_VARIANT(reason)
{
	enum ehf_stop stop;
};

#define X(sym, name, class, text) FIXTURE_VARIANT_ADD(reason, sym) { EHF_STOP_##sym };
EHF_STOPS(X)
#undef X

/* Given by ehframe/, or listed as the walk's: a new reason has to be put in one of them. */
TEST_F(reason, is_given)
{
	enum ehf_stop stop;

	b_init(&self->b, &ehu_arch_x86_64.abi);
	stop = make(&self->b, variant->stop);
	if (of_the_walk(variant->stop))
		EXPECT_EQ(EHF_NR_STOPS, stop);
	else
		EXPECT_STREQ(ehf_stop_name(variant->stop), ehf_stop_name(stop));
	EXPECT_FALSE(self->b.overflow);
	EXPECT_EQ(0, self->b.broken);
}

TEST_F(reason, is_described)
{
	const char *name = ehf_stop_name(variant->stop);
	enum ehf_stop_class cls = ehf_stop_class(variant->stop);

	EXPECT_TRUE(name[0]);
	for (const char *p = name; *p; p++)
		EXPECT_TRUE((*p >= 'a' && *p <= 'z') || *p == '-') TH_LOG("%s", name);
	EXPECT_TRUE(ehf_stop_text(variant->stop)[0]);
	EXPECT_EQ(variant->stop == EHF_STOP_NONE, cls == EHF_CLASS_NONE);
	for (u32 k = 0; k < EHF_NR_STOPS; k++)
		if (k != variant->stop)
			EXPECT_STRNE(name, ehf_stop_name(k));
}

TEST(numbers_that_are_no_reason)
{
	EXPECT_STREQ("?", ehf_stop_name(EHF_NR_STOPS));
	EXPECT_STREQ("?", ehf_stop_text((enum ehf_stop)-1));
	EXPECT_EQ(EHF_CLASS_NONE, ehf_stop_class(EHF_NR_STOPS));
	EXPECT_STREQ("?", ehf_class_name(EHF_NR_STOP_CLASSES));
	EXPECT_STREQ("corrupt", ehf_class_name(EHF_CLASS_CORRUPT));
}

/* Which classes the fixed names belong to; R2: only the section's own faults are corrupt. */
TEST(classes)
{
	static const struct { const char *name; enum ehf_stop_class cls; } want[] = {
		{ "ra-undefined", EHF_CLASS_COMPLETE }, { "ra-zero", EHF_CLASS_COMPLETE },
		{ "end-marker", EHF_CLASS_COMPLETE }, { "no-fde", EHF_CLASS_NOT_FOUND },
		{ "pc-not-in-module", EHF_CLASS_NOT_FOUND }, { "memory", EHF_CLASS_FAULT },
		{ "section-memory", EHF_CLASS_FAULT }, { "fp-unknown", EHF_CLASS_UNKNOWN_REG },
		{ "unsupported-opcode", EHF_CLASS_UNSUPPORTED },
		{ "unsupported-expression", EHF_CLASS_UNSUPPORTED },
		{ "trace-full", EHF_CLASS_OVER_LIMIT }, { "limit-instructions", EHF_CLASS_OVER_LIMIT },
		{ "no-progress", EHF_CLASS_POLICY }, { "misaligned", EHF_CLASS_POLICY },
		{ "location-backwards", EHF_CLASS_MALFORMED },
		{ "restore-on-empty", EHF_CLASS_MALFORMED },
		{ "truncated-operand", EHF_CLASS_MALFORMED }, { "bad-header", EHF_CLASS_CORRUPT },
		{ "bad-table", EHF_CLASS_CORRUPT }, { "bad-record-length", EHF_CLASS_CORRUPT },
		{ "bad-cie-pointer", EHF_CLASS_CORRUPT }, { "bad-cie", EHF_CLASS_CORRUPT },
	};
	u32 corrupt = 0;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(want); k++) {
		u32 stop = 0;

		while (stop < EHF_NR_STOPS && strcmp(want[k].name, ehf_stop_name(stop)))
			stop++;
		ASSERT_LT(stop, EHF_NR_STOPS) TH_LOG("%s", want[k].name);
		EXPECT_EQ(want[k].cls, ehf_stop_class(stop)) TH_LOG("%s", want[k].name);
	}
	for (u32 stop = 0; stop < EHF_NR_STOPS; stop++)
		corrupt += ehf_stop_class(stop) == EHF_CLASS_CORRUPT;
	EXPECT_EQ(5, corrupt);
}

TEST_HARNESS_MAIN
