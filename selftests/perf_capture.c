// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Capturing real commands and processes: what comes, and what happens when something goes wrong. */

#include "selftests/kselftest_harness.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "harness/perf_capture.h"
#include "harness/perf_decode.h"
#include "harness/perf_proc.h"

#define SPIN	"i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"

/* A sink that decodes and counts. */
struct seen {
	struct perf_decode *d;
	u32 starts;
	u32 by_type[32];
	u32 bad;
	u32 with_regs;
	u32 with_stack;
	u32 execs;
	u32 build_ids;
	u32 own_build_ids;	/* of mappings with time 0 */
	u32 untimed;
	u32 rounds;
	u32 notes;
	char note[256];		/* the last */
	u32 ring_notes;		/* of io_uring */
	u32 less_notes;		/* of small buffers */
	u32 user_notes;		/* of no samples in the kernel */
	u32 tids[8];
	u32 nr_tids;
	u32 give_up_at;		/* record whose sink fails, 0: none */
	u32 kill_at;		/* sample, or with after_exec execve(), at which it sends.. */
	bool after_exec;
	int signal;		/* this */
	pid_t to;		/* there */
};

static int on_start(void *arg, const struct perf_event_attr *attr, const u64 *ids, u32 nr)
{
	struct seen *s = arg;

	s->starts++;
	s->d = perf_decode_new(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	EXPECT_EQ(0, perf_decode_add_attr(s->d, attr, attr->size));
	EXPECT_EQ(0, perf_decode_add_ids(s->d, 0, ids, nr));
	return 0;
}

static void note_tid(struct seen *s, u32 tid)
{
	for (u32 i = 0; i < s->nr_tids; i++) {
		if (s->tids[i] == tid)
			return;
	}
	if (s->nr_tids < 8)
		s->tids[s->nr_tids++] = tid;
}

static int on_record(void *arg, const void *record, size_t size)
{
	struct perf_event_rec r;
	struct seen *s = arg;
	const char *why;
	int rc = perf_decode_record(s->d, record, size, 0, &r, &why);

	if (rc < 0)
		s->bad++;
	if (r.type < 32)
		s->by_type[r.type]++;
	if (r.type == PERF_RECORD_SAMPLE) {
		s->with_regs += r.sample.abi == 2 && r.sample.nr_regs > 10;
		s->with_stack += r.sample.dyn_size > 0;
		note_tid(s, r.tid);
	} else if (!r.time) {
		s->untimed++;
	}
	if (r.type == PERF_RECORD_COMM)
		s->execs += r.comm.exec;
	if (s->kill_at && s->kill_at <= (s->after_exec ? s->execs :
							 s->by_type[PERF_RECORD_SAMPLE])) {
		s->kill_at = 0;
		kill(s->to, s->signal);
	}
	if (r.type == PERF_RECORD_MMAP2) {
		s->build_ids += r.mmap.build_id_size == 20;
		s->own_build_ids += r.mmap.build_id_size == 20 && !r.time;
	}
	return s->give_up_at && !--s->give_up_at ? -ENOSPC : 0;
}

static int on_round(void *arg)
{
	((struct seen *)arg)->rounds++;
	return 0;
}

static void on_note(void *arg, const char *text)
{
	struct seen *s = arg;

	s->notes++;
	s->ring_notes += strstr(text, "io_uring") != NULL;
	s->less_notes += strstr(text, "ring buffers of ") != NULL;
	s->user_notes += strstr(text, "no samples while in the kernel") != NULL;
	snprintf(s->note, sizeof(s->note), "%s", text);
}

FIXTURE(capture)
{
	struct perf_capture_opts opts;
	struct perf_capture_sink sink;
	struct perf_capture_result result;
	struct perf_error err;
	struct seen seen;
};

FIXTURE_SETUP(capture)
{
	char *const argv[] = { "true", NULL };
	struct perf_capture_sink none = { 0 };

	if (perf_capture_command(&self->opts, argv, &none, &self->result, &self->err) ==
	    PERF_CAPTURE_IMPOSSIBLE)
		SKIP(return, "%s", self->err.text);
	self->sink = (struct perf_capture_sink){ on_start, on_record, on_round, on_note,
						 &self->seen };
}

FIXTURE_TEARDOWN(capture)
{
	perf_decode_free(self->seen.d);
}

static enum perf_capture_end run(FIXTURE_DATA(capture) *self, const char *script)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };

	return perf_capture_command(&self->opts, argv, &self->sink, &self->result, &self->err);
}

/* How many samples come in a time is the machine's affair: more work until there are some. */
static enum perf_capture_end run_busy(FIXTURE_DATA(capture) *self)
{
	static const char *const scripts[] = {
		SPIN, SPIN ";" SPIN ";" SPIN ";" SPIN,
		"k=0; while [ $k -lt 16 ]; do " SPIN "; k=$((k+1)); done",
	};
	enum perf_capture_end end = PERF_CAPTURE_FAILED;

