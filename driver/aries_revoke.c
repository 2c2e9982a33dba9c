// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* A NIC that is reset, removed or switched off is revoked from all its users. */
#include "aries.h"
#include "aries_trace.h"

/**
 * aries_revoke() - revoke all objects of all owners
 * @ad: the device
 * @state: the device's state from now on
 *
 * Mappings are redirected and read as ones. Sleepers wake up. Memory is unpinned. Owners continue
 * to exist, and get -EIO or -ENODEV. Owners that are created meanwhile are not touched.
 *
 * Context: sleeps. When it returns no owner is attached, and none is in the middle of detaching.
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
	/* from here on no operation begins: callers see the new state and do not wait */
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
	/* wait for files that are being closed to release everything */
	down_write(&ad->state_sem);
	up_write(&ad->state_sem);
}
