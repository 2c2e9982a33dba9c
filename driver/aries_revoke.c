// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* A NIC that is reset, removed or switched off is taken from all who use it. */
#include "aries.h"
#include "aries_trace.h"

/**
 * aries_revoke() - take everything from every owner
 * @ad: the device
 * @state: the device's state from now on
 *
 * Mappings lead nowhere: they read as ones; sleepers wake up; memory is unpinned. Owners stay
 * what they are and get -EIO or -ENODEV. Those that come meanwhile are not touched.
 *
 * Context: sleeps. When it returns nobody is attached, and nobody is about to end an attachment.
 */
void aries_revoke(struct aries_dev *ad, enum aries_state state)
{
	struct aries_owner *own = NULL;
	LIST_HEAD(gone);
	u64 last;

	down_write(&ad->state_sem);
	WRITE_ONCE(ad->state, state);
	trace_aries_reset(ad->id, state, READ_ONCE(ad->hw_ok));
	last = ad->owner_id;
	/* from here on nobody begins anything; who asks is told so and does not wait */
	downgrade_write(&ad->state_sem);
	aries_client_tell(ad, state == ARIES_STATE_GONE ? ARIES_EVENT_GONE : ARIES_EVENT_RESET);
	while ((own = aries_owner_next(ad, own))) {
		if (own->id > last) {
			aries_owner_put(own);
			break;
		}
		aries_owner_revoke(own, &gone);
	}
	aries_kept_release(ad, &gone);
	up_read(&ad->state_sem);
	aries_clock_wake(ad);
	/* files that were being closed meanwhile have given everything back after this */
	down_write(&ad->state_sem);
	up_write(&ad->state_sem);
}
