// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-check: does our unwinder agree with the references on this input? */

#include "harness/check_run.h"
#include "harness/cli.h"
#include "harness/static_run.h"

#include <string.h>

enum { OPT_JOBS, OPT_JSON, OPT_VERBOSE, OPT_PERF_DATA, OPT_SAVE, OPT_FREQUENCY, OPT_STACK_SIZE,
       OPT_FAULT_READS, OPT_SYMFS, OPT_NO_IO_URING, OPT_SYMBOLS, OPT_NO_SYMBOLS, OPT_NO_DEMANGLE,
       OPT_BUILDID_DIR, OPT_VERIFY_SYMBOLS, OPT_HTML, OPT_FOLDED, OPT_PRINT,
       OPT_DEBUG_FRAME, OPT_MODE, OPT_PID, OPT_DURATION, OPT_EXIT_STATUS, OPT_CORE, OPT_EXE };

static const struct cli_opt opts[] = {
	[OPT_JOBS] = { "jobs", 'j', "N", "check N files at a time, or print by N processes (1)" },
	[OPT_JSON] = { "json", 0, NULL, "one JSON object a line on stdout; what a command prints\n"
					"there goes to stderr" },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, "name everything one by one" },
	[OPT_PERF_DATA] = { "perf-data", 'i', "FILE",
			    "unwind the samples of a perf.data file; - for a pipe" },
	[OPT_SAVE] = { "save", 'o', "FILE", "write what was sampled to a perf.data file" },
	[OPT_FREQUENCY] = { "frequency", 'F', "HZ", "samples per second and CPU (997)" },
	[OPT_STACK_SIZE] = { "stack-size", 's', "BYTES",
			     "stack bytes in a sample, rounded up to 8 (16K)" },
	[OPT_FAULT_READS] = { "fault-reads", 0, NULL,
			      "walk each sample again once for each read, which then fails" },
	[OPT_SYMFS] = { "symfs", 0, "DIR", "look for the files of a recording below DIR" },
	[OPT_NO_IO_URING] = { "no-io-uring", 0, NULL, "plain reads and writes, poll(2)" },
	[OPT_SYMBOLS] = { "symbols", 0, "none|diffs|all",
			  "whose frames get names: no trace's, those that are not\n"
			  "equal (diffs, the default), or all" },
	[OPT_NO_SYMBOLS] = { "no-symbols", 0, NULL, "the same as --symbols=none" },
	[OPT_NO_DEMANGLE] = { "no-demangle", 0, NULL, "leave C++ and Rust names as they are" },
	[OPT_BUILDID_DIR] = { "buildid-dir", 0, "DIR", "perf's build-id cache (~/.debug)" },
	[OPT_VERIFY_SYMBOLS] = { "verify-symbols", 0, "N",
				 "ask addr2line about N random frames as well" },
	[OPT_HTML] = { "html", 0, "FILE", "write a page with a flame graph" },
	[OPT_FOLDED] = { "folded", 0, "FILE", "write stacks for flame graph tools; - for stdout\n"
				"(the report then goes to stderr)" },
	[OPT_PRINT] = { "print", 0, NULL, "print each stack, as perf script does; compare nothing" },
	[OPT_DEBUG_FRAME] = { "debug-frame", 0, NULL,
			      "let libdw use .debug_frame of separate debug files" },
	[OPT_MODE] = { "mode", 0, "copy|defer",
		       "copy (the default): unwind what the kernel copies of the stack;\n"
		       "defer: stop the task on its way back to user space, and walk its\n"
		       "live memory there" },
	[OPT_PID] = { "pid", 'p', "PID", "sample a running process" },
	[OPT_DURATION] = { "duration", 0, "S", "end after S seconds" },
	[OPT_EXIT_STATUS] = { "exit-status", 0, NULL, "where nothing differs, exit as the command did" },
	[OPT_CORE] = { "core", 0, "FILE", "unwind the threads of a core dump" },
	[OPT_EXE] = { "exe", 0, "FILE", "the program that dumped it" },
	{ 0 },
};

