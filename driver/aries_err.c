// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Error events are taken from the NIC's queue, counted, traced, delivered to subscribers, and
 * logged at a limited rate.
 */
#include <linux/delay.h>

#include "aries.h"
#include "aries_client.h"
#include "aries_compat.h"
#include "aries_trace.h"

/*
 * After this many events the thread sleeps for a moment. Interrupt threads run at real-time
 * priority, so other threads would get no CPU time.
 */
#define ARIES_ERR_BATCH 64

static void aries_err_one(struct aries_dev *ad, u64 event)
{
	unsigned int code = FIELD_GET(ARIES_ERR_EVENT_CODE_MASK, event);
	unsigned int category = FIELD_GET(ARIES_ERR_EVENT_CATEGORY_MASK, event);
	unsigned int ptag = FIELD_GET(ARIES_ERR_EVENT_PTAG_MASK, event);
	struct kgni_err_event told = {
		.code = code,
		.category = category,
		.ptag = ptag,
		.time_ns = aries_rd64(ad, ARIES_ERR_TIME),
	};
	u64 *info = told.info;
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(told.info) != ARIES_ERR_INFO_COUNT);
	for (i = 0; i < ARIES_ERR_INFO_COUNT; i++)
		info[i] = aries_rd64(ad, ARIES_ERR_INFO_N(i));
	atomic64_inc(&ad->errors);
	trace_aries_error(ad->id, event, told.time_ns, info);
	aries_ees_post(ad, &told);
	aries_client_error(ad, &told);
	if (code >= ARIES_RAS_SINGLE) {
		aries_ras_event(ad, &told);
		return;
	}
	dev_warn_ratelimited(&ad->dev,
			     "error %#x %s%s, category %#x, ptag %u, info %#llx %#llx %#llx %#llx\n",
			     code, aries_status_name(code),
			     code & ARIES_ST_LOCAL ? " (local side)" : "", category, ptag, info[0],
			     info[1], info[2], info[3]);
}

/**
 * aries_err_drain() - take all error events from the NIC's queue
 * @ad: the device
 *
 * A process that causes errors faster than they can be delivered keeps only this thread busy.
 * Events that do not fit into the queue are counted by the NIC.
 *
 * Context: sleeps; called from the thread of vector 0. Returns when the NIC is disabled.
 */
void aries_err_drain(struct aries_dev *ad)
{
	unsigned int n;

	for (n = 1;; n++) {
		u32 count = aries_rd32(ad, ARIES_ERR_COUNT);

		if (!count || count == ~0u)
			return;
		aries_err_one(ad, aries_rd64(ad, ARIES_ERR_EVENT));
		aries_wr32(ad, ARIES_ERR_POP, FIELD_PREP(ARIES_ERR_POP_POP_MASK, 1));
		if (!(n % ARIES_ERR_BATCH))
			usleep_range(100, 200);
	}
}
