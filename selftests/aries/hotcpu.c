// SPDX-License-Identifier: GPL-2.0-only
/*
 * A processor goes offline and comes back, while threads wait for queues that were made on it: an
 * event wakes them all the same.
 */
#include <sched.h>

#include "raw.h"
#include "sleeper.h"
#include "kselftest_harness.h"

#define CPU 1 /* on x86 the first one cannot go */
#define ONLINE "/sys/devices/system/cpu/cpu1/online"
#define ROUNDS 4

static int set_online(int on)
{
	return aries_write_file(ONLINE, on ? "1" : "0");
}

static int run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
}

FIXTURE(hotcpu)
{
	struct raw r;
	struct raw_cq q;
	struct kgni_mem_register mem;
	uint8_t *page;
};

FIXTURE_SETUP(hotcpu)
{
	if (access(ONLINE, W_OK))
		SKIP(return, "one processor, or none that can go offline");
	ASSERT_EQ(0, run_on(CPU));
	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&self->r, &self->q, 100, KGNI_CQ_BLOCKING));
	ASSERT_EQ(0, run_on(0));
	self->page = aries_pages(1);
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, ARIES_PAGE, 0, KGNI_NO_CQ, &self->mem));
}

FIXTURE_TEARDOWN(hotcpu)
{
	if (access(ONLINE, W_OK))
		return;
	set_online(1);
	raw_cq_unmap(&self->q);
	raw_close(&self->r);
}

static void begin(FIXTURE_DATA(hotcpu) *self, struct sleeper *w)
{
	if (sleeper_begin(w, self->r.fd, self->q.c.cq))
		exit(1);
	usleep(100000); /* it should be asleep; if it is not, the test is only easier */
}

/* An event comes; what the wait has returned, or ENOMSG if there was no event. */
static int end(FIXTURE_DATA(hotcpu) *self, struct sleeper *w)
{
	uint32_t status = raw_put(&self->r, self->q.c.cq, self->mem.mdh, self->page, "abcd", 4,
				  ARIES_EV_GLOBAL);
	int rc = sleeper_end(w);

	return status || !raw_take(&self->q) ? ENOMSG : rc;
}

/* It goes while somebody waits, then somebody begins to wait without it, then it comes back. */
TEST_F_TIMEOUT(hotcpu, waiters_are_woken, 600)
{
	struct sleeper w;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin(self, &w);
		ASSERT_EQ(0, set_online(0));
		EXPECT_EQ(0, end(self, &w));
		begin(self, &w);
		EXPECT_EQ(0, end(self, &w));
		begin(self, &w);
		ASSERT_EQ(0, set_online(1));
		EXPECT_EQ(0, end(self, &w));
	}
}

TEST_HARNESS_MAIN
