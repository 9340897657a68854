// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Names in an ELF image: symbols (read when somebody asks for one) and sections.
 */
#include "harness/image.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

static int by_addr(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Functions, and the untyped labels of assembly. */
static bool names_code(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static u64 symbol_end(const struct image *img, const GElf_Sym *sym)
{
	Elf_Scn *scn;
	GElf_Shdr sh;

	if (sym->st_size)
		return sym->st_size <= ~sym->st_value ? sym->st_value + sym->st_size : ~0ULL;
	scn = elf_getscn(img->elf, sym->st_shndx);
	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_size > ~sh.sh_addr)
		return sym->st_value;
	return sh.sh_addr + sh.sh_size;
}

static void read_table(struct image *img, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	struct image_symbol *grown;
	size_t nr;

	if (!data || !sh->sh_entsize)
		return;
	nr = data->d_size / gelf_fsize(img->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!nr || nr > INT32_MAX)
		return;
	grown = reallocarray(img->sym, img->nr_syms + nr, sizeof(*img->sym));
	if (!grown)
		return;
	img->sym = grown;
	for (size_t i = 1; i < nr; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !names_code(&sym))
			continue;
		name = elf_strptr(img->elf, sh->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		img->sym[img->nr_syms++] = (struct image_symbol){
			.addr = sym.st_value, .size = sym.st_size, .name = name,
			.end = symbol_end(img, &sym),
		};
	}
}

static void load(struct image *img)
{
	static const u32 tables[] = { SHT_SYMTAB, SHT_DYNSYM };

	if (img->syms_loaded)
		return;
	img->syms_loaded = true;
	/* .symtab repeats what .dynsym has: one of them is enough. */
	for (size_t t = 0; t < EHF_ARRAY_SIZE(tables) && !img->nr_syms; t++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr sh;

		while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
			if (gelf_getshdr(scn, &sh) && sh.sh_type == tables[t])
				read_table(img, scn, &sh);
		}
	}
	if (img->nr_syms)
		qsort(img->sym, img->nr_syms, sizeof(*img->sym), by_addr);
}

/**
 * image_symbol_at() - the symbol that covers an address
 * @img: the image
 * @addr: ELF virtual address
 *
 * A symbol without a size is taken to reach to the next one, or to its section's end.
 *
 * Return: the symbol, NULL where none covers it; valid as long as the image.
 */
const struct image_symbol *image_symbol_at(struct image *img, u64 addr)
{
	size_t low = 0, high;

	load(img);
	high = img->nr_syms;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (img->sym[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* Several may share an address, the largest first; a few steps back are enough. */
	for (size_t tries = 0; low && tries < 16; tries++) {
		const struct image_symbol *s = &img->sym[--low];

		if (addr < s->end && (s->size || !tries)) {
			while (low && img->sym[low - 1].addr == s->addr &&
			       img->sym[low - 1].size == s->size)
				s = &img->sym[--low];
			return s;
		}
	}
	return NULL;
}

/**
 * image_symbol_named() - the symbol of a name
 * @img: the image
 * @name: as the file has it, without a version
 *
 * Return: the one with the lowest address, NULL where there is none.
 */
const struct image_symbol *image_symbol_named(struct image *img, const char *name)
{
	load(img);
	for (size_t i = 0; i < img->nr_syms; i++) {
		if (!strcmp(img->sym[i].name, name))
			return &img->sym[i];
	}
	return NULL;
}

/**
 * image_section_named() - where a section is loaded
 * @img: the image
 * @name: such as ".plt"
 * @addr: filled in: ELF virtual address
 * @size: filled in: bytes
 *
 * Return: false where no loaded section has that name.
 */
bool image_section_named(const struct image *img, const char *name, u64 *addr, u64 *size)
{
	Elf_Scn *scn = NULL;
	size_t names = 0;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(img->elf, &names))
		return false;
	while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
		const char *s;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		s = elf_strptr(img->elf, names, sh.sh_name);
		if (s && !strcmp(s, name)) {
			*addr = sh.sh_addr;
			*size = sh.sh_size;
			return true;
		}
	}
	return false;
}