	for (u32 k = 0; k < EHF_ARRAY_SIZE(scripts); k++) {
		perf_decode_free(self->seen.d);
		memset(&self->seen, 0, sizeof(self->seen));
		end = run(self, scripts[k]);
		if (end != PERF_CAPTURE_OK || self->result.samples > 10)
			break;
	}
	return end;
}

TEST_F_TIMEOUT(capture, a_busy_command_is_sampled, 300)
{
	self->opts.ring_size = 32 << 20;	/* nothing is lost, whenever it is read */
	ASSERT_EQ(PERF_CAPTURE_OK, run_busy(self)) { TH_LOG("%s", self->err.text); }
	EXPECT_EQ(1, self->seen.starts);
	EXPECT_EQ(0, self->seen.bad);
	EXPECT_LT(10, self->result.samples);
	EXPECT_EQ(self->result.samples, self->seen.by_type[PERF_RECORD_SAMPLE]);
	if (self->result.ring_size == self->opts.ring_size)
		EXPECT_EQ(0, self->result.lost);
	/* A sample in the middle of execve() or of the end may find neither. */
	EXPECT_LE(self->result.samples, self->seen.with_regs + 5 + self->result.samples / 10);
	EXPECT_LE(self->result.samples, self->seen.with_stack + 5 + self->result.samples / 10);
	EXPECT_EQ(1, self->seen.execs);
	EXPECT_LE(3, self->seen.build_ids);
	EXPECT_EQ(0, self->seen.untimed);
	EXPECT_LT(0, self->seen.rounds);
	EXPECT_EQ(self->seen.rounds, self->result.rounds);
	EXPECT_TRUE(self->result.exited);
	EXPECT_EQ(0, self->result.wait_status);
	EXPECT_EQ(0, self->result.signal);
}

TEST_F(capture, a_command_that_ends_at_once)
{
	char *const argv[] = { "true", NULL };

	EXPECT_EQ(PERF_CAPTURE_OK, perf_capture_command(&self->opts, argv, &self->sink,
							&self->result, &self->err));
	EXPECT_TRUE(self->result.exited);
	EXPECT_EQ(1, self->seen.execs);
	EXPECT_EQ(1, self->seen.by_type[PERF_RECORD_EXIT]);
}

TEST_F(capture, a_command_that_fails_or_is_killed)
{
	EXPECT_EQ(PERF_CAPTURE_OK, run(self, "exit 3"));
	EXPECT_EQ(3, WEXITSTATUS(self->result.wait_status));
	perf_decode_free(self->seen.d);
	EXPECT_EQ(PERF_CAPTURE_OK, run(self, "kill -9 $$"));
	EXPECT_TRUE(WIFSIGNALED(self->result.wait_status));
	EXPECT_EQ(9, WTERMSIG(self->result.wait_status));
}

TEST_F(capture, commands_that_cannot_be_executed)
{
	char *const missing[] = { "no-such-command-here", NULL };
	char *const data[] = { "/etc/passwd", NULL };

	/* Folders that everybody may search: else "Permission denied" is right as well. */
	setenv("PATH", "/usr/bin:/bin", 1);
	EXPECT_EQ(PERF_CAPTURE_NO_COMMAND, perf_capture_command(&self->opts, missing, &self->sink,
								&self->result, &self->err));
	EXPECT_STREQ("no-such-command-here: not found", self->err.text);
	perf_decode_free(self->seen.d);
	EXPECT_EQ(PERF_CAPTURE_NO_COMMAND, perf_capture_command(&self->opts, data, &self->sink,
								&self->result, &self->err));
	EXPECT_STREQ("/etc/passwd: Permission denied", self->err.text);
	EXPECT_EQ(EACCES, self->err.status);
}

TEST_F_TIMEOUT(capture, a_thousand_children, 300)
{
	ASSERT_EQ(PERF_CAPTURE_OK,
		  run(self, "i=0; while [ $i -lt 1000 ]; do (:) & i=$((i+1)); done; wait"));
	EXPECT_LE(1000, self->seen.by_type[PERF_RECORD_FORK] + self->result.lost);
	EXPECT_LE(1000, self->seen.by_type[PERF_RECORD_EXIT] + self->result.lost);
	EXPECT_EQ(0, self->seen.bad);
}

/* Somebody's Ctrl-C, once there are so many samples. */
static void interrupt_at(FIXTURE_DATA(capture) *self, int signo, u32 samples)
{
	signal(signo, SIG_DFL);		/* whatever runs the tests may have it ignored */
	self->seen.kill_at = samples;
	self->seen.signal = signo;
	self->seen.to = getpid();
}

