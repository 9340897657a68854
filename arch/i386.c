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
};
