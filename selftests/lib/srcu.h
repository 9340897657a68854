/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reader sections and grace periods for tests with threads: what a kernel has as SRCU. Entering
 * and leaving are one atomic addition each, so that signal handlers may do it.
 */
#ifndef SELFTESTS_LIB_SRCU_H
#define SELFTESTS_LIB_SRCU_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#define SRCU_THREADS	32

struct srcu {
	pthread_mutex_t lock;
	unsigned int phase;
	struct {
		unsigned int readers[2];
		char pad[56];
	} thread[SRCU_THREADS];
};

#define SRCU_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

static inline uint32_t srcu_enter(struct srcu *s, int thread)
{
	uint32_t phase = __atomic_load_n(&s->phase, __ATOMIC_SEQ_CST) & 1;

	__atomic_add_fetch(&s->thread[thread].readers[phase], 1, __ATOMIC_SEQ_CST);
	return phase;
}

static inline void srcu_leave(struct srcu *s, int thread, uint32_t phase)
{
	__atomic_sub_fetch(&s->thread[thread].readers[phase], 1, __ATOMIC_SEQ_CST);
}

/*
 * Waits for all who are inside. Twice, for a reader may read the phase before the first flip and
 * count itself in after the wait for that phase.
 */
static inline void srcu_synchronize(struct srcu *s)
{
	pthread_mutex_lock(&s->lock);
	for (int flip = 0; flip < 2; flip++) {
		unsigned int old = __atomic_fetch_add(&s->phase, 1, __ATOMIC_SEQ_CST) & 1;

		for (int t = 0; t < SRCU_THREADS; t++)
			while (__atomic_load_n(&s->thread[t].readers[old], __ATOMIC_SEQ_CST))
				sched_yield();
	}
	pthread_mutex_unlock(&s->lock);
}

#endif /* SELFTESTS_LIB_SRCU_H */
