// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ehframe/program.c: what each call frame instruction does to the rows, and where a program stops.
 */
#include "selftests/lib/program.h"

TEST_F(program, no_instructions)
{
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(START, self->row[0].start);
	EXPECT_EQ(START + RANGE, self->row[0].end);
	EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
	EXPECT_EQ(0, self->row[0].flags);
	EXPECT_EQ(16, self->row[0].ra_reg);
	EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 8);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_AT_CFA, 0, -8);
	EXPECT_RULE(self->row[0], EHF_FP, EHF_RULE_UNSPEC, 0, 0);
	EXPECT_RULE(self->row[0], EHF_SP, EHF_RULE_UNSPEC, 0, 0);
	EXPECT_EQ(2, self->insns);
}

/* Every way to move, each by 3 units of 1, 2 or 300 bytes. */
TEST_F(program, advances)
{
	static const u64 aligns[] = { 1, 2, 300 };

	for (u32 k = 0; k < 6 * 3; k++) {
		struct b_cie o = b_zr;
		u64 by = 3 * aligns[k / 6];

		o.code_align = aligns[k / 6];
		begin_cie(self, &o);
		b_put(&self->b, DW_CFA_def_cfa, 7, 8);
		begin_fde(self);
		b_put(&self->b, DW_CFA_nop);
		switch (k % 6) {
		case 0:
			b_put(&self->b, DW_CFA_advance_loc | 3);
			break;
		case 1:
			b_put(&self->b, DW_CFA_advance_loc1, 3);
			break;
		case 2:
			b_put(&self->b, DW_CFA_advance_loc2);
			b_fixed(&self->b, 3, 2);
			break;
		case 3:
			b_put(&self->b, DW_CFA_advance_loc4);
			b_fixed(&self->b, 3, 4);
			break;
		case 4:
			b_put(&self->b, DW_CFA_MIPS_advance_loc8);
			b_fixed(&self->b, 3, 8);
			break;
		default:	/* an address: no factor */
			b_put(&self->b, DW_CFA_set_loc);
			b_ptr(&self->b, 0x1b, START + by, 0);
			break;
		}
		b_put(&self->b, DW_CFA_def_cfa_offset, 16);
		rows(self);
		if (by >= RANGE) {	/* what is past the end is never reached */
			ASSERT_EQ(1, self->nr);
			EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 8);
			continue;
		}
		ASSERT_EQ(2, self->nr) TH_LOG("way %u", k);
		EXPECT_EQ(START + by, self->row[1].start) TH_LOG("way %u", k);
		EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 8);
		EXPECT_CFA(self->row[1], EHF_CFA_REG, 7, 16);
	}
}

/* Of several rows at one address the last counts, and none is empty. */
TEST_F(program, rows_do_not_repeat_an_address)
{
	b_put(&self->b, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc, DW_CFA_def_cfa_offset, 24,
	      DW_CFA_advance_loc | 1, DW_CFA_advance_loc1, 0, DW_CFA_def_cfa_offset, 32,
	      DW_CFA_advance_loc | 1, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 40);
	rows(self);
	ASSERT_EQ(4, self->nr);
	EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 24);
	EXPECT_CFA(self->row[1], EHF_CFA_REG, 7, 32);
	EXPECT_CFA(self->row[2], EHF_CFA_REG, 7, 32);
	EXPECT_CFA(self->row[3], EHF_CFA_REG, 7, 40);
	EXPECT_EQ(START + 3, self->row[3].start);
}

/* A location as far away as can be said is past the end, not somewhere before it. */
TEST_F(program, advance_does_not_wrap)
{
	struct b_cie o = b_zr;

	o.code_align = ~0ULL;
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 2, DW_CFA_undefined, 16);
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(0, self->row[0].flags);

	begin(self);
	b_put(&self->b, DW_CFA_MIPS_advance_loc8);
	b_fixed(&self->b, ~0ULL - START + 1, 8);
	b_put(&self->b, DW_CFA_undefined, 16);
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(0, self->row[0].flags);
}

