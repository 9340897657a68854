// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory that is not there, or not any more, or not what it was: the part of the trace before it is
 * right, the reason is named, and only what is corrupt or unmapped loses its section.
 */
#include "selftests/kernel/copy.h"

#include <alloca.h>
#include <pthread.h>

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
	ASSERT_TRUE(load_copy(&self->c, PLUG));
	ASSERT_EQ(0, start(self->fd, 0, 0));
}

FIXTURE_TEARDOWN(copy)
{
	close(self->fd);
}

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
