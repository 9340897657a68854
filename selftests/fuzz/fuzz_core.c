// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Fuzzer: any bytes as a core dump of any machine, walked without sections and told as mappings. */

#include "harness/core_maps.h"
#include "unwind/walk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_record(void *arg, const struct perf_event_rec *rec)
{
	size_t *names = arg;

	if (rec->mmap.build_id_size > sizeof(rec->mmap.build_id))
		abort();
	*names += strlen(rec->mmap.name);
	return 0;
}

static void on_note(void *arg, const char *text)
{
	*(size_t *)arg += strlen(text);
}

static const struct ehf_section *no_section(const struct ehu_sections *sections, u64 ip)
{
	(void)sections, (void)ip;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ehu_sections none = { .find = no_section };
	struct ehu_entry entry[64];
	struct ehu_trace trace = { .entry = entry, .max = 64 };
	size_t chars = 0;
	const struct core_maps_opts opts = { .record = on_record, .note = on_note, .arg = &chars };
	char why[256] = "";
	struct core *core = core_open_memory(data, size, why, sizeof(why));

	if (!core) {
		if (!why[0])
			abort();	/* no refusal without a word */
		return 0;
	}
	for (u32 k = 0; k < core->nr_threads && k < 16; k++) {
		const struct ehu_unwind u = {
			.arch = core->arch, .mem = &core->mem, .sections = &none,
			.limits = &ehf_limits_walk, .ra_mask = core->thread[k].ra_mask,
			.methods = EHU_METHOD_FP,
		};

		ehu_walk(&u, &core->thread[k].regs, &trace);
		if (trace.nr > trace.max || !trace.stop)
			abort();
	}
	core_maps_exe(core);
	core_maps_tell(core, &opts);
	core_close(core);
	return 0;
}
