/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A perf.data file or pipe, read record by record with memory that does not grow. */
#ifndef HARNESS_PERF_DATA_H
#define HARNESS_PERF_DATA_H

#include "harness/perf_decode.h"

/**
 * struct perf_data_info - what the file says about itself
 * @pipe: written to a pipe: no header table, everything comes as records
 * @big_endian: byte order of the file
 * @interrupted: the header was never completed: records up to the end of the file
 * @compressed: some records were compressed
 * @arch: machine of the recording as uname says it ("x86_64"), or ""
 * @hostname: its name, or ""
 * @osrelease: its kernel, or ""
 * @version: perf's version, or ""
 */
struct perf_data_info {
	bool pipe;
	bool big_endian;
	bool interrupted;
	bool compressed;
	char arch[64];
	char hostname[128];
	char osrelease[128];
	char version[64];
};

#define PERF_DATA_NR_TYPES	128

/**
 * struct perf_data_stats - what was read so far
 * @records: records of any type, those inside compressed ones too
 * @by_type: the same, by type
 * @unknown_types: of them, types from PERF_DATA_NR_TYPES up
 * @skipped: of them, types that struct perf_event_rec has no member for
 * @bad: of them, records whose fields contradict each other; not returned
 * @first_bad: the first of them
 * @unknown_ids: records of an event that the file does not describe
 * @lost: records lost by the kernel, as LOST records say
 * @lost_samples: the same, as LOST_SAMPLES records say
 * @compressed_bytes: bytes of compressed payload
 * @plain_bytes: what they became
 * @features: features that were used
 * @features_skipped: features that nothing here needs
 * @features_unread: features of a file behind a pipe, or that could not be read
 * @build_ids: entries of the build-id table
 * @build_ids_dropped: entries beyond the bound on memory
 * @tail: bytes of an incomplete record at the end of an interrupted recording
 */
struct perf_data_stats {
	u64 records;
	u64 by_type[PERF_DATA_NR_TYPES];
	u64 unknown_types;
	u64 skipped;
	u64 bad;
	struct perf_error first_bad;
	u64 unknown_ids;
	u64 lost;
	u64 lost_samples;
	u64 compressed_bytes;
	u64 plain_bytes;
	u32 features;
	u32 features_skipped;
	u32 features_unread;
	u32 build_ids;
	u64 build_ids_dropped;
	u64 tail;
};

struct perf_data;

struct perf_data *perf_data_open(const char *path, struct perf_error *err);
struct perf_data *perf_data_open_fd(int fd, const char *name, struct perf_error *err);
void perf_data_close(struct perf_data *pd);
int perf_data_next(struct perf_data *pd, struct perf_event_rec *out);
int perf_data_next_outline(struct perf_data *pd, struct perf_event_rec *out);
void perf_data_bad(struct perf_data *pd, size_t size, u64 pos, const char *why);
const struct perf_error *perf_data_error(const struct perf_data *pd);
const struct perf_data_info *perf_data_info(const struct perf_data *pd);
const struct perf_data_stats *perf_data_stats(const struct perf_data *pd);
struct perf_decode *perf_data_decoder(struct perf_data *pd);
const u8 *perf_data_build_id(const struct perf_data *pd, const char *path, u32 *size);

#endif /* HARNESS_PERF_DATA_H */
