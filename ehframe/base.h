/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The types, errno values and memory functions of the core: the only file that
 * knows whether it is compiled in a kernel or in user space.
 */
#ifndef EHFRAME_BASE_H
#define EHFRAME_BASE_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/stddef.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

/*
 * Linux's numbers (asm-generic/errno-base.h), so that a hosted caller may hand
 * them to strerror(). A hosted file that includes <errno.h> as well sees the same
 * values.
 */
#ifndef EPERM
#define EPERM	1
#endif
#ifndef ENOENT
#define ENOENT	2
#endif
#ifndef ENOMEM
#define ENOMEM	12
#endif
#ifndef EFAULT
#define EFAULT	14
#endif
#ifndef EBUSY
#define EBUSY	16
#endif
#ifndef EEXIST
#define EEXIST	17
#endif
#ifndef EINVAL
#define EINVAL	22
#endif
#ifndef ENOSPC
#define ENOSPC	28
#endif
#ifndef ERANGE
#define ERANGE	34
#endif

void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);

#endif /* __KERNEL__ */

#define EHF_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ehf_likely(x)		__builtin_expect(!!(x), 1)
#define ehf_unlikely(x)		__builtin_expect(!!(x), 0)
#define ehf_always_inline	inline __attribute__((__always_inline__))
#define ehf_noinline		__attribute__((__noinline__))
#define ehf_prefetch(p)		__builtin_prefetch(p)
#define ehf_fallthrough		__attribute__((__fallthrough__))

#endif /* EHFRAME_BASE_H */
