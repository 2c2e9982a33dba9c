// SPDX-License-Identifier: GPL-2.0-only
/* Memory that is exposed to a peer, which puts into it or gets from it. */
#include <linux/slab.h>

#include "slnd_priv.h"

/**
 * slnd_exposure_finish() - the peer does not need it any more
 * @bulk: transfer; not there any more afterwards
 * @status: 0 or a negative errno
 * @quarantine: the peer has not said so itself
 *
 * Context: sleeps.
 */
void slnd_exposure_finish(struct slnd_bulk *bulk, int status, bool quarantine)
{
	/* from here on nobody reaches it; what comes late finds that number with nobody else */
	if (quarantine) {
		slnd_map_hold(bulk->buffer);
		slnd_quarantine_handle(bulk->conn, &bulk->handle);
	}
	if (status)
		slnd_count(SLND_N_BULKS_FAILED);
	slnd_user_exposed(bulk->arg, status);
	slnd_bulk_free(bulk);
	slnd_user_end();
}

/* Makes the user's memory the peer's to use, and tells it. Return: 0 or a negative errno. */
static int slnd_exposure_begin(struct slnd_conn *conn, struct slnd_bulk *bulk)
{
	int rc = slnd_map(bulk->buffer, &bulk->handle);
	struct slnd_tx *tx;

	if (rc)
		return rc;
	tx = slnd_bulk_message(bulk, SLND_BULK_READY, 0);
	if (!tx)
		return -ENOMEM;
	spin_lock(&conn->peer->lock);
	if (conn->state == SLND_OPEN) {
		bulk->state = SLND_BULK_EXPOSED;
		list_add_tail(&bulk->node, &conn->bulks);
	} else {
		rc = -ECONNRESET;
	}
	spin_unlock(&conn->peer->lock);
	if (rc) {
		kfree(tx);
		return rc;
	}
	slnd_count(SLND_N_EXPOSURES);
	/* from here on it may be over at any time */
	slnd_tx_queue(conn->peer, tx);
	return 0;
}

/** slnd_exposure_asked() - a peer asks for memory to put to, or to get from. Context: sleeps. */
void slnd_exposure_asked(struct slnd_conn *conn, const struct slnd_bulk_words *words)
{
	struct slnd_offer offer = {
		.from = conn->peer->address,
		.put = words->put,
		.bytes = words->bytes,
		.tag = words->tag,
	};
	struct slnd_buffer *buffer;
	struct slnd_bulk refusal = { .peer = conn->peer, .conn = conn, .other = words->from };
	struct slnd_bulk *bulk = NULL;
	void *arg;
	int rc;

	rc = slnd_user_expose(&offer, &buffer, &arg);
	if (rc)
		goto refuse;
	bulk = slnd_bulk_new(conn->peer, buffer, words->put);
	if (!bulk) {
		rc = -ENOMEM;
		slnd_user_exposed(arg, rc);
		slnd_user_end();
		goto refuse;
	}
	bulk->arg = arg;
	bulk->conn = conn;
	bulk->other = words->from;
	rc = slnd_exposure_begin(conn, bulk);
	if (!rc)
		return;
	slnd_exposure_finish(bulk, rc, false);
refuse:
	if (slnd_bulk_tell(&refusal, SLND_BULK_READY, rc))
		slnd_conn_end(conn, "there is no memory for a message");
}

/** slnd_exposure_done() - a peer has done with our memory. Context: sleeps. */
void slnd_exposure_done(struct slnd_conn *conn, const struct slnd_bulk_words *words)
{
	struct slnd_bulk *bulk;

	spin_lock(&conn->peer->lock);
	bulk = slnd_bulk_find(conn, words->to);
	if (bulk && bulk->state == SLND_BULK_EXPOSED) {
		bulk->state = SLND_BULK_ENDED;
		list_del_init(&bulk->node);
	} else {
		bulk = NULL;
	}
	spin_unlock(&conn->peer->lock);
	if (bulk)
		slnd_exposure_finish(bulk, words->status, false);
}
