// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * libdw as the oracle of frames, and our walk beside it, on this very program's stack: plain
 * calls, a signal handler, and what libdw reaches by a guess.
 */
#include "harness/image.h"
#include "harness/oracle_frames.h"
#include "selftests/kselftest_harness.h"

#include <fcntl.h>
#include <link.h>
#include <sys/uio.h>
#include <ucontext.h>

#define MAX_MODULES 32
#define MAX_FRAMES 64

static bool read_self(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct iovec to = { dst, len }, from = { (void *)(uintptr_t)addr, len };

	(void)mem;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)len;
}

static const struct ehf_mem self_mem = { .read = read_self };

FIXTURE(self)
{
	struct oracle_frames *oracle;
	struct image *img[MAX_MODULES];
	struct ehf_section section[MAX_MODULES];
	struct ehu_range range[MAX_MODULES];
	struct ehu_map map;
	u32 nr;
	struct ehu_entry entry[MAX_FRAMES];
	struct ehu_trace trace;
	struct compare_frame frame[MAX_FRAMES];
	struct compare_oracle out;
	struct compare_result result;
};

static FIXTURE_DATA(self) *current;

/* Where the module's executable segments lie, and its section, moved by the bias. */
static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	FIXTURE_DATA(self) *self = arg;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct ehf_section *s = &self->section[self->nr];
	struct ehf_ctx ctx = { .mem = &self_mem, .abi = &ehu_arch_x86_64.abi,
			       .limits = &ehf_limits_walk };
	struct ehf_cost cost = { 0 };
	struct image_error err;
	struct image *img;
	u64 bias = info->dlpi_addr;

	(void)size;
	ctx.cost = &cost;
	if (self->nr == MAX_MODULES || image_open(path, &img, &err) != IMAGE_OK)
		return 0;	/* the vDSO has no file */
	self->img[self->nr] = img;
	s->text_start = img->exec[0].addr + bias;
	s->text_end = img->exec[img->nr_exec - 1].end + bias;
	s->hdr = img->hdr + bias;
	s->hdr_end = img->hdr_end + bias;
	s->eh_frame = img->eh_frame + bias;
	s->eh_frame_end = img->eh_frame_end + bias;
	if (ehf_section_init(&ctx, s) == EHF_STOP_NONE)
		ehu_map_add(&self->map, s->text_start, s->text_end, s);
	if (oracle_frames_add(self->oracle, path, img->fd, bias))
		TH_LOG("%s: %s", path, oracle_frames_error(self->oracle));
	self->nr++;
	return 0;
}

FIXTURE_SETUP(self)
{
	ehu_map_init(&self->map, self->range, MAX_MODULES);
	self->oracle = oracle_frames_new(&ehu_arch_x86_64);
	ASSERT_NE(NULL, self->oracle);
	dl_iterate_phdr(add_module, self);
	ASSERT_GE(self->nr, 2);
	current = self;
}

FIXTURE_TEARDOWN(self)
{
	oracle_frames_free(self->oracle);
	for (u32 k = 0; k < self->nr; k++)
		image_close(self->img[k]);
}

static struct ehu_regs from_context(const ucontext_t *uc)
{
	static const u8 greg[16] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	struct ehu_regs regs = { .ip = (u64)uc->uc_mcontext.gregs[REG_RIP], .known = 0xffff };

	for (u32 k = 0; k < 16; k++)
		regs.reg[k] = (u64)uc->uc_mcontext.gregs[greg[k]];
	return regs;
}

static void walk_both(FIXTURE_DATA(self) *self, const struct ehu_regs *regs, u32 max)
{
	struct ehu_unwind u = { .arch = &ehu_arch_x86_64, .mem = &self_mem,
				.sections = &self->map.sections, .limits = &ehf_limits_walk };

	self->trace = (struct ehu_trace){ .entry = self->entry, .max = max };
	self->out = (struct compare_oracle){ .frame = self->frame };
	EXPECT_EQ(0, ehu_walk(&u, regs, &self->trace));
	EXPECT_EQ(0, oracle_frames_walk(self->oracle, regs, &self_mem, max, &self->out, NULL)) {
		TH_LOG("%s", oracle_frames_error(self->oracle));
	}
	compare_traces(&self->trace, &self->out, &self->result);
}

static void show(FIXTURE_DATA(self) *self)
{
	for (u32 k = 0; k < self->trace.nr || k < self->out.nr; k++)
		TH_LOG("%u ours %#lx %#lx oracle %#lx %#lx %s", k,
		       k < self->trace.nr ? self->entry[k].ip : 0,
		       k < self->trace.nr ? self->entry[k].sp : 0,
		       k < self->out.nr ? self->frame[k].pc : 0,
		       k < self->out.nr ? self->frame[k].sp : 0,
		       k < self->out.nr ? compare_via_name(self->frame[k].via) : "");
	TH_LOG("stop %s; %s", ehf_stop_name(self->trace.stop),
	       oracle_frames_error(self->oracle));
}

