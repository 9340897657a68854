// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DWARF to places: which function, which inlined calls, which line, by libdw.
 */
#include "harness/symbols_int.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Scopes within scopes that are followed; what is deeper is counted and left out. Real programs
 * stay below 100: each level of inlining is one or two.
 */
#define MAX_DEPTH	512

/* What sections may announce in all; the .debug_info of a browser has 2 GiB. */
#define MAX_UNPACKED	(4ull << 30)

#define NO_ITEM		UINT32_MAX

/* A function or an inlined call with code of its own. */
struct item {
	Dwarf_Die die;
	u32 parent;		/* what it is inlined into, NO_ITEM for a function */
};

struct unit {
	Dwarf_Die die;		/* what has the functions */
	Dwarf_Die line_die;	/* what has the line table: the skeleton, of a split unit */
	bool loaded;
	struct item *item;
	u32 nr;
	u32 room;
	struct symbols_ranges map;
};

/* Executable parts of the file: [start, end). */
struct part {
	u64 start;
	u64 end;
};

struct symbols_dwarf {
	Dwarf *dw;
	Dwarf *alt;
	Elf *alt_elf;			/* of the stand-in for a dwz file that is missing */
	struct debuginfo_file *alt_file;
	struct symbols_stats *stats;
	struct part *part;
	size_t nr_parts;
	struct unit *unit;
	u32 nr_units;
	u32 room;
	u64 info_size;
	bool no_split;
	struct symbols_ranges map;
	struct scope *level;		/* of load_unit() */
	const char *text;		/* the section that strings inside of entries came from last */
	const char *text_end;
	char fault[48];			/* how libdw failed; then nothing of it is touched */
	struct symbols_dwarf *next;	/* of those */
};

/* A DWARF that libdw faulted on cannot be freed; it stays known, so that it is no leak. */
static struct symbols_dwarf *_Atomic given_up;

/* One level of a walk through a unit. */
struct scope {
	Dwarf_Die die;
	u32 parent;
};

static bool add_unit(struct symbols_dwarf *d, const Dwarf_Die *die)
{
	if (d->nr_units == d->room) {
		u32 room = d->room ? 2 * d->room : 64;
		struct unit *grown = reallocarray(d->unit, room, sizeof(*grown));

		if (!grown)
			return false;
		d->unit = grown;
		d->room = room;
	}
	d->unit[d->nr_units++] = (struct unit){ .die = *die, .line_die = *die };
	return true;
}

/* Functions that the linker removed have ranges at 0 or 1; nothing is executed there. */
static bool has_code(const struct symbols_dwarf *d, u64 start)
{
	for (size_t i = 0; i < d->nr_parts; i++) {
		if (start >= d->part[i].start && start < d->part[i].end)
			return true;
	}
	return !d->nr_parts;
}

static bool read_parts(struct symbols_dwarf *d, Elf *elf)
{
	size_t nr;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &nr) || nr > INT32_MAX)
		return false;
	d->part = calloc(nr ? nr : 1, sizeof(*d->part));
	for (size_t i = 0; d->part && i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || ph.p_memsz > UINT64_MAX - ph.p_vaddr)
			continue;
		d->part[d->nr_parts++] = (struct part){ ph.p_vaddr, ph.p_vaddr + ph.p_memsz };
	}
	return d->part;
}

static void add_ranges(struct symbols_dwarf *d, Dwarf_Die *die, struct symbols_ranges *map,
		       u64 prio, u32 item, bool *any)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	*any = false;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start == end)
			continue;
		if (!has_code(d, start)) {
			d->stats->ranges_outside++;
			continue;
		}
		*any = true;
		if (!symbols_ranges_add(map, start, end, prio, item))
			return;
	}
	if (at < 0)
		d->stats->units_damaged++;
}

static void read_units(struct symbols_dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	u8 type;
	Dwarf_Die die;
	int got;
	bool any;

	while (!(got = dwarf_get_units(d->dw, cu, &cu, &version, &type, &die, NULL))) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (!add_unit(d, &die))
			return;
		add_ranges(d, &die, &d->map, d->nr_units, d->nr_units - 1, &any);
	}
	if (got < 0)
		d->stats->units_damaged++;
	symbols_ranges_flatten(&d->map);
}

static bool add_item(struct unit *u, const Dwarf_Die *die, u32 parent)
{
	if (u->nr == u->room) {
		u32 room = u->room ? 2 * u->room : 64;
		struct item *grown = reallocarray(u->item, room, sizeof(*grown));

		if (!grown)
			return false;
		u->item = grown;
		u->room = room;
	}
	u->item[u->nr++] = (struct item){ .die = *die, .parent = parent };
	return true;
}

