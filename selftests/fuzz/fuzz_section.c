// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fuzzes the reading of .eh_frame_hdr and .eh_frame: any bytes, at any address, for every machine,
 * from every kind of memory.
 *
 * Input: struct input, then the bytes of the header, then those of .eh_frame. What has to hold is
 * checked with CHECK(): reads stay in their window, work within the limits, answers are the same
 * the second time and whatever the memory is like, rows follow each other without a gap and are
 * those that a lookup finds. The short way to plain rows gives those of the general way, and walks
 * that take it give the traces of those that do not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ehframe/program.h"
#include "selftests/lib/fuzz_check.h"
#include "selftests/lib/plain_check.h"
#include "selftests/lib/walk_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	u8 arch;
	u8 options;		/* OPT_* */
	u8 limits;		/* index in limit_sets[] */
	u8 hole;		/* with OPT_HOLE: the page of .eh_frame that cannot be read */
	u16 hdr_len;
	u16 gap;		/* bytes between the header and .eh_frame */
	u64 addr;		/* of whichever comes first */
	u64 pc;
} __attribute__((packed));

#define OPT_FRAME_FIRST	0x01	/* .eh_frame lies below the header */
#define OPT_NO_HDR	0x02
#define OPT_SCAN	0x04
#define OPT_HOLE	0x08
#define OPT_KNOWN	0x10	/* the caller says where .eh_frame is */
#define OPT_MORE	0x20	/* the sections are said to be longer than what can be read */
#define OPT_TOP_STACK	0x40	/* the stack ends where the addresses do */

static const struct ehf_limits limit_sets[] = {
	{ .record_len = 1U << 17, .insns = 65536, .states = 4, .expr_len = 64, .scan_records = 65536 },
	{ .record_len = 256, .insns = 40, .states = 1, .expr_len = 12, .scan_records = 20 },
	{ .record_len = 4096, .insns = 7, .states = 2, .expr_len = 255, .scan_records = 3 },
};

struct window {
	u64 start;
	u64 end;
};

struct region {
	u64 addr;
	const u8 *p;
	u64 len;
};

enum kind { COPY, DIRECT, CRUMBS, HAND, MEMO, NR_KINDS };

struct source {
	struct ehf_mem mem;	/* first: callbacks find the source from it */
	struct region region[2];
	struct window may[2];	/* where reads may be */
	u64 hole;		/* address of a page that cannot be read; 1: none */
	bool fault;		/* something could not be read */
	u64 calls;
};

static bool inside(const struct window *w, u64 addr, u64 len)
{
	return addr >= w->start && addr <= w->end && len <= w->end - addr;
}

/* The bytes at @addr up to the end of their region or of the page before the hole. */
static const u8 *locate(struct source *s, u64 addr, u64 *avail)
{
	for (u32 k = 0; k < 2; k++) {
		const struct region *r = &s->region[k];
		u64 off = addr - r->addr;

		if (addr < r->addr || off >= r->len)
			continue;
		*avail = r->len - off;
		if (s->hole != 1 && (addr & ~4095ULL) == s->hole)
			return NULL;
		if (s->hole != 1 && s->hole > addr && s->hole - addr < *avail)
			*avail = s->hole - addr;
		return r->p + off;
	}
	return NULL;
}

static void asked(struct source *s, u64 addr, u64 len)
{
	s->calls++;
	CHECK(len > 0 && addr <= ~0ULL - len);
	CHECK(inside(&s->may[0], addr, len) || inside(&s->may[1], addr, len));
}

static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	struct source *s = (struct source *)mem;
	u64 avail = 0;
	const u8 *p;

	CHECK(len <= 64);
	asked(s, addr, len);
	p = locate(s, addr, &avail);
	if (!p || avail < len) {
		s->fault = true;
		return false;
	}
	memcpy(dst, p, len);
	return true;
}

static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	struct source *s = (struct source *)mem;
	const u8 *p;

	asked(s, addr, len);
	p = locate(s, addr, avail);
	if (p && *avail > len)
		*avail = len;
	return p;
}

static const u8 *mem_crumbs(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	const u8 *p = mem_direct(mem, addr, len, avail);

	if (p && *avail > addr % 5)
		*avail = addr % 5;
	return addr % 5 ? p : NULL;
}

static bool cfa_same(const struct ehf_cfa *x, const struct ehf_cfa *y)
{
	return x->kind == y->kind && x->expr_len == y->expr_len && x->reg == y->reg &&
	       x->expr == y->expr && x->off == y->off && x->add == y->add &&
	       x->reg2 == y->reg2 && x->shift == y->shift && x->bound == y->bound;
}

