// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-record: sample a command or running processes into a perf.data file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/cli.h"
#include "harness/record_main.h"

enum { OUTPUT, FREQUENCY, STACK_SIZE, RING_SIZE, PID, DURATION, CYCLES, USER_ONLY, NO_IO_URING,
       QUIET };

static const struct cli_opt opts[] = {
	[OUTPUT] = { "output", 'o', "FILE", "where to write; default perf.data" },
	[FREQUENCY] = { "frequency", 'F', "HZ", "samples per second and CPU; default 997" },
	[STACK_SIZE] = { "stack-size", 's', "BYTES",
			 "stack bytes in a sample, rounded up to 8; default 16K" },
	[RING_SIZE] = { "ring-size", 'm', "BYTES", "ring buffer per CPU; default 4M" },
	[PID] = { "pid", 'p', "PID[,PID]...", "sample running processes instead of a command" },
	[DURATION] = { "duration", 'd', "SECONDS", "stop after this time" },
	[CYCLES] = { "cycles", 0, NULL, "hardware cycles, where the machine counts them" },
	[USER_ONLY] = { "user-only", 'u', NULL, "no samples while in the kernel" },
	[NO_IO_URING] = { "no-io-uring", 0, NULL, "wait with poll(2), write with pwrite(2)" },
	[QUIET] = { "quiet", 'q', NULL, "say nothing but errors" },
	{ }
};

static const struct cli cli = {
	.prog = "ehunwind-record",
	.usage = "[OPTION]... [--] COMMAND [ARGUMENT]...\n[OPTION]... --pid=PID[,PID]...",
	.about = "Samples a command with its threads and child processes: registers and a piece of the\n"
		 "user stack each time, in a perf.data file for ehunwind-check and perf.",
	.opts = opts,
	.footer = "Status: 0 recorded, 2 usage, 3 cannot write, 4 not possible here (no perf events,\n"
		  "no such command or process). The command's own status is not passed on.",
	.stop_at_operand = true,
};

static int parse_pids(const char *list, struct record_main *rec)
{
	for (;;) {
		char *end;
		long pid = strtol(list, &end, 10);

		if (pid <= 0 || pid > INT32_MAX || (*end && *end != ','))
			return cli_error(&cli, "--pid: '%s' is not a list of processes", list);
		if (rec->nr_pids == EHF_ARRAY_SIZE(rec->pids))
			return cli_error(&cli, "--pid: more than %u processes", rec->nr_pids);
		rec->pids[rec->nr_pids++] = (pid_t)pid;
		if (!*end)
			return 0;
		list = end + 1;
	}
}

static int on_option(int idx, const char *value, void *arg)
{
	struct record_main *rec = arg;
	struct perf_capture_opts *o = &rec->opts;
	uint64_t n = 0;

	switch (idx) {
	case OUTPUT:
		rec->path = value;
		return 0;
	case FREQUENCY:
		if (cli_number(&cli, idx, value, 1, 1000000, &n))
			return -1;
		o->frequency = (u32)n;
		return 0;
	case STACK_SIZE:
		if (cli_number(&cli, idx, value, 8, PERF_CAPTURE_MAX_STACK, &n))
			return -1;
		o->stack_size = ((u32)n + 7) & ~7u;
		return 0;
	case RING_SIZE:
		if (cli_number(&cli, idx, value, 4096, 1u << 30, &n))
			return -1;
		o->ring_size = (u32)n;
		return 0;
	case PID:
		return parse_pids(value, rec);
	case DURATION:
		if (cli_number(&cli, idx, value, 1, 4000000, &n))
			return -1;
		o->duration_ms = (u32)n * 1000;
		return 0;
	case CYCLES:
		o->cycles = true;
		return 0;
	case USER_ONLY:
		o->user_only = true;
		return 0;
	case NO_IO_URING:
		o->no_io_uring = true;
		return 0;
	case QUIET:
		rec->quiet = true;
		return 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct record_main rec = { .prog = cli.prog, .path = "perf.data", .argv = argv };
	int first = cli_parse(&cli, argc, argv, on_option, &rec);

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first < 0)
		return CLI_STATUS_USAGE;
	if ((rec.nr_pids > 0) == (first < argc)) {
		cli_error(&cli, rec.nr_pids ? "either a command or --pid" : "no command");
		return CLI_STATUS_USAGE;
	}
	return record_main_run(&rec, argv + first);
}
