// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Received messages. */
#include <linux/jiffies.h>
#include <linux/string.h>

#include "slnd_priv.h"

#define SLND_BUDGET 64 /* messages to read from one connection before others have their turn */

/* Act on a message that was released. */
static void slnd_obey(struct slnd_conn *conn, u32 type, const struct slnd_bulk_words *words)
{
	switch (type) {
	case SLND_HELLO:
		slnd_quarantine_hello(conn);
		break;
	case SLND_CLOSE:
		slnd_conn_shut(conn);
		spin_lock(&conn->peer->lock);
		slnd_conn_closed(conn, &conn->close_came);
		spin_unlock(&conn->peer->lock);
		break;
	case SLND_BULK_ASK:
		slnd_rdma_asked(conn, words);
		break;
	case SLND_BULK_DONE:
		slnd_bulk_done(conn, words);
		break;
	}
}

static bool slnd_sound(const struct slnd_head *head)
{
	switch (head->type) {
	case SLND_HELLO:
	case SLND_ALIVE:
	case SLND_CLOSE:
		return !head->bytes;
	case SLND_DATA:
		return head->bytes <= SLND_MESSAGE_MAX;
	case SLND_BULK_ASK:
	case SLND_BULK_DONE:
		return head->bytes == sizeof(struct slnd_bulk_words);
	default:
		return false;
	}
}

/*
 * A message stays where the peer has put it until it is released. The user reads it in place.
 * Messages for slnd itself are copied and released first, because acting on them may take long.
 */
static bool slnd_take(struct slnd_conn *conn, const void *message)
{
	struct slnd_bulk_words words;
	struct slnd_head head;

	memcpy(&head, message, sizeof(head));
	if (!slnd_sound(&head)) {
		slnd_conn_end(conn, "the peer has said what means nothing");
		return false;
	}
	if (head.type == SLND_DATA)
		slnd_user_message(conn->peer->address, message + sizeof(head), head.bytes);
	else if (head.bytes)
		memcpy(&words, message + sizeof(head), sizeof(words));
	if (gni_smsg_release(conn->ep) != GNI_RC_SUCCESS) {
		slnd_conn_end(conn, "a message cannot be released");
		return false;
	}
	slnd_obey(conn, head.type, &words);
	return true;
}

/**
 * slnd_receive() - read the messages of a connection
 * @conn: it
 *
 * Context: sleeps; one thread at a time for a connection. Return: whether there may be more.
 */
bool slnd_receive(struct slnd_conn *conn)
{
	unsigned int n;
	gni_return_t rc;
	void *message;

	for (n = 0; n < SLND_BUDGET; n++) {
		if (READ_ONCE(conn->state) != SLND_OPEN && READ_ONCE(conn->state) != SLND_CLOSING)
			return false;
		rc = gni_smsg_getnext(conn->ep, &message);
		if (rc == GNI_RC_NOT_DONE)
			return false;
		if (rc != GNI_RC_SUCCESS) {
			slnd_conn_end(conn, "its mailbox is damaged");
			return false;
		}
		WRITE_ONCE(conn->last_rx, jiffies);
		conn->n_received++;
		if (!slnd_take(conn, message))
			return false;
	}
	return true;
}

/**
 * slnd_rx_events() - read the queue of received messages
 *
 * An event only tells the connection. When the queue has overrun, events are lost, so all
 * connections are checked. Context: schedulers.
 */
void slnd_rx_events(void)
{
	struct slnd_conn *conn;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.rx_cq, &entry);
		if (rc == GNI_RC_ERROR_RESOURCE && GNI_CQ_OVERRUN(entry)) {
			slnd_count(SLND_N_OVERRUNS);
			slnd_for_conns(slnd_schedule);
			continue;
		}
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		cond_resched(); /* events may come as fast as they are read */
		conn = slnd_conn_find(GNI_CQ_GET_REM_INST_ID(entry));
		if (!conn)
			continue;
		slnd_schedule(conn);
		slnd_conn_put(conn);
	}
}
