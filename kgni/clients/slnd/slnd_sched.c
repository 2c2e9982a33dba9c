// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * The scheduler threads, which do the work. Queue handlers run in interrupt context. They only
 * record which queue has events, and wake up a scheduler. Only one scheduler at a time works on a
 * connection.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>

#include "slnd_priv.h"

#define SLND_LATER_NS (200 * NSEC_PER_USEC)
#define SLND_QUIET_NS (10 * NSEC_PER_MSEC)

/* Wake up a scheduler if it sleeps. The caller has recorded the work before. */
static bool slnd_sched_wake_one(struct slnd_sched *sched)
{
	if (!READ_ONCE(sched->idle) || !xchg(&sched->idle, false))
		return false;
	wake_up_process(sched->task);
	return true;
}

/*
 * Wake up one sleeping scheduler, if there is any. One that last ran on this processor is
 * preferred, because waking it needs no inter-processor interrupt. No lock is held here, because
 * the woken thread would have to wait for it at once.
 */
static void slnd_sched_wake(void)
{
	unsigned int i, here = raw_smp_processor_id();

	smp_mb(); /* pairs with slnd_sched_wait() */
	rcu_read_lock();
	for (i = 0; i < slnd_schedulers; i++)
		if (READ_ONCE(slnd.sched[i].idle) && task_cpu(slnd.sched[i].task) == here &&
		    slnd_sched_wake_one(&slnd.sched[i]))
			goto out;
	for (i = 0; i < slnd_schedulers; i++)
		if (slnd_sched_wake_one(&slnd.sched[i]))
			break;
out:
	rcu_read_unlock();
}

/** slnd_wake() - a queue has events, or there may be space. Context: any. */
void slnd_wake(unsigned int event)
{
	/* if the bit was set already a scheduler was woken for it, and will see this event, too */
	if (!test_and_set_bit(event, &slnd.events))
		slnd_sched_wake();
}

/*
 * slnd_cq_handler() - handler of all queues; @event is SLND_EV_RX and so on. Context: interrupt.
 */
void slnd_cq_handler(u32 device, u64 event)
{
	if (device == SLND_DEVICE)
		slnd_wake(event);
}

static void slnd_place(struct slnd_conn *conn, enum slnd_place place, struct list_head *list)
{
	conn->place = place;
	list_move_tail(&conn->ready, list);
}

/** slnd_schedule() - there is something to do for a connection. Context: any thread. */
void slnd_schedule(struct slnd_conn *conn)
{
	bool wake = true;

	spin_lock(&slnd.lock);
	switch (conn->place) {
	case SLND_IDLE:
		refcount_inc(&conn->refs);
		fallthrough;
	case SLND_LATER:
		slnd_place(conn, SLND_READY, &slnd.ready);
		break;
	case SLND_RUNNING:
		conn->place = SLND_AGAIN;
		fallthrough;
	default:
		wake = false;
	}
	spin_unlock(&slnd.lock);
	if (wake)
		slnd_sched_wake();
}

/*
 * slnd_schedule_later() - try again soon, because a connection has no space. Context: any thread.
 */
void slnd_schedule_later(struct slnd_conn *conn)
{
	bool wake = false;

	spin_lock(&slnd.lock);
	if (conn->place == SLND_IDLE) {
		refcount_inc(&conn->refs);
		slnd_place(conn, SLND_LATER, &slnd.later);
		wake = true; /* so that a scheduler sleeps with a timeout only */
	} else {
		conn->stalled = true;
	}
	spin_unlock(&slnd.lock);
	if (wake)
		slnd_sched_wake();
}

/* Try again with everything that had no space. */
static void slnd_later(void)
{
	struct slnd_conn *conn;

	spin_lock(&slnd.lock);
	list_for_each_entry(conn, &slnd.later, ready)
		conn->place = SLND_READY;
	list_splice_tail_init(&slnd.later, &slnd.ready);
	spin_unlock(&slnd.lock);
	slnd_rdma_waiting();
}