/* One register rule; @reg in the form that the opcode takes. */
static void put_rule(struct b *b, u32 k, u64 reg)
{
	static const u8 op[] = {
		DW_CFA_offset, DW_CFA_offset_extended, DW_CFA_offset_extended_sf,
		DW_CFA_GNU_negative_offset_extended, DW_CFA_val_offset, DW_CFA_val_offset_sf,
		DW_CFA_undefined, DW_CFA_same_value, DW_CFA_register, DW_CFA_expression,
		DW_CFA_val_expression,
	};

	if (op[k] == DW_CFA_offset) {
		b_u8(b, (u8)(DW_CFA_offset | (reg & 0x3f)));
	} else {
		b_u8(b, op[k]);
		b_uleb(b, reg);
	}
	if (k < 2 || k == 4)
		b_uleb(b, 300);
	else if (k == 3)
		b_uleb(b, 3);
	else if (k == 2 || k == 5)
		b_sleb(b, -3);
	else if (k == 8)
		b_uleb(b, 5);
	else if (k > 8)
		b_put(b, 2, DW_OP_breg0 + 6, 0x70);
}

static const struct { u8 kind; u16 reg; s64 off; } rules[] = {
	{ EHF_RULE_AT_CFA, 0, -2400 }, { EHF_RULE_AT_CFA, 0, -2400 }, { EHF_RULE_AT_CFA, 0, 24 },
	{ EHF_RULE_AT_CFA, 0, 24 }, { EHF_RULE_VAL_CFA, 0, -2400 }, { EHF_RULE_VAL_CFA, 0, 24 },
	{ EHF_RULE_UNDEF, 0, 0 }, { EHF_RULE_SAME, 0, 0 }, { EHF_RULE_REG, 5, 0 },
	{ EHF_RULE_AT_REG, 6, -16 }, { EHF_RULE_VAL_REG, 6, -16 },
};

/* Each rule for each register that is followed, and for one that is not. R4 with the others. */
TEST_F(program, register_rules)
{
	static const u64 regs[] = { 6, 16, 7, 3, (1ULL << 32) + 6, (1ULL << 63) + 16, 65535, ~0ULL };
	static const int which[] = { EHF_FP, EHF_RA, EHF_SP, -1, -1, -1, -1, -1 };

	for (u32 k = 0; k < EHF_ARRAY_SIZE(rules); k++) {
		for (u32 r = 0; r < EHF_ARRAY_SIZE(regs); r++) {
			if (!k && regs[r] > 63)
				continue;
			begin(self);
			put_rule(&self->b, k, regs[r]);
			rows(self);
			ASSERT_EQ(1, self->nr);
			EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
			EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 8);
			for (int t = 0; t < EHF_NR_TRACKED; t++) {
				struct ehf_rule *is = &self->row[0].rule[t];

				if (t != which[r]) {
					EXPECT_EQ(t == EHF_RA ? EHF_RULE_AT_CFA : EHF_RULE_UNSPEC,
						  is->kind);
					continue;
				}
				EXPECT_EQ(rules[k].kind, is->kind) TH_LOG("rule %u", k);
				EXPECT_EQ(rules[k].reg, is->reg) TH_LOG("rule %u", k);
				EXPECT_EQ(rules[k].off, is->off) TH_LOG("rule %u", k);
				EXPECT_EQ(k > 8 ? 2 : 0, is->expr_len);
			}
			EXPECT_EQ(k == 6 && which[r] == EHF_RA ? EHF_ROW_OUTERMOST : 0,
				  self->row[0].flags);
		}
	}
}

/* R3: restore brings back the CIE's whole rule, offset and all; or no rule where it has none. */
TEST_F(program, restore)
{
	for (u32 k = 0; k < EHF_ARRAY_SIZE(rules); k++) {
		for (u32 other = 0; other < EHF_ARRAY_SIZE(rules); other++) {
			for (u32 ext = 0; ext < 2; ext++) {
				begin_cie(self, &b_zr);
				b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
				put_rule(&self->b, k, 6);
				begin_fde(self);
				put_rule(&self->b, other, 6);
				put_rule(&self->b, other, 16);
				put_rule(&self->b, other, 7);
				b_put(&self->b, DW_CFA_advance_loc | 4);
				for (u8 reg = 6; reg <= 16; reg += reg == 6 ? 1 : 9) {
					if (ext)
						b_put(&self->b, DW_CFA_restore_extended, reg);
					else
						b_put(&self->b, DW_CFA_restore | reg);
				}
				rows(self);
				ASSERT_EQ(2, self->nr);
				EXPECT_EQ(rules[other].kind, self->row[0].rule[EHF_FP].kind);
				EXPECT_RULE(self->row[1], EHF_FP, rules[k].kind, rules[k].reg,
					    rules[k].off);
				EXPECT_RULE(self->row[1], EHF_RA, EHF_RULE_AT_CFA, 0, -8);
				EXPECT_RULE(self->row[1], EHF_SP, EHF_RULE_UNSPEC, 0, 0);
			}
		}
	}
}

