// SPDX-License-Identifier: GPL-2.0-only
/* Operations for ethtool. */
#include <linux/ethtool.h>
#include <linux/module.h>

#include "ipogif.h"

#define IPOGIF_RING_MAX 4096u
#define IPOGIF_MBITS 80000 /* throughput of a block transfer of the real NIC */

static const char ipogif_of_queue[][ETH_GSTRING_LEN] = {
	"tx%u_packets",	 "tx%u_bytes",	 "tx%u_inlined", "tx%u_buffered",
	"tx%u_waited",	 "tx%u_dropped", "rx%u_packets", "rx%u_bytes",
	"rx%u_messages", "rx%u_copied",	 "rx%u_dropped", "rx%u_polls",
};

static const char ipogif_of_all[][ETH_GSTRING_LEN] = {
	"peers", "connections", "connects", "connection_failures", "nic_recoveries",
};

static void ipogif_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct ipogif *ipg = netdev_priv(dev);

	strscpy(info->driver, IPOGIF_NAME, sizeof(info->driver));
	snprintf(info->bus_info, sizeof(info->bus_info), "kgni%u", ipg->device_id);
}

static int ipogif_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *link)
{
	ethtool_link_ksettings_zero_link_mode(link, supported);
	ethtool_link_ksettings_zero_link_mode(link, advertising);
	link->base.speed = IPOGIF_MBITS;
	link->base.duplex = DUPLEX_FULL;
	link->base.port = PORT_OTHER;
	link->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* rx: buffers per connection; tx: frames that may wait in a queue */
static void ipogif_get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel,
				 struct netlink_ext_ack *extack)
{
	struct ipogif *ipg = netdev_priv(dev);

	ring->rx_max_pending = IPOGIF_BUFFERS_MAX;
	ring->tx_max_pending = IPOGIF_RING_MAX;
	ring->rx_pending = ipg->buffers;
	ring->tx_pending = ipg->ring;
}

static int ipogif_set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel,
				struct netlink_ext_ack *extack)
{
	struct ipogif *ipg = netdev_priv(dev);

	if (ring->rx_pending < 4 || ring->tx_pending < 4) {
		NL_SET_ERR_MSG(extack, "fewer than 4");
		return -EINVAL;
	}
	/* existing connections keep their buffers */
	WRITE_ONCE(ipg->buffers, ring->rx_pending);
	WRITE_ONCE(ipg->ring, ring->tx_pending);
	return 0;
}

static void ipogif_get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	struct ipogif *ipg = netdev_priv(dev);

	channels->max_combined = ipg->queues;
	channels->combined_count = ipg->queues;
}

static int ipogif_get_sset_count(struct net_device *dev, int set)
{
	struct ipogif *ipg = netdev_priv(dev);

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(ipogif_of_all) + ipg->queues * ARRAY_SIZE(ipogif_of_queue);
}

static void ipogif_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	struct ipogif *ipg = netdev_priv(dev);
	unsigned int i, n;

	if (set != ETH_SS_STATS)
		return;
	memcpy(data, ipogif_of_all, sizeof(ipogif_of_all));
	data += sizeof(ipogif_of_all);
	for (i = 0; i < ipg->queues; i++)
		for (n = 0; n < ARRAY_SIZE(ipogif_of_queue); n++, data += ETH_GSTRING_LEN)
			snprintf(data, ETH_GSTRING_LEN, ipogif_of_queue[n], i);
}

static void ipogif_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct ipogif *ipg = netdev_priv(dev);
	unsigned int i;

	*data++ = READ_ONCE(ipg->peer_count);
	*data++ = READ_ONCE(ipg->conn_count);
	*data++ = atomic_read(&ipg->connects);
	*data++ = atomic_read(&ipg->failures);
	*data++ = atomic_read(&ipg->recoveries);
	for (i = 0; i < ipg->queues; i++) {
		const struct ipogif_stats *tx = &ipg->queue[i].tx, *rx = &ipg->queue[i].rx;

		*data++ = u64_stats_read(&tx->packets);
		*data++ = u64_stats_read(&tx->bytes);
		*data++ = u64_stats_read(&tx->inlined);
		*data++ = u64_stats_read(&tx->buffered);
		*data++ = u64_stats_read(&tx->waited);
		*data++ = u64_stats_read(&tx->dropped);
		*data++ = u64_stats_read(&rx->packets);
		*data++ = u64_stats_read(&rx->bytes);
		*data++ = u64_stats_read(&rx->events);
		*data++ = u64_stats_read(&rx->copied);
		*data++ = u64_stats_read(&rx->dropped);
		*data++ = u64_stats_read(&rx->polls);
	}
}

const struct ethtool_ops ipogif_ethtool_ops = {
	.get_drvinfo = ipogif_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = ipogif_get_link_ksettings,
	.get_ringparam = ipogif_get_ringparam,
	.set_ringparam = ipogif_set_ringparam,
	.get_channels = ipogif_get_channels,
	.get_sset_count = ipogif_get_sset_count,
	.get_strings = ipogif_get_strings,
	.get_ethtool_stats = ipogif_get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
