// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Samples of this very program: the walk against backtrace(), with each read failing, each
 * window cut, and each thing missing that can be.
 */
#include "harness/replay.h"
#include "selftests/kselftest_harness.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "unwind/row_cache.h"

/*
 * FDEs that nobody asks for, some pages of them: those of the functions below lie behind and are
 * not brought in together with the header, whatever the linker's layout.
 */
__asm__(".text\n"
	".rept 1000\n"
	".cfi_startproc\n"
	".long 0\n"
	".cfi_endproc\n"
	".endr\n");

#define PID		100
#define STACK		16384
#define DEPTH		64

/* AX BX CX DX SI DI BP SP IP, FLAGS CS SS, R8-R15: what perf record asks for. */
#define MASK		0xff0fffULL
#define NR_MASK		20

struct snap {
	u64 regs[NR_MASK];
	u64 sp;
	u8 stack[STACK];
	u32 size;
	void *chain[DEPTH];
	int nr_chain;
};

static struct snap snap;

/* The registers here, and the stack from here up: what the kernel copies at a sample. */
static __attribute__((noinline, no_sanitize("address"))) void take(u64 top)
{
	u64 bx, bp, sp, ip, r12, r13, r14, r15;

	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=&r"(ip), "=&r"(sp), "=&r"(bp), "=&r"(bx));
	__asm__ volatile("mov %%r12, %0\n\tmov %%r13, %1\n\tmov %%r14, %2\n\tmov %%r15, %3"
			 : "=&r"(r12), "=&r"(r13), "=&r"(r14), "=&r"(r15));
	snap.regs[1] = bx;
	snap.regs[6] = bp;
	snap.regs[7] = sp;
	snap.regs[8] = ip;
	snap.regs[16] = r12;
	snap.regs[17] = r13;
	snap.regs[18] = r14;
	snap.regs[19] = r15;
	snap.sp = sp;
	snap.size = top - sp < STACK ? (u32)(top - sp) & ~7U : STACK;
	for (u32 k = 0; k < snap.size; k++)
		snap.stack[k] = ((volatile u8 *)(uintptr_t)sp)[k];
	snap.nr_chain = backtrace(snap.chain, DEPTH);
}

static __attribute__((noinline)) int deeper(int n, u64 top)
{
	volatile char room[40];
	int r;

	room[n % 40] = (char)n;
	if (!n) {
		take(top);
		return room[0];
	}
	r = deeper(n - 1, top);
	return r + room[n % 40];
}

FIXTURE(replay)
{
	struct pager *pager;
	struct modules *mods;
	struct task_table *t;
	struct replay r;
	struct perf_decode_attr attr;
	struct perf_event_rec rec;
	struct ehu_entry entry[REPLAY_ENTRIES];
	struct ehu_entry other[REPLAY_ENTRIES];
	struct ehu_trace trace;
	struct ehu_trace again;
	struct replay_cost cost;
	u64 top;		/* end of the stack's mapping */
	char copy[64];		/* stands for this program's file where a test damages it */
};

/* One line of /proc/self/maps as a record; the program's file is @copy where that is set. */
static void add_mapping(FIXTURE_DATA(replay) *self, const char *line)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .pid = PID, .tid = PID,
	};
	u64 start, end, pgoff, ino;
	char prot[5], name[512] = "", self_path[512] = "";
	u32 maj, min;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %511s", &start, &end, prot, &pgoff, &maj, &min,
		   &ino, name) < 7)
		return;
	if (snap.sp >= start && snap.sp < end)
		self->top = end;
	if (prot[2] != 'x')
		return;
	if (readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) > 0 && *self->copy &&
	    !strcmp(name, self_path))
		ino = 0;
	rec.mmap = (struct perf_rec_mmap){
		.addr = start, .len = end - start, .pgoff = pgoff, .has_inode = ino != 0,
		.maj = maj, .min = min, .ino = ino, .has_prot = true,
		.prot = PROT_READ | PROT_EXEC,
		.name = ino || !*self->copy || *name == '[' ? name : self->copy,
	};
	task_record(self->t, &rec);
}

static void add_mappings(FIXTURE_DATA(replay) *self)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		add_mapping(self, line);
	if (f)
		fclose(f);
}

