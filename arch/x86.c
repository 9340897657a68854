// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The lazy PLT's CFA expression, as linkers write it for every x86 machine.
 */
#include "arch/x86.h"

#include "ehframe/dwarf.h"

static bool is_const(const struct ehf_op *op, s64 low, s64 high)
{
	return op->kind == EHF_OP_CONST && op->num >= low && op->num <= high;
}

static bool is_other(const struct ehf_op *op, u8 code)
{
	return op->kind == EHF_OP_OTHER && op->code == code;
}

/**
 * ehu_x86_match_plt() - match sp + off + (((ip & 15) >= N) << shift)
 * @op: operations in normal form
 * @nr: how many
 * @sp: DWARF number of the stack pointer
 * @ip: DWARF number of the program counter
 * @shift: log2 of the word size
 * @cfa: filled in where they match; @cfa->bound is N: 11 for the classic slot, 9 or 10 for
 *	those with endbr64 and 5 for those with bnd, which push earlier
 *
 * A slot has 16 bytes and pushes one word somewhere in the middle: the comparison with ip
 * tells before from after.
 *
 * Return: whether they match.
 */
bool ehu_x86_match_plt(const struct ehf_op *op, u32 nr, u16 sp, u16 ip, u8 shift,
		       struct ehf_cfa *cfa)
{
	if (nr != 9 || op[0].kind != EHF_OP_REG || op[0].reg != sp ||
	    op[1].kind != EHF_OP_REG || op[1].reg != ip || op[1].num ||
	    !is_const(&op[2], 15, 15) || !is_other(&op[3], DW_OP_and) ||
	    !is_const(&op[4], 0, 15) || !is_other(&op[5], DW_OP_ge) ||
	    !is_const(&op[6], shift, shift) || !is_other(&op[7], DW_OP_shl) ||
	    !is_other(&op[8], DW_OP_plus))
		return false;
	cfa->kind = EHF_CFA_IP_STEP;
	cfa->reg = sp;
	cfa->off = op[0].num;
	cfa->shift = shift;
	cfa->bound = (u8)op[4].num;
	return true;
}