/* Nothing below these has code. */
static bool is_leaf(int tag)
{
	return tag == DW_TAG_enumeration_type || tag == DW_TAG_array_type ||
	       tag == DW_TAG_subroutine_type || tag == DW_TAG_call_site ||
	       tag == DW_TAG_GNU_call_site || tag == DW_TAG_formal_parameter ||
	       tag == DW_TAG_variable;
}

/* Note a scope, and say what its children are inlined into. */
static u32 visit(struct symbols_dwarf *d, struct unit *u, Dwarf_Die *die, u32 parent)
{
	int tag = dwarf_tag(die);
	bool any;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return parent;
	if (tag == DW_TAG_subprogram)
		parent = NO_ITEM;
	if (!add_item(u, die, parent))
		return parent;
	/* Later means deeper where two overlap: children come after their parents. */
	add_ranges(d, die, &u->map, u->nr, u->nr - 1, &any);
	if (any)
		return u->nr - 1;
	u->nr--;
	return parent;
}

/* Steps that a walk through a unit can need: an entry has at least one byte of .debug_info. */
static u64 max_steps(const struct symbols_dwarf *d, const struct unit *u)
{
	Dwarf *dw = dwarf_cu_getdwarf(u->die.cu);
	size_t size = 0;

	if (!dw || dw == d->dw)
		return d->info_size;
	/* A .dwo file, seldom compressed: its size is bound enough. */
	elf_rawfile(dwarf_getelf(dw), &size);
	return 16 * (u64)size;
}

/*
 * All scopes with code of a unit, depth first, in bounded steps: entries whose sibling links go
 * in circles end as well.
 */
static void load_unit(struct symbols_dwarf *d, struct unit *u)
{
	struct scope *level;
	u64 left = max_steps(d, u);
	int depth = 0;

	if (u->loaded)
		return;
	u->loaded = true;
	if (!d->level)
		d->level = calloc(MAX_DEPTH, sizeof(*d->level));
	level = d->level;
	if (!level || dwarf_child(&u->die, &level[0].die))
		return;
	level[0].parent = NO_ITEM;
	while (depth >= 0 && left--) {
		Dwarf_Die *die = &level[depth].die;
		u32 inside = visit(d, u, die, level[depth].parent);
		int got = 1;

		if (!is_leaf(dwarf_tag(die))) {
			Dwarf_Die child;

			got = dwarf_child(die, &child);
			if (!got && depth + 1 == MAX_DEPTH) {
				d->stats->units_damaged++;
			} else if (!got) {
				level[++depth].die = child;
				level[depth].parent = inside;
				continue;
			}
		}
		if (got < 0)
			d->stats->units_damaged++;
		while (depth >= 0) {
			got = dwarf_siblingof(&level[depth].die, &level[depth].die);
			if (!got)
				break;
			if (got < 0)
				d->stats->units_damaged++;
			depth--;
		}
	}
	if (depth >= 0)
		d->stats->units_damaged++;
	symbols_ranges_flatten(&u->map);
}

/*
 * The code of a split unit is described in a .dwo file, which libdw finds by the name in the
 * skeleton and proves by its id. It would look on this host only: not below another root.
 */
static void join_split(struct symbols_dwarf *d, struct unit *u)
{
	Dwarf_Die sub = { 0 };
	u8 type;

	if (u->loaded || d->no_split)
		return;
	if (!dwarf_cu_info(u->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton &&
	    !dwarf_cu_info(u->die.cu, NULL, NULL, NULL, &sub, NULL, NULL, NULL) && sub.cu)
		u->die = sub;
}

/* The section of an entry's own bytes, which hold the string at @p. */
static bool find_text(struct symbols_dwarf *d, Dwarf_CU *cu, const char *p)
{
	Dwarf *dw = dwarf_cu_getdwarf(cu);
	Elf *elf = dw ? dwarf_getelf(dw) : NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (elf && (scn = elf_nextscn(elf, scn)) != NULL) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || sh.sh_flags & SHF_ALLOC)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || p < (char *)data->d_buf ||
		    p >= (char *)data->d_buf + data->d_size)
			continue;
		d->text = data->d_buf;
		d->text_end = d->text + data->d_size;
		return true;
	}
	return false;
}

/*
 * A string that stands in the entry itself is given as it is: libdw does not look for its end, which
 * may be missing. Those in string sections it has checked.
 */
static const char *string_of(struct symbols_dwarf *d, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *p;

	if (!dwarf_attr_integrate(die, name, &attr))
		return NULL;
	p = dwarf_formstring(&attr);
	if (!p || dwarf_whatform(&attr) != DW_FORM_string)
		return p;
	if ((p < d->text || p >= d->text_end) && !find_text(d, attr.cu, p))
		return NULL;
	return memchr(p, 0, (size_t)(d->text_end - p)) ? p : NULL;
}

