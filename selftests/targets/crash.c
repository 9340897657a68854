// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Dumps core in a signal handler, while other threads wait at several depths.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3

static volatile int sum;
static int ready;

static __attribute__((noinline)) int waits(int n)
{
	if (n)
		return waits(n - 1) + n;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
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

/* How many of the process's threads do not sleep. */
static int running(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int nr = 0;

	while (dir && (entry = readdir(dir))) {
		char path[300], line[300] = "", *state;
		FILE *f;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		f = fopen(path, "r");
		if (f && fgets(line, sizeof(line), f) && (state = strrchr(line, ')')))
			nr += state[1] == ' ' && state[2] != 'S';
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return nr;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	for (long k = 0; k < THREADS; k++)
		pthread_create(&t, NULL, thread, (void *)(k + 2));
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS || running() > 1)
		usleep(1000);
	return raises();
}
