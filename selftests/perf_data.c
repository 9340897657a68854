// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The perf.data reader on files that are built here: both byte orders, whole, cut and damaged. */

#include "selftests/kselftest_harness.h"

#include <fcntl.h>

#include "harness/perf_data.h"
#include "selftests/lib/perf_builder.h"

#define STACKS	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
		 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define ODD	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | \
		 PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ | PERF_SAMPLE_RAW | \
		 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static const struct pb_attr stacks = {
	.sample_type = STACKS, .regs_user = 0x1c0, .stack_user = 64, .id = 11,
};
static const struct pb_attr odd = {
	.sample_type = ODD, .regs_user = 0x8001, .stack_user = 16, .id = 0x1234567890,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX,
};

/* The sample_id behind records of event 11. */
static void put_id(struct pb *b, u32 pid, u64 time)
{
	pb_u32(b, pid);
	pb_u32(b, pid + 1);
	pb_u64(b, time);
	pb_u32(b, 3);		/* cpu */
	pb_u32(b, 0);
	pb_u64(b, 11);
}

/* What a stack sample is made of. */
struct sample {
	u64 id;
	u64 time;
	u32 chain;
	u64 abi;
	u64 stack;
	u64 dyn;
	bool cookie;
};

static void put_sample(struct pb *b, struct sample s)
{
	pb_rec(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	pb_u64(b, s.id);
	pb_u64(b, 0x401000);
	pb_u32(b, 100);
	pb_u32(b, 101);
	pb_u64(b, s.time);
	pb_u32(b, 3);
	pb_u32(b, 0);
	pb_u64(b, 777);
	pb_u64(b, s.chain);
	for (u32 i = 0; i < s.chain; i++) {
		if (s.cookie && i + 2 >= s.chain)
			pb_u64(b, i + 2 == s.chain ? PERF_ABI_CONTEXT_USER_DEFERRED : 0xc0031e);
		else
			pb_u64(b, i == 1 ? (u64)PERF_CONTEXT_USER : 0x401000 + i);
	}
	pb_u64(b, s.abi);
	if (s.abi) {
		pb_u64(b, 0xb9);
		pb_u64(b, 0x7fff0000);
		pb_u64(b, 0x401000);
	}
	pb_u64(b, s.stack);
	if (s.stack) {
		for (u64 i = 0; i < s.stack; i++)
			pb_u8(b, (u8)i);
		pb_u64(b, s.dyn);
	}
	pb_end(b);
}

static void put_odd_sample(struct pb *b)
{
	pb_rec(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	pb_u64(b, odd.id);
	pb_u64(b, 0xffffffff81000000);
	pb_u32(b, 200);
	pb_u32(b, 201);
	pb_u64(b, 0xadd7);
	pb_u64(b, odd.id);
	pb_u64(b, 55);
	pb_u64(b, 2);		/* read: two values, time, then value and id each */
	pb_fill(b, 1, 8 + 2 * 16);
	pb_u32(b, 12);		/* raw */
	pb_fill(b, 0xee, 12);
	pb_u64(b, 2);		/* branches, with their index */
	pb_u64(b, ~0ull);
	pb_fill(b, 2, 48);
	pb_u64(b, 2);
	pb_u64(b, 0xa);
	pb_u64(b, 0xb);
	pb_u64(b, 16);
	pb_fill(b, 9, 16);
	pb_u64(b, 8);
	pb_end(b);
}

static void put_mmap2(struct pb *b, const char *name, bool build_id)
{
	pb_rec(b, PERF_RECORD_MMAP2, build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
	pb_u32(b, 100);
	pb_u32(b, 101);
	pb_u64(b, 0x400000);
	pb_u64(b, 0x1000);
	pb_u64(b, 0x2000);
	if (build_id) {
		pb_u8(b, 20);
		pb_fill(b, 0, 3);
		for (u8 i = 0; i < 20; i++)
			pb_u8(b, i);
	} else {
		pb_u32(b, 8);
		pb_u32(b, 1);
		pb_u64(b, 4711);
		pb_u64(b, 42);
	}
	pb_u32(b, 5);
	pb_u32(b, 2);
	pb_name(b, name);
	put_id(b, 9, 1001);
	pb_end(b);
}

static void put_build_id(struct pb *b)
{
	b->rec = b->len;
	pb_u32(b, PERF_ABI_HEADER_BUILD_ID);
	pb_u16(b, PERF_RECORD_MISC_USER | PERF_ABI_MISC_BUILD_ID_SIZE);
	pb_u16(b, 8 + 4 + 24 + 16);
	pb_u32(b, ~0u);
	pb_fill(b, 0xb1, 20);
	pb_u32(b, b->be ? 8u << 24 : 8);	/* a byte: 8 bytes of id */
	pb_bytes(b, "/usr/lib/l.so\0\0", 16);
}

/* Records of every kind that is decoded, and some that are not. */
static void put_all(struct pb *b)
{
	if (b->pipe) {
		put_build_id(b);
		pb_end(b);
		pb_rec(b, PERF_ABI_HEADER_FEATURE, 0);
		pb_u64(b, PERF_ABI_FEAT_ARCH);
		pb_string(b, "s390x");
		pb_end(b);
		pb_rec(b, PERF_ABI_HEADER_TRACING_DATA, 0);
		pb_u32(b, 16);
		pb_u32(b, 0);
		pb_end(b);
		pb_behind(b, 0xff, 16);
	}
	pb_rec(b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	pb_u32(b, 100);
	pb_u32(b, 101);
	pb_name(b, "prog");
	put_id(b, 9, 1000);
	pb_end(b);
	put_mmap2(b, "/bin/prog", true);
	put_mmap2(b, "[vdso]", false);
	pb_rec(b, PERF_RECORD_MMAP, 0);
	pb_u32(b, 100);
	pb_u32(b, 101);
	pb_u64(b, 0x500000);
	pb_u64(b, 0x3000);
	pb_u64(b, 0);
	pb_name(b, "//anon");
	put_id(b, 9, 1002);
	pb_end(b);
	put_sample(b, (struct sample){ 11, 1003, 3, 2, 64, 40, false });
	put_odd_sample(b);
	pb_rec(b, PERF_RECORD_FORK, 0);
	pb_u32(b, 102);
	pb_u32(b, 100);
	pb_u32(b, 103);
	pb_u32(b, 101);
	pb_u64(b, 1004);
	put_id(b, 9, 1004);
	pb_end(b);
	pb_rec(b, 99, 0);		/* of perf's own, from a newer perf */
	pb_u64(b, 1);
	pb_end(b);
	pb_rec(b, 40, 0);		/* of a newer kernel */
	pb_u64(b, 1);
	put_id(b, 9, 1004);
	pb_end(b);
	pb_rec(b, PERF_ABI_AUXTRACE, 0);
	pb_u64(b, 32);
	pb_end(b);
	pb_behind(b, 0xff, 32);
	pb_rec(b, PERF_ABI_FINISHED_ROUND, 0);
	pb_end(b);
	pb_rec(b, PERF_RECORD_LOST, 0);
	pb_u64(b, 11);
	pb_u64(b, 5);
	put_id(b, 9, 1005);
	pb_end(b);
	pb_rec(b, PERF_RECORD_LOST_SAMPLES, 0);
	pb_u64(b, 6);
	put_id(b, 9, 1005);
	pb_end(b);
	pb_rec(b, PERF_RECORD_THROTTLE, 0);
	pb_u64(b, 1006);
	pb_u64(b, 11);
	pb_u64(b, 12);
	put_id(b, 9, 1006);
	pb_end(b);
	pb_rec(b, PERF_ABI_CALLCHAIN_DEFERRED, 0);
	pb_u64(b, 0xc0031e);
	pb_u64(b, 3);
	pb_u64(b, 1);
	pb_u64(b, 2);
	pb_u64(b, 3);
	put_id(b, 100, 1007);
	pb_end(b);
	pb_rec(b, PERF_RECORD_EXIT, 0);
	pb_u32(b, 102);
	pb_u32(b, 100);
	pb_u32(b, 103);
	pb_u32(b, 101);
	pb_u64(b, 1008);
	put_id(b, 9, 1008);
	pb_end(b);
}

static void put_features(struct pb *b)
{
	if (b->pipe)
		return;
	pb_feature(b, PERF_ABI_FEAT_BUILD_ID);
	put_build_id(b);
	pb_feature_end(b);
	pb_feature(b, PERF_ABI_FEAT_HOSTNAME);
	pb_string(b, "host");
	pb_feature_end(b);
	pb_feature(b, PERF_ABI_FEAT_ARCH);
	pb_string(b, "s390x");
	pb_feature_end(b);
	pb_feature(b, 20);
	pb_u64(b, 1);
	pb_feature_end(b);
}

FIXTURE(perf)
{
	struct pb b;
	struct perf_data *pd;
	struct perf_event_rec r;
	struct perf_error err;
	int fd;
};

FIXTURE_VARIANT(perf)
{
	bool be;
	bool pipe;
	bool pipe_fd;
};

FIXTURE_VARIANT_ADD(perf, little_file) { false, false, false };
FIXTURE_VARIANT_ADD(perf, big_file) { true, false, false };
FIXTURE_VARIANT_ADD(perf, little_pipe) { false, true, true };
FIXTURE_VARIANT_ADD(perf, big_pipe) { true, true, true };
FIXTURE_VARIANT_ADD(perf, pipe_in_file) { false, true, false };
FIXTURE_VARIANT_ADD(perf, file_in_pipe) { true, false, true };

FIXTURE_SETUP(perf)
{
	signal(SIGCHLD, SIG_IGN);	/* writers of pipes */
	self->fd = -1;
	pb_init(&self->b, variant->be, variant->pipe);
}

static void reopen(FIXTURE_DATA(perf) *self, const FIXTURE_VARIANT(perf) *variant, size_t len)
{
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
	self->fd = pb_fd(&self->b, len, variant->pipe_fd);
	self->pd = perf_data_open_fd(self->fd, "test", &self->err);
}

/* Opens what was built so far as the records of two events. */
static void whole(FIXTURE_DATA(perf) *self, const FIXTURE_VARIANT(perf) *variant)
{
	pb_end_data(&self->b);
	put_features(&self->b);
	pb_finish(&self->b);
	reopen(self, variant, self->b.len);
}

FIXTURE_TEARDOWN(perf)
{
	perf_data_close(self->pd);
	if (self->fd >= 0)
		close(self->fd);
}

static void begin(struct pb *b)
{
	pb_attr(b, &stacks);
	pb_attr(b, &odd);
	pb_begin_data(b);
}

#define NEXT(kind) do {							\
	ASSERT_EQ(1, perf_data_next(self->pd, &self->r)) {		\
		TH_LOG("%s", perf_data_error(self->pd)->text);		\
	}								\
	ASSERT_EQ(kind, self->r.type);					\
} while (0)

TEST_F(perf, every_record_is_read_right)
{
	struct perf_event_rec *r = &self->r;
	const struct perf_data_stats *st;
	const u64 *ips;
	const u8 *id;
	u32 size;

	begin(&self->b);
	put_all(&self->b);
	whole(self, variant);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	EXPECT_EQ(variant->be, perf_data_info(self->pd)->big_endian);
	EXPECT_EQ(variant->pipe, perf_data_info(self->pd)->pipe);

	NEXT(PERF_RECORD_COMM);
	EXPECT_EQ(100, r->pid);
	EXPECT_EQ(101, r->tid);
	EXPECT_EQ(1000, r->time);
	EXPECT_EQ(3, r->cpu);
	EXPECT_EQ(11, r->id);
	EXPECT_TRUE(r->comm.exec);
	EXPECT_STREQ("prog", r->comm.name);

	NEXT(PERF_RECORD_MMAP2);
	EXPECT_EQ(0x400000, r->mmap.addr);
	EXPECT_EQ(0x1000, r->mmap.len);
	EXPECT_EQ(0x2000, r->mmap.pgoff);
	EXPECT_EQ(20, r->mmap.build_id_size);
	EXPECT_EQ(19, r->mmap.build_id[19]);
	EXPECT_FALSE(r->mmap.has_inode);
	EXPECT_EQ(5, r->mmap.prot);
	EXPECT_STREQ("/bin/prog", r->mmap.name);
	NEXT(PERF_RECORD_MMAP2);
	EXPECT_EQ(0, r->mmap.build_id_size);
	EXPECT_TRUE(r->mmap.has_inode);
	EXPECT_EQ(8, r->mmap.maj);
	EXPECT_EQ(4711, r->mmap.ino);
	EXPECT_EQ(42, r->mmap.generation);
	EXPECT_STREQ("[vdso]", r->mmap.name);
	NEXT(PERF_RECORD_MMAP);
	EXPECT_EQ(0x500000, r->mmap.addr);
	EXPECT_FALSE(r->mmap.has_prot);
	EXPECT_STREQ("//anon", r->mmap.name);

	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(100, r->pid);
	EXPECT_EQ(101, r->tid);
	EXPECT_EQ(1003, r->time);
	EXPECT_EQ(0x401000, r->sample.ip);
	EXPECT_EQ(777, r->sample.period);
	ASSERT_EQ(3, r->sample.nr_chain);
	EXPECT_EQ(0x401002, r->sample.chain[2]);
	EXPECT_EQ(1, perf_decode_user_chain(&r->sample, &ips));
	EXPECT_EQ(0x401002, ips[0]);
	EXPECT_FALSE(r->sample.has_cookie);
	EXPECT_EQ(2, r->sample.abi);
	EXPECT_EQ(0x1c0, r->sample.regs_mask);
	ASSERT_EQ(3, r->sample.nr_regs);
	EXPECT_EQ(0x7fff0000, r->sample.regs[1]);
	EXPECT_EQ(64, r->sample.stack_size);
	EXPECT_EQ(40, r->sample.dyn_size);
	EXPECT_EQ(63, r->sample.stack[63]);

	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(0xffffffff81000000, r->sample.ip);
	EXPECT_EQ(201, r->tid);
	EXPECT_EQ(0xadd7, r->sample.addr);
	EXPECT_EQ(55, r->stream_id);
	EXPECT_EQ(0, r->sample.nr_chain);
	EXPECT_EQ(0x8001, r->sample.regs_mask);
	EXPECT_EQ(0xb, r->sample.regs[1]);
	EXPECT_EQ(16, r->sample.stack_size);
	EXPECT_EQ(8, r->sample.dyn_size);
	EXPECT_EQ(9, r->sample.stack[0]);

	NEXT(PERF_RECORD_FORK);
	EXPECT_EQ(102, r->pid);
	EXPECT_EQ(103, r->tid);
	EXPECT_EQ(100, r->task.ppid);
	EXPECT_EQ(101, r->task.ptid);
	NEXT(PERF_ABI_FINISHED_ROUND);
	NEXT(PERF_RECORD_LOST);
	EXPECT_EQ(5, r->lost.nr);
	NEXT(PERF_RECORD_LOST_SAMPLES);
	EXPECT_EQ(6, r->lost.nr);
	NEXT(PERF_RECORD_THROTTLE);
	EXPECT_EQ(1006, r->throttle.time);
	NEXT(PERF_ABI_CALLCHAIN_DEFERRED);
	EXPECT_EQ(0xc0031e, r->deferred.cookie);
	EXPECT_EQ(101, r->tid);
	ASSERT_EQ(3, r->deferred.nr);
	EXPECT_EQ(3, r->deferred.ips[2]);
	NEXT(PERF_RECORD_EXIT);
	EXPECT_EQ(1008, r->time);
	EXPECT_EQ(0, perf_data_next(self->pd, r)) { TH_LOG("%s", perf_data_error(self->pd)->text); }
	EXPECT_EQ(0, perf_data_next(self->pd, r));

	st = perf_data_stats(self->pd);
	EXPECT_EQ(0, st->bad) { TH_LOG("%s", st->first_bad.text); }
	EXPECT_EQ(2, st->by_type[PERF_RECORD_SAMPLE]);
	EXPECT_EQ(1, st->by_type[99]);
	EXPECT_EQ(1, st->by_type[40]);
	EXPECT_EQ(5, st->lost);
	EXPECT_EQ(6, st->lost_samples);
	EXPECT_EQ(variant->pipe ? 4 : 3, st->skipped);
	if (!variant->pipe && variant->pipe_fd) {
		EXPECT_EQ(4, st->features_unread);
		return;
	}
	EXPECT_EQ(variant->pipe ? 1 : 3, st->features);
	EXPECT_EQ(variant->pipe ? 0 : 1, st->features_skipped);
	EXPECT_STREQ("s390x", perf_data_info(self->pd)->arch);
	id = perf_data_build_id(self->pd, "/usr/lib/l.so", &size);
	ASSERT_NE(NULL, id);
	EXPECT_EQ(8, size);
	EXPECT_EQ(0xb1, id[7]);
	EXPECT_EQ(NULL, perf_data_build_id(self->pd, "/usr/lib/m.so", &size));
}

/* How many records a file holds that ends at @len, those that are not returned aside. */
static u32 records_within(const struct pb *b, size_t len)
{
	u32 nr = 0;

	for (u32 i = 0; i < b->nr_ends; i++)
		nr += b->ends[i] <= len;
	return nr;
}

TEST_F_TIMEOUT(perf, every_prefix_yields_its_whole_records, 300)
{
	struct pb *b = &self->b;

	begin(b);
	put_all(b);
	pb_end_data(b);
	for (size_t len = 0; len <= b->len; len++) {
		bool at_end = false;
		int rc;

		reopen(self, variant, len);
		if (!self->pd) {
			EXPECT_TRUE(self->err.status && self->err.text[0]);
			EXPECT_LT(len, b->data + 1);
			continue;
		}
		while ((rc = perf_data_next(self->pd, &self->r)) > 0)
			;
		EXPECT_EQ(records_within(b, len), perf_data_stats(self->pd)->records) {
			TH_LOG("%zu of %zu bytes: %s", len, b->len,
			       perf_data_error(self->pd)->text);
		}
		for (u32 i = 0; i < b->nr_ends; i++)
			at_end |= b->clean[i] == len;
		/* A pipe may end behind any record, a file says how long it is. */
		if (len == b->len || (variant->pipe && (at_end || len == 16)))
			EXPECT_EQ(0, rc) { TH_LOG("%s", perf_data_error(self->pd)->text); }
		else
			EXPECT_EQ(-1, rc) { TH_LOG("%zu of %zu bytes", len, b->len); }
		EXPECT_EQ(rc, perf_data_next(self->pd, &self->r));
	}
}

/* Reads everything, and each byte that a record points to. */
static u64 consume(struct perf_data *pd, u64 *sum)
{
	struct perf_event_rec r;
	u64 nr = 0;

	while (perf_data_next(pd, &r) > 0) {
		nr++;
		*sum += ((const u8 *)r.raw)[r.raw_size - 1];
		if (r.type == PERF_RECORD_SAMPLE) {
			for (u32 i = 0; i < r.sample.nr_chain; i++)
				*sum += r.sample.chain[i];
			for (u32 i = 0; i < r.sample.stack_size; i++)
				*sum += r.sample.stack[i];
			for (u32 i = 0; i < r.sample.nr_regs; i++)
				*sum += r.sample.regs[i];
		}
		if (r.type == PERF_RECORD_MMAP || r.type == PERF_RECORD_MMAP2)
			*sum += strlen(r.mmap.name);
		if (r.type == PERF_RECORD_COMM)
			*sum += strlen(r.comm.name);
		for (u32 i = 0; r.type == PERF_ABI_CALLCHAIN_DEFERRED && i < r.deferred.nr; i++)
			*sum += r.deferred.ips[i];
	}
	return nr;
}

TEST_F_TIMEOUT(perf, any_byte_may_be_wrong, 300)
{
	static const u8 flips[] = { 0x01, 0x80, 0xff };
	struct pb *b = &self->b;
	u64 sum = 0;

	if (variant->pipe_fd)
		return;		/* the bytes are those of another variant */
	begin(b);
	put_all(b);
	pb_end_data(b);
	put_features(b);
	pb_finish(b);
	for (size_t at = 0; at < b->len; at++) {
		for (size_t i = 0; i < sizeof(flips); i++) {
			b->buf[at] ^= flips[i];
			reopen(self, variant, b->len);
			b->buf[at] ^= flips[i];
			if (!self->pd)
				continue;
			EXPECT_LE(consume(self->pd, &sum), b->len / 8);
		}
	}
}

TEST_F(perf, samples_at_the_limits)
{
	struct perf_event_rec *r = &self->r;

	begin(&self->b);
	put_sample(&self->b, (struct sample){ 11, 1, 0, 0, 0, 0, false });
	put_sample(&self->b, (struct sample){ 11, 2, 500, 1, 8, 0, true });
	put_sample(&self->b, (struct sample){ 11, 3, 1, 2, 65000, 65000, false });
	put_sample(&self->b, (struct sample){ 11, 4, 2, 2, 64, 65, false });	/* dyn > size */
	put_sample(&self->b, (struct sample){ 99, 5, 2, 2, 64, 64, false });	/* no such id */
	put_sample(&self->b, (struct sample){ 11, 6, 2, 2, 64, 64, false });
	whole(self, variant);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }

	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(0, r->sample.nr_chain);
	EXPECT_EQ(0, r->sample.abi);
	EXPECT_EQ(0, r->sample.regs_mask);
	EXPECT_EQ(0, r->sample.nr_regs);
	EXPECT_EQ(0, r->sample.stack_size);
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(500, r->sample.nr_chain);
	EXPECT_TRUE(r->sample.has_cookie);
	EXPECT_EQ(0xc0031e, r->sample.cookie);
	EXPECT_EQ(1, r->sample.abi);
	EXPECT_EQ(8, r->sample.stack_size);
	EXPECT_EQ(0, r->sample.dyn_size);
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(65000, r->sample.dyn_size);
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(6, r->time);
	EXPECT_EQ(0, perf_data_next(self->pd, r));
	EXPECT_EQ(2, perf_data_stats(self->pd)->bad);
	EXPECT_EQ(1, perf_data_stats(self->pd)->unknown_ids);
	EXPECT_EQ(EBADMSG, perf_data_stats(self->pd)->first_bad.status);
	EXPECT_NE(0, perf_data_stats(self->pd)->first_bad.pos);
}

TEST_F(perf, fields_that_pass_the_end_of_their_record)
{
	struct pb *b = &self->b;

	begin(b);
	put_sample(b, (struct sample){ 11, 1, 4, 2, 64, 64, false });
	pb_int_at(b, b->rec + 56, 1ull << 61, 8);	/* entries of the chain: times 8 wraps */
	put_sample(b, (struct sample){ 11, 2, 4, 2, 64, 64, false });
	pb_int_at(b, b->len - 64 - 16, ~7ull, 8);	/* bytes of stack */
	pb_rec(b, PERF_RECORD_COMM, 0);
	pb_u32(b, 1);
	pb_u32(b, 1);
	pb_fill(b, 'x', 16);			/* a name without an end */
	put_id(b, 1, 1);
	pb_end(b);
	pb_rec(b, PERF_RECORD_EXIT, 0);		/* too short for its own fields */
	put_id(b, 1, 1);
	pb_end(b);
	put_mmap2(b, "x", true);
	b->buf[b->rec + 40] = 21;		/* size of the build-id */
	pb_rec(b, PERF_ABI_CALLCHAIN_DEFERRED, 0);
	pb_u64(b, 1);
	pb_u64(b, 1ull << 61);
	put_id(b, 1, 1);
	pb_end(b);
	whole(self, variant);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	EXPECT_EQ(0, perf_data_next(self->pd, &self->r)) { TH_LOG("type %u", self->r.type); }
	EXPECT_EQ(6, perf_data_stats(self->pd)->bad);
}

TEST_F(perf, one_event_needs_no_ids)
{
	static const struct pb_attr plain = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID, .no_sample_id = true,
	};
	struct pb *b = &self->b;

	pb_attr(b, &plain);
	pb_begin_data(b);
	pb_rec(b, PERF_RECORD_SAMPLE, 0);
	pb_u64(b, 0x1234);
	pb_u32(b, 5);
	pb_u32(b, 6);
	pb_end(b);
	pb_rec(b, PERF_RECORD_COMM, 0);
	pb_u32(b, 5);
	pb_u32(b, 6);
	pb_name(b, "c");
	pb_end(b);
	whole(self, variant);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(0x1234, self->r.sample.ip);
	EXPECT_EQ(6, self->r.tid);
	EXPECT_EQ(0, self->r.has & PERF_SAMPLE_TIME);
	NEXT(PERF_RECORD_COMM);
	EXPECT_STREQ("c", self->r.comm.name);
	EXPECT_EQ(0, perf_data_next(self->pd, &self->r));
}

/* perf record was killed: the header says 0 bytes, and the last record may be cut. */
TEST_F(perf, an_interrupted_recording_is_read_to_its_end)
{
	struct pb *b = &self->b;

	if (variant->pipe)
		return;
	begin(b);
	put_sample(b, (struct sample){ 11, 1, 4, 2, 64, 64, false });
	put_sample(b, (struct sample){ 11, 2, 4, 2, 64, 64, false });
	reopen(self, variant, b->len - 9);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	EXPECT_TRUE(perf_data_info(self->pd)->interrupted);
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(0, perf_data_next(self->pd, &self->r));
	EXPECT_EQ(b->ends[1] - b->ends[0] - 9, perf_data_stats(self->pd)->tail);
}

TEST_F(perf, a_record_without_length_ends_it)
{
	struct pb *b = &self->b;
	size_t at;

	begin(b);
	put_sample(b, (struct sample){ 11, 1, 4, 2, 64, 64, false });
	at = b->len;
	pb_rec(b, PERF_RECORD_COMM, 0);		/* its size stays 0 */
	whole(self, variant);
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", self->err.text); }
	NEXT(PERF_RECORD_SAMPLE);
	EXPECT_EQ(-1, perf_data_next(self->pd, &self->r));
	EXPECT_EQ(at, perf_data_error(self->pd)->pos);
}

static void refuse(const char *bytes, size_t len, int status)
{
	struct perf_error err = { 0 };
	int fd = memfd_create("x", 0);

	ASSERT_EQ(len, write(fd, bytes, len));
	lseek(fd, 0, SEEK_SET);
	EXPECT_EQ(NULL, perf_data_open_fd(fd, "x", &err));
	EXPECT_EQ(status, err.status);
	EXPECT_NE('\0', err.text[0]);
	close(fd);
}

TEST(what_is_no_perf_data_is_refused)
{
	struct perf_error err;

	refuse("", 0, EBADMSG);
	refuse("PERFILE2", 8, EBADMSG);
	refuse("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16, EBADMSG);
	refuse("PERFFILE\150\0\0\0\0\0\0\0", 16, ENOTSUP);
	refuse("PERFILE2\151\0\0\0\0\0\0\0", 16, EBADMSG);
	EXPECT_EQ(NULL, perf_data_open("/nonexistent", &err));
	EXPECT_EQ(ENOENT, err.status);
	EXPECT_EQ(NULL, perf_data_open("/proc", &err));
	EXPECT_EQ(EISDIR, err.status);
	EXPECT_EQ(NULL, perf_data_open("/dev/null", &err));
	EXPECT_EQ(EBADMSG, err.status);
}

TEST_HARNESS_MAIN
