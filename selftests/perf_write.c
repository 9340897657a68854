// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The perf.data writer: what it writes is read back, whatever stops it on the way. */

#include "selftests/kselftest_harness.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "harness/perf_data.h"
#include "harness/perf_write.h"

static char *const command[] = { "prog", "--option", NULL };

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(attr),
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER,
	.sample_id_all = 1,
	.sample_stack_user = 65000,
};

FIXTURE(write)
{
	char path[64];
	struct perf_write *w;
	struct perf_error err;
	u8 record[PERF_ABI_MAX_RECORD];
};

FIXTURE_VARIANT(write)
{
	bool io_uring;
};

FIXTURE_VARIANT_ADD(write, io_uring) { true };
FIXTURE_VARIANT_ADD(write, pwrite) { false };

FIXTURE_SETUP(write)
{
	int fd;

	snprintf(self->path, sizeof(self->path), "/tmp/perf_write.XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	close(fd);
	self->w = perf_write_open(self->path, variant->io_uring, &self->err);
	ASSERT_NE(NULL, self->w) { TH_LOG("%s", self->err.text); }
}

FIXTURE_TEARDOWN(write)
{
	if (self->w)
		perf_write_close(self->w, "test", command, NULL, &self->err);
	unlink(self->path);
}

static void begin(FIXTURE_DATA(write) *self)
{
	const u64 ids[] = { 11, 12, 13 };

	ASSERT_EQ(0, perf_write_begin(self->w, &attr, ids, 3));
}

/* Sample number @nr: its stack's size and bytes follow from it. */
static int write_sample(FIXTURE_DATA(write) *self, u32 nr)
{
	u32 stack = nr * 7919 % 60000 / 8 * 8 + 8;
	struct {
		struct perf_event_header h;
		u64 id, ip;
		u32 pid, tid;
		u64 time, size;
	} s = {
		{ PERF_RECORD_SAMPLE, 0, (u16)(sizeof(s) + stack + 8) },
		11 + nr % 3, 0x401000, 1, nr, 1000 + nr, stack,
	};
	u64 dyn = stack;

	memcpy(self->record, &s, sizeof(s));
	memset(self->record + sizeof(s), (int)nr, stack);
	memcpy(self->record + sizeof(s) + stack, &dyn, 8);
	return perf_write_record(self->w, self->record, s.h.size);
}

/* Reads the file; returns the number of samples, all of them the first ones. */
static u32 read_back(const char *path, int *rc, bool *interrupted)
{
	struct perf_error err;
	struct perf_data *pd = perf_data_open(path, &err);
	struct perf_event_rec r;
	u32 nr = 0;

	ASSERT_NE(NULL, pd) { TH_LOG("%s", err.text); }
	while ((*rc = perf_data_next(pd, &r)) > 0) {
		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_EQ(nr, r.tid);
		EXPECT_EQ(nr * 7919 % 60000 / 8 * 8 + 8, r.sample.dyn_size);
		EXPECT_EQ((u8)nr, r.sample.stack[r.sample.dyn_size - 1]);
		EXPECT_EQ(1000 + nr, r.time);
		nr++;
	}
	EXPECT_EQ(0, perf_data_stats(pd)->bad);
	*interrupted = perf_data_info(pd)->interrupted;
	perf_data_close(pd);
	return nr;
}

TEST_F(write, what_was_written_is_read_back)
{
	struct perf_data *pd;
	struct utsname un;
	bool interrupted;
	u64 bytes;
	int rc;

	begin(self);
	for (u32 i = 0; i < 1000; i++) {
		ASSERT_EQ(0, write_sample(self, i));
		if (i % 10 == 9)
			ASSERT_EQ(0, perf_write_round(self->w));
	}
	ASSERT_EQ(0, perf_write_close(self->w, "test", command, &bytes, &self->err)) {
		TH_LOG("%s", self->err.text);
	}
	self->w = NULL;
	EXPECT_EQ(1000, read_back(self->path, &rc, &interrupted));
	EXPECT_EQ(0, rc);
	EXPECT_FALSE(interrupted);
	EXPECT_LT(20000000, bytes);

	pd = perf_data_open(self->path, &self->err);
	ASSERT_NE(NULL, pd);
	uname(&un);
	EXPECT_STREQ(un.machine, perf_data_info(pd)->arch);
	EXPECT_STREQ(un.nodename, perf_data_info(pd)->hostname);
	EXPECT_STREQ(un.release, perf_data_info(pd)->osrelease);
	EXPECT_STREQ("test", perf_data_info(pd)->version);
	EXPECT_EQ(4, perf_data_stats(pd)->features_skipped);
	EXPECT_EQ(0, perf_data_stats(pd)->features_unread);
	perf_data_close(pd);
}

/* Whoever reads while it is written, or after the writer was killed, finds whole records. */
TEST_F_TIMEOUT(write, an_unfinished_file_can_be_read, 300)
{
	bool interrupted;
	u32 nr = 0, i;
	int rc;

	begin(self);
	/* The header tells of more data now and then: after 30 rounds it did, or soon. */
	for (i = 0; i < 30 || (!nr && i < 1500); i++) {
		ASSERT_EQ(0, write_sample(self, i));
		usleep(20000);
		ASSERT_EQ(0, perf_write_round(self->w));
		if (i < 29)
			continue;
		nr = read_back(self->path, &rc, &interrupted);
		EXPECT_EQ(0, rc);
		EXPECT_FALSE(interrupted);
	}
	EXPECT_LT(0, nr);
	EXPECT_GE(i, nr);
}

TEST_F(write, an_empty_capture_can_be_read)
{
	bool interrupted;
	int rc;

	begin(self);
	ASSERT_EQ(0, perf_write_close(self->w, "test", command, NULL, &self->err));
	self->w = NULL;
	EXPECT_EQ(0, read_back(self->path, &rc, &interrupted));
	EXPECT_EQ(0, rc);
}

/* A file that may not grow further is what a full disk is, and needs no disk. */
TEST_F(write, a_full_disk_leaves_whole_records)
{
	const struct rlimit limit = { 5000003, 5000003 };
	bool interrupted;
	u64 bytes;
	u32 nr = 0;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	begin(self);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	while (nr < 2000 && !write_sample(self, nr))
		nr++;
	EXPECT_GT(2000, nr);
	EXPECT_EQ(-EFBIG, perf_write_round(self->w));
	EXPECT_EQ(-EFBIG, perf_write_close(self->w, "test", command, &bytes, &self->err));
	self->w = NULL;
	EXPECT_EQ(EFBIG, self->err.status);
	EXPECT_NE(NULL, strstr(self->err.text, self->path));
	EXPECT_LT(4000000, bytes);
	EXPECT_GE(5000003, bytes);
	nr = read_back(self->path, &rc, &interrupted);
	EXPECT_EQ(0, rc);
	EXPECT_FALSE(interrupted);
	EXPECT_LT(100, nr);
}

TEST_F(write, a_device_without_room)
{
	struct perf_write *w = perf_write_open("/dev/full", variant->io_uring, &self->err);
	const u64 id = 1;

	ASSERT_NE(NULL, w) { TH_LOG("%s", self->err.text); }
	EXPECT_EQ(-ENOSPC, perf_write_begin(w, &attr, &id, 1));
	EXPECT_EQ(-ENOSPC, perf_write_close(w, "test", command, NULL, &self->err));
}

TEST(a_file_that_cannot_be_made)
{
	struct perf_error err;

	EXPECT_EQ(NULL, perf_write_open("/nonexistent/x", true, &err));
	EXPECT_EQ(ENOENT, err.status);
	EXPECT_EQ(NULL, perf_write_open("/tmp", true, &err));
	EXPECT_EQ(EISDIR, err.status);
}

TEST_HARNESS_MAIN
