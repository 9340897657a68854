// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that is not there, or not any more, or not what it was: the part of the trace before it is
 * right, the reason is named, and only what is corrupt or unmapped loses its section.
 */
#include "selftests/kernel/guest.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

/* A copy of the library, mapped by hand as ld.so would. */
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

static bool map_cfi(struct copy *c, int prot)
{
	return mmap(c->base + c->from, c->to - c->from, prot, MAP_PRIVATE | MAP_FIXED, c->file,
		    (off_t)c->file_off) != MAP_FAILED;
}

static bool load_copy(struct copy *c)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph[16];
	void *lib = dlopen(PLUG, RTLD_NOW);
	Dl_info info;
	int k;

	memset(c, 0, sizeof(*c));
	c->file = open(PLUG, O_RDONLY);
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

FIXTURE(copy)
{
	int fd;
	struct copy c;
};

FIXTURE_SETUP(copy)
{
	self->fd = dev_open();
	ASSERT_LE(0, self->fd);
	add_all(self->fd);
	ASSERT_TRUE(load_copy(&self->c));
	ASSERT_EQ(0, start(self->fd, 0, 0));
}

FIXTURE_TEARDOWN(copy)
{
	close(self->fd);
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

TEST_F(copy, found_removed_found)
{
	struct copy *c = &self->c;
	uint64_t none = 0;

	dev_fd = self->fd;
	ENTER();
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	ASSERT_EQ(0, add_copy(self->fd, c));
	EXPECT_THROUGH(c);
	EXPECT_EQ(-EEXIST, add_copy(self->fd, c));
	EXPECT_EQ(-1, ioctl(self->fd, EHUNWIND_REMOVE, &none));
	EXPECT_EQ(ENOENT, errno);
	LEAVE();
}

TEST_F(copy, handle_removes)
{
	struct copy *c = &self->c;

	dev_fd = self->fd;
	ENTER();
	for (int k = 0; k < 3; k++) {
		ASSERT_EQ(0, add_copy(self->fd, c));
		EXPECT_THROUGH(c);
		ASSERT_EQ(0, ioctl(self->fd, EHUNWIND_REMOVE, &c->handle));
		EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
		EXPECT_EQ(-1, ioctl(self->fd, EHUNWIND_REMOVE, &c->handle));
		EXPECT_EQ(ENOENT, errno);
	}
	LEAVE();
}

/* munmap() and mmap() over it both take the section away, and other bytes at its place do not count. */
TEST_F(copy, unmapped_section_is_gone)
{
	struct copy *c = &self->c;
	long long unmapped = count_of("unmapped");

	dev_fd = self->fd;
	ENTER();
	ASSERT_EQ(0, add_copy(self->fd, c));
	EXPECT_THROUGH(c);
	ASSERT_EQ(0, munmap(c->base + c->from, c->to - c->from));
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	EXPECT_EQ(unmapped + 1, count_of("unmapped"));
	ASSERT_TRUE(map_cfi(c, PROT_READ));
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	ASSERT_EQ(0, add_copy(self->fd, c));
	EXPECT_THROUGH(c);
	ASSERT_TRUE(map_cfi(c, PROT_READ));
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	ASSERT_EQ(0, add_copy(self->fd, c));
	/* What is moved away is gone, too. */
	ASSERT_NE(MAP_FAILED, mremap(c->base + c->from, c->to - c->from, c->to - c->from,
				     MREMAP_MAYMOVE | MREMAP_FIXED,
				     c->base + c->from + (64UL << 20)));
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	LEAVE();
}

/* A fault on the section's bytes ends the trace and keeps the section. */
TEST_F(copy, mprotected_section_stays)
{
	struct copy *c = &self->c;

	dev_fd = self->fd;
	ENTER();
	ASSERT_EQ(0, add_copy(self->fd, c));
	ASSERT_EQ(0, mprotect(c->base + c->from, c->to - c->from, PROT_NONE));
	EXPECT_CUT(c, EHF_STOP_SECTION_MEMORY);
	EXPECT_LT(0, last.head.faults);
	ASSERT_EQ(0, mprotect(c->base + c->from, c->to - c->from, PROT_READ));
	EXPECT_THROUGH(c);
	EXPECT_EQ(0, last.head.faults);
	LEAVE();
}

/* Pages that are not in memory: a walk that may fault brings them in, one that may not says so. */
TEST_F(copy, pages_are_brought_in)
{
	struct copy *c = &self->c;

	dev_fd = self->fd;
	ENTER();
	ASSERT_EQ(0, add_copy(self->fd, c));
	ASSERT_EQ(0, madvise(c->base + c->from, c->to - c->from, MADV_DONTNEED));
	EXPECT_THROUGH(c);
	ASSERT_EQ(0, ioctl(self->fd, EHUNWIND_STOP));
	ASSERT_EQ(0, start(self->fd, 0, EHUNWIND_NOFAULT));
	EXPECT_THROUGH(c);	/* in memory, or cached */
	/* Registered anew: nothing of it is cached. */
	ASSERT_EQ(0, ioctl(self->fd, EHUNWIND_REMOVE, &c->handle));
	ASSERT_EQ(0, add_copy(self->fd, c));
	ASSERT_EQ(0, madvise(c->base + c->from, c->to - c->from, MADV_DONTNEED));
	EXPECT_CUT(c, EHF_STOP_SECTION_MEMORY);
	EXPECT_EQ(1, last.head.faults);
	LEAVE();
}

/* Only a section that is corrupt is taken away, and only once. */
TEST_F(copy, corrupt_section_is_removed)
{
	struct copy *c = &self->c;
	long long corrupt = count_of("corrupt");
	size_t size = c->to - c->from;

	dev_fd = self->fd;
	ENTER();
	ASSERT_EQ(0, add_copy(self->fd, c));
	ASSERT_EQ(0, mprotect(c->base + c->from, size, PROT_READ | PROT_WRITE));
	memset(c->base + c->hdr_end, 0xff, c->to - c->hdr_end);
	through(c);
	EXPECT_EQ(2, last.head.nr);
	EXPECT_EQ(EHF_CLASS_CORRUPT, ehf_stop_class(last.head.stop));
	EXPECT_EQ(corrupt + 1, count_of("corrupt"));
	EXPECT_CUT(c, EHF_STOP_PC_NOT_IN_MODULE);
	EXPECT_EQ(corrupt + 1, count_of("corrupt"));
	memset(c->base + c->from, 0xff, size);
	EXPECT_EQ(-EINVAL, add_copy(self->fd, c));
	EXPECT_EQ(EHF_STOP_BAD_HEADER, c->stop);
	LEAVE();
}

/* Another thread takes the section away and brings it back all the time. */
static volatile int stop_thread;

static void *unmapper(void *arg)
{
	struct copy *c = arg;

	for (unsigned int k = 0; !stop_thread; k++) {
		if (munmap(c->base + c->from, c->to - c->from) || !map_cfi(c, PROT_READ))
			return (void *)1;
		add_copy(dev_fd, c);
		if (k & 1)	/* time for a walk or two */
			usleep(500);
	}
	return NULL;
}

TEST_F_TIMEOUT(copy, unmapped_during_walks, 60)
{
	struct copy *c = &self->c;
	int whole = 0, cut = 0, other = 0;
	pthread_t thread;
	void *ret;

	dev_fd = self->fd;
	ENTER();
	ASSERT_EQ(0, pthread_create(&thread, NULL, unmapper, c));
	for (int k = 0; k < 3000 || (k < 50000 && (!whole || !cut)); k++) {
		through(c);
		nr_truth++;
		if (has_truth(&last, 3, nr_truth) && is_complete(&last))
			whole++;
		else if (last.head.nr == 2 && (last.head.stop == EHF_STOP_PC_NOT_IN_MODULE ||
					       last.head.stop == EHF_STOP_SECTION_MEMORY))
			cut++;
		else if (!other++)
			print_trace(&last);
		nr_truth--;
	}
	stop_thread = 1;
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_NULL(ret);
	EXPECT_EQ(0, other);
	EXPECT_LT(0, whole);
	EXPECT_LT(0, cut);
	TH_LOG("%d whole, %d cut", whole, cut);
	LEAVE();
}

/* Its frames are pages away from its caller's. */
static ALONE void far_away(void (*fn)(void))
{
	char *p;

	ENTER();
	p = alloca(4 * PAGE);
	memset(p, 0, 4 * PAGE);	/* no guard page is skipped */
	__asm__ volatile("" :: "r"(p) : "memory");
	fn();
	LEAVE();
}

static uintptr_t hidden;

/* The page with far_away()'s return address goes, for the time of one trace. */
static ALONE void with_hidden_page(void)
{
	ENTER();
	hidden = DOWN(truth[nr_truth - 2].cfa - sizeof(long));
	TRACE_HERE(dev_fd, &last);
	EXPECT_WHOLE(&last);
	if (!mprotect((void *)hidden, PAGE, PROT_NONE)) {
		uint64_t cookie;
		uintptr_t ip;
		long ret = ask(dev_fd, &cookie, &ip);

		mprotect((void *)hidden, PAGE, PROT_READ | PROT_WRITE);
		EXPECT_EQ(0, ret);
		ASSERT_TRUE(next_trace(dev_fd, &last));
		EXPECT_EQ(EHF_STOP_MEMORY, last.head.stop);
		EXPECT_EQ(2, last.head.nr) {
			print_trace(&last);
		}
		EXPECT_TRUE(has_truth(&last, 1, 1));
		EXPECT_EQ(1, last.head.faults);
	} else {
		EXPECT_EQ(0, errno);
	}
	TRACE_HERE(dev_fd, &last);
	EXPECT_WHOLE(&last);
	LEAVE();
}

TEST_F(copy, unreadable_stack_page)
{
	dev_fd = self->fd;
	ENTER();
	far_away(with_hidden_page);
	LEAVE();
}

TEST_HARNESS_MAIN
