// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once: processes whose threads register, make queues, sleep, transfer and call
 * with nonsense, of which some end by themselves and some are killed. Afterwards nothing is left,
 * and the kernel has not complained.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "raw.h"
#include "kselftest_harness.h"

#define ROUNDS 6
#define PROCESSES 3
#define RUN_US 400000

static volatile int stop;

struct worker {
	struct raw *r;
	unsigned int seed;
	long done;
};

static void *register_and_end(void *arg)
{
	const size_t size = 1u << 20;
	struct worker *w = arg;

	while (!stop) {
		struct kgni_mem_register mem;
		struct kgni_mem_deregister end = { .argsz = sizeof(end) };
		uint8_t *data = aries_pages(size / ARIES_PAGE);
		int rc = aries_register(w->r->fd, data, size, rand_r(&w->seed) & 1, KGNI_NO_CQ,
					&mem);

		/* ended while some of the pages are mapped no longer */
		munmap(data, size / 2);
		end.mdh = mem.mdh;
		if (!rc)
			w->done += !aries_ioctl(w->r->fd, KGNI_IOC_MEM_DEREGISTER, &end);
		munmap(data + size / 2, size / 2);
	}
	return NULL;
}

static void *make_queues(void *arg)
{
	struct worker *w = arg;

	while (!stop) {
		uint32_t entries = 1 + rand_r(&w->seed) % 3000;
		struct raw_cq q;

		if (raw_cq(w->r, &q, entries, rand_r(&w->seed) & KGNI_CQ_BLOCKING))
			continue;
		q.header->consumed = rand_r(&w->seed);
		w->done += !raw_cq_close(w->r, &q);
	}
	return NULL;
}

static void *sleep_on_queues(void *arg)
{
	struct worker *w = arg;
	struct raw_cq q;

	if (raw_cq(w->r, &q, 100, KGNI_CQ_BLOCKING))
		return NULL;
	while (!stop) {
		uint32_t number[2] = { q.c.cq, q.c.cq };
		struct kgni_cq_wait wait = { .argsz = sizeof(wait),
					     .count = 2,
					     .cqs = (uintptr_t)number,
					     .timeout_ms = rand_r(&w->seed) % 20 };

		w->done += !aries_ioctl(w->r->fd, KGNI_IOC_CQ_WAIT, &wait);
	}
	return NULL;
}

static void *transfer(void *arg)
{
	const uint32_t size = 2u << 20;
	struct worker *w = arg;
	struct kgni_mem_register mem;
	uint8_t *data = aries_pages(2 * size / ARIES_PAGE);
	struct raw_cq q;

	if (raw_cq(w->r, &q, 1000, KGNI_CQ_BLOCKING) ||
	    aries_register(w->r->fd, data, 2 * size, 0, q.c.cq, &mem))
		return NULL;
	while (!stop) {
		raw_block(w->r, q.c.cq, ARIES_BTE_PUT, mem.mdh, data + size, data, size);
		raw_put(w->r, q.c.cq, mem.mdh, data, "x", 1,
			ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
		while (raw_take(&q))
			w->done++;
	}
	return NULL;
}

/* Every call but KGNI_IOC_JOB, whose domains would stay. */
static void *call_with_nonsense(void *arg)
{
	static const uint32_t sizes[] = { 4, 8, 12, 16, 24, 32, 40, 48, 64, 72, 80, 128, 136 };
	struct worker *w = arg;

	while (!stop) {
		union {
			uint32_t argsz;
			uint8_t byte[256];
			struct kgni_cq_wait wait;
		} a;
		unsigned int nr = rand_r(&w->seed) % 10, i;

		if (nr == _IOC_NR(KGNI_IOC_JOB))
			continue;
		for (i = 0; i < sizeof(a); i++)
			a.byte[i] = rand_r(&w->seed) % 8 ? 0 : rand_r(&w->seed);
		a.argsz = sizes[rand_r(&w->seed) % 13];
		if (nr == _IOC_NR(KGNI_IOC_CQ_WAIT))
			a.wait.timeout_ms = 1;
		aries_ioctl(w->r->fd, _IO(KGNI_IOC_MAGIC, nr), &a);
		w->done++;
	}
	return NULL;
}

static void run_process(uint32_t cookie, int for_ever)
{
	static void *(*const jobs[])(void *) = { register_and_end, register_and_end, make_queues,
						 sleep_on_queues, transfer,
						 call_with_nonsense };
	enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };
	struct worker w[JOBS];
	pthread_t thread[JOBS];
	struct raw r;
	int i;

	if (raw_open(&r, cookie))
		_exit(1);
	for (i = 0; i < JOBS; i++) {
		w[i] = (struct worker){ &r, (unsigned int)(getpid() * JOBS + i), 0 };
		if (pthread_create(&thread[i], NULL, jobs[i], &w[i]))
			_exit(2);
	}
	if (for_ever)
		for (;;)
			pause();
	usleep(RUN_US);
	stop = 1;
	for (i = 0; i < JOBS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* Lines of the kernel's log that tell of a bug; -1 if it cannot be read. */
static int complaints(void)
{
	FILE *f = popen("dmesg", "r");
	char line[1024];
	int count = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		count += strstr(line, "WARNING:") || strstr(line, "BUG:") ||
			 strstr(line, "blocked for more than") || strstr(line, "kept back") ||
			 strstr(line, "still in flight") || strstr(line, "Call Trace");
	return pclose(f) ? -1 : count;
}

FIXTURE(stress)
{
	struct aries_use before;
	int complaints;
};

FIXTURE_SETUP(stress)
{
	self->before = aries_use();
	self->complaints = complaints();
}

FIXTURE_TEARDOWN(stress)
{
}

TEST_F_TIMEOUT(stress, everything_at_once, 120)
{
	const uint32_t cookie[2] = { aries_cookie(), aries_cookie() };
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		pid_t pid[PROCESSES];

		for (i = 0; i < PROCESSES; i++) {
			pid[i] = fork();
			ASSERT_LE(0, pid[i]);
			/* two share a domain; one of the three ends by itself */
			if (!pid[i])
				run_process(cookie[i % 2], i != 1);
		}
		usleep(RUN_US / 2 + round * 50000);
		for (i = 0; i < PROCESSES; i++) {
			int status;

			if (i != 1)
				kill(pid[i], SIGKILL);
			ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
			if (i == 1) {
				EXPECT_EQ(0, status);
			}
		}
	}
	for (i = 0; i < 200 && !aries_use_equal(self->before, aries_use()); i++)
		usleep(50000);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
	EXPECT_EQ(self->complaints, complaints());
}

TEST_HARNESS_MAIN
