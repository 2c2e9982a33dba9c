// SPDX-License-Identifier: GPL-2.0-only
/* The test: one side starts, and the thread of the other side answers. */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "pp.h"

#define PP_ANSWER (60 * HZ)
#define PP_LOOP 100

/* A message or a put has arrived. It is the answer that we wait for, or it has to be answered. */
static int pp_came(enum pp_about about)
{
	void *message;

	if (about == PP_MESSAGE) {
		if (gni_smsg_getnext(pp.ep, &message) != GNI_RC_SUCCESS ||
		    gni_smsg_release(pp.ep) != GNI_RC_SUCCESS)
			return -EIO;
	}
	if (xchg(&pp.owed, false)) {
		complete(&pp.answer);
		return 0;
	}
	if (READ_ONCE(pp.running))
		return 0;
	return about == PP_MESSAGE ? pp_send() : pp_put(true);
}

/* Read events until the queue is empty. Only then does the next event raise an interrupt again. */
static int pp_events(void)
{
	gni_cq_entry_t entry;
	gni_return_t rc;
	int bad;

	for (;;) {
		rc = gni_cq_get_event(pp.rx, &entry);
		if (rc == GNI_RC_NOT_DONE)
			return 0;
		if (rc != GNI_RC_SUCCESS)
			return -EIO;
		/* returned credits are not messages and raise no event */
		bad = pp_came(gni_cq_get_rem_inst_id(entry));
		if (bad)
			return bad;
	}
}

/** pp_thread() - thread that handles events of the peer. Context: its own. */
int pp_thread(void *unused)
{
	while (!kthread_should_stop()) {
		wait_event_interruptible(pp.wq, atomic_read(&pp.events) || kthread_should_stop());
		atomic_set(&pp.events, 0);
		if (!READ_ONCE(pp.failed) && pp_events() && !READ_ONCE(pp.failed)) {
			pr_err("gni_pingpong: it cannot go on\n");
			WRITE_ONCE(pp.failed, -EIO);
		}
	}
	return 0;
}

/* The least cost of any function that may be called from interrupts and from several threads. */
static void pp_locks(void)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;
	int i;

	for (i = 0; i < PP_LOOP; i++) {
		spin_lock_irqsave(&lock, flags);
		spin_unlock_irqrestore(&lock, flags);
	}
}

/* Wait for the answer of the peer, which sends none during a quiesce. */
static int pp_answered(void)
{
	long left;

	do
		left = wait_for_completion_interruptible_timeout(&pp.answer, PP_ANSWER);
	while (!left && gni_get_quiesce_status(pp.nic));
	if (left < 0)
		return -EINTR;
	return left ? READ_ONCE(pp.failed) : -ETIMEDOUT;
}

/* Start an operation that the peer answers, and wait for the answer. */
static int pp_ask(bool message)
{
	int rc;

	WRITE_ONCE(pp.owed, true);
	rc = message ? pp_send() : pp_put(true);
	if (rc) {
		WRITE_ONCE(pp.owed, false);
		return rc;
	}
	return pp_answered();
}

/* One sample. What takes less time than reading the clock is measured in a loop. */
static int pp_round(const char *test)
{
	int rc = 0, i;

	if (!strcmp(test, "lock")) {
		pp_locks();
		return 0;
	}
	if (!strcmp(test, "put")) {
		for (i = 0; i < PP_LOOP && !rc; i++)
			rc = pp_put(false);
		return rc;
	}
	return pp_ask(!strcmp(test, "message"));
}

static int pp_less(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Does the test work without an answer of the peer? Then a sample is a loop. */
static bool pp_alone(const char *test)
{
	return !strcmp(test, "put") || !strcmp(test, "lock");
}

static bool pp_known(const char *test)
{
	return pp_alone(test) || !strcmp(test, "remote") || !strcmp(test, "message");
}

/**
 * pp_run() - run one test
 * @test: "put": an 8-byte put until its event; "remote": the same with an event at the peer, whose
 *        interrupt wakes a thread that puts back, half of the round trip; "message": the same with
 *        a short message; "lock": taking and releasing an uncontended spinlock with interrupts
 *        disabled, of which a put needs at least three
 * @count: number of samples, 1 to 1000000; a sample of puts or locks is a loop of PP_LOOP
 * @result: out: median and minimum in nanoseconds
 * @size: size of @result
 *
 * Context: sleeps; one at a time. Return: 0, -EINVAL, -ENOMEM, or as pp_send().
 */
int pp_run(const char *test, u32 count, char *result, size_t size)
{
	unsigned int each = pp_alone(test) ? PP_LOOP : 2;
	u32 *ns, i;
	int rc = 0;

	if (!pp_known(test) || !count || count > 1000000)
		return -EINVAL;
	ns = kvmalloc_array(count, sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return -ENOMEM;
	/* an earlier run was interrupted */
	if (READ_ONCE(pp.owed))
		rc = pp_answered();
	reinit_completion(&pp.answer);
	WRITE_ONCE(pp.running, true);
	for (i = 0; i < count && !rc; i++) {
		u64 begun = ktime_get_ns();

		rc = READ_ONCE(pp.failed) ?: pp_round(test);
		if (!rc && signal_pending(current))
			rc = -EINTR;
		ns[i] = min_t(u64, ktime_get_ns() - begun, U32_MAX) / each;
		cond_resched();
	}
	WRITE_ONCE(pp.running, false);
	if (!rc) {
		sort(ns, count, sizeof(*ns), pp_less, NULL);
		snprintf(result, size, "test=%s count=%u p50_ns=%u min_ns=%u\n", test, count,
			 ns[count / 2], ns[0]);
	}
	kvfree(ns);
	return rc;
}
