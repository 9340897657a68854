// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * s390x: big endian, a CFA biased by the register save area, GPRs parked in FPRs.
 */
#include "arch/arch.h"

/*
 * Register numbers: s390x ABI supplement 1.6, 1.5.1: 0-15 are r0-r15, 16-31 the FPRs in the
 * order below. Rules and reports call them r16-r31: "f4" is read as the ABI's f4 by some and as
 * DWARF's 20 by others, GNU as among them. PSW mask and address (64, 65) are never named by a rule.
 */
enum { R11 = 11, R14 = 14, R15 = 15 };

/* enum perf_event_s390_regs: r0-r15, f0-f15 in architectural order, mask, pc. */
static const struct ehu_sample_reg sample[] = {
	{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 6, 6 }, { 7, 7 },
	{ 8, 8 }, { 9, 9 }, { 10, 10 }, { 11, 11 }, { 12, 12 }, { 13, 13 }, { 14, 14 },
	{ 15, 15 },
	/* f0 f1 f2 .. f15 -> DWARF: f0 16, f2 17, f4 18, f6 19, f1 20, f3 21, f5 22, f7 23, .. */
	{ 16, 16 }, { 17, 20 }, { 18, 17 }, { 19, 21 }, { 20, 18 }, { 21, 22 }, { 22, 19 },
	{ 23, 23 }, { 24, 24 }, { 25, 28 }, { 26, 25 }, { 27, 29 }, { 28, 26 }, { 29, 30 },
	{ 30, 27 }, { 31, 31 },
	{ 33, EHU_SAMPLE_IP },
};

/*
 * Linux (6.1: perf_reg_value(), perf_sample_regs_user()) gives a sample in user mode the FPRs that
 * the thread had when they were saved last, at an earlier switch: what a leaf parked in one (r11,
 * r14) would come out as another's. A sample in the kernel has them saved first.
 */
#define SAMPLE_STALE	(0xffffULL << 16)

/*
 * Signal frames are told by the system call at the trampoline's pc: svc 173 (rt_sigreturn) or
 * svc 119 (sigreturn). SP points to the frame: a register save area of 160 bytes; then, for
 * the first, the svc, a siginfo at 168 and a ucontext at 296 whose _sigregs begin 40 bytes in;
 * for the second, a sigcontext of 16 bytes and the _sigregs. Those are the PSW's mask and
 * address, r0-r15, 16 access registers of 4 bytes, fpc, f0-f15 (arch/s390/kernel/signal.c,
 * asm/sigcontext.h).
 */
#define GPR(n)	(16 + 8 * (n))
#define FPR(n)	(16 + 128 + 64 + 8 + 8 * (n))
static const u16 sigregs[] = {
	GPR(0), GPR(1), GPR(2), GPR(3), GPR(4), GPR(5), GPR(6), GPR(7),
	GPR(8), GPR(9), GPR(10), GPR(11), GPR(12), GPR(13), GPR(14), GPR(15),
	FPR(0), FPR(2), FPR(4), FPR(6), FPR(1), FPR(3), FPR(5), FPR(7),
	FPR(8), FPR(10), FPR(12), FPR(14), FPR(9), FPR(11), FPR(13), FPR(15),
};

static const u8 svc_rt_sigreturn[] = { 0x0a, 0xad };
static const u8 svc_sigreturn[] = { 0x0a, 0x77 };

static const struct ehu_signal_layout signal_layouts[] = {
	{
		.code = svc_rt_sigreturn, .code_len = sizeof(svc_rt_sigreturn),
		.base = 296 + 40, .ip_off = 8, .off = sigregs, .nr = EHF_ARRAY_SIZE(sigregs),
	}, {
		.code = svc_sigreturn, .code_len = sizeof(svc_sigreturn),
		.base = 160 + 16, .ip_off = 8, .off = sigregs, .nr = EHF_ARRAY_SIZE(sigregs),
	},
};

const struct ehu_arch ehu_arch_s390x = {
	.name		= "s390x",
	.e_machine	= 22,
	.elf_class	= 2,
	.abi = {
		.word_size = 8, .addr_size = 8, .big_endian = true,
		.reg_sp = R15, .reg_fp = R11, .reg_ra = R14, .sp_off = -160,
		.sp_slot = -40,
	},
	.sp_align	= 8,
	.sample		= sample,
	.nr_sample	= EHF_ARRAY_SIZE(sample),
	.sample_stale	= SAMPLE_STALE,
	.signal		= signal_layouts,
	.nr_signal	= EHF_ARRAY_SIZE(signal_layouts),
};
