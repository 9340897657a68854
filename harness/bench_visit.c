// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Times rows of a file, in processes of their own, in turns. Each maps the file anew, and its first
 * pass begins with nothing of it in the processor's caches.
 */
#include "harness/bench_visit.h"

#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ehframe/plain.h"
#include "ehframe/program.h"
#include "harness/bench_child.h"
#include "harness/cli.h"
#include "harness/image.h"
#include "harness/json.h"
#include "harness/order.h"
#include "harness/static_fdes.h"

#ifndef DW_OP_breg0
#define DW_OP_breg0	0x70
#define DW_OP_breg31	0x8f
#define DW_OP_bregx	0x92
#endif

#define MAX_ROUNDS	64
#define BATCH		256		/* rows handed over at a time */
#define SWEEP		(96u << 20)	/* more than the processor caches */
#define PASSES		2		/* the first, and one with all at hand */

/* What was asked, and what came out: the same on all sides where they agree. */
struct tally {
	u64 nr;		/* rows */
	u64 sum;	/* of what a consumer reads of them */
	u64 simple;	/* of them, CFAs that are a register and an offset, in a frame with a caller */
	u64 cfa;	/* sum of those, with the address */
};

struct outcome {
	u64 ns[PASSES];
	struct tally tally;
};

/* What a process does: the file in it, and the addresses to visit. */
struct job {
	const struct side *side;
	const char *path;
	struct outcome *out;	/* its parent has that, too */
	struct image *img;
	struct ehf_ctx ctx;
	struct ehf_cost cost;
	struct ehf_memo memo;
	struct ehf_hand table;
	const u64 *pc;		/* an address in each of them, in random order */
	size_t nr;
	Dwarf_CFI *cfi;		/* libdw's, from its first pass on */
};

typedef bool (*side_fn)(struct job *job, struct tally *t);

static u64 cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static inline void add_cfa(struct tally *t, u64 pc, u64 reg, u64 off)
{
	t->simple++;
	t->cfa += (pc ^ reg << 56) + 31 * off;
}

/* ---- ours ---- */

static void take_row(struct tally *t, u64 pc, const struct ehf_row *row)
{
	t->nr++;
	t->sum += pc ^ (u64)row->cfa.off ^ (u64)row->rule[EHF_RA].off << 8 ^
		  (u64)row->rule[EHF_FP].off << 16;
	if (!(row->flags & EHF_ROW_OUTERMOST) &&
	    (row->cfa.kind == EHF_CFA_REG || row->cfa.kind == EHF_CFA_VAL_EXPR))
		add_cfa(t, pc, row->cfa.reg, (u64)row->cfa.off);
}

/* The machine's numbers that each row needs. */
struct plain_numbers {
	u64 fp;
	u64 sp;
	u32 word_size;
};

static inline struct plain_numbers plain_numbers(const struct job *job)
{
	const struct ehf_abi *abi = &job->img->arch->abi;

	return (struct plain_numbers){ abi->reg_fp, abi->reg_sp, abi->word_size };
}

static inline void take_plain(const struct plain_numbers *n, struct tally *t, u64 pc,
			      struct ehf_plain plain)
{
	t->nr++;
	t->sum += pc ^ plain.word;
	if (!(plain.word & (EHF_PLAIN_CFA_LOAD | EHF_PLAIN_STOP)) &&
	    (plain.word & EHF_PLAIN_RA) != EHF_PLAIN_RA_UNDEF)
		add_cfa(t, pc, plain.word & EHF_PLAIN_CFA_FP ? n->fp : n->sp,
			ehf_plain_cfa_off(plain, n->word_size));
}

/* What is not plain, of one FDE from an address on. */
static void rest_of_fde(struct job *job, struct tally *t, const struct ehf_fde *fde, u64 from)
{
	struct ehf_program p;
	struct ehf_row row;

	ehf_program_start(&p, &job->ctx, fde);
	while (ehf_program_next(&p, &row)) {
		if (row.start >= from)
			take_row(t, row.start, &row);
	}
}

/* In batches, front to back; a consumer reads each row. */
static bool ours_rows(struct job *job, struct tally *t)
{
	const struct plain_numbers n = plain_numbers(job);
	struct ehf_plain_row rows[BATCH];
	struct tally own = *t;	/* nobody else's while a batch is read */
	struct ehf_pass pass;
	enum ehf_stop stop;
	u32 nr, k;

	ehf_pass_start(&pass, &job->ctx, &job->img->section);
	while (ehf_pass_next(&pass, &stop)) {
		if (stop)
			continue;
		while ((nr = ehf_pass_rows(&pass, rows, BATCH))) {
			for (k = 0; k < nr; k++) {
				if (rows[k].row.word & EHF_PLAIN_STOP) {
					*t = own;
					rest_of_fde(job, t, &pass.fde, rows[k].start);
					own = *t;
				} else {
					take_plain(&n, &own, rows[k].start, rows[k].row);
				}
			}
		}
	}
	*t = own;
	return true;
}

