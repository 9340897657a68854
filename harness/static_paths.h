/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The files of a run: named ones, and the ELF files below named directories, each once.
 */
#ifndef HARNESS_STATIC_PATHS_H
#define HARNESS_STATIC_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct static_path - one file
 * @path: as it was named or met
 * @named: on the command line itself: it cannot be skipped without a word
 * @error: errno of what kept a directory from being read, with @path; else 0
 */
struct static_path {
	char *path;
	bool named;
	int error;
};

/**
 * struct static_paths - all of them
 * @file: @nr of them, in the order of the command line, directories sorted
 * @not_elf: files in directories that are no ELF files
 */
struct static_paths {
	struct static_path *file;
	size_t nr;
	size_t room;
	uint64_t not_elf;

	/* for static_paths.c only: files that were met */
	struct static_inode *seen;
	size_t nr_seen;
	size_t seen_room;
};

bool static_paths_add(struct static_paths *p, const char *path);
void static_paths_free(struct static_paths *p);

#endif /* HARNESS_STATIC_PATHS_H */
