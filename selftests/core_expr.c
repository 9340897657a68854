// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/expr.c: expressions are known by what they mean, in every spelling, and what is not
 * known is passed over in one piece.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "ehframe/expr.h"

FIXTURE(expr)
{
	struct b b;
	struct ehf_cursor c;
	struct ehf_cfa cfa;
	struct ehf_rule rule;
};

FIXTURE_VARIANT(expr)
{
	enum b_kind kind;
	bool big;
};

FIXTURE_VARIANT_ADD(expr, copy_le) { B_COPY, false };
FIXTURE_VARIANT_ADD(expr, copy_be) { B_COPY, true };
FIXTURE_VARIANT_ADD(expr, direct_le) { B_DIRECT, false };
FIXTURE_VARIANT_ADD(expr, crumbs_be) { B_CRUMBS, true };

FIXTURE_SETUP(expr)
{
	b_init(&self->b, &ehu_arch_x86_64.abi);
	self->b.abi.big_endian = variant->big;
	b_memory(&self->b, variant->kind);
}

FIXTURE_TEARDOWN(expr)
{
	EXPECT_EQ(0, self->b.broken);
	EXPECT_FALSE(self->b.overflow);
}

/* Starts a block; its bytes follow. */
static void block(struct b *b)
{
	b_cut(b, B_BASE);
	b_put(b, 0xee, 0xee, 0xee, 0xee);	/* a record's head */
	b_u8(b, 0);				/* the length */
}

/* Ends it and reads it. A byte follows that is no part of it. */
static void read_cfa(FIXTURE_DATA(expr) *self)
{
	struct b *b = &self->b;

	b->buf[4] = (u8)(b->len - 5);
	b_put(b, 0xee);
	ehf_open(&self->c, &b->ctx, B_BASE + 4, b_pos(b));
	memset(&self->cfa, 0xee, sizeof(self->cfa));
	ehf_expr_cfa(&self->c, B_BASE, false, &self->cfa);
	if (self->c.stop)
		return;
	EXPECT_EQ(b_pos(b) - 1, ehf_pos(&self->c));
	EXPECT_EQ(5, self->cfa.expr);
	EXPECT_EQ(b->len - 6, self->cfa.expr_len);
	EXPECT_EQ(0xee, ehf_u8(&self->c));
}

static void read_rule(FIXTURE_DATA(expr) *self, bool value)
{
	struct b *b = &self->b;

	b->buf[4] = (u8)(b->len - 5);
	b_put(b, 0xee);
	ehf_open(&self->c, &b->ctx, B_BASE + 4, b_pos(b));
	memset(&self->rule, 0xee, sizeof(self->rule));
	ehf_expr_rule(&self->c, B_BASE, true, value, &self->rule);
	b->len--;
	if (self->c.stop)
		return;
	EXPECT_EQ(b_pos(b), ehf_pos(&self->c));
	EXPECT_EQ(5 | EHF_EXPR_IN_CIE, self->rule.expr);
	EXPECT_EQ(b->len - 5, self->rule.expr_len);
}

