/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * For fuzzers: a section read the short way (ehframe/plain.h) and the general way, which have to
 * agree. Aborts where they do not.
 */
#ifndef SELFTESTS_LIB_PLAIN_CHECK_H
#define SELFTESTS_LIB_PLAIN_CHECK_H

#include "ehframe/plain.h"
#include "ehframe/program.h"
#include "harness/plain_rows.h"
#include "selftests/lib/fuzz_check.h"

/* FDEs of a section whose rows are looked at, and rows of each. */
#define PLAIN_CHECK_FDES	64
#define PLAIN_CHECK_ROWS	200

/**
 * struct plain_check - a section, and what both ways are given to read it
 * @s: the section
 * @ctx: for the general way; with bytes at hand for both
 * @table: the bytes of the search table, where all are to be had
 * @cie: what the short way keeps
 * @pc: addresses that were looked up on it and found, for walks
 * @nr_pcs: how many
 */
struct plain_check {
	const struct ehf_section *s;
	struct ehf_ctx ctx;
	struct ehf_hand table;
	struct ehf_plain_cie cie[2];
	u64 pc[64];
	u32 nr_pcs;
};

/* Asks for the bytes that a walk asks for. @ctx: without any at hand. */
static inline void plain_check_init(struct plain_check *c, const struct ehf_ctx *ctx,
				    const struct ehf_section *s)
{
	const struct ehf_mem *mem = ctx->mem;

	*c = (struct plain_check){ .s = s, .ctx = *ctx };
	c->ctx.plain = c->cie;
	c->ctx.nr_plain = EHF_ARRAY_SIZE(c->cie);
	c->ctx.memo = NULL;
	c->ctx.slot = NULL;
	c->ctx.generation = 1;
	c->ctx.hand = ehf_hand_ask(mem, s->eh_frame, s->eh_frame_end - s->eh_frame);
	c->table.start = s->table;
	if (s->table && s->nr_fdes)
		c->table = ehf_hand_ask(mem, s->table, s->nr_fdes * s->entry_size);
	ehf_plain_table(s, &c->table);
}

/* One lookup, both ways. */
static inline void plain_check_pc(struct plain_check *c, u64 pc)
{
	struct ehf_plain is, want;
	struct ehf_cost *kept = c->ctx.cost, cost = { 0 };
	struct ehf_row row = { 0 };

	c->ctx.cost = &cost;
	if (ehf_plain_find(&c->ctx, c->s, &c->table, pc, &is)) {
		CHECK(!ehf_row_find(&c->ctx, c->s, pc, &row));
		CHECK(ehf_plain_pack(c->ctx.abi, &row, &want));
		CHECK(want.word == is.word);
		CHECK(row.start <= pc && pc < row.end);
		if (c->nr_pcs < EHF_ARRAY_SIZE(c->pc))
			c->pc[c->nr_pcs++] = pc;
	}
	c->ctx.cost = kept;
}

/* The rows of the FDE that a pass has got to, @max at a time. */
static inline void plain_check_rows(struct plain_check *c, struct ehf_pass *pass, u32 max)
{
	struct ehf_fde fde = pass->fde;
	struct ehf_plain_row got[64];
	struct ehf_program p;
	struct ehf_row row = { 0 };
	bool rest = false;
	u32 nr, all = 0;

	ehf_program_start(&p, &c->ctx, &fde);
	while ((nr = ehf_pass_rows(pass, got, max)) != 0) {
		CHECK(nr <= max);
		for (u32 k = 0; k < nr; k++) {
			CHECK(!rest);
			CHECK(ehf_program_next(&p, &row));
			CHECK(plain_row_same(c->ctx.abi, &got[k], &row));
			rest = got[k].row.word & EHF_PLAIN_STOP;
		}
		all += nr;
		if (all > PLAIN_CHECK_ROWS)
			return;
	}
	if (!rest)
		CHECK(!ehf_program_next(&p, &row));
	CHECK(!ehf_pass_rows(pass, got, max));
}

/* Lookups around an FDE and around the rows that it begins with. */
static inline void plain_check_lookups(struct plain_check *c, const struct ehf_fde *fde)
{
	struct ehf_program p;
	struct ehf_row row;
	u32 k = 0;

	plain_check_pc(c, fde->start - 1);
	plain_check_pc(c, fde->range_end);
	plain_check_pc(c, fde->range_end - 1);
	ehf_program_start(&p, &c->ctx, fde);
	while (k++ < 6 && ehf_program_next(&p, &row)) {
		plain_check_pc(c, row.start);
		plain_check_pc(c, row.end - 1);
	}
}

/* All records of a section, both ways. */
static inline void plain_check_section(struct plain_check *c)
{
	static const u32 rooms[] = { 1, 2, 3, 64 };
	struct ehf_cost *kept = c->ctx.cost, cost = { 0 };
	struct ehf_fde fde = { 0 };
	struct ehf_record rec = { 0 };
	struct ehf_pass pass;
	enum ehf_stop is, want;
	u64 addr = c->s->eh_frame;

	c->ctx.cost = &cost;
	ehf_pass_start(&pass, &c->ctx, c->s);
	for (u32 nr = 0; nr < PLAIN_CHECK_FDES; nr++) {
		bool more = ehf_pass_next(&pass, &is);

		want = EHF_STOP_NONE;
		for (; addr < c->s->eh_frame_end; addr = rec.next) {
			want = ehf_record_parse(&c->ctx, c->s, addr, NULL, &fde, &rec);
			if (want || rec.kind != EHF_RECORD_CIE)
				break;
		}
		if (addr >= c->s->eh_frame_end || (!want && rec.kind == EHF_RECORD_END)) {
			CHECK(!more && !is);
			CHECK(!ehf_pass_next(&pass, &is));
			break;
		}
		CHECK(more && is == want);
		CHECK(pass.rec.addr == addr && pass.rec.kind == rec.kind &&
		      pass.rec.cie == rec.cie);
		if (want && rec.next == addr) {
			CHECK(!ehf_pass_next(&pass, &is));
			break;
		}
		CHECK(pass.rec.next == rec.next);
		addr = rec.next;
		if (want)
			continue;
		CHECK(pass.fde.addr == fde.addr && pass.fde.start == fde.start);
		CHECK(pass.fde.range_end == fde.range_end && pass.fde.insns == fde.insns);
		CHECK(pass.fde.end == fde.end);
		CHECK(pass.fde.cie.addr == fde.cie.addr &&
		      pass.fde.cie.insns == fde.cie.insns &&
		      pass.fde.cie.ra_reg == fde.cie.ra_reg &&
		      pass.fde.cie.flags == fde.cie.flags);
		plain_check_rows(c, &pass, rooms[nr % EHF_ARRAY_SIZE(rooms)]);
		plain_check_lookups(c, &fde);
	}
	c->ctx.cost = kept;
}

#endif /* SELFTESTS_LIB_PLAIN_CHECK_H */
