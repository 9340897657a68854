/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* All records of a file's .eh_frame with all their rows. */
#ifndef HARNESS_DUMP_FILE_H
#define HARNESS_DUMP_FILE_H

#include "harness/dump_row.h"

bool dump_file(const struct dump *d);

#endif /* HARNESS_DUMP_FILE_H */
