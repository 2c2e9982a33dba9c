// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * What a peer may still write to, although we have done with it: mailboxes and registrations of
 * connections that have ended without both sides' consent.
 *
 * A mailbox stays unused, a registration is off but its number nobody else's, until the peer says
 * on a newer connection that nothing of earlier ones is under way, until it has restarted, or until
 * the hold time is over.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "slnd_priv.h"

/**
 * struct slnd_held - something in quarantine
 * @node: in slnd.quarantine
 * @peer: who may still write to it; NULL: nobody knows
 * @incarnation: of the peer
 * @initiator: side of the connection that was ours
 * @stamp: of the connection
 * @until: when it ends, in jiffies
 * @box: mailbox, or NULL
 * @handle: registration that is held if it is no mailbox
 */
struct slnd_held {
	struct list_head node;
	struct slnd_peer *peer;
	u64 incarnation;
	bool initiator;
	u64 stamp;
	unsigned long until;
	struct slnd_box *box;
	gni_mem_handle_t handle;
};

static void slnd_quarantine_add(struct slnd_conn *conn, struct slnd_box *box,
				const gni_mem_handle_t *handle)
{
	struct slnd_held *held = kzalloc(sizeof(*held), GFP_KERNEL);

	/* The mailbox is lost until the device is closed then; the registration ends by itself. */
	if (!held)
		return;
	held->peer = conn->peer;
	held->incarnation = conn->theirs.incarnation;
	held->initiator = conn->initiator;
	held->stamp = conn->stamp;
	held->until = jiffies + slnd_hold * HZ;
	held->box = box;
	if (handle)
		held->handle = *handle;
	spin_lock(&slnd.lock);
	list_add_tail(&held->node, &slnd.quarantine);
	spin_unlock(&slnd.lock);
	slnd_count(SLND_N_QUARANTINED);
}

/** slnd_quarantine_box() - the mailbox of a connection that has ended. Context: sleeps. */
void slnd_quarantine_box(struct slnd_conn *conn)
{
	slnd_quarantine_add(conn, conn->box, NULL);
}

/** slnd_quarantine_handle() - a registration that was ended with a hold time. Context: sleeps. */
void slnd_quarantine_handle(struct slnd_conn *conn, const gni_mem_handle_t *handle)
{
	slnd_quarantine_add(conn, NULL, handle);
}

/* The connection may have ended long after the peer has said so: so what was said is remembered. */
static bool slnd_quarantine_over(const struct slnd_held *held)
{
	const struct slnd_peer *peer = held->peer;

	return time_after(jiffies, held->until) ||
	       (peer && (held->incarnation != READ_ONCE(peer->incarnation) ||
			 held->stamp < READ_ONCE(peer->greeted[held->initiator])));
}

/** slnd_quarantine_hello() - connections before this one are over. Context: any thread. */
void slnd_quarantine_hello(const struct slnd_conn *conn)
{
	struct slnd_peer *peer = conn->peer;
	u64 *greeted = &peer->greeted[conn->initiator];

	spin_lock(&peer->lock);
	WRITE_ONCE(*greeted, max(*greeted, conn->stamp));
	spin_unlock(&peer->lock);
	slnd_keeper_wake();
}

/**
 * slnd_quarantine_expire() - end what nobody writes to any more, or has been held for long enough
 * @all: the device is closed: all of it
 *
 * Context: sleeps.
 */
void slnd_quarantine_expire(bool all)
{
	struct slnd_held *held, *next;
	LIST_HEAD(over);

	spin_lock(&slnd.lock);
	list_for_each_entry_safe(held, next, &slnd.quarantine, node)
		if (all || slnd_quarantine_over(held))
			list_move(&held->node, &over);
	spin_unlock(&slnd.lock);
	list_for_each_entry_safe(held, next, &over, node) {
		/* the hold may be over as well, so what it returns means nothing */
		if (held->box)
			slnd_box_put(held->box);
		else
			gni_mem_mdd_release(slnd.nic, &held->handle);
		slnd_count(SLND_N_RELEASED);
		kfree(held);
	}
}
