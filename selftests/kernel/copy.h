/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A library that is mapped by hand, for programs that take pieces of it away, and traces through it.
 */
#ifndef SELFTESTS_KERNEL_COPY_H
#define SELFTESTS_KERNEL_COPY_H

#include "selftests/kernel/guest.h"

#include <dlfcn.h>

/* A copy of the library PLUG, mapped by hand as ld.so would. */
struct copy {
	char *base;
	size_t size;
	size_t from, to;	/* pages with .eh_frame_hdr and .eh_frame */
	size_t file_off;	/* of those */
	size_t hdr_end;
	long (*plug)(long (*fn)(void *arg), void *arg);
	uint64_t handle;
	uint32_t stop;
	int file;
};

#define PAGE 4096UL
#define DOWN(x) ((x) & ~(PAGE - 1))
#define UP(x) DOWN((x) + PAGE - 1)

TH_UNUSED static bool map_cfi(struct copy *c, int prot)
{
	return mmap(c->base + c->from, c->to - c->from, prot, MAP_PRIVATE | MAP_FIXED, c->file,
		    (off_t)c->file_off) != MAP_FAILED;
}

/* From the file of that name, which has the same bytes. */
static bool load_copy(struct copy *c, const char *path)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph[16];
	void *lib = dlopen(PLUG, RTLD_NOW);
	Dl_info info;
	int k;

	memset(c, 0, sizeof(*c));
	c->file = open(path, O_RDONLY);
	if (!lib || c->file < 0 || !dladdr(dlsym(lib, "plug"), &info) ||
	    pread(c->file, &eh, sizeof(eh), 0) != sizeof(eh) || eh.e_phnum > 16 ||
	    pread(c->file, ph, eh.e_phnum * sizeof(ph[0]), (off_t)eh.e_phoff) < 0)
		return false;
	for (k = 0; k < eh.e_phnum; k++)
		if (ph[k].p_type == PT_LOAD)
			c->size = UP(ph[k].p_vaddr + ph[k].p_memsz);
	c->base = mmap(NULL, c->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (k = 0; k < eh.e_phnum; k++) {
		size_t at = DOWN(ph[k].p_vaddr), end = UP(ph[k].p_vaddr + ph[k].p_filesz);
		int prot = PROT_READ | (ph[k].p_flags & PF_X ? PROT_EXEC : 0);

		if (ph[k].p_type == PT_GNU_EH_FRAME) {
			c->from = at;
			c->hdr_end = ph[k].p_vaddr + ph[k].p_memsz;
		}
		if (ph[k].p_type == PT_LOAD &&
		    mmap(c->base + at, end - at, prot, MAP_PRIVATE | MAP_FIXED, c->file,
			 (off_t)DOWN(ph[k].p_offset)) == MAP_FAILED)
			return false;
	}
	/* The segment that both are in has nothing else that anyone reads. */
	for (k = 0; k < eh.e_phnum; k++) {
		if (ph[k].p_type != PT_LOAD || c->from < DOWN(ph[k].p_vaddr) ||
		    c->from >= ph[k].p_vaddr + ph[k].p_filesz || ph[k].p_flags & PF_X)
			continue;
		c->from = DOWN(ph[k].p_vaddr);
		c->to = UP(ph[k].p_vaddr + ph[k].p_filesz);
		c->file_off = DOWN(ph[k].p_offset);
	}
	c->plug = (long (*)(long (*)(void *), void *))
		  (c->base + ((char *)info.dli_saddr - (char *)info.dli_fbase));
	return c->to != 0;
}

static int add_copy(int fd, struct copy *c)
{
	struct ehunwind_image a = { .addr = (uintptr_t)c->base };
	int ret = ioctl(fd, EHUNWIND_ADD_IMAGE, &a);

	c->handle = a.handle;
	c->stop = a.stop;
	return ret ? -errno : 0;
}

static int dev_fd;
static struct trace last;

static ALONE long from_inside(void *arg TH_UNUSED)
{
	ENTER();
	TRACE_HERE(dev_fd, &last);
	LEAVE();
	return 1;
}

/* A trace through the copy. Entry 1 is in it. */
static ALONE void through(struct copy *c)
{
	ENTER();
	c->plug(from_inside, NULL);
	ASSERT_LE(2, last.head.nr);
	EXPECT_LE((uintptr_t)c->base, last.entry[1].ip);
	EXPECT_GT((uintptr_t)c->base + c->size, last.entry[1].ip);
	LEAVE();
}

/* What is behind it: this function's frame, then what ENTER() knew. */
#define EXPECT_THROUGH(c) do { \
	through(c); \
	nr_truth++; \
	EXPECT_TRUE(has_truth(&last, 3, nr_truth) && is_complete(&last)) { \
		print_trace(&last); \
	} \
	nr_truth--; \
} while (0)

#define EXPECT_CUT(c, why) do { \
	through(c); \
	EXPECT_EQ(2, last.head.nr); \
	EXPECT_EQ(why, last.head.stop) { \
		print_trace(&last); \
	} \
} while (0)

#endif /* SELFTESTS_KERNEL_COPY_H */