FIXTURE_SETUP(replay)
{
	struct module_params params = { 0 };

	snap.sp = (u64)(uintptr_t)__builtin_frame_address(0);
	self->pager = pager_new(NULL);
	params.pager = self->pager;
	self->mods = module_table_new(&params);
	self->t = task_table_new(self->mods);
	ASSERT_NE(NULL, self->t);
	add_mappings(self);
	deeper(10, self->top);
	ASSERT_GT(snap.nr_chain, 12);
	replay_init(&self->r, self->pager);
	self->attr = (struct perf_decode_attr){
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.regs_user = MASK,
	};
	self->rec = (struct perf_event_rec){
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .attr = &self->attr,
		.pid = PID, .tid = PID,
		.sample = {
			.abi = PERF_SAMPLE_REGS_ABI_64, .regs_mask = MASK, .nr_regs = NR_MASK,
			.stack = snap.stack, .stack_size = STACK, .dyn_size = snap.size,
		},
	};
	memcpy(self->rec.sample.regs, snap.regs, sizeof(snap.regs));
	self->trace = (struct ehu_trace){ .entry = self->entry, .max = REPLAY_ENTRIES };
	self->again = (struct ehu_trace){ .entry = self->other, .max = REPLAY_ENTRIES };
}

FIXTURE_TEARDOWN(replay)
{
	task_table_free(self->t);
	module_table_free(self->mods);
	pager_free(self->pager);
	if (*self->copy)
		unlink(self->copy);
}

static enum replay_untestable sample(FIXTURE_DATA(replay) *self)
{
	return replay_sample(&self->r, task_find(self->t, PID), &self->rec);
}

/* How many entries of the second walk are those of the first; -1 where one is not. */
static int prefix(const FIXTURE_DATA(replay) *self)
{
	if (self->again.nr > self->trace.nr)
		return -1;
	for (u32 k = 0; k < self->again.nr; k++) {
		if (self->entry[k].ip != self->other[k].ip ||
		    self->entry[k].sp != self->other[k].sp)
			return -1;
	}
	return (int)self->again.nr;
}

TEST_F(replay, as_backtrace_has_it)
{
	int more;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	EXPECT_EQ(snap.regs[8], self->entry[0].ip);
	EXPECT_EQ(snap.sp, self->entry[0].sp);
	/* AddressSanitizer's backtrace() shows itself. */
	more = snap.nr_chain - (int)self->trace.nr;
	ASSERT_TRUE(!more || more == 1);
	for (int k = 1; k < (int)self->trace.nr; k++)
		EXPECT_EQ((u64)(uintptr_t)snap.chain[k + more], self->entry[k].ip);
	EXPECT_STREQ("ra-undefined", ehf_stop_name(self->trace.stop));
	EXPECT_EQ(self->trace.cost.reads, self->cost.reads);
	EXPECT_GT(self->cost.page_ins, 0);
	EXPECT_GT(self->cost.pages, self->cost.page_ins);
	EXPECT_FALSE(self->cost.missed);
	/* All that is needed is here now. */
	replay_walk(&self->r, NULL, &self->again, &self->cost);
	EXPECT_EQ((int)self->trace.nr, prefix(self));
	EXPECT_EQ(0, self->cost.page_ins);
	EXPECT_EQ(2, self->r.stats.walks);
	EXPECT_EQ(1, self->r.stats.samples);
}

TEST_F(replay, copies_count_every_read)
{
	const struct replay_opts opts = { .copy = true };
	u64 sum = 0;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	replay_walk(&self->r, &opts, &self->again, &self->cost);
	EXPECT_EQ((int)self->trace.nr, prefix(self));
	EXPECT_EQ(self->trace.nr, self->again.nr);
	for (u32 k = 0; k < REPLAY_NR_SOURCES; k++)
		sum += self->cost.from[k];
	EXPECT_EQ(self->cost.reads, sum);
	EXPECT_EQ(sum, self->cost.from[REPLAY_FROM_STACK] + self->cost.from[REPLAY_FROM_FILE]);
	EXPECT_GE(self->cost.from[REPLAY_FROM_STACK], self->trace.nr - 1);
}

