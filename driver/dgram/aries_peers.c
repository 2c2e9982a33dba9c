// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of peers, which are the drivers of other nodes. What is sent to them and comes from
 * them is in aries_peer.c.
 */
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "aries_dgram.h"

/** aries_epoch_new() - a random name for our end of a connection. Context: any. */
u64 aries_epoch_new(void)
{
	return get_random_u64() | 1; /* 0 means unknown */
}

/** aries_peer_find() - find a peer by its node address, or return NULL. Context: any, lock held. */
struct aries_peer *aries_peer_find(struct aries_chan *ch, u32 pe)
{
	return xa_load(&ch->peers, pe);
}

static struct aries_peer *aries_peer_new(u32 pe)
{
	struct aries_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);

	if (!peer)
		return NULL;
	peer->pe = pe;
	peer->own_epoch = aries_epoch_new();
	peer->tx_seq = 1;
	INIT_LIST_HEAD(&peer->active);
	INIT_LIST_HEAD(&peer->flows);
	INIT_LIST_HEAD(&peer->turn);
	INIT_LIST_HEAD(&peer->dgrams);
	INIT_LIST_HEAD(&peer->earlies);
	INIT_LIST_HEAD(&peer->old_dgrams);
	INIT_LIST_HEAD(&peer->old_earlies);
	INIT_LIST_HEAD(&peer->old_notes);
	aries_flow_init(&peer->nobody, peer, 0);
	return peer;
}

/**
 * aries_peer_get() - find a peer by its node address, or create it
 * @ch: channel
 * @pe: node address, less than the number of nodes
 *
 * A peer exists until the channel stops.
 *
 * Context: sleeps. Return: the peer; NULL if there is no memory or the channel has stopped.
 */
struct aries_peer *aries_peer_get(struct aries_chan *ch, u32 pe)
{
	struct aries_peer *peer = xa_load(&ch->peers, pe), *old;

	if (peer)
		return peer;
	peer = aries_peer_new(pe);
	if (!peer)
		return NULL;
	spin_lock_irq(&ch->lock);
	old = xa_load(&ch->peers, pe);
	if (old || !ch->on ||
	    xa_err(xa_store(&ch->peers, pe, peer, GFP_ATOMIC | __GFP_NOWARN))) {
		kfree(peer);
		peer = old;
	}
	spin_unlock_irq(&ch->lock);
	return peer;
}

static void aries_flow_show(struct seq_file *m, const struct aries_flow *flow)
{
	seq_printf(m, "peer %u ptag %u datagrams %u notes %u sent %llu\n", flow->peer->pe,
		   flow->ptag, flow->users, flow->nnotes, flow->sent);
}

/** aries_peers_show() - print in debugfs how much each domain sends to each peer. Context: any. */
void aries_peers_show(struct seq_file *m, struct aries_dev *ad)
{
	const struct aries_flow *flow;
	struct aries_peer *peer;
	unsigned long pe;

	for (pe = 0; pe < ad->nodes; pe++) {
		spin_lock_irq(&ad->chan->lock);
		peer = xa_find(&ad->chan->peers, &pe, ad->nodes - 1, XA_PRESENT);
		if (!peer) {
			spin_unlock_irq(&ad->chan->lock);
			return;
		}
		aries_flow_show(m, &peer->nobody);
		list_for_each_entry(flow, &peer->flows, node)
			aries_flow_show(m, flow);
		spin_unlock_irq(&ad->chan->lock);
	}
}
