// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What Frama-C Eva proves of ehframe/ and arch/, and under which assumptions: all of the latter
 * are in this file and in builtins.h.
 *
 * Every byte of a section is unknown and may be another each time it is read; so are all
 * addresses, lengths, pcs, limits, register numbers and the machine. Proved is that no such
 * input leads to undefined behaviour: no access outside an object, no signed overflow, no
 * shift by too much, no division by 0.
 *
 * Assumptions:
 *  - struct ehf_mem keeps its contract (ehframe/mem.h): ->read writes all of @dst or fails;
 *    ->direct offers at least one byte or NULL, *@avail of them at most, which do not go away.
 *  - ->direct and struct ehf_hand offer at most PROVE_CHUNK bytes at a time, from the start of an
 *    array of that size. The code compares each index with what is at hand and nothing else, so
 *    that more bytes are no other case.
 *  - __builtin_*_overflow() are right; here they give any result.
 *  - Local variables hold some value from the start (-eva-initialized-locals): that none is used
 *    before it is set is the business of the compilers' warnings and of clang's MemorySanitizer,
 *    for Eva cannot tell how many states of a stack or bytes of a buffer are in use.
 *  - Pointers that ehframe/plain.c compares point into one object: where it has compared a length
 *    with what is left, Eva does not see that a pointer that moves on by that stays inside. That no
 *    such pointer is followed is proved.
 *  - ehframe/plain.c meets FDEs that end up to PLAIN_BYTES behind the first of the last bytes at
 *    hand, in any place and of any length there; tables of one entry; room for two rows. Its CIEs
 *    are any that any_plain_cie() makes. That reading one (learn_cie()) makes no other is not
 *    proved, nor what that reads: fuzz_section does it.
 *  - ehf_row_eval() and ehf_row_find() are left out: they call what is proved, nothing else.
 */
#include "arch/arch.h"
#include "ehframe/dwarf.h"
#include "ehframe/expr.h"
#include "ehframe/insn.h"
#include "ehframe/plain.h"
#include "ehframe/program.h"

#include <__fc_builtin.h>

#define PROVE_CHUNK	EHF_FETCH

int prove_u64_op(prove_u64 *result)
{
	*result = Frama_C_unsigned_long_interval(0, ~0UL);
	return Frama_C_interval(0, 1);
}

int prove_s64_op(prove_s64 *result)
{
	*result = (prove_s64)Frama_C_unsigned_long_interval(0, ~0UL);
	return Frama_C_interval(0, 1);
}

static u64 any_u64(void)
{
	return Frama_C_unsigned_long_interval(0, ~0UL);
}

static u32 any_u32(void)
{
	return Frama_C_unsigned_int_interval(0, ~0U);
}

static u8 any_u8(void)
{
	return Frama_C_unsigned_char_interval(0, 255);
}

static u16 any_u16(void)
{
	return Frama_C_unsigned_short_interval(0, 65535);
}

static bool any_bool(void)
{
	return Frama_C_interval(0, 1);
}

static u8 offered[PROVE_CHUNK];

static bool mem_read(const struct ehf_mem *mem, u64 addr, void *dst, u32 len)
{
	(void)mem;
	(void)addr;
	//@ assert len <= 64;
	Frama_C_make_unknown(dst, len);
	return any_bool();
}

static const u8 *mem_direct(const struct ehf_mem *mem, u64 addr, u64 len, u64 *avail)
{
	(void)mem;
	(void)addr;
	Frama_C_make_unknown((char *)offered, sizeof(offered));
	if (any_bool())
		return NULL;
	*avail = Frama_C_unsigned_long_interval(1, PROVE_CHUNK);
	if (*avail > len)
		*avail = len;
	return offered;
}

static struct ehf_mem mem;
static struct ehf_abi abi;
static struct ehf_limits limits;
static struct ehf_cost cost;
static struct ehf_memo memo;
static struct ehf_ctx ctx;

static void any_world(void)
{
	u32 nr = Frama_C_unsigned_int_interval(0, 4);
	const struct ehu_arch *arch = ehu_arch_at(nr);

	if (!arch)
		return;
	abi = arch->abi;
	abi.addr_size = any_bool() ? 4 : 8;
	abi.word_size = any_bool() ? 4 : 8;
	abi.big_endian = any_bool();
	abi.ra_state = any_bool();
	abi.reg_sp = any_u16();
	abi.reg_fp = any_u16();
	abi.reg_ra = any_u16();
	limits.record_len = any_u32();
	limits.insns = any_u32();
	limits.states = any_u32();
	limits.expr_len = any_u32();
	limits.scan_records = any_u32();
	mem.read = mem_read;
	ctx.mem = &mem;
	ctx.abi = &abi;
	ctx.limits = &limits;
	ctx.cost = &cost;
	ctx.memo = any_bool() ? &memo : NULL;
	ctx.generation = any_u64();
}