TEST_F(replay, caches_change_nothing)
{
	static struct ehu_slot slot[EHU_ROW_CACHE_SLOTS];
	static struct ehf_memo memo;
	struct ehu_row_cache cache;
	struct replay_opts opts = { .cache = &cache, .memo = &memo };

	ASSERT_EQ(0, ehu_row_cache_init(&cache, slot, EHU_ROW_CACHE_SLOTS));
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	for (int k = 0; k < 3; k++) {
		replay_walk(&self->r, &opts, &self->again, &self->cost);
		EXPECT_EQ((int)self->trace.nr, prefix(self));
		EXPECT_EQ(self->trace.nr, self->again.nr);
		EXPECT_EQ(self->trace.stop, self->again.stop);
	}
	EXPECT_GT(cache.hits, 0);
}

TEST_F(replay, any_read_may_fail)
{
	struct replay_opts opts = { .copy = true };
	u64 reads, shorter = 0;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, &opts, &self->trace, &self->cost);
	reads = self->cost.reads;
	ASSERT_GT(reads, 0);
	for (opts.fault_at = 1; opts.fault_at <= reads; opts.fault_at++) {
		int n;

		replay_walk(&self->r, &opts, &self->again, &self->cost);
		n = prefix(self);
		ASSERT_GT(n, 0);
		EXPECT_EQ(1, self->cost.from[REPLAY_FROM_INJECTED]);
		EXPECT_TRUE(self->cost.missed);
		if ((u32)n == self->trace.nr)
			continue;
		shorter++;
		EXPECT_TRUE(ehf_stop_class(self->again.stop) == EHF_CLASS_FAULT ||
			    ehf_stop_class(self->again.stop) == EHF_CLASS_UNKNOWN_REG) {
			TH_LOG("read %lu: %s", opts.fault_at, ehf_stop_name(self->again.stop));
		}
	}
	EXPECT_GT(shorter, reads / 2);
	/* The read behind the last one is never made. */
	replay_walk(&self->r, &opts, &self->again, &self->cost);
	EXPECT_EQ(self->trace.nr, self->again.nr);
	EXPECT_EQ(self->trace.stop, self->again.stop);
}

TEST_F(replay, any_window_may_be_cut)
{
	struct replay_opts opts = { .cut_stack = true };
	int last = 0;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	for (opts.stack_limit = 0; opts.stack_limit <= snap.size; opts.stack_limit += 8) {
		int n;

		replay_walk(&self->r, &opts, &self->again, &self->cost);
		n = prefix(self);
		ASSERT_GE(n, last);
		last = n;
		if ((u32)n == self->trace.nr)
			continue;
		EXPECT_STREQ("memory", ehf_stop_name(self->again.stop));
		EXPECT_STREQ("past-stack", replay_source_name(self->cost.missed_from));
		EXPECT_GE(self->cost.missed_addr + 7, snap.sp + opts.stack_limit);
	}
	EXPECT_EQ((int)self->trace.nr, last);
}

/* The oracle sees what we saw, and it costs us nothing. */
TEST_F(replay, the_oracle_reads_the_same)
{
	struct replay_opts opts = { .cut_stack = true, .stack_limit = 64, .copy = true };
	u8 bytes[64];
	u64 reads;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_TRUE(replay_read(&self->r, snap.sp, bytes, 64));
	EXPECT_EQ(0, memcmp(bytes, snap.stack, 64));
	EXPECT_TRUE(replay_read(&self->r, snap.sp + 60, bytes, 8));
	replay_walk(&self->r, &opts, &self->trace, &self->cost);
	reads = self->cost.reads;
	EXPECT_FALSE(replay_read(&self->r, snap.sp + 60, bytes, 8));
	EXPECT_TRUE(replay_read(&self->r, snap.sp + 56, bytes, 8));
	EXPECT_FALSE(replay_read(&self->r, snap.sp - 8, bytes, 8));
	EXPECT_FALSE(replay_read(&self->r, ~0ULL - 3, bytes, 8));
	EXPECT_FALSE(replay_read(&self->r, 0, bytes, 8));
	/* Text comes from the file, data that a program can write does not. */
	EXPECT_TRUE(replay_read(&self->r, (u64)(uintptr_t)take, bytes, 16));
	EXPECT_EQ(0, memcmp(bytes, (const void *)(uintptr_t)take, 16));
	EXPECT_FALSE(replay_read(&self->r, (u64)(uintptr_t)&snap, bytes, 8));
	EXPECT_EQ(reads, self->cost.reads);
}

