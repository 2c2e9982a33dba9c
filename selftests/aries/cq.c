// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: creation, destruction, waiting.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "aries_test.h"
#include "kselftest_harness.h"

FIXTURE(cq)
{
	int fd;
	struct kgni_attach attach;
	struct aries_use before;
};

FIXTURE_SETUP(cq)
{
	self->before = aries_use();
	self->fd = aries_attached(aries_cookie(), &self->attach);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(cq)
{
	struct aries_use after;

	close(self->fd);
	after = aries_use();
	EXPECT_EQ(self->before.cq, after.cq);
	EXPECT_EQ(self->before.mdd, after.mdd);
	EXPECT_EQ(self->before.fma, after.fma);
}

static int destroy(int fd, uint32_t cq)
{
	struct kgni_cq_destroy arg = { .argsz = sizeof(arg), .cq = cq };

	return aries_ioctl(fd, KGNI_IOC_CQ_DESTROY, &arg);
}

static int wait_for(int fd, uint32_t *cqs, uint32_t count, uint64_t ms, uint32_t *which)
{
	struct kgni_cq_wait arg = { .argsz = sizeof(arg), .count = count, .cqs = (uintptr_t)cqs,
				    .timeout_ms = ms };
	int rc = aries_ioctl(fd, KGNI_IOC_CQ_WAIT, &arg);

	if (which)
		*which = arg.which;
	return rc;
}

TEST_F(cq, sizes)
{
	static const uint32_t wanted[] = { 1, 63, 64, 100, 1000, 4095, 4096 };
	struct kgni_cq_create cq;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		ASSERT_EQ(0, aries_cq(self->fd, wanted[i], 0, &cq));
		EXPECT_LT(wanted[i], cq.entries);
		EXPECT_EQ(0, cq.entries & (cq.entries - 1));
		EXPECT_LE(ARIES_CQ_HEADER_BYTES + 8ull * cq.entries, cq.mmap_size);
		EXPECT_EQ(0, destroy(self->fd, cq.cq));
	}
}

TEST_F(cq, bad_arguments)
{
	struct kgni_cq_create cq = { .argsz = sizeof(cq), .entries = 8, .delay = 9 };

	EXPECT_EQ(EINVAL, aries_cq(self->fd, 0, 0, NULL));
	EXPECT_EQ(EFBIG, aries_cq(self->fd, 1u << ARIES_CQ_LOG2_MAX, 0, NULL));
	EXPECT_EQ(EFBIG, aries_cq(self->fd, UINT32_MAX, 0, NULL));
	/* an interrupt that could never come */
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_CQ_CREATE, &cq));
}

TEST_F(cq, destroy_what_is_not_there)
{
	struct kgni_cq_create cq;
	int other;

	EXPECT_EQ(ENOENT, destroy(self->fd, 0));
	EXPECT_EQ(ENOENT, destroy(self->fd, ARIES_CQ_ENTRIES));
	EXPECT_EQ(ENOENT, destroy(self->fd, UINT32_MAX));
	other = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, aries_cq(other, 1, 0, &cq));
	EXPECT_EQ(ENOENT, destroy(self->fd, cq.cq));
	EXPECT_EQ(0, destroy(other, cq.cq));
	EXPECT_EQ(ENOENT, destroy(other, cq.cq));
	close(other);
}

TEST_F(cq, busy_while_a_registration_names_it)
{
	struct kgni_mem_deregister dereg = { .argsz = sizeof(dereg) };
	struct kgni_mem_register mem;
	struct kgni_cq_create cq;
	void *page = aries_pages(1);

	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, aries_cq(self->fd, 1, 0, &cq));
	ASSERT_EQ(0, aries_register(self->fd, page, 1, 0, cq.cq, &mem));
	EXPECT_EQ(EBUSY, destroy(self->fd, cq.cq));
	dereg.mdh = mem.mdh;
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_DEREGISTER, &dereg));
	EXPECT_EQ(0, destroy(self->fd, cq.cq));
}

TEST_F(cq, wait_needs_a_blocking_queue)
{
	struct kgni_cq_create cq;
	uint32_t none = 1000;

	ASSERT_EQ(0, aries_cq(self->fd, 1, 0, &cq));
	EXPECT_EQ(EOPNOTSUPP, wait_for(self->fd, &cq.cq, 1, 10, NULL));
	EXPECT_EQ(ENOENT, wait_for(self->fd, &none, 1, 10, NULL));
	EXPECT_EQ(EINVAL, wait_for(self->fd, &cq.cq, 0, 10, NULL));
	EXPECT_EQ(EINVAL, wait_for(self->fd, &cq.cq, 65, 10, NULL));
	EXPECT_EQ(EFAULT, wait_for(self->fd, (uint32_t *)8, 1, 10, NULL));
}

