/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Pages of files, read on first touch through io_uring: the page cache of the faultable context.
 */
#ifndef HARNESS_PAGER_H
#define HARNESS_PAGER_H

#include "ehframe/base.h"

#include <stddef.h>
#include <sys/stat.h>

#define PAGER_PAGE	4096U

/* Larger files are refused: each page costs 4 bytes of book-keeping and address space. */
#define PAGER_MAX_FILE	(64ULL << 30)

/**
 * struct pager_params - how a pager works; zeros are the defaults
 * @max_pages: pages kept between walks; 0: 32768 (128 MiB). A walk may exceed it, for pages that
 *	it was given pointers to stay until it is over
 * @max_open: files open at one time, of those that are known; 0: 256
 * @force_pread: plain reads even where io_uring works
 */
struct pager_params {
	u32 max_pages;
	u32 max_open;
	bool force_pread;
};

/**
 * struct pager_stats - what a pager has done so far
 * @page_ins: pages read
 * @bytes: bytes of them
 * @evicted: pages given up to stay below the bound
 * @resident: pages held now
 * @peak: the most that were ever held
 * @short_reads: pages of which the file no longer had all bytes: it was truncated. Not here
 * @errors: pages that could not be read for another reason. Not here
 * @first_error: the first such errno value
 * @reopened: files opened again after @max_open made them close
 * @changed: files that were another one when they were opened again. Not here from then on
 */
struct pager_stats {
	u64 page_ins;
	u64 bytes;
	u64 evicted;
	u64 resident;
	u64 peak;
	u64 short_reads;
	u64 errors;
	int first_error;
	u64 reopened;
	u64 changed;
};

struct pager;
struct pager_file;

struct pager *pager_new(const struct pager_params *params);
void pager_free(struct pager *p);
const char *pager_method(const struct pager *p);
const char *pager_why(const struct pager *p);
const struct pager_stats *pager_stats(const struct pager *p);
void pager_walk_begin(struct pager *p);
u64 pager_walk_pages(const struct pager *p);

int pager_open_fd(struct pager *p, int fd, const char *path, struct pager_file **file);
int pager_open_memory(struct pager *p, const void *bytes, u64 size, struct pager_file **file);
void pager_close(struct pager_file *file);
u64 pager_size(const struct pager_file *file);
int pager_dup_fd(struct pager_file *file);
const u8 *pager_direct(struct pager_file *file, u64 pos, u64 len, u64 *avail);
bool pager_read(struct pager_file *file, u64 pos, void *dst, size_t len);

#endif /* HARNESS_PAGER_H */