static const struct cli cli = {
	.prog = "ehunwind-check",
	.usage = "[OPTION]... FILE|DIR...\n[OPTION]... -- COMMAND [ARGUMENT]...\n"
		 "[OPTION]... --pid=PID\n[OPTION]... --perf-data=FILE\n[OPTION]... --core=FILE [--exe=FILE]",
	.about = "Compare every CFI row of ELF files with libdw's; where they differ, libdwarf has\n"
		 "the third opinion. Or sample a command or a running process, unwind each\n"
		 "sample, and compare every frame with libdw's; or do so for a perf.data file.",
	.opts = opts,
	.footer = "exit status: 0 all agree, 1 something differs, 2 usage, 3 bad input,\n"
		  "4 not possible here or nothing compared; a command's own is passed on\n"
		  "with --exit-status only",
	.tell_separator = true,
};

/**
 * struct options - the command line
 * @files: for files
 * @run: for samples
 * @command: "--" was met: a command follows
 * @sampling: an option that makes sense for samples only; NULL where there was none
 * @capturing: the same for a command or a process only
 * @named: what @sampling may point to
 */
struct options {
	struct static_options files;
	struct check_run_options run;
	bool command;
	const char *sampling;
	const char *capturing;
	char named[32];
};

static int on_names(int idx, const char *value, struct options *o)
{
	struct check_run_names_options *names = &o->run.names;
	uint64_t n = 0;

	switch (idx) {
	case OPT_SYMBOLS:
		if (!strcmp(value, "none"))
			names->mode = CHECK_RUN_NAMES_NONE;
		else if (!strcmp(value, "diffs"))
			names->mode = CHECK_RUN_NAMES_DIFFS;
		else if (!strcmp(value, "all"))
			names->mode = CHECK_RUN_NAMES_ALL;
		else
			return cli_error(&cli, "--symbols: '%s' is not none, diffs or all", value);
		break;
	case OPT_NO_SYMBOLS:
		names->mode = CHECK_RUN_NAMES_NONE;
		break;
	case OPT_NO_DEMANGLE:
		names->raw = true;
		break;
	case OPT_BUILDID_DIR:
		names->buildid_dir = value;
		break;
	case OPT_VERIFY_SYMBOLS:
		if (cli_number(&cli, idx, value, 1, 1000000, &n))
			return CLI_ERROR;
		names->verify = (u32)n;
		break;
	case OPT_HTML:
		names->html = value;
		break;
	case OPT_FOLDED:
		names->folded = value;
		/* The stacks are for other programs to read: the report goes elsewhere. */
		o->run.out = strcmp(value, "-") ? NULL : stderr;
		break;
	case OPT_DEBUG_FRAME:
		o->run.debug_frame = true;
		break;
	case OPT_PRINT:
		names->print = true;
		break;
	default:
		return CLI_ERROR;
	}
	snprintf(o->named, sizeof(o->named), "--%s", opts[idx].name);
	o->sampling = o->named;
	return 0;
}

