/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A file or pipe read once from front to back, without copies where it is a file. */
#ifndef HARNESS_PERF_SOURCE_H
#define HARNESS_PERF_SOURCE_H

#include "harness/perf_abi.h"

struct perf_source;

struct perf_source *perf_source_open(const char *path, struct perf_error *err);
struct perf_source *perf_source_open_fd(int fd, const char *name, struct perf_error *err);
void perf_source_close(struct perf_source *s);
const char *perf_source_name(const struct perf_source *s);
bool perf_source_seekable(const struct perf_source *s);
u64 perf_source_pos(const struct perf_source *s);
bool perf_source_stays(const struct perf_source *s, size_t len);
bool perf_source_shrank(const struct perf_source *s);
const u8 *perf_source_peek(struct perf_source *s, size_t len, size_t *got);
int perf_source_skip(struct perf_source *s, u64 len);
int perf_source_read_at(struct perf_source *s, u64 pos, void *to, size_t len);
void perf_source_seek(struct perf_source *s, u64 pos);

#endif /* HARNESS_PERF_SOURCE_H */
