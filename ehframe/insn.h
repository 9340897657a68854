/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Call frame instructions: the one decoder that the interpreter, the checks and the dump
 * share.
 */
#ifndef EHFRAME_INSN_H
#define EHFRAME_INSN_H

#include "ehframe/cursor.h"

/**
 * struct ehf_insn - one decoded call frame instruction
 * @op: the opcode; for advance_loc, offset and restore without their low six bits
 * @delta: for the advances: in code units, unsigned; for set_loc: the target address
 * @reg: first register operand
 * @reg2: second register, of DW_CFA_register
 * @uoff: unsigned offset operand, not multiplied by anything
 * @soff: signed offset operand, not multiplied by anything
 *
 * A block operand is not consumed: the cursor is left at its length.
 */
struct ehf_insn {
	u8 op;
	u64 delta;
	u64 reg;
	u64 reg2;
	u64 uoff;
	s64 soff;
};

void ehf_insn_read(struct ehf_cursor *c, u8 fde_enc, struct ehf_insn *insn);

#endif /* EHFRAME_INSN_H */