TEST_F(program, restore_in_a_cie)
{
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 6, 2, DW_CFA_offset | 16, 1,
	      DW_CFA_restore | 6);
	begin_fde(self);
	rows(self);
	EXPECT_RULE(self->row[0], EHF_FP, EHF_RULE_UNSPEC, 0, 0);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_AT_CFA, 0, -8);
}

/* Several ways to say a CFA, short operands and long ones. */
TEST_F(program, cfa_rules)
{
	struct b *b = &self->b;

	b_put(b, DW_CFA_def_cfa, 6, 0x90, 0x01, DW_CFA_advance_loc | 1);
	b_put(b, DW_CFA_def_cfa_register, 7, DW_CFA_advance_loc | 1);
	b_put(b, DW_CFA_def_cfa_offset, 0x90, 0x80, 0x04, DW_CFA_advance_loc | 1);
	b_put(b, DW_CFA_def_cfa_sf, 6, 0x7e, DW_CFA_advance_loc | 1);
	b_put(b, DW_CFA_def_cfa_offset_sf, 0x7d, DW_CFA_advance_loc | 1);
	b_put(b, DW_CFA_def_cfa_register);
	b_uleb_pad(b, 10, 4);
	b_put(b, DW_CFA_advance_loc | 1, DW_CFA_def_cfa);
	b_uleb(b, (1ULL << 32) + 6);
	b_put(b, 8, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register);
	b_uleb(b, 65535);
	b_put(b, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 7, 0x80 | 8, 0x80, 0x00,
	      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x58,
	      DW_OP_deref, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 7, 8);
	rows(self);
	ASSERT_EQ(11, self->nr);
	EXPECT_CFA(self->row[0], EHF_CFA_REG, 6, 144);
	EXPECT_CFA(self->row[1], EHF_CFA_REG, 7, 144);
	EXPECT_CFA(self->row[2], EHF_CFA_REG, 7, 65552);
	EXPECT_CFA(self->row[3], EHF_CFA_REG, 6, 16);
	EXPECT_CFA(self->row[4], EHF_CFA_REG, 6, 24);
	EXPECT_CFA(self->row[5], EHF_CFA_REG, 10, 24);
	EXPECT_CFA(self->row[6], EHF_CFA_REG, EHF_REG_OTHER, 8);
	EXPECT_CFA(self->row[7], EHF_CFA_REG, EHF_REG_OTHER, 8);
	EXPECT_CFA(self->row[8], EHF_CFA_REG, 7, 8);
	EXPECT_CFA(self->row[9], EHF_CFA_AT_REG, 6, -40);
	EXPECT_EQ(3, self->row[9].cfa.expr_len);
	EXPECT_CFA(self->row[10], EHF_CFA_REG, 7, 8);
	EXPECT_EQ(0, self->row[10].cfa.expr_len);
	for (u32 k = 0; k < self->nr; k++)
		EXPECT_EQ(EHF_STOP_NONE, self->row[k].stop);
}

TEST_F(program, ignored_instructions)
{
	b_put(&self->b, DW_CFA_nop, DW_CFA_GNU_args_size, 0x80, 0x01, DW_CFA_nop,
	      DW_CFA_offset | 3, 5, DW_CFA_restore | 3, DW_CFA_undefined, 12, DW_CFA_expression, 13,
	      4, 0xff, 0xff, 0xff, 0xff, DW_CFA_val_expression, 14, 0);
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
	EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 8);
	EXPECT_EQ(10, self->insns);
}

