// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The comparison with oracles can fail: a row that is wrong by anything is told from libdw's,
 * libdwarf's and llvm-dwarfdump's, and an expression that we misread is told by its meaning.
 */
#include "harness/check_static.h"
#include "harness/oracle_eval.h"
#include "ehframe/dwarf.h"
#include "selftests/kselftest_harness.h"

FIXTURE(self)
{
	struct image *img;
	struct static_fdes fdes;
	struct ehf_cost cost;
	struct ehf_ctx ctx;
	struct oracle *oracle;
	struct oracle_row *row;
};
FIXTURE_VARIANT(self)
{
	struct oracle *(*open)(struct image *img, char *why, size_t n);
	bool all_rows;	/* it is right on all of them */
};
FIXTURE_VARIANT_ADD(self, libdw) { oracle_dw_open, true };
FIXTURE_VARIANT_ADD(self, libdwarf) { oracle_libdwarf_open, true };
FIXTURE_VARIANT_ADD(self, llvm) { oracle_llvm_open, false };

FIXTURE_SETUP(self)
{
	struct image_error err;
	char why[100], path[4096] = "";

	/* Another program's /proc/self/exe would not be this one. */
	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	if (image_open(path, &self->img, &err))
		SKIP(return, "%s", err.text);
	self->ctx = image_ctx(self->img, &ehf_limits_file, &self->cost);
	ASSERT_TRUE(static_fdes_read(&self->fdes, self->img, &self->ctx));
	self->oracle = variant->open(self->img, why, sizeof(why));
	if (!self->oracle)
		SKIP(return, "%s", why);
	self->row = calloc(1, sizeof(*self->row));
}

FIXTURE_TEARDOWN(self)
{
	if (self->oracle)
		self->oracle->close(self->oracle);
	if (self->img) {
		static_fdes_free(&self->fdes);
		image_close(self->img);
	}
	free(self->row);
}

/* What may be wrong with a row, one at a time. */
static bool spoil(struct ehf_row *row, int how)
{
	struct ehf_rule *ra = &row->rule[EHF_RA], *fp = &row->rule[EHF_FP];

	switch (how) {
	case 0:
		row->cfa.off += 8;
		return true;
	case 1:
		row->cfa.reg = row->cfa.reg == 6 ? 7 : 6;
		return true;
	case 2:
		ra->off -= 8;
		return ra->kind == EHF_RULE_AT_CFA;
	case 3:
		ra->kind = ra->kind == EHF_RULE_UNDEF ? EHF_RULE_SAME : EHF_RULE_UNDEF;
		return true;
	case 4:
		fp->off += 8;
		return fp->kind == EHF_RULE_AT_CFA;
	case 5:
		fp->kind = fp->kind == EHF_RULE_AT_CFA ? EHF_RULE_VAL_CFA : EHF_RULE_AT_CFA;
		return true;
	case 6:
		row->rule[EHF_SP].kind = EHF_RULE_VAL_CFA;
		row->rule[EHF_SP].off = 8;
		return true;
	case 7:
		row->rule[EHF_SP].kind = EHF_RULE_SAME;
		return true;
	}
	return false;
}

TEST_F_TIMEOUT(self, wrong_rows_are_told, 300)
{
	u64 rows = 0, equal = 0;

	for (size_t i = 0; i < self->fdes.nr && rows < 3000; i++) {
		struct ehf_program p;
		struct ehf_row row;
		struct ehf_fde fde;

		ASSERT_EQ(EHF_STOP_NONE, ehf_fde_parse(&self->ctx, &self->img->section,
						       self->fdes.fde[i].addr, &fde));
		ehf_program_start(&p, &self->ctx, &fde);
		while (ehf_program_next(&p, &row)) {
			ASSERT_EQ(ORACLE_ROW, self->oracle->row(self->oracle, row.start, &fde,
								self->row));
			rows++;
			if (oracle_compare(&self->ctx, self->img->arch, &fde, &row, self->row)) {
				EXPECT_FALSE(variant->all_rows) {
					TH_LOG("0x%llx", (unsigned long long)row.start);
				}
				continue;
			}
			equal++;
			for (int how = 0; how < 8; how++) {
				struct ehf_row wrong = row;

				if (spoil(&wrong, how))
					EXPECT_NE(0, oracle_compare(&self->ctx, self->img->arch,
								    &fde, &wrong, self->row)) {
						TH_LOG("0x%llx, spoiled by %d",
						       (unsigned long long)row.start, how);
					}
			}
		}
	}
	EXPECT_GT(equal, 100);
	EXPECT_GT(equal * 10, rows * 8);
}

