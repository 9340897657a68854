// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-bench-trace: how long our warm walk takes beside libdw's, on the same samples. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/check_run_oracle.h"
#include "harness/cli.h"
#include "harness/json.h"
#include "harness/perf_order.h"
#include "harness/replay.h"

#define MAX_SAMPLES	16384

enum { OPT_PASSES, OPT_SAMPLES, OPT_JSON };

static const struct cli_opt opts[] = {
	[OPT_PASSES] = {"passes", 'p', "N",
			"passes over the samples, after one that warms up (20)"},
	[OPT_SAMPLES] = {"samples", 'n', "N",
			 "samples to take, from all over the file (up to 128): so few\n"
			 "that their stacks stay in the processor's cache, as the\n"
			 "stack of a task does that was just interrupted"},
	[OPT_JSON] = {"json", 0, NULL, "one JSON object a line on stdout"},
	{0},
};

static const struct cli cli = {
	.prog = "ehunwind-bench-trace",
	.usage = "[OPTION]... FILE",
	.about = "Walks the samples of a perf.data file with our unwinder and with libdw, in turn, "
		 "in\n"
		 "one process, each with everything it needs at hand: libdw keeps one session for\n"
		 "each address space. Both are asked for pcs; every frame is compared beforehand.",
	.opts = opts,
	.footer = "exit status: 0 measured, 1 a trace differs, 2 usage, 3 bad input, 4 no sample",
};

/* A sample that is ready to be walked, with the record that holds its stack. */
struct sample {
	struct replay replay;
	struct task_maps *maps;
	void *record;
	u32 frames;
};

struct bench {
	u64 passes;
	u64 max;
	u64 met;
	u64 stride;
	bool json;
	struct pager *pager;
	struct modules *modules;
	struct task_table *tasks;
	struct check_run_oracle *oracles;
	struct sample *sample;
	u32 nr;
	u64 frames;
	u64 failed;
	struct ehu_row_cache cache;
	struct ehf_memo memo;
	struct ehu_slot slot[EHU_ROW_CACHE_SLOTS];
};

struct seen_mem {
	struct ehf_mem mem;
	struct replay *r;
};

static bool oracle_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	return replay_read(((const struct seen_mem *)(const void *)mem)->r, addr, dst, len);
}

static struct oracle_frames *session(struct bench *b, struct sample *s, struct seen_mem *mem)
{
	*mem = (struct seen_mem){ .mem = { .read = oracle_read }, .r = &s->replay };
	return check_run_oracle_get(b->oracles, s->maps);
}

/* Both walks once: do they agree, and how many frames are there? */
static bool compare(struct bench *b, struct sample *s)
{
	static struct ehu_entry entry[REPLAY_ENTRIES];
	static struct compare_frame frame[REPLAY_ENTRIES];
	struct ehu_trace ours = { .entry = entry, .max = REPLAY_ENTRIES };
	struct compare_oracle theirs = { .frame = frame };
	struct compare_result result;
	struct replay_cost cost;
	struct seen_mem mem;
	struct oracle_frames *oracle;

	replay_walk(&s->replay, NULL, &ours, &cost);
	oracle = session(b, s, &mem);
	if (!oracle ||
	    oracle_frames_walk(oracle, &s->replay.regs, &mem.mem, REPLAY_ENTRIES, &theirs, NULL))
		return false;
	compare_traces(&ours, &theirs, &result);
	if (compare_failed(&result))
		b->failed++;
	s->frames = ours.nr;
	/* Only where both do the same work are their times comparable. */
	return result.outcome == COMPARE_EQUAL && !result.cut;
}

static void drop(struct sample *s)
{
	task_maps_put(s->maps);
	free(s->record);
}

/* Full: every second one goes, and of those that come only every second one is taken. */
static void thin_out(struct bench *b)
{
	u32 k, to = 0;

	for (k = 0; k < b->nr; k++) {
		if (k & 1)
			drop(&b->sample[k]);
		else
			b->sample[to++] = b->sample[k];
	}
	b->nr = to;
	b->stride *= 2;
}

