// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Threads that come and go, each with a stack of its own.
 */
#include <pthread.h>

#include "target.h"

static __attribute__((noinline)) void down(long depth)
{
	volatile long d = depth;

	if (d)
		down(d - 1);
	else
		target_spin(200000);
	target_sum += (unsigned long)d;
}

static void *run(void *arg)
{
	for (long k = 0; k < 20; k++)
		down((long)arg * 5 + k % 7);
	return NULL;
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);
	pthread_t thread[4];

	while (target_ms() < until) {
		for (long k = 0; k < 4; k++)
			if (pthread_create(&thread[k], NULL, run, (void *)k))
				return 1;
		for (int k = 0; k < 4; k++)
			pthread_join(thread[k], NULL);
	}
	return 0;
}