TEST_F(capture, an_interrupt_ends_it_and_the_command)
{
	interrupt_at(self, SIGINT, 20);
	ASSERT_EQ(PERF_CAPTURE_OK, run(self, "while :; do :; done"));
	EXPECT_EQ(SIGINT, self->result.signal);
	EXPECT_LE(20, self->result.samples);
	while (wait(NULL) > 0)		/* a command left over would hang us here */
		;
	EXPECT_EQ(ECHILD, errno);
}

TEST_F_TIMEOUT(capture, a_command_that_ignores_sigterm_is_left_alone, 300)
{
	interrupt_at(self, SIGTERM, 2);
	self->seen.after_exec = true;	/* the shell's, and behind its trap that of sleep */
	ASSERT_EQ(PERF_CAPTURE_OK, run(self, "trap '' TERM; exec sleep 40"));
	EXPECT_EQ(SIGTERM, self->result.signal);
	EXPECT_FALSE(self->result.exited);
}

TEST_F(capture, an_ignored_interrupt_stays_ignored)
{
	pid_t parent = getpid();

	signal(SIGINT, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);	/* and the command's status is nobody's */
	if (fork() == 0) {
		usleep(100000);
		kill(parent, SIGINT);
		_exit(0);
	}
	ASSERT_EQ(PERF_CAPTURE_OK, run(self, "sleep 0.4"));
	EXPECT_EQ(0, self->result.signal);
	EXPECT_TRUE(self->result.exited);
}

TEST_F_TIMEOUT(capture, time_is_up, 300)
{
	for (u32 ms = 200; ms <= 20000 && self->result.samples <= 10; ms *= 10) {
		perf_decode_free(self->seen.d);
		self->seen.d = NULL;
		self->opts.duration_ms = ms;
		ASSERT_EQ(PERF_CAPTURE_OK, run(self, "while :; do :; done"));
	}
	EXPECT_EQ(0, self->result.signal);
	EXPECT_FALSE(self->result.exited);
	EXPECT_LT(10, self->result.samples);
}

TEST_F(capture, the_sink_may_give_up)
{
	self->seen.give_up_at = 20;
	EXPECT_EQ(PERF_CAPTURE_SINK, run(self, SPIN));
	EXPECT_EQ(-ENOSPC, self->result.sink_status);
	EXPECT_EQ(20, self->result.records);
}

static u32 open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

TEST_F(capture, nothing_is_left_behind)
{
	u32 before = open_files();
	sigset_t was;
	sigset_t is;

	memset(&was, 0, sizeof(was));	/* the kernel fills less than all of it */
	memset(&is, 0, sizeof(is));
	sigprocmask(SIG_BLOCK, NULL, &was);
	ASSERT_EQ(PERF_CAPTURE_OK, run(self, "exit 0"));
	EXPECT_EQ(before, open_files());
	sigprocmask(SIG_BLOCK, NULL, &is);
	EXPECT_EQ(0, memcmp(&was, &is, sizeof(was)));
	EXPECT_EQ(-1, wait(NULL));
}

TEST_F(capture, sizes_at_the_limits)
{
	self->opts.stack_size = PERF_CAPTURE_MAX_STACK;
	self->opts.ring_size = 4096;	/* raised to what holds two samples */
	EXPECT_EQ(PERF_CAPTURE_OK, run(self, SPIN));
	EXPECT_EQ(131072, self->result.ring_size);
	EXPECT_LT(0, self->result.samples);
	self->opts.stack_size = 65536;
	EXPECT_EQ(PERF_CAPTURE_BAD_OPTS, run(self, "exit 0"));
	self->opts.stack_size = 12;
	EXPECT_EQ(PERF_CAPTURE_BAD_OPTS, run(self, "exit 0"));
}

/* Small rings that nobody reads in time: what is lost is counted. */
static int slow_record(void *arg, const void *record, size_t size)
{
	usleep(20000);
	return on_record(arg, record, size);
}

TEST_F(capture, losses_are_counted)
{
	self->sink.record = slow_record;
	self->opts.frequency = 4999;
	self->opts.stack_size = 32768;
	self->opts.ring_size = 65536;
	ASSERT_EQ(PERF_CAPTURE_OK, run(self, SPIN));
	EXPECT_LT(0, self->result.lost);
	EXPECT_LT(0, self->seen.by_type[PERF_RECORD_LOST]);
}