static void name_level(struct symbols_dwarf *d, Dwarf_Die *die, struct symbols_level *level)
{
	level->linkage = string_of(d, die, DW_AT_linkage_name);
	if (!level->linkage)
		level->linkage = string_of(d, die, DW_AT_MIPS_linkage_name);
	level->name = string_of(d, die, DW_AT_name);
}

static u32 number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) || value > UINT32_MAX)
		return 0;
	return (u32)value;
}

/* Where the call of an inlined function stands: that is a place in what it is inlined into. */
static void place_call(struct unit *u, Dwarf_Die *inlined, struct symbols_level *level)
{
	u32 file = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nr;

	level->line = number_of(inlined, DW_AT_call_line);
	level->column = number_of(inlined, DW_AT_call_column);
	if (!dwarf_getsrcfiles(&u->die, &files, &nr) && file < nr)
		level->file = dwarf_filesrc(files, file, NULL, NULL);
}

static void place_line(struct unit *u, u64 addr, struct symbols_level *level)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->line_die, addr);
	int number = 0, column = 0;

	if (!line)
		return;
	level->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		level->line = (u32)number;
	if (!dwarf_linecol(line, &column) && column > 0)
		level->column = (u32)column;
}

static u32 find_chain(struct symbols_dwarf *d, u64 addr, struct symbols_level *level, u32 room,
		      bool *cut)
{
	const struct symbols_range *r = symbols_ranges_find(&d->map, addr);
	struct unit *u;
	const char *dir;
	u32 nr = 0, at;

	*cut = false;
	if (!r)
		return 0;
	u = &d->unit[r->item];
	join_split(d, u);
	load_unit(d, u);
	memset(level, 0, sizeof(*level));
	place_line(u, addr, level);
	r = symbols_ranges_find(&u->map, addr);
	at = r ? r->item : NO_ITEM;
	while (at != NO_ITEM) {
		Dwarf_Die *die = &u->item[at].die;

		name_level(d, die, &level[nr++]);
		at = u->item[at].parent;
		if (at == NO_ITEM)
			break;
		if (nr == room) {
			*cut = true;
			break;
		}
		memset(&level[nr], 0, sizeof(*level));
		place_call(u, die, &level[nr]);
	}
	if (!nr && level->file)
		nr = 1;
	dir = string_of(d, &u->line_die, DW_AT_comp_dir);
	for (u32 i = 0; i < nr; i++)
		level[i].dir = dir;
	return nr;
}

struct question {
	struct symbols_dwarf *d;
	u64 addr;
	struct symbols_level *level;
	u32 room;
	bool *cut;
	u32 nr;
};

static void ask(void *arg)
{
	struct question *q = arg;

	q->nr = find_chain(q->d, q->addr, q->level, q->room, q->cut);
}

/* Nothing of libdw's is touched any more: it may be in the middle of anything. */
static void give_up(struct symbols_dwarf *d, int sig)
{
	snprintf(d->fault, sizeof(d->fault), "libdw failed on it: %s", strsignal(sig));
	d->stats->dwarfs_faulted++;
}

/**
 * symbols_dwarf_fault() - tell whether libdw survived what the file says
 * @d: an open file's DWARF
 *
 * Return: NULL where it did, else how it failed: then no address is found any more.
 */
const char *symbols_dwarf_fault(const struct symbols_dwarf *d)
{
	return d->fault[0] ? d->fault : NULL;
}

/**
 * symbols_dwarf_chain() - find the function, the inlined calls and the line of an address
 * @d: an open file's DWARF
 * @addr: the address, in the file's space
 * @level: filled in, innermost first
 * @room: levels at @level, at least 1
 * @cut: set where there are more levels than that
 *
 * Return: levels that were filled in; 0 where no unit covers the address. One without names is a
 * line without a function, as assembly has them.
 */
u32 symbols_dwarf_chain(struct symbols_dwarf *d, u64 addr, struct symbols_level *level, u32 room,
			bool *cut)
{
	struct question q = { .d = d, .addr = addr, .level = level, .room = room, .cut = cut };
	int sig;

	*cut = false;
	if (d->fault[0])
		return 0;
	sig = symbols_guard(ask, &q);
	if (sig)
		give_up(d, sig);
	return sig ? 0 : q.nr;
}

/* Does the sum of what compressed sections announce stay within reason? */
static bool size_is_sane(Elf *elf, u64 *info_size)
{
	u64 sum = 0;
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *name;
		GElf_Chdr ch;
		u64 size;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		size = sh.sh_size;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (sh.sh_flags & SHF_COMPRESSED) {
			size = gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
		} else if (name && !strncmp(name, ".zdebug", 7)) {
			Elf_Data *data = elf_rawdata(scn, NULL);

			/* "ZLIB", then 8 bytes, big-endian: the size. */
			if (data && data->d_buf && data->d_size >= 12) {
				size = 0;
				for (int i = 4; i < 12; i++)
					size = size << 8 | ((u8 *)data->d_buf)[i];
			}
		} else if (!name || strcmp(name, ".debug_info")) {
			continue;
		}
		if (size > MAX_UNPACKED - sum)
			return false;
		sum += size;
		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			*info_size += size;
	}
	return true;
}

