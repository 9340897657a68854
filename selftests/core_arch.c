// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * arch/: the tables of all machines, and the CFA expressions that only some of them know.
 */
#include "selftests/kselftest_harness.h"
#include "selftests/lib/builder.h"

#include "arch/arch.h"
#include "ehframe/expr.h"

FIXTURE(plt)
{
	struct b b;
	struct ehf_cfa cfa;
};

FIXTURE_VARIANT(plt)
{
	const struct ehu_arch *arch;
	u8 sp, ip, shift, off;
};

FIXTURE_VARIANT_ADD(plt, x86_64) { &ehu_arch_x86_64, 7, 16, 3, 8 };
FIXTURE_VARIANT_ADD(plt, x32) { &ehu_arch_x32, 7, 16, 3, 8 };
FIXTURE_VARIANT_ADD(plt, i386) { &ehu_arch_i386, 4, 8, 2, 4 };

FIXTURE_SETUP(plt)
{
	b_init(&self->b, &variant->arch->abi);
}

FIXTURE_TEARDOWN(plt)
{
	EXPECT_FALSE(self->b.overflow);
}

static void read_cfa(struct b *b, struct ehf_cfa *cfa)
{
	struct ehf_cursor c;

	b->buf[0] = (u8)(b->len - 1);
	ehf_open(&c, &b->ctx, B_BASE, b_pos(b));
	ehf_expr_cfa(&c, B_BASE, false, cfa);
	EXPECT_EQ(EHF_STOP_NONE, c.stop);
	EXPECT_FALSE(ehf_more(&c));
}

/* Numbers of the linkers' expression, and which of its operations to spoil. */
static void put_plt(struct b *b, const FIXTURE_VARIANT(plt) *v, u8 bound, u32 spoil)
{
	u8 op[] = { (u8)(DW_OP_breg0 + v->sp), v->off, (u8)(DW_OP_breg0 + v->ip), 0,
		    DW_OP_lit0 + 15, DW_OP_and, (u8)(DW_OP_lit0 + bound), DW_OP_ge,
		    (u8)(DW_OP_lit0 + v->shift), DW_OP_shl, DW_OP_plus };

	b_cut(b, B_BASE);
	b_u8(b, 0);
	if (spoil == 10)
		op[spoil] = DW_OP_minus;
	else if (spoil < sizeof(op))
		op[spoil]++;
	b_bytes(b, op, sizeof(op));
}

TEST_F(plt, every_bound)
{
	for (u8 bound = 0; bound < 32; bound++) {
		put_plt(&self->b, variant, bound, ~0U);
		read_cfa(&self->b, &self->cfa);
		if (bound > 15) {	/* no offset in a slot is that large */
			EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind);
			continue;
		}
		EXPECT_EQ(EHF_CFA_IP_STEP, self->cfa.kind) TH_LOG("bound %u", bound);
		EXPECT_EQ(variant->sp, self->cfa.reg);
		EXPECT_EQ(variant->off, self->cfa.off);
		EXPECT_EQ(variant->shift, self->cfa.shift);
		EXPECT_EQ(bound, self->cfa.bound);
		EXPECT_EQ(11, self->cfa.expr_len);
	}
}

/* The same by other operations: constants of several sizes, a register by number, nops. */
TEST_F(plt, other_spellings)
{
	b_put(&self->b, 0, DW_OP_nop, DW_OP_bregx, variant->sp, 0, DW_OP_plus_uconst, variant->off,
	      DW_OP_bregx, variant->ip, 0x80, 0x00, DW_OP_const1u, 15, DW_OP_nop, DW_OP_and,
	      DW_OP_const2u, 11, 0, DW_OP_ge, DW_OP_constu, variant->shift, DW_OP_shl, DW_OP_plus,
	      DW_OP_nop);
	read_cfa(&self->b, &self->cfa);
	EXPECT_EQ(EHF_CFA_IP_STEP, self->cfa.kind);
	EXPECT_EQ(variant->off, self->cfa.off);
	EXPECT_EQ(11, self->cfa.bound);
}

