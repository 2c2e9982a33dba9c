// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Memory that a peer may still write to although we no longer use it: mailboxes and registrations
 * of connections that were not closed in an orderly way.
 *
 * A mailbox stays unused. Memory is deregistered, but its MDD is not reused. Both last until the
 * peer confirms on a newer connection that nothing of earlier ones is in flight, until the peer has
 * restarted, or until the hold time is over.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "slnd_priv.h"

/**
 * struct slnd_held - something in quarantine
 * @node: in slnd.quarantine
 * @peer: node that may still write to it; NULL if it is unknown
 * @incarnation: incarnation of the peer
 * @initiator: we had requested the connection
 * @stamp: number of the connection
 * @until: when the hold time ends, in jiffies
 * @box: mailbox, or NULL
 * @handle: held registration, if there is no mailbox
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

	/*
	 * Without memory the mailbox is lost until the device is closed. The hold of a registration
	 * ends by itself.
	 */
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

/*
 * slnd_quarantine_box() - quarantine the mailbox of a connection that has ended. Context: sleeps.
 */
void slnd_quarantine_box(struct slnd_conn *conn)
{
	slnd_quarantine_add(conn, conn->box, NULL);
}

/*
 * slnd_quarantine_handle() - quarantine memory that was deregistered with a hold time. Context:
 * sleeps.
 */
void slnd_quarantine_handle(struct slnd_conn *conn, const gni_mem_handle_t *handle)
{
	slnd_quarantine_add(conn, NULL, handle);
}

/*
 * The peer may have sent its HELLO long before the connection has ended here, so slnd_peer.greeted
 * remembers it.
 */
static bool slnd_quarantine_over(const struct slnd_held *held)
{
	const struct slnd_peer *peer = held->peer;

	return time_after(jiffies, held->until) ||
	       (peer && (held->incarnation != READ_ONCE(peer->incarnation) ||
			 held->stamp < READ_ONCE(peer->greeted[held->initiator])));
}

/*
 * slnd_quarantine_hello() - the peer confirms that connections before this one are over. Context:
 * any thread.
 */
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
 * slnd_quarantine_expire() - release what is no longer written to, or was held for long enough
 * @all: release everything, because the device is being closed
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
		/* this fails if the hold time is over, which is fine */
		if (held->box)
			slnd_box_put(held->box);
		else
			gni_mem_mdd_release(slnd.nic, &held->handle);
		slnd_count(SLND_N_RELEASED);
		kfree(held);
	}
}
