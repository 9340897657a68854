// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Runs the static check over files, each in a process of its own: what a hostile file may do to a
 * reference library ends there, and is counted.
 */
#include "harness/static_run.h"

#include "harness/cli.h"
#include "harness/static_paths.h"
#include "harness/static_report.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_JOBS	64

/* CPU seconds for one file. The largest libraries of Debian take one. */
#define FILE_SECONDS	600

/* A file under way or done; what its process wrote begins with struct static_result. */
struct job {
	pid_t pid;
	int fd;
	bool done;
	char *text;
	size_t len;
	size_t room;
	int wait_status;
};

struct run {
	const struct static_options *options;
	struct static_paths paths;
	struct job *job;		/* one a path */
	size_t next;			/* to start */
	size_t finished;		/* all before are reported */
	size_t running[MAX_JOBS];	/* indices */
	unsigned int nr_running;
	struct static_sum sum;
	bool named_failed;
	FILE *out;			/* the report of the files */
};

static bool write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static void check_file(const struct static_options *o, const struct static_path *path, FILE *out,
		       struct static_result *r)
{
	struct image_error err = { 0 };
	struct static_fdes fdes;
	struct static_report rep;
	struct static_sink sink;
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx;
	struct image *img;

	r->status = image_open(path->path, &img, &err);
	if (r->status) {
		static_report_error(out, o->json, path->path, image_status_name(r->status),
				    err.text);
		return;
	}
	ctx = image_ctx(img, &ehf_limits_file, &cost);
	if (!static_fdes_read(&fdes, img, &ctx)) {
		r->status = IMAGE_UNREADABLE;
		static_report_error(out, o->json, path->path, "unreadable", "out of memory");
		return;
	}
	static_report_begin(&rep, out, path->path, o->json, o->verbose);
	sink = static_report_sink(&rep);
	check_static(img, &fdes, &sink, r);
	static_report_file(&rep, img, &fdes, r);
	static_fdes_free(&fdes);
	image_close(img);
}

static _Noreturn void child(const struct static_options *o, const struct static_path *path, int fd)
{
	struct rlimit cpu = { FILE_SECONDS, FILE_SECONDS + 1 };
	struct static_result r = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	setrlimit(RLIMIT_CPU, &cpu);
	if (!out)
		_exit(1);
	check_file(o, path, out, &r);
	if (fclose(out) || !write_all(fd, &r, sizeof(r)) || !write_all(fd, text, len))
		_exit(1);
	_exit(0);
}

static bool start(struct run *run, size_t i)
{
	struct job *job = &run->job[i];
	int fd[2];

	if (pipe(fd))
		return false;
	job->pid = fork();
	if (job->pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return false;
	}
	if (!job->pid) {
		close(fd[0]);
		child(run->options, &run->paths.file[i], fd[1]);
	}
	close(fd[1]);
	job->fd = fd[0];
	run->running[run->nr_running++] = i;
	return true;
}

/* Takes what a process wrote; true when it has ended. */
static bool take(struct job *job)
{
	ssize_t n;

	if (job->room - job->len < 65536) {
		size_t room = job->room ? 2 * job->room : 131072;
		char *grown = realloc(job->text, room);

		if (!grown)
			return true;
		job->text = grown;
		job->room = room;
	}
	n = read(job->fd, job->text + job->len, job->room - job->len);
	if (n < 0)
		return errno != EINTR && errno != EAGAIN;
	job->len += (size_t)n;
	return n == 0;
}

static void add_result(struct run *run, const struct static_path *path,
		       const struct static_result *r)
{
	struct static_sum *sum = &run->sum;

	if (r->changed) {
		sum->files_failed++;
		run->named_failed |= path->named;
		return;
	}
	if (r->status == IMAGE_OK) {
		sum->files++;
		static_result_add(&sum->total, r);
		for (u32 i = 0; i < STATIC_NR_ODDITIES; i++)
			sum->odd_files[i] += !!r->odd[i];
		return;
	}
	run->named_failed |= path->named;
	if (r->status == IMAGE_TRUNCATED || r->status == IMAGE_DAMAGED ||
	    r->status == IMAGE_UNREADABLE)
		sum->files_failed++;
	else
		sum->skipped[r->status]++;
}

static void crashed(struct run *run, const struct static_path *path, const struct job *job)
{
	char text[4400];

	if (WIFSIGNALED(job->wait_status))
		snprintf(text, sizeof(text), "%s: the check ended by signal %d (%s)", path->path,
			 WTERMSIG(job->wait_status), strsignal(WTERMSIG(job->wait_status)));
	else
		snprintf(text, sizeof(text), "%s: the check gave no result (exit status %d)",
			 path->path, WEXITSTATUS(job->wait_status));
	static_report_error(run->out, run->options->json, path->path, "crashed", text);
	run->sum.files_failed++;
	run->named_failed |= path->named;
}

/* Whether a file's own words are worth a line: of skipped ones only when they were named. */
static bool is_told(const struct run *run, const struct static_path *path,
		    const struct static_result *r)
{
	return path->named || run->options->verbose || r->status == IMAGE_OK ||
	       r->status == IMAGE_TRUNCATED || r->status == IMAGE_DAMAGED ||
	       r->status == IMAGE_UNREADABLE;
}

