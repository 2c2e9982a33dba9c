// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Nodes, and the connections with them, from the datagram to the end. */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "slnd_priv.h"

#define SLND_CONN_IDS XA_LIMIT(1, 0xfffff) /* event data has 24 bits on Aries */
#define SLND_PAUSE (HZ / 50 + 1)

/**
 * slnd_peer_get() - find a node by its address, or create it
 * @address: address of its NIC
 *
 * Context: sleeps. Return: the node, or NULL if there is no memory.
 */
struct slnd_peer *slnd_peer_get(u32 address)
{
	struct slnd_peer *peer = xa_load(&slnd.peers, address), *other;

	if (peer)
		return peer;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return NULL;
	spin_lock_init(&peer->lock);
	INIT_LIST_HEAD(&peer->queue);
	INIT_LIST_HEAD(&peer->bulks);
	INIT_LIST_HEAD(&peer->conns);
	peer->address = address;
	peer->next_try = jiffies;
	peer->pause = SLND_PAUSE;
	other = xa_cmpxchg(&slnd.peers, address, NULL, peer, GFP_KERNEL);
	if (!other)
		return peer;
	kfree(peer);
	return xa_is_err(other) ? NULL : other;
}

/** slnd_peers_free() - free all nodes. Context: sleeps; there are no connections. */
void slnd_peers_free(void)
{
	struct slnd_peer *peer;
	unsigned long address;

	xa_for_each(&slnd.peers, address, peer)
		kfree(peer);
	xa_destroy(&slnd.peers);
}

/**
 * slnd_conn_new() - prepare a connection that is not established yet
 * @peer: node, NULL for any node
 *
 * Context: sleeps. Return: the connection, or NULL.
 */
struct slnd_conn *slnd_conn_new(struct slnd_peer *peer)
{
	struct slnd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	refcount_set(&conn->refs, 1);
	INIT_LIST_HEAD(&conn->peer_node);
	INIT_LIST_HEAD(&conn->hail_node);
	INIT_LIST_HEAD(&conn->ready);
	conn->peer = peer;
	conn->clean = true; /* until a peer may know of the mailbox */
	conn->box = slnd_box_get();
	if (!conn->box)
		goto free;
	if (gni_ep_create(slnd.nic, slnd.tx_cq, &conn->ep) != GNI_RC_SUCCESS)
		goto box;
	if (xa_alloc_cyclic(&slnd.conns, &conn->id, conn, SLND_CONN_IDS, &slnd.next_conn,
			    GFP_KERNEL) < 0)
		goto ep;
	atomic_inc(&slnd.conns_left);
	return conn;
ep:
	gni_ep_destroy(conn->ep);
box:
	slnd_box_put(conn->box);
free:
	kfree(conn);
	return NULL;
}

/*
 * slnd_conn_find() - find the connection of an event, and take a reference. Context: any thread.
 */
struct slnd_conn *slnd_conn_find(u32 id)
{
	struct slnd_conn *conn;

	xa_lock(&slnd.conns);
	conn = xa_load(&slnd.conns, id);
	if (conn && !refcount_inc_not_zero(&conn->refs))
		conn = NULL;
	xa_unlock(&slnd.conns);
	return conn;
}

/** slnd_for_conns() - call a function for every established connection. Context: any thread. */
void slnd_for_conns(void (*do_it)(struct slnd_conn *conn))
{
	struct slnd_conn *conn;
	unsigned long id;

	for (id = 0; xa_find(&slnd.conns, &id, ULONG_MAX, XA_PRESENT); id++) {
		conn = slnd_conn_find(id);
		if (!conn)
			continue;
		if (READ_ONCE(conn->state) != SLND_HAILING)
			do_it(conn);
		slnd_conn_put(conn);
	}
}

/* Among connections with the same initiator only the newest one is in use. */
static bool slnd_conn_earlier(const struct slnd_conn *conn, const struct slnd_conn *other)
{
	return other != conn && other->initiator == conn->initiator;
}

/* Once all connections before @conn are gone, tell the peer that it may reuse its mailboxes. */
static void slnd_conn_hello(struct slnd_peer *peer)
{
	struct slnd_conn *conn, *other;

	list_for_each_entry(conn, &peer->conns, peer_node) {
		bool more = false;

		if (!conn->hello_due)
			continue;
		list_for_each_entry(other, &peer->conns, peer_node)
			more |= slnd_conn_earlier(conn, other) && other->state == SLND_ENDED;
		if (more)
			continue;
		conn->hello_due = false;
		conn->say |= BIT(SLND_HELLO);
		slnd_schedule(conn);
	}
}

static void slnd_conn_free(struct slnd_conn *conn)
{
	struct slnd_peer *peer = conn->peer;

	xa_erase(&slnd.conns, conn->id);
	/* The endpoint need not be unbound: destroying it is enough. */
	gni_ep_destroy(conn->ep);
	if (conn->clean)
		slnd_box_put(conn->box);
	else
		slnd_quarantine_box(conn);
	if (peer) {
		spin_lock(&peer->lock);
		list_del(&conn->peer_node);
		slnd_conn_hello(peer);
		spin_unlock(&peer->lock);
	}
	kfree(conn);
	atomic_dec(&slnd.conns_left);
	slnd_keeper_wake();
}

