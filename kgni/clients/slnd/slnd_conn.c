// SPDX-License-Identifier: GPL-2.0-only
/* Nodes and the connections with them. All changes of slnd_conn.state are here. */
#include "slnd_priv.h"

#define SLND_CONN_IDS XA_LIMIT(1, 0xfffff) /* event data has 24 bits on Aries */

/* Find a node by the address of its NIC, or create it. Return: it, or NULL. */
struct slnd_peer *slnd_peer_get(u32 address)
{
	struct slnd_peer *peer = xa_load(&slnd.peers, address);

	if (peer)
		return peer;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return NULL;
	INIT_LIST_HEAD(&peer->txq);
	INIT_LIST_HEAD(&peer->conns);
	peer->address = address;
	peer->retry = jiffies;
	if (!xa_err(xa_store(&slnd.peers, address, peer, GFP_KERNEL)))
		return peer;
	kfree(peer);
	return NULL;
}

/* Prepare a connection with a node, or with any node. Return: it, or NULL. */
struct slnd_conn *slnd_conn_new(struct slnd_peer *peer)
{
	struct slnd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	INIT_LIST_HEAD(&conn->exposed);
	INIT_LIST_HEAD(&conn->node);
	conn->peer = peer;
	conn->clean = true;
	if (slnd_mbox_get(&conn->mine.smsg))
		goto free;
	if (gni_ep_create(slnd.nic, slnd.tx_cq, &conn->ep) != GNI_RC_SUCCESS)
		goto mbox;
	if (xa_alloc_cyclic(&slnd.conns, &conn->id, conn, SLND_CONN_IDS, &slnd.next_conn,
			    GFP_KERNEL) >= 0)
		return conn;
	gni_ep_destroy(conn->ep);
mbox:
	slnd_mbox_free(&conn->mine.smsg);
free:
	kfree(conn);
	return NULL;
}

/*
 * Each side knows the other's mailbox. Earlier connections that the same side has requested are
 * over, and those that the other has requested, as far as the requester knew of them: it would not
 * have asked otherwise. A request that has crossed this one makes a connection of its own.
 */
void slnd_conn_establish(struct slnd_conn *conn, struct slnd_peer *peer, bool initiator)
{
	struct slnd_conn *old;

	conn->peer = peer;
	conn->initiator = initiator;
	conn->stamp = initiator ? conn->mine.stamp : conn->theirs.stamp;
	conn->known = initiator ? conn->mine.known : conn->theirs.known;
	conn->last_rx = jiffies;
	list_for_each_entry(old, &peer->conns, node)
		if (old->initiator == initiator || old->stamp <= conn->known ||
		    old->theirs.incarnation != conn->theirs.incarnation)
			slnd_conn_close(old, "there is a newer one");
	list_add(&conn->node, &peer->conns);
	conn->state = SLND_ESTABLISHED;
	if (peer->dgram == conn)
		peer->dgram = NULL;
	if (!peer->conn)
		peer->conn = conn;
	if (!initiator)
		peer->stamp = conn->stamp;
	if (peer->incarnation != conn->theirs.incarnation)
		memset(peer->greeted, 0, sizeof(peer->greeted)); /* it counts from 0 */
	peer->incarnation = conn->theirs.incarnation;
	peer->pause = 0;
	slnd.counters.connected++;
	slnd_wake(SLND_EV_RETRY); /* messages may have come before it could be read */
}

/* Nothing new is sent on a connection, and it is closed once all that is in flight has ended. */
void slnd_conn_shut(struct slnd_conn *conn)
{
	conn->state = SLND_CLOSING;
	if (conn->peer->conn == conn)
		conn->peer->conn = NULL;
}

/* A connection, or an attempt, is over; @why it has failed, or NULL. The reaper does the rest. */
void slnd_conn_close(struct slnd_conn *conn, const char *why)
{
	struct slnd_peer *peer = conn->peer;

	if (conn->state == SLND_CLOSED)
		return;
	if (why) {
		pr_info("slnd: connection %u with %#x: %s\n", conn->id, peer ? peer->address : 0,
			why);
		slnd.counters.failed++;
	}
	conn->state = SLND_CLOSED;
	if (peer && peer->conn == conn)
		peer->conn = NULL;
	if (peer && peer->dgram == conn)
		peer->dgram = NULL;
	slnd_wake(SLND_EV_RETRY); /* what has to be sent on it fails */
	slnd_reaper_wake();
}

/* Something of a connection has ended. */
void slnd_conn_put(struct slnd_conn *conn)
{
	if (!--conn->in_flight && conn->state >= SLND_CLOSING)
		slnd_reaper_wake();
}

/* Nothing of a closed connection is in flight. Free what the peer cannot write to. */
void slnd_conn_free(struct slnd_conn *conn)
{
	xa_erase(&slnd.conns, conn->id);
	gni_ep_destroy(conn->ep); /* it need not be unbound */
	list_del_init(&conn->node);
	slnd_wake(SLND_EV_RETRY); /* a newer one may be used now */
	if (!conn->clean) {
		slnd_purgatory_enter(conn);
		return;
	}
	slnd_mbox_free(&conn->mine.smsg);
	kfree(conn);
}
