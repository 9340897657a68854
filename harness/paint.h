/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Colour in reports for a terminal.
 */
#ifndef HARNESS_PAINT_H
#define HARNESS_PAINT_H

#include "ehframe/base.h"

#include <stdio.h>

enum paint { PAINT_OFF, PAINT_HEAD, PAINT_GOOD, PAINT_BAD };

const char *paint(FILE *out, enum paint how);
void paint_head(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void paint_verdict(FILE *out, bool bad, const char *text);

#endif /* HARNESS_PAINT_H */
