// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Parses a made-up stack, walks it with nothing else readable, and prints the trace. */
#include "harness/dump_walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/dump_place.h"
#include "harness/json.h"
#include "harness/rule_text.h"
#include "unwind/walk.h"

/* As many as a kernel keeps for a task: one page less a header (kernel/unwind/deferred.c). */
#define MAX_FRAMES	510

/* Consecutive bytes of made-up memory. */
struct chunk {
	u64 addr;
	u64 len;
	u8 *bytes;
};

struct dump_walk {
	struct ehf_mem mem;
	struct image *img;
	struct ehu_regs regs;
	struct chunk *chunk;
	size_t nr_chunks;
	u64 *word;	/* values of all words */
	size_t nr_words;
};

static bool in_chunks(const struct dump_walk *w, u64 addr, u8 *byte)
{
	for (size_t i = 0; i < w->nr_chunks; i++) {
		const struct chunk *c = &w->chunk[i];

		if (addr >= c->addr && addr - c->addr < c->len) {
			*byte = c->bytes[addr - c->addr];
			return true;
		}
	}
	return false;
}

static bool within(u64 addr, u32 len, u64 start, u64 end)
{
	return addr >= start && addr < end && len <= end - addr;
}

/* A pc that the stack names: its code may be looked at, to see whether it is a signal frame. */
static bool is_named(const struct dump_walk *w, u64 addr)
{
	for (size_t i = 0; i < w->nr_words; i++) {
		if (w->word[i] == addr)
			return true;
	}
	return addr == w->regs.ip;
}

/*
 * The file's CFI, and code at a pc. Not code elsewhere: a file whose addresses begin at 0 would
 * stand in for the stack that was left out.
 */
static bool in_image(const struct dump_walk *w, u64 addr, u32 len)
{
	const struct image *img = w->img;
	const struct ehf_section *s = &img->section;

	if (within(addr, len, s->hdr, s->hdr_end) || within(addr, len, s->eh_frame, s->eh_frame_end))
		return true;
	for (u32 i = 0; i < img->nr_exec; i++) {
		if (within(addr, len, img->exec[i].addr, img->exec[i].end))
			return is_named(w, addr);
	}
	return false;
}

static bool read_mem(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	const struct dump_walk *w = (const struct dump_walk *)(const void *)mem;
	u8 *p = dst;
	u32 k;

	for (k = 0; k < len && in_chunks(w, addr + k, &p[k]); k++)
		;
	if (k == len)
		return true;
	return in_image(w, addr, len) && w->img->mem->read(w->img->mem, addr, dst, len);
}

/* DWARF number of a register by name: the machine's names, r<N> and d<N>; -1 for none. */
static int find_reg(const struct ehu_arch *arch, const char *name, size_t len)
{
	char buf[16];

	for (unsigned int r = 0; r < EHU_NR_REGS; r++) {
		rule_text_reg_name(buf, sizeof(buf), arch, r);
		if (strlen(buf) == len && !memcmp(buf, name, len))
			return (int)r;
	}
	for (unsigned int r = 0; r < EHU_NR_REGS; r++) {
		snprintf(buf, sizeof(buf), "d%u", r);
		if (strlen(buf) == len && !memcmp(buf, name, len))
			return (int)r;
	}
	return -1;
}

static bool is_ip(const struct ehu_arch *arch, const char *name, size_t len)
{
	char buf[16];

	if (len == 2 && (!memcmp(name, "pc", 2) || !memcmp(name, "ip", 2)))
		return true;
	rule_text_reg_name(buf, sizeof(buf), arch, arch->abi.reg_ra);
	return arch->ra_is_pc && strlen(buf) == len && !memcmp(buf, name, len);
}

static bool fits(const struct dump_walk *w, u64 value)
{
	return w->img->arch->abi.word_size == 8 || value <= UINT32_MAX;
}

