// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-bench: what a frame costs us, other unwinders and two floors, on the same samples. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench_report.h"
#include "harness/bench_synth.h"
#include "harness/cli.h"

enum { OPT_REPEATS, OPT_PASSES, OPT_SAMPLES, OPT_CPU, OPT_COUNT, OPT_SYNTHETIC, OPT_GROWTH,
       OPT_JSON };

static const struct cli_opt opts[] = {
	[OPT_REPEATS] = {"repeats", 'r', "N", "processes of each unwinder, in turns (5)"},
	[OPT_PASSES] = {"passes", 'p', "N", "passes over the samples in each, after one (7)"},
	[OPT_SAMPLES] = {"samples", 'n', "N", "samples of a file, thinned out evenly (2000)"},
	[OPT_CPU] = {"cpu", 'c', "N", "the CPU that they run on (the last one)"},
	[OPT_COUNT] = {"count", 0, "ENGINE",
		       "only walk: the first pass and --passes more of one unwinder in\n"
		       "this process, for a program that counts instructions; or \"static\""},
	[OPT_SYNTHETIC] = {"synthetic", 0, "FDES,DEPTH",
			   "with --count: 100 made-up stacks, no file"},
	[OPT_GROWTH] = {"growth", 0, NULL, "how cost grows with FDEs, modules, depth, threads; no file"},
	[OPT_JSON] = {"json", 0, NULL, "one JSON object a line on stdout"},
	{0},
};

static const struct cli cli = {
	.prog = "ehunwind-bench",
	.usage = "[OPTION]... FILE...",
	.about = "Walks the samples of perf.data files with several unwinders, each in processes\n"
		 "of its own, in turns, and compares every frame with libdw's. Times are CPU time.",
	.opts = opts,
	.footer = "exit status: 0 measured, 1 our frames differ from libdw's, 2 usage, 3 bad input,\n"
		  "4 no sample",
};

struct options {
	struct bench_params params;
	u64 samples;
	const char *count;
	u64 fdes;
	u64 depth;
	bool growth;
	bool json;
};

static int on_option(int idx, const char *value, void *arg)
{
	struct options *o = arg;
	u64 cpu = 0;
	char end;
	int rc;

	switch (idx) {
	case OPT_REPEATS:
		return cli_number(&cli, idx, value, 1, BENCH_MAX_REPEATS, &o->params.repeats);
	case OPT_PASSES:
		return cli_number(&cli, idx, value, 1, BENCH_MAX_PASSES, &o->params.passes);
	case OPT_SAMPLES:
		return cli_number(&cli, idx, value, 2, BENCH_MAX_SAMPLES, &o->samples);
	case OPT_CPU:
		rc = cli_number(&cli, idx, value, 0, 1023, &cpu);
		o->params.cpu = (int)cpu;
		return rc;
	case OPT_COUNT:
		o->count = value;
		return 0;
	case OPT_SYNTHETIC:
		if (sscanf(value, "%" SCNu64 ",%" SCNu64 "%c", &o->fdes, &o->depth, &end) != 2 ||
		    !o->fdes || o->fdes > BENCH_SYNTH_MAX_FDES || !o->depth ||
		    o->depth > BENCH_SYNTH_MAX_DEPTH) {
			cli_error(&cli, "--synthetic wants FDES,DEPTH, not %s", value);
			return CLI_ERROR;
		}
		return 0;
	case OPT_GROWTH:
		o->growth = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	}
	return CLI_ERROR;
}

/* No clock, no fork: whoever watches this process counts. */
static int count(const struct options *o, const struct bench_set *set)
{
	const struct bench_engine *e = bench_engine_named(o->count);
	void *engine = NULL;
	u64 frames = 0;

	if (!strcmp(o->count, "static") && o->fdes) {
		for (u64 k = 0; k <= o->params.passes; k++)
			frames = bench_synth_rows(set);
		printf("frames %" PRIu64 " (rows)\n", frames);
		return CLI_STATUS_OK;
	}
	if (e)
		engine = e->open(set);
	if (!engine) {
		fprintf(stderr, "%s: no engine %s here\n", cli.prog, o->count);
		return CLI_STATUS_IMPOSSIBLE;
	}
	for (u64 k = 0; k <= o->params.passes; k++) {
		frames = 0;
		for (u32 n = 0; n < set->nr; n++)
			frames += e->walk(engine, &set->sample[n], NULL);
	}
	printf("frames %" PRIu64 "\n", frames);
	return CLI_STATUS_OK;
}

/* The engines know one machine. */
static bool is_measured(const struct bench_set *set)
{
	for (u32 k = 0; k < set->nr_spaces; k++)
		if (set->space[k].arch != &ehu_arch_x86_64)
			return false;
	return set->nr;
}

static int one_file(const struct options *o, const char *path, struct bench_report *report)
{
	struct bench_result result[BENCH_MAX_ENGINES];
	struct perf_error err;
	struct bench_set set;
	int status = CLI_STATUS_OK;

	if (bench_set_load(&set, path, (u32)o->samples, &err)) {
		fprintf(stderr, "%s: %s: %s\n", cli.prog, path,
			err.status ? err.text : "out of memory");
		status = CLI_STATUS_INPUT;
	} else if (!is_measured(&set)) {
		fprintf(stderr, "%s: %s: no samples of x86-64 programs alone\n", cli.prog, path);
		status = CLI_STATUS_IMPOSSIBLE;
	} else if (o->count) {
		status = count(o, &set);
	} else if (bench_run(&set, &o->params, result)) {
		status = CLI_STATUS_INPUT;
	} else {
		status = bench_report_add(report, path, &set, result) ? CLI_STATUS_OK :
									CLI_STATUS_DIFFERS;
	}
	bench_set_free(&set);
	return status;
}

static int synthetic(const struct options *o)
{
	struct bench_set set;
	int status = CLI_STATUS_INPUT;

	if (bench_synth(&set, o->fdes, (u32)o->depth, 100))
		status = count(o, &set);
	bench_set_free(&set);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {
		.params = { .repeats = 5, .passes = 7, .cpu = bench_last_cpu() }, .samples = 2000,
	};
	int first = cli_parse(&cli, argc, argv, on_option, &o), worst = CLI_STATUS_OK, status;
	struct bench_report report = { 0 };

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first < 0)
		return CLI_STATUS_USAGE;
	report.json = o.json;
	if (o.growth)
		return bench_growth(o.json) ? CLI_STATUS_OK : CLI_STATUS_INPUT;
	if (o.fdes && o.count)
		return synthetic(&o);
	if (first == argc) {
		cli_error(&cli, "at least one file");
		return CLI_STATUS_USAGE;
	}
	for (; first < argc; first++) {
		status = one_file(&o, argv[first], &report);
		/* 1 wins over 3 over 4. */
		if (status && (!worst || status < worst))
			worst = status;
	}
	if (!o.count)
		bench_report_print(&report);
	return worst;
}
