// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Executes every CFA program of a module once, as a walk would, and adds up the bytes of its rows.
 */
#include "harness/module_cover.h"

#include "ehframe/program.h"
#include "harness/static_fdes.h"

/*
 * CFI instructions for one module: about ten times those of the largest libraries, and a second or
 * two. A made-up file could ask for hours.
 */
#define MAX_INSNS	100000000

/* Bytes of @from..@to in executable segments. */
static u64 executable(const struct image *img, u64 from, u64 to)
{
	u64 sum = 0;

	for (u32 k = 0; k < img->nr_exec; k++) {
		u64 start = img->exec[k].addr, end = img->exec[k].end;

		if (start < from)
			start = from;
		if (end > to)
			end = to;
		if (start < end)
			sum += end - start;
	}
	return sum;
}

/* Rows of one FDE from @pos on: what lies before is another FDE's. */
static void add_rows(const struct image *img, const struct ehf_ctx *ctx, const struct ehf_fde *fde,
		     u64 pos, struct module_cover *cover)
{
	struct ehf_program p;
	struct ehf_span span;

	ehf_program_start(&p, ctx, fde);
	while (ehf_program_step(&p, &span)) {
		u64 start = span.start > pos ? span.start : pos;

		if (!span.stop && start < span.end)
			cover->supported += executable(img, start, span.end);
	}
}

static void add_image(const struct image *img, struct module_cover *cover)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = image_ctx(img, &ehf_limits_walk, &cost);
	struct ehf_fde fde = { 0 };
	struct static_fdes fdes;
	u64 pos = 0;

	cover->exec = executable(img, 0, UINT64_MAX);
	if (!static_fdes_read(&fdes, img, &ctx)) {
		cover->why = "out of memory";
		return;
	}
	for (size_t i = 0; i < fdes.nr; i++) {
		const struct static_fde *f = &fdes.fde[i];

		if (f->stop || f->end <= pos || f->start >= f->end)
			continue;
		if (cost.insns > MAX_INSNS) {
			cover->why = "its CFI is too much to execute";
			break;
		}
		if (pos < f->start)
			pos = f->start;
		cover->fde += executable(img, pos, f->end);
		if (!ehf_fde_parse_with(&ctx, &img->section, f->addr, &fde.cie, &fde))
			add_rows(img, &ctx, &fde, pos, cover);
		pos = f->end;
	}
	static_fdes_free(&fdes);
}

static void read_cover(struct module *m, struct module_cover *cover)
{
	struct image_error err = { 0 };
	struct image *img = NULL;
	int fd;

	cover->why = "its file cannot be used";
	if (!module_usable(m))
		return;
	if (m->memory) {
		image_open_memory(m->memory, (size_t)m->memory_size, m->path, &img, &err);
	} else {
		fd = module_dup_fd(m);
		if (fd >= 0)
			image_open_fd(fd, m->path, &img, &err);
	}
	if (!img)
		return;
	cover->why = NULL;
	add_image(img, cover);
	image_close(img);
}

/**
 * module_cover_read() - find out how much of a module's code has rows
 * @m: the module
 *
 * Limits are those of a walk. A byte that several FDEs cover counts once, for the first of them.
 * The first call reads the whole file once more: not for a hot path.
 *
 * Return: the figures; valid as long as the module.
 */
const struct module_cover *module_cover_read(struct module *m)
{
	if (!m->cover.known)
		read_cover(m, &m->cover);
	m->cover.known = true;
	return &m->cover;
}
