// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the fabric's nodes, as reported by the NIC. It is stored, compared when the NIC
 * reports a change, and changes are passed to watchers.
 */
#include <linux/bitmap.h>
#include <linux/sysfs.h>

#include "aries_obj.h"
#include "aries_compat.h"
#include "aries_kapi.h"

/* If the NIC does not answer the known state is kept. */
static bool aries_node_look(struct aries_dev *ad, u32 pe)
{
	u64 now = aries_rd64(ad, ARIES_NODE_STATE_N(pe));
	struct aries_node_watch *watch;
	struct aries_node node;

	lockdep_assert_held(&ad->node_lock);
	if (now == ~0ull || now == ad->node_seen[pe])
		return false;
	WRITE_ONCE(ad->node_seen[pe], now);
	node = aries_node_get(ad, pe);
	list_for_each_entry(watch, &ad->node_watches, list)
		watch->changed(watch, pe, &node);
	return true;
}

/* Wake up processes that poll the file. The lock keeps the file there, see aries_nodes_stop(). */
static void aries_nodes_notify(struct aries_dev *ad)
{
	lockdep_assert_held(&ad->node_lock);
	sysfs_notify(&ad->dev.kobj, NULL, "nodes_up");
}

/**
 * aries_nodes_drain() - handle the nodes that the NIC reports as changed
 * @ad: the device
 *
 * A bit is acknowledged before its node is read, so a change that happens meanwhile sets it again.
 *
 * Context: sleeps; called from the thread of vector 0.
 */
void aries_nodes_drain(struct aries_dev *ad)
{
	bool any = false;
	unsigned int i;

	if (!(ad->caps & ARIES_ID_CAPS_NODES_MASK))
		return;
	mutex_lock(&ad->node_lock);
	for (i = 0; ad->nodes_on && i < ARIES_NODE_CHANGED_COUNT; i++) {
		u64 changed = aries_rd64(ad, ARIES_NODE_CHANGED_N(i));

		if (!changed || (changed == ~0ull && !aries_hw_alive(ad)))
			continue;
		aries_wr64(ad, ARIES_NODE_CHANGED_N(i), changed);
		for (; changed; changed &= changed - 1)
			any |= aries_node_look(ad, i * 64 + __ffs64(changed));
	}
	if (any)
		aries_nodes_notify(ad);
	mutex_unlock(&ad->node_lock);
}

/**
 * aries_nodes_start() - read the state of all nodes, and enable reports
 * @ad: the device, which is enabled
 *
 * Context: sleeps.
 */
void aries_nodes_start(struct aries_dev *ad)
{
	bool any = false;
	u32 pe;

	if (!(ad->caps & ARIES_ID_CAPS_NODES_MASK))
		return;
	mutex_lock(&ad->node_lock);
	ad->nodes_on = true;
	aries_wr32(ad, ARIES_NODE_CTL, FIELD_PREP(ARIES_NODE_CTL_ENABLE_MASK, 1));
	for (pe = 0; pe < min_t(u32, ad->nodes, ARIES_NODES_MAX); pe++)
		any |= aries_node_look(ad, pe);
	if (any)
		aries_nodes_notify(ad);
	mutex_unlock(&ad->node_lock);
}

/**
 * aries_nodes_stop() - disable reports before the NIC is released or reset
 * @ad: the device
 *
 * Context: sleeps.
 */
void aries_nodes_stop(struct aries_dev *ad)
{
	mutex_lock(&ad->node_lock);
	if (ad->nodes_on)
		aries_wr32(ad, ARIES_NODE_CTL, 0);
	ad->nodes_on = false;
	mutex_unlock(&ad->node_lock);
}

/**
 * aries_nodes_up() - get the nodes that are up
 * @ad: the device
 * @up: receives a bitmap of ARIES_NODES_MAX bits
 *
 * Context: any.
 */
void aries_nodes_up(struct aries_dev *ad, unsigned long *up)
{
	u32 pe;

	bitmap_zero(up, ARIES_NODES_MAX);
	for (pe = 0; pe < min_t(u32, ad->nodes, ARIES_NODES_MAX); pe++)
		if (aries_node_get(ad, pe).state == ARIES_NODE_UP)
			__set_bit(pe, up);
}

struct aries_node aries_node_get(const struct aries_dev *ad, u32 pe)
{
	struct aries_node node = { .state = ARIES_NODE_NEVER };
	u64 seen;

	if (pe >= ad->nodes || pe >= ARIES_NODES_MAX)
		return node;
	/* a NIC that cannot report this: assume that all nodes are up */
	if (!(ad->caps & ARIES_ID_CAPS_NODES_MASK))
		return (struct aries_node){ .state = ARIES_NODE_UP };
	seen = READ_ONCE(ad->node_seen[pe]);
	node.state = FIELD_GET(ARIES_NODE_STATE_STATE_MASK, seen);
	node.life = FIELD_GET(ARIES_NODE_STATE_LIFE_MASK, seen);
	return node;
}
EXPORT_SYMBOL_ARIES(aries_node_get);

void aries_node_watch(struct aries_dev *ad, struct aries_node_watch *watch)
{
	mutex_lock(&ad->node_lock);
	list_add_tail(&watch->list, &ad->node_watches);
	mutex_unlock(&ad->node_lock);
}
EXPORT_SYMBOL_ARIES(aries_node_watch);

void aries_node_unwatch(struct aries_dev *ad, struct aries_node_watch *watch)
{
	mutex_lock(&ad->node_lock);
	list_del(&watch->list);
	mutex_unlock(&ad->node_lock);
}
EXPORT_SYMBOL_ARIES(aries_node_unwatch);
