// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libdwarf as an oracle: asked by FDE, it arbitrates where ours and libdw differ.
 */
#include "harness/oracle.h"

#include <libdwarf/libdwarf.h>
#include <stdio.h>
#include <stdlib.h>

/* Columns above every register, so that a rule's register number tells what it is. */
#define TABLE_SIZE	256
#define COL_UNDEF	60000
#define COL_SAME	60001
#define COL_CFA		60002
#define COL_UNSPEC	60003

struct oracle_libdwarf {
	struct oracle oracle;
	struct image *img;
	Dwarf_Obj_Access_Interface access;
	Dwarf_Debug dbg;
	Dwarf_Cie *cies;
	Dwarf_Fde *fdes;
	Dwarf_Signed nr_cies, nr_fdes;
	Dwarf_Off *offsets;	/* of @fdes in the section */
	Dwarf_Signed hint;	/* index of the FDE that was found last */
	struct ehf_cost cost;
};

/* The image as libdwarf sees it: an object file with the one section that matters. */
static int section_info(void *obj, Dwarf_Half index, Dwarf_Obj_Access_Section *to, int *error)
{
	const struct oracle_libdwarf *o = obj;
	const struct ehf_section *s = &o->img->section;

	(void)error;
	*to = (Dwarf_Obj_Access_Section){ .name = "" };
	if (index > 1)
		return DW_DLV_NO_ENTRY;
	if (index == 1) {
		to->name = ".eh_frame";
		to->type = 1;
		to->addr = s->eh_frame;
		to->size = s->eh_frame_end - s->eh_frame;
	}
	return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *obj)
{
	const struct oracle_libdwarf *o = obj;

	return o->img->arch->abi.big_endian ? DW_OBJECT_MSB : DW_OBJECT_LSB;
}

static Dwarf_Small addr_size(void *obj)
{
	const struct oracle_libdwarf *o = obj;

	return o->img->arch->abi.addr_size;
}

static Dwarf_Unsigned nr_sections(void *obj)
{
	(void)obj;
	return 2;
}

static int load_section(void *obj, Dwarf_Half index, Dwarf_Small **data, int *error)
{
	const struct oracle_libdwarf *o = obj;
	const struct ehf_section *s = &o->img->section;
	u64 avail = 0;
	const u8 *p = image_bytes_at(o->img, s->eh_frame, &avail);

	(void)error;
	if (index != 1 || !p || avail < s->eh_frame_end - s->eh_frame)
		return DW_DLV_NO_ENTRY;
	*data = (Dwarf_Small *)(uintptr_t)p;	/* read only: no relocations are asked for */
	return DW_DLV_OK;
}

static const Dwarf_Obj_Access_Methods methods = {
	.get_section_info	= section_info,
	.get_byte_order		= byte_order,
	.get_length_size	= addr_size,
	.get_pointer_size	= addr_size,
	.get_section_count	= nr_sections,
	.load_section		= load_section,
};

static void read_block(struct oracle_libdwarf *o, struct oracle_rule *rule, const void *block,
		       u64 len)
{
	const struct ehf_section *s = &o->img->section;
	struct ehf_ctx ctx = image_ctx(o->img, &ehf_limits_file, &o->cost);
	struct ehf_cursor c;
	u64 avail = 0, off;
	const u8 *p = image_bytes_at(o->img, s->eh_frame, &avail);

	rule->nr_ops = ORACLE_MAX_OPS + 1;
	off = p ? (u64)((const u8 *)block - p) : avail;
	if (off >= avail || len > avail - off)
		return;
	rule->nr_ops = 0;
	ehf_open(&c, &ctx, s->eh_frame + off, s->eh_frame + off + len);
	while (ehf_more(&c)) {
		if (rule->nr_ops == ORACLE_MAX_OPS ||
		    !ehf_raw_op_read(&c, &rule->ops[rule->nr_ops]) || c.stop) {
			rule->nr_ops = ORACLE_MAX_OPS + 1;
			return;
		}
		rule->nr_ops++;
	}
}