/** slnd_conn_put() - drop a reference. Context: any thread, without locks. */
void slnd_conn_put(struct slnd_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		slnd_conn_free(conn);
}

/**
 * slnd_conn_open() - establish a connection that replaces earlier ones
 * @conn: connection whose endpoint is ready for messages
 * @peer: the other side
 * @initiator: whether this side has requested it
 * @stamp: number of the request
 *
 * Context: any thread.
 */
void slnd_conn_open(struct slnd_conn *conn, struct slnd_peer *peer, bool initiator, u64 stamp)
{
	u64 incarnation = conn->theirs.incarnation;
	struct slnd_conn *old;

	spin_lock(&peer->lock);
	conn->peer = peer;
	conn->initiator = initiator;
	conn->stamp = stamp;
	conn->clean = false;
	WRITE_ONCE(conn->last_rx, jiffies);
	WRITE_ONCE(conn->last_tx, jiffies);
	list_for_each_entry(old, &peer->conns, peer_node)
		if (slnd_conn_earlier(conn, old) || old->theirs.incarnation != incarnation)
			slnd_conn_end_locked(old, "there is a newer one");
	list_add(&conn->peer_node, &peer->conns);
	smp_store_release(&conn->state, SLND_OPEN); /* pairs with slnd_keep_conn() */
	if (peer->hailing == conn)
		peer->hailing = NULL;
	/* a connection with ourselves consists of two, and only one of them is used to send */
	if (initiator || peer->address != slnd.address)
		peer->conn = conn;
	if (initiator)
		peer->wanted = false;
	else
		peer->stamp = stamp;
	if (peer->incarnation != incarnation)
		memset(peer->greeted, 0, sizeof(peer->greeted)); /* it counts from 0 */
	WRITE_ONCE(peer->incarnation, incarnation);
	peer->pause = SLND_PAUSE;
	conn->hello_due = true;
	slnd_conn_hello(peer);
	spin_unlock(&peer->lock);
	slnd_count(SLND_N_CONNECTED);
	/* messages may have arrived before we could read them */
	slnd_schedule(conn);
}

/**
 * slnd_conn_end_locked() - end a connection, or an unsuccessful attempt to connect
 * @conn: it
 * @why: reason for the log; NULL if nothing has gone wrong
 *
 * Context: any thread; slnd_peer.lock held if it has a peer. The keeper does the rest.
 */
void slnd_conn_end_locked(struct slnd_conn *conn, const char *why)
{
	struct slnd_peer *peer = conn->peer;

	if (conn->state == SLND_ENDED)
		return;
	if (why) {
		pr_info("slnd: connection %u with %#x: %s\n", conn->id, peer ? peer->address : 0,
			why);
		slnd_count(SLND_N_FAILED);
	}
	WRITE_ONCE(conn->state, SLND_ENDED);
	if (peer && peer->conn == conn)
		peer->conn = NULL;
	if (peer && peer->hailing == conn)
		peer->hailing = NULL;
	spin_lock(&slnd.lock);
	list_add_tail(&conn->ended, &slnd.ended);
	spin_unlock(&slnd.lock);
	slnd_keeper_wake();
}

/** slnd_conn_end() - the same, called without the lock. Context: any thread. */
void slnd_conn_end(struct slnd_conn *conn, const char *why)
{
	struct slnd_peer *peer = conn->peer;

	if (!peer) {
		slnd_conn_end_locked(conn, why);
		return;
	}
	spin_lock(&peer->lock);
	slnd_conn_end_locked(conn, why);
	spin_unlock(&peer->lock);
}

/*
 * slnd_conn_shut() - close a connection in an orderly way: both sides send a CLOSE. Context: any
 * thread.
 */
void slnd_conn_shut(struct slnd_conn *conn)
{
	struct slnd_peer *peer = conn->peer;

	spin_lock(&peer->lock);
	if (conn->state == SLND_OPEN) {
		WRITE_ONCE(conn->state, SLND_CLOSING);
		if (peer->conn == conn)
			peer->conn = NULL;
		conn->say |= BIT(SLND_CLOSE);
	}
	spin_unlock(&peer->lock);
	slnd_schedule(conn);
}

/**
 * slnd_conn_closed() - one side has sent its CLOSE; the connection ends when both have
 * @conn: it
 * @side: slnd_conn.close_sent or slnd_conn.close_came
 *
 * Context: any thread, slnd_peer.lock held.
 */
void slnd_conn_closed(struct slnd_conn *conn, bool *side)
{
	*side = true;
	if (conn->close_sent && conn->close_came && conn->state == SLND_CLOSING) {
		conn->clean = true;
		slnd_count(SLND_N_CLOSED);
		slnd_conn_end_locked(conn, NULL);
	}
}

/**
 * slnd_conn_bury() - clean up after a connection that has ended
 * @conn: it
 *
 * Messages and transfers that need it fail. It is freed once all events have arrived.
 * Context: sleeps.
 */
void slnd_conn_bury(struct slnd_conn *conn)
{
	if (conn->peer) {
		slnd_bulk_fail_all(conn);
		slnd_peer_flush(conn->peer, ULONG_MAX);
		slnd_wake(SLND_EV_LATER);
	}
	slnd_conn_put(conn);
}
