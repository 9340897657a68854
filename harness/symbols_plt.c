// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * PLT stubs by name: what a stub jumps through, and whose relocation fills that slot.
 */
#include "harness/symbols_int.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest name that is made; target names are cut to it. */
#define MAX_NAME	4096

struct slot {
	u64 addr;		/* of the GOT entry */
	const char *name;	/* NULL: an IRELATIVE relocation */
	u64 resolver;
};

struct slots {
	struct slot *slot;
	size_t nr;
	size_t room;
};

static int by_addr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool add_slot(struct slots *s, const struct slot *slot)
{
	if (s->nr == s->room) {
		size_t room = s->room ? 2 * s->room : 256;
		struct slot *grown = reallocarray(s->slot, room, sizeof(*grown));

		if (!grown)
			return false;
		s->slot = grown;
		s->room = room;
	}
	s->slot[s->nr++] = *slot;
	return true;
}

/* Relocations that fill a GOT slot with a function: psABI x86-64, table 4.10. */
static void read_relocations(struct slots *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Scn *sym_scn = elf_getscn(elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *syms;
	GElf_Shdr sym_sh;
	size_t nr;

	if (!data || !data->d_buf || !sym_scn || !gelf_getshdr(sym_scn, &sym_sh))
		return;
	syms = elf_getdata(sym_scn, NULL);
	nr = data->d_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
	for (size_t i = 0; i < nr && i < INT32_MAX; i++) {
		struct slot slot = { 0 };
		GElf_Rela rela;
		GElf_Sym sym;

		if (!gelf_getrela(data, (int)i, &rela))
			return;
		slot.addr = rela.r_offset;
		switch (GELF_R_TYPE(rela.r_info)) {
		case R_X86_64_JUMP_SLOT:
		case R_X86_64_GLOB_DAT:
			if (!syms || GELF_R_SYM(rela.r_info) > INT32_MAX ||
			    !gelf_getsym(syms, (int)GELF_R_SYM(rela.r_info), &sym))
				continue;
			slot.name = elf_strptr(elf, sym_sh.sh_link, sym.st_name);
			if (!slot.name || !*slot.name)
				continue;
			break;
		case R_X86_64_IRELATIVE:
			slot.resolver = (u64)rela.r_addend;
			break;
		default:
			continue;
		}
		if (!add_slot(s, &slot))
			return;
	}
}

/*
 * An entry of a linker's making: [endbr64] [mov $number,%r11d] [bnd] jmp *slot(%rip), anything
 * after it; the mov is mold's. The jump is looked for at those places only: bytes that look like
 * one further on may be an operand.
 */
static bool entry_slot(const u8 *p, u64 len, u64 addr, u64 *slot)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	u64 at = 0;
	s32 disp;

	if (len >= sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (len - at >= 6 && p[at] == 0x41 && p[at + 1] == 0xbb)
		at += 6;
	if (at < len && p[at] == 0xf2)
		at++;
	if (len - at < 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return false;
	disp = (s32)((u32)p[at + 2] | (u32)p[at + 3] << 8 | (u32)p[at + 4] << 16 |
		     (u32)p[at + 5] << 24);
	*slot = addr + at + 6 + (u64)(s64)disp;
	return true;
}

static void name_entry(struct symbols_names *n, const struct slots *s, u64 slot,
		       struct symbols_name *name,
		       const char *(*keep)(void *arg, const char *text), void *arg)
{
	const struct slot key = { .addr = slot };
	const struct slot *found = NULL;
	char text[MAX_NAME];

	if (s->nr)
		found = bsearch(&key, s->slot, s->nr, sizeof(*s->slot), by_addr);
	if (!found)
		return;
	if (found->name)
		snprintf(text, sizeof(text), "%.*s@plt", MAX_NAME - 8, found->name);
	else
		snprintf(text, sizeof(text), "*ABS*+%#llx@plt", (unsigned long long)found->resolver);
	name->name = keep(arg, text);
	if (name->name)
		symbols_names_add(n, name);
}

static void read_plt(struct symbols_names *n, const struct debuginfo_file *file,
		     const struct slots *s, const GElf_Shdr *sh,
		     const char *(*keep)(void *arg, const char *text), void *arg)
{
	/* .plt.got has entries of 8 bytes where there is no endbr64. */
	u64 size = sh->sh_entsize == 8 ? 8 : 16;
	const u8 *bytes;

	if (sh->sh_offset > file->size || sh->sh_size > file->size - sh->sh_offset)
		return;
	bytes = file->bytes + sh->sh_offset;
	for (u64 at = 0; size <= sh->sh_size - at; at += size) {
		struct symbols_name name = {
			.addr = sh->sh_addr + at, .size = size,
			.limit = sh->sh_addr + sh->sh_size, .table = SYMBOLS_TABLE_PLT,
		};
		u64 slot;

		if (entry_slot(bytes + at, size, name.addr, &slot))
			name_entry(n, s, slot, &name, keep, arg);
	}
}

/**
 * symbols_plt_read() - add the PLT stubs of a file
 * @n: the symbols
 * @file: the file itself, for x86-64: a debug file has no code
 * @keep: copies a name to where it lives as long as @n; NULL where there is no memory
 * @arg: its first argument
 *
 * A stub is "target@plt": it is not the target, and time spent in it is not spent there. Stubs
 * are decoded, not counted: .plt.sec, .plt.got and mold's own order need no rules then. The
 * lazy stubs of .plt, which push a number and jump on, are left unnamed where .plt.sec exists.
 */
void symbols_plt_read(struct symbols_names *n, const struct debuginfo_file *file,
		      const char *(*keep)(void *arg, const char *text), void *arg)
{
	struct slots s = { 0 };
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr sh;

	if (file->machine != EM_X86_64 || elf_getshdrstrndx(file->elf, &strings))
		return;
	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA && sh.sh_flags & SHF_ALLOC)
			read_relocations(&s, file->elf, scn, &sh);
	}
	if (s.nr)
		qsort(s.slot, s.nr, sizeof(*s.slot), by_addr);
	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(file->elf, strings, sh.sh_name);
		if (name && (!strcmp(name, ".plt") || !strncmp(name, ".plt.", 5) ||
			     !strcmp(name, ".iplt")))
			read_plt(n, file, &s, &sh, keep, arg);
	}
	free(s.slot);
}