/* remember_state keeps all rules and the CFA; not the location. It nests. */
TEST_F(program, remember_and_restore)
{
	struct b *b = &self->b;

	for (u8 k = 0; k < EHF_MAX_STATES; k++)
		b_put(b, DW_CFA_remember_state, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, (u8)(k + 8),
		      (u8)(16 + k), DW_CFA_offset | 6, (u8)(k + 2), DW_CFA_register, 16, k,
		      DW_CFA_val_offset, 7, k);
	for (u8 k = 0; k < EHF_MAX_STATES; k++)
		b_put(b, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	rows(self);
	ASSERT_EQ(2 * EHF_MAX_STATES + 1, self->nr);
	for (u32 k = 0; k <= EHF_MAX_STATES; k++) {
		struct ehf_row *on = &self->row[k], *back = &self->row[2 * EHF_MAX_STATES - k];

		EXPECT_EQ(EHF_STOP_NONE, back->stop);
		EXPECT_TRUE(b_cfa_same(&on->cfa, &back->cfa));
		for (u32 t = 0; t < EHF_NR_TRACKED; t++)
			EXPECT_TRUE(b_rule_same(&on->rule[t], &back->rule[t]));
	}
	EXPECT_CFA(self->row[EHF_MAX_STATES], EHF_CFA_REG, 7 + EHF_MAX_STATES,
		   15 + EHF_MAX_STATES);
	EXPECT_CFA(self->row[2 * EHF_MAX_STATES], EHF_CFA_REG, 7, 8);
}

TEST_F(program, states_have_a_limit)
{
	for (u32 limit = 0; limit <= EHF_MAX_STATES + 2; limit++) {
		u32 most = limit < EHF_MAX_STATES ? limit : EHF_MAX_STATES;

		begin(self);
		self->b.limits.states = limit;
		for (u32 k = 0; k < EHF_MAX_STATES + 3; k++)
			b_put(&self->b, DW_CFA_remember_state, DW_CFA_advance_loc | 1);
		rows(self);
		EXPECT_EQ(most + 1, self->nr);
		EXPECT_EQ(EHF_STOP_LIMIT_STATES, self->row[most].stop);
		EXPECT_EQ(START + most, self->row[most].start);
		for (u32 k = 0; k < most; k++)
			EXPECT_EQ(EHF_STOP_NONE, self->row[k].stop);
	}
}

TEST_F(program, restore_on_empty)
{
	b_put(&self->b, DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_advance_loc | 4,
	      DW_CFA_restore_state, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16);
	rows(self);
	ASSERT_EQ(2, self->nr);
	EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
	EXPECT_EQ(EHF_STOP_RESTORE_EMPTY, self->row[1].stop);
	EXPECT_EQ(START + 4, self->row[1].start);
	EXPECT_EQ(START + RANGE, self->row[1].end);
}

/* A state that the CIE remembers is there for its FDE, and for the next one too. */
TEST_F(program, remember_in_a_cie)
{
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	rows(self);
	ASSERT_EQ(2, self->nr);
	EXPECT_CFA(self->row[0], EHF_CFA_REG, 7, 16);
	EXPECT_CFA(self->row[1], EHF_CFA_REG, 7, 8);
}

TEST_F(program, location_backwards)
{
	b_put(&self->b, DW_CFA_advance_loc | 8, DW_CFA_set_loc);
	b_ptr(&self->b, 0x1b, START + 8, 0);	/* where it is: allowed */
	b_put(&self->b, DW_CFA_def_cfa_offset, 16, DW_CFA_set_loc);
	b_ptr(&self->b, 0x1b, START + 7, 0);
	rows(self);
	ASSERT_EQ(2, self->nr);
	EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
	EXPECT_EQ(EHF_STOP_LOC_BACKWARDS, self->row[1].stop);
}

TEST_F(program, cfa_undefined)
{
	begin_cie(self, &b_zr);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 2, DW_CFA_def_cfa, 7, 8, DW_CFA_advance_loc | 2);
	rows(self);
	ASSERT_EQ(3, self->nr);
	EXPECT_EQ(EHF_STOP_CFA_UNDEFINED, self->row[0].stop);
	EXPECT_EQ(EHF_STOP_NONE, self->row[1].stop) TH_LOG("a later rule mends it");
	for (u32 k = 0; k < 3; k++) {
		static const u8 op[] = { DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset,
					 DW_CFA_def_cfa_offset_sf };

		begin_cie(self, &b_zr);
		begin_fde(self);
		b_put(&self->b, op[k], 6, DW_CFA_advance_loc | 2, DW_CFA_def_cfa, 7, 8);
		rows(self);
		ASSERT_EQ(1, self->nr);
		EXPECT_EQ(EHF_STOP_CFA_UNDEFINED, self->row[0].stop) TH_LOG("half a rule");
	}
}

