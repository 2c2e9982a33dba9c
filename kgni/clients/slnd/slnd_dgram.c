// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams carry connreqs, by which nodes connect. A request is directed. It meets a wildcard of
 * the other node, or a request of that to us, which is then the request of the lower address.
 */
#include <linux/kthread.h>

#include "slnd_priv.h"

#define SLND_MAGIC 0x534c4e44
#define SLND_VERSION 3
#define SLND_PROBE_MS 250
#define SLND_DGRAM_TIME (5 * HZ)

static void slnd_dgram_over(struct slnd_conn *conn)
{
	conn->posted = false;
	slnd.wildcards -= !conn->peer;
	slnd_reaper_wake();
}

/* Post a request to a node, or a wildcard. */
void slnd_dgram_post(struct slnd_peer *peer)
{
	struct slnd_conn *conn = slnd_conn_new(peer);
	gni_return_t rc = GNI_RC_SUCCESS;
	struct slnd_connreq *mine;

	if (!conn)
		return; /* try again the next time */
	mine = &conn->mine;
	mine->magic = SLND_MAGIC;
	mine->version = SLND_VERSION;
	mine->type = peer ? SLND_REQUEST : SLND_WILDCARD;
	mine->address = slnd.address;
	mine->conn_id = conn->id;
	mine->incarnation = slnd.incarnation;
	conn->since = jiffies;
	conn->posted = true;
	slnd.wildcards += !peer;
	if (peer) {
		mine->stamp = ++slnd.stamp;
		mine->known = peer->stamp;
		peer->dgram = conn;
		peer->pause = clamp_t(unsigned long, 2 * peer->pause, HZ / 50 + 1, 2 * HZ);
		peer->retry = jiffies + peer->pause;
		rc = gni_ep_bind(conn->ep, peer->address, SLND_DEVICE);
	}
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_postdata_w_id(conn->ep, mine, sizeof(*mine), &conn->theirs,
					  sizeof(conn->theirs), conn->id);
	if (rc == GNI_RC_SUCCESS)
		return;
	slnd_dgram_over(conn);
	slnd_conn_close(conn, NULL);
}

/* Both sides have each other's connreq, and so know each other's mailbox. */
static void slnd_dgram_met(struct slnd_conn *conn, u32 address)
{
	const struct slnd_connreq *mine = &conn->mine, *theirs = &conn->theirs;
	struct slnd_peer *peer = slnd_peer_get(address);
	gni_return_t rc = GNI_RC_INVALID_PARAM;

	conn->clean = false;
	if (peer && theirs->magic == SLND_MAGIC && theirs->version == SLND_VERSION &&
	    theirs->address == address)
		rc = conn->peer ? GNI_RC_SUCCESS : gni_ep_bind(conn->ep, address, theirs->conn_id);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_set_eventdata(conn->ep, conn->id, theirs->conn_id);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_smsg_init(conn->ep, &conn->mine.smsg, &conn->theirs.smsg);
	if (rc != GNI_RC_SUCCESS) {
		slnd.counters.connreqs_refused++;
		slnd_conn_close(conn, "its connreq does not fit ours");
		return;
	}
	slnd_conn_establish(conn, peer, mine->type == SLND_REQUEST &&
			    (theirs->type == SLND_WILDCARD || slnd.address < address));
	slnd_tx_say(conn, (struct slnd_msg){ .type = SLND_NOOP }); /* for the peer's purgatory */
}

/* See how the datagram of a connection has ended, if it has. */
static void slnd_dgram_test(struct slnd_conn *conn)
{
	gni_post_state_t state = GNI_POST_ERROR;
	u32 address, remote_id;

	/* a wildcard that was cancelled is not found any more; others are TERMINATED */
	if (gni_ep_postdata_test_by_id(conn->ep, conn->id, &state, &address, &remote_id) ==
	    GNI_RC_NO_MATCH)
		state = GNI_POST_TERMINATED;
	if (!conn->posted || state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA)
		return;
	slnd_dgram_over(conn);
	if (state == GNI_POST_COMPLETED) {
		slnd_dgram_met(conn, address);
	} else {
		conn->clean = state == GNI_POST_TERMINATED; /* no peer knows the mailbox */
		slnd_conn_close(conn, NULL);
	}
}

/* Cancel a request that nobody has answered; any datagram, if we leave. */
void slnd_dgram_cancel(struct slnd_conn *conn)
{
	bool late = conn->peer && time_after(jiffies, conn->since + SLND_DGRAM_TIME);

	if (!late && !slnd.stopping)
		return;
	gni_ep_postdata_cancel_by_id(conn->ep, conn->id);
	slnd_dgram_test(conn); /* if it is just being matched, the thread will learn of its end */
}

/* The dgram thread waits until datagrams are over. */
int slnd_dgram_thread(void *unused)
{
	struct slnd_conn *conn;
	u64 id;

	while (!kthread_should_stop()) {
		if (gni_postdata_probe_wait_by_id(slnd.nic, SLND_PROBE_MS, &id) != GNI_RC_SUCCESS)
			continue;
		mutex_lock(&slnd.mutex);
		conn = xa_load(&slnd.conns, id);
		if (conn)
			slnd_dgram_test(conn);
		mutex_unlock(&slnd.mutex);
	}
	return 0;
}