TEST_F(replay, registers_lost_in_the_kernel)
{
	static const u32 lost[] = { 1, 16, 17, 18, 19 };
	const u64 bits = 1ULL << 3 | 0xfULL << 12;	/* rbx, r12 to r15 by DWARF number */

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(bits, self->r.regs.known & bits);
	EXPECT_EQ(snap.regs[19], self->r.regs.reg[15]);
	EXPECT_EQ(snap.regs[6], self->r.regs.reg[6]);
	for (size_t k = 0; k < EHF_ARRAY_SIZE(lost); k++)
		self->rec.sample.regs[lost[k]] = ~0ULL;
	/* In user mode -1 is a value. */
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(bits, self->r.regs.known & bits);
	self->rec.misc = PERF_RECORD_MISC_KERNEL;
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(0, self->r.regs.known & bits);
	EXPECT_EQ(0, self->r.regs.reg[15]);
	EXPECT_TRUE(self->r.kernel_regs);
	EXPECT_EQ(snap.regs[6], self->r.regs.reg[6]);
	EXPECT_EQ(1, self->r.stats.kernel_regs);
	/* An interrupt that is no NMI has them all. */
	self->rec.sample.regs[17] = 5;
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(bits, self->r.regs.known & bits);
}

/* Linux for s390x: FPRs of a sample in user mode are those of an earlier moment. */
TEST_F(replay, registers_stale_in_user_mode)
{
	const u64 fprs = 0xffffULL << 16;	/* by DWARF number and by perf's bit */
	u64 *regs = self->rec.sample.regs;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	task_find(self->t, PID)->maps->arch = &ehu_arch_s390x;
	self->rec.sample.regs_mask = 0xffffffffULL | 1ULL << 33;
	self->rec.sample.nr_regs = 33;
	for (u32 k = 0; k < 32; k++)
		regs[k] = 1000 + k;
	regs[15] = snap.sp;
	regs[32] = snap.regs[8];
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(snap.regs[8], self->r.regs.ip);
	EXPECT_EQ(0xffffULL, self->r.regs.known);
	EXPECT_EQ(1014, self->r.regs.reg[14]);
	/* In the kernel they have been saved before: f0, f2 (DWARF 17), f15. */
	self->rec.misc = PERF_RECORD_MISC_KERNEL;
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(0xffffULL | fprs, self->r.regs.known);
	EXPECT_EQ(1016, self->r.regs.reg[16]);
	EXPECT_EQ(1018, self->r.regs.reg[17]);
	EXPECT_EQ(1031, self->r.regs.reg[31]);
	EXPECT_FALSE(self->r.kernel_regs);
	/* Someone who took them at that very moment. */
	self->rec.misc = PERF_RECORD_MISC_USER;
	self->r.has_fprs = true;
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(0xffffULL | fprs, self->r.regs.known);
}

TEST_F(replay, other_masks)
{
	/* BP SP IP, then BX SP IP. */
	self->rec.sample.regs_mask = 0x1c0;
	self->rec.sample.nr_regs = 3;
	memcpy(self->rec.sample.regs, &snap.regs[6], 24);
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(1ULL << 6 | 1ULL << 7, self->r.regs.known);
	EXPECT_EQ(snap.regs[8], self->r.regs.ip);
	self->rec.sample.regs_mask = 0x182;
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_EQ(1ULL << 3 | 1ULL << 7, self->r.regs.known);
	EXPECT_EQ(snap.regs[6], self->r.regs.reg[3]);
	self->rec.sample.regs_mask = 0x141;
	EXPECT_EQ(REPLAY_NO_IP_SP, sample(self));
}