TEST_F(program, register_after_expression)
{
	static const u8 op[] = { DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset,
				 DW_CFA_def_cfa_offset_sf };

	for (u32 k = 0; k < 9; k++) {
		begin(self);
		if (k / 3 == 0)		/* a load, a value, an unknown one */
			b_put(&self->b, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0, DW_OP_deref);
		else if (k / 3 == 1)
			b_put(&self->b, DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 8);
		else
			b_put(&self->b, DW_CFA_def_cfa_expression, 1, DW_OP_dup);
		b_put(&self->b, DW_CFA_advance_loc | 4, op[k % 3], 6);
		rows(self);
		ASSERT_EQ(2, self->nr);
		EXPECT_EQ(k / 3 == 2 ? EHF_STOP_EXPRESSION : EHF_STOP_NONE, self->row[0].stop);
		EXPECT_EQ(EHF_STOP_REG_AFTER_EXPR, self->row[1].stop);
	}
}

TEST_F(program, cie_does_not_move)
{
	for (u32 k = 0; k < 8; k++) {
		begin_cie(self, &b_zr);
		b_put(&self->b, DW_CFA_def_cfa, 7, 8);
		switch (k) {
		case 0:
			b_put(&self->b, DW_CFA_advance_loc | 1);
			break;
		case 1:
			b_put(&self->b, DW_CFA_advance_loc1, 1);
			break;
		case 2:
			b_put(&self->b, DW_CFA_advance_loc2, 1, 1);
			break;
		case 3:
			b_put(&self->b, DW_CFA_advance_loc4, 1, 1, 1, 1);
			break;
		case 4:
			b_put(&self->b, DW_CFA_MIPS_advance_loc8, 1, 1, 1, 1, 1, 1, 1, 1);
			break;
		case 5:
			b_put(&self->b, DW_CFA_set_loc, 1, 1, 1, 1);
			break;
		case 6:		/* no move at all */
			b_put(&self->b, DW_CFA_advance_loc);
			break;
		default:
			b_put(&self->b, DW_CFA_advance_loc1, 0);
			break;
		}
		begin_fde(self);
		rows(self);
		ASSERT_EQ(1, self->nr);
		EXPECT_EQ(k < 6 ? EHF_STOP_CIE_ADVANCES : EHF_STOP_NONE, self->row[0].stop);
	}
}

TEST_F(program, offsets_out_of_range)
{
	struct b *b = &self->b;

	for (u32 k = 0; k < 11; k++) {
		begin(self);
		b_put(b, DW_CFA_advance_loc | 4);
		if (k == 0)
			b_put(b, DW_CFA_def_cfa, 7);
		else if (k == 1)
			b_put(b, DW_CFA_def_cfa_offset);
		else if (k == 2)
			b_put(b, DW_CFA_offset | 6);
		else if (k == 3)
			b_put(b, DW_CFA_offset_extended, 6);
		else if (k == 4)
			b_put(b, DW_CFA_val_offset, 6);
		else if (k == 5)
			b_put(b, DW_CFA_GNU_negative_offset_extended, 6);
		else if (k == 6)
			b_put(b, DW_CFA_def_cfa_sf, 7);
		else if (k == 7)
			b_put(b, DW_CFA_def_cfa_offset_sf);
		else if (k == 8)
			b_put(b, DW_CFA_offset_extended_sf, 6);
		else if (k == 9)
			b_put(b, DW_CFA_val_offset_sf, 6);
		else	/* nobody wants to know what this register's offset is */
			b_put(b, DW_CFA_offset_extended, 3);
		if (k < 6 || k == 10)
			b_uleb(b, 1ULL << 63);
		else
			b_sleb(b, INT64_MIN / 4);
		rows(self);
		ASSERT_EQ(k == 10 ? 2 : 2, self->nr);
		EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
		EXPECT_EQ(k == 10 ? EHF_STOP_NONE : EHF_STOP_OFFSET_RANGE, self->row[1].stop) {
			TH_LOG("number %u", k);
		}
	}
}

