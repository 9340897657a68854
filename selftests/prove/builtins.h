/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The compiler's overflow builtins in plain C, for Frama-C, which does not have them. Included
 * before every file that is proved.
 */
#ifndef SELFTESTS_PROVE_BUILTINS_H
#define SELFTESTS_PROVE_BUILTINS_H

typedef unsigned long prove_u64;
typedef long prove_s64;

/* Both results are possible whatever the operands: more than the builtins do, never less. */
int prove_u64_op(prove_u64 *result);
int prove_s64_op(prove_s64 *result);

#define PROVE_SIGNED(x)	((__typeof__(x))-1 < (__typeof__(x))1)
#define PROVE_OP(a, b, r) \
	((void)(a), (void)(b), PROVE_SIGNED(*(r)) ? prove_s64_op((prove_s64 *)(r)) : \
						    prove_u64_op((prove_u64 *)(r)))
#define __builtin_mul_overflow(a, b, r)	PROVE_OP(a, b, r)
#define __builtin_add_overflow(a, b, r)	PROVE_OP(a, b, r)
#define __builtin_sub_overflow(a, b, r)	PROVE_OP(a, b, r)
#define __builtin_memcpy		memcpy
/* A hint; nothing is read by it. */
#define __builtin_prefetch(p)		((void)(p))

#endif /* SELFTESTS_PROVE_BUILTINS_H */
