// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * x86-64 and its 32-bit-pointer sibling x32.
 */
#include "arch/arch.h"
#include "arch/x86.h"
#include "ehframe/dwarf.h"

/* Register numbers: x86-64 psABI, figure "DWARF Register Number Mapping". */
enum {
	RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
	R8, R9, R10, R11, R12, R13, R14, R15, RIP,
	NR_REGS
};

static const char *const names[NR_REGS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

/* Bits of PERF_SAMPLE_REGS_USER: enum perf_event_x86_regs. */
static const struct ehu_sample_reg sample[] = {
	{ 0, RAX }, { 1, RBX }, { 2, RCX }, { 3, RDX }, { 4, RSI }, { 5, RDI }, { 6, RBP },
	{ 7, RSP }, { 8, EHU_SAMPLE_IP },
	{ 16, R8 }, { 17, R9 }, { 18, R10 }, { 19, R11 }, { 20, R12 }, { 21, R13 }, { 22, R14 },
	{ 23, R15 },
};

/* BX and R12-R15, which an NMI in the kernel has no right values of: perf makes all of them ~0. */
#define SAMPLE_LOST	(1ULL << 1 | 0xfULL << 20)

/*
 * rt_sigframe as __restore_rt sees it: the return address is popped, SP points to the
 * ucontext; its mcontext begins 40 bytes in, with x32's smaller pointers 24 bytes in
 * (asm/ucontext.h, asm/sigcontext.h: struct sigcontext_64).
 */
static const u16 mcontext[NR_REGS] = {
	[R8] = 0, [R9] = 8, [R10] = 16, [R11] = 24, [R12] = 32, [R13] = 40, [R14] = 48,
	[R15] = 56, [RDI] = 64, [RSI] = 72, [RBP] = 80, [RBX] = 88, [RDX] = 96, [RAX] = 104,
	[RCX] = 112, [RSP] = 120,
	[RIP] = EHU_NOT_SAVED,
};

static const struct ehu_signal_layout signal_64[] = {
	{ .base = 40, .off = mcontext, .nr = NR_REGS, .ip_off = 128 },
};

static const struct ehu_signal_layout signal_x32[] = {
	{ .base = 24, .off = mcontext, .nr = NR_REGS, .ip_off = 128 },
};

/*
 * OpenSSL's Montgomery multiplication: the caller's SP is saved at the end of an array on the
 * stack: *(rsp + off + (r9 << 3)) + 8, in perlasm x86_64-mont.pl.
 */
static bool match_sum(const struct ehf_op *op, u32 nr, struct ehf_cfa *cfa)
{
	if ((nr != 6 && nr != 7) || op[0].kind != EHF_OP_REG || op[1].kind != EHF_OP_REG ||
	    op[1].num || op[2].kind != EHF_OP_CONST || op[2].num != 8 ||
	    op[3].kind != EHF_OP_OTHER || op[3].code != DW_OP_mul ||
	    op[4].kind != EHF_OP_OTHER || op[4].code != DW_OP_plus ||
	    op[5].kind != EHF_OP_DEREF || (nr == 7 && op[6].kind != EHF_OP_ADD))
		return false;
	cfa->kind = EHF_CFA_AT_SUM;
	cfa->reg = op[0].reg;
	cfa->off = op[0].num;
	cfa->reg2 = op[1].reg;
	cfa->shift = 3;
	cfa->add = nr == 7 ? op[6].num : 0;
	return true;
}

static bool match_cfa(const struct ehf_op *op, u32 nr, struct ehf_cfa *cfa)
{
	return ehu_x86_match_plt(op, nr, RSP, RIP, 3, cfa) || match_sum(op, nr, cfa);
}

#define ABI(address_size) { \
	.word_size = 8, .addr_size = (address_size), \
	.reg_sp = RSP, .reg_fp = RBP, .reg_ra = RIP, \
	.match_cfa = match_cfa, \
}

#define FP_ROW { \
	.cfa = { .kind = EHF_CFA_REG, .reg = RBP, .off = 16 }, \
	.rule[EHF_FP] = { .kind = EHF_RULE_AT_CFA, .off = -16 }, \
	.rule[EHF_RA] = { .kind = EHF_RULE_AT_CFA, .off = -8 }, \
}

const struct ehu_arch ehu_arch_x86_64 = {
	.name		= "x86_64",
	.e_machine	= 62,
	.elf_class	= 2,
	.abi		= ABI(8),
	.reg_name	= names,
	.nr_reg_names	= NR_REGS,
	.fp_row		= FP_ROW,
	.ra_is_pc	= true,
	.sp_align	= 8,
	.sample		= sample,
	.nr_sample	= EHF_ARRAY_SIZE(sample),
	.sample_lost	= SAMPLE_LOST,
	.signal		= signal_64,
	.nr_signal	= EHF_ARRAY_SIZE(signal_64),
};

const struct ehu_arch ehu_arch_x32 = {
	.name		= "x32",
	.e_machine	= 62,
	.elf_class	= 1,
	.abi		= ABI(4),
	.reg_name	= names,
	.nr_reg_names	= NR_REGS,
	.fp_row		= FP_ROW,
	.ra_is_pc	= true,
	.sp_align	= 8,
	.sample		= sample,
	.nr_sample	= EHF_ARRAY_SIZE(sample),
	.sample_lost	= SAMPLE_LOST,
	.signal		= signal_x32,
	.nr_signal	= EHF_ARRAY_SIZE(signal_x32),
};
