// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Wrong arguments of every kind: an error code, and nothing registered.
 */
#include "selftests/kernel/guest.h"

#define KERNEL_ADDRESS 0xffffffff81000000ULL

static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static const unsigned long with_pointer[] = {
	EHUNWIND_ADD, EHUNWIND_ADD_IMAGE, EHUNWIND_REMOVE, EHUNWIND_START,
};

/* A private copy of an image that can be registered, once. */
FIXTURE(args)
{
	int fd;
	struct ehunwind_text text[17];
	struct ehunwind_section s;
	struct ehunwind_image im;
};

static int find_main(struct dl_phdr_info *info, size_t size TH_UNUSED, void *arg)
{
	struct ehunwind_section *s = arg;

	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[k];
		struct ehunwind_text *t = (struct ehunwind_text *)(uintptr_t)s->texts;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			t->start = info->dlpi_addr + p->p_vaddr;
			t->end = t->start + p->p_memsz;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			s->hdr = info->dlpi_addr + p->p_vaddr;
			s->hdr_end = s->hdr + p->p_memsz;
		}
	}
	return 1;
}

FIXTURE_SETUP(args)
{
	self->fd = dev_open();
	ASSERT_LE(0, self->fd);
	self->s.nr_texts = 1;
	self->s.texts = (uintptr_t)self->text;
	dl_iterate_phdr(find_main, &self->s);
	self->im = (struct ehunwind_image){
		.from = EHUNWIND_EHDR,
		.addr = (getauxval(AT_PHDR) & ~4095UL),
	};
}

/* Nothing of what a test tried is there. */
FIXTURE_TEARDOWN(args)
{
	EXPECT_EQ(0, call(self->fd, EHUNWIND_ADD, &self->s));
	close(self->fd);
}

TEST_F(args, pointers)
{
	long page = sysconf(_SC_PAGESIZE);
	char *edge = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, munmap(edge + page, (size_t)page));
	for (size_t k = 0; k < sizeof(with_pointer) / sizeof(with_pointer[0]); k++) {
		unsigned long cmd = with_pointer[k];

		EXPECT_EQ(-EFAULT, call(self->fd, cmd, NULL));
		EXPECT_EQ(-EFAULT, call(self->fd, cmd, (void *)1));
		EXPECT_EQ(-EFAULT, call(self->fd, cmd, (void *)-1L));
		EXPECT_EQ(-EFAULT, call(self->fd, cmd, (void *)-4096L));
		EXPECT_EQ(-EFAULT, call(self->fd, cmd, (void *)(uintptr_t)KERNEL_ADDRESS));
		/* Half of it is there. */
		EXPECT_EQ(-EFAULT, call(self->fd, cmd, edge + page - 4));
	}
	EXPECT_EQ(-ENOTTY, call(self->fd, 0, NULL));
	EXPECT_EQ(-ENOTTY, call(self->fd, EHUNWIND_TRACE + 1, NULL));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IOWR('u', 1, char), &self->s));
}

/* A result that cannot be written: no section stays whose handle nobody has. */
TEST_F(args, result_cannot_be_written)
{
	long page = sysconf(_SC_PAGESIZE);
	struct ehunwind_section *s = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*s = self->s;
	ASSERT_EQ(0, mprotect(s, (size_t)page, PROT_READ));
	EXPECT_EQ(-EFAULT, call(self->fd, EHUNWIND_ADD, s));
	ASSERT_EQ(0, start(self->fd, 0, 0));
	EXPECT_EQ(-EFAULT, call(self->fd, EHUNWIND_TRACE, s));
	EXPECT_EQ(-EFAULT, call(self->fd, EHUNWIND_TRACE, NULL));
	EXPECT_EQ(-EFAULT, call(self->fd, EHUNWIND_TRACE, (void *)(uintptr_t)KERNEL_ADDRESS));
	ASSERT_EQ(0, call(self->fd, EHUNWIND_STOP, NULL));
}

