// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A run: records come from a capture or from a file, in order of time; at the end there is a
 * report and an exit status.
 */
#include "harness/core_run.h"
#include "harness/check_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/check_run_live.h"
#include "harness/check_run_sample.h"
#include "harness/cli.h"
#include "harness/defer.h"
#include "harness/json.h"
#include "harness/perf_order.h"
#include "harness/print_jobs.h"

#define MAX_NOTES	32

struct run {
	const struct check_run_options *opts;
	FILE *out;
	struct check_run_samples samples;
	bool ready;		/* @samples is set up */
	struct print_jobs *jobs;	/* NULL: this process is the only one */
	bool bad_input;
	bool impossible;
	struct defer_figures defer;
	struct core *core;	/* outlives @samples, as does @exe */
	char *exe;		/* absolute: a name without a slash is that of no mapped file */
	bool exited;		/* the command has ended, with @wait_status */
	int wait_status;
	char *note[MAX_NOTES];
	u32 nr_notes;
};

static const char *prog(const struct run *run)
{
	return run->opts->prog ? run->opts->prog : "ehunwind-check";
}

/* Something that a person wants to know at once; in JSON it is told again at the end. */
static void note(void *arg, const char *text)
{
	struct run *run = arg;

	if (run->jobs && !print_jobs_first(run->jobs))
		return;
	fprintf(stderr, "%s: %s\n", prog(run), text);
	if (run->opts->json && run->nr_notes < MAX_NOTES)
		run->note[run->nr_notes++] = strdup(text);
}

