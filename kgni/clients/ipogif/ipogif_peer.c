// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other nodes, and frames for more than one of them. The fabric has no broadcast, so each node gets
 * a copy. Most broadcasts ask for the hardware address of an IP address, and the node in question
 * is easy to guess. If IP addresses were assigned in the order of nodes, the distance between two
 * nodes is the distance between their addresses. So the first request goes to that node alone. If
 * it is repeated it goes to all nodes.
 */
#include <linux/if_arp.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "ipogif.h"

#define IPOGIF_REPEATED (4 * HZ)
#define IPOGIF_STUCK (5 * HZ) /* without a frame being sent */

/** ipogif_queue_of() - queue for all frames to a node. Context: any. */
struct ipogif_queue *ipogif_queue_of(struct ipogif *ipg, u32 address)
{
	return &ipg->queue[address % ipg->queues];
}

static struct ipogif_peer *ipogif_peer_find(struct ipogif *ipg, u32 address)
{
	struct ipogif_peer *peer;

	hash_for_each_possible_rcu(ipg->peers, peer, hash, address)
		if (peer->address == address)
			return peer;
	return NULL;
}

/**
 * ipogif_peer_get() - find a peer by its address, or create it
 * @ipg: interface
 * @address: address of its NIC
 *
 * Context: any but interrupts, under RCU or with softirqs disabled. Return: the peer; NULL if
 * there is no memory, if there are too many peers, or if it is this node.
 */
struct ipogif_peer *ipogif_peer_get(struct ipogif *ipg, u32 address)
{
	struct ipogif_peer *peer = ipogif_peer_find(ipg, address), *made;

	if (peer || address == ipg->address || (ipogif_nodes && address >= ipogif_nodes))
		return peer;
	made = kzalloc(sizeof(*made), GFP_ATOMIC);
	if (!made)
		return NULL;
	made->address = address;
	made->queue = ipogif_queue_of(ipg, address);
	made->guessed = jiffies - 2 * IPOGIF_REPEATED;
	INIT_LIST_HEAD(&made->backlog);
	__skb_queue_head_init(&made->waiting);
	spin_lock_bh(&ipg->peers_lock);
	peer = ipogif_peer_find(ipg, address);
	if (!peer && ipg->peer_count < IPOGIF_CONNS - 2 * IPOGIF_LISTENERS) {
		hash_add_rcu(ipg->peers, &made->hash, address);
		ipg->peer_count++;
		peer = made;
		made = NULL;
	}
	spin_unlock_bh(&ipg->peers_lock);
	kfree(made);
	return peer;
}

static void ipogif_xmit_clone(struct ipogif_peer *peer, struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!peer)
		return;
	copy = skb_clone(skb, GFP_ATOMIC);
	if (copy)
		ipogif_xmit_peer(peer, copy, false);
}

static void ipogif_flood(struct ipogif *ipg, struct sk_buff *skb)
{
	struct ipogif_peer *peer;
	int bucket;
	u32 i;

	for (i = 0; i < ipogif_nodes; i++)
		if (ipogif_node_there(i))
			ipogif_xmit_clone(ipogif_peer_get(ipg, i), skb);
	if (!ipogif_nodes)
		hash_for_each_rcu(ipg->peers, bucket, peer, hash)
			ipogif_xmit_clone(peer, skb);
}

/* Guess which node has the IPv4 address that an ARP request asks for. */
static u32 ipogif_guess_arp(struct ipogif *ipg, struct sk_buff *skb)
{
	const struct arphdr *arp;
	__be32 sender, target;
	const u8 *p;

	if (!pskb_may_pull(skb, ETH_HLEN + arp_hdr_len(skb->dev)))
		return U32_MAX;
	arp = (const struct arphdr *)(skb->data + ETH_HLEN);
	if (arp->ar_op != htons(ARPOP_REQUEST) || arp->ar_pro != htons(ETH_P_IP))
		return U32_MAX;
	p = (const u8 *)(arp + 1);
	/* behind the header: both addresses of the sender, then those of the target */
	memcpy(&sender, p + ETH_ALEN, sizeof(sender));
	memcpy(&target, p + 2 * ETH_ALEN + sizeof(sender), sizeof(target));
	return ipg->address + ntohl(target) - ntohl(sender);
}

