// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * AArch64, little endian: return addresses in x30 and perhaps signed.
 */
#include "arch/arch.h"

/* Register numbers: AADWARF64, "DWARF register names". */
enum { X29 = 29, X30 = 30, SP = 31, NR_REGS };

static const char *const names[NR_REGS] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
	"x26", "x27", "x28", "x29", "x30", "sp",
};

/* enum perf_event_arm_regs: x0-x30 and sp by number, then pc. */
static const struct ehu_sample_reg sample[] = {
	{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 5 }, { 6, 6 }, { 7, 7 },
	{ 8, 8 }, { 9, 9 }, { 10, 10 }, { 11, 11 }, { 12, 12 }, { 13, 13 }, { 14, 14 },
	{ 15, 15 }, { 16, 16 }, { 17, 17 }, { 18, 18 }, { 19, 19 }, { 20, 20 }, { 21, 21 },
	{ 22, 22 }, { 23, 23 }, { 24, 24 }, { 25, 25 }, { 26, 26 }, { 27, 27 }, { 28, 28 },
	{ 29, 29 }, { 30, 30 }, { 31, SP }, { 32, EHU_SAMPLE_IP },
};

/*
 * The vDSO has no CFI: its trampoline is mov x8, #139; svc #0. SP points to a siginfo (128
 * bytes) and a ucontext, whose sigcontext begins at 176: a fault address, x0-x30, sp, pc
 * (arch/arm64/kernel/signal.c, asm/sigcontext.h, asm/ucontext.h).
 */
#define X(n)	(8 + 8 * (n))
static const u16 sigcontext[NR_REGS] = {
	X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13),
	X(14), X(15), X(16), X(17), X(18), X(19), X(20), X(21), X(22), X(23), X(24), X(25),
	X(26), X(27), X(28), X(29), X(30), X(31),
};

static const u8 rt_sigreturn[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };

static const struct ehu_signal_layout signal_layouts[] = {
	{
		.code = rt_sigreturn, .code_len = sizeof(rt_sigreturn),
		.base = 128 + 176, .ip_off = X(32), .off = sigcontext, .nr = NR_REGS,
	},
};

const struct ehu_arch ehu_arch_aarch64 = {
	.name		= "aarch64",
	.e_machine	= 183,
	.elf_class	= 2,
	.abi = {
		.word_size = 8, .addr_size = 8, .ra_state = true,
		.reg_sp = SP, .reg_fp = X29, .reg_ra = X30,
	},
	.reg_name	= names,
	.nr_reg_names	= NR_REGS,
	.fp_row = {
		.cfa = { .kind = EHF_CFA_REG, .reg = X29, .off = 16 },
		.rule[EHF_FP] = { .kind = EHF_RULE_AT_CFA, .off = -16 },
		.rule[EHF_RA] = { .kind = EHF_RULE_AT_CFA, .off = -8 },
	},
	.sp_align	= 8,
	.va_bits	= 48,
	.sample		= sample,
	.nr_sample	= EHF_ARRAY_SIZE(sample),
	.signal		= signal_layouts,
	.nr_signal	= EHF_ARRAY_SIZE(signal_layouts),
};
