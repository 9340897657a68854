// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * i386, native or as a 32-bit task of a 64-bit kernel.
 */
#include "arch/arch.h"
#include "arch/x86.h"

/* Register numbers: Intel386 psABI 1.1, table 2.14. */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, EIP, NR_REGS };

static const char *const names[NR_REGS] = {
	"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip",
};

/* Bits of PERF_SAMPLE_REGS_USER: enum perf_event_x86_regs. */
static const struct ehu_sample_reg sample[] = {
	{ 0, EAX }, { 1, EBX }, { 2, ECX }, { 3, EDX }, { 4, ESI }, { 5, EDI }, { 6, EBP },
	{ 7, ESP }, { 8, EHU_SAMPLE_IP },
};

/*
 * The kernel's frames as the vDSO's __kernel_sigreturn and __kernel_rt_sigreturn see them: the
 * return address is popped, SP points to the handler's arguments. The first has the sigcontext
 * behind one of them, the second behind three, a siginfo (128 bytes) and the head of a
 * ucontext (20) (asm/sigframe.h, asm/sigcontext.h: struct sigcontext_32).
 */
static const u16 sigcontext[NR_REGS] = {
	[EDI] = 16, [ESI] = 20, [EBP] = 24, [ESP] = 28, [EBX] = 32, [EDX] = 36, [ECX] = 40,
	[EAX] = 44, [EIP] = EHU_NOT_SAVED,
};

static const struct ehu_signal_layout signal_layouts[] = {
	{ .base = 4, .off = sigcontext, .nr = NR_REGS, .ip_off = 56 },
	{ .base = 12 + 128 + 20, .off = sigcontext, .nr = NR_REGS, .ip_off = 56 },
};

static bool match_cfa(const struct ehf_op *op, u32 nr, struct ehf_cfa *cfa)
{
	return ehu_x86_match_plt(op, nr, ESP, EIP, 2, cfa);
}

const struct ehu_arch ehu_arch_i386 = {
	.name		= "i386",
	.e_machine	= 3,
	.elf_class	= 1,
	.abi = {
		.word_size = 4, .addr_size = 4,
		.reg_sp = ESP, .reg_fp = EBP, .reg_ra = EIP,
		.match_cfa = match_cfa,
	},
	.reg_name	= names,
	.nr_reg_names	= NR_REGS,
	.fp_row = {
		.cfa = { .kind = EHF_CFA_REG, .reg = EBP, .off = 8 },
		.rule[EHF_FP] = { .kind = EHF_RULE_AT_CFA, .off = -8 },
		.rule[EHF_RA] = { .kind = EHF_RULE_AT_CFA, .off = -4 },
	},
	.ra_is_pc	= true,
	.sp_align	= 4,
	.sample		= sample,
	.nr_sample	= EHF_ARRAY_SIZE(sample),
	.signal		= signal_layouts,
	.nr_signal	= EHF_ARRAY_SIZE(signal_layouts),
};
