// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libdw as an oracle: rows by dwarf_cfi_addrframe().
 */
#include "harness/oracle.h"

#include "ehframe/dwarf.h"

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * DW_OP_call_frame_cfa begins every rule of a register, DW_OP_stack_value ends one that is a value
 * (DWARF 5, table 7.9). Neither can stand in .eh_frame itself.
 */
#define OP_CFA		0x9c
#define OP_VALUE	0x9f

struct oracle_dw {
	struct oracle oracle;
	Dwarf_CFI *cfi;
	u16 reg_fp;
	u16 reg_sp;
};

/* libdw puts the offset of breg in number, of bregx in number2: bring both into our form. */
static void copy_ops(struct oracle_rule *rule, const Dwarf_Op *op, size_t nr)
{
	rule->nr_ops = nr > ORACLE_MAX_OPS ? ORACLE_MAX_OPS + 1 : (u32)nr;
	for (size_t i = 0; i < nr && i < ORACLE_MAX_OPS; i++) {
		struct ehf_raw_op *to = &rule->ops[i];

		to->code = op[i].atom;
		to->arg = op[i].number;
		to->off = 0;
		if (op[i].atom >= DW_OP_breg0 && op[i].atom <= DW_OP_breg31) {
			to->arg = op[i].atom - DW_OP_breg0;
			to->off = (s64)op[i].number;
		} else if (op[i].atom == DW_OP_bregx) {
			to->off = (s64)op[i].number2;
		} else if (op[i].atom == DW_OP_consts) {
			to->off = (s64)op[i].number;
		}
	}
}

static void read_cfa(Dwarf_Frame *frame, struct oracle_rule *rule)
{
	Dwarf_Op *ops = NULL;
	size_t nr = 0;

	rule->kind = ORACLE_REFUSED;
	if (dwarf_frame_cfa(frame, &ops, &nr))
		return;
	if (!nr) {
		rule->kind = ORACLE_UNDEF;
	} else if (nr == 1 && ops[0].atom == DW_OP_bregx) {
		rule->kind = ORACLE_REG;
		rule->reg = ops[0].number;
		rule->off = (s64)ops[0].number2;
	} else {
		rule->kind = ORACLE_VAL_EXPR;
		copy_ops(rule, ops, nr);
	}
}

static void read_reg(Dwarf_Frame *frame, int reg, struct oracle_rule *rule)
{
	Dwarf_Op mem[3], *ops = NULL;
	bool value;
	size_t nr = 0;

	rule->kind = ORACLE_REFUSED;
	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return;
	if (!nr) {
		rule->kind = ops ? ORACLE_UNDEF : ORACLE_SAME;
		return;
	}
	if (nr == 1 && ops[0].atom == DW_OP_regx) {
		rule->kind = ORACLE_REG;
		rule->reg = ops[0].number;
		return;
	}
	if (ops[0].atom != OP_CFA)
		return;
	value = ops[nr - 1].atom == OP_VALUE;
	ops++;
	nr -= value ? 2 : 1;
	if (!nr || (nr == 1 && ops[0].atom == DW_OP_plus_uconst)) {
		rule->kind = value ? ORACLE_VAL_CFA : ORACLE_AT_CFA;
		rule->off = nr ? (s64)ops[0].number : 0;
		return;
	}
	rule->kind = value ? ORACLE_VAL_EXPR : ORACLE_AT_EXPR;
	copy_ops(rule, ops, nr);
}

static enum oracle_answer dw_row(struct oracle *oracle, u64 pc, const struct ehf_fde *fde,
				 struct oracle_row *row)
{
	struct oracle_dw *o = (struct oracle_dw *)oracle;
	Dwarf_Addr start = 0, end = 0;
	Dwarf_Frame *frame = NULL;
	bool signal = false;
	int ra;

	(void)fde;
	for (u32 i = 0; i < ORACLE_NR_RULES; i++)
		row->rule[i] = (struct oracle_rule){ .ops = row->ops[i] };
	row->end = 0;
	dwarf_errno();	/* forgets what happened before */
	if (dwarf_cfi_addrframe(o->cfi, pc, &frame)) {
		int error = dwarf_errno();
		const char *text = error ? dwarf_errmsg(error) : NULL;

		/* It fails without an error where the table leads it to an FDE of no length. */
		snprintf(row->why, sizeof(row->why), "%s", text ? text : "no FDE");
		/* There is no public name for this error; its text is translated by nobody. */
		return !text || strstr(text, "no matching address range") ? ORACLE_NONE :
									    ORACLE_REFUSES;
	}
	ra = dwarf_frame_info(frame, &start, &end, &signal);
	row->end = end;
	row->signal = signal;
	row->knows_signal = true;
	row->defaults = true;
	row->ra_reg = ra < 0 ? EHF_REG_OTHER : (u64)ra;
	read_cfa(frame, &row->rule[ORACLE_CFA]);
	read_reg(frame, o->reg_fp, &row->rule[EHF_FP]);
	read_reg(frame, ra, &row->rule[EHF_RA]);
	read_reg(frame, o->reg_sp, &row->rule[EHF_SP]);
	free(frame);
	return ORACLE_ROW;
}

static void dw_close(struct oracle *oracle)
{
	struct oracle_dw *o = (struct oracle_dw *)oracle;

	dwarf_cfi_end(o->cfi);
	free(o);
}

/**
 * oracle_dw_open() - open libdw on a file
 * @img: the file; must outlive the oracle
 * @why: filled in on failure
 * @n: bytes of @why
 *
 * libdw reads .eh_frame only, by section headers where there are any, else by
 * PT_GNU_EH_FRAME.
 *
 * Return: the oracle, or NULL.
 */
struct oracle *oracle_dw_open(struct image *img, char *why, size_t n)
{
	struct oracle_dw *o = calloc(1, sizeof(*o));

	if (!o) {
		snprintf(why, n, "out of memory");
		return NULL;
	}
	o->oracle = (struct oracle){ "libdw", false, dw_row, dw_close };
	o->reg_fp = img->arch->abi.reg_fp;
	o->reg_sp = img->arch->abi.reg_sp;
	o->cfi = dwarf_getcfi_elf(img->elf);
	if (!o->cfi) {
		const char *text = dwarf_errmsg(-1);

		snprintf(why, n, "%s", text ? text : "finds no .eh_frame");
		free(o);
		return NULL;
	}
	return &o->oracle;
}
