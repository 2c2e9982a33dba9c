// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Quiesces: periods in which no NIC of the network injects requests. The NIC reports when one
 * begins and how long it will last. Clients in the kernel are told when it begins and when it ends.
 */
#include <linux/math64.h>
#include <linux/sysfs.h>

#include "aries.h"
#include "aries_client.h"
#include "aries_compat.h"

/* Simulated time may jump to the end of a quiesce, so the NIC is polled at least this often. */
#define ARIES_QSC_POLL_MS 10

static void aries_qsc_set(struct aries_dev *ad, bool quiet)
{
	lockdep_assert_held(&ad->qsc_lock);
	WRITE_ONCE(ad->qsc_quiet, quiet);
	aries_client_quiesce(ad, quiet, READ_ONCE(ad->qsc_ms));
	sysfs_notify(&ad->dev.kobj, NULL, "quiesced");
}

/*
 * A quiesce that ended before it was noticed is reported, too: first its begin, and then its end.
 */
static void aries_qsc_look(struct aries_dev *ad)
{
	u32 count = aries_rd32(ad, ARIES_QSC_COUNT);
	u64 left = aries_rd64(ad, ARIES_QSC_LEFT);
	u64 length = aries_rd64(ad, ARIES_QSC_LENGTH);

	lockdep_assert_held(&ad->qsc_lock);
	if (!ad->qsc_on || length == ~0ull)
		return;
	if (count != ad->qsc_count || left) {
		WRITE_ONCE(ad->qsc_quiesces, ad->qsc_quiesces + (count - ad->qsc_count));
		WRITE_ONCE(ad->qsc_ms, div_u64(length + NSEC_PER_MSEC - 1, NSEC_PER_MSEC));
		ad->qsc_count = count;
		if (!ad->qsc_quiet) {
			dev_notice_ratelimited(&ad->dev, "the network is quiesced\n");
			aries_qsc_set(ad, true);
		}
	}
	if (left) {
		schedule_delayed_work(&ad->qsc_work, msecs_to_jiffies(ARIES_QSC_POLL_MS));
	} else if (ad->qsc_quiet) {
		dev_notice_ratelimited(&ad->dev, "the network resumes after a quiesce of %u ms\n",
				       ad->qsc_ms);
		aries_qsc_set(ad, false);
	}
}

static void aries_qsc_work(struct work_struct *work)
{
	struct aries_dev *ad = container_of(work, struct aries_dev, qsc_work.work);

	mutex_lock(&ad->qsc_lock);
	aries_qsc_look(ad);
	mutex_unlock(&ad->qsc_lock);
}

/**
 * aries_qsc_init() - initialise the state of this file
 * @ad: the device
 */
void aries_qsc_init(struct aries_dev *ad)
{
	mutex_init(&ad->qsc_lock);
	INIT_DELAYED_WORK(&ad->qsc_work, aries_qsc_work);
}

/**
 * aries_qsc_drain() - check whether a quiesce has begun
 * @ad: the device
 *
 * The event is acknowledged before it is handled, so a quiesce that begins meanwhile raises it
 * again.
 *
 * Context: sleeps; called from the thread of vector 0.
 */
void aries_qsc_drain(struct aries_dev *ad)
{
	if (!(ad->caps & ARIES_ID_CAPS_QUIESCE_MASK))
		return;
	mutex_lock(&ad->qsc_lock);
	if (ad->qsc_on && aries_rd32(ad, ARIES_QSC_STATUS) == ARIES_QSC_STATUS_BEGUN_MASK) {
		aries_wr32(ad, ARIES_QSC_STATUS, ARIES_QSC_STATUS_BEGUN_MASK);
		aries_qsc_look(ad);
	}
	mutex_unlock(&ad->qsc_lock);
}

/**
 * aries_qsc_start() - enable reports of quiesces; one that is in progress is reported as begun
 * @ad: the device, which is enabled
 *
 * Context: sleeps.
 */
void aries_qsc_start(struct aries_dev *ad)
{
	if (!(ad->caps & ARIES_ID_CAPS_QUIESCE_MASK))
		return;
	mutex_lock(&ad->qsc_lock);
	ad->qsc_on = true;
	ad->qsc_count = aries_rd32(ad, ARIES_QSC_COUNT);
	aries_wr32(ad, ARIES_QSC_CTL, FIELD_PREP(ARIES_QSC_CTL_ENABLE_MASK, 1));
	aries_qsc_look(ad);
	mutex_unlock(&ad->qsc_lock);
}

/**
 * aries_qsc_stop() - disable reports of quiesces before the NIC is released or reset
 * @ad: the device
 *
 * Context: sleeps.
 */
void aries_qsc_stop(struct aries_dev *ad)
{
	mutex_lock(&ad->qsc_lock);
	if (ad->qsc_on)
		aries_wr32(ad, ARIES_QSC_CTL, 0);
	ad->qsc_on = false;
	if (ad->qsc_quiet)
		aries_qsc_set(ad, false);
	mutex_unlock(&ad->qsc_lock);
	cancel_delayed_work_sync(&ad->qsc_work);
}
