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
};
