/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The vDSO that this kernel maps into 32-bit tasks.
 */
#ifndef HARNESS_VDSO_H
#define HARNESS_VDSO_H

#include "ehframe/base.h"

#include <stddef.h>

const void *vdso_compat(size_t *size);

#endif /* HARNESS_VDSO_H */
