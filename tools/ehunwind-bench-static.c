// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-bench-static: time and memory of the rows of a file, ours beside libdw's. */

#include "harness/bench_static.h"
#include "harness/bench_visit.h"
#include "harness/cli.h"

enum { OPT_ROUNDS, OPT_ROWS, OPT_JSON };

static const struct cli_opt opts[] = {
	[OPT_ROUNDS] = { "rounds", 'r', "N", "measure N times, in turns, and take the sums (5)" },
	[OPT_ROWS] = { "rows", 0, NULL,
		       "ns a row instead: all of them, and one an FDE in random order,\n"
		       "in a first pass and in one after it" },
	[OPT_JSON] = { "json", 0, NULL, "with --rows: one JSON object a line" },
	{ 0 },
};

static const struct cli cli = {
	.prog = "ehunwind-bench-static",
	.usage = "[OPTION]... FILE...",
	.about = "Compute every CFI row of ELF files by ehunwind and by libdw, and compare the user\n"
		 "time and the memory that it takes.",
	.opts = opts,
	.footer = "exit status: 0 within the bounds, 1 not, 2 usage, 3 bad input",
};

struct options {
	unsigned int rounds;
	bool rows;
	bool json;
};

static int on_option(int idx, const char *value, void *arg)
{
	struct options *o = arg;
	uint64_t n = 0;

	switch (idx) {
	case OPT_ROWS:
		o->rows = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	}
	if (cli_number(&cli, idx, value, 1, 1000, &n))
		return CLI_ERROR;
	o->rounds = (unsigned int)n;
	return 0;
}

int main(int argc, char **argv)
{
	int status = CLI_STATUS_OK;
	struct options o = { .rounds = 5 };
	int i = cli_parse(&cli, argc, argv, on_option, &o);

	if (i == CLI_HELP)
		return CLI_STATUS_OK;
	if (i < 0)
		return CLI_STATUS_USAGE;
	if (i == argc) {
		cli_error(&cli, "no file given");
		return CLI_STATUS_USAGE;
	}
	if (o.json && !o.rows) {
		cli_error(&cli, "--json is for --rows");
		return CLI_STATUS_USAGE;
	}
	for (; i < argc && status != CLI_STATUS_INPUT; i++) {
		int s = o.rows ? bench_visit(argv[i], o.rounds, o.json) :
				 bench_static(argv[i], o.rounds);

		if (s)
			status = s;
	}
	return status;
}
