// SPDX-License-Identifier: GPL-2.0-only
/* The network device, and the module. */
#include <linux/module.h>
#include <linux/slab.h>

#include "ipogif.h"

#define IPOGIF_WATCHDOG (15 * HZ) /* longer than a peer may keep a queue stopped */

static unsigned int ipogif_queues;
module_param_named(queues, ipogif_queues, uint, 0444);
MODULE_PARM_DESC(queues, "queues, at most 8; 0: as many as there are processors, at most 4");

static unsigned int ipogif_buffer_mib = 64;
module_param_named(buffer_mib, ipogif_buffer_mib, uint, 0444);
MODULE_PARM_DESC(buffer_mib,
		 "memory for frames of all peers, 4 MiB for each that sends large ones");

static struct net_device *ipogif_dev[IPOGIF_NICS];

/* krca has reported a node. Context: any but interrupts. */
static void ipogif_node_changed(u32 address, bool up)
{
	unsigned int i;

	for (i = 0; i < IPOGIF_NICS; i++) {
		if (!ipogif_dev[i])
			continue;
		if (up)
			ipogif_peer_back(netdev_priv(ipogif_dev[i]), address);
		else
			ipogif_peer_gone(netdev_priv(ipogif_dev[i]), address);
	}
}

static int ipogif_open(struct net_device *dev)
{
	struct ipogif *ipg = netdev_priv(dev);
	int rc;

	/* if the NIC has not been released yet ipogif_recover() starts when that has happened */
	mutex_lock(&ipg->control);
	rc = ipg->ending ? 0 : ipogif_start(ipg);
	mutex_unlock(&ipg->control);
	/* a NIC in the middle of a reset will come back */
	if (rc == -EIO)
		queue_delayed_work(ipogif_wq, &ipg->recover, HZ);
	return rc == -EIO ? 0 : rc;
}

static int ipogif_close(struct net_device *dev)
{
	ipogif_stop(netdev_priv(dev));
	return 0;
}

static netdev_tx_t ipogif_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct ipogif *ipg = netdev_priv(dev);
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	struct ipogif_peer *peer;
	u32 address;

	if (is_multicast_ether_addr(eth->h_dest))
		return ipogif_xmit_group(ipg, skb);
	address = ipogif_address_of(eth->h_dest);
	peer = address == U32_MAX ? NULL : ipogif_peer_get(ipg, address);
	if (!peer) {
		DEV_STATS_INC(dev, tx_errors);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	ipogif_xmit_peer(peer, skb, skb_get_queue_mapping(skb) == peer->queue->index);
	return NETDEV_TX_OK;
}

/*
 * Frames for a peer that accepts nothing are dropped long before (IPOGIF_STUCK), so it is not a
 * peer that keeps the queue stopped.
 */
static void ipogif_tx_timeout(struct net_device *dev, unsigned int txqueue)
{
	struct ipogif *ipg = netdev_priv(dev);
	const struct ipogif_queue *q = &ipg->queue[txqueue];

	netdev_err(dev, "queue %u was stopped for too long: %u frames wait, %u puts in flight\n",
		   txqueue, READ_ONCE(q->waiting), READ_ONCE(q->posts));
	mod_delayed_work(ipogif_wq, &ipg->recover, 0);
}

/* All frames for a node go through one queue. */
static u16 ipogif_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb)
{
	u32 address = ipogif_address_of(skb->data);

	return address == U32_MAX ? 0 : ipogif_queue_of(netdev_priv(dev), address)->index;
}

/* Add the counters of one direction of a queue to those of the interface. */
static void ipogif_add_stats(const struct ipogif_stats *s, u64 *packets, u64 *bytes, u64 *dropped)
{
	u64 p, b, d;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&s->sync);
		p = u64_stats_read(&s->packets);
		b = u64_stats_read(&s->bytes);
		d = u64_stats_read(&s->dropped);
	} while (u64_stats_fetch_retry(&s->sync, start));
	*packets += p;
	*bytes += b;
	*dropped += d;
}

static void ipogif_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *total)
{
	struct ipogif *ipg = netdev_priv(dev);
	unsigned int i;

	netdev_stats_to_stats64(total, &dev->stats);
	for (i = 0; i < ipg->queues; i++) {
		ipogif_add_stats(&ipg->queue[i].rx, &total->rx_packets, &total->rx_bytes,
				 &total->rx_dropped);
		ipogif_add_stats(&ipg->queue[i].tx, &total->tx_packets, &total->tx_bytes,
				 &total->tx_dropped);
	}
}

static const struct net_device_ops ipogif_netdev_ops = {
	.ndo_open = ipogif_open,
	.ndo_stop = ipogif_close,
	.ndo_start_xmit = ipogif_xmit,
	.ndo_select_queue = ipogif_select_queue,
	.ndo_tx_timeout = ipogif_tx_timeout,
	.ndo_get_stats64 = ipogif_get_stats64,
	.ndo_validate_addr = eth_validate_addr,
};