/*
 * IPv6 asks a multicast group that ends like the IPv6 address, which ends like the hardware
 * address.
 */
static u32 ipogif_guess(struct ipogif *ipg, struct sk_buff *skb)
{
	const u8 *mac = skb->data;

	if (((const struct ethhdr *)mac)->h_proto == htons(ETH_P_ARP))
		return ipogif_guess_arp(ipg, skb);
	if (mac[0] == 0x33 && mac[1] == 0x33 && mac[2] == 0xff)
		return mac[3] << 16 | mac[4] << 8 | mac[5];
	return U32_MAX;
}

/**
 * ipogif_xmit_group() - send a frame to more than one node
 * @ipg: interface
 * @skb: frame, consumed
 *
 * Context: softirqs disabled, under RCU. Return: NETDEV_TX_OK.
 */
netdev_tx_t ipogif_xmit_group(struct ipogif *ipg, struct sk_buff *skb)
{
	u32 guess = ipogif_guess(ipg, skb);
	struct ipogif_peer *peer = guess < IPOGIF_CONNS ? ipogif_peer_get(ipg, guess) : NULL;

	if (peer && time_after(jiffies, peer->guessed + IPOGIF_REPEATED)) {
		WRITE_ONCE(peer->guessed, jiffies);
		ipogif_xmit_peer(peer, skb, false);
		return NETDEV_TX_OK;
	}
	ipogif_flood(ipg, skb);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

/** ipogif_peers_purge() - drop all waiting frames. Context: sleeps; there are no connections. */
void ipogif_peers_purge(struct ipogif *ipg)
{
	struct ipogif_peer *peer;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(ipg->peers, bucket, peer, hash) {
		spin_lock_bh(&peer->queue->lock);
		ipogif_drop_waiting(peer);
		ipogif_unlock_bh(peer->queue);
	}
	rcu_read_unlock();
}

/**
 * ipogif_peers_tick() - drop frames for peers that accept nothing, so that others need not wait
 * @ipg: interface
 *
 * Context: sleeps.
 */
void ipogif_peers_tick(struct ipogif *ipg)
{
	struct ipogif_peer *peer;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(ipg->peers, bucket, peer, hash) {
		spin_lock_bh(&peer->queue->lock);
		if (!skb_queue_empty(&peer->waiting) &&
		    time_after(jiffies, peer->moved + IPOGIF_STUCK)) {
			peer->stuck = true;
			ipogif_drop_waiting(peer);
		}
		ipogif_unlock_bh(peer->queue);
	}
	rcu_read_unlock();
}

/** ipogif_peer_gone() - a node has gone down. Context: any but interrupts. */
void ipogif_peer_gone(struct ipogif *ipg, u32 address)
{
	struct ipogif_peer *peer;
	struct ipogif_conn *conn;

	rcu_read_lock();
	peer = ipogif_peer_find(ipg, address);
	conn = peer ? rcu_dereference(peer->conn) : NULL;
	if (conn)
		ipogif_conn_fail(conn, "the node has gone");
	rcu_read_unlock();
}

/*
 * ipogif_peer_back() - a node is up again: connect without a pause. Context: any but interrupts.
 */
void ipogif_peer_back(struct ipogif *ipg, u32 address)
{
	struct ipogif_peer *peer;

	rcu_read_lock();
	peer = ipogif_peer_find(ipg, address);
	if (peer) {
		spin_lock_bh(&peer->queue->lock);
		peer->failures = 0;
		ipogif_unlock_bh(peer->queue);
	}
	rcu_read_unlock();
}

/*
 * ipogif_peers_free() - free all peers. Context: sleeps; nothing is sent, there are no connections.
 */
void ipogif_peers_free(struct ipogif *ipg)
{
	struct hlist_node *next;
	struct ipogif_peer *peer;
	int bucket;

	ipogif_peers_purge(ipg);
	hash_for_each_safe(ipg->peers, bucket, next, peer, hash) {
		hash_del_rcu(&peer->hash);
		kfree_rcu(peer, rcu);
	}
	ipg->peer_count = 0;
}