/* From now on @nr fails with @error, in this process and its children. */
static bool refuse(int nr, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (u32)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { EHF_ARRAY_SIZE(code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

TEST_F(capture, without_io_uring)
{
	if (!refuse(__NR_io_uring_setup, EPERM))
		SKIP(return, "no seccomp filters");
	ASSERT_EQ(PERF_CAPTURE_OK, run_busy(self)) { TH_LOG("%s", self->err.text); }
	EXPECT_FALSE(self->result.io_uring);
	EXPECT_LT(10, self->result.samples);
	EXPECT_NE(NULL, strstr(self->seen.note, "io_uring is refused: Operation not permitted"));
}

TEST_F(capture, poll_by_request)
{
	self->opts.no_io_uring = true;
	ASSERT_EQ(PERF_CAPTURE_OK, run_busy(self)) { TH_LOG("%s", self->err.text); }
	EXPECT_FALSE(self->result.io_uring);
	EXPECT_LT(10, self->result.samples);
	EXPECT_EQ(0, self->seen.ring_notes);
}

TEST_F(capture, without_perf_events)
{
	if (!refuse(__NR_perf_event_open, EACCES))
		SKIP(return, "no seccomp filters");
	EXPECT_EQ(PERF_CAPTURE_IMPOSSIBLE, run(self, SPIN));
	EXPECT_EQ(EACCES, self->err.status);
	EXPECT_NE(NULL, strstr(self->err.text, "perf_event_paranoid is"));
	EXPECT_LE(1, self->seen.notes);		/* kernel samples were given up before */
	EXPECT_EQ(0, self->seen.starts);
	EXPECT_EQ(-1, wait(NULL));		/* the waiting child is gone */
}

TEST_F(capture, an_unprivileged_user_gives_up_some)
{
	const struct rlimit little = { 0, 0 };

	if (geteuid())
		SKIP(return, "not root: cannot give privilege up");
	setrlimit(RLIMIT_MEMLOCK, &little);
	ASSERT_EQ(0, setresgid(65534, 65534, 65534));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	/* A change of user makes a process one that may not be watched. */
	prctl(PR_SET_DUMPABLE, 1);
	self->opts.ring_size = 16 << 20;
	if (run_busy(self) == PERF_CAPTURE_IMPOSSIBLE)
		SKIP(return, "%s", self->err.text);
	EXPECT_LT(10, self->result.samples);
	/* How much may be locked, and what may be sampled, is set by sysctls. */
	EXPECT_EQ(self->result.ring_size < 16 << 20, self->seen.less_notes);
	EXPECT_EQ(self->result.user_only, self->seen.user_notes);
}

static void *spin(void *arg)
{
	for (;;)
		(*(volatile u64 *)arg)++;
	return NULL;
}

/* A process of two busy threads. */
static pid_t busy(void)
{
	int ready[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		static u64 n[2];
		pthread_t t;

		alarm(60);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&t, NULL, spin, &n[0]);
		ASSERT_EQ(1, write(ready[1], "", 1));
		spin(&n[1]);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	close(ready[0]);
	close(ready[1]);
	return pid;
}

TEST_F_TIMEOUT(capture, a_running_process_is_attached_to, 300)
{
	pid_t pid = busy();
	int status;

	for (u32 ms = 400; ms <= 10000 && (self->seen.nr_tids < 2 || self->result.samples <= 20);
	     ms *= 5) {
		perf_decode_free(self->seen.d);
		memset(&self->seen, 0, sizeof(self->seen));
		self->opts.duration_ms = ms;
		ASSERT_EQ(PERF_CAPTURE_OK, perf_capture_attach(&self->opts, &pid, 1, &self->sink,
							       &self->result, &self->err)) {
			TH_LOG("%s", self->err.text);
		}
	}
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));	/* still running */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, self->seen.bad);
	EXPECT_EQ(2, self->seen.nr_tids);
	EXPECT_LT(20, self->result.samples);
	EXPECT_EQ(2, self->seen.by_type[PERF_RECORD_COMM]);
	EXPECT_LT(5, self->seen.untimed);
	EXPECT_LT(0, self->seen.own_build_ids);
}

TEST_F(capture, attaching_ends_with_the_process)
{
	pid_t pid = busy();

	self->opts.ring_size = 32 << 20;
	self->seen.kill_at = 20;
	self->seen.signal = SIGKILL;
	self->seen.to = pid;
	ASSERT_EQ(PERF_CAPTURE_OK, perf_capture_attach(&self->opts, &pid, 1, &self->sink,
						       &self->result, &self->err));
	EXPECT_LE(20, self->result.samples);
	EXPECT_EQ(2, self->seen.by_type[PERF_RECORD_EXIT]);
}

TEST_F(capture, no_such_process)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(PERF_CAPTURE_NO_COMMAND, perf_capture_attach(&self->opts, &pid, 1, &self->sink,
							       &self->result, &self->err));
	EXPECT_NE(NULL, strstr(self->err.text, "No such process"));
}

TEST(our_own_vdso)
{
	size_t size;
	const u8 *image = perf_proc_vdso(&size);

	if (!image)
		SKIP(return, "no vDSO");
	EXPECT_EQ(0, memcmp(image, "\177ELF", 4));
	EXPECT_LE(4096, size);
}

TEST_HARNESS_MAIN
