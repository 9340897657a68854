// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The list of machines.
 */
#include "arch/arch.h"

static const struct ehu_arch *const archs[] = {
	&ehu_arch_x86_64,
	&ehu_arch_x32,
	&ehu_arch_i386,
	&ehu_arch_s390x,
	&ehu_arch_aarch64,
};

/**
 * ehu_arch_find() - the machine that an ELF header names
 * @e_machine: its e_machine
 * @elf_class: 1 for ELFCLASS32, 2 for ELFCLASS64: tells x32 from x86-64
 * @big_endian: EI_DATA is ELFDATA2MSB
 *
 * Return: the machine, or NULL for one that is not supported.
 */
const struct ehu_arch *ehu_arch_find(u16 e_machine, u8 elf_class, bool big_endian)
{
	u32 k;

	for (k = 0; k < EHF_ARRAY_SIZE(archs); k++)
		if (archs[k]->e_machine == e_machine && archs[k]->elf_class == elf_class &&
		    archs[k]->abi.big_endian == big_endian)
			return archs[k];
	return NULL;
}

/**
 * ehu_arch_at() - the machines one by one
 * @index: 0 and up
 *
 * Return: a machine, or NULL behind the last.
 */
const struct ehu_arch *ehu_arch_at(u32 index)
{
	return index < EHF_ARRAY_SIZE(archs) ? archs[index] : NULL;
}