static void read_rule(struct oracle_libdwarf *o, struct oracle_rule *rule, bool is_cfa,
		      Dwarf_Small type, Dwarf_Signed relevant, Dwarf_Signed reg, Dwarf_Signed off,
		      Dwarf_Ptr block)
{
	switch (type) {
	case DW_EXPR_EXPRESSION:
	case DW_EXPR_VAL_EXPRESSION:
		rule->kind = is_cfa || type == DW_EXPR_VAL_EXPRESSION ? ORACLE_VAL_EXPR :
									ORACLE_AT_EXPR;
		read_block(o, rule, block, (u64)off);
		break;
	case DW_EXPR_VAL_OFFSET:
		rule->kind = ORACLE_VAL_CFA;
		rule->off = off;
		break;
	case DW_EXPR_OFFSET:
		rule->off = relevant ? off : 0;
		rule->reg = (u64)reg;
		if (reg == COL_UNDEF)
			rule->kind = ORACLE_UNDEF;
		else if (reg == COL_SAME)
			rule->kind = ORACLE_SAME;
		else if (reg == COL_UNSPEC)
			rule->kind = is_cfa ? ORACLE_UNDEF : ORACLE_UNSPEC;
		else if (is_cfa || !relevant)
			rule->kind = ORACLE_REG;
		else
			rule->kind = ORACLE_AT_CFA;
		break;
	default:
		rule->kind = ORACLE_REFUSED;
	}
}

static enum oracle_answer refuse(struct oracle_libdwarf *o, struct oracle_row *row, int res,
				 Dwarf_Error error)
{
	snprintf(row->why, sizeof(row->why), "%s",
		 res == DW_DLV_ERROR ? dwarf_errmsg(error) : "no entry");
	if (res == DW_DLV_ERROR)
		dwarf_dealloc(o->dbg, error, DW_DLA_ERROR);
	return ORACLE_REFUSES;
}

/* From where the last one was found: rows are asked for in order. */
static Dwarf_Fde find_fde(struct oracle_libdwarf *o, u64 offset)
{
	for (Dwarf_Signed n = 0; n < o->nr_fdes; n++) {
		Dwarf_Signed i = (o->hint + n) % o->nr_fdes;

		if (o->offsets[i] == offset) {
			o->hint = i;
			return o->fdes[i];
		}
	}
	return NULL;
}

static enum oracle_answer libdwarf_row(struct oracle *oracle, u64 pc, const struct ehf_fde *fde,
				       struct oracle_row *row)
{
	struct oracle_libdwarf *o = (struct oracle_libdwarf *)oracle;
	Dwarf_Fde f = find_fde(o, fde->addr - o->img->section.eh_frame);
	u16 regs[EHF_NR_TRACKED];
	Dwarf_Error error = NULL;

	row->end = 0;
	row->knows_signal = false;
	row->defaults = false;
	if (!f) {
		snprintf(row->why, sizeof(row->why), "does not list this FDE");
		return ORACLE_NONE;
	}
	row->ra_reg = fde->cie.ra_reg;
	regs[EHF_FP] = o->img->arch->abi.reg_fp;
	regs[EHF_RA] = fde->cie.ra_reg;
	regs[EHF_SP] = o->img->arch->abi.reg_sp;
	for (u32 i = 0; i < ORACLE_NR_RULES; i++) {
		struct oracle_rule *rule = &row->rule[i];
		Dwarf_Signed relevant = 0, reg = 0, off = 0;
		Dwarf_Ptr block = NULL;
		Dwarf_Small type = 0;
		Dwarf_Addr row_pc = 0;
		int res;

		*rule = (struct oracle_rule){ .ops = row->ops[i] };
		if (i == ORACLE_CFA)
			res = dwarf_get_fde_info_for_cfa_reg3(f, pc, &type, &relevant, &reg, &off,
							      &block, &row_pc, &error);
		else if (regs[i] >= TABLE_SIZE)
			res = DW_DLV_NO_ENTRY;
		else
			res = dwarf_get_fde_info_for_reg3(f, regs[i], pc, &type, &relevant, &reg,
							  &off, &block, &row_pc, &error);
		if (res != DW_DLV_OK)
			return refuse(o, row, res, error);
		read_rule(o, rule, i == ORACLE_CFA, type, relevant, reg, off, block);
	}
	return ORACLE_ROW;
}