TEST_F(replay, untestable)
{
	struct perf_event_rec good = self->rec;

	self->attr.sample_type = PERF_SAMPLE_STACK_USER;
	EXPECT_EQ(REPLAY_NO_REGS, sample(self));
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->rec.attr = NULL;
	EXPECT_EQ(REPLAY_NO_REGS, sample(self));
	self->rec = good;
	self->rec.sample.abi = PERF_SAMPLE_REGS_ABI_NONE;
	EXPECT_EQ(REPLAY_KERNEL_THREAD, sample(self));
	self->rec.sample.abi = PERF_SAMPLE_REGS_ABI_32;
	EXPECT_EQ(REPLAY_COMPAT, sample(self));
	self->rec = good;
	self->rec.sample.dyn_size = 0;
	EXPECT_EQ(REPLAY_NO_STACK, sample(self));
	self->rec = good;
	EXPECT_EQ(REPLAY_NO_MAPS, replay_sample(&self->r, NULL, &self->rec));
	EXPECT_EQ(REPLAY_NO_MAPS, replay_sample(&self->r, task_get(self->t, 1), &self->rec));
	EXPECT_EQ(7, self->r.stats.samples);
	EXPECT_EQ(2, self->r.stats.untestable[REPLAY_NO_MAPS]);
	EXPECT_EQ(REPLAY_TESTABLE, sample(self));
	EXPECT_STREQ("32-bit", replay_untestable_name(REPLAY_COMPAT));
}

/* No file of the process can be used: not even its machine is known. */
TEST_F(replay, program_is_gone)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_COMM, .pid = PID, .tid = PID,
		.comm = { .exec = true, .name = "again" },
	};

	task_record(self->t, &rec);
	rec.type = PERF_RECORD_MMAP2;
	rec.misc = PERF_RECORD_MISC_USER;
	rec.mmap = (struct perf_rec_mmap){ .addr = snap.regs[8] & ~4095ULL, .len = 4096,
					   .name = "/gone (deleted)" };
	task_record(self->t, &rec);
	EXPECT_EQ(REPLAY_MODULE_GONE, sample(self));
	self->rec.sample.abi = PERF_SAMPLE_REGS_ABI_32;
	EXPECT_EQ(REPLAY_COMPAT, sample(self));
}

/* pc in a file that cannot be used, and in memory that has none. */
TEST_F(replay, module_of_the_pc)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .pid = PID, .tid = PID,
		.mmap = { .addr = snap.regs[8] & ~4095ULL, .len = 4096, .name = "/gone (deleted)" },
	};

	task_record(self->t, &rec);
	EXPECT_EQ(REPLAY_MODULE_GONE, sample(self));
	rec.mmap.name = "/dev/null";
	task_record(self->t, &rec);
	EXPECT_EQ(REPLAY_MODULE_UNUSABLE, sample(self));
	rec.mmap.name = "/proc/self/exe";
	rec.mmap.build_id_size = 20;
	task_record(self->t, &rec);
	EXPECT_EQ(REPLAY_MODULE_STALE, sample(self));
	rec.mmap.name = "//anon";
	rec.mmap.build_id_size = 0;
	task_record(self->t, &rec);
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	EXPECT_EQ(1, self->trace.nr);
	EXPECT_STREQ("pc-not-in-module", ehf_stop_name(self->trace.stop));
}

/* The program's file is cut short once it is known: what is not here ends the walk, no more. */
TEST_F(replay, file_truncated_while_used)
{
	struct perf_event_rec rec = {
		.type = PERF_RECORD_COMM, .pid = PID, .tid = PID,
		.comm = { .exec = true, .name = "again" },
	};
	char cmd[256];
	int fd;

	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->trace, &self->cost);
	strcpy(self->copy, "/tmp/replay_self.XXXXXX");
	fd = mkstemp(self->copy);
	ASSERT_GE(fd, 0);
	snprintf(cmd, sizeof(cmd), "cat /proc/%d/exe >%s", getpid(), self->copy);
	ASSERT_EQ(0, system(cmd));
	task_record(self->t, &rec);
	add_mappings(self);
	ASSERT_EQ(0, ftruncate(fd, 4096));
	close(fd);
	ASSERT_EQ(REPLAY_TESTABLE, sample(self));
	replay_walk(&self->r, NULL, &self->again, &self->cost);
	EXPECT_GT(prefix(self), 0);
	EXPECT_LT(self->again.nr, self->trace.nr);
	EXPECT_STREQ("section-memory", ehf_stop_name(self->again.stop));
	EXPECT_STREQ("unread", replay_source_name(self->cost.missed_from));
	EXPECT_GT(pager_stats(self->pager)->short_reads, 0);
}

TEST_HARNESS_MAIN