static void ipogif_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &ipogif_netdev_ops;
	dev->ethtool_ops = &ipogif_ethtool_ops;
	dev->mtu = IPOGIF_DEFAULT_MTU;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_MAX_MTU;
	dev->tx_queue_len = 1000;
	dev->watchdog_timeo = IPOGIF_WATCHDOG;
	/* a frame is linked into lists and its cb is written, so each needs an skb of its own */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	/*
	 * netpoll sends with interrupts disabled, and from within any code that prints. A frame is
	 * sent under locks that are taken with interrupts enabled, and the NIC may move the data
	 * while they are held.
	 */
	dev->priv_flags |= IFF_DISABLE_NETPOLL;
	/* from memory to memory no checksum is needed, and large segments need not be split */
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 |
			   NETIF_F_TSO_ECN;
	/* a peer's checksums may not have been computed, so there is nothing to switch off */
	dev->features = dev->hw_features | NETIF_F_HIGHDMA | NETIF_F_RXCSUM;
	dev->vlan_features = dev->hw_features | NETIF_F_RXCSUM;
}

static void ipogif_init_queue(struct ipogif *ipg, unsigned int i)
{
	struct ipogif_queue *q = &ipg->queue[i];

	q->ipg = ipg;
	q->index = i;
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->backlog);
	u64_stats_init(&q->rx.sync);
	u64_stats_init(&q->tx.sync);
	timer_setup(&q->retry, ipogif_retry, 0);
	netif_napi_add(ipg->dev, &q->napi, ipogif_poll);
}

static int ipogif_init(struct net_device *dev, u32 device_id, u32 address, unsigned int queues)
{
	const u8 mac[ETH_ALEN] = { 0x00, 0x01, 0x01, address >> 16, address >> 8, address };
	struct ipogif *ipg = netdev_priv(dev);
	unsigned int i;

	eth_hw_addr_set(dev, mac);
	ipg->dev = dev;
	ipg->device_id = device_id;
	ipg->address = address;
	ipg->queues = queues;
	ipg->buffers = IPOGIF_BUFFERS_MAX;
	ipg->room = max_t(u64, (u64)ipogif_buffer_mib * SZ_1M / IPOGIF_BUFFER, 1);
	ipg->ring = 256;
	mutex_init(&ipg->control);
	init_completion(&ipg->ended);
	complete_all(&ipg->ended);
	mutex_init(&ipg->mutex);
	spin_lock_init(&ipg->peers_lock);
	hash_init(ipg->peers);
	INIT_LIST_HEAD(&ipg->conns_all);
	INIT_WORK(&ipg->work, ipogif_conns_work);
	INIT_DELAYED_WORK(&ipg->tick, ipogif_conns_tick);
	INIT_DELAYED_WORK(&ipg->recover, ipogif_recover);
	ipg->queue = kvcalloc(queues, sizeof(*ipg->queue), GFP_KERNEL);
	if (!ipg->queue)
		return -ENOMEM;
	for (i = 0; i < queues; i++)
		ipogif_init_queue(ipg, i);
	netif_carrier_off(dev);
	netif_tx_stop_all_queues(dev);
	return 0;
}

/* Free an interface that is not registered. */
static void ipogif_free(struct net_device *dev)
{
	struct ipogif_queue *queue = ((struct ipogif *)netdev_priv(dev))->queue;

	/* takes the NAPI contexts of the queues off the list of the device */
	free_netdev(dev);
	kvfree(queue);
}

static int ipogif_add(u32 device_id, unsigned int queues)
{
	struct net_device *dev;
	u32 address;
	int rc = ipogif_probe_address(device_id, &address);

	if (rc)
		return rc;
	dev = alloc_netdev_mqs(sizeof(struct ipogif), IPOGIF_NAME "%d", NET_NAME_ENUM, ipogif_setup,
			       queues, queues);
	if (!dev)
		return -ENOMEM;
	rc = ipogif_init(dev, device_id, address, queues);
	rc = rc ?: register_netdev(dev);
	if (rc) {
		ipogif_free(dev);
		return rc;
	}
	ipogif_dev[device_id] = dev;
	return 0;
}

static void ipogif_remove(u32 device_id)
{
	struct net_device *dev = ipogif_dev[device_id];
	struct ipogif *ipg;

	if (!dev)
		return;
	ipg = netdev_priv(dev);
	unregister_netdev(dev);
	/* that may take as long as it likes now, because nobody else waits */
	wait_for_completion(&ipg->ended);
	cancel_delayed_work_sync(&ipg->recover);
	ipogif_free(dev);
}

static void ipogif_exit(void)
{
	u32 i;

	ipogif_nodes_stop();
	for (i = 0; i < IPOGIF_NICS; i++)
		ipogif_remove(i);
	destroy_workqueue(ipogif_wq);
	rcu_barrier();
}

static int __init ipogif_module_init(void)
{
	unsigned int queues = ipogif_queues ?: min(num_online_cpus(), 4u);
	int rc = -ENODEV;
	u32 i;

	if (queues > IPOGIF_QUEUES_MAX) {
		pr_err("ipogif: queues=%u: there are 8 at most\n", queues);
		return -EINVAL;
	}
	ipogif_wq = alloc_workqueue("ipogif", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ipogif_wq)
		return -ENOMEM;
	for (i = 0; i < IPOGIF_NICS; i++) {
		int one = ipogif_add(i, queues);

		if (!one)
			rc = 0;
		else if (rc && one != -ENODEV)
			rc = one;
	}
	rc = rc ?: ipogif_nodes_start(ipogif_node_changed);
	if (rc)
		ipogif_exit();
	return rc;
}
module_init(ipogif_module_init);

static void __exit ipogif_module_exit(void)
{
	ipogif_exit();
}
module_exit(ipogif_module_exit);

MODULE_DESCRIPTION("IP over the Gemini/Aries fabric, on kGNI");
MODULE_LICENSE("GPL");
