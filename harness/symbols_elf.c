// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Symbol tables: which symbol answers for an address, and which is only a guess.
 */
#include "harness/symbols_int.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* A string table whose last NUL is known, so that a name costs no search for one. */
struct strings {
	const char *bytes;
	size_t end;		/* one past the last NUL */
};

/**
 * symbols_names_add() - add a symbol
 * @n: the symbols
 * @name: copied; the string is not
 *
 * Return: false where there is no memory.
 */
bool symbols_names_add(struct symbols_names *n, const struct symbols_name *name)
{
	if (n->nr == n->room) {
		size_t room = n->room ? 2 * n->room : 256;
		struct symbols_name *grown;

		if (room > UINT32_MAX)
			return false;
		grown = reallocarray(n->name, room, sizeof(*grown));
		if (!grown)
			return false;
		n->name = grown;
		n->room = room;
	}
	n->name[n->nr++] = *name;
	return true;
}

static struct strings open_strings(Elf *elf, u32 link)
{
	Elf_Scn *scn = elf_getscn(elf, link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	struct strings s = { 0 };

	if (!data || !data->d_buf || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB)
		return s;
	s.bytes = data->d_buf;
	for (s.end = data->d_size; s.end && s.bytes[s.end - 1]; s.end--)
		;
	return s;
}

/* Where a symbol's section ends; false for one that holds no code. */
static bool code_limit(Elf *elf, const GElf_Sym *sym, u32 xindex, u64 *limit)
{
	u32 index = sym->st_shndx == SHN_XINDEX ? xindex : sym->st_shndx;
	Elf_Scn *scn;
	GElf_Shdr sh;

	if (index == SHN_UNDEF || (sym->st_shndx >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX))
		return false;
	scn = elf_getscn(elf, index);
	if (!scn || !gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
	    sym->st_value < sh.sh_addr || sym->st_value - sh.sh_addr >= sh.sh_size)
		return false;
	*limit = sh.sh_addr + sh.sh_size;
	return *limit > sh.sh_addr;
}

/* ARM's and AArch64's $x, $d and so on mark kinds of bytes; .L names are the assembler's own. */
static bool is_marker(const char *name)
{
	return !*name || (*name == '$' && name[1]) || !strncmp(name, ".L", 2);
}

static u32 rank_of(const GElf_Sym *sym, const char *name, enum symbols_table table)
{
	static const u8 by_bind[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1 };
	unsigned int bind = GELF_ST_BIND(sym->st_info);
	u32 rank = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE;

	rank = rank << 2 | (bind < sizeof(by_bind) ? by_bind[bind] : 3);
	rank = rank << 2 | (u32)strspn(name, "_") % 4;
	return rank << 4 | table;
}

static void read_table(struct symbols_names *n, const struct debuginfo_file *file, Elf_Scn *scn,
		       const GElf_Shdr *sh, enum symbols_table table)
{
	struct strings s = open_strings(file->elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *xdata = NULL;
	int xscn = elf_scnshndx(scn);
	size_t nr;

	if (xscn > 0)
		xdata = elf_getdata(elf_getscn(file->elf, (size_t)xscn), NULL);
	if (!data || !data->d_buf || !s.end)
		return;
	nr = data->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 1; i < nr && i < INT32_MAX; i++) {
		struct symbols_name name = { .table = table };
		Elf32_Word xindex = 0;
		unsigned int type;
		GElf_Sym sym;

		if (!gelf_getsymshndx(data, xdata, (int)i, &sym, &xindex))
			break;
		type = GELF_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		if (file->machine == EM_ARM)
			sym.st_value &= ~(u64)1;	/* Thumb */
		if (sym.st_name >= s.end || !code_limit(file->elf, &sym, xindex, &name.limit))
			continue;
		name.name = s.bytes + sym.st_name;
		if (is_marker(name.name))
			continue;
		name.addr = sym.st_value;
		name.size = sym.st_size;
		name.rank = rank_of(&sym, name.name, table);
		if (!symbols_names_add(n, &name))
			return;
	}
}

/**
 * symbols_names_read() - add what the symbol tables of a file name
 * @n: the symbols; their strings stay in @file
 * @file: a file, its debug file or its MiniDebugInfo
 * @from_debugdata: it is the latter
 * @stats: counts the tables
 */
void symbols_names_read(struct symbols_names *n, const struct debuginfo_file *file,
			bool from_debugdata, struct symbols_stats *stats)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		enum symbols_table table = SYMBOLS_TABLE_DYNSYM;

		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_SYMTAB)
			table = from_debugdata ? SYMBOLS_TABLE_DEBUGDATA : SYMBOLS_TABLE_SYMTAB;
		else if (sh.sh_type != SHT_DYNSYM)
			continue;
		stats->tables++;
		read_table(n, file, scn, &sh, table);
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct symbols_name *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * A symbol without a size reaches to the next symbol or the end of its section, unless it is a
 * label inside of another: then it says nothing about what comes after that one.
 */
