// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * File mappings that survive when the file shrinks: a page that is gone reads as zeros and is
 * remembered, instead of ending the program by SIGBUS.
 */
#include "harness/image.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Images that are open at one time; a process has a few hundred mappings. */
#define MAX_MAPS	4096

struct map {
	_Atomic uintptr_t start;	/* 0: free */
	_Atomic uintptr_t end;
	size_t mapped;			/* bytes, with the page behind */
	atomic_bool shrank;
};

static struct map maps[MAX_MAPS];
static _Atomic int nr_maps;		/* entries that were ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;
static long page_size;
static struct sigaction previous;

/* Async-signal-safe: atomics and mmap() only. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	int saved = errno;
	int nr = atomic_load(&nr_maps);

	(void)context;
	for (int i = 0; i < nr; i++) {
		uintptr_t start = atomic_load(&maps[i].start);
		void *page = (void *)(at & ~((uintptr_t)page_size - 1));

		if (!start || at < start || at >= atomic_load(&maps[i].end))
			continue;
		atomic_store(&maps[i].shrank, true);
		if (mmap(page, (size_t)page_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		errno = saved;
		return;
	}
	/* Not ours: what would have happened without us happens when the access is retried. */
	sigaction(sig, &previous, NULL);
	errno = saved;
}

static bool arm(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (armed)
		return true;
	page_size = sysconf(_SC_PAGESIZE);
	sigemptyset(&sa.sa_mask);
	armed = !sigaction(SIGBUS, &sa, &previous);
	return armed;
}

/**
 * image_map() - map a file privately, safe against its shrinking
 * @fd: a regular file
 * @size: bytes to map, above 0
 * @bytes: filled in
 *
 * The first call installs a handler for SIGBUS; a fault outside of such a mapping is passed on
 * to whatever was there before. The pages are writable (libelf may ask for that), and private.
 * Behind the last byte are zeros, a page at least: libraries that look for the end of a string or
 * of a LEB128 number past that of a damaged file find one.
 *
 * Return: a number for image_unmap(), or -1 with errno set.
 */
int image_map(int fd, u64 size, const u8 **bytes)
{
	size_t mapped;
	void *p;
	int i;

	if (size > SIZE_MAX / 2) {
		errno = EFBIG;
		return -1;
	}
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_MAPS; i++) {
		if (!atomic_load(&maps[i].start))
			break;
	}
	if (i == MAX_MAPS || !arm()) {
		pthread_mutex_unlock(&lock);
		errno = i == MAX_MAPS ? EMFILE : errno;
		return -1;
	}
	mapped = (((size_t)size + (size_t)page_size - 1) & ~((size_t)page_size - 1)) +
		 (size_t)page_size;
	p = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p != MAP_FAILED && mmap(p, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
				    fd, 0) == MAP_FAILED) {
		int saved = errno;

		munmap(p, mapped);
		errno = saved;
		p = MAP_FAILED;
	}
	if (p != MAP_FAILED) {
		*bytes = p;
		maps[i].mapped = mapped;
		atomic_store(&maps[i].shrank, false);
		atomic_store(&maps[i].end, (uintptr_t)p + (size_t)size);
		atomic_store(&maps[i].start, (uintptr_t)p);
		if (i >= atomic_load(&nr_maps))
			atomic_store(&nr_maps, i + 1);
	}
	pthread_mutex_unlock(&lock);
	return p == MAP_FAILED ? -1 : i;
}

/**
 * image_unmap() - undo image_map()
 * @guard: what it returned; -1 is allowed and does nothing
 */
void image_unmap(int guard)
{
	uintptr_t start;

	if (guard < 0)
		return;
	pthread_mutex_lock(&lock);
	start = atomic_exchange(&maps[guard].start, 0);
	munmap((void *)start, maps[guard].mapped);
	pthread_mutex_unlock(&lock);
}

/**
 * image_map_shrank() - tell whether pages of a mapping were found to be gone
 * @guard: what image_map() returned, or -1
 *
 * Return: true where zeros were read in place of the file's bytes.
 */
bool image_map_shrank(int guard)
{
	return guard >= 0 && atomic_load(&maps[guard].shrank);
}
