/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What perf's files hold beyond the kernel's own header: user-space record types, feature
 * numbers, values newer than the installed <linux/perf_event.h>, and the error struct.
 */
#ifndef HARNESS_PERF_ABI_H
#define HARNESS_PERF_ABI_H

#include <linux/perf_event.h>

#include "ehframe/base.h"

/* Record types of newer kernels (Linux 6.19, include/uapi/linux/perf_event.h). */
#define PERF_ABI_CALLCHAIN_DEFERRED	22

/* Callchain marker: exactly one entry follows, the cookie of the deferred user part. */
#define PERF_ABI_CONTEXT_USER_DEFERRED	((u64)-640)

/* Written by perf itself, not by the kernel (tools/lib/perf/include/perf/event.h). */
enum perf_abi_user_record {
	PERF_ABI_HEADER_ATTR = 64,
	PERF_ABI_HEADER_EVENT_TYPE = 65,
	PERF_ABI_HEADER_TRACING_DATA = 66,	/* u32 size; that many bytes follow the record */
	PERF_ABI_HEADER_BUILD_ID = 67,
	PERF_ABI_FINISHED_ROUND = 68,
	PERF_ABI_AUXTRACE = 71,			/* u64 size; that many bytes follow the record */
	PERF_ABI_HEADER_FEATURE = 80,
	PERF_ABI_COMPRESSED = 81,		/* zstd to the end of the record */
	PERF_ABI_FINISHED_INIT = 82,
	PERF_ABI_COMPRESSED2 = 83,		/* u64 size, zstd, padding */
};

/* Bits of the header's feature bitmap (tools/perf/util/header.h). */
enum perf_abi_feature {
	PERF_ABI_FEAT_BUILD_ID = 2,
	PERF_ABI_FEAT_HOSTNAME = 3,
	PERF_ABI_FEAT_OSRELEASE = 4,
	PERF_ABI_FEAT_VERSION = 5,
	PERF_ABI_FEAT_ARCH = 6,
	PERF_ABI_FEAT_NRCPUS = 7,
	PERF_ABI_FEAT_CMDLINE = 11,
	PERF_ABI_FEAT_EVENT_DESC = 12,
	PERF_ABI_FEAT_SAMPLE_TIME = 21,
	PERF_ABI_FEAT_COMPRESSED = 27,
	PERF_ABI_NR_FEATURES = 256,
};

#define PERF_ABI_MAGIC		0x32454c4946524550ull	/* "PERFILE2" in the file's order */
#define PERF_ABI_HEADER_SIZE	104			/* bytes of a file's header */
#define PERF_ABI_PIPE_SIZE	16			/* bytes of a pipe's header */
#define PERF_ABI_MAX_RECORD	65536			/* header.size is a u16 */
#define PERF_ABI_MAX_REGS	64
#define PERF_ABI_BUILD_ID_LEN	20

/* misc bit of a build-id entry: byte 20 of the id field is the id's length. */
#define PERF_ABI_MISC_BUILD_ID_SIZE	(1 << 15)

/**
 * struct perf_error - why something about perf went wrong
 * @status: positive errno value
 * @pos: position in the file, 0 where that has no meaning
 * @text: message for a person, without a newline
 */
struct perf_error {
	int status;
	u64 pos;
	char text[320];
};

#endif /* HARNESS_PERF_ABI_H */