static __attribute__((noinline)) u32 deeper(FIXTURE_DATA(self) *self, u32 depth, u32 max)
{
	volatile u32 sum = depth;
	ucontext_t uc;
	struct ehu_regs regs;

	if (depth) {
		sum += deeper(self, depth - 1, max);
		return sum;
	}
	getcontext(&uc);
	regs = from_context(&uc);
	walk_both(self, &regs, max);
	return sum;
}

TEST_F(self, plain_calls_agree_to_the_end)
{
	u64 off;

	deeper(self, 20, MAX_FRAMES);
	EXPECT_EQ(COMPARE_EQUAL, self->result.outcome) {
		show(self);
	}
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, self->trace.stop);
	EXPECT_GE(self->trace.nr, 22);
	EXPECT_EQ(0, self->result.cut);
	EXPECT_STREQ("", oracle_frames_error(self->oracle));
	EXPECT_STREQ("deeper", oracle_frames_symbol(self->oracle, self->frame[3].pc - 1, &off));
}

TEST_F(self, pcs_alone_are_the_same_pcs)
{
	struct ehu_regs regs;
	ucontext_t uc;
	u64 pc[MAX_FRAMES];
	int nr;

	getcontext(&uc);
	regs = from_context(&uc);
	walk_both(self, &regs, MAX_FRAMES);
	nr = oracle_frames_pcs(self->oracle, &regs, &self_mem, pc, MAX_FRAMES);
	ASSERT_EQ(nr, self->out.nr);
	for (int k = 0; k < nr; k++)
		EXPECT_EQ(self->frame[k].pc, pc[k]);
}

TEST_F(self, both_are_cut_at_the_depth_limit)
{
	deeper(self, 20, 10);
	EXPECT_EQ(COMPARE_EQUAL, self->result.outcome);
	EXPECT_EQ(EHF_STOP_TRACE_FULL, self->trace.stop);
	EXPECT_TRUE(self->out.full);
	EXPECT_EQ(10, self->out.nr);
}

static struct ehu_regs interrupted;

static __attribute__((noinline)) void on_signal(int sig, siginfo_t *info, void *uc)
{
	(void)sig, (void)info;
	interrupted = from_context(uc);
	deeper(current, 2, MAX_FRAMES);
}

TEST_F(self, through_a_signal_handler)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	u32 k;

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	EXPECT_EQ(COMPARE_EQUAL, self->result.outcome) {
		show(self);
	}
	EXPECT_EQ(EHF_STOP_RA_UNDEFINED, self->trace.stop);
	/* The interrupted frame is there, exact on both sides. */
	for (k = 1; k < self->out.nr && self->frame[k].pc != interrupted.ip; k++)
		;
	ASSERT_LT(k, self->out.nr);
	EXPECT_TRUE(self->frame[k].exact);
	EXPECT_EQ(EHU_ENTRY_EXACT, self->entry[k].flags & EHU_ENTRY_EXACT);
	EXPECT_EQ(interrupted.reg[7], self->frame[k].sp);
	EXPECT_FALSE(self->frame[k - 1].exact);
}

/*
 * Code without CFI, which libdwfl leaves by the frame pointer: a page of our own, "call *%rdi"
 * inside a frame. It must be marked as a guess, and cut.
 */
static void from_page(void)
{
	deeper(current, 0, MAX_FRAMES);
}

TEST_F(self, a_guess_is_marked)
{
	static const u8 code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u32 k;

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, code, sizeof(code));
	((void (*)(void (*)(void)))page)(from_page);
	EXPECT_EQ(COMPARE_EQUAL, self->result.outcome) {
		show(self);
	}
	EXPECT_EQ(EHF_STOP_PC_NOT_IN_MODULE, self->trace.stop);
	EXPECT_EQ((u64)(uintptr_t)page + 6, self->entry[self->trace.nr - 1].ip);
	EXPECT_GT(self->result.cut, 0);
	EXPECT_EQ(COMPARE_VIA_GUESS, self->result.cut_via);
	for (k = 0; k < self->result.nr_oracle; k++)
		EXPECT_NE(COMPARE_VIA_GUESS, self->frame[k].via);
}

TEST_F(self, rows_as_text)
{
	char text[256];

	oracle_frames_row(self->oracle, (u64)(uintptr_t)deeper, text, sizeof(text));
	EXPECT_STREQ("CFA=rsp+8 RA=[CFA-8] FP=same SP=val(CFA+0)", text);
	oracle_frames_row(self->oracle, 1, text, sizeof(text));
	EXPECT_STREQ("not in a module", text);
	oracle_frames_row(self->oracle, (u64)(uintptr_t)deeper, text, 5);
	EXPECT_STREQ("CFA=", text);
}

TEST_F(self, memory_that_fails_ends_the_walk)
{
	struct ehu_regs regs;
	ucontext_t uc;

	getcontext(&uc);
	regs = from_context(&uc);
	regs.reg[7] = 8;
	regs.reg[6] = 8;
	walk_both(self, &regs, MAX_FRAMES);
	EXPECT_EQ(COMPARE_NEITHER, self->result.outcome);
	EXPECT_EQ(EHF_STOP_MEMORY, self->trace.stop);
}

TEST_HARNESS_MAIN
