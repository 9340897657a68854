// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-bench-static: user time and memory of all rows of a file, ours beside libdw's. */

#include "harness/bench_static.h"
#include "harness/cli.h"

enum { OPT_ROUNDS };

static const struct cli_opt opts[] = {
	[OPT_ROUNDS] = { "rounds", 'r', "N", "measure N times, in turns, and take the sums (5)" },
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

static int on_option(int idx, const char *value, void *arg)
{
	uint64_t n = 0;

	if (cli_number(&cli, idx, value, 1, 1000, &n))
		return CLI_ERROR;
	*(unsigned int *)arg = (unsigned int)n;
	return 0;
}

int main(int argc, char **argv)
{
	int status = CLI_STATUS_OK;
	unsigned int rounds = 5;
	int i = cli_parse(&cli, argc, argv, on_option, &rounds);

	if (i == CLI_HELP)
		return CLI_STATUS_OK;
	if (i < 0)
		return CLI_STATUS_USAGE;
	if (i == argc) {
		cli_error(&cli, "no file given");
		return CLI_STATUS_USAGE;
	}
	for (; i < argc && status != CLI_STATUS_INPUT; i++) {
		int s = bench_static(argv[i], rounds);

		if (s)
			status = s;
	}
	return status;
}