/* The first row of this program that has such a CFA. */
static bool find_cfa(FIXTURE_DATA(self) *self, u8 kind, struct ehf_fde *fde, struct ehf_row *row)
{
	for (size_t i = 0; i < self->fdes.nr; i++) {
		struct ehf_program p;

		if (ehf_fde_parse(&self->ctx, &self->img->section, self->fdes.fde[i].addr, fde))
			continue;
		ehf_program_start(&p, &self->ctx, fde);
		while (ehf_program_next(&p, row)) {
			if (row->cfa.kind == kind)
				return true;
		}
	}
	return false;
}

/* The CFA of a realigned frame, as gcc writes it: *(rbp - 8). */
#ifdef __x86_64__
__asm__(".text\n"
	"realigned_frame:\n"
	".cfi_startproc\n"
	"nop\n"
	".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
	"ret\n"
	".cfi_endproc\n");
#endif

/* Same bytes, another meaning: only evaluation can tell. */
TEST_F(self, misread_expressions_are_told)
{
	struct ehf_row row, wrong;
	struct ehf_fde fde;

	ASSERT_TRUE(find_cfa(self, EHF_CFA_AT_REG, &fde, &row));
	ASSERT_EQ(ORACLE_ROW, self->oracle->row(self->oracle, row.start, &fde, self->row));
	ASSERT_EQ(0, oracle_compare(&self->ctx, self->img->arch, &fde, &row, self->row));
	wrong = row;
	wrong.cfa.off += 8;
	EXPECT_NE(0, oracle_compare(&self->ctx, self->img->arch, &fde, &wrong, self->row));
	wrong = row;
	wrong.cfa.add += 8;
	EXPECT_NE(0, oracle_compare(&self->ctx, self->img->arch, &fde, &wrong, self->row));
	wrong = row;
	wrong.cfa.kind = EHF_CFA_VAL_EXPR;
	EXPECT_NE(0, oracle_compare(&self->ctx, self->img->arch, &fde, &wrong, self->row));
}

TEST(the_plt_expression_by_evaluation)
{
	/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
	static const struct ehf_raw_op ops[] = {
		{ DW_OP_breg0 + 7, 7, 8 }, { DW_OP_breg0 + 16, 16, 0 }, { DW_OP_lit0 + 15, 0, 0 },
		{ DW_OP_and, 0, 0 }, { DW_OP_lit0 + 11, 0, 0 }, { DW_OP_ge, 0, 0 },
		{ DW_OP_lit0 + 3, 0, 0 }, { DW_OP_shl, 0, 0 }, { DW_OP_plus, 0, 0 },
	};

	for (u64 ip = 0x401020; ip < 0x401040; ip++) {
		struct oracle_env env = { .seed = 5, .ip = ip, .ip_reg = 16,
					  .mask = ~0ULL };
		u64 want = oracle_env_reg(&env, 7) + 8 + ((ip & 15) >= 11 ? 8 : 0), got = 0;

		EXPECT_TRUE(oracle_eval(&env, ops, EHF_ARRAY_SIZE(ops), &got));
		EXPECT_EQ(want, got);
		EXPECT_FALSE(oracle_eval(&env, ops + 3, 1, &got));	/* an empty stack */
	}
}

TEST_HARNESS_MAIN
