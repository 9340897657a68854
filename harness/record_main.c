// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A capture that goes to a file and nowhere else: what ehunwind-record does. */

#include "harness/record_main.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/cli.h"
#include "harness/perf_write.h"

#define VERSION	"ehunwind"

struct context {
	const struct record_main *rec;
	struct perf_write *out;
};

static int on_start(void *arg, const struct perf_event_attr *attr, const u64 *ids, u32 nr_ids)
{
	struct context *c = arg;

	return perf_write_begin(c->out, attr, ids, nr_ids);
}

static int on_record(void *arg, const void *record, size_t size)
{
	struct context *c = arg;

	return perf_write_record(c->out, record, size);
}

static int on_round(void *arg)
{
	struct context *c = arg;

	return perf_write_round(c->out);
}

static void on_note(void *arg, const char *text)
{
	struct context *c = arg;

	if (!c->rec->quiet)
		fprintf(stderr, "%s: %s\n", c->rec->prog, text);
}

static void report(const struct record_main *rec, const struct perf_capture_result *r, u64 bytes,
		   bool all)
{
	const char *name = rec->prog;

	fprintf(stderr, "%s: %llu samples, %llu records, %llu lost; %s%llu.%01llu MB in %s\n", name,
		(unsigned long long)r->samples, (unsigned long long)r->records,
		(unsigned long long)r->lost, all ? "" : "not all written: ",
		(unsigned long long)bytes / 1000000,
		(unsigned long long)bytes / 100000 % 10, rec->path);
	if (r->throttled)
		fprintf(stderr, "%s: the kernel paused sampling %llu times\n", name,
			(unsigned long long)r->throttled);
	if (r->signal)
		fprintf(stderr, "%s: interrupted by %s\n", name, strsignal(r->signal));
	if (r->exited && WIFSIGNALED(r->wait_status))
		fprintf(stderr, "%s: the command was ended by signal %d: %s\n", name,
			WTERMSIG(r->wait_status), strsignal(WTERMSIG(r->wait_status)));
	else if (r->exited && WEXITSTATUS(r->wait_status))
		fprintf(stderr, "%s: the command ended with status %d\n", name,
			WEXITSTATUS(r->wait_status));
}

static int status_of(enum perf_capture_end end)
{
	switch (end) {
	case PERF_CAPTURE_OK:
		return CLI_STATUS_OK;
	case PERF_CAPTURE_BAD_OPTS:
		return CLI_STATUS_USAGE;
	case PERF_CAPTURE_SINK:
		return CLI_STATUS_INPUT;
	default:
		return CLI_STATUS_IMPOSSIBLE;
	}
}

/**
 * record_main_run() - record into a file
 * @rec: what and where
 * @command: command and arguments, ended by NULL; not looked at when @rec has processes
 *
 * Messages go to stderr.
 *
 * Return: exit status: CLI_STATUS_OK, _USAGE, _INPUT (the file cannot be written) or
 *         _IMPOSSIBLE.
 */
int record_main_run(const struct record_main *rec, char *const command[])
{
	struct context c = { .rec = rec };
	const struct perf_capture_sink sink = {
		.start = on_start,
		.record = on_record,
		.round = on_round,
		.note = on_note,
		.arg = &c,
	};
	struct perf_capture_result result;
	enum perf_capture_end end;
	struct perf_error write_err;
	struct perf_error err;
	u64 bytes;
	int status;

	c.out = perf_write_open(rec->path, !rec->opts.no_io_uring, &err);
	if (!c.out) {
		fprintf(stderr, "%s: %s\n", rec->prog, err.text);
		return CLI_STATUS_INPUT;
	}
	if (perf_write_refused(c.out) && !rec->quiet)
		fprintf(stderr, "%s: writing with pwrite(2): io_uring is refused: %s\n", rec->prog,
			strerror(perf_write_refused(c.out)));
	if (rec->nr_pids)
		end = perf_capture_attach(&rec->opts, rec->pids, rec->nr_pids, &sink, &result, &err);
	else
		end = perf_capture_command(&rec->opts, command, &sink, &result, &err);
	status = status_of(end);
	/* Where the sink gave up, the writer has the better message. */
	if (end != PERF_CAPTURE_OK && end != PERF_CAPTURE_SINK)
		fprintf(stderr, "%s: %s\n", rec->prog, err.text);
	if (perf_write_close(c.out, VERSION, rec->argv, &bytes, &write_err)) {
		fprintf(stderr, "%s: %s\n", rec->prog, write_err.text);
		if (!status)
			status = CLI_STATUS_INPUT;
	}
	if (!rec->quiet && (end == PERF_CAPTURE_OK || end == PERF_CAPTURE_SINK))
		report(rec, &result, bytes, !write_err.status);
	return status;
}
