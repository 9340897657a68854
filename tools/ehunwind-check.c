// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-check: does our unwinder agree with the references on this input? */

#include "harness/cli.h"
#include "harness/static_run.h"

enum { OPT_JOBS, OPT_JSON, OPT_VERBOSE };

static const struct cli_opt opts[] = {
	[OPT_JOBS] = { "jobs", 'j', "N", "check N files at a time (1)" },
	[OPT_JSON] = { "json", 0, NULL, "one JSON object a line on stdout" },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, "name everything one by one" },
	{ 0 },
};

static const struct cli cli = {
	.prog = "ehunwind-check",
	.usage = "[OPTION]... FILE|DIR...",
	.about = "Compare every CFI row of ELF files with libdw's; where they differ, libdwarf has\n"
		 "the third opinion.",
	.opts = opts,
	.footer = "exit status: 0 all agree, 1 something differs, 2 usage, 3 bad input,\n"
		  "4 not possible here or nothing compared",
};

static int on_option(int idx, const char *value, void *arg)
{
	struct static_options *o = arg;
	uint64_t n = 0;

	switch (idx) {
	case OPT_JOBS:
		if (cli_number(&cli, idx, value, 1, 64, &n))
			return CLI_ERROR;
		o->jobs = (unsigned int)n;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_VERBOSE:
		o->verbose = true;
		break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct static_options options = { .jobs = 1 };
	int first = cli_parse(&cli, argc, argv, on_option, &options);

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first < 0)
		return CLI_STATUS_USAGE;
	if (first == argc) {
		cli_error(&cli, "no file given");
		return CLI_STATUS_USAGE;
	}
	return static_run(&options, argv + first, argc - first);
}
