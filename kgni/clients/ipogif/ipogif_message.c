// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages on a connection: frames or parts of them, and what else both sides tell each other. All
 * of this runs under the lock of the peer's queue.
 */
#include "ipogif.h"

/* Most messages have their event at once, so a short queue is enough, and it is never armed. */
static void ipogif_reap_messages(struct ipogif_queue *q)
{
	gni_cq_entry_t entry;

	while (q->messages) {
		gni_return_t rc = gni_cq_get_event(q->msg_cq, &entry);
		struct ipogif_conn *conn;

		if (rc == GNI_RC_NOT_DONE || rc == GNI_RC_INVALID_PARAM)
			return;
		q->messages--;
		if (rc == GNI_RC_SUCCESS)
			continue;
		conn = ipogif_conn_find(q->ipg, GNI_CQ_GET_INST_ID(entry));
		if (conn)
			ipogif_conn_fail(conn, "a message did not get through");
	}
}

/**
 * ipogif_send() - send a message
 * @conn: connection
 * @wire: its beginning; the members common to all messages are filled in here
 * @data: wire->bytes of data
 *
 * Context: ipogif_queue.lock held. Return: false if it cannot be sent now.
 */
bool ipogif_send(struct ipogif_conn *conn, struct ipogif_wire *wire, const void *data)
{
	u64 freed = atomic64_read(&conn->pool.freed);
	gni_return_t rc;

	if (freed)
		freed = atomic64_xchg(&conn->pool.freed, 0);
	wire->freed = freed;
	wire->received = READ_ONCE(conn->received);
	rc = gni_smsg_send(conn->ep, wire, sizeof(*wire), (void *)data, wire->bytes, 0);
	if (rc == GNI_RC_SUCCESS) {
		WRITE_ONCE(conn->told, wire->received);
		conn->txq->messages++;
		ipogif_reap_messages(conn->txq);
		return true;
	}
	atomic64_or(freed, &conn->pool.freed);
	if (rc == GNI_RC_NOT_DONE) {
		ipogif_reap_messages(conn->txq);
		ipogif_stalled(conn);
	} else {
		ipogif_conn_fail(conn, "messages are refused");
	}
	return false;
}

/**
 * ipogif_control() - send a message other than a frame
 * @conn: connection
 * @type: its type
 * @data: its data
 * @bytes: size of @data
 *
 * Context: ipogif_queue.lock held. Return: false if it cannot be sent now.
 */
bool ipogif_control(struct ipogif_conn *conn, enum ipogif_type type, const void *data,
		    unsigned int bytes)
{
	struct ipogif_wire wire = { .type = type, .bytes = bytes };

	return ipogif_send(conn, &wire, data);
}
