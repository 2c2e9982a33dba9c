// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Datagrams, by which nodes find each other: wildcards for any node, and directed ones. */
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "slnd_priv.h"

#define SLND_MOVER_MS 1000
#define SLND_MOVER_STOP_MS 250
#define SLND_HAIL_TIME (5 * HZ)
#define SLND_PAUSE_MAX (2 * HZ)

static void slnd_hail_fill(struct slnd_conn *conn)
{
	struct slnd_peer *peer = conn->peer;
	gni_smsg_attr_t smsg;

	slnd_box_describe(conn->box, &smsg);
	conn->mine = (struct slnd_hail){
		.magic = SLND_MAGIC,
		.version = SLND_VERSION,
		.type = !peer			       ? SLND_OFFER
			: peer->address < slnd.address ? SLND_ASK
						       : SLND_REQUEST,
		.address = slnd.address,
		.id = conn->id,
		.incarnation = slnd.incarnation,
		.smsg = smsg,
	};
	if (conn->mine.type == SLND_REQUEST)
		conn->mine.stamp = atomic64_inc_return(&slnd.stamp);
	else if (peer)
		conn->mine.stamp = peer->stamp;
}

/* The datagram of a connection is finished. Context: slnd.dgram_lock held. */
static void slnd_hail_over(struct slnd_conn *conn)
{
	list_del_init(&conn->hail_node);
	if (conn->peer)
		return;
	slnd.listening--;
	slnd_keeper_wake();
}

/**
 * slnd_hail() - post the datagram that may establish a connection
 * @conn: connection; from here on it belongs to the datagram thread
 *
 * Context: sleeps. Return: 0; -EIO, then the connection has ended.
 */
int slnd_hail(struct slnd_conn *conn)
{
	struct slnd_peer *peer = conn->peer;
	gni_return_t rc = GNI_RC_SUCCESS;

	slnd_hail_fill(conn);
	conn->hail_since = jiffies;
	if (peer) {
		spin_lock(&peer->lock);
		peer->hailing = conn;
		peer->next_try = jiffies + peer->pause;
		peer->pause = min_t(unsigned long, 2 * peer->pause, SLND_PAUSE_MAX);
		spin_unlock(&peer->lock);
		rc = gni_ep_bind(conn->ep, peer->address, SLND_DEVICE);
	}
	spin_lock(&slnd.dgram_lock);
	list_add_tail(&conn->hail_node, &slnd.hails);
	if (!peer)
		slnd.listening++;
	spin_unlock(&slnd.dgram_lock);
	/*
	 * the datagram may be finished before the call returns, so do not touch @conn after success
	 */
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_postdata_w_id(conn->ep, &conn->mine, sizeof(conn->mine), &conn->theirs,
					  sizeof(conn->theirs), (uintptr_t)conn);
	if (rc == GNI_RC_SUCCESS)
		return 0;
	spin_lock(&slnd.dgram_lock);
	slnd_hail_over(conn);
	spin_unlock(&slnd.dgram_lock);
	slnd_conn_end(conn, NULL);
	return -EIO;
}

/* Both sides know each other's mailbox. */
static void slnd_hail_connect(struct slnd_conn *conn, u32 address, bool initiator)
{
	struct slnd_peer *peer = conn->peer ? conn->peer : slnd_peer_get(address);
	gni_smsg_attr_t mine = conn->mine.smsg, theirs = conn->theirs.smsg;
	u64 stamp = initiator ? conn->mine.stamp : conn->theirs.stamp;
	gni_return_t rc = GNI_RC_SUCCESS;

	conn->clean = false;
	if (!conn->peer)
		rc = gni_ep_bind(conn->ep, address, conn->theirs.id);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_set_eventdata(conn->ep, conn->id, conn->theirs.id);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_smsg_init(conn->ep, &mine, &theirs);
	if (rc != GNI_RC_SUCCESS || !peer) {
		slnd_count(SLND_N_HAILS_REFUSED);
		slnd_conn_end(conn, "its mailboxes do not fit");
		return;
	}
	slnd_conn_open(conn, peer, initiator, stamp);
}

/* A node asks us to send a request. So it has no connection, even if we still have one. */
static void slnd_hail_asked(u32 address, const struct slnd_hail *ask)
{
	struct slnd_peer *peer = slnd_peer_get(address);
	struct slnd_conn *conn;

	if (!peer)
		return;
	slnd_count(SLND_N_ASKED);
	spin_lock(&peer->lock);
	conn = peer->conn;
	/* but it may have asked before it received our last request */
	if (conn && (conn->theirs.incarnation != ask->incarnation || conn->stamp <= ask->stamp)) {
		slnd_conn_end_locked(conn, "the peer has lost it");
		conn = NULL;
	}
	if (!conn) {
		peer->wanted = true;
		peer->next_try = jiffies;
	}
	spin_unlock(&peer->lock);
	slnd_keeper_wake();
}

