// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * The thread for slow work: it posts wildcards, connects, notices silent peers, cleans up after
 * connections, and opens the device again after a reset.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "slnd_priv.h"

#define SLND_KEEP_PAUSE (HZ / 10)
#define SLND_KEEP_SOON (HZ / 50 + 1) /* while messages wait for a connection */

/** slnd_keeper_wake() - the keeper has something to do. Context: any. */
void slnd_keeper_wake(void)
{
	set_bit(SLND_KEEP, &slnd.flags);
	wake_up(&slnd.keeper_wq);
}

/** slnd_keeper_sleep() - sleep until there is something to do, or for @ticks. Context: sleeps. */
void slnd_keeper_sleep(unsigned long ticks)
{
	wait_queue_head_t *wq = &slnd.keeper_wq;

	wait_event_interruptible_timeout(*wq, test_and_clear_bit(SLND_KEEP, &slnd.flags), ticks);
}

/** slnd_keep_ended() - clean up after connections that have ended. Context: sleeps. */
void slnd_keep_ended(void)
{
	struct slnd_conn *conn;

	do {
		spin_lock(&slnd.lock);
		conn = list_first_entry_or_null(&slnd.ended, struct slnd_conn, ended);
		if (conn)
			list_del(&conn->ended);
		spin_unlock(&slnd.lock);
		if (conn)
			slnd_conn_bury(conn);
	} while (conn);
}

static void slnd_keep_listening(void)
{
	struct slnd_conn *conn;

	while (READ_ONCE(slnd.listening) < slnd_wildcards) {
		conn = slnd_conn_new(NULL);
		if (!conn || slnd_hail(conn))
			return; /* try again the next time */
	}
}

static bool slnd_quiet; /* the network is quiesced, or was until now */

/* A peer that is silent for too long is considered dead. So we send something ourselves in time. */
static void slnd_keep_conn(struct slnd_conn *conn)
{
	/* pairs with slnd_conn_open(): the times are those of this connection */
	enum slnd_state state = smp_load_acquire(&conn->state);
	unsigned long timeout = slnd_timeout * HZ;

	if (state != SLND_OPEN && state != SLND_CLOSING)
		return;
	if (slnd_quiet) {
		WRITE_ONCE(conn->last_rx, jiffies);
		WRITE_ONCE(conn->last_tx, jiffies);
	} else if (time_after(jiffies, READ_ONCE(conn->last_rx) + timeout)) {
		slnd_count(SLND_N_SILENT);
		slnd_conn_end(conn, "the peer is silent");
	} else if (time_after(jiffies, READ_ONCE(conn->last_tx) + timeout / 4) &&
		   state == SLND_OPEN) {
		slnd_say(conn, SLND_ALIVE);
	}
}

static void slnd_keep_conns(void)
{
	slnd_quiet = gni_get_quiesce_status(slnd.nic);
	if (test_and_clear_bit(SLND_RESUMED, &slnd.flags)) {
		slnd_count(SLND_N_QUIESCES);
		slnd_quiet = true;
	}
	slnd_for_conns(slnd_keep_conn);
}

/* The user leaves: end its transfers. */
static void slnd_keep_abort(struct slnd_peer *peer)
{
	struct slnd_bulk *bulk;

	spin_lock(&peer->lock);
	list_for_each_entry(bulk, &peer->bulks, node)
		slnd_conn_end_locked(bulk->conn, "its user has gone");
	spin_unlock(&peer->lock);
}

/* Return: whether the node waits for a connection. */
static bool slnd_keep_peer(struct slnd_peer *peer, bool abort)
{
	struct slnd_conn *conn;
	bool wanting, now;

	slnd_peer_flush(peer, abort ? 0 : slnd_timeout * HZ);
	if (abort)
		slnd_keep_abort(peer);
	spin_lock(&peer->lock);
	wanting = !peer->conn && (peer->wanted || !list_empty(&peer->queue));
	now = wanting && !peer->hailing && time_after_eq(jiffies, peer->next_try);
	spin_unlock(&peer->lock);
	if (!now || !test_bit(SLND_UP, &slnd.flags))
		return wanting;
	conn = slnd_conn_new(peer);
	if (conn)
		slnd_hail(conn);
	return true;
}

static bool slnd_keep(void)
{
	bool abort = test_bit(SLND_ABORT, &slnd.flags), soon = false;
	struct slnd_peer *peer;
	unsigned long address;

	xa_for_each(&slnd.peers, address, peer)
		soon |= slnd_keep_peer(peer, abort);
	if (!test_bit(SLND_UP, &slnd.flags))
		return true;
	slnd_keep_ended();
	slnd_keep_listening();
	slnd_keep_conns();
	slnd_hail_expire(false);
	slnd_quarantine_expire(false);
	return soon;
}

/** slnd_keeper_run() - the function of the keeper thread */
int slnd_keeper_run(void *unused)
{
	while (!kthread_should_stop()) {
		bool soon;

		if (test_bit(SLND_CRITICAL, &slnd.flags) && test_bit(SLND_UP, &slnd.flags)) {
			slnd_count(SLND_N_RESETS);
			slnd_device_close(false);
		}
		if (!test_bit(SLND_UP, &slnd.flags))
			slnd_device_open();
		soon = slnd_keep();
		slnd_keeper_sleep(soon ? SLND_KEEP_SOON : SLND_KEEP_PAUSE);
	}
	if (test_bit(SLND_UP, &slnd.flags))
		slnd_device_close(true);
	return 0;
}
