// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Dumps core in a signal handler, while other threads wait at several depths.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3

static pthread_barrier_t barrier;
static volatile int sum;

static __attribute__((noinline)) int waits(int n)
{
	if (n)
		return waits(n - 1) + n;
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return sum;
}

static void *thread(void *arg)
{
	sum += waits((int)(long)arg);
	return NULL;
}

static __attribute__((noinline)) void dies(int n)
{
	volatile char room[64];

	memset((void *)room, n, sizeof(room));
	if (n)
		dies(n - 1);
	else
		abort();
	sum += room[3];
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	dies(sig % 4 + 2);
	sum++;
}

static __attribute__((noinline)) int raises(void)
{
	raise(SIGUSR1);
	return sum;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (long k = 0; k < THREADS; k++)
		pthread_create(&t, NULL, thread, (void *)(k + 2));
	pthread_barrier_wait(&barrier);
	usleep(20000);
	return raises();
}