static int keep(struct bench *b, const struct perf_event_rec *rec, struct perf_decode *decode)
{
	struct task *task = task_get(b->tasks, rec->pid);
	struct perf_event_rec own;
	struct sample *s;
	const char *why;

	if (!task || b->met++ % b->stride)
		return 0;
	if (b->nr == b->max)
		thin_out(b);
	s = &b->sample[b->nr];
	memset(s, 0, sizeof(*s));
	s->record = malloc(rec->raw_size);
	if (!s->record)
		return -ENOMEM;
	memcpy(s->record, rec->raw, rec->raw_size);
	/* Decoded again where it stays; this uses up @rec. */
	if (perf_decode_record(decode, s->record, rec->raw_size, rec->pos, &own, &why) <= 0)
		goto forget;
	replay_init(&s->replay, b->pager);
	if (replay_sample(&s->replay, task, &own) != REPLAY_TESTABLE)
		goto forget;
	/* In the file's order the stack is bytes of the record: they must be ours. */
	if ((const char *)s->replay.stack < (const char *)s->record ||
	    (const char *)s->replay.stack >= (const char *)s->record + own.raw_size)
		goto forget;
	s->maps = task_maps_hold(s->replay.maps);
	if (!compare(b, s)) {
		task_maps_put(s->maps);
		goto forget;
	}
	b->nr++;
	return 0;
forget:
	free(s->record);
	return 0;
}

static const u8 *header_build_id(void *arg, const char *path, u32 *size)
{
	return perf_data_build_id(arg, path, size);
}

