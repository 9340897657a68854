// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fuzzer: any bytes as an ELF file, with all that the static check asks of it but the oracles; and
 * its rows the short way.
 */

#include "harness/image.h"
#include "harness/static_fdes.h"
#include "ehframe/program.h"
#include "selftests/lib/plain_check.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct static_fdes *fdes, const struct ehf_ctx *ctx,
		 const struct ehf_section *s)
{
	for (size_t i = 0; i < fdes->nr; i++) {
		struct ehf_program p;
		struct ehf_row row;
		struct ehf_fde fde;
		u64 end;

		if (ehf_fde_parse(ctx, s, fdes->fde[i].addr, &fde))
			continue;
		end = fde.start;
		ehf_program_start(&p, ctx, &fde);
		while (ehf_program_next(&p, &row)) {
			if (row.start != end || row.end <= row.start || row.end > fde.range_end)
				abort();	/* rows have no gaps, are not empty, do not overlap */
			end = row.end;
		}
		if (end != fde.range_end)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_error err = { .status = IMAGE_OK };
	struct ehf_cost cost = { 0 };
	struct static_fdes fdes;
	struct image *img;
	u64 addr, len;

	if (image_open_memory(data, size, "input", &img, &err) && !err.text[0])
		abort();	/* no refusal without a word */
	if (!img)
		return 0;
	image_symbol_at(img, img->section.text_start);
	image_symbol_named(img, "main");
	image_section_named(img, ".text", &addr, &len);
	if (img->section.eh_frame < img->section.eh_frame_end) {
		struct ehf_ctx ctx = image_ctx(img, &ehf_limits_walk, &cost);
		struct plain_check plain;

		if (static_fdes_read(&fdes, img, &ctx))
			walk(&fdes, &ctx, &img->section);
		static_fdes_free(&fdes);
		plain_check_init(&plain, &ctx, &img->section);
		plain_check_section(&plain);
	}
	image_close(img);
	return 0;
}