/* A section as a caller may hand it in; for a lookup: as any header may have left it. */
static void any_section(struct ehf_section *s)
{
	s->text_start = any_u64();
	s->text_end = any_u64();
	s->hdr = any_u64();
	s->hdr_end = any_u64();
	s->eh_frame = any_u64();
	s->eh_frame_end = any_u64();
	s->table = any_u64();
	s->nr_fdes = any_u64();
	s->table_enc = any_u8();
	s->entry_size = any_bool() ? 4 : any_bool() ? 8 : 16;
	s->scan = any_bool();
}

static void any_fde(struct ehf_fde *fde)
{
	fde->addr = any_u64();
	fde->insns = any_u64();
	fde->end = any_u64();
	fde->start = any_u64();
	fde->range_end = any_u64();
	fde->cie.addr = any_u64();
	fde->cie.insns = any_u64();
	fde->cie.end = any_u64();
	fde->cie.code_align = any_u64();
	fde->cie.data_align = (s64)any_u64();
	fde->cie.ra_reg = any_u16();
	fde->cie.fde_enc = any_u8();
	fde->cie.version = any_u8();
	fde->cie.flags = any_u8();
}

/* Header and records: everything that ends in bytes being parsed into a struct. */
static void parse(void)
{
	struct ehf_section s;
	struct ehf_record rec;
	struct ehf_entry entry;
	struct ehf_fde fde;
	struct ehf_found found;

	any_section(&s);
	ehf_section_init(&ctx, &s);
	any_section(&s);
	any_fde(&fde);
	ehf_record_head(&ctx, &s, any_u64(), &rec);
	ehf_fde_parse(&ctx, &s, any_u64(), &fde);
	ehf_entry_read(&ctx, &s, any_u64(), &entry);
	any_fde(&fde);
	ehf_fde_find(&ctx, &s, any_u64(), &fde, &found);
}

/* Programs, row by row and up to a pc. */
static void run(void)
{
	struct ehf_fde fde;
	struct ehf_row row;
	struct ehf_span span;
	struct ehf_program p;

	any_fde(&fde);
	ehf_program_start(&p, &ctx, &fde);
	ehf_program_step(&p, &span);
	any_fde(&fde);
	ehf_program_restart(&p, &fde);
	/* As after any number of steps: a step's own loop covers what the cursor can be like. */
	p.depth = Frama_C_unsigned_int_interval(0, EHF_MAX_STATES);
	p.insns = any_u32();
	p.loc = any_u64();
	p.start = any_u64();
	ehf_program_next(&p, &row);
}

/* What the dump and the walk use besides, and the tables. */
static void rest(void)
{
	enum ehf_stop stop = (enum ehf_stop)any_u32();
	struct ehf_cursor c;
	struct ehf_raw_op op;
	struct ehf_insn insn;

	ehf_open(&c, &ctx, any_u64(), any_u64());
	while (any_bool()) {
		ehf_raw_op_read(&c, &op);
		ehf_insn_read(&c, any_u8(), &insn);
		ehf_widen(&c, ehf_narrow(&c, any_u64()));
	}
	ehu_arch_find(any_u16(), any_u8(), any_bool());
	ehf_stop_name(stop);
	ehf_stop_text(stop);
	ehf_stop_class(stop);
	ehf_class_name((enum ehf_stop_class)any_u32());
}

/*
 * Entry points: memory that is copied, as in a kernel, and memory that is offered in place and
 * copied where it is not; each for the three parts, which do not depend on each other.
 */
static void copying(void)
{
	any_world();
}

static void direct(void)
{
	any_world();
	mem.direct = mem_direct;
	ctx.hand.p = offered;
	ctx.hand.start = any_u64();	/* perhaps far from anything that is asked for */
	ctx.hand.len = PROVE_CHUNK;
}

void copying_parse(void)
{
	copying();
	parse();
}

void copying_run(void)
{
	copying();
	run();
}

void copying_rest(void)
{
	copying();
	rest();
}

void direct_parse(void)
{
	direct();
	parse();
}

void direct_run(void)
{
	direct();
	run();
}