TEST_F(args, unaligned)
{
	char room[sizeof(self->s) + 8];

	for (int off = 1; off < 8; off++) {
		struct ehunwind_section out;
		uint64_t handle;

		memcpy(room + off, &self->s, sizeof(self->s));
		ASSERT_EQ(0, call(self->fd, EHUNWIND_ADD, room + off));
		memcpy(&out, room + off, sizeof(out));
		handle = out.handle;
		memcpy(room + off, &handle, sizeof(handle));
		EXPECT_EQ(0, call(self->fd, EHUNWIND_REMOVE, room + off));
	}
	self->s.hdr++;
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_ADD, &self->s));
	self->s.hdr--;
	self->s.stop = 0;
}

TEST_F(args, section)
{
	const struct ehunwind_section good = self->s;
	const struct ehunwind_text text = self->text[0];
	struct ehunwind_section *s = &self->s;
	struct ehunwind_text *t = self->text;
	uint64_t handle;
	int nr = 0;

#define REFUSED(want, ...) do { \
	__VA_ARGS__; \
	EXPECT_EQ(want, call(self->fd, EHUNWIND_ADD, s)) { \
		TH_LOG("%s", #__VA_ARGS__); \
	} \
	*s = good; \
	t[0] = text; \
	nr++; \
} while (0)
	REFUSED(-EINVAL, s->flags = 0x80000000);
	REFUSED(-EINVAL, s->pad = 1);
	REFUSED(-EINVAL, s->handle = 1);
	REFUSED(-EINVAL, s->nr_texts = 0);
	REFUSED(-EINVAL, s->nr_texts = 17);
	REFUSED(-EINVAL, s->nr_texts = 0x10000000);
	REFUSED(-EINVAL, s->nr_texts = ~0U);
	REFUSED(-EFAULT, s->texts = 0);
	REFUSED(-EFAULT, s->texts = KERNEL_ADDRESS);
	REFUSED(-EFAULT, s->texts = ~0ULL - 7);
	REFUSED(-EINVAL, t[0].end = t[0].start);
	REFUSED(-EINVAL, t[0].end = t[0].start - 1);
	REFUSED(-EINVAL, s->nr_texts = 2, t[1] = t[0]);
	REFUSED(-EINVAL, s->hdr = 0);
	REFUSED(-EINVAL, s->hdr_end = s->hdr);
	REFUSED(-EINVAL, s->hdr_end = s->hdr + (1ULL << 31));
	REFUSED(-EINVAL, s->eh_frame = 1, s->eh_frame_end = 2);
	REFUSED(-ERANGE, t[0].end += 1ULL << 24);
	if (sizeof(void *) == 8) {
		REFUSED(-EFAULT, s->hdr = KERNEL_ADDRESS, s->hdr_end = 0);
		REFUSED(-EFAULT, t[0].start = KERNEL_ADDRESS, t[0].end = KERNEL_ADDRESS + 4096);
		REFUSED(-EFAULT, t[0].start = ~0ULL - 1, t[0].end = ~0ULL);
		REFUSED(-EFAULT, s->hdr = ~0ULL - 1, s->hdr_end = ~0ULL);
		REFUSED(-EINVAL, s->eh_frame = KERNEL_ADDRESS);	/* not what the header says */
	} else {
		REFUSED(-EINVAL, s->hdr = KERNEL_ADDRESS, s->hdr_end = 0);
		REFUSED(-EINVAL, t[0].start = KERNEL_ADDRESS, t[0].end = KERNEL_ADDRESS + 4096);
		REFUSED(-EINVAL, s->eh_frame = 1ULL << 32);
		REFUSED(-EFAULT, t[0].start = 0xffffe000, t[0].end = 0xfffff000);
	}
	REFUSED(-EPERM, t[0].start = (uintptr_t)&self->s, t[0].end = t[0].start + 1);
#undef REFUSED
	/* Twice, and overlapping. */
	EXPECT_EQ(0, call(self->fd, EHUNWIND_ADD, s));
	handle = s->handle;
	*s = good;
	EXPECT_EQ(-EEXIST, call(self->fd, EHUNWIND_ADD, s));
	*s = good;
	t[0].start++;
	EXPECT_EQ(-EEXIST, call(self->fd, EHUNWIND_ADD, s));
	*s = good;
	t[0] = text;
	EXPECT_EQ(0, call(self->fd, EHUNWIND_REMOVE, &handle));
	TH_LOG("%d arguments refused", nr);
}

