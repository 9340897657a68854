/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One const table an architecture: what the format, the walk and the harness need to know of
 * a machine.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "ehframe/abi.h"
#include "ehframe/row.h"

/* DWARF registers that a register file holds: the first ones of every machine here. */
#define EHU_NR_REGS	34

/**
 * struct ehu_regs - a register file
 * @ip: the program counter
 * @known: bit n is set where @reg[n] is known
 * @reg: by DWARF number
 */
struct ehu_regs {
	u64 ip;
	u64 known;
	u64 reg[EHU_NR_REGS];
};

/**
 * struct ehu_sample_reg - one register of a perf sample (PERF_SAMPLE_REGS_USER)
 * @bit: its bit in the sample's mask
 * @reg: DWARF number; EHU_SAMPLE_IP for the program counter
 */
struct ehu_sample_reg {
	u8 bit;
	u8 reg;
};

#define EHU_SAMPLE_IP	0xff

/* An entry of ehu_signal_layout.off: the register is not in the frame. */
#define EHU_NOT_SAVED	0xffff

/**
 * struct ehu_signal_layout - where a signal frame holds the interrupted registers
 * @code: instruction bytes at the trampoline's pc that tell such a frame where its CFI does
 *	not ('S'); NULL where there is always CFI
 * @code_len: bytes of @code
 * @base: bytes from the trampoline's SP to where the offsets count from
 * @ip_off: of the program counter, in bytes
 * @off: of each DWARF register, in bytes, or EHU_NOT_SAVED
 * @nr: entries of @off
 */
struct ehu_signal_layout {
	const u8 *code;
	u32 code_len;
	u16 base;
	u16 ip_off;
	const u16 *off;
	u32 nr;
};

/**
 * struct ehu_arch - a machine
 * @name: as uname -m has it
 * @e_machine: ELF's e_machine
 * @elf_class: ELFCLASS32 (1) or ELFCLASS64 (2)
 * @abi: what ehframe/ needs
 * @reg_name: names by DWARF number, @nr_reg_names of them; others are "r<number>"
 * @fp_row: the row that a frame pointer stands for, for the optional fallback;
 *	@fp_row.cfa.kind is EHF_CFA_NONE where frame pointers do not make a chain
 * @ra_is_pc: the RA column is the pc itself, which a frame without a rule for it cannot have
 *	left unchanged (x86)
 * @sp_align: CFA and SP are multiples of this
 * @va_bits: address bits that a signed return address keeps, where nobody knows better;
 *	0 where addresses are not signed
 * @sample: how perf numbers the registers of a sample
 * @nr_sample: entries of @sample
 * @sample_lost: perf's bits of registers that a sample in the kernel may have no values of: all
 *	of them are ~0 then
 * @sample_stale: perf's bits of registers that a sample in user mode has old values of
 * @signal: layouts of signal frames, @nr_signal of them
 */
struct ehu_arch {
	const char *name;
	u16 e_machine;
	u8 elf_class;
	struct ehf_abi abi;
	const char *const *reg_name;
	u32 nr_reg_names;
	struct ehf_row fp_row;
	bool ra_is_pc;
	u8 sp_align;
	u8 va_bits;
	const struct ehu_sample_reg *sample;
	u32 nr_sample;
	u64 sample_lost;
	u64 sample_stale;
	const struct ehu_signal_layout *signal;
	u32 nr_signal;
};

extern const struct ehu_arch ehu_arch_x86_64;
extern const struct ehu_arch ehu_arch_x32;
extern const struct ehu_arch ehu_arch_i386;
extern const struct ehu_arch ehu_arch_s390x;
extern const struct ehu_arch ehu_arch_aarch64;

/**
 * ehu_arch_ra_mask() - which bits of a return address are address
 * @arch: the machine
 * @known: what the task's own kernel says of it; 0 where nobody knows
 *
 * Return: the mask; the other bits may hold a signature. All ones where addresses are not signed.
 */
static inline u64 ehu_arch_ra_mask(const struct ehu_arch *arch, u64 known)
{
	if (known)
		return known;
	return arch->va_bits ? (1ULL << (arch->va_bits & 63)) - 1 : ~0ULL;
}

const struct ehu_arch *ehu_arch_find(u16 e_machine, u8 elf_class, bool big_endian);
const struct ehu_arch *ehu_arch_at(u32 index);

#endif /* ARCH_ARCH_H */
