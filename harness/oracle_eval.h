/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A stack machine for DWARF expressions, over made-up registers and memory: it tells whether our
 * normal form of an expression means what the expression says.
 */
#ifndef HARNESS_ORACLE_EVAL_H
#define HARNESS_ORACLE_EVAL_H

#include "ehframe/expr.h"

/**
 * struct oracle_env - made-up state that an expression is evaluated in
 * @seed: registers and memory follow from it
 * @ip: value of register @ip_reg
 * @ip_reg: DWARF number of the pc, which is an address and no arbitrary number
 * @mask: the bits of an address: numbers on the stack have no others (DWARF 5, 2.5.1)
 * @cfa: what the stack begins with, where @push_cfa
 * @push_cfa: an expression for a register; one for the CFA begins with an empty stack
 */
struct oracle_env {
	u64 seed;
	u64 ip;
	u64 mask;
	u64 cfa;
	u16 ip_reg;
	bool push_cfa;
};

u64 oracle_env_reg(const struct oracle_env *env, u64 reg);
u64 oracle_env_load(const struct oracle_env *env, u64 addr);
bool oracle_eval(const struct oracle_env *env, const struct ehf_raw_op *op, u32 nr, u64 *value);

#endif /* HARNESS_ORACLE_EVAL_H */