TEST_F(plt, near_misses)
{
	for (u32 spoil = 0; spoil < 11; spoil++) {
		bool fits = spoil == 1 || spoil == 6;	/* another offset, another bound */

		put_plt(&self->b, variant, 11, spoil);
		read_cfa(&self->b, &self->cfa);
		EXPECT_EQ(fits ? EHF_CFA_IP_STEP : EHF_CFA_STOP, self->cfa.kind) {
			TH_LOG("byte %u", spoil);
		}
	}
	put_plt(&self->b, variant, 11, ~0U);
	self->b.len--;
	read_cfa(&self->b, &self->cfa);
	EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind) TH_LOG("one operation short");
	put_plt(&self->b, variant, 11, ~0U);
	b_put(&self->b, DW_OP_deref);
	read_cfa(&self->b, &self->cfa);
	EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind) TH_LOG("one too many");
}

/* OpenSSL's Montgomery multiplication, which the 64-bit machines know. */
TEST_F(plt, openssl_sum)
{
	bool known = variant->arch != &ehu_arch_i386;

	for (u32 k = 0; k < 10; k++) {
		bool spoilt = k >= 4 && k != 7;

		b_cut(&self->b, B_BASE);
		b_put(&self->b, 0, DW_OP_breg0 + 7, 8, DW_OP_breg0 + 9, (u8)(k == 4),
		      (u8)(k == 1 ? DW_OP_const1u : DW_OP_lit0 + (k == 5 ? 4 : 8)));
		if (k == 1)
			b_u8(&self->b, 8);
		b_put(&self->b, (u8)(k == 6 ? DW_OP_or : DW_OP_mul), DW_OP_plus);
		if (k == 8)
			b_put(&self->b, DW_OP_dup);
		b_put(&self->b, DW_OP_deref);
		if (k == 9)
			b_put(&self->b, DW_OP_deref);
		if (k == 2)
			b_put(&self->b, DW_OP_lit0 + 8, DW_OP_plus);
		else if (k != 3)
			b_put(&self->b, DW_OP_plus_uconst, 8);
		read_cfa(&self->b, &self->cfa);
		if (!known || spoilt) {
			EXPECT_EQ(EHF_CFA_STOP, self->cfa.kind) TH_LOG("number %u", k);
			continue;
		}
		EXPECT_EQ(EHF_CFA_AT_SUM, self->cfa.kind) TH_LOG("number %u", k);
		EXPECT_EQ(7, self->cfa.reg);
		EXPECT_EQ(8, self->cfa.off);
		EXPECT_EQ(9, self->cfa.reg2);
		EXPECT_EQ(3, self->cfa.shift);
		EXPECT_EQ(k == 3 ? 0 : 8, self->cfa.add);
	}
}

/* A machine without patterns of its own knows the common ones and no others. */
TEST(no_patterns)
{
	struct ehf_cfa cfa;
	struct b b;

	for (u32 k = 0; k < 2; k++) {
		b_init(&b, k ? &ehu_arch_s390x.abi : &ehu_arch_aarch64.abi);
		b_put(&b, 0, DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit0 + 15, DW_OP_and,
		      DW_OP_lit0 + 11, DW_OP_ge, DW_OP_lit0 + 3, DW_OP_shl, DW_OP_plus);
		read_cfa(&b, &cfa);
		EXPECT_EQ(EHF_CFA_STOP, cfa.kind);
		EXPECT_EQ(EHF_STOP_EXPRESSION, cfa.reg);
		b_cut(&b, B_BASE);
		b_put(&b, 0, DW_OP_breg0 + 11, 16, DW_OP_deref);
		read_cfa(&b, &cfa);
		EXPECT_EQ(EHF_CFA_AT_REG, cfa.kind);
	}
}

TEST(find)
{
	u32 nr = 0;

	EXPECT_EQ(&ehu_arch_x86_64, ehu_arch_find(62, 2, false));
	EXPECT_EQ(&ehu_arch_x32, ehu_arch_find(62, 1, false));
	EXPECT_EQ(&ehu_arch_i386, ehu_arch_find(3, 1, false));
	EXPECT_EQ(&ehu_arch_s390x, ehu_arch_find(22, 2, true));
	EXPECT_EQ(&ehu_arch_aarch64, ehu_arch_find(183, 2, false));
	/* Not what it looks like: other class, other byte order, none at all. */
	EXPECT_NULL(ehu_arch_find(62, 2, true));
	EXPECT_NULL(ehu_arch_find(22, 1, true));
	EXPECT_NULL(ehu_arch_find(22, 2, false));
	EXPECT_NULL(ehu_arch_find(183, 2, true));
	EXPECT_NULL(ehu_arch_find(3, 2, false));
	EXPECT_NULL(ehu_arch_find(62, 0, false));
	EXPECT_NULL(ehu_arch_find(0, 2, false));
	while (ehu_arch_at(nr))
		nr++;
	EXPECT_LE(5, nr);
	EXPECT_NULL(ehu_arch_at(~0U));
}

