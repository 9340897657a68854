// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Fuzzer: any bytes as a perf.data file, read and put in order, every pointer followed. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/perf_order.h"

/* A zstd stream can hold records without end: more are not more interesting. */
#define MAX_RECORDS	20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile u64 sink;

static u64 touch(const void *p, size_t len)
{
	u64 sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += ((const u8 *)p)[i];
	return sum;
}

static u64 touch_record(const struct perf_event_rec *r)
{
	const u64 *ips = NULL;
	u64 sum = touch(r->raw, r->raw_size);
	u32 nr;

	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		sum += touch(r->sample.chain, r->sample.nr_chain * sizeof(u64));
		sum += touch(r->sample.regs, r->sample.nr_regs * sizeof(u64));
		sum += touch(r->sample.stack, r->sample.stack_size);
		nr = perf_decode_user_chain(&r->sample, &ips);
		sum += touch(ips, nr * sizeof(u64));
		if (r->sample.dyn_size > r->sample.stack_size || r->sample.nr_regs > 64)
			abort();
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		sum += strlen(r->mmap.name) + r->mmap.build_id_size;
		if (r->mmap.build_id_size > PERF_ABI_BUILD_ID_LEN)
			abort();
		break;
	case PERF_RECORD_COMM:
		sum += strlen(r->comm.name);
		break;
	case PERF_ABI_CALLCHAIN_DEFERRED:
		sum += touch(r->deferred.ips, r->deferred.nr * sizeof(u64));
		break;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct perf_order *q = perf_order_new(1 << 16);
	struct perf_event_rec r;
	struct perf_error err;
	struct perf_data *pd;
	u64 last_pos = 0;
	u32 nr = 0;
	u32 id_size;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (fd < 0 || !q || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	pd = perf_data_open_fd(fd, "fuzz", &err);
	if (!pd && (!err.status || !memchr(err.text, 0, sizeof(err.text))))
		abort();
	while (pd && nr++ < MAX_RECORDS && perf_order_next(q, pd, &r) > 0) {
		sink += touch_record(&r);
		last_pos = r.pos > last_pos ? r.pos : last_pos;
	}
	if (last_pos > size)
		abort();
	if (pd && perf_data_build_id(pd, "/a", &id_size) && id_size > PERF_ABI_BUILD_ID_LEN)
		abort();
	perf_order_free(q);
	perf_data_close(pd);
	return 0;
}
