// SPDX-License-Identifier: GPL-2.0-only
/*
 * Purgatory: connections that are over here, but whose peer may still write to their mailbox, and
 * to buffers that it was asked to access. The mailbox is not freed. The buffers were deregistered
 * and given back, but the numbers of their registrations (MDD) are not used again. A node sends
 * nothing on a connection while anything of earlier ones is in flight. So it lasts until something
 * comes on one that has replaced it, or from another incarnation of the peer, or for the hold time.
 */
#include "slnd_priv.h"

/* Nothing of a connection is in flight here, but both sides have not closed it. */
void slnd_purgatory_enter(struct slnd_conn *conn)
{
	struct slnd_tx *tx;

	list_for_each_entry(tx, &conn->exposed, node)
		slnd.counters.purgatory++;
	slnd.counters.purgatory++;
	conn->since = jiffies;
	list_add_tail(&conn->node, &slnd.purgatory);
}

static bool slnd_purgatory_over(const struct slnd_conn *conn)
{
	const struct slnd_peer *peer = conn->peer;

	return time_after(jiffies, conn->since + slnd_hold * HZ) ||
	       (peer && (conn->theirs.incarnation != peer->incarnation ||
			 conn->stamp < peer->greeted[conn->initiator]));
}

/* Something has come on a connection: those that it has replaced are over, or will be. */
void slnd_purgatory_hello(const struct slnd_conn *conn)
{
	u64 *greeted = conn->peer->greeted;

	greeted[conn->initiator] = max(greeted[conn->initiator], conn->stamp);
	greeted[!conn->initiator] = max(greeted[!conn->initiator], conn->known + 1);
}

/* Free what is safe to free; all of it, because the NIC is left. */
void slnd_purgatory_expire(bool all)
{
	struct slnd_conn *conn, *next_conn;
	struct slnd_tx *tx, *next;

	list_for_each_entry_safe(conn, next_conn, &slnd.purgatory, node) {
		if (!all && !slnd_purgatory_over(conn))
			continue;
		list_for_each_entry_safe(tx, next, &conn->exposed, node) {
			/* this fails if the hold time is over, which is fine */
			gni_mem_mdd_release(slnd.nic, &tx->msg.handle);
			slnd.counters.released++;
			kfree(tx);
		}
		slnd_mbox_free(&conn->mine.smsg);
		slnd.counters.released++;
		list_del(&conn->node);
		kfree(conn);
	}
}