static bool row_same(const struct ehf_row *x, const struct ehf_row *y)
{
	for (u32 k = 0; k < EHF_NR_TRACKED; k++) {
		const struct ehf_rule *a = &x->rule[k], *b = &y->rule[k];

		if (a->kind != b->kind || a->expr_len != b->expr_len || a->reg != b->reg ||
		    a->expr != b->expr || a->off != b->off)
			return false;
	}
	return x->start == y->start && x->end == y->end && x->stop == y->stop &&
	       x->flags == y->flags && x->ra_reg == y->ra_reg && cfa_same(&x->cfa, &y->cfa);
}

/* One way to read the sections, and what a lookup in them came to. */
struct reader {
	struct source src;
	struct ehf_ctx ctx;
	struct ehf_cost cost;
	struct ehf_memo memo;
	struct ehf_section s;
	enum ehf_stop init, find;
	struct ehf_fde fde;
	struct ehf_found found;
	struct ehf_row row;
};

static void check_cost(const struct reader *r, const struct ehf_limits *l)
{
	/* A table takes at most 64 probes, a scan 4 fetches a record with its CIE. */
	u64 records = r->found.steps + EHF_MAX_EQUAL + 2;

	CHECK(r->found.steps <= (u64)l->scan_records + 64 + EHF_MAX_EQUAL);
	CHECK(r->cost.insns <= l->insns);
	CHECK(r->cost.reads >= r->src.calls || r->src.mem.direct);
	/* Crumbs are 1 to 4 bytes of the 64 that a fetch has. */
	CHECK(r->src.calls <= (80 + 16 * records + 2 * (u64)l->record_len / 64) *
			      (r->src.mem.direct == mem_crumbs ? 64 : 2));
}

/* What is in an FDE: read row by row, and by lookups. */
static void check_rows(struct reader *r)
{
	const struct ehf_limits *l = r->ctx.limits;
	struct ehf_program p, q;
	struct ehf_span span;
	struct ehf_row row, one;
	u64 at = r->fde.start;
	u32 nr = 0;

	/* Whatever the program says, it is read from these two. */
	r->src.may[0] = (struct window){ r->fde.insns, r->fde.end };
	r->src.may[1] = (struct window){ r->fde.cie.insns, r->fde.cie.end };
	CHECK(r->fde.insns <= r->fde.end && r->fde.cie.insns <= r->fde.cie.end);
	CHECK(r->fde.start <= r->fde.range_end);
	r->cost = (struct ehf_cost){ 0 };
	ehf_program_start(&p, &r->ctx, &r->fde);
	ehf_program_start(&q, &r->ctx, &r->fde);
	while (ehf_program_next(&p, &row)) {
		CHECK(row.start == at && row.start < row.end && row.end <= r->fde.range_end);
		at = row.end;
		CHECK(ehf_program_step(&q, &span));
		CHECK(span.start == row.start && span.end == row.end && span.stop == row.stop);
		CHECK(row.stop < EHF_NR_STOPS);
		if (nr++ < 6) {
			ehf_row_eval(&r->ctx, &r->fde, row.start, &one);
			CHECK(row_same(&row, &one));
			ehf_row_eval(&r->ctx, &r->fde, row.end - 1, &one);
			CHECK(row_same(&row, &one));
		}
	}
	CHECK(!ehf_program_step(&q, &span));
	CHECK(at == r->fde.range_end);
	CHECK(nr <= l->insns + 1);
	CHECK(r->cost.insns <= 14ULL * l->insns);
}

/* Every record of the section, as a checker of files reads it. */
static void check_records(struct reader *r)
{
	struct ehf_record rec;
	struct ehf_fde fde = { 0 };
	u64 addr = r->s.eh_frame;

	for (u32 nr = 0; nr < 64 && addr < r->s.eh_frame_end; nr++) {
		enum ehf_stop head = ehf_record_head(&r->ctx, &r->s, addr, &rec);
		struct ehf_record again;
		enum ehf_stop stop = ehf_record_parse(&r->ctx, &r->s, addr, &fde.cie, &fde, &again);

		CHECK(rec.next == again.next && rec.kind == again.kind && rec.cie == again.cie);
		CHECK(!head || stop);
		if (rec.next == addr)
			break;
		CHECK(rec.next >= addr + 4 && rec.next <= r->s.eh_frame_end);
		if (!stop && rec.kind == EHF_RECORD_FDE) {
			struct window may[2] = { r->src.may[0], r->src.may[1] };

			CHECK(fde.end == rec.next && fde.cie.addr == rec.cie);
			CHECK(fde.cie.addr >= r->s.eh_frame && fde.cie.end <= r->s.eh_frame_end);
			if (nr < 8) {
				r->fde = fde;
				check_rows(r);
			}
			memcpy(r->src.may, may, sizeof(may));
		}
		if (!stop && rec.kind == EHF_RECORD_END)
			break;
		addr = rec.next;
	}
}