static void report(struct run *run, size_t i)
{
	const struct static_path *path = &run->paths.file[i];
	struct job *job = &run->job[i];
	struct static_result r;

	if (path->error) {
		char text[4400];

		snprintf(text, sizeof(text), "%s: %s", path->path, strerror(path->error));
		static_report_error(run->out, run->options->json, path->path, "unreadable", text);
		run->sum.files_failed++;
		run->named_failed |= path->named;
	} else if (job->len < sizeof(r) || !WIFEXITED(job->wait_status) ||
		   WEXITSTATUS(job->wait_status)) {
		crashed(run, path, job);
	} else {
		memcpy(&r, job->text, sizeof(r));
		add_result(run, path, &r);
		if (r.changed) {
			char text[4400];

			snprintf(text, sizeof(text), "%s: the file shrank while it was read",
				 path->path);
			static_report_error(run->out, run->options->json, path->path, "truncated",
					    text);
		} else if (is_told(run, path, &r)) {
			fwrite(job->text + sizeof(r), 1, job->len - sizeof(r), run->out);
		}
	}
	free(job->text);
	job->text = NULL;
}

static void progress(const struct run *run)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%zu/%zu files, %" PRIu64 " different", run->finished,
		run->paths.nr, run->sum.total.rows[STATIC_DIFFERENT]);
	if (run->finished == run->paths.nr)
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
}

static void collect(struct run *run)
{
	struct pollfd pfd[MAX_JOBS];
	unsigned int nr = run->nr_running, kept = 0;

	for (unsigned int k = 0; k < nr; k++)
		pfd[k] = (struct pollfd){ run->job[run->running[k]].fd, POLLIN, 0 };
	if (poll(pfd, nr, -1) < 0)
		return;
	for (unsigned int k = 0; k < nr; k++) {
		struct job *job = &run->job[run->running[k]];

		if (!pfd[k].revents || !take(job)) {
			run->running[kept++] = run->running[k];
			continue;
		}
		close(job->fd);
		while (waitpid(job->pid, &job->wait_status, 0) < 0 && errno == EINTR)
			;
		job->done = true;
	}
	run->nr_running = kept;
}

static void run_all(struct run *run)
{
	unsigned int jobs = run->options->jobs;

	if (jobs > MAX_JOBS)
		jobs = MAX_JOBS;
	while (run->finished < run->paths.nr) {
		while (run->next < run->paths.nr && run->nr_running < jobs) {
			if (run->paths.file[run->next].error)
				run->job[run->next].done = true;
			else if (!start(run, run->next)) {
				/* Too many processes: go on with those that there are. */
				if (run->nr_running)
					break;
				run->paths.file[run->next].error = errno;
				run->job[run->next].done = true;
			}
			run->next++;
		}
		while (run->finished < run->next && run->job[run->finished].done)
			report(run, run->finished++);
		progress(run);
		if (run->nr_running)
			collect(run);
	}
}

static int status_of(const struct run *run)
{
	const u64 *rows = run->sum.total.rows;

	if (rows[STATIC_DIFFERENT] || run->sum.total.plain_differs)
		return CLI_STATUS_DIFFERS;
	if (run->sum.files_failed || run->named_failed || rows[STATIC_CORRUPT])
		return CLI_STATUS_INPUT;
	if (!static_total(rows))
		return CLI_STATUS_IMPOSSIBLE;
	return CLI_STATUS_OK;
}

/**
 * static_run() - check files and print the report
 * @options: how
 * @paths: files and directories
 * @nr: how many
 *
 * A person gets the verdict first, and so nothing before the end but a line of progress on a
 * terminal. JSON comes as it is made, in the order of the files.
 *
 * Return: enum cli_status.
 */
int static_run(const struct static_options *options, char *const *paths, int nr)
{
	struct run run = { .options = options, .out = stdout };
	char *text = NULL;
	size_t len = 0;
	int status = CLI_STATUS_IMPOSSIBLE;

	for (int i = 0; i < nr; i++) {
		if (!static_paths_add(&run.paths, paths[i]))
			goto out_of_memory;
	}
	run.sum.skipped[IMAGE_NOT_ELF] = run.paths.not_elf;
	run.job = calloc(run.paths.nr + 1, sizeof(*run.job));
	if (!options->json)
		run.out = open_memstream(&text, &len);
	if (!run.job || !run.out)
		goto out_of_memory;
	run_all(&run);
	if (!options->json) {
		fclose(run.out);
		static_report_verdict(stdout, &run.sum);
		static_report_heading(stdout);
		fwrite(text, 1, len, stdout);
	}
	static_report_sum(stdout, options->json, &run.sum);
	status = status_of(&run);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "ehunwind-check: cannot write the report: %s\n", strerror(errno));
		status = CLI_STATUS_IMPOSSIBLE;
	}
	free(text);
	free(run.job);
	static_paths_free(&run.paths);
	return status;
out_of_memory:
	fprintf(stderr, "ehunwind-check: out of memory\n");
	return status;
}