static bool add_guesses(struct symbols_names *n)
{
	u64 next = UINT64_MAX, at = UINT64_MAX;

	for (size_t i = n->nr; i-- > 0;) {
		const struct symbols_name *name = &n->name[i];
		u64 end;

		if (name->addr != at) {
			next = at;
			at = name->addr;
		}
		end = next < name->limit ? next : name->limit;
		if (name->size || symbols_ranges_find(&n->sized, name->addr))
			continue;
		if (!symbols_ranges_add(&n->guessed, name->addr, end, n->nr - i, (u32)i))
			return false;
	}
	return symbols_ranges_flatten(&n->guessed);
}

/**
 * symbols_names_sort() - make symbols_names_find() work
 * @n: the symbols; sized and guessed ranges are made once
 *
 * Of two that cover an address the one that starts later answers, as it is the more specific;
 * of two that start together the one of lower rank.
 *
 * Return: false where there is no memory.
 */
bool symbols_names_sort(struct symbols_names *n)
{
	size_t first = 0;

	if (n->nr)
		qsort(n->name, n->nr, sizeof(*n->name), by_addr);
	for (size_t i = 0; i < n->nr; i++) {
		const struct symbols_name *name = &n->name[i];
		u64 end = name->addr + name->size;

		if (n->name[first].addr != name->addr)
			first = i;
		/* A size past the end of the section is no size. */
		if (end < name->addr || end > name->limit)
			end = name->limit;
		/* Later start: higher. Same start: the earlier in the order is higher. */
		if (name->size && !symbols_ranges_add(&n->sized, name->addr, end,
						      (u64)first << 32 | (UINT32_MAX - (u32)i),
						      (u32)i))
			return false;
	}
	return symbols_ranges_flatten(&n->sized) && add_guesses(n);
}

/**
 * symbols_names_find() - find the symbol for an address
 * @n: sorted symbols
 * @addr: the address
 * @end: filled in with one past the last address that the symbol covers
 * @guess: filled in: the symbol has no size of its own
 *
 * Return: the symbol, NULL where none covers the address: what the symbol before it is called
 * says nothing about the gap after it.
 */
const struct symbols_name *symbols_names_find(const struct symbols_names *n, u64 addr,
					      u64 *end, bool *guess)
{
	const struct symbols_range *r = symbols_ranges_find(&n->sized, addr);
	const struct symbols_name *name;

	*guess = !r;
	if (!r)
		r = symbols_ranges_find(&n->guessed, addr);
	if (!r)
		return NULL;
	name = &n->name[r->item];
	*end = *guess ? r->end : name->addr + name->size;
	return name;
}

/**
 * symbols_names_free() - give the memory back
 * @n: the symbols
 */
void symbols_names_free(struct symbols_names *n)
{
	symbols_ranges_free(&n->sized);
	symbols_ranges_free(&n->guessed);
	free(n->name);
	*n = (struct symbols_names){ 0 };
}

/**
 * symbols_name_length() - a name's length without its version
 * @name: such as "write@@GLIBC_2.2.5", which .symtab may have
 *
 * Return: bytes before the first '@', all where that comes first or is missing.
 */
size_t symbols_name_length(const char *name)
{
	size_t len = strcspn(name, "@");

	return len ? len : strlen(name);
}