static void notef(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void notef(struct run *run, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	note(run, text);
}

static void fail(struct run *run, bool *kind, const char *text)
{
	struct json j;

	*kind = true;
	if (run->jobs && !print_jobs_first(run->jobs))
		return;
	fprintf(stderr, "%s: %s\n", prog(run), text);
	if (!run->opts->json)
		return;
	json_begin(&j, run->out, "error");
	json_text(&j, "text", text);
	json_end(&j);
}

static void flush_names(void *arg)
{
	struct run *run = arg;

	check_run_names_flush(run->samples.names);
}

static int take(struct run *run, const struct perf_event_rec *rec)
{
	int rc = 1;

	if (run->jobs && rec->type == PERF_RECORD_SAMPLE)
		rc = print_jobs_sample(run->jobs, flush_names, run);
	if (rc < 0)
		return rc;
	return rc ? check_run_samples_record(&run->samples, rec) :
		    check_run_samples_pass(&run->samples, rec);
}

static int set_up(struct run *run, const struct module_params *where)
{
	FILE *out = run->jobs ? print_jobs_text(run->jobs) : run->out;
	int rc = check_run_samples_init(&run->samples, run->opts, out, where);

	run->ready = !rc;
	return rc;
}

/* ---- from a capture ---- */

static int consume(struct check_run_live *live, void *arg)
{
	struct run *run = arg;
	struct module_params where = { .symfs = run->opts->symfs, .live = true };
	struct perf_event_rec rec;
	int rc = set_up(run, &where);

	while (!rc) {
		rc = check_run_live_next(live, &rec);
		if (rc <= 0)
			break;
		rc = take(run, &rec);
	}
	if (run->ready) {
		run->samples.figures.records_bad = check_run_live_bad(live);
		if (check_run_live_order(live))
			run->samples.figures.records_late = check_run_live_order(live)->late;
	}
	return rc;
}

/*
 * With JSON lines on standard output, what the command prints there goes to standard error: the
 * lines stay lines.
 */
static int command_output_aside(const struct run *run)
{
	int kept;

	if (!run->opts->json || run->opts->out)
		return -1;
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	if (kept >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return kept;
}

static void tell_end(struct run *run, int by_signal, bool exited, int wait_status)
{
	if (by_signal)
		notef(run, "interrupted by %s; this is what was captured", strsignal(by_signal));
	run->exited = exited;
	run->wait_status = wait_status;
	if (!exited)
		return;
	if (WIFSIGNALED(wait_status))
		notef(run, "the command was ended by signal %d: %s", WTERMSIG(wait_status),
		      strsignal(WTERMSIG(wait_status)));
	else if (WEXITSTATUS(wait_status))
		notef(run, "the command ended with status %d", WEXITSTATUS(wait_status));
}

static void tell_saved(struct run *run, u64 bytes, const struct perf_error *err)
{
	if (err->status)
		fail(run, &run->bad_input, err->text);
	else if (run->opts->save && bytes)
		notef(run, "%" PRIu64 " bytes in %s", bytes, run->opts->save);
}

static void tell_capture(struct run *run, const struct check_run_live_result *r)
{
	const struct perf_capture_result *c = &r->capture;

	if (c->throttled)
		notef(run, "the kernel paused sampling %" PRIu64 " times", c->throttled);
	tell_end(run, c->signal, c->exited, c->wait_status);
}

/* Sets where the report goes; false, told, where that fails. */
static bool set_output(struct run *run)
{
	int kept = run->opts->command ? command_output_aside(run) : -1;

	if (kept >= 0)
		run->out = fdopen(kept, "w");
	if (run->out)
		return true;
	run->out = stdout;
	fail(run, &run->impossible, "out of memory");
	return false;
}

static void from_capture(struct run *run)
{
	const struct check_run_options *opts = run->opts;
	struct check_run_live_opts live = {
		.capture = opts->capture, .command = opts->command, .save = opts->save,
		.pid = opts->pid, .argv = opts->argv, .note = note, .arg = run,
	};
	struct check_run_live_result result;
	int rc;

	live.capture.no_io_uring |= opts->no_io_uring;
	if (!set_output(run))
		return;
	rc = check_run_live(&live, consume, run, &result);
	if (rc)
		fail(run, &run->impossible, strerror(-rc));
	switch (result.end) {
	case PERF_CAPTURE_OK:
		tell_capture(run, &result);
		break;
	case PERF_CAPTURE_SINK:
		break;		/* told above */
	default:
		fail(run, &run->impossible, result.err.text);
	}
	tell_saved(run, result.saved, &result.save_err);
	if (run->ready)
		run->samples.figures.lost = result.capture.lost;
}

/* ---- from stopped tasks ---- */

static void from_stops(struct run *run)
{
	const struct check_run_options *opts = run->opts;
	const struct module_params where = { .symfs = opts->symfs, .live = true };
	const struct defer_opts how = {
		.live = { .frequency = opts->capture.frequency,
			  .duration_ms = opts->capture.duration_ms },
		.command = opts->command, .pid = opts->pid, .window = opts->capture.stack_size,
		.save = opts->save, .no_io_uring = opts->no_io_uring, .argv = opts->argv,
		.note = note, .arg = run,
	};
	struct defer_result result;
	int rc;

	if (!set_output(run))
		return;
	rc = set_up(run, &where);
	if (!rc)
		rc = defer_run(&how, &run->samples, &run->defer, &result);
	if (rc) {
		fail(run, &run->impossible, strerror(-rc));
		return;
	}
	if (result.end == PERF_CAPTURE_OK)
		tell_end(run, run->defer.live.signal, run->defer.live.exited,
			 run->defer.live.wait_status);
	else if (!result.save_err.status)
		fail(run, &run->impossible, result.err.text);
	tell_saved(run, result.saved, &result.save_err);
}

/* ---- from a file ---- */

static const u8 *header_build_id(void *arg, const char *path, u32 *size)
{
	return perf_data_build_id(arg, path, size);
}

/* This kernel's vDSO stands in for the recorded one only where it is the same kernel. */
static bool other_kernel(const struct perf_data *pd)
{
	const struct perf_data_info *info = perf_data_info(pd);
	struct utsname own;

	if (uname(&own))
		return true;
	return (info->osrelease[0] && strcmp(info->osrelease, own.release)) ||
	       (info->arch[0] && strcmp(info->arch, own.machine));
}

/* What writes libgcc's backtrace into the callchain calls itself so: selftests/targets/sampler.c. */
#define SAMPLER		"ehunwind-sampler"

static int read_records(struct run *run, struct perf_data *pd, struct perf_order *order)
{
	struct module_params where = {
		.symfs = run->opts->symfs, .build_id = header_build_id, .arg = pd,
	};
	struct perf_event_rec rec;
	int rc;

	for (;;) {
		rc = perf_order_next(order, pd, &rec);
		/* A pipe says which kernel it is of in its first records, so this comes after them. */
		if (!run->ready) {
			where.no_vdso = other_kernel(pd);
			if (set_up(run, &where))
				return -ENOMEM;
			run->samples.order = order;
			run->samples.chains = !strcmp(perf_data_info(pd)->version, SAMPLER);
			run->samples.replay.has_fprs = run->samples.chains;
		}
		if (rc <= 0)
			return rc;
		rc = take(run, &rec);
		if (rc)
			return rc;
	}
}

static void start_jobs(struct run *run)
{
	if (run->opts->jobs < 2)
		return;
	if (!strcmp(run->opts->perf_data, "-")) {
		notef(run, "one job: what comes through a pipe is there only once");
		return;
	}
	run->jobs = print_jobs_start(run->opts->jobs, run->out);
	if (!run->jobs)
		notef(run, "one job: %s", strerror(errno));
}

/* The last block, and what all jobs did. Only the first one goes on from here. */
static void end_jobs(struct run *run, int rc)
{
	struct report_trace *f = &run->samples.figures;
	struct print_jobs_sum sum = {
		.samples = f->samples, .untestable = f->outcome[COMPARE_UNTESTABLE],
	};

	/* Without names there was no sample, and there is nothing to flush. */
	rc = print_jobs_end(run->jobs, rc, flush_names, run, &sum);
	run->jobs = NULL;
	f->samples = sum.samples;
	f->outcome[COMPARE_UNTESTABLE] = sum.untestable;
	if (rc == -EPIPE)
		fail(run, &run->impossible, "a job ended early");
	else if (rc)
		fail(run, &run->impossible, rc == -ENOMEM ? "out of memory" : strerror(-rc));
}

static void tell_file(struct run *run, const struct perf_data *pd, const struct perf_order *order)
{
	const struct perf_data_stats *st = perf_data_stats(pd);
	struct report_trace *f = &run->samples.figures;

	f->records_bad = st->bad;
	f->records_unknown = st->unknown_types;
	f->records_late = perf_order_stats(order)->late;
	if (st->bad)
		notef(run, "%" PRIu64 " records contradict themselves, the first: %s", st->bad,
		      st->first_bad.text);
	if (perf_data_info(pd)->interrupted)
		notef(run, "the recording was interrupted: read up to its last whole record, %" PRIu64
		      " bytes left over", st->tail);
	if (st->build_ids_dropped)
		notef(run, "%" PRIu64 " build-ids not kept", st->build_ids_dropped);
}

static void from_file(struct run *run)
{
	struct perf_order *order = perf_order_new(PERF_ORDER_BYTES);
	struct perf_data *pd = NULL;
	struct perf_error err = { 0 };
	int rc = 0;

	start_jobs(run);
	if (!strcmp(run->opts->perf_data, "-"))
		pd = perf_data_open_fd(STDIN_FILENO, "standard input", &err);
	else
		pd = perf_data_open(run->opts->perf_data, &err);
	if (!pd || !order) {
		fail(run, &run->bad_input, pd ? "out of memory" : err.text);
	} else {
		rc = read_records(run, pd, order);
		if (rc < 0 && perf_data_error(pd)->status) {
			fail(run, &run->bad_input, perf_data_error(pd)->text);
			rc = 0;
		} else if (rc < 0 && !run->jobs) {
			fail(run, &run->impossible, "out of memory");
		}
		if (run->ready)
			tell_file(run, pd, order);
	}
	if (run->jobs)
		end_jobs(run, rc == -1 ? -ENOMEM : rc);
	if (pd)
		perf_data_close(pd);
	perf_order_free(order);
}

/* ---- from a core dump ---- */

static void from_core(struct run *run)
{
	struct core_run_opts how = { .symfs = run->opts->symfs, .note = note, .arg = run };
	struct module_params where;
	char why[512];

	if (run->opts->exe) {
		run->exe = realpath(run->opts->exe, NULL);
		snprintf(why, sizeof(why), "%s: %s", run->opts->exe, strerror(errno));
	}
	if (!run->opts->exe || run->exe)
		run->core = core_open(run->opts->core, why, sizeof(why));
	if (!run->core) {
		fail(run, &run->bad_input, why);
		return;
	}
	how.exe = run->exe;
	core_run_params(run->core, &how, &where);
	if (set_up(run, &where) || core_run(run->core, &how, &run->samples))
		fail(run, &run->impossible, "out of memory");
}

/* ---- the report ---- */

/* The page and the folded stacks, as far as they were asked for. */
static void write_files(struct run *run, const struct report_trace_context *context)
{
	struct check_run_samples *s = &run->samples;
	char *line = NULL, *about[2];
	size_t size;
	struct utsname own;
	const char *failed;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return;
	for (char *const *arg = run->opts->argv; arg && *arg; arg++)
		fprintf(f, "%s%s", arg == run->opts->argv ? "" : " ", *arg);
	fclose(f);
	about[0] = line;
	if (uname(&own) || asprintf(&about[1], "%s %s, %s", own.sysname, own.release, own.machine) < 0)
		about[1] = NULL;
	if (!check_run_names_end(s->names, &s->figures, context, (const char *const *)about,
				 about[1] ? 2 : 1, &failed))
		notef(run, "%s cannot be written: %s", failed, strerror(errno));
	free(about[1]);
	free(line);
}

static void report(struct run *run)
{
	struct check_run_samples *s = &run->samples;
	const struct report_trace_context context = {
		.modules = s->modules, .pager = s->pager,
		.tasks = &s->tasks->stats, .fault_reads = run->opts->fault_reads,
		.defer = run->opts->defer ? &run->defer : NULL, .core = run->core,
		.merge = defer_merge_figures(s->merge), .cover = run->opts->names.html,
	};
	const struct check_run_oracle_stats *o = check_run_oracle_stats(s->oracles);
	struct json j;
	u32 k;

	defer_merge_end(s->merge);
	if (o->refused)
		notef(run, "libdw refuses %" PRIu64 " modules, the first: %s", o->refused,
		      o->refused_why);
	if (run->opts->json) {
		for (k = 0; k < run->nr_notes; k++) {
			json_begin(&j, run->out, "note");
			json_text(&j, "text", run->note[k] ? run->note[k] : "");
			json_end(&j);
		}
		check_run_names_json_end(s->names, run->out);
		write_files(run, &context);
		/* The summary is the last line, whatever else there is. */
		report_trace_json(&s->figures, &context, run->out);
		return;
	}
	/* Standard output has the stacks, for other programs to read. */
	if (run->opts->names.print) {
		notef(run, "%" PRIu64 " stacks printed, none compared; %" PRIu64 " samples have none",
		      report_trace_testable(&s->figures), s->figures.outcome[COMPARE_UNTESTABLE]);
		write_files(run, &context);
		return;
	}
	report_trace_text(&s->figures, &context, run->out);
	check_run_names_text(s->names, run->out);
	write_files(run, &context);
	fflush(s->list);
	if (s->listed)
		fprintf(run->out, "\nThe first %u samples that fail\n%s", s->listed, s->list_text);
}

static int status(const struct run *run)
{
	if ((run->ready && report_trace_failed(&run->samples.figures)) || run->defer.bad)
		return CLI_STATUS_DIFFERS;
	if (run->bad_input)
		return CLI_STATUS_INPUT;
	/* As a shell has it. */
	if (run->opts->exit_status && run->exited)
		return WIFSIGNALED(run->wait_status) ? 128 + WTERMSIG(run->wait_status) :
						       WEXITSTATUS(run->wait_status);
	if (run->impossible || !run->ready || !report_trace_testable(&run->samples.figures))
		return CLI_STATUS_IMPOSSIBLE;
	return CLI_STATUS_OK;
}

/**
 * check_run_main() - sample a command or process, or read a perf.data file, and compare all traces
 * @opts: what and how
 *
 * The report goes to @opts->out, messages to standard error.
 *
 * Return: exit status: CLI_STATUS_DIFFERS where a trace differs or its length is unexplained,
 *	   CLI_STATUS_INPUT for a bad file, CLI_STATUS_IMPOSSIBLE where nothing could be compared,
 *	   else CLI_STATUS_OK.
 */
int check_run_main(const struct check_run_options *opts)
{
	struct run run = { .opts = opts, .out = opts->out ? opts->out : stdout };
	int result;
	u32 k;

	if (opts->core)
		from_core(&run);
	else if (opts->perf_data)
		from_file(&run);
	else if (opts->defer)
		from_stops(&run);
	else
		from_capture(&run);
	/* Where there is nothing but an error, that was the report. */
	if (run.ready && (run.samples.figures.samples || !(run.impossible || run.bad_input)))
		report(&run);
	result = status(&run);
	if (run.ready)
		check_run_samples_end(&run.samples);
	core_close(run.core);
	free(run.exe);
	for (k = 0; k < run.nr_notes; k++)
		free(run.note[k]);
	if (fflush(run.out) || ferror(run.out)) {
		fprintf(stderr, "%s: the report cannot be written: %s\n", prog(&run), strerror(errno));
		if (result == CLI_STATUS_OK)
			result = CLI_STATUS_IMPOSSIBLE;
	}
	if (run.out != stdout && run.out != opts->out)
		fclose(run.out);
	return result;
}