void direct_rest(void)
{
	direct();
	rest();
}

/*
 * Plain rows. Eva does not relate pointers to addresses: FDEs of every place and length are gone
 * through one by one, with what follows their heads unknown.
 */
#define PLAIN_BYTES	22	/* an FDE of the least length, and a program of 6 bytes */
#define PLAIN_START	0x1000	/* address of the bytes */
#define PLAIN_CIE	PLAIN_START

static u8 entries[8];
static struct ehf_plain_cie cies[2];

static void put_4(u8 *p, u32 v)
{
	u32 k;

	//@ loop unroll 4;
	for (k = 0; k < 4; k++)
		p[k] = (u8)(v >> 8 * (abi.big_endian ? 3 - k : k));
}

static void any_plain_cie(struct ehf_plain_cie *cie)
{
	cie->generation = 1;
	cie->addr = PLAIN_CIE;
	cie->initial.word = any_u64();
	cie->tracked = any_u64();
	cie->size = any_u32();
	cie->fp = any_u8();
	cie->sp = any_u8();
	cie->ra = any_u8();
	cie->shift = any_bool() ? 2 : 3;
	cie->code_align = any_u8();
	cie->factor = (s8)Frama_C_interval(-2, 2);
	cie->sized = any_bool();
	cie->usable = any_bool();
}

static void plain_world(bool big_endian)
{
	any_world();
	abi.big_endian = big_endian;
	ctx.memo = NULL;
	ctx.generation = 1;
	ctx.plain = cies;
	ctx.nr_plain = 2;
	ctx.hand.p = offered;
	ctx.hand.start = PLAIN_START;
	ctx.hand.len = PROVE_CHUNK;
}

/* Unknown bytes but for the head of an FDE. */
static void any_plain_fde(u32 off, u32 len)
{
	Frama_C_make_unknown((char *)offered, sizeof(offered));
	put_4(offered + off, len);
	put_4(offered + off + 4, PLAIN_START + off + 4 - PLAIN_CIE);
}

/* One lookup, in a table of one entry, which leads to the FDE at offset @fde. */
static void plain_lookup(u32 fde)
{
	struct ehf_section s;
	struct ehf_hand table = { .p = entries, .start = any_u64(), .len = any_u64() };
	struct ehf_plain plain;

	any_section(&s);
	ehf_plain_table(&s, &table);
	s.hdr = 0;
	table.len = sizeof(entries);
	put_4(entries, any_u32());
	put_4(entries + 4, PLAIN_START + fde);
	ehf_plain_find(&ctx, &s, &table, any_u64(), &plain);
}

/* A pass that has got to the FDE at offset @fde, which ends at offset @end, and all its rows. */
static void plain_pass(u32 fde, u32 end)
{
	struct ehf_plain_row rows[2];
	struct ehf_section s;
	struct ehf_pass pass;
	enum ehf_stop stop;

	any_section(&s);
	s.eh_frame_end = PLAIN_START + PROVE_CHUNK;
	ehf_pass_start(&pass, &ctx, &s);
	any_fde(&pass.fde);
	pass.fde.cie.addr = PLAIN_CIE;
	any_plain_cie(&pass.cie);
	pass.cie.usable = true;
	/* As the program of another FDE may have left it, as far as it is looked at again. */
	pass.run.p = offered + end;
	pass.run.end = offered + end;
	pass.run.abi = &abi;
	pass.run.depth = 0;
	pass.run.states = EHF_MAX_STATES;
	pass.rec.next = PLAIN_START + fde;
	if (!ehf_pass_next(&pass, &stop))
		return;
	while (ehf_pass_rows(&pass, rows, 2))
		;
}

static void plain(bool big_endian, bool pass)
{
	u32 off, len;

	plain_world(big_endian);
	//@ loop unroll 30;
	for (off = PROVE_CHUNK - PLAIN_BYTES; off + 16 <= PROVE_CHUNK; off++) {
		//@ loop unroll 30;
		for (len = 12; off + 4 + len <= PROVE_CHUNK; len++) {
			any_plain_cie(&cies[0]);
			any_plain_cie(&cies[1]);
			any_plain_fde(off, len);
			if (pass)
				plain_pass(off, off + 4 + len);
			else
				plain_lookup(off);
		}
	}
}

void plain_find_little(void)
{
	plain(false, false);
}

void plain_find_big(void)
{
	plain(true, false);
}

void plain_pass_little(void)
{
	plain(false, true);
}
