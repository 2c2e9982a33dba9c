// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters and state of the module; who wakes whom, and who may hold what. Nothing here calls
 * another file of slnd.
 *
 * slnd.mutex is held by whichever thread works: scheduler, reaper or dgram thread, also while they
 * call the user or functions of kGNI. slnd.lock is taken inside of it, or alone by the user's
 * threads, which only hand messages over. Interrupts take no lock. They set bits, and wake:
 *
 *   signal              given by                                       wakes
 *   slnd_wake(RX ..)    handlers of the queues                         scheduler
 *   slnd_wake(NEW)      slnd_send(), slnd_transfer()                   scheduler
 *   slnd_wake(RETRY)    a connection is established, closed or freed,  scheduler
 *                       a quiesce has ended
 *   slnd_stall()        what has no credits, or no space               scheduler
 *   slnd_reaper_wake()  a connection is wanted or closed, or nothing   reaper
 *                       of it is in flight any more, the NIC was reset
 *
 * Credits that come back give no signal: what has stalled is tried again after a while. A bit of
 * slnd.events is set before the scheduler is woken, and cleared before it looks for that work.
 */
#include <linux/kthread.h>
#include <linux/module.h>

#include "slnd_priv.h"

#define SLND_RETRY_NS (200 * NSEC_PER_USEC)
#define SLND_QUIET_NS (10 * NSEC_PER_MSEC)

#define SLND_PARAMETER(name, usual)   \
	unsigned int slnd_##name = usual; \
	module_param_named(name, slnd_##name, uint, 0444)

SLND_PARAMETER(credits, 128);
MODULE_PARM_DESC(credits, "messages that a peer may have under way (8 to 4096)");
SLND_PARAMETER(timeout, 60);
MODULE_PARM_DESC(timeout, "seconds after which a silent peer is given up (1 to 3600)");
SLND_PARAMETER(rx_entries, 32768);
MODULE_PARM_DESC(rx_entries, "events of incoming messages that the queue has room for (16 to 1M)");
SLND_PARAMETER(posts, 256);
MODULE_PARM_DESC(posts, "block transfers under way at a time (1 to 4096)");
SLND_PARAMETER(hold, 15 * 60);
MODULE_PARM_DESC(hold, "seconds for which memory of lost peers is in purgatory (1 to 86400)");

struct slnd slnd = {
	.sched_wq = __WAIT_QUEUE_HEAD_INITIALIZER(slnd.sched_wq),
	.reaper_wq = __WAIT_QUEUE_HEAD_INITIALIZER(slnd.reaper_wq),
	.lock = __SPIN_LOCK_UNLOCKED(slnd.lock),
	.txq = LIST_HEAD_INIT(slnd.txq),
	.mutex = __MUTEX_INITIALIZER(slnd.mutex),
	.rdmaq = LIST_HEAD_INIT(slnd.rdmaq),
	.mapped = LIST_HEAD_INIT(slnd.mapped),
	.purgatory = LIST_HEAD_INIT(slnd.purgatory),
	.conns = XARRAY_INIT(slnd.conns, XA_FLAGS_ALLOC),
	.peers = XARRAY_INIT(slnd.peers, 0),
	.txs = XARRAY_INIT(slnd.txs, XA_FLAGS_ALLOC),
};

/* Context: any. */
void slnd_wake(unsigned int event)
{
	/* if the bit was set already the scheduler was woken, and will see this event, too */
	if (!test_and_set_bit(event, &slnd.events))
		wake_up(&slnd.sched_wq);
}

/* Context: any. */
void slnd_reaper_wake(void)
{
	WRITE_ONCE(slnd.reap, true);
	wake_up(&slnd.reaper_wq);
}

/*
 * Sleep until there is work. Context: scheduler, without locks. Return: whether to try again.
 *
 * The kernel's macro asks its timer, without READ_ONCE(), whether the timer has fired. KCSAN takes
 * that for a race of slnd, as the macro's code is in this function.
 */
__no_kcsan bool slnd_sched_sleep(void)
{
	ktime_t pause = !READ_ONCE(slnd.stalled) ? KTIME_MAX :
			READ_ONCE(slnd.quiet) ? SLND_QUIET_NS : SLND_RETRY_NS;

	return wait_event_interruptible_hrtimeout(slnd.sched_wq, READ_ONCE(slnd.events) ||
						  kthread_should_stop(), pause) == -ETIME;
}

/* Something has no credits or no space, and has to be tried again. Context: slnd.mutex held. */
void slnd_stall(void)
{
	if (!slnd.stalled)
		slnd_wake(SLND_EV_STALL); /* so that the scheduler sleeps with a timeout */
	WRITE_ONCE(slnd.stalled, true);
}

void slnd_reaper_sleep(unsigned long ticks)
{
	wait_event_interruptible_timeout(slnd.reaper_wq, READ_ONCE(slnd.reap) ||
					 kthread_should_stop(), ticks);
	WRITE_ONCE(slnd.reap, false);
}

/* Handler of all queues; @event is SLND_EV_RX and so on. Context: interrupt. */
void slnd_cq_handler(u32 device, u64 event)
{
	if (device == SLND_DEVICE)
		slnd_wake(event);
}

/* The NIC was reset. On the original machines this is called in atomic context. */
void slnd_critical(gni_err_handle_t err)
{
	WRITE_ONCE(slnd.critical, true);
	slnd_reaper_wake();
}

/* A quiesce has ended. On the original machines this is called in atomic context, too. */
void slnd_resumed(gni_nic_handle_t nic, u64 ms)
{
	WRITE_ONCE(slnd.resumed, true);
	slnd_reaper_wake();
	slnd_wake(SLND_EV_RETRY);
}