static void set_up(struct reader *r, enum kind kind, const struct input *in,
		   const struct region *hdr, const struct region *frame)
{
	u64 more = in->options & OPT_MORE ? 10000 : 0;
	u64 room;

	memset(r, 0, sizeof(*r));
	r->src.mem.read = mem_read;
	r->src.mem.direct = kind == DIRECT || kind == HAND ? mem_direct :
			    kind == CRUMBS ? mem_crumbs : NULL;
	r->src.region[0] = *hdr;
	r->src.region[1] = *frame;
	r->src.hole = in->options & OPT_HOLE ? (frame->addr & ~4095ULL) + 4096ULL * in->hole : 1;
	r->ctx.mem = &r->src.mem;
	r->ctx.abi = &ehu_arch_at(in->arch)->abi;
	r->ctx.limits = &limit_sets[in->limits];
	r->ctx.cost = &r->cost;
	if (kind == HAND && r->src.hole == 1)
		r->ctx.hand = (struct ehf_hand){ frame->p, frame->addr, frame->len };
	if (kind == MEMO)
		r->ctx.memo = &r->memo;
	r->ctx.generation = 1;
	r->s.text_end = ~0ULL;
	room = ~0ULL - frame->addr - frame->len;
	r->s.eh_frame_end = frame->addr + frame->len + (more < room ? more : room);
	r->s.scan = in->options & OPT_SCAN;
	if (!(in->options & OPT_NO_HDR)) {
		room = ~0ULL - hdr->addr - hdr->len;
		r->s.hdr = hdr->addr;
		r->s.hdr_end = hdr->addr + hdr->len + (more < room ? more : room);
	}
	if (in->options & (OPT_KNOWN | OPT_NO_HDR))
		r->s.eh_frame = frame->addr;
}

/* The header, then one lookup. */
static void look_up(struct reader *r, u64 pc)
{
	r->src.may[0] = (struct window){ r->s.hdr, r->s.hdr_end };
	r->src.may[1] = (struct window){ 0, 0 };
	r->src.calls = 0;
	r->init = ehf_section_init(&r->ctx, &r->s);
	CHECK(r->init < EHF_NR_STOPS && r->src.calls <= 64);
	if (r->init)
		return;
	CHECK(r->s.eh_frame < r->s.eh_frame_end);
	CHECK(!r->s.table || (r->s.table >= r->s.hdr && r->s.table <= r->s.hdr_end));
	r->src.may[1] = (struct window){ r->s.eh_frame, r->s.eh_frame_end };
	r->cost = (struct ehf_cost){ 0 };
	r->src.calls = 0;
	r->find = ehf_fde_find(&r->ctx, &r->s, pc, &r->fde, &r->found);
	CHECK(r->find < EHF_NR_STOPS);
	if (!r->find) {
		CHECK(pc >= r->fde.start && pc < r->fde.range_end);
		ehf_row_eval(&r->ctx, &r->fde, pc, &r->row);
		CHECK(r->row.start <= pc && pc < r->row.end);
		CHECK(r->row.start >= r->fde.start && r->row.end <= r->fde.range_end);
		CHECK(r->row.stop < EHF_NR_STOPS);
	}
	check_cost(r, r->ctx.limits);
}

static void check_same(const struct reader *a, const struct reader *b)
{
	/* Fetching ahead may meet the hole where reading byte by byte does not. */
	if (a->src.fault || b->src.fault)
		return;
	CHECK(a->init == b->init);
	if (a->init)
		return;
	CHECK(a->s.eh_frame == b->s.eh_frame && a->s.table == b->s.table);
	CHECK(a->s.nr_fdes == b->s.nr_fdes && a->s.entry_size == b->s.entry_size);
	CHECK(a->find == b->find);
	CHECK(a->found.by_table == b->found.by_table && a->found.index == b->found.index);
	if (a->find)
		return;
	CHECK(a->fde.addr == b->fde.addr && a->fde.start == b->fde.start);
	CHECK(a->fde.range_end == b->fde.range_end && a->fde.insns == b->fde.insns);
	CHECK(a->fde.cie.addr == b->fde.cie.addr && a->fde.cie.insns == b->fde.cie.insns);
	CHECK(row_same(&a->row, &b->row));
}

