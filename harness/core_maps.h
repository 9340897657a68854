/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a core dump's process had mapped, told as mapping records.
 */
#ifndef HARNESS_CORE_MAPS_H
#define HARNESS_CORE_MAPS_H

#include "harness/core.h"
#include "harness/perf_decode.h"

/**
 * struct core_maps_opts - what is known besides the core
 * @exe: the program; NULL where NT_FILE has to name it
 * @symfs: put before the names of libraries, or NULL
 * @pid: process number in the records
 * @record: gets each; returns 0, or a negative errno value that ends it
 * @note: gets sentences for a person
 * @arg: passed to both
 */
struct core_maps_opts {
	const char *exe;
	const char *symfs;
	u32 pid;
	int (*record)(void *arg, const struct perf_event_rec *rec);
	void (*note)(void *arg, const char *text);
	void *arg;
};

int core_maps_tell(const struct core *core, const struct core_maps_opts *opts);
const char *core_maps_exe(const struct core *core);

#endif /* HARNESS_CORE_MAPS_H */