static int load(struct bench *b, struct perf_data *pd)
{
	const struct pager_params paging = { 0 };
	struct module_params where = { .build_id = header_build_id, .arg = pd };
	struct perf_order *order = perf_order_new(PERF_ORDER_BYTES);
	struct perf_event_rec rec;
	int rc = -1;

	where.pager = b->pager = pager_new(&paging);
	b->modules = b->pager ? module_table_new(&where) : NULL;
	b->tasks = b->modules ? task_table_new(b->modules) : NULL;
	b->oracles = check_run_oracle_new(NULL);
	b->sample = calloc(b->max, sizeof(*b->sample));
	while (order && b->tasks && b->oracles && b->sample &&
	       (rc = perf_order_next(order, pd, &rec)) > 0) {
		if (rec.type == PERF_RECORD_SAMPLE)
			rc = keep(b, &rec, perf_data_decoder(pd));
		else
			rc = task_record(b->tasks, &rec);
		if (rc == -ENOMEM)
			break;
	}
	for (u32 k = 0; k < b->nr; k++)
		b->frames += b->sample[k].frames;
	perf_order_free(order);
	return rc < 0 ? -1 : 0;
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* With the caches that a kernel would keep for a task, or with nothing but what it has mapped. */
static u64 pass_ours(struct bench *b, bool caches)
{
	const struct replay_opts how = {
		.cache = caches ? &b->cache : NULL, .memo = caches ? &b->memo : NULL,
	};
	static struct ehu_entry entry[REPLAY_ENTRIES];
	struct ehu_trace trace = { .entry = entry, .max = REPLAY_ENTRIES };
	struct replay_cost cost;
	u64 start = now_ns();
	u32 k;

	for (k = 0; k < b->nr; k++) {
		replay_walk(&b->sample[k].replay, &how, &trace, &cost);
		if (trace.nr != b->sample[k].frames)
			b->failed++;
	}
	return now_ns() - start;
}

static u64 pass_libdw(struct bench *b)
{
	static u64 pc[REPLAY_ENTRIES];
	struct seen_mem mem;
	u64 start = now_ns();
	u32 k;

	for (k = 0; k < b->nr; k++) {
		struct sample *s = &b->sample[k];
		struct oracle_frames *oracle = session(b, s, &mem);

		if (!oracle || oracle_frames_pcs(oracle, &s->replay.regs, &mem.mem, pc,
						 REPLAY_ENTRIES) < (int)s->frames)
			b->failed++;
	}
	return now_ns() - start;
}

static double per(u64 a, u64 b)
{
	return b ? (double)a / (double)b : 0;
}

static void measure(struct bench *b, const char *name)
{
	enum { CACHED, PLAIN, LIBDW, NR };
	u64 ns[NR], best[NR] = { UINT64_MAX, UINT64_MAX, UINT64_MAX }, k;
	struct json j;

	if (!b->json)
		printf("%s: %u samples, %" PRIu64 " frames; ns a frame\n"
		       "            ours  without caches     libdw    ratio\n",
		       name, b->nr, b->frames);
	for (k = 0; k <= b->passes; k++) {
		ns[CACHED] = pass_ours(b, true);
		ns[PLAIN] = pass_ours(b, false);
		ns[LIBDW] = pass_libdw(b);
		if (!b->json && k < 5)
			printf("  %s %-2" PRIu64 " %7.1f  %14.1f  %8.1f  %7.1f\n",
			       k ? "pass" : "warm", k, per(ns[CACHED], b->frames),
			       per(ns[PLAIN], b->frames), per(ns[LIBDW], b->frames),
			       per(ns[LIBDW], ns[CACHED]));
		for (int n = 0; k && n < NR; n++)
			if (ns[n] < best[n])
				best[n] = ns[n];
	}
	if (!b->json) {
		printf("  best    %7.1f  %14.1f  %8.1f  %7.1f times as fast as libdw (%.1f without "
		       "caches)\n", per(best[CACHED], b->frames), per(best[PLAIN], b->frames),
		       per(best[LIBDW], b->frames), per(best[LIBDW], best[CACHED]),
		       per(best[LIBDW], best[PLAIN]));
		return;
	}
	json_begin(&j, stdout, "bench-trace");
	json_text(&j, "file", name);
	json_number(&j, "samples", b->nr);
	json_number(&j, "frames", b->frames);
	json_number(&j, "ours_ns", best[CACHED]);
	json_number(&j, "ours_plain_ns", best[PLAIN]);
	json_number(&j, "libdw_ns", best[LIBDW]);
	json_number(&j, "failed", b->failed);
	json_end(&j);
}

static void unload(struct bench *b)
{
	u32 k;

	for (k = 0; b->sample && k < b->nr; k++)
		drop(&b->sample[k]);
	free(b->sample);
	check_run_oracle_free(b->oracles);
	if (b->tasks)
		task_table_free(b->tasks);
	if (b->modules)
		module_table_free(b->modules);
	if (b->pager)
		pager_free(b->pager);
}

static int on_option(int idx, const char *value, void *arg)
{
	struct bench *b = arg;

	switch (idx) {
	case OPT_PASSES:
		return cli_number(&cli, idx, value, 1, 1000, &b->passes);
	case OPT_SAMPLES:
		return cli_number(&cli, idx, value, 2, MAX_SAMPLES, &b->max);
	case OPT_JSON:
		b->json = true;
		return 0;
	}
	return CLI_ERROR;
}

int main(int argc, char **argv)
{
	static struct bench b = { .passes = 20, .max = 128, .stride = 1 };
	int first = cli_parse(&cli, argc, argv, on_option, &b), result = CLI_STATUS_OK;
	struct perf_error err;
	struct perf_data *pd;

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first < 0)
		return CLI_STATUS_USAGE;
	if (first != argc - 1) {
		cli_error(&cli, "one file");
		return CLI_STATUS_USAGE;
	}
	ehu_row_cache_init(&b.cache, b.slot, EHU_ROW_CACHE_SLOTS);
	pd = perf_data_open(argv[first], &err);
	if (!pd) {
		fprintf(stderr, "%s: %s\n", cli.prog, err.text);
		return CLI_STATUS_INPUT;
	}
	if (load(&b, pd)) {
		fprintf(stderr, "%s: %s: %s\n", cli.prog, argv[first],
			perf_data_error(pd)->status ? perf_data_error(pd)->text : "out of memory");
		result = CLI_STATUS_INPUT;
	}
	if (b.nr)
		measure(&b, argv[first]);
	else if (!result)
		result = CLI_STATUS_IMPOSSIBLE;
	if (!b.nr)
		fprintf(stderr, "%s: %s: no sample with equal traces\n", cli.prog, argv[first]);
	if (b.failed) {
		fprintf(stderr, "%s: %" PRIu64 " walks differ\n", cli.prog, b.failed);
		result = CLI_STATUS_DIFFERS;
	}
	unload(&b);
	perf_data_close(pd);
	return result;
}