/* Writes reg + off in spelling number @how; false when there are no more. */
static bool spell_reg(struct b *b, u8 reg, s64 off, u32 how)
{
	static const u8 code[] = { DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s,
				   DW_OP_const4u, DW_OP_const4s, DW_OP_const8u, DW_OP_const8s };
	u64 size = off < 0 ? -(u64)off : (u64)off;

	if (how == 0) {
		b_u8(b, (u8)(DW_OP_breg0 + reg));
		b_sleb(b, off);
	} else if (how == 1) {
		b_put(b, DW_OP_bregx, reg);
		b_sleb(b, off);
	} else if (how == 2) {
		b_u8(b, DW_OP_bregx);
		b_uleb_pad(b, reg, 5);
		b_sleb_pad(b, off, 7);
	} else if (how == 3) {		/* a sum of two */
		b_u8(b, (u8)(DW_OP_breg0 + reg));
		b_sleb(b, off - 100);
		b_put(b, DW_OP_plus_uconst, 60, DW_OP_nop, DW_OP_plus_uconst, 40);
	} else if (how == 4) {		/* subtracted */
		b_u8(b, (u8)(DW_OP_breg0 + reg));
		b_sleb(b, off + 20);
		b_put(b, DW_OP_lit0 + 20, DW_OP_nop, DW_OP_minus);
	} else if (how == 5 || how == 6) {
		b_put(b, DW_OP_nop, (u8)(DW_OP_breg0 + reg), 0,
		      how == 5 ? DW_OP_constu : DW_OP_consts);
		if (how == 5)
			b_uleb(b, size);
		else
			b_sleb(b, off);
		b_u8(b, how == 5 && off < 0 ? DW_OP_minus : DW_OP_plus);
	} else if (how <= 14) {		/* a constant of 1, 2, 4, 8 bytes */
		bool sign = (how - 7) & 1;

		b_put(b, (u8)(DW_OP_breg0 + reg), 0, code[how - 7]);
		b_fixed(b, sign ? (u64)off : size, 1U << (how - 7) / 2);
		b_u8(b, !sign && off < 0 ? DW_OP_minus : DW_OP_plus);
	} else if (how == 15) {		/* the constant first */
		b_put(b, DW_OP_const1s, (u8)(s8)off, (u8)(DW_OP_breg0 + reg), 0, DW_OP_plus);
	} else {
		return false;
	}
	return true;
}

static const s64 offsets[] = { 0, 8, 16, 31, 63, 64, 120, -1, -8, -40, -64, -65, -120 };

/* R17 */
TEST_F(expr, cfa_value_in_every_spelling)
{
	struct b *b = &self->b;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(offsets); k++) {
		for (u32 how = 0;; how++) {
			block(b);
			if (!spell_reg(b, 7, offsets[k], how))
				break;
			read_cfa(self);
			EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
			EXPECT_EQ(EHF_CFA_VAL_EXPR, self->cfa.kind) TH_LOG("spelling %u", how);
			EXPECT_EQ(7, self->cfa.reg);
			EXPECT_EQ(offsets[k], self->cfa.off) TH_LOG("spelling %u", how);
			EXPECT_EQ(0, self->cfa.add);
		}
	}
}

TEST_F(expr, cfa_loaded_in_every_spelling)
{
	struct b *b = &self->b;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(offsets); k++) {
		for (u32 how = 0;; how++) {
			for (u32 end = 0; end < 8; end++) {
				s64 add = end < 2 ? 0 : end == 6 ? -3 : 56;

				block(b);
				if (!spell_reg(b, 6, offsets[k], how))
					goto next;
				if (end & 1)
					b_put(b, DW_OP_deref_size, 8);
				else
					b_put(b, DW_OP_deref);
				if (end == 2 || end == 3)
					b_put(b, DW_OP_plus_uconst, 56);
				else if (end == 4)
					b_put(b, DW_OP_const1u, 56, DW_OP_plus);
				else if (end == 5)
					b_put(b, DW_OP_lit0 + 26, DW_OP_plus, DW_OP_plus_uconst, 30);
				else if (end == 6)
					b_put(b, DW_OP_lit0 + 3, DW_OP_minus);
				else if (end == 7)
					b_put(b, DW_OP_const1s, 0xc8, DW_OP_minus);
				read_cfa(self);
				EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
				EXPECT_EQ(EHF_CFA_AT_REG, self->cfa.kind) {
					TH_LOG("spelling %u, end %u", how, end);
				}
				EXPECT_EQ(6, self->cfa.reg);
				EXPECT_EQ(offsets[k], self->cfa.off);
				EXPECT_EQ(add, self->cfa.add) TH_LOG("end %u", end);
			}
		}
next:;
	}
}

TEST_F(expr, rules_in_every_spelling)
{
	struct b *b = &self->b;

	for (u32 k = 0; k < 2 * EHF_ARRAY_SIZE(offsets); k++) {
		bool value = k & 1;
		s64 off = offsets[k / 2];

		for (u32 how = 0;; how++) {
			block(b);
			if (!spell_reg(b, 6, off, how))
				break;
			read_rule(self, value);
			EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
			EXPECT_EQ(value ? EHF_RULE_VAL_REG : EHF_RULE_AT_REG, self->rule.kind);
			EXPECT_EQ(6, self->rule.reg);
			EXPECT_EQ(off, self->rule.off) TH_LOG("spelling %u", how);
		}
	}
}

