// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What perf record writes, read here and by perf itself: the same records in the same order. */

#include "selftests/kselftest_harness.h"

#include <fcntl.h>

#include "harness/perf_order.h"

#define SPIN	"i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
#define TARGET	"sh -c '(" SPIN ") & (" SPIN ") & " SPIN "; wait'"
#define STACKS	"perf record -q -F 1999 --call-graph dwarf,16384 "

FIXTURE(real)
{
	char dir[32];
	char path[64];
	struct perf_data *pd;
	struct perf_order *q;
	FILE *cat;
};

FIXTURE_VARIANT(real)
{
	const char *options;
	bool pipe;		/* perf record -o - */
	bool read_pipe;		/* and read from a pipe here */
	bool no_report;		/* perf 6.1: "failed to decompress", while perf script can */
};

FIXTURE_VARIANT_ADD(real, file) { "-e cpu-clock", false, false, false };
FIXTURE_VARIANT_ADD(real, file_through_pipe) { "-e cpu-clock", false, true, false };
FIXTURE_VARIANT_ADD(real, zstd) { "-z -e cpu-clock", false, false, false };
FIXTURE_VARIANT_ADD(real, zstd_hard) { "-z=22 -e cpu-clock", false, false, false };
FIXTURE_VARIANT_ADD(real, two_events) { "-e cpu-clock,page-faults", false, false, false };
FIXTURE_VARIANT_ADD(real, build_ids) { "--buildid-mmap -e cpu-clock", false, false, false };
FIXTURE_VARIANT_ADD(real, branch_of_pipe) { "-e cpu-clock", true, true, false };
FIXTURE_VARIANT_ADD(real, zstd_pipe) { "-z -e cpu-clock,page-faults", true, true, true };
FIXTURE_VARIANT_ADD(real, saved_pipe) { "-e cpu-clock", true, false, false };

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *format, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	return system(line);
}

FIXTURE_SETUP(real)
{
	struct perf_error err;

	snprintf(self->dir, sizeof(self->dir), "/tmp/perf_real.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/p.data", self->dir);
	if (shell("perf version >/dev/null 2>&1"))
		SKIP(return, "no perf");
	if (variant->pipe)
		shell(STACKS "%s -o - -- " TARGET " >%s 2>/dev/null", variant->options, self->path);
	else
		shell(STACKS "%s -o %s -- " TARGET " >/dev/null 2>&1", variant->options,
		      self->path);
	if (access(self->path, R_OK) || shell("test -s %s", self->path))
		SKIP(return, "perf record does not work here");

	if (variant->read_pipe) {
		char line[128];

		snprintf(line, sizeof(line), "cat %s", self->path);
		self->cat = popen(line, "r");
		ASSERT_NE(NULL, self->cat);
		self->pd = perf_data_open_fd(fileno(self->cat), "pipe", &err);
	} else {
		self->pd = perf_data_open(self->path, &err);
	}
	ASSERT_NE(NULL, self->pd) { TH_LOG("%s", err.text); }
	self->q = perf_order_new(PERF_ORDER_BYTES);
}

FIXTURE_TEARDOWN(real)
{
	perf_order_free(self->q);
	perf_data_close(self->pd);
	if (self->cat)
		pclose(self->cat);
	shell("rm -rf %s", self->dir);
}

/* "perf report --stats" counts records by the names that its own source gives them. */
static const struct {
	const char *name;
	u32 type;
} names[] = {
	{ "MMAP", PERF_RECORD_MMAP },
	{ "MMAP2", PERF_RECORD_MMAP2 },
	{ "COMM", PERF_RECORD_COMM },
	{ "FORK", PERF_RECORD_FORK },
	{ "EXIT", PERF_RECORD_EXIT },
	{ "SAMPLE", PERF_RECORD_SAMPLE },
	{ "FINISHED_ROUND", PERF_ABI_FINISHED_ROUND },
	{ "COMPRESSED", PERF_ABI_COMPRESSED },
};

/* The same samples in the same order. */
static void compare_samples(FIXTURE_DATA(real) *self, const FIXTURE_VARIANT(real) *variant)
{
	struct perf_event_rec r;
	char line[256];
	u32 nr = 0, nr_blind = 0;
	FILE *f;

	snprintf(line, sizeof(line), "perf script --ns -G -F tid,time,period -i %s%s 2>/dev/null",
		 variant->pipe ? "- <" : "", self->path);
	f = popen(line, "r");
	while (perf_order_next(self->q, self->pd, &r) > 0) {
		unsigned long long s, ns, period;
		unsigned int tid;

		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		ASSERT_NE(NULL, fgets(line, sizeof(line), f));
		ASSERT_EQ(4, sscanf(line, " %u %llu.%llu: %llu", &tid, &s, &ns, &period)) {
			TH_LOG("%s", line);
		}
		EXPECT_EQ(tid, r.tid);
		EXPECT_EQ(s * 1000000000 + ns, r.time);
		EXPECT_EQ(period, r.sample.period);
		nr_blind += r.sample.abi != 2;
		nr++;
	}
	EXPECT_EQ(NULL, fgets(line, sizeof(line), f));
	pclose(f);
	EXPECT_LT(10, nr);
	/* One that hits a process at its end may find no registers. */
	EXPECT_GE(3 + nr / 20, nr_blind);
	/* The kernel may have been interrupted between a time stamp and its record. */
	EXPECT_GE(nr / 50, perf_order_stats(self->q)->late);
	EXPECT_EQ(0, perf_order_stats(self->q)->early);
}

/* The same number of records of each type, once all were read. */
static void compare_counts(FIXTURE_DATA(real) *self, const FIXTURE_VARIANT(real) *variant)
{
	const struct perf_data_stats *st = perf_data_stats(self->pd);
	u64 theirs[EHF_ARRAY_SIZE(names)] = { 0 };
	bool seen[EHF_ARRAY_SIZE(names)] = { 0 };
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "perf report --stats -i %s%s 2>/dev/null",
		 variant->pipe ? "- <" : "", self->path);
	f = popen(line, "r");
	while (fgets(line, sizeof(line), f)) {
		char name[64];
		unsigned long long n;

		if (sscanf(line, " %63s events: %llu", name, &n) != 2)
			continue;
		/* Totals come first, then the same for each event. */
		for (u32 i = 0; i < EHF_ARRAY_SIZE(names); i++) {
			if (strcmp(name, names[i].name) || seen[i])
				continue;
			theirs[i] = n;
			seen[i] = true;
		}
	}
	pclose(f);
	for (u32 i = 0; i < EHF_ARRAY_SIZE(names); i++)
		EXPECT_EQ(theirs[i], st->by_type[names[i].type]) { TH_LOG("%s", names[i].name); }
}

TEST_F_TIMEOUT(real, perf_reads_the_same, 300)
{
	const struct perf_data_stats *st = perf_data_stats(self->pd);

	compare_samples(self, variant);
	EXPECT_EQ(0, perf_data_error(self->pd)->status) {
		TH_LOG("%s", perf_data_error(self->pd)->text);
	}
	EXPECT_EQ(0, st->bad) { TH_LOG("%s", st->first_bad.text); }
	EXPECT_EQ(0, st->unknown_ids);
	if (!variant->no_report)
		compare_counts(self, variant);
}

TEST_HARNESS_MAIN
