// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Measures each side in processes of its own, in turns, by what the kernel counts for them.
 */
#include "harness/bench_static.h"

#include "harness/bench_child.h"
#include "harness/cli.h"
#include "harness/image.h"
#include "harness/plain_rows.h"
#include "harness/static_run.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is promised; see the man page. */
#define MAX_OURS	1.0	/* of libdw's time */
#define MAX_CHECK	2.0
#define MAX_MEMORY	3.0	/* of libdw's memory */

/* One side's work in a child: how many rows. */
typedef u64 (*side_fn)(struct image *img, const char *path);

struct job {
	side_fn side;
	const char *path;
	u64 *rows;	/* its parent has that, too */
};

struct cost {
	double user;	/* seconds, of all rounds */
	long rss;	/* KiB, the most of any round */
	u64 rows;
};

/* Where the sum of all rows goes: they were read. */
static volatile u64 rows_read;

/* Ours: a pass over the section. */
static u64 our_rows(struct image *img, const char *path)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = image_ctx(img, &ehf_limits_file, &cost);
	u64 sum = 0, rows = plain_rows_read(&ctx, &img->section, &sum);

	(void)path;
	rows_read = sum;
	return rows;
}

/* libdw's: the same FDEs by their starts, each row by its start, four rules each. */
static u64 libdw_rows(struct image *img, const char *path)
{
	const int regs[] = { img->arch->abi.reg_fp, img->arch->abi.reg_ra, img->arch->abi.reg_sp };
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = image_ctx(img, &ehf_limits_file, &cost);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(img->elf);
	struct ehf_fde fde = { 0 };
	u64 rows = 0, addr = img->section.eh_frame;
	struct ehf_record rec = { 0 };

	(void)path;
	if (!cfi)
		_exit(1);
	for (; addr < img->section.eh_frame_end; addr = rec.next) {
		if (ehf_record_head(&ctx, &img->section, addr, &rec) || rec.kind == EHF_RECORD_END)
			break;
		if (rec.kind != EHF_RECORD_FDE ||
		    ehf_fde_parse_with(&ctx, &img->section, addr, &fde.cie, &fde))
			continue;
		for (Dwarf_Addr pc = fde.start, end = 0; pc < fde.range_end; pc = end) {
			Dwarf_Op mem[3], *ops;
			Dwarf_Frame *frame;
			Dwarf_Addr start;
			bool signal;
			size_t nr;

			if (dwarf_cfi_addrframe(cfi, pc, &frame))
				break;
			dwarf_frame_info(frame, &start, &end, &signal);
			dwarf_frame_cfa(frame, &ops, &nr);
			for (size_t k = 0; k < EHF_ARRAY_SIZE(regs); k++)
				dwarf_frame_register(frame, regs[k], mem, &ops, &nr);
			free(frame);
			rows++;
			if (end <= pc)
				break;
		}
	}
	dwarf_cfi_end(cfi);
	return rows;
}

static u64 whole_check(struct image *img, const char *path)
{
	const struct static_options options = { .jobs = 1 };
	char *paths[] = { (char *)(uintptr_t)path };	/* not written to */
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)img;
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || static_run(&options, paths, 1))
		_exit(1);
	return 0;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* In a child. */
static bool run(void *arg)
{
	const struct job *job = arg;
	struct image_error err;
	struct image *img;

	if (image_open(job->path, &img, &err))
		return false;
	*job->rows = job->side(img, job->path);
	return true;
}

static bool measure(side_fn side, const char *path, u64 *rows, struct cost *cost)
{
	struct job job = { side, path, rows };
	struct rusage usage;

	if (!bench_child(run, &job, &usage))
		return false;
	cost->user += seconds(usage.ru_utime);
	if (usage.ru_maxrss > cost->rss)
		cost->rss = usage.ru_maxrss;
	cost->rows = *rows;
	return true;
}

static void print_cost(const char *what, const struct cost *c, unsigned int rounds)
{
	printf("  %-14s %8.3f s user, %6.1f MB", what, c->user / rounds, (double)c->rss / 1024);
	if (c->rows)
		printf(", %" PRIu64 " rows", c->rows);
	printf("\n");
}

/**
 * bench_static() - measure one file and print the figures
 * @path: the file
 * @rounds: times that each side is measured
 *
 * Return: enum cli_status: CLI_STATUS_DIFFERS where a ratio is past its bound, CLI_STATUS_INPUT
 * where the file cannot be used.
 */
int bench_static(const char *path, unsigned int rounds)
{
	struct cost ours = { 0 }, dw = { 0 }, check = { 0 };
	struct image_error err;
	double time, whole, memory;
	struct image *img;
	bool done = true;
	u64 *rows;

	if (image_open(path, &img, &err)) {
		fprintf(stderr, "%s\n", err.text);
		image_close(img);
		return CLI_STATUS_INPUT;
	}
	image_close(img);
	rows = bench_child_room(sizeof(*rows));
	for (unsigned int i = 0; i < rounds && done; i++)
		done = rows && measure(our_rows, path, rows, &ours) &&
		       measure(libdw_rows, path, rows, &dw) &&
		       measure(whole_check, path, rows, &check);
	if (rows)
		munmap(rows, sizeof(*rows));
	if (!done) {
		fprintf(stderr, "%s: cannot be measured\n", path);
		return CLI_STATUS_INPUT;
	}
	printf("%s, mean of %u rounds\n", path, rounds);
	print_cost("ehunwind rows", &ours, rounds);
	print_cost("libdw rows", &dw, rounds);
	print_cost("whole check", &check, rounds);
	if (dw.user <= 0) {
		printf("  too fast to be compared\n");
		return CLI_STATUS_OK;
	}
	time = ours.user / dw.user;
	whole = check.user / dw.user;
	memory = (double)check.rss / (double)dw.rss;
	printf("  ehunwind / libdw %.2f (bound %.0f), check / libdw %.2f (bound %.0f), "
	       "memory %.2f (bound %.0f)\n", time, MAX_OURS, whole, MAX_CHECK, memory, MAX_MEMORY);
	return time < MAX_OURS && whole < MAX_CHECK && memory < MAX_MEMORY ? CLI_STATUS_OK :
									      CLI_STATUS_DIFFERS;
}