/* A register's expression starts with the CFA on the stack: DWARF 5, 6.4.2.3. */
TEST_F(expr, rules_by_cfa)
{
	struct b *b = &self->b;

	for (u32 k = 0; k < 10; k++) {
		s64 want = k < 4 ? 0 : k < 8 ? 24 : -24;

		block(b);
		if (k == 2 || k == 3)
			b_put(b, DW_OP_nop, DW_OP_nop);
		else if (k == 4 || k == 5)
			b_put(b, DW_OP_plus_uconst, 24);
		else if (k == 6 || k == 7)
			b_put(b, DW_OP_lit0 + 20, DW_OP_plus, DW_OP_nop, DW_OP_plus_uconst, 4);
		else if (k >= 8)
			b_put(b, DW_OP_const1u, 24, DW_OP_minus);
		read_rule(self, k & 1);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(k & 1 ? EHF_RULE_VAL_CFA : EHF_RULE_AT_CFA, self->rule.kind);
		EXPECT_EQ(want, self->rule.off);
		EXPECT_EQ(0, self->rule.reg);
	}
}

/* Legal, but not a pattern: the rule stops, the program goes on. */
static void unknown(struct b *b, u32 k)
{
	switch (k) {
	case 0:	/* two loads */
		b_put(b, DW_OP_breg0 + 7, 8, DW_OP_deref, DW_OP_deref);
		break;
	case 1:	/* a constant alone */
		b_put(b, DW_OP_lit0);
		break;
	case 2:	/* two registers */
		b_put(b, DW_OP_breg0 + 7, 0, DW_OP_breg0 + 6, 0, DW_OP_plus);
		break;
	case 3:	/* too long for any pattern */
		b_put(b, DW_OP_breg0 + 7, 8);
		for (u32 n = 0; n < 20; n++)
			b_put(b, DW_OP_dup, DW_OP_drop);
		break;
	case 4:	/* a location, not a value */
		b_put(b, DW_OP_reg0 + 7);
		break;
	case 5:	/* an operation of unknown length: the block's length passes over it */
		b_put(b, DW_OP_breg0 + 7, 8, 0xe0, 1, 2, 3, 4, 5, 6);
		break;
	case 6:	/* the sum leaves 64 bits */
		b_put(b, DW_OP_breg0 + 7);
		b_sleb(b, INT64_MAX);
		b_put(b, DW_OP_plus_uconst, 1);
		break;
	case 7:	/* so does this difference */
		b_put(b, DW_OP_breg0 + 7, 0, DW_OP_const8s);
		b_fixed(b, 1ULL << 63, 8);
		b_put(b, DW_OP_minus);
		break;
	case 8:	/* not the size of an address */
		b_put(b, DW_OP_breg0 + 7, 0, DW_OP_deref_size, 4, DW_OP_deref);
		break;
	case 9:	/* a jump */
		b_put(b, DW_OP_skip, 0, 0, DW_OP_breg0 + 7, 8);
		break;
	case 10: /* nothing to add to but itself */
		b_put(b, DW_OP_breg0 + 7, 8, DW_OP_plus, DW_OP_plus);
		break;
	case 11: /* DW_OP_call_frame_cfa has no meaning here */
		b_put(b, 0x9c);
		break;
	default:
		b->overflow = true;
		break;
	}
}

TEST_F(expr, unknown_patterns)
{
	for (u32 k = 0; k < 12; k++) {
		block(&self->b);
		unknown(&self->b, k);
		read_cfa(self);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop) TH_LOG("number %u", k);
		EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind) TH_LOG("number %u", k);
		EXPECT_EQ(EHF_STOP_EXPRESSION, self->cfa.reg) TH_LOG("number %u", k);
		for (u32 value = 0; value < 2; value++) {
			block(&self->b);
			unknown(&self->b, k);
			read_rule(self, value);
			EXPECT_EQ(EHF_STOP_NONE, self->c.stop) TH_LOG("number %u", k);
			EXPECT_EQ(EHF_RULE_STOP, self->rule.kind) TH_LOG("number %u", k);
			EXPECT_EQ(EHF_STOP_EXPRESSION, self->rule.reg) TH_LOG("number %u", k);
		}
	}
	block(&self->b);	/* a rule that loads from where it is saved */
	b_put(&self->b, DW_OP_breg0 + 7, 8, DW_OP_deref);
	read_rule(self, false);
	EXPECT_EQ(EHF_RULE_STOP, self->rule.kind);
}