TEST_F(program, unsupported_opcodes)
{
	for (u32 op = 0; op < 0x40; op++) {
		bool known = op <= 0x16 || op == 0x1d || op == 0x2e || op == 0x2f;

		if (known)
			continue;
		begin(self);
		b_put(&self->b, DW_CFA_advance_loc | 4, (u8)op, DW_CFA_advance_loc | 4);
		rows(self);
		ASSERT_EQ(2, self->nr);
		EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
		EXPECT_EQ(EHF_STOP_OPCODE, self->row[1].stop) TH_LOG("opcode 0x%x", op);
	}
}

/* AArch64's two opcodes toggle a bit that remember_state keeps. */
TEST_F(program, ra_state)
{
	static const bool want[] = { false, true, false, true, false, true };

	self->b.abi.ra_state = true;
	b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save, DW_CFA_remember_state,
	      DW_CFA_advance_loc | 1, DW_CFA_AARCH64_negate_ra_state_with_pc,
	      DW_CFA_advance_loc | 1, DW_CFA_restore_state, DW_CFA_advance_loc | 1,
	      DW_CFA_GNU_window_save, DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save);
	rows(self);
	ASSERT_EQ(6, self->nr);
	for (u32 k = 0; k < 6; k++)
		EXPECT_EQ(want[k] ? EHF_ROW_RA_SIGNED : 0, self->row[k].flags) TH_LOG("row %u", k);
	/* And a CIE may begin with it. */
	begin_cie(self, &b_zr);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_GNU_window_save);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save);
	rows(self);
	ASSERT_EQ(2, self->nr);
	EXPECT_EQ(EHF_ROW_RA_SIGNED, self->row[0].flags);
	EXPECT_EQ(0, self->row[1].flags);
}

/* n instructions pass, n + 1 do not; the CIE's count as well. */
TEST_F(program, instruction_limit)
{
	for (u32 long_way = 0; long_way < 2; long_way++) {
		for (u32 limit = 0; limit < 20; limit++) {
			begin(self);
			self->b.limits.insns = limit;
			for (u32 k = 0; k < 10; k++) {
				if (long_way)
					b_put(&self->b, DW_CFA_advance_loc2, variant->big ? 0 : 1,
					      variant->big ? 1 : 0);
				else
					b_put(&self->b, DW_CFA_advance_loc | 1);
			}
			rows(self);
			/* 2 in the CIE, 10 in the FDE: row n needs n of the latter. */
			if (limit >= 12) {
				ASSERT_EQ(11, self->nr);
				EXPECT_EQ(EHF_STOP_NONE, self->row[10].stop);
				EXPECT_EQ(12, self->insns);
				continue;
			}
			ASSERT_EQ(limit < 2 ? 1 : limit - 1, self->nr) TH_LOG("limit %u", limit);
			EXPECT_EQ(EHF_STOP_LIMIT_INSNS, self->row[self->nr - 1].stop);
			EXPECT_EQ(limit, self->insns);
		}
	}
}

/* A rule for FP that cannot be followed leaves the row; one for RA or SP does not. */
TEST_F(program, expressions_that_cannot_be_followed)
{
	static const u8 regs[] = { 6, 16, 7 };
	static const enum ehf_stop stops[] = { EHF_STOP_NONE, EHF_STOP_EXPRESSION,
					       EHF_STOP_SP_RULE };

	for (u32 k = 0; k < 6; k++) {
		bool longer = k >= 3;

		begin(self);
		b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_expression, regs[k % 3]);
		if (longer) {
			b_put(&self->b, 70);
			for (u32 n = 0; n < 70; n++)
				b_u8(&self->b, DW_OP_nop);
		} else {
			b_put(&self->b, 1, DW_OP_dup);
		}
		b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_restore | regs[k % 3]);
		rows(self);
		ASSERT_EQ(3, self->nr);
		EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
		EXPECT_EQ(k == 4 ? EHF_STOP_LIMIT_EXPRESSION : stops[k % 3], self->row[1].stop);
		EXPECT_EQ(EHF_RULE_STOP, self->row[1].rule[k % 3].kind);
		EXPECT_EQ(longer ? EHF_STOP_LIMIT_EXPRESSION : EHF_STOP_EXPRESSION,
			  self->row[1].rule[k % 3].reg);
		EXPECT_EQ(EHF_STOP_NONE, self->row[2].stop);
	}
}

