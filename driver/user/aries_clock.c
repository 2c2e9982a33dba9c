// SPDX-License-Identifier: GPL-2.0-only
/*
 * The global clock of the NIC, and sleeping until a time on it. All sleepers share timer 0, which
 * is set for the earliest of them.
 */
#include <linux/wait.h>

#include "aries_user.h"

/* Processes may map the page of the clock, so it must not contain anything else. */
static_assert(IS_ALIGNED(ARIES_CLK_NOW, SZ_4K));

/**
 * struct aries_sleeper - one thread in KGNI_IOC_CLOCK_WAIT
 * @node: in aries_dev.sleepers
 * @until: global time at which it wakes up
 */
struct aries_sleeper {
	struct list_head node;
	u64 until;
};

/**
 * aries_clock_read() - read the global clock
 * @ad: the device; state_sem held for reading
 * @now: set to the nanoseconds since the fabric was created
 *
 * Return: 0; -EOPNOTSUPP if the NIC has no clock; -ENODEV if the NIC does not respond.
 */
int aries_clock_read(struct aries_dev *ad, u64 *now)
{
	lockdep_assert_held(&ad->state_sem);
	if (!(ad->caps & ARIES_ID_CAPS_TIMER_MASK))
		return -EOPNOTSUPP;
	*now = aries_rd64(ad, ARIES_CLK_NOW);
	return *now == ~0ull ? -ENODEV : 0;
}

/** aries_clock() - KGNI_IOC_CLOCK. Context: sleeps. */
int aries_clock(struct aries_owner *own, struct kgni_clock *arg)
{
	int rc;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	rc = aries_owner_enter(own, false);
	if (rc)
		return rc;
	rc = aries_clock_read(own->ad, &arg->now);
	if (!rc) {
		arg->rate = aries_rd64(own->ad, ARIES_CLK_RATE);
		arg->mmap_offset = ARIES_MMAP_CLOCK;
		arg->mmap_size = SZ_4K;
	}
	aries_owner_exit(own);
	return rc;
}

static u32 aries_clock_seq(struct aries_dev *ad)
{
	return (u32)atomic_read(&ad->clock_seq);
}

/* Sets timer 0 for the earliest sleeper, or stops it. */
static void aries_clock_program(struct aries_dev *ad)
	__must_hold(&ad->clock_lock)
{
	struct aries_sleeper *sleeper;
	u64 first = U64_MAX;

	lockdep_assert_held(&ad->clock_lock);
	list_for_each_entry(sleeper, &ad->sleepers, node)
		first = min(first, sleeper->until);
	if (list_empty(&ad->sleepers)) {
		aries_wr32(ad, ARIES_TMR_CTL, 0);
		return;
	}
	aries_wr64(ad, ARIES_TMR_COMPARE, first);
	aries_wr32(ad, ARIES_TMR_CTL, FIELD_PREP(ARIES_TMR_CTL_ENABLE_MASK, 1));
}

/*
 * Checks the time once. Return: 0 if the time has come, 1 to sleep until clock_seq differs from
 * @seq, or a negative errno.
 */
static int aries_clock_look(struct aries_owner *own, struct aries_sleeper *sleeper, u64 *now,
			    u32 *seq)
{
	struct aries_dev *ad = own->ad;
	int rc;

	down_read(&ad->state_sem);
	rc = aries_owner_status(own);
	if (!rc)
		rc = aries_clock_read(ad, now);
	if (!rc && *now < sleeper->until) {
		mutex_lock(&ad->clock_lock);
		*seq = aries_clock_seq(ad);
		if (list_empty(&sleeper->node))
			list_add(&sleeper->node, &ad->sleepers);
		aries_clock_program(ad);
		mutex_unlock(&ad->clock_lock);
		rc = 1;
	}
	up_read(&ad->state_sem);
	return rc;
}

static void aries_clock_end(struct aries_owner *own, struct aries_sleeper *sleeper)
{
	struct aries_dev *ad = own->ad;

	if (list_empty(&sleeper->node))
		return;
	down_read(&ad->state_sem);
	mutex_lock(&ad->clock_lock);
	list_del_init(&sleeper->node);
	if (!aries_owner_status(own))
		aries_clock_program(ad);
	mutex_unlock(&ad->clock_lock);
	up_read(&ad->state_sem);
}

/**
 * aries_clock_wait() - KGNI_IOC_CLOCK_WAIT
 * @own: owner
 * @arg: argument
 *
 * Context: sleeps, interruptibly. Return: 0; -EINVAL; -EOPNOTSUPP; -ERESTARTNOHAND: EINTR for a
 * process whose signal handler runs, none for one that is stopped, traced or frozen; as
 * aries_owner_status().
 */
int aries_clock_wait(struct aries_owner *own, struct kgni_clock_wait *arg)
{
	struct aries_sleeper sleeper = { .until = arg->until };
	struct aries_dev *ad = own->ad;
	u32 seq = 0;
	int rc;

	if (arg->flags)
		return -EINVAL;
	INIT_LIST_HEAD(&sleeper.node);
	for (;;) {
		rc = aries_clock_look(own, &sleeper, &arg->now, &seq);
		if (rc <= 0)
			break;
		/* a reset sets dead before it wakes the sleepers */
		if (wait_event_interruptible(ad->clock_wq, aries_clock_seq(ad) != seq ||
					     READ_ONCE(own->dead))) {
			/* the time is absolute, so the kernel may call again if no handler runs */
			rc = -ERESTARTNOHAND;
			break;
		}
	}
	aries_clock_end(own, &sleeper);
	return rc;
}

/** aries_clock_wake() - make all sleepers check the time again. Context: any. */
void aries_clock_wake(struct aries_dev *ad)
{
	atomic_inc(&ad->clock_seq);
	wake_up_all(&ad->clock_wq);
}

/** aries_clock_irq() - handle expired timers; called from the handler of vector 0 */
void aries_clock_irq(struct aries_dev *ad)
{
	u32 pending;

	if (!(ad->caps & ARIES_ID_CAPS_TIMER_MASK))
		return;
	pending = aries_rd32(ad, ARIES_TMR_PENDING);
	if (!pending || pending == ~0u)
		return;
	aries_wr32(ad, ARIES_TMR_PENDING, pending);
	aries_clock_wake(ad);
}
