// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Evaluates DWARF expressions the long way, for addresses of 4 or 8 bytes.
 */
#include "harness/oracle_eval.h"

#include "ehframe/dwarf.h"

#define DEPTH	32

/* Bijective and well mixed: equal results from different inputs would be an accident. */
static u64 mix(u64 v)
{
	v += 0x9e3779b97f4a7c15ULL;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ULL;
	v = (v ^ v >> 27) * 0x94d049bb133111ebULL;
	return v ^ v >> 31;
}

/**
 * oracle_env_reg() - a register's made-up value
 * @env: the state
 * @reg: DWARF number
 *
 * Return: the value.
 */
u64 oracle_env_reg(const struct oracle_env *env, u64 reg)
{
	return reg == env->ip_reg ? env->ip : mix(env->seed ^ reg * 2);
}

/**
 * oracle_env_load() - a made-up word of memory
 * @env: the state
 * @addr: its address
 *
 * Return: the word.
 */
u64 oracle_env_load(const struct oracle_env *env, u64 addr)
{
	return mix(mix(env->seed + 1) ^ (addr & env->mask));
}

/* A number of the stack, for comparisons: those are signed. */
static s64 as_signed(const struct oracle_env *env, u64 v)
{
	return env->mask == 0xffffffff ? (s64)(s32)(u32)v : (s64)v;
}

static bool binary(const struct oracle_env *env, u8 code, u64 a, u64 b, u64 *r)
{
	switch (code) {
	case DW_OP_and:
		*r = a & b;
		return true;
	case DW_OP_or:
		*r = a | b;
		return true;
	case DW_OP_xor:
		*r = a ^ b;
		return true;
	case DW_OP_plus:
		*r = a + b;
		return true;
	case DW_OP_minus:
		*r = a - b;
		return true;
	case DW_OP_mul:
		*r = a * b;
		return true;
	case DW_OP_shl:
		*r = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*r = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_eq:
		*r = a == b;
		return true;
	case DW_OP_ne:
		*r = a != b;
		return true;
	case DW_OP_ge:
		*r = as_signed(env, a) >= as_signed(env, b);
		return true;
	case DW_OP_gt:
		*r = as_signed(env, a) > as_signed(env, b);
		return true;
	case DW_OP_le:
		*r = as_signed(env, a) <= as_signed(env, b);
		return true;
	case DW_OP_lt:
		*r = as_signed(env, a) < as_signed(env, b);
		return true;
	}
	return false;
}

/* Operations that push a value. */
static bool constant(const struct oracle_env *env, const struct ehf_raw_op *op, u64 *r)
{
	if (op->code >= DW_OP_lit0 && op->code <= DW_OP_lit31)
		*r = op->code - DW_OP_lit0;
	else if (op->code >= DW_OP_breg0 && op->code <= DW_OP_breg31)
		*r = oracle_env_reg(env, op->code - DW_OP_breg0) + (u64)op->off;
	else if (op->code == DW_OP_bregx)
		*r = oracle_env_reg(env, op->arg) + (u64)op->off;
	else if (op->code == DW_OP_addr ||
		 (op->code >= DW_OP_const1u && op->code <= DW_OP_consts))
		*r = op->arg;
	else
		return false;
	return true;
}

/**
 * oracle_eval() - evaluate an expression
 * @env: made-up registers and memory
 * @op: its operations
 * @nr: how many
 * @value: filled in: what is left on top of the stack
 *
 * Source: DWARF 5, 2.5.1. Branches, division and the rarer stack operations are left out.
 *
 * Return: false for an operation that is left out, or a stack that runs empty or over.
 */
bool oracle_eval(const struct oracle_env *env, const struct ehf_raw_op *op, u32 nr, u64 *value)
{
	u64 stack[DEPTH] = { env->cfa };
	u32 n = env->push_cfa ? 1 : 0;

	for (u32 i = 0; i < nr; i++) {
		u64 r = 0;

		if (op[i].code == DW_OP_nop)
			continue;
		if (constant(env, &op[i], &r)) {
			if (n == DEPTH)
				return false;
			stack[n++] = r;
		} else if (op[i].code == DW_OP_deref ||
			   (op[i].code == DW_OP_deref_size &&
			    op[i].arg == (env->mask == 0xffffffff ? 4 : 8))) {
			if (!n)
				return false;
			stack[n - 1] = oracle_env_load(env, stack[n - 1]);
		} else if (op[i].code == DW_OP_plus_uconst) {
			if (!n)
				return false;
			stack[n - 1] += op[i].arg;
		} else {
			if (n < 2 || !binary(env, op[i].code, stack[n - 2], stack[n - 1], &r))
				return false;
			stack[--n - 1] = r;
		}
		stack[n - 1] &= env->mask;
	}
	if (!n)
		return false;
	*value = stack[n - 1];
	return true;
}