/* ADDR:WORD,WORD.. */
static bool parse_mem(struct dump_walk *w, const char *text, size_t len, char *why,
		      size_t why_size)
{
	const struct ehf_abi *abi = &w->img->arch->abi;
	const char *colon = memchr(text, ':', len), *end = text + len;
	struct chunk *c, *grown;
	u64 value, *words;

	if (!colon) {
		snprintf(why, why_size, "'mem=%.*s': no ':' after the address", (int)len, text);
		return false;
	}
	grown = reallocarray(w->chunk, w->nr_chunks + 1, sizeof(*w->chunk));
	/* No more words than bytes of text. */
	words = reallocarray(w->word, w->nr_words + len, sizeof(*w->word));
	w->chunk = grown ? grown : w->chunk;
	w->word = words ? words : w->word;
	if (!grown || !words) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	c = &w->chunk[w->nr_chunks];
	*c = (struct chunk){ 0 };
	if (!dump_place(w->img, text, (size_t)(colon - text), &c->addr, why, why_size))
		return false;
	c->bytes = calloc(len, abi->word_size);
	if (!c->bytes) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	w->nr_chunks++;
	for (const char *p = colon; p < end; ) {
		const char *next = memchr(p + 1, ',', (size_t)(end - p - 1));

		if (!next)
			next = end;
		if (!dump_place(w->img, p + 1, (size_t)(next - p - 1), &value, why, why_size))
			return false;
		if (!fits(w, value)) {
			snprintf(why, why_size, "%#" PRIx64 " does not fit in a word", value);
			return false;
		}
		w->word[w->nr_words++] = value;
		for (u32 k = 0; k < abi->word_size; k++) {
			u32 shift = 8 * (abi->big_endian ? abi->word_size - 1U - k : k);

			c->bytes[c->len++] = (u8)(value >> shift);
		}
		p = next;
	}
	if (c->len - 1 > ~c->addr) {
		snprintf(why, why_size, "'mem=%.*s' wraps around", (int)len, text);
		return false;
	}
	return true;
}

static bool parse_token(struct dump_walk *w, const char *text, size_t len, bool *has_ip, char *why,
			size_t why_size)
{
	const char *eq = memchr(text, '=', len);
	size_t name_len = eq ? (size_t)(eq - text) : 0;
	u64 value;
	int reg;

	if (!eq || !name_len) {
		snprintf(why, why_size, "'%.*s' is not NAME=VALUE", (int)len, text);
		return false;
	}
	if (name_len == 3 && !memcmp(text, "mem", 3))
		return parse_mem(w, eq + 1, len - name_len - 1, why, why_size);
	if (!dump_place(w->img, eq + 1, len - name_len - 1, &value, why, why_size))
		return false;
	if (!fits(w, value)) {
		snprintf(why, why_size, "%#" PRIx64 " does not fit in a register", value);
		return false;
	}
	if (is_ip(w->img->arch, text, name_len)) {
		w->regs.ip = value;
		*has_ip = true;
		return true;
	}
	reg = find_reg(w->img->arch, text, name_len);
	if (reg < 0) {
		snprintf(why, why_size, "%s has no register '%.*s'", w->img->arch->name,
			 (int)name_len, text);
		return false;
	}
	w->regs.reg[reg] = value;
	w->regs.known |= 1ULL << reg;
	return true;
}

/**
 * dump_walk_parse() - read a made-up stack
 * @img: the file that the stack is in
 * @text: NAME=VALUE..., separated by blanks: registers by the machine's names or as d<N> by
 *	DWARF number, the program counter also as pc; mem=ADDR:WORD,WORD.. may be repeated.
 *	Values are hexadecimal numbers, symbol+0xOFF or .section+0xOFF
 * @why: filled in on failure: what is wrong
 * @why_size: bytes there
 *
 * Return: the stack, NULL on failure.
 */
struct dump_walk *dump_walk_parse(struct image *img, const char *text, char *why, size_t why_size)
{
	struct dump_walk *w = calloc(1, sizeof(*w));
	bool has_ip = false;

	if (!w) {
		snprintf(why, why_size, "out of memory");
		return NULL;
	}
	w->mem.read = read_mem;
	w->img = img;
	for (;;) {
		size_t len;

		text += strspn(text, " \t\n");
		len = strcspn(text, " \t\n");
		if (!len)
			break;
		if (!parse_token(w, text, len, &has_ip, why, why_size)) {
			dump_walk_free(w);
			return NULL;
		}
		text += len;
	}
	if (!has_ip) {
		snprintf(why, why_size, "no pc= in the stack");
		dump_walk_free(w);
		return NULL;
	}
	return w;
}