static int on_option(int idx, const char *value, void *arg)
{
	struct options *o = arg;
	uint64_t n = 0;

	switch (idx) {
	case CLI_SEPARATOR:
		if (value)
			return cli_error(&cli, "'%s' before the command: neither file nor option", value);
		o->command = true;
		return 0;
	case OPT_JOBS:
		if (cli_number(&cli, idx, value, 1, 64, &n))
			return CLI_ERROR;
		o->files.jobs = (unsigned int)n;
		o->run.jobs = (u32)n;
		return 0;
	case OPT_JSON:
		o->files.json = o->run.json = true;
		return 0;
	case OPT_VERBOSE:
		o->files.verbose = o->run.names.verbose = true;
		return 0;
	case OPT_PERF_DATA:
		o->run.perf_data = value;
		return 0;
	case OPT_SAVE:
		o->run.save = value;
		o->capturing = "--save";
		return 0;
	case OPT_FREQUENCY:
		if (cli_number(&cli, idx, value, 1, 1000000, &n))
			return CLI_ERROR;
		o->run.capture.frequency = (u32)n;
		o->capturing = "--frequency";
		return 0;
	case OPT_STACK_SIZE:
		if (cli_number(&cli, idx, value, 8, PERF_CAPTURE_MAX_STACK, &n))
			return CLI_ERROR;
		o->run.capture.stack_size = ((u32)n + 7) & ~7u;
		o->capturing = "--stack-size";
		return 0;
	case OPT_FAULT_READS:
		o->run.fault_reads = true;
		o->sampling = "--fault-reads";
		return 0;
	case OPT_SYMFS:
		o->run.symfs = value;
		o->sampling = "--symfs";
		return 0;
	case OPT_PID:
		if (cli_number(&cli, idx, value, 1, 1u << 30, &n))
			return CLI_ERROR;
		o->run.pid = (pid_t)n;
		return 0;
	case OPT_MODE:
		if (strcmp(value, "copy") && strcmp(value, "defer"))
			return cli_error(&cli, "--mode: '%s' is neither copy nor defer", value);
		o->run.defer = !strcmp(value, "defer");
		o->capturing = "--mode";
		return 0;
	case OPT_DURATION:
		if (cli_number(&cli, idx, value, 1, 1000000, &n))
			return CLI_ERROR;
		o->run.capture.duration_ms = (u32)n * 1000;
		o->capturing = "--duration";
		return 0;
	case OPT_EXIT_STATUS:
		o->run.exit_status = true;
		return 0;
	case OPT_CORE:
		o->run.core = value;
		return 0;
	case OPT_EXE:
		o->run.exe = value;
		return 0;
	case OPT_NO_IO_URING:
		o->run.no_io_uring = true;
		o->sampling = "--no-io-uring";
		return 0;
	}
	return on_names(idx, value, o);
}

/* Options that do not go together are said to be so, not ignored. */
static int check_options(const struct options *o, int operands)
{
	bool capture = o->command || o->run.pid;
	bool samples = capture || o->run.perf_data || o->run.core;

	if (!!o->command + !!o->run.perf_data + !!o->run.pid + !!o->run.core > 1)
		return cli_error(&cli, "one of a command, --pid, --perf-data and --core");
	if (!o->command && samples && operands)
		return cli_error(&cli, "either files or %s", o->run.pid ? "--pid" :
				 o->run.core ? "--core" : "--perf-data");
	if (o->run.exe && !o->run.core)
		return cli_error(&cli, "--exe is for --core");
	if ((o->command || !samples) && !operands)
		return cli_error(&cli, o->command ? "no command after --" : "no file given");
	if (o->capturing && !capture)
		return cli_error(&cli, "%s is for a command (put -- before it) or --pid", o->capturing);
	if (o->run.exit_status && !o->command)
		return cli_error(&cli, "--exit-status is for a command: put -- before it");
	if (o->sampling && !samples)
		return cli_error(&cli, "%s is for a command, --pid, --perf-data or --core", o->sampling);
	if (o->run.names.print && o->run.json)
		return cli_error(&cli, "either --print or --json");
	if (o->run.out && (o->run.names.print || o->run.json))
		return cli_error(&cli, "either --folded=- or --%s: both are standard output",
				 o->run.json ? "json" : "print");
	if (o->run.names.print && o->run.names.html)
		return cli_error(&cli, "--print compares nothing that --html could show");
	if (o->run.names.verify && o->run.names.mode == CHECK_RUN_NAMES_NONE)
		return cli_error(&cli, "--verify-symbols needs symbols");
	if (samples && o->run.jobs && !(o->run.names.print && o->run.perf_data))
		return cli_error(&cli, "--jobs is for files, and for --print with --perf-data");
	if (samples && o->run.jobs && (o->run.names.folded || o->run.names.verify))
		return cli_error(&cli, "--jobs shares out what is printed, not --%s",
				 o->run.names.folded ? "folded" : "verify-symbols");
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .files = { .jobs = 1 }, .run = { .prog = cli.prog, .argv = argv } };
	int first = cli_parse(&cli, argc, argv, on_option, &o);

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first < 0 || check_options(&o, argc - first))
		return CLI_STATUS_USAGE;
	if (!o.command && !o.run.perf_data && !o.run.pid && !o.run.core)
		return static_run(&o.files, argv + first, argc - first);
	if (o.command)
		o.run.command = argv + first;
	return check_run_main(&o.run);
}