/* R5: the length of a block that nobody reads cannot wrap either. */
TEST_F(program, blocks_do_not_wrap)
{
	static const u64 lens[] = { 4, 100, 1ULL << 32, 1ULL << 63, ~0ULL, ~0ULL - 100 };

	for (u32 k = 0; k < 3 * EHF_ARRAY_SIZE(lens); k++) {
		begin(self);
		if (k % 3 == 0)
			b_put(&self->b, DW_CFA_expression, 3);
		else if (k % 3 == 1)
			b_put(&self->b, DW_CFA_val_expression, 6);
		else
			b_put(&self->b, DW_CFA_def_cfa_expression);
		b_uleb(&self->b, lens[k / 3]);
		b_put(&self->b, DW_OP_breg0, 0, DW_OP_nop);
		rows(self);
		ASSERT_EQ(1, self->nr);
		EXPECT_EQ(EHF_STOP_TRUNCATED, self->row[0].stop) TH_LOG("number %u", k);
	}
}

TEST_F(program, flags)
{
	struct b_cie o = b_zr;

	o.aug = "zRS";
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_undefined, 16);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_same_value, 16);
	rows(self);
	ASSERT_EQ(2, self->nr);
	EXPECT_EQ(EHF_ROW_SIGNAL | EHF_ROW_OUTERMOST, self->row[0].flags);
	EXPECT_EQ(EHF_ROW_SIGNAL, self->row[1].flags);
}

/* A return address column that is FP stands for both; one that no register has, for none. */
TEST_F(program, odd_ra_columns)
{
	struct b_cie o = b_zr;

	o.ra = 6;
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 6, 2);
	begin_fde(self);
	rows(self);
	EXPECT_RULE(self->row[0], EHF_FP, EHF_RULE_AT_CFA, 0, -16);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_AT_CFA, 0, -16);
	EXPECT_EQ(6, self->row[0].ra_reg);

	o.version = 3;
	o.ra = (1ULL << 32) + 5;
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset_extended, 0xff, 0xff, 0x03, 1,
	      DW_CFA_restore_extended, 0xff, 0xff, 0x03, DW_CFA_undefined, 0xff, 0xff, 0x03);
	begin_fde(self);
	rows(self);
	EXPECT_EQ(EHF_STOP_NONE, self->row[0].stop);
	EXPECT_EQ(EHF_REG_OTHER, self->row[0].ra_reg);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_UNSPEC, 0, 0);
	EXPECT_EQ(0, self->row[0].flags);
}

/* Factors too large for the short way, and a negative code offset. */
TEST_F(program, large_factors)
{
	struct b_cie o = b_zr;

	o.data_align = -(1LL << 40);
	o.code_align = 1ULL << 40;
	begin_cie(self, &o);
	b_put(&self->b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 3);
	begin_fde(self);
	b_put(&self->b, DW_CFA_advance_loc | 1, DW_CFA_undefined, 16);
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_AT_CFA, 0, -(3LL << 40));
	EXPECT_EQ(0, self->row[0].flags);
}

/* glibc's __restore_rt, cut down. */
TEST_F(program, signal_trampoline)
{
	b_put(&self->b, DW_CFA_def_cfa_expression, 4, DW_OP_breg0 + 7, 0xa0, 1, DW_OP_deref,
	      DW_CFA_expression, 6, 3, DW_OP_breg0 + 7, 0xf8, 0,
	      DW_CFA_expression, 7, 3, DW_OP_breg0 + 7, 0xa0, 1,
	      DW_CFA_expression, 16, 3, DW_OP_breg0 + 7, 0xa8, 1);
	rows(self);
	ASSERT_EQ(1, self->nr);
	EXPECT_CFA(self->row[0], EHF_CFA_AT_REG, 7, 160);
	EXPECT_RULE(self->row[0], EHF_FP, EHF_RULE_AT_REG, 7, 120);
	EXPECT_RULE(self->row[0], EHF_SP, EHF_RULE_AT_REG, 7, 160);
	EXPECT_RULE(self->row[0], EHF_RA, EHF_RULE_AT_REG, 7, 168);
}

TEST_HARNESS_MAIN