static bool slnd_hail_sound(const struct slnd_conn *conn, u32 address)
{
	const struct slnd_hail *theirs = &conn->theirs;

	return theirs->magic == SLND_MAGIC && theirs->version == SLND_VERSION &&
	       theirs->address == address;
}

/* Both sides have each other's datagram. */
static void slnd_hail_met(struct slnd_conn *conn, u32 address)
{
	u16 mine = conn->mine.type, theirs = conn->theirs.type;

	if (!slnd_hail_sound(conn, address)) {
		slnd_count(SLND_N_HAILS_REFUSED);
		slnd_conn_end(conn, "its datagram is none of ours");
	} else if (mine == SLND_REQUEST && (theirs == SLND_OFFER || theirs == SLND_ASK)) {
		slnd_hail_connect(conn, address, true);
	} else if (theirs == SLND_REQUEST && mine != SLND_REQUEST) {
		slnd_hail_connect(conn, address, false);
	} else {
		/* an OFFER met an ASK: another datagram will establish the connection */
		if (theirs == SLND_ASK)
			slnd_hail_asked(address, &conn->theirs);
		slnd_conn_end(conn, NULL);
	}
}

/*
 * One of our datagrams may be finished. It is looked up in the list of posted ones, because it may
 * have been cancelled in the meantime.
 */
static void slnd_hail_test(u64 id)
{
	gni_post_state_t state = GNI_POST_PENDING;
	struct slnd_conn *conn, *found = NULL;
	u32 address = 0, remote_id;

	spin_lock(&slnd.dgram_lock);
	list_for_each_entry(conn, &slnd.hails, hail_node)
		if ((uintptr_t)conn == id)
			found = conn;
	if (found && gni_ep_postdata_test_by_id(found->ep, id, &state, &address, &remote_id) !=
			     GNI_RC_SUCCESS)
		state = GNI_POST_ERROR;
	if (state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA)
		found = NULL;
	else
		slnd_hail_over(found);
	spin_unlock(&slnd.dgram_lock);
	if (!found)
		return;
	if (state == GNI_POST_COMPLETED) {
		slnd_hail_met(found, address);
		return;
	}
	/* no peer knows the mailbox of a cancelled datagram */
	found->clean = state == GNI_POST_TERMINATED;
	slnd_conn_end(found, NULL);
}

/*
 * Cancel a datagram. Afterwards it has ended, unless it is being matched at this moment. In that
 * case the datagram thread will learn of its end. Context: slnd.dgram_lock held. Return: true if it
 * has ended.
 */
static bool slnd_hail_cancel(struct slnd_conn *conn)
{
	gni_post_state_t state = GNI_POST_PENDING;
	u32 address, remote_id;
	gni_return_t rc;

	gni_ep_postdata_cancel_by_id(conn->ep, (uintptr_t)conn);
	rc = gni_ep_postdata_test_by_id(conn->ep, (uintptr_t)conn, &state, &address, &remote_id);
	if (rc == GNI_RC_SUCCESS && (state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA))
		return false;
	conn->clean = rc == GNI_RC_NO_MATCH || state == GNI_POST_TERMINATED;
	slnd_hail_over(conn);
	return true;
}

/**
 * slnd_hail_expire() - cancel directed datagrams that nobody has answered
 * @all: cancel all of them, and the wildcards
 *
 * Context: sleeps.
 */
void slnd_hail_expire(bool all)
{
	struct slnd_conn *conn, *next;
	LIST_HEAD(gone);

	spin_lock(&slnd.dgram_lock);
	list_for_each_entry_safe(conn, next, &slnd.hails, hail_node) {
		bool late = conn->peer && time_after(jiffies, conn->hail_since + SLND_HAIL_TIME);

		if ((all || late) && slnd_hail_cancel(conn))
			list_add(&conn->hail_node, &gone);
	}
	spin_unlock(&slnd.dgram_lock);
	list_for_each_entry_safe(conn, next, &gone, hail_node) {
		list_del_init(&conn->hail_node);
		slnd_conn_end(conn, NULL);
	}
}

/** slnd_mover() - the thread that waits for datagrams to finish */
int slnd_mover(void *unused)
{
	u64 id;

	while (!kthread_should_stop()) {
		u32 ms = test_bit(SLND_STOPPING, &slnd.flags) ? SLND_MOVER_STOP_MS : SLND_MOVER_MS;

		if (gni_postdata_probe_wait_by_id(slnd.nic, ms, &id) == GNI_RC_SUCCESS)
			slnd_hail_test(id);
	}
	return 0;
}