/* The same as whole rows, one by one: what a comparison with another reader needs. */
static bool ours_whole_rows(struct job *job, struct tally *t)
{
	const struct ehf_section *s = &job->img->section;
	struct ehf_record rec = { 0 };
	struct ehf_fde fde = { 0 };
	u64 addr;

	for (addr = s->eh_frame; addr < s->eh_frame_end; addr = rec.next) {
		if (ehf_record_head(&job->ctx, s, addr, &rec) || rec.kind == EHF_RECORD_END)
			break;
		if (rec.kind == EHF_RECORD_FDE &&
		    !ehf_fde_parse_with(&job->ctx, s, addr, &fde.cie, &fde))
			rest_of_fde(job, t, &fde, 0);
	}
	return true;
}

/* As a walk looks up a frame that its row cache does not have. */
static bool ours_visit(struct job *job, struct tally *t)
{
	const struct plain_numbers n = plain_numbers(job);
	struct ehf_plain plain;
	struct ehf_row row;

	for (size_t k = 0; k < job->nr; k++) {
		u64 pc = job->pc[k];

		if (ehf_plain_find(&job->ctx, &job->img->section, &job->table, pc, &plain))
			take_plain(&n, t, pc, plain);
		else if (!ehf_row_find(&job->ctx, &job->img->section, pc, &row))
			take_row(t, pc, &row);
	}
	return true;
}

static bool ours_whole_visit(struct job *job, struct tally *t)
{
	struct ehf_row row;

	for (size_t k = 0; k < job->nr; k++) {
		if (!ehf_row_find(&job->ctx, &job->img->section, job->pc[k], &row))
			take_row(t, job->pc[k], &row);
	}
	return true;
}

/* ---- libdw's ---- */

/* One row: the CFA and three registers, as our rows have them. Its end, or 0. */
static u64 libdw_row(struct job *job, struct tally *t, u64 pc)
{
	const struct ehf_abi *abi = &job->img->arch->abi;
	const int regs[] = { abi->reg_fp, abi->reg_ra, abi->reg_sp };
	Dwarf_Op mem[3], *ops, cfa = { 0 };
	Dwarf_Addr start, end = 0;
	bool signal, outermost = false;
	Dwarf_Frame *frame;
	size_t nr;

	if (dwarf_cfi_addrframe(job->cfi, pc, &frame))
		return 0;
	dwarf_frame_info(frame, &start, &end, &signal);
	t->nr++;
	if (!dwarf_frame_cfa(frame, &ops, &nr) && nr == 1)
		cfa = *ops;
	for (size_t k = 0; k < EHF_ARRAY_SIZE(regs); k++) {
		if (dwarf_frame_register(frame, regs[k], mem, &ops, &nr))
			continue;
		t->sum += nr ? ops[nr - 1].number : 0;
		/* libdw says so of one that is undefined. */
		outermost |= regs[k] == abi->reg_ra && !nr && ops == mem;
	}
	t->sum += pc ^ cfa.number;
	if (!outermost && cfa.atom >= DW_OP_breg0 && cfa.atom <= DW_OP_breg31)
		add_cfa(t, pc, cfa.atom - DW_OP_breg0, cfa.number);
	else if (!outermost && cfa.atom == DW_OP_bregx)
		add_cfa(t, pc, cfa.number, cfa.number2);
	free(frame);
	return end;
}

static bool libdw_open(struct job *job)
{
	if (!job->cfi)
		job->cfi = dwarf_getcfi_elf(job->img->elf);
	return job->cfi;
}

static bool libdw_rows(struct job *job, struct tally *t)
{
	const struct ehf_section *s = &job->img->section;
	struct ehf_record rec = { 0 };
	struct ehf_fde fde = { 0 };

	if (!libdw_open(job))
		return false;
	for (u64 addr = s->eh_frame; addr < s->eh_frame_end; addr = rec.next) {
		if (ehf_record_head(&job->ctx, s, addr, &rec) || rec.kind == EHF_RECORD_END)
			break;
		if (rec.kind != EHF_RECORD_FDE ||
		    ehf_fde_parse_with(&job->ctx, s, addr, &fde.cie, &fde))
			continue;
		for (u64 pc = fde.start, end; pc < fde.range_end; pc = end) {
			end = libdw_row(job, t, pc);
			if (end <= pc)
				break;
		}
	}
	return true;
}

