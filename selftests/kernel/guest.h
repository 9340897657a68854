/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the programs that run in the guest share: the device, and what a program knows of its own
 * stack.
 *
 * A function that begins with ENTER() notes its return address and its CFA, one that ends with
 * LEAVE() forgets them. A trace from inside has to have those frames, each at its place.
 */
#ifndef SELFTESTS_KERNEL_GUEST_H
#define SELFTESTS_KERNEL_GUEST_H

#include "selftests/kselftest_harness.h"

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ehframe/stop.h"
#include "harness/kmod/abi.h"

#define ALONE __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

/* What a callee of SP is: the CFA less what the machine's ABI leaves below it. */
#ifdef __s390x__
#define SP_OF(cfa) ((cfa) - 160)
#else
#define SP_OF(cfa) (cfa)
#endif

/* A frame; a CFA of 0 is not known. */
struct truth {
	uintptr_t ra;
	uintptr_t cfa;
};

#define MAX_TRUTH 700
static __thread struct truth truth[MAX_TRUTH];
static __thread int nr_truth;

#define ENTER() do { \
	truth[nr_truth].ra = (uintptr_t)__builtin_return_address(0); \
	truth[nr_truth++].cfa = (uintptr_t)__builtin_dwarf_cfa(); \
} while (0)
/* The barrier keeps a call before it from becoming a jump. */
#define LEAVE() do { nr_truth--; __asm__ volatile("" ::: "memory"); } while (0)

/* A record and room for its entries. */
struct trace {
	struct ehunwind_trace head;
	struct ehunwind_entry entry[510];
};

TH_UNUSED static int dev_open(void)
{
	int fd = open("/dev/ehunwind", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fprintf(stderr, "/dev/ehunwind: %s\n", strerror(errno));
	return fd;
}

TH_UNUSED static int add_object(struct dl_phdr_info *info, size_t size TH_UNUSED, void *arg)
{
	struct ehunwind_image a = {
		.from = EHUNWIND_PHDR_BIAS, .addr = (uintptr_t)info->dlpi_phdr,
		.bias = info->dlpi_addr, .phnum = info->dlpi_phnum,
		.phentsize = sizeof(ElfW(Phdr)),
	};

	if (ioctl(*(int *)arg, EHUNWIND_ADD_IMAGE, &a) && errno != ENOENT)
		fprintf(stderr, "ADD_IMAGE %s: %s, %s\n", info->dlpi_name, strerror(errno),
			ehf_stop_name(a.stop));
	return 0;
}

/* This program, its libraries, and the vDSO where it has CFI. */
TH_UNUSED static void add_all(int fd)
{
	dl_iterate_phdr(add_object, &fd);
}

TH_UNUSED static int start(int fd, uint64_t period_ns, uint32_t flags)
{
	struct ehunwind_start a = { .period_ns = period_ns, .flags = flags };

	return ioctl(fd, EHUNWIND_START, &a);
}

/* EHUNWIND_TRACE without libc between; @ip: where the kernel will say that we are. */
static inline __attribute__((always_inline)) long ask(int fd, uint64_t *cookie, uintptr_t *ip)
{
	long ret;
#if defined(__x86_64__)
	__asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
			 : "=a"(ret), "=&r"(*ip)
			 : "0"((long)SYS_ioctl), "D"((long)fd), "S"((long)EHUNWIND_TRACE), "d"(cookie)
			 : "rcx", "r11", "memory");
#elif defined(__i386__)
	__asm__ volatile("movl $1f, %1\n\tint $0x80\n1:"
			 : "=a"(ret), "=&r"(*ip)
			 : "0"(SYS_ioctl), "b"(fd), "c"(EHUNWIND_TRACE), "d"(cookie)
			 : "memory");
#elif defined(__s390x__)
	register long r2 __asm__("2") = fd;
	register long r3 __asm__("3") = (long)EHUNWIND_TRACE;
	register uint64_t *r4 __asm__("4") = cookie;

	__asm__ volatile("larl %1,1f\n\tsvc %2\n1:"
			 : "+d"(r2), "=&d"(*ip)
			 : "i"(SYS_ioctl), "d"(r3), "d"(r4)
			 : "memory");
	ret = r2;
#else
#error "no system call for this machine"
#endif
	return ret;
}

