/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that waits for the next event of a completion queue.
 */
#ifndef SLEEPER_H
#define SLEEPER_H

#include <pthread.h>

#include "aries_test.h"

struct sleeper {
	pthread_t thread;
	int fd;
	uint32_t cq;
	int rc; /* 0 or a positive errno, once it has ended */
};

static inline void *sleeper_wait(void *arg)
{
	struct sleeper *s = arg;
	struct kgni_cq_wait w = { .argsz = sizeof(w),
				  .count = 1,
				  .cqs = (uintptr_t)&s->cq,
				  .timeout_ms = 60000 };

	s->rc = aries_ioctl(s->fd, KGNI_IOC_CQ_WAIT, &w);
	return NULL;
}

/* 0 or a positive errno. The thread may not be asleep yet when this returns. */
static inline int sleeper_begin(struct sleeper *s, int fd, uint32_t cq)
{
	*s = (struct sleeper){ .fd = fd, .cq = cq, .rc = -1 };
	return pthread_create(&s->thread, NULL, sleeper_wait, s);
}

/* What the wait has returned. */
static inline int sleeper_end(struct sleeper *s)
{
	pthread_join(s->thread, NULL);
	return s->rc;
}

#endif /* SLEEPER_H */