/* An ELF file of one section, an empty line table: the dwz file where there is none. */
static Elf *make_stand_in(const struct debuginfo_file *like, void **bytes)
{
	static const char names[] = "\0.debug_line\0.shstrtab";
	const struct { Elf64_Ehdr eh; Elf64_Shdr sh[3]; u8 data[8 + sizeof(names)]; } model = {
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_REL, .e_machine = like->machine, .e_version = EV_CURRENT,
			.e_shoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
		},
		.sh = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = 8,
				.sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr) },
			[2] = { .sh_name = 13, .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
				.sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr) + 8 },
		},
	};
	char *copy = malloc(sizeof(model));

	*bytes = copy;
	if (!copy)
		return NULL;
	memcpy(copy, &model, sizeof(model));
	memcpy(copy + offsetof(typeof(model), data) + 8, names, sizeof(names));
	return elf_memory(copy, sizeof(model));
}

/*
 * libdw would look for the dwz file by itself, on this host, and take what it finds. So it is
 * always given one: the verified one, or one without contents.
 */
static void set_alt(struct symbols_dwarf *d, struct debuginfo *di,
		    const struct debuginfo_file *file)
{
	if (!debuginfo_has_altlink(file))
		return;
	d->alt_file = debuginfo_find_alt(di, file);
	if (d->alt_file)
		d->alt = dwarf_begin_elf(d->alt_file->elf, DWARF_C_READ, NULL);
	if (!d->alt) {
		void *bytes;

		d->alt_elf = make_stand_in(file, &bytes);
		d->alt = d->alt_elf ? dwarf_begin_elf(d->alt_elf, DWARF_C_READ, NULL) : NULL;
	}
	if (d->alt)
		dwarf_setalt(d->dw, d->alt);
}

struct beginning {
	struct symbols_dwarf *d;
	struct debuginfo *di;
	const struct debuginfo_file *file;
};

static void begin(void *arg)
{
	struct beginning *b = arg;

	b->d->dw = dwarf_begin_elf(b->file->elf, DWARF_C_READ, NULL);
	if (!b->d->dw)
		return;
	set_alt(b->d, b->di, b->file);
	read_units(b->d);
}

/**
 * symbols_dwarf_open() - open the DWARF of a file
 * @di: finds the dwz file
 * @file: holds .debug_info; must stay open
 * @why: filled in where the result is NULL
 * @stats: counts what is damaged; must outlive the result
 *
 * Return: the DWARF, NULL where it cannot be used.
 */
struct symbols_dwarf *symbols_dwarf_open(struct debuginfo *di, const struct debuginfo_file *file,
					 const char **why, struct symbols_stats *stats)
{
	struct beginning b = { .di = di, .file = file };
	struct symbols_dwarf *d;
	int sig;

	*why = "out of memory";
	b.d = d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->stats = stats;
	d->no_split = file->in_root;
	*why = "compressed sections announce too much";
	if (!size_is_sane(file->elf, &d->info_size) || !read_parts(d, file->elf))
		goto fail;
	stats->dwarfs++;
	sig = symbols_guard(begin, &b);
	if (sig)
		give_up(d, sig);
	if (sig || d->dw)
		return d;
	*why = dwarf_errmsg(-1);
fail:
	symbols_dwarf_close(d);
	return NULL;
}

static void end_libdw(struct symbols_dwarf *d)
{
	dwarf_end(d->dw);
	dwarf_end(d->alt);
	if (d->alt_elf) {
		char *bytes = elf_rawfile(d->alt_elf, NULL);

		elf_end(d->alt_elf);
		free(bytes);
	}
}

/**
 * symbols_dwarf_close() - give DWARF back; before its file
 * @d: what symbols_dwarf_open() returned, or NULL
 */
void symbols_dwarf_close(struct symbols_dwarf *d)
{
	if (!d)
		return;
	for (u32 i = 0; i < d->nr_units; i++) {
		free(d->unit[i].item);
		symbols_ranges_free(&d->unit[i].map);
	}
	if (!d->fault[0])
		end_libdw(d);
	symbols_ranges_free(&d->map);
	free(d->unit);
	free(d->part);
	free(d->level);
	if (d->fault[0]) {
		d->next = atomic_exchange(&given_up, d);
		return;
	}
	debuginfo_close(d->alt_file);
	free(d);
}