/* What every table has to keep, or some code reads past an array or divides by nothing. */
TEST(tables_are_sound)
{
	const struct ehu_arch *a;

	for (u32 k = 0; (a = ehu_arch_at(k)); k++) {
		u64 bits = 0, regs = 0;
		bool ip = false;

		EXPECT_TRUE(a->name && a->name[0]);
		EXPECT_TRUE(a->abi.word_size == 4 || a->abi.word_size == 8);
		EXPECT_TRUE(a->abi.addr_size == 4 || a->abi.addr_size == 8);
		EXPECT_LE(a->abi.addr_size, a->abi.word_size);
		EXPECT_EQ(a->abi.addr_size, a->elf_class == 2 ? 8 : 4);
		EXPECT_LT(a->abi.reg_sp, EHU_NR_REGS);
		EXPECT_LT(a->abi.reg_fp, EHU_NR_REGS);
		EXPECT_LT(a->abi.reg_ra, EHU_NR_REGS);
		EXPECT_NE(a->abi.reg_sp, a->abi.reg_fp);
		EXPECT_LE(a->nr_reg_names, EHU_NR_REGS);
		EXPECT_TRUE(a->sp_align && !(a->sp_align & (a->sp_align - 1)));
		for (u32 n = 0; n < a->nr_reg_names; n++)
			EXPECT_TRUE(a->reg_name[n] && a->reg_name[n][0]);
		for (u32 n = 0; n < a->nr_sample; n++) {
			const struct ehu_sample_reg *r = &a->sample[n];

			EXPECT_LT(r->bit, 64);
			EXPECT_FALSE(bits >> r->bit & 1) TH_LOG("%s: bit %u twice", a->name, r->bit);
			bits |= 1ULL << r->bit;
			if (r->reg == EHU_SAMPLE_IP) {
				EXPECT_FALSE(ip);
				ip = true;
				continue;
			}
			EXPECT_LT(r->reg, EHU_NR_REGS);
			EXPECT_FALSE(regs >> r->reg & 1) TH_LOG("%s: r%u twice", a->name, r->reg);
			regs |= 1ULL << r->reg;
		}
		EXPECT_TRUE(ip) TH_LOG("%s: a sample without pc", a->name);
		EXPECT_TRUE(regs >> a->abi.reg_sp & 1);
		EXPECT_TRUE(regs >> a->abi.reg_fp & 1);
		for (u32 n = 0; n < a->nr_signal; n++)
			EXPECT_LE(a->signal[n].nr, EHU_NR_REGS);
	}
}

/* Numbers from the ABIs' documents, said once more. */
TEST(numbers)
{
	EXPECT_EQ(7, ehu_arch_x86_64.abi.reg_sp);
	EXPECT_EQ(6, ehu_arch_x86_64.abi.reg_fp);
	EXPECT_EQ(16, ehu_arch_x86_64.abi.reg_ra);
	EXPECT_EQ(4, ehu_arch_i386.abi.reg_sp);
	EXPECT_EQ(5, ehu_arch_i386.abi.reg_fp);
	EXPECT_EQ(8, ehu_arch_i386.abi.reg_ra);
	EXPECT_EQ(31, ehu_arch_aarch64.abi.reg_sp);
	EXPECT_EQ(29, ehu_arch_aarch64.abi.reg_fp);
	EXPECT_EQ(30, ehu_arch_aarch64.abi.reg_ra);
	EXPECT_TRUE(ehu_arch_aarch64.abi.ra_state);
	EXPECT_EQ(15, ehu_arch_s390x.abi.reg_sp);
	EXPECT_EQ(11, ehu_arch_s390x.abi.reg_fp);
	EXPECT_EQ(14, ehu_arch_s390x.abi.reg_ra);
	EXPECT_EQ(-160, ehu_arch_s390x.abi.sp_off);
	EXPECT_TRUE(ehu_arch_s390x.abi.big_endian);
	EXPECT_EQ(0, ehu_arch_x86_64.abi.sp_off);
	EXPECT_FALSE(ehu_arch_x86_64.abi.ra_state);
	EXPECT_EQ(8, ehu_arch_x32.abi.word_size);
	EXPECT_EQ(4, ehu_arch_x32.abi.addr_size);
}

