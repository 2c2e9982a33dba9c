// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Revocation: afterwards nobody reaches what was taken back any more, neither this NIC nor a peer
 * that was already past the checks.
 *
 * The NIC counts revocations, and tells up to which all accesses that began before have ended. So
 * any number of threads wait for their own. That takes microseconds, or for ever with a peer that
 * is stopped in the middle of an access: who has to come back waits for a second and puts what it
 * has taken aside then, see aries_kept.c.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "aries_core.h"

#define ARIES_INV_MS 1000

/**
 * aries_inv_seq() - number of what was revoked before this call
 * @ad: the device
 *
 * Context: any. Return: its number or a later one; all ones if the device is not accessible.
 */
u64 aries_inv_seq(struct aries_dev *ad)
{
	return aries_rd64(ad, ARIES_INV_SEQ);
}

/**
 * aries_inv_look() - has everything ended that began before a revocation?
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: any. Return: 0, -EAGAIN not yet, -ENODEV if the device does not answer: no promise.
 */
int aries_inv_look(struct aries_dev *ad, u64 seq)
{
	u64 done = aries_rd64(ad, ARIES_INV_DONE);

	if (done < seq)
		return -EAGAIN;
	/* where nobody answers, buses read ones, some of them zeros */
	return seq != ~0ull && aries_hw_alive(ad) ? 0 : -ENODEV;
}

/**
 * aries_inv_wait() - wait for what began before a revocation
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: sleeps, for a second at most, and no longer when somebody waits for readers of state_sem
 * to leave: that is a reset, and waits for everything on its own.
 * Return: 0, or -ETIMEDOUT or -ENODEV: it may go on.
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
		/* somebody has waited for the same access before: it is enough to look */
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
	/* one that does not answer has let go of nothing, unless it reaches no memory at all */
	return rc && aries_quiet(ad) ? 0 : rc;
}

/**
 * aries_inv_sleep() - wait without locks for what began before a revocation, as long as it takes
 * @ad: the device
 * @seq: what aries_inv_seq() returned after the revocation
 *
 * Context: sleeps, killably; no lock held. Return: 0 it has ended, or the NIC was reset or is gone;
 * -EINTR killed.
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
 * Return: 0, or -ETIMEDOUT or -ENODEV: they may go on.
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
 * Return: 0, or -ETIMEDOUT or -ENODEV: the pages must not be freed.
 */
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh)
{
	aries_wr32(ad, ARIES_INV_MDD, FIELD_PREP(ARIES_INV_MDD_MDH_MASK, mdh));
	return aries_inv_drain(ad);
}
