// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads that work for a set amount, not for a set time, and know what must come out: who
 * disturbs them makes the sum wrong. Prints "ready", then "right" or "wrong" at the end.
 *
 * busy ROUNDS [THREADS]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "target.h"

static long rounds;

static __attribute__((noinline)) uint64_t mix(uint64_t v, int depth)
{
	if (!depth) {
		for (int k = 0; k < 2000; k++)
			v = (v ^ v >> 29) * 0xbf58476d1ce4e5b9u + (uint64_t)k;
		return v;
	}
	return mix(v + (uint64_t)depth, depth - 1) ^ (uint64_t)depth;
}

static void *run(void *arg)
{
	uint64_t *v = arg;

	for (long k = 0; k < rounds; k++)
		*v = mix(*v, (int)(k % 12));
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t *thread = calloc((size_t)nr, sizeof(*thread));
	uint64_t *sum = calloc((size_t)nr, sizeof(*sum)), want = 7;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	if (!thread || !sum)
		return 2;
	puts("ready");
	fflush(stdout);
	for (int k = 0; k < nr; k++) {
		sum[k] = 7;
		if (pthread_create(&thread[k], NULL, run, &sum[k]))
			return 2;
	}
	for (int k = 0; k < nr; k++)
		pthread_join(thread[k], NULL);
	run(&want);
	for (int k = 0; k < nr; k++) {
		if (sum[k] != want) {
			puts("wrong");
			return 1;
		}
	}
	puts("right");
	return 0;
}
