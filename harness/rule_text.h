/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rules as text, in one grammar for people and JSON alike:
 *
 *	rsp+8			CFA: register and bytes
 *	expr{breg6-24;deref}	CFA: an expression, as it is written
 *	[CFA-8]			saved at CFA - 8
 *	val(CFA+16)		is CFA + 16
 *	reg(rdi)		is in that register
 *	[expr{breg6+0}]		saved at the address that the expression gives
 *	val{breg7+8}		is the value of the expression
 *	same			unchanged; also where there is no rule
 *	undef			has no value
 *	unsupported(STOP)	a rule that is not followed, with the stop reason's name
 */
#ifndef HARNESS_RULE_TEXT_H
#define HARNESS_RULE_TEXT_H

#include <stddef.h>

#include "arch/arch.h"
#include "ehframe/expr.h"
#include "ehframe/record.h"

/* Room for the text of any rule: 255 bytes of expression, an operation a byte. */
#define RULE_TEXT_MAX	4096

int rule_text_cfa(char *buf, size_t n, const struct ehu_arch *arch, const struct ehf_mem *mem,
		  const struct ehf_fde *fde, const struct ehf_row *row);
int rule_text_reg(char *buf, size_t n, const struct ehu_arch *arch, const struct ehf_mem *mem,
		  const struct ehf_fde *fde, const struct ehf_row *row, enum ehf_tracked which);
int rule_text_op(char *buf, size_t n, const struct ehf_raw_op *op);
int rule_text_reg_name(char *buf, size_t n, const struct ehu_arch *arch, unsigned int reg);

#endif /* HARNESS_RULE_TEXT_H */
