/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The few atomic operations that the core uses, on int-, long- and pointer-sized objects only:
 * those are single instructions on every machine with an NMI-safe compare-and-exchange.
 */
#ifndef UNWIND_ATOMIC_H
#define UNWIND_ATOMIC_H

#include "ehframe/base.h"

/*
 * A test that compiles a core file itself defines this to look, or to interrupt, before each
 * atomic operation: between two of them nothing happens that another CPU or an NMI can tell.
 */
#ifndef EHU_STEP
#define EHU_STEP()	((void)0)
#endif

#define ehu_load(p)		({ EHU_STEP(); __atomic_load_n((p), __ATOMIC_ACQUIRE); })
#define ehu_store(p, v)		({ EHU_STEP(); __atomic_store_n((p), (v), __ATOMIC_RELEASE); })
#define ehu_fetch_or(p, v)	({ EHU_STEP(); __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST); })
#define ehu_fetch_and(p, v)	({ EHU_STEP(); __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST); })

/* Sets *@p to @v if it is *@old; else sets *@old to what it is. Returns whether it did. */
#define ehu_cas(p, old, v) ({ \
	EHU_STEP(); \
	__atomic_compare_exchange_n((p), (old), (v), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
})

#endif /* UNWIND_ATOMIC_H */