/* One record into @t. Returns whether there was one. */
TH_UNUSED static bool next_trace(int fd, struct trace *t)
{
	static __thread char buf[1 << 20];
	static __thread ssize_t have, at;
	static __thread int of = -1;
	size_t size;

	if (of != fd || at == have) {
		have = read(fd, buf, sizeof(buf));
		at = 0;
		of = fd;
	}
	if (have <= 0) {
		have = at;
		return false;
	}
	memcpy(&t->head, buf + at, sizeof(t->head));
	size = t->head.nr * sizeof(t->entry[0]);
	memcpy(t->entry, buf + at + sizeof(t->head), size);
	at += (ssize_t)(sizeof(t->head) + size);
	return true;
}

TH_UNUSED static void print_trace(const struct trace *t)
{
	for (uint32_t k = 0; k < t->head.nr; k++)
		fprintf(stderr, "#   %2u ip %#llx sp %#llx via %u flags %u\n", k,
			(unsigned long long)t->entry[k].ip, (unsigned long long)t->entry[k].sp,
			t->entry[k].via, t->entry[k].flags);
	fprintf(stderr, "#   stop %s\n", ehf_stop_name(t->head.stop));
	for (int k = nr_truth; k--;)
		fprintf(stderr, "#   truth: ra %#lx sp %#lx\n", (long)truth[k].ra,
			(long)SP_OF(truth[k].cfa));
}

/* Do the entries from @from on have all that we know, in order? */
TH_UNUSED static bool has_truth(const struct trace *t, uint32_t from, int nr)
{
	for (int k = 0; k < nr; k++) {
		const struct truth *w = &truth[nr_truth - 1 - k];
		uint32_t at = from + (uint32_t)k;

		if (at >= t->head.nr || t->entry[at].ip != w->ra ||
		    (w->cfa && t->entry[at].sp != SP_OF(w->cfa)))
			return false;
	}
	return true;
}

TH_UNUSED static bool is_complete(const struct trace *t)
{
	return ehf_stop_class(t->head.stop) == EHF_CLASS_COMPLETE;
}

/* Ask here and now. The caller's own frame is entry 0; what ENTER() noted follows. */
#define TRACE_HERE(fd, t) do { \
	uint64_t cookie_ = 0; \
	uintptr_t ip_ = 0; \
	ASSERT_EQ(0, ask(fd, &cookie_, &ip_)); \
	ASSERT_TRUE(next_trace(fd, t)); \
	EXPECT_EQ(cookie_, (t)->head.cookie); \
	EXPECT_EQ(ip_, (t)->entry[0].ip); \
	EXPECT_EQ(getpid(), (t)->head.pid); \
	EXPECT_EQ((pid_t)syscall(SYS_gettid), (t)->head.tid); \
	EXPECT_EQ(0, (t)->head.lost); \
} while (0)

#define EXPECT_WHOLE(t) do { \
	EXPECT_TRUE(has_truth(t, 1, nr_truth) && is_complete(t)) { \
		print_trace(t); \
	} \
} while (0)

/* A number from a file of lines "NAME[:] NUMBER"; -1 where it is not there. */
TH_UNUSED static long long number_in(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	char line[200], key[64];
	long long n, found = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^: ]%*[: ]%lld", key, &n) == 2 && !strcmp(key, name))
			found = n;
	if (f)
		fclose(f);
	return found;
}

/* A counter of the module. */
TH_UNUSED static long long count_of(const char *name)
{
	return number_in("/sys/kernel/debug/ehunwind/counts", name);
}

FIXTURE(dev)
{
	int fd;
};

FIXTURE_SETUP(dev)
{
	self->fd = dev_open();
	ASSERT_LE(0, self->fd);
	add_all(self->fd);
}

FIXTURE_TEARDOWN(dev)
{
	close(self->fd);
}

#endif /* SELFTESTS_KERNEL_GUEST_H */