static void libdwarf_close(struct oracle *oracle)
{
	struct oracle_libdwarf *o = (struct oracle_libdwarf *)oracle;
	Dwarf_Error error = NULL;

	if (o->fdes)
		dwarf_fde_cie_list_dealloc(o->dbg, o->cies, o->nr_cies, o->fdes, o->nr_fdes);
	if (o->dbg)
		dwarf_object_finish(o->dbg, &error);
	free(o->offsets);
	free(o);
}

static bool list_fdes(struct oracle_libdwarf *o, char *why, size_t n)
{
	Dwarf_Error error = NULL;
	int res;

	res = dwarf_object_init_b(&o->access, NULL, NULL, DW_GROUPNUMBER_ANY, &o->dbg, &error);
	if (res != DW_DLV_OK) {
		snprintf(why, n, "%s", res == DW_DLV_ERROR ? dwarf_errmsg(error) : "no entry");
		o->dbg = NULL;
		return false;
	}
	dwarf_set_frame_rule_table_size(o->dbg, TABLE_SIZE);
	dwarf_set_frame_undefined_value(o->dbg, COL_UNDEF);
	dwarf_set_frame_same_value(o->dbg, COL_SAME);
	dwarf_set_frame_cfa_value(o->dbg, COL_CFA);
	dwarf_set_frame_rule_initial_value(o->dbg, COL_UNSPEC);
	res = dwarf_get_fde_list_eh(o->dbg, &o->cies, &o->nr_cies, &o->fdes, &o->nr_fdes, &error);
	if (res != DW_DLV_OK) {
		snprintf(why, n, "%s", res == DW_DLV_ERROR ? dwarf_errmsg(error) : "no FDEs");
		if (res == DW_DLV_ERROR)
			dwarf_dealloc(o->dbg, error, DW_DLA_ERROR);
		o->fdes = NULL;
		return false;
	}
	o->offsets = calloc((size_t)o->nr_fdes + 1, sizeof(*o->offsets));
	if (!o->offsets)
		return false;
	for (Dwarf_Signed i = 0; i < o->nr_fdes; i++) {
		Dwarf_Addr low = 0;
		Dwarf_Unsigned len = 0, byte_len = 0;
		Dwarf_Ptr bytes = NULL;
		Dwarf_Off cie_off = 0;
		Dwarf_Signed cie_index = 0;

		if (dwarf_get_fde_range(o->fdes[i], &low, &len, &bytes, &byte_len, &cie_off,
					&cie_index, &o->offsets[i], &error) != DW_DLV_OK)
			o->offsets[i] = ~0ULL;
	}
	return true;
}

/**
 * oracle_libdwarf_open() - open libdwarf on a file
 * @img: the file; must outlive the oracle
 * @why: filled in on failure
 * @n: bytes of @why
 *
 * libdwarf reads all of .eh_frame at once and gives up on the first record that it cannot read.
 *
 * Return: the oracle, or NULL.
 */
struct oracle *oracle_libdwarf_open(struct image *img, char *why, size_t n)
{
	struct oracle_libdwarf *o = calloc(1, sizeof(*o));

	snprintf(why, n, "out of memory");
	if (!o)
		return NULL;
	o->oracle = (struct oracle){ "libdwarf", false, libdwarf_row, libdwarf_close };
	o->img = img;
	o->access.object = o;
	o->access.methods = &methods;
	if (!list_fdes(o, why, n)) {
		libdwarf_close(&o->oracle);
		return NULL;
	}
	return &o->oracle;
}
