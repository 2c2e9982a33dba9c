// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalidation of memory domains: afterwards nobody reaches the pages any more, neither this NIC
 * nor a peer that was already past the checks.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "aries.h"

/* Accesses hold on for 1 MiB at most, dead peers for two lease times; the rest is slack. */
#define ARIES_INV_MS 120000

static int aries_inv_idle(struct aries_dev *ad)
	__must_hold(&ad->inv_lock)
{
	unsigned long end = jiffies + msecs_to_jiffies(ARIES_INV_MS);
	unsigned int pause_us = 10;
	bool late = false;

	lockdep_assert_held(&ad->inv_lock);
	for (;;) {
		u32 status = aries_rd32(ad, ARIES_INV_STATUS);

		if (status == ~0u && !aries_hw_alive(ad))
			return -ENODEV;
		/* where nobody answers, some buses read zeros: no promise */
		if (!FIELD_GET(ARIES_INV_STATUS_BUSY_MASK, status))
			return aries_hw_alive(ad) ? 0 : -ENODEV;
		if (late)
			return -ETIMEDOUT;
		usleep_range(pause_us, 2 * pause_us);
		pause_us = min(2 * pause_us, 10000u);
		late = time_after(jiffies, end);
	}
}

/* A device that does not answer has not let go of anything, unless it reaches no memory at all. */
static int aries_inv_result(struct aries_dev *ad, int rc)
{
	return rc && aries_quiet(ad) ? 0 : rc;
}

static int aries_inv(struct aries_dev *ad, u32 reg, unsigned int mdh)
{
	int rc;

	mutex_lock(&ad->inv_lock);
	rc = aries_inv_idle(ad);
	if (!rc) {
		aries_wr32(ad, reg, FIELD_PREP(ARIES_INV_MDD_MDH_MASK, mdh));
		rc = aries_inv_idle(ad);
	}
	mutex_unlock(&ad->inv_lock);
	if (rc == -ETIMEDOUT)
		dev_err(&ad->pdev->dev, "MDD %u: accesses still in flight after %u s\n", mdh,
			ARIES_INV_MS / 1000);
	return aries_inv_result(ad, rc);
}

/**
 * aries_inv_drain() - wait for accesses in flight, after a register write that began a drain
 * @ad: the device
 *
 * Context: sleeps. Return: 0, or -ETIMEDOUT or -ENODEV: they may go on.
 */
int aries_inv_drain(struct aries_dev *ad)
{
	int rc;

	mutex_lock(&ad->inv_lock);
	rc = aries_inv_idle(ad);
	mutex_unlock(&ad->inv_lock);
	return aries_inv_result(ad, rc);
}

/**
 * aries_inv_mdd() - invalidate a memory domain and wait for accesses in flight
 * @ad: the device
 * @mdh: memory domain handle
 *
 * Context: sleeps; one invalidation at a time.
 * Return: 0, or -ETIMEDOUT or -ENODEV: the pages must not be freed, see aries_quiet_keep().
 */
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh)
{
	return aries_inv(ad, ARIES_INV_MDD, mdh);
}

/**
 * aries_inv_ptes() - wait for who uses page entries of a valid domain that have changed
 * @ad: the device
 * @mdh: memory domain handle
 *
 * Context: sleeps; one invalidation at a time.
 * Return: 0, or -ETIMEDOUT or -ENODEV: the old pages must not be freed.
 */
int aries_inv_ptes(struct aries_dev *ad, unsigned int mdh)
{
	static_assert(ARIES_INV_PTES_MDH_MASK == ARIES_INV_MDD_MDH_MASK);
	return aries_inv(ad, ARIES_INV_PTES, mdh);
}