/* Walks over the section, from pcs that have plain rows and from the one that was looked up. */
static void check_walks(const struct reader *r, const struct input *in, struct plain_check *plain)
{
	static struct walk_check walk;
	const struct ehu_arch *arch = ehu_arch_at(in->arch);
	u64 top = arch->abi.addr_size == 4 ? 1ULL << 32 : 0;

	walk = (struct walk_check){
		.u = { .arch = arch, .limits = r->ctx.limits },
		.section = &r->s,
		.seed = (in->pc ^ in->addr * 31) | 1,
	};
	for (u32 k = 0; k < 2; k++)
		walk.region[k] = (struct walk_region){ r->src.region[k].addr, r->src.region[k].p,
						       r->src.region[k].len };
	/* The last byte of all has no address behind it. */
	walk.region[2].addr = in->options & OPT_TOP_STACK ? top - WALK_CHECK_STACK - 8 : 0x700000;
	plain->pc[plain->nr_pcs < EHF_ARRAY_SIZE(plain->pc) ? plain->nr_pcs++ : 0] = in->pc;
	walk_check(&walk, plain->pc, plain->nr_pcs);
}

/* The short way, with the bytes that ->direct has. */
static void check_plain(struct reader *r, const struct input *in)
{
	static struct plain_check plain;

	/* A table is asked for as a whole, whether or not that is there. */
	r->src.may[0] = (struct window){ 0, ~0ULL };
	plain_check_init(&plain, &r->ctx, &r->s);
	plain_check_pc(&plain, in->pc);
	plain_check_section(&plain);
	check_walks(r, in, &plain);
}

/* Bytes in memory of their own, so that a sanitizer sees a read past their end. */
static u8 *copy(const u8 *data, size_t len)
{
	u8 *p = malloc(len ? len : 1);

	if (!p)
		abort();
	return memcpy(p, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct reader first, again, other;
	struct region hdr = { 0 }, frame = { 0 };
	struct input in;
	u32 nr_archs = 0;

	if (size < sizeof(in))
		return 0;
	memcpy(&in, data, sizeof(in));
	data += sizeof(in);
	size -= sizeof(in);
	while (ehu_arch_at(nr_archs))
		nr_archs++;
	in.arch = (u8)(in.arch % nr_archs);
	in.limits %= EHF_ARRAY_SIZE(limit_sets);
	hdr.len = in.hdr_len < size ? in.hdr_len : size;
	frame.len = size - hdr.len;
	if (in.addr > ~0ULL - size - in.gap)
		in.addr = ~0ULL - size - in.gap;
	hdr.addr = in.options & OPT_FRAME_FIRST ? in.addr + frame.len + in.gap : in.addr;
	frame.addr = in.options & OPT_FRAME_FIRST ? in.addr : in.addr + hdr.len + in.gap;
	hdr.p = copy(data, hdr.len);
	frame.p = copy(data + hdr.len, frame.len);

	set_up(&first, COPY, &in, &hdr, &frame);
	look_up(&first, in.pc);
	for (u32 kind = 0; kind < NR_KINDS; kind++) {
		set_up(&other, kind, &in, &hdr, &frame);
		look_up(&other, in.pc);
		check_same(&first, &other);
		if (!other.init) {	/* and once more, with whatever is remembered */
			again = other;
			again.ctx.mem = &again.src.mem;
			again.ctx.cost = &again.cost;
			again.ctx.memo = other.ctx.memo ? &again.memo : NULL;
			memset(&again.fde, 0, sizeof(again.fde));
			look_up(&again, in.pc);
			check_same(&other, &again);
		}
	}
	if (!first.init && !first.find && !first.src.fault)
		check_rows(&first);
	if (!first.init && !first.src.fault && first.src.hole == 1 && !(in.options & OPT_MORE)) {
		first.src.may[0] = (struct window){ first.s.eh_frame, first.s.eh_frame_end };
		first.src.may[1] = first.src.may[0];
		check_records(&first);
	}
	set_up(&other, DIRECT, &in, &hdr, &frame);
	look_up(&other, in.pc);
	if (!other.init)
		check_plain(&other, &in);
	free((void *)hdr.p);
	free((void *)frame.p);
	return 0;
}