static long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A tick that comes late, as on a busy host, makes a wait look shorter: the longest of some counts. */
TEST_F(cq, wait_times_out)
{
	struct kgni_cq_create cq;
	long start, longest = 0;
	unsigned int i;

	ASSERT_EQ(0, aries_cq(self->fd, 1, KGNI_CQ_BLOCKING, &cq));
	EXPECT_EQ(ETIMEDOUT, wait_for(self->fd, &cq.cq, 1, 0, NULL));
	for (i = 0; i < 10 && longest < 90; i++) {
		start = milliseconds();
		EXPECT_EQ(ETIMEDOUT, wait_for(self->fd, &cq.cq, 1, 100, NULL));
		start = milliseconds() - start;
		longest = start > longest ? start : longest;
	}
	EXPECT_LE(90, longest);
}

static void on_alarm(int sig)
{
	(void)sig;
}

TEST_F(cq, wait_is_interrupted_by_a_signal)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct kgni_cq_create cq;

	ASSERT_EQ(0, aries_cq(self->fd, 1, KGNI_CQ_BLOCKING, &cq));
	sigaction(SIGUSR1, &action, NULL);
	if (!fork()) {
		usleep(200000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	EXPECT_EQ(EINTR, wait_for(self->fd, &cq.cq, 1, 20000, NULL));
	/* The child holds the file, too: what is counted afterwards must be without it. */
	wait(NULL);
}

/* A zero-length put to the own node gives an event and nothing else. */
static uint32_t ring(const struct kgni_attach *attach, int fd, uint32_t cq)
{
	volatile uint8_t *area, *bell;
	struct aries_fma_desc desc = { .cq = (uint16_t)cq, .pe = attach->pe };
	struct kgni_mem_register mem;
	void *page = aries_pages(1);
	uint32_t status;

	area = mmap(NULL, ARIES_DESC_STRIDE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)attach->desc_offset);
	bell = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)attach->doorbell_offset);
	if (!page || area == MAP_FAILED || bell == MAP_FAILED ||
	    aries_register(fd, page, 1, 0, KGNI_NO_CQ, &mem))
		return UINT32_MAX;
	desc.mdh = (uint16_t)mem.mdh;
	desc.offset = mem.base & ((1ull << ARIES_OFFSET_BITS) - 1);
	memcpy((void *)(area + ARIES_DESC_FMA), &desc, sizeof(desc));
	__sync_synchronize();
	*(volatile uint64_t *)(bell + ARIES_DB_FMA) =
		(uint64_t)8 << ARIES_DB_LEN_SHIFT | (uint64_t)ARIES_FMA_PUT_LINE << ARIES_DB_OP_SHIFT |
		(uint64_t)ARIES_EV_GLOBAL << ARIES_DB_MODE_SHIFT;
	status = ((volatile struct aries_fma_status *)(area + ARIES_DESC_STATUS))->status;
	munmap((void *)area, ARIES_DESC_STRIDE);
	munmap((void *)bell, ARIES_PAGE);
	return status;
}

TEST_F(cq, wait_sees_an_entry_that_is_there)
{
	struct kgni_cq_create cq[2];
	uint32_t numbers[2], which = 9;

	ASSERT_EQ(0, aries_cq(self->fd, 1, KGNI_CQ_BLOCKING, &cq[0]));
	ASSERT_EQ(0, aries_cq(self->fd, 1, KGNI_CQ_BLOCKING, &cq[1]));
	numbers[0] = cq[0].cq;
	numbers[1] = cq[1].cq;
	EXPECT_EQ(ETIMEDOUT, wait_for(self->fd, numbers, 2, 10, NULL));
	ASSERT_EQ(0, ring(&self->attach, self->fd, cq[1].cq));
	EXPECT_EQ(0, wait_for(self->fd, numbers, 2, 10000, &which));
	EXPECT_EQ(1, which);
}

struct waiter {
	int fd;
	uint32_t cq;
	int rc;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->rc = wait_for(w->fd, &w->cq, 1, 20000, NULL);
	return NULL;
}

TEST_F(cq, an_event_wakes_a_sleeper)
{
	struct kgni_cq_create cq;
	struct waiter w;
	pthread_t thread;
	long start;

	ASSERT_EQ(0, aries_cq(self->fd, 1, KGNI_CQ_BLOCKING, &cq));
	w = (struct waiter){ self->fd, cq.cq, -1 };
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_in_thread, &w));
	usleep(300000);
	EXPECT_EQ(EBUSY, destroy(self->fd, cq.cq));
	start = milliseconds();
	ASSERT_EQ(0, ring(&self->attach, self->fd, cq.cq));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, w.rc);
	EXPECT_GT(10000, milliseconds() - start);
}

TEST_HARNESS_MAIN