TEST_F(args, image)
{
	const struct ehunwind_image good = self->im;
	struct ehunwind_image *a = &self->im;
	int nr = 0;

#define REFUSED(want, ...) do { \
	__VA_ARGS__; \
	EXPECT_EQ(want, call(self->fd, EHUNWIND_ADD_IMAGE, a)) { \
		TH_LOG("%s", #__VA_ARGS__); \
	} \
	*a = good; \
	nr++; \
} while (0)
	REFUSED(-EINVAL, a->from = 3);
	REFUSED(-EINVAL, a->from = ~0U);
	REFUSED(-EINVAL, a->pad = 1);
	REFUSED(-EINVAL, a->flags = 1);
	REFUSED(-EINVAL, a->bias = 1);
	REFUSED(-EINVAL, a->phnum = 1);
	REFUSED(-EFAULT, a->addr = 0);
	REFUSED(-EINVAL, a->addr += 1);
	REFUSED(-EINVAL, a->addr = ~0ULL);
	REFUSED(sizeof(void *) == 8 ? -EFAULT : -EINVAL, a->addr = KERNEL_ADDRESS);
	REFUSED(-EINVAL, a->from = EHUNWIND_PHDR);
	REFUSED(-ERANGE, a->from = EHUNWIND_PHDR, a->phnum = ~0U, a->phentsize = sizeof(ElfW(Phdr)));
	REFUSED(-EINVAL, a->from = EHUNWIND_PHDR, a->phnum = 4, a->phentsize = ~0U);
	REFUSED(-EFAULT, a->from = EHUNWIND_PHDR, a->phnum = 4, a->phentsize = sizeof(ElfW(Phdr)),
		a->addr = 16);
#undef REFUSED
	TH_LOG("%d arguments refused", nr);
}

TEST_F(args, starting)
{
	struct ehunwind_start a = { 0 };
	uint64_t cookie;

	EXPECT_EQ(-ENOENT, call(self->fd, EHUNWIND_STOP, NULL));
	EXPECT_EQ(-ENOENT, call(self->fd, EHUNWIND_TRACE, &cookie));
	a.pad = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_START, &a));
	a = (struct ehunwind_start){ .flags = 2 };
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_START, &a));
	a = (struct ehunwind_start){ .period_ns = EHUNWIND_MIN_PERIOD - 1 };
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_START, &a));
	a.period_ns = EHUNWIND_MAX_PERIOD + 1;
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_START, &a));
	a.period_ns = ~0ULL;
	EXPECT_EQ(-EINVAL, call(self->fd, EHUNWIND_START, &a));
	a.period_ns = 1000000;
	EXPECT_EQ(0, call(self->fd, EHUNWIND_START, &a));
	EXPECT_EQ(-EBUSY, call(self->fd, EHUNWIND_START, &a));
	EXPECT_EQ(0, call(self->fd, EHUNWIND_STOP, NULL));
	EXPECT_EQ(-ENOENT, call(self->fd, EHUNWIND_STOP, NULL));
}

TEST_F(args, reading)
{
	static char buf[1 << 16];
	char *volatile nowhere = NULL;
	uint64_t cookie;
	ssize_t size;

	EXPECT_EQ(0, read(self->fd, buf, sizeof(buf)));
	ASSERT_EQ(0, start(self->fd, 0, 0));
	ASSERT_EQ(0, call(self->fd, EHUNWIND_TRACE, &cookie));
	ASSERT_EQ(0, call(self->fd, EHUNWIND_TRACE, &cookie));
	EXPECT_EQ(-1, read(self->fd, buf, 0));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(-1, read(self->fd, buf, 8));
	EXPECT_EQ(EMSGSIZE, errno);
	EXPECT_EQ(-1, read(self->fd, nowhere, sizeof(buf)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(self->fd, (void *)(uintptr_t)KERNEL_ADDRESS, sizeof(buf)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, write(self->fd, buf, 1));
	/* What could not be copied is still there, and in order. */
	size = read(self->fd, buf, sizeof(buf));
	ASSERT_EQ(2 * (sizeof(struct ehunwind_trace) + sizeof(struct ehunwind_entry)), size);
	EXPECT_EQ(0, read(self->fd, buf, sizeof(buf)));
	ASSERT_EQ(0, call(self->fd, EHUNWIND_STOP, NULL));
}

TEST_HARNESS_MAIN