static struct slnd_conn *slnd_next(void)
{
	struct slnd_conn *conn;

	spin_lock(&slnd.lock);
	conn = list_first_entry_or_null(&slnd.ready, struct slnd_conn, ready);
	if (conn) {
		list_del_init(&conn->ready);
		conn->place = SLND_RUNNING;
		conn->stalled = false;
	}
	spin_unlock(&slnd.lock);
	return conn;
}

static void slnd_run(struct slnd_conn *conn)
{
	bool more = slnd_receive(conn), idle = false;

	/* the messages may have brought credits */
	if (READ_ONCE(conn->state) != SLND_HAILING && conn->peer)
		slnd_peer_push(conn->peer);
	spin_lock(&slnd.lock);
	if (conn->place == SLND_AGAIN || more) {
		slnd_place(conn, SLND_READY, &slnd.ready);
	} else if (conn->stalled) {
		slnd_place(conn, SLND_LATER, &slnd.later);
	} else {
		conn->place = SLND_IDLE;
		idle = true;
	}
	spin_unlock(&slnd.lock);
	if (idle)
		slnd_conn_put(conn);
}

static bool slnd_take_event(unsigned int event)
{
	return test_bit(event, &slnd.events) && test_and_clear_bit(event, &slnd.events);
}

/* Return: whether there was anything to do. */
static bool slnd_work(void)
{
	struct slnd_conn *conn;

	if (slnd_take_event(SLND_EV_RX))
		slnd_rx_events();
	if (slnd_take_event(SLND_EV_TX))
		slnd_tx_events();
	if (slnd_take_event(SLND_EV_RDMA))
		slnd_rdma_events();
	if (slnd_take_event(SLND_EV_LATER))
		slnd_later();
	conn = slnd_next();
	if (conn)
		slnd_run(conn);
	return conn;
}

static void slnd_sched_wait(struct slnd_sched *sched)
{
	ktime_t pause = gni_get_quiesce_status(slnd.nic) ? SLND_QUIET_NS : SLND_LATER_NS;

	set_current_state(TASK_INTERRUPTIBLE);
	smp_store_mb(sched->idle, true); /* first allow a wakeup, then look for work */
	if (!READ_ONCE(slnd.events) && list_empty_careful(&slnd.ready) && !kthread_should_stop()) {
		if (list_empty_careful(&slnd.later) && list_empty_careful(&slnd.post_wait))
			schedule();
		else if (!schedule_hrtimeout(&pause, HRTIMER_MODE_REL))
			set_bit(SLND_EV_LATER, &slnd.events);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(sched->idle, false);
}

static int slnd_scheduler(void *arg)
{
	while (!kthread_should_stop()) {
		if (slnd_work())
			cond_resched();
		else
			slnd_sched_wait(arg);
	}
	return 0;
}

/** slnd_schedulers_start() - create the threads. Context: sleeps. Return: 0 or -ENOMEM. */
int slnd_schedulers_start(void)
{
	unsigned int i;

	for (i = 0; i < slnd_schedulers; i++) {
		struct slnd_sched *sched = &slnd.sched[i];
		struct task_struct *task =
			kthread_create(slnd_scheduler, sched, "slnd_sched/%u", i);

		if (IS_ERR(task))
			return -ENOMEM;
		sched->task = get_task_struct(task);
		wake_up_process(task);
	}
	return 0;
}

/** slnd_schedulers_stop() - stop the threads. Context: sleeps. */
void slnd_schedulers_stop(void)
{
	unsigned int i;

	for (i = 0; i < SLND_SCHEDULERS_MAX; i++)
		if (slnd.sched[i].task)
			kthread_stop(slnd.sched[i].task);
	synchronize_rcu(); /* wait for wakeups in progress */
	for (i = 0; i < SLND_SCHEDULERS_MAX; i++) {
		if (slnd.sched[i].task)
			put_task_struct(slnd.sched[i].task);
		slnd.sched[i].task = NULL;
	}
}