/* s390x: FP in r11, RA in r14, SP a value by CFA; a leaf keeps its RA in an FPR. */
TEST(s390x_rows)
{
	struct ehf_row row;
	u64 cie;
	struct b b;

	b_init(&b, &ehu_arch_s390x.abi);
	cie = b_cie(&b, &(struct b_cie){ 1, "zR", 1, -8, 14, 0x1b, 0, false });
	b_put(&b, DW_CFA_def_cfa, 15, 0xa0, 1);
	b_close(&b);
	b_fde(&b, cie, 0x1000, 0x20);
	b_put(&b, DW_CFA_advance_loc | 6, DW_CFA_offset | 14, 6, DW_CFA_offset | 11, 9,
	      DW_CFA_offset | 15, 5, DW_CFA_advance_loc | 6, DW_CFA_register, 14, 16,
	      DW_CFA_register, 15, 18, DW_CFA_advance_loc | 4, DW_CFA_val_offset, 15, 20,
	      DW_CFA_restore | 14);
	b_close(&b);
	b_end(&b);
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b.ctx, &b.s, 0x1000, &row));
	EXPECT_EQ(160, row.cfa.off);
	EXPECT_EQ(EHF_RULE_UNSPEC, row.rule[EHF_RA].kind);
	EXPECT_EQ(EHF_RULE_UNSPEC, row.rule[EHF_SP].kind);
	EXPECT_EQ(14, row.ra_reg);
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b.ctx, &b.s, 0x1006, &row));
	EXPECT_EQ(EHF_RULE_AT_CFA, row.rule[EHF_RA].kind);
	EXPECT_EQ(-48, row.rule[EHF_RA].off);
	EXPECT_EQ(-72, row.rule[EHF_FP].off);
	EXPECT_EQ(-40, row.rule[EHF_SP].off);
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b.ctx, &b.s, 0x100c, &row));
	EXPECT_EQ(EHF_RULE_REG, row.rule[EHF_RA].kind);
	EXPECT_EQ(16, row.rule[EHF_RA].reg);
	EXPECT_EQ(18, row.rule[EHF_SP].reg);
	ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b.ctx, &b.s, 0x1010, &row));
	EXPECT_EQ(EHF_RULE_VAL_CFA, row.rule[EHF_SP].kind);
	EXPECT_EQ(-160, row.rule[EHF_SP].off);
	EXPECT_EQ(EHF_RULE_UNSPEC, row.rule[EHF_RA].kind);
}

/* aarch64: a signed return address between paciasp and autiasp. */
TEST(aarch64_rows)
{
	struct ehf_row row;
	u64 cie;
	struct b b;

	b_init(&b, &ehu_arch_aarch64.abi);
	cie = b_cie(&b, &(struct b_cie){ 1, "zRB", 4, -8, 30, 0x1b, 0, false });
	b_put(&b, DW_CFA_def_cfa, 31, 0);
	b_close(&b);
	b_fde(&b, cie, 0x1000, 0x40);
	b_put(&b, DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save, DW_CFA_advance_loc | 1,
	      DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
	      DW_CFA_advance_loc | 4, DW_CFA_restore | 30, DW_CFA_restore | 29,
	      DW_CFA_def_cfa_offset, 0, DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save);
	b_close(&b);
	b_end(&b);
	for (u64 pc = 0x1000; pc < 0x1040; pc++) {
		bool is_signed = pc >= 0x1004 && pc < 0x101c;

		ASSERT_EQ(EHF_STOP_NONE, ehf_row_find(&b.ctx, &b.s, pc, &row));
		EXPECT_EQ(is_signed ? EHF_ROW_RA_SIGNED : 0, row.flags);
		if (pc >= 0x1008 && pc < 0x1018) {
			EXPECT_EQ(EHF_RULE_AT_CFA, row.rule[EHF_FP].kind);
			EXPECT_EQ(-32, row.rule[EHF_FP].off);
			EXPECT_EQ(-24, row.rule[EHF_RA].off);
			EXPECT_EQ(32, row.cfa.off);
		} else {
			EXPECT_EQ(EHF_RULE_UNSPEC, row.rule[EHF_RA].kind);
			EXPECT_EQ(0, row.cfa.off);
		}
	}
}

TEST_HARNESS_MAIN
