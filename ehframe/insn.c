// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The decoder of call frame instructions: which operands follow which opcode.
 */
#include "ehframe/insn.h"

#include "ehframe/dwarf.h"

enum operand {
	END,		/* no further operand */
	KNOWN,		/* the opcode is defined and has no operand */
	ADDR,		/* address in the FDE's pointer encoding */
	D1, D2, D4, D8,	/* advance of that many bytes */
	REG,		/* ULEB register */
	REG2,		/* ULEB register, the second one */
	UOFF,		/* ULEB offset or size */
	SOFF,		/* SLEB offset */
	BLOCK,		/* ULEB length and an expression; left to the reader */
};

/* Operands in the order of the bytes: DWARF 5, 7.24, table 7.29; LSB 5.0, 10.5.1. */
static const u8 args[0x40][2] = {
	[DW_CFA_nop]			= { KNOWN },
	[DW_CFA_set_loc]		= { ADDR },
	[DW_CFA_advance_loc1]		= { D1 },
	[DW_CFA_advance_loc2]		= { D2 },
	[DW_CFA_advance_loc4]		= { D4 },
	[DW_CFA_offset_extended]	= { REG, UOFF },
	[DW_CFA_restore_extended]	= { REG },
	[DW_CFA_undefined]		= { REG },
	[DW_CFA_same_value]		= { REG },
	[DW_CFA_register]		= { REG, REG2 },
	[DW_CFA_remember_state]		= { KNOWN },
	[DW_CFA_restore_state]		= { KNOWN },
	[DW_CFA_def_cfa]		= { REG, UOFF },
	[DW_CFA_def_cfa_register]	= { REG },
	[DW_CFA_def_cfa_offset]		= { UOFF },
	[DW_CFA_def_cfa_expression]	= { BLOCK },
	[DW_CFA_expression]		= { REG, BLOCK },
	[DW_CFA_offset_extended_sf]	= { REG, SOFF },
	[DW_CFA_def_cfa_sf]		= { REG, SOFF },
	[DW_CFA_def_cfa_offset_sf]	= { SOFF },
	[DW_CFA_val_offset]		= { REG, UOFF },
	[DW_CFA_val_offset_sf]		= { REG, SOFF },
	[DW_CFA_val_expression]		= { REG, BLOCK },
	[DW_CFA_MIPS_advance_loc8]	= { D8 },
	[DW_CFA_AARCH64_negate_ra_state_with_pc] = { KNOWN },
	[DW_CFA_GNU_window_save]	= { KNOWN },
	[DW_CFA_GNU_args_size]		= { UOFF },
	[DW_CFA_GNU_negative_offset_extended] = { REG, UOFF },
};

static void read_operand(struct ehf_cursor *c, u8 kind, u8 fde_enc, struct ehf_insn *insn)
{
	switch (kind) {
	case ADDR:
		insn->delta = ehf_pointer(c, fde_enc, 0);
		break;
	case D1:
		insn->delta = ehf_u8(c);
		break;
	case D2:
		insn->delta = ehf_fixed(c, 2);
		break;
	case D4:
		insn->delta = ehf_fixed(c, 4);
		break;
	case D8:
		insn->delta = ehf_fixed(c, 8);
		break;
	case REG:
		insn->reg = ehf_uleb(c);
		break;
	case REG2:
		insn->reg2 = ehf_uleb(c);
		break;
	case UOFF:
		insn->uoff = ehf_uleb(c);
		break;
	case SOFF:
		insn->soff = ehf_sleb(c);
		break;
	default:
		break;
	}
}

/**
 * ehf_insn_read() - read one call frame instruction
 * @c: cursor at its opcode; moves past it, for one with a block: to the block's length
 * @fde_enc: the pointer encoding of the CIE, for DW_CFA_set_loc
 * @insn: filled in; operands that the opcode does not have are 0
 *
 * Sets @c->stop to EHF_STOP_OPCODE for an opcode that is not defined (its operands cannot be
 * skipped), or as ehf_uleb() and ehf_pointer() do.
 */
void ehf_insn_read(struct ehf_cursor *c, u8 fde_enc, struct ehf_insn *insn)
{
	u8 op = ehf_u8(c);

	insn->op = op & 0xc0 ? op & 0xc0 : op;
	insn->delta = 0;
	insn->reg = 0;
	insn->reg2 = 0;
	insn->uoff = 0;
	insn->soff = 0;
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		insn->delta = op & 0x3f;
		return;
	case DW_CFA_offset:
		insn->reg = op & 0x3f;
		insn->uoff = ehf_uleb(c);
		return;
	case DW_CFA_restore:
		insn->reg = op & 0x3f;
		return;
	default:
		break;
	}
	if (args[op][0] == END) {
		ehf_fail(c, EHF_STOP_OPCODE);
		return;
	}
	read_operand(c, args[op][0], fde_enc, insn);
	read_operand(c, args[op][1], fde_enc, insn);
}