/* R4 */
TEST_F(expr, register_numbers_are_not_cut)
{
	static const u64 regs[] = { 65535, 65536, 65536 + 7, (1ULL << 32) + 7, ~0ULL };

	for (u32 k = 0; k < EHF_ARRAY_SIZE(regs); k++) {
		block(&self->b);
		b_u8(&self->b, DW_OP_bregx);
		b_uleb(&self->b, regs[k]);
		b_u8(&self->b, 8);
		read_cfa(self);
		EXPECT_EQ(EHF_CFA_VAL_EXPR, self->cfa.kind);
		EXPECT_EQ(EHF_REG_OTHER, self->cfa.reg);
	}
}

TEST_F(expr, length_limit)
{
	for (u32 len = self->b.limits.expr_len - 1; len <= self->b.limits.expr_len + 1; len++) {
		bool over = len > self->b.limits.expr_len;

		block(&self->b);
		b_put(&self->b, DW_OP_breg0 + 7, 8);
		while (self->b.len < 5 + len)
			b_u8(&self->b, DW_OP_nop);
		if (!over) {
			read_cfa(self);
			EXPECT_EQ(EHF_CFA_VAL_EXPR, self->cfa.kind);
			continue;
		}
		self->b.buf[4] = (u8)len;
		b_put(&self->b, 0xee);
		ehf_open(&self->c, &self->b.ctx, B_BASE + 4, b_pos(&self->b));
		ehf_expr_cfa(&self->c, B_BASE, false, &self->cfa);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(b_pos(&self->b) - 1, ehf_pos(&self->c));
		EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind);
		EXPECT_EQ(EHF_STOP_LIMIT_EXPRESSION, self->cfa.reg);
		ehf_open(&self->c, &self->b.ctx, B_BASE + 4, b_pos(&self->b));
		ehf_expr_rule(&self->c, B_BASE, false, false, &self->rule);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(EHF_RULE_STOP, self->rule.kind);
		EXPECT_EQ(EHF_STOP_LIMIT_EXPRESSION, self->rule.reg);
	}
}

/* No limit allows more than a rule can name, and no length reads out of the record. */
TEST_F(expr, long_blocks)
{
	static const u64 lens[] = { 255, 256, 1000, 1001, 1ULL << 32, 1ULL << 63, ~0ULL };

	self->b.limits.expr_len = ~0U;
	for (u32 k = 0; k < EHF_ARRAY_SIZE(lens); k++) {
		u64 body;

		b_cut(&self->b, B_BASE);
		b_uleb(&self->b, lens[k]);
		body = b_pos(&self->b);
		b_put(&self->b, DW_OP_breg0 + 7, 8);
		for (u32 n = 2; n < 1000; n++)
			b_u8(&self->b, DW_OP_nop);
		ehf_open(&self->c, &self->b.ctx, B_BASE, b_pos(&self->b));
		ehf_expr_cfa(&self->c, B_BASE, false, &self->cfa);
		if (lens[k] > 1000) {
			EXPECT_EQ(EHF_STOP_TRUNCATED, self->c.stop);
			continue;
		}
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(body + lens[k], ehf_pos(&self->c));
		EXPECT_EQ(lens[k] == 255 ? EHF_CFA_VAL_EXPR : EHF_CFA_STOP, self->cfa.kind);
	}
}

TEST_F(expr, empty_cfa)
{
	block(&self->b);
	read_cfa(self);
	EXPECT_EQ(EHF_STOP_BAD_EXPRESSION, self->c.stop);
}

