/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whatever might crash or hang runs in a child with a time limit. And threads that wait in one of
 * the calls of libugni that sleep.
 */
#ifndef ARIES_CHILD_H
#define ARIES_CHILD_H

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ugni_test.h"

#define FOREVER (~0ull)
#define LIMIT 90
#define PATIENCE (12 * LIMIT) /* of the harness, where the child takes steps */
#define FORK_NOCOPY GNI_CDM_MODE_FORK_NOCOPY
#define FORK_FULLCOPY GNI_CDM_MODE_FORK_FULLCOPY
#define FORK_PARTCOPY GNI_CDM_MODE_FORK_PARTCOPY

#define STUCK 3000

/* Steps that children have taken; shared with them. */
static volatile unsigned long *child_steps;

/* A child gets on: a machine that is slow makes its steps long, not their number. */
static inline void child_step(void)
{
	if (child_steps)
		__atomic_add_fetch(child_steps, 1, __ATOMIC_RELAXED);
}

/*
 * Runs @body in a child: its exit code, 1000 and the signal that ended it, or STUCK when it has not
 * taken a step for LIMIT seconds.
 */
static inline int in_child(int (*body)(void *), void *argument)
{
	time_t end = time(NULL) + LIMIT;
	unsigned long steps = 0;
	int status = 0;
	pid_t pid;

	if (!child_steps)
		child_steps = mmap(NULL, sizeof(*child_steps), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if ((void *)child_steps == MAP_FAILED)
		return 2000;
	pid = fork();
	if (pid < 0)
		return 2000;
	if (!pid)
		_exit(body(argument));
	while (!waitpid(pid, &status, WNOHANG)) {
		if (steps != *child_steps) {
			steps = *child_steps;
			end = time(NULL) + LIMIT;
		}
		if (time(NULL) > end) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return STUCK;
		}
		usleep(2000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A put of 8 bytes arrives; 0 if so. */
static inline int put_works(struct ugni_self *u, uint64_t value)
{
	gni_post_descriptor_t d = ugni_desc(u, GNI_POST_FMA_PUT, 0, 64, 8);

	memcpy(u->data, &value, 8);
	memset(u->data + 64, 0, 8);
	return ugni_fma(u, &d) || memcmp(u->data, u->data + 64, 8);
}

struct waiter {
	struct ugni_self *u;
	gni_cq_handle_t blocking;
	gni_err_handle_t errors;
	int kind;
	int type;
	int ready;
	gni_return_t rc;
};

enum { WAIT_EVENT, VECTOR_WAIT, MONITOR, PROBE, DATAGRAM, DATAGRAM_ID, ERRORS, KINDS };

static inline gni_return_t wait_kind(struct waiter *w)
{
	gni_post_state_t state;
	gni_error_event_t event;
	gni_cq_entry_t entry;
	uint32_t word, other;
	uint64_t id;

	switch (w->kind) {
	case WAIT_EVENT:
		return GNI_CqWaitEvent(w->blocking, FOREVER, &entry);
	case VECTOR_WAIT:
		return GNI_CqVectorWaitEvent(&w->blocking, 1, FOREVER, &entry, &word);
	case MONITOR:
		return GNI_CqVectorMonitor(&w->blocking, 1, FOREVER, &word);
	case PROBE:
		return GNI_PostdataProbeWaitById(w->u->nic, ~0u, &id);
	case DATAGRAM:
		return GNI_EpPostDataWait(w->u->ep, ~0u, &state, &word, &other);
	case DATAGRAM_ID:
		return GNI_EpPostDataWaitById(w->u->ep, 7, ~0u, &state, &word, &other);
	default:
		return GNI_WaitErrorEvents(w->errors, &event, 1, 0, &word);
	}
}

static inline void *waiting(void *argument)
{
	struct waiter *w = argument;

	pthread_setcanceltype(w->type, NULL);
	__atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
	w->rc = wait_kind(w);
	return NULL;
}

static inline int joined(pthread_t thread, void **result)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += LIMIT / 3;
	if (pthread_timedjoin_np(thread, result, &end))
		return 0;
	child_step();
	return 1;
}

#endif /* ARIES_CHILD_H */
