/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * CFA expressions that the x86 machines share.
 */
#ifndef ARCH_X86_H
#define ARCH_X86_H

#include "ehframe/expr.h"

bool ehu_x86_match_plt(const struct ehf_op *op, u32 nr, u16 sp, u16 ip, u8 shift,
		       struct ehf_cfa *cfa);

#endif /* ARCH_X86_H */