/**
 * dump_walk_free() - give a made-up stack back
 * @w: the stack, or NULL
 */
void dump_walk_free(struct dump_walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nr_chunks; i++)
		free(w->chunk[i].bytes);
	free(w->chunk);
	free(w->word);
	free(w);
}

static const char *via_name(u8 via)
{
	static const char *const names[EHU_NR_VIA] = {
		[EHU_VIA_REGS] = "regs",
		[EHU_VIA_EH_FRAME] = "eh-frame",
		[EHU_VIA_SIGNAL_CODE] = "signal-code",
		[EHU_VIA_FP] = "fp",
	};

	return via < EHU_NR_VIA ? names[via] : "?";
}

static void put_json(const struct dump *d, const struct ehu_trace *t)
{
	struct json j;

	json_begin(&j, d->out, "trace");
	json_open_list(&j, "frames");
	for (u32 i = 0; i < t->nr; i++) {
		json_open(&j, NULL);
		json_addr(&j, "pc", t->entry[i].ip);
		json_text(&j, "via", via_name(t->entry[i].via));
		json_addr(&j, "sp", t->entry[i].sp);
		json_close(&j);
	}
	json_close_list(&j);
	json_text(&j, "stop", ehf_stop_name(t->stop));
	json_text(&j, "class", ehf_class_name(ehf_stop_class(t->stop)));
	json_number(&j, "insns", t->cost.insns);
	json_number(&j, "reads", t->cost.reads);
	json_number(&j, "read_bytes", t->cost.bytes);
	json_end(&j);
}

static void put_text(const struct dump *d, const struct ehu_trace *t)
{
	for (u32 i = 0; i < t->nr; i++) {
		fprintf(d->out, "#%-3u 0x%" PRIx64 "  by %s", i, t->entry[i].ip,
			via_name(t->entry[i].via));
		dump_symbol(d, t->entry[i].ip);
		putc('\n', d->out);
	}
	fprintf(d->out, "stop: %s (%s): %s\n", ehf_stop_name(t->stop),
		ehf_class_name(ehf_stop_class(t->stop)), ehf_stop_text(t->stop));
	fprintf(d->out, "cost: %" PRIu64 " instructions, %" PRIu64 " reads, %" PRIu64 " bytes\n",
		t->cost.insns, t->cost.reads, t->cost.bytes);
}

/**
 * dump_walk_run() - walk a made-up stack and print the trace
 * @d: the file, where to
 * @w: the stack
 * @use_fp: follow frame pointers where there is no FDE
 *
 * Readable are the words that were given, the file's CFI, and code at a pc that was given. The
 * load bias is 0.
 *
 * Return: false where memory ran out.
 */
bool dump_walk_run(const struct dump *d, struct dump_walk *w, bool use_fp)
{
	const struct image *img = d->img;
	struct ehu_range *range = calloc(img->nr_exec + 1, sizeof(*range));
	struct ehu_entry *entry = calloc(MAX_FRAMES, sizeof(*entry));
	struct ehu_trace trace = { .entry = entry, .max = MAX_FRAMES };
	bool done = range && entry;
	struct ehu_map map;
	struct ehu_unwind u = {
		.arch = img->arch,
		.mem = &w->mem,
		.sections = &map.sections,
		.limits = &ehf_limits_walk,
		.methods = use_fp ? EHU_METHOD_FP : 0,
	};

	if (done) {
		ehu_map_init(&map, range, img->nr_exec);
		for (u32 i = 0; i < img->nr_exec; i++)
			ehu_map_add(&map, img->exec[i].addr, img->exec[i].end, &img->section);
		ehu_walk(&u, &w->regs, &trace);
		if (d->json)
			put_json(d, &trace);
		else
			put_text(d, &trace);
	}
	free(range);
	free(entry);
	return done;
}