/* Operand bytes of each operation, from DWARF 5, table 7.9; L a LEB128, - no such operation. */
static const char *width(u32 op)
{
	static const char *const of[256] = {
		[0x03] = "8", [0x08] = "1", "1", "2", "2", "4", "4", "8", "8", "L", "L",
		[0x15] = "1", [0x23] = "L", [0x28] = "2", [0x2f] = "2", [0x90] = "L",
		[0x92] = "LL", [0x94] = "1",
	};

	if (of[op])
		return of[op];
	if (op >= 0x70 && op <= 0x8f)
		return "L";
	if (op == 0x06 || (op >= 0x12 && op <= 0x6f) || op == 0x96)
		return "";
	return "-";
}

TEST_F(expr, every_operation)
{
	struct b *b = &self->b;

	for (u32 op = 0; op < 256; op++) {
		const char *p = width(op);
		struct ehf_raw_op raw;
		u8 whole[16];

		b_cut(b, B_BASE);
		b_u8(b, (u8)op);
		for (; *p && *p != '-'; p++) {
			if (*p == 'L')
				b_put(b, 0x85, 0x80, 0x00);
			else
				b_fixed(b, 5, (u32)(*p - '0'));
		}
		b_put(b, 0xee);
		ehf_open(&self->c, &b->ctx, B_BASE, b_pos(b));
		if (*p == '-') {
			EXPECT_FALSE(ehf_raw_op_read(&self->c, &raw)) TH_LOG("0x%x", op);
			continue;
		}
		EXPECT_TRUE(ehf_raw_op_read(&self->c, &raw)) TH_LOG("0x%x", op);
		EXPECT_EQ(EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(b_pos(b) - 1, ehf_pos(&self->c)) TH_LOG("0x%x", op);
		EXPECT_EQ(op, raw.code);
		if (op >= 0x70 && op <= 0x8f) {
			EXPECT_EQ(op - 0x70, raw.arg);
			EXPECT_EQ(5, raw.off);
		} else if (b->len > 2) {
			EXPECT_EQ(5, raw.arg) TH_LOG("0x%x", op);
		}
		/* In a block that ends inside it, it is a malformed expression. */
		memcpy(whole, b->buf, sizeof(whole));
		for (u32 cut = 1; cut < b->len - 1; cut++) {
			memcpy(b->buf + 1, whole, cut);
			b->buf[0] = (u8)cut;
			ehf_open(&self->c, &b->ctx, B_BASE, b_pos(b));
			ehf_expr_rule(&self->c, B_BASE, false, false, &self->rule);
			EXPECT_EQ(EHF_STOP_BAD_EXPRESSION, self->c.stop) {
				TH_LOG("0x%x cut to %u bytes", op, cut);
			}
			ehf_open(&self->c, &b->ctx, B_BASE, b_pos(b));
			ehf_expr_cfa(&self->c, B_BASE, false, &self->cfa);
			EXPECT_EQ(EHF_STOP_BAD_EXPRESSION, self->c.stop);
		}
	}
}

/* An operand that is no number is the program's fault, not a pattern that is missing. */
TEST_F(expr, operand_out_of_range)
{
	block(&self->b);
	b_put(&self->b, DW_OP_plus_uconst, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2);
	read_rule(self, false);
	EXPECT_EQ(EHF_STOP_BAD_EXPRESSION, self->c.stop);
}

TEST_F(expr, any_read_may_fault)
{
	struct b *b = &self->b;
	u32 reads = 0;

	block(b);
	b_put(b, DW_OP_breg0 + 7, 8, DW_OP_deref);
	while (b->len < 5 + 60)
		b_u8(b, DW_OP_nop);
	b->buf[4] = 60;
	for (u32 n = 0; n < 2 || n <= reads; n++) {
		b_memory(b, variant->kind);
		b->fault_at = n;
		ehf_open(&self->c, &b->ctx, B_BASE + 4, b_pos(b));
		ehf_expr_cfa(&self->c, B_BASE, false, &self->cfa);
		if (!n)
			reads = b->reads;
		EXPECT_EQ(n ? EHF_STOP_SECTION_MEMORY : EHF_STOP_NONE, self->c.stop);
		EXPECT_EQ(n ? EHF_CFA_STOP : EHF_CFA_AT_REG, self->cfa.kind);
	}
}

TEST_HARNESS_MAIN
