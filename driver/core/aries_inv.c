// SPDX-License-Identifier: GPL-2.0-only
/*
 * Revocation: making sure that revoked memory is not accessed any more, neither by this NIC nor by
 * a peer that has already passed the checks.
 *
 * The NIC counts revocations, and reports up to which revocation all earlier accesses have ended.
 * So any number of threads can wait for their own. That takes microseconds, or for ever if a peer
 * is stopped in the middle of an access. A thread that must return waits for a second, and then
 * puts the object aside, see aries_kept.c.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "aries_core.h"

#define ARIES_INV_MS 1000

/**
 * aries_inv_seq() - number of the last revocation before this call
 * @ad: the device
 *
 * Context: any. Return: that number, or a later one; all ones if the device is not accessible.
 */
u64 aries_inv_seq(struct aries_dev *ad)
{
	return aries_rd64(ad, ARIES_INV_SEQ);
}

/**
 * aries_inv_look() - have all accesses ended that began before a revocation?
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: any. Return: 0; -EAGAIN if not yet; -ENODEV if the device does not answer, so that
 * nothing is known.
 */
int aries_inv_look(struct aries_dev *ad, u64 seq)
{
	u64 done = aries_rd64(ad, ARIES_INV_DONE);

	if (done < seq)
		return -EAGAIN;
	/* reads from an absent device return all ones, on some buses zeros */
	return seq != ~0ull && aries_hw_alive(ad) ? 0 : -ENODEV;
}

/**
 * aries_inv_wait() - wait for accesses that began before a revocation
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: sleeps, for a second at most. Returns early if a writer waits for state_sem: that is a
 * reset, which waits for everything itself.
 * Return: 0; -ETIMEDOUT or -ENODEV if accesses may continue.
 */
int aries_inv_wait(struct aries_dev *ad, u64 seq)
{
	unsigned long end = jiffies + msecs_to_jiffies(ARIES_INV_MS);
	unsigned int pause_us = 10;
	bool late = false;
	int rc;

	for (;;) {
		rc = aries_inv_look(ad, seq);
		if (rc != -EAGAIN)
			break;
		/* another thread has waited for the same access in vain, so do not wait again */
		if (late || aries_rd64(ad, ARIES_INV_DONE) == READ_ONCE(ad->inv_late) ||
		    rwsem_is_contended(&ad->state_sem)) {
			rc = -ETIMEDOUT;
			break;
		}
		usleep_range(pause_us, 2 * pause_us);
		pause_us = min(2 * pause_us, 10000u);
		late = time_after(jiffies, end);
	}
	if (late && rc == -ETIMEDOUT) {
		WRITE_ONCE(ad->inv_late, aries_rd64(ad, ARIES_INV_DONE));
		dev_warn(&ad->pdev->dev, "accesses of a peer are in flight for %u s\n",
			 ARIES_INV_MS / 1000);
	}
	/* a NIC that does not answer has released nothing, unless it cannot access memory at all */
	return rc && aries_quiet(ad) ? 0 : rc;
}

/**
 * aries_inv_sleep() - wait without locks and without a limit for accesses before a revocation
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: sleeps, killably; no lock held. Return: 0 if they have ended, or if the NIC was reset or
 * is gone; -EINTR if the thread was killed.
 */
int aries_inv_sleep(struct aries_dev *ad, u64 seq)
{
	unsigned int pause_us = 10;
	int rc;

	for (;;) {
		down_read(&ad->state_sem);
		rc = ad->state == ARIES_STATE_UP ? aries_inv_look(ad, seq) : 0;
		up_read(&ad->state_sem);
		if (rc != -EAGAIN)
			return 0;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(pause_us, 2 * pause_us);
		pause_us = min(2 * pause_us, 10000u);
	}
}

/**
 * aries_inv_drain() - wait for accesses in flight, after a register write that was a revocation
 * @ad: the device
 *
 * Context: sleeps, for a second at most.
 * Return: 0; -ETIMEDOUT or -ENODEV if accesses may continue.
 */
int aries_inv_drain(struct aries_dev *ad)
{
	return aries_inv_wait(ad, aries_inv_seq(ad));
}

/**
 * aries_inv_mdd() - invalidate a memory domain and wait for accesses in flight
 * @ad: the device
 * @mdh: memory domain handle
 *
 * Context: sleeps, for a second at most.
 * Return: 0; -ETIMEDOUT or -ENODEV if the pages must not be freed.
 */
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh)
{
	aries_wr32(ad, ARIES_INV_MDD, FIELD_PREP(ARIES_INV_MDD_MDH_MASK, mdh));
	return aries_inv_drain(ad);
}
