/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much of a module's code a walk has rows for.
 */
#ifndef HARNESS_MODULE_COVER_H
#define HARNESS_MODULE_COVER_H

#include "harness/module.h"

const struct module_cover *module_cover_read(struct module *m);

#endif /* HARNESS_MODULE_COVER_H */
