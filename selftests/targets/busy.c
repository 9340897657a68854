// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads that count their work and know what must come out of it: who disturbs them makes the sum
 * wrong. Prints "ready", then "right" or "wrong" at the end.
 *
 * busy ROUNDS [THREADS]	with 0 rounds as many as there is time for until standard input ends
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "target.h"

struct work {
	pthread_t thread;
	uint64_t sum;
	long done;
};

static long rounds;
static int over;

static __attribute__((noinline)) uint64_t mix(uint64_t v, int depth)
{
	if (!depth) {
		for (int k = 0; k < 2000; k++)
			v = (v ^ v >> 29) * 0xbf58476d1ce4e5b9u + (uint64_t)k;
		return v;
	}
	return mix(v + (uint64_t)depth, depth - 1) ^ (uint64_t)depth;
}

static void one(struct work *w)
{
	w->sum = mix(w->sum, (int)(w->done++ % 12));
}

static void *run(void *arg)
{
	struct work *w = arg;

	while (rounds ? w->done < rounds : !__atomic_load_n(&over, __ATOMIC_RELAXED))
		one(w);
	return NULL;
}

/* The same work once more, as far as each thread came. */
static int all_right(const struct work *work, int nr)
{
	struct work again = { .sum = 7 };
	int left = nr;

	for (;;) {
		for (int k = 0; k < nr; k++) {
			if (work[k].done != again.done)
				continue;
			if (work[k].sum != again.sum)
				return 0;
			left--;
		}
		if (!left)
			return 1;
		one(&again);
	}
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 4;
	struct work *work = calloc((size_t)nr, sizeof(*work));
	char c;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	if (!work)
		return 2;
	for (int k = 0; k < nr; k++) {
		work[k].sum = 7;
		if (pthread_create(&work[k].thread, NULL, run, &work[k]))
			return 2;
	}
	puts("ready");
	fflush(stdout);
	while (!rounds && read(STDIN_FILENO, &c, 1) > 0)
		;
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (int k = 0; k < nr; k++)
		pthread_join(work[k].thread, NULL);
	puts(all_right(work, nr) ? "right" : "wrong");
	return 0;
}
