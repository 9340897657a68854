/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Addresses as people write them: 0xADDR, symbol+0xOFF, .section+0xOFF. */
#ifndef HARNESS_DUMP_PLACE_H
#define HARNESS_DUMP_PLACE_H

#include "harness/image.h"

bool dump_number(const char *text, size_t len, u64 *value);
bool dump_place(struct image *img, const char *text, size_t len, u64 *addr, char *why,
		size_t why_size);

#endif /* HARNESS_DUMP_PLACE_H */