static bool libdw_visit(struct job *job, struct tally *t)
{
	if (!libdw_open(job))
		return false;
	for (size_t k = 0; k < job->nr; k++)
		libdw_row(job, t, job->pc[k]);
	return true;
}

/* ---- measuring ---- */

static const struct side {
	const char *name;
	const char *what;
	side_fn fn;
	bool visit;
	bool libdw;
} sides[] = {
	{ "rows", "all rows, packed", ours_rows, false, false },
	{ "whole-rows", "all rows, whole", ours_whole_rows, false, false },
	{ "libdw-rows", "all rows, libdw's", libdw_rows, false, true },
	{ "visit", "one an FDE, packed", ours_visit, true, false },
	{ "whole-visit", "one an FDE, whole", ours_whole_visit, true, false },
	{ "libdw-visit", "one an FDE, libdw's", libdw_visit, true, true },
};

#define NR_SIDES	EHF_ARRAY_SIZE(sides)

/* Nothing of the file is in the processor's caches afterwards. */
static bool sweep(void)
{
	u8 *p = mmap(NULL, SWEEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	memset(p, 1, SWEEP);
	for (size_t k = 0; k < SWEEP; k += 64)
		p[k] = (u8)(p[k] + 1);
	munmap(p, SWEEP);
	return true;
}

/* In a child: both passes of a side. */
static bool run(void *arg)
{
	static struct ehf_plain_cie cies[EHF_MEMO_PLAIN];
	struct job *job = arg;
	struct outcome *out = job->out;
	struct image_error err;
	u64 avail = 0;
	const u8 *p;

	if (image_open(job->path, &job->img, &err))
		return false;
	job->ctx = image_ctx(job->img, &ehf_limits_file, &job->cost);
	job->ctx.memo = &job->memo;
	job->ctx.generation = 1;
	job->ctx.plain = cies;
	job->ctx.nr_plain = EHF_MEMO_PLAIN;
	p = job->img->section.table ? image_bytes_at(job->img, job->img->section.table, &avail) : NULL;
	job->table = (struct ehf_hand){ p, job->img->section.table, avail };
	if (!sweep())
		return false;
	for (u32 k = 0; k < PASSES; k++) {
		u64 start = cpu_now();

		out->tally = (struct tally){ 0 };
		if (!job->side->fn(job, &out->tally))
			return false;
		out->ns[k] = cpu_now() - start;
	}
	return true;
}

/* xorshift64: the same order each time. */
static u64 next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* An address in each FDE that a lookup can find, in random order. */
static u64 *addresses(const char *path, size_t *nr)
{
	u64 state = 88172645463325252ULL, *pc = NULL;
	struct ehf_cost cost = { 0 };
	struct static_fdes fdes;
	struct image_error err;
	struct image *img;
	struct ehf_ctx ctx;

	*nr = 0;
	if (image_open(path, &img, &err)) {
		fprintf(stderr, "%s\n", err.text);
		image_close(img);
		return NULL;
	}
	ctx = image_ctx(img, &ehf_limits_file, &cost);
	if (static_fdes_read(&fdes, img, &ctx)) {
		pc = calloc(fdes.nr + 1, sizeof(*pc));
		for (size_t k = 0; pc && k < fdes.nr; k++) {
			const struct static_fde *f = &fdes.fde[k];

			if (!f->stop && f->start < f->end && f->flags & STATIC_FDE_TABLE &&
			    !(f->flags & (STATIC_FDE_DUPLICATE | STATIC_FDE_OVERLAPS | STATIC_FDE_DEAD)))
				pc[(*nr)++] = f->start + next(&state) % (f->end - f->start);
		}
		static_fdes_free(&fdes);
	}
	image_close(img);
	for (size_t k = *nr; k > 1; k--) {
		size_t other = next(&state) % k;
		u64 kept = pc[k - 1];

		pc[k - 1] = pc[other];
		pc[other] = kept;
	}
	return pc;
}

/* Three figures of some values, which are put in order. */
static void spread(double *value, u32 nr, double *median, double *least, double *most)
{
	qsort(value, nr, sizeof(*value), order_double);
	*least = value[0];
	*most = value[nr - 1];
	*median = nr & 1 ? value[nr / 2] : (value[nr / 2 - 1] + value[nr / 2]) / 2;
}

struct figures {
	double ns[PASSES][MAX_ROUNDS];	/* of each row or visit, by round */
	struct tally tally;
};

/* @f: of all sides; @side: one; @libdw: what it is compared with. Do they agree? */
static bool tell(const char *path, struct figures *f, const struct side *side,
		 const struct side *libdw, u32 rounds, bool json)
{
	struct figures *own = &f[side - sides];
	const struct figures *other = &f[libdw - sides];
	bool same = own->tally.nr == other->tally.nr && own->tally.simple == other->tally.simple &&
		    own->tally.cfa == other->tally.cfa;

	for (u32 pass = 0; pass < PASSES; pass++) {
		double ratio[MAX_ROUNDS], ns[MAX_ROUNDS], m[3], r[3];
		struct json j;

		for (u32 k = 0; k < rounds; k++) {
			ns[k] = own->ns[pass][k];
			ratio[k] = other->ns[pass][k] / ns[k];
		}
		spread(ns, rounds, &m[0], &m[1], &m[2]);
		spread(ratio, rounds, &r[0], &r[1], &r[2]);
		if (!json) {
			printf("%-20s %-6s %9" PRIu64 " %8.1f %8.1f %8.1f %9.1f %7.1f (%.1f-%.1f)%s\n",
			       side->what, pass ? "later" : "first", own->tally.nr, m[0], m[1], m[2],
			       1000 / m[0], r[0], r[1], r[2], same ? "" : "  sums differ");
			continue;
		}
		json_begin(&j, stdout, "bench-static");
		json_text(&j, "file", path);
		json_text(&j, "phase", side->name);
		json_text(&j, "pass", pass ? "later" : "first");
		json_number(&j, "rows", own->tally.nr);
		json_number(&j, "ps", (u64)(m[0] * 1000));
		json_number(&j, "ps_least", (u64)(m[1] * 1000));
		json_number(&j, "ps_most", (u64)(m[2] * 1000));
		json_number(&j, "libdw_permille", (u64)(r[0] * 1000));
		json_number(&j, "libdw_permille_least", (u64)(r[1] * 1000));
		json_number(&j, "libdw_permille_most", (u64)(r[2] * 1000));
		json_bool(&j, "same_sums", same);
		json_end(&j);
	}
	return same;
}

/**
 * bench_visit() - measure one file and print the figures
 * @path: the file
 * @rounds: processes of each side, in turns
 * @json: one object a line instead of a table
 *
 * Each side tells what it found by a count and by a sum over all CFAs that are a register and an
 * offset; where ours and libdw's are not the same that is said.
 *
 * Return: enum cli_status; CLI_STATUS_DIFFERS where those sums do.
 */
int bench_visit(const char *path, u32 rounds, bool json)
{
	struct figures *f = calloc(NR_SIDES, sizeof(*f));
	struct job *job = calloc(1, sizeof(*job));
	struct outcome *out = bench_child_room(sizeof(*out));
	size_t nr = 0;
	u64 *pc = addresses(path, &nr);
	int status = f && job && out && nr ? CLI_STATUS_OK : CLI_STATUS_INPUT;

	if (rounds > MAX_ROUNDS)
		rounds = MAX_ROUNDS;
	if (job) {
		job->path = path;
		job->out = out;
		job->pc = pc;
		job->nr = nr;
	}
	for (u32 k = 0; !status && k < rounds; k++) {
		for (size_t n = 0; !status && n < NR_SIDES; n++) {
			job->side = &sides[n];
			if (!bench_child(run, job, NULL) || !out->tally.nr) {
				fprintf(stderr, "%s: %s: cannot be measured\n", path, sides[n].name);
				status = CLI_STATUS_INPUT;
				break;
			}
			f[n].tally = out->tally;
			for (u32 p = 0; p < PASSES; p++)
				f[n].ns[p][k] = (double)out->ns[p] / (double)out->tally.nr;
		}
	}
	if (!status && !json)
		printf("%s, %zu FDEs, %u rounds: ns a row, median, least, most; millions a second; "
		       "libdw takes so many times it\n", path, nr, rounds);
	for (size_t n = 0; status != CLI_STATUS_INPUT && n < NR_SIDES; n++) {
		const struct side *libdw = &sides[n];

		while (!libdw->libdw)
			libdw++;
		if (!tell(path, f, &sides[n], libdw, rounds, json))
			status = CLI_STATUS_DIFFERS;
	}
	if (out)
		munmap(out, sizeof(*out));
	free(pc);
	free(job);
	free(f);
	return status;
}
