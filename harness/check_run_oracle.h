/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libdw sessions by address space: one for each epoch of a process's maps, the latest ones kept.
 */
#ifndef HARNESS_CHECK_RUN_ORACLE_H
#define HARNESS_CHECK_RUN_ORACLE_H

#include "harness/oracle_frames.h"
#include "harness/task.h"

struct check_run_oracle;

/**
 * struct check_run_oracle_stats - what the sessions took
 * @sessions: begun
 * @modules: reported to libdw
 * @refused: of those, modules that it would not take
 * @refused_why: the first of them, and its word
 */
struct check_run_oracle_stats {
	u64 sessions;
	u64 modules;
	u64 refused;
	char refused_why[256];
};

struct check_run_oracle *check_run_oracle_new(struct debuginfo *di);
void check_run_oracle_free(struct check_run_oracle *pool);
struct oracle_frames *check_run_oracle_get(struct check_run_oracle *pool,
					   const struct task_maps *maps);
bool check_run_oracle_refused(const struct check_run_oracle *pool, const struct task_maps *maps,
			      const struct module_place *place);
const struct check_run_oracle_stats *check_run_oracle_stats(const struct check_run_oracle *pool);

#endif /* HARNESS_CHECK_RUN_ORACLE_H */
