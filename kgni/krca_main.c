// SPDX-License-Identifier: GPL-2.0-only
/*
 * krca: the nodes of the machine and their events, for clients of GNI in the kernel.
 *
 * The first NIC of this node is the source of information; others are ignored. The table of nodes
 * outlives it. So what happened while there was no NIC is reported when it, or another one,
 * appears.
 */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "aries_kapi.h"
#include "aries_regs.h"
#include "krca.h"

DEFINE_SPINLOCK(krca_lock);

static void krca_changed(struct aries_node_watch *watch, u32 pe, const struct aries_node *node);

static DEFINE_MUTEX(krca_nic_mutex); /* protects krca_nic */
static struct aries_dev *krca_nic;
static struct aries_node_watch krca_watch = { .changed = krca_changed };

/* Protected by krca_lock. */
static u32 krca_nodes; /* number of nodes in the fabric, 0 if there is no NIC */
static u32 krca_own; /* id of this node */
static bool krca_known; /* there was a NIC before */
static struct aries_node krca_table[ARIES_NODES_MAX];

/* ---- what happens ---- */

static rs_state_t krca_state(enum aries_node_state state)
{
	switch (state) {
	case ARIES_NODE_UP:
		return RS_CS_READY;
	case ARIES_NODE_OFF:
		return RS_CS_ON;
	case ARIES_NODE_DEAD:
		return RS_CS_HALT;
	case ARIES_NODE_LEFT:
		return RS_CS_OFF;
	default:
		return RS_CS_EMPTY;
	}
}

static void krca_tell(u32 pe, const struct aries_node *was, const struct aries_node *now)
{
	bool was_up = was->state == ARIES_NODE_UP, up = now->state == ARIES_NODE_UP;
	bool same = was->life == now->life;

	lockdep_assert_held(&krca_lock);
	if (was_up && now->state == ARIES_NODE_DEAD)
		krca_session_tell(pe, ec_node_failed, krca_state(now->state));
	else if (was_up && !(up && same))
		krca_session_tell(pe, ec_node_unavailable, up ? RS_CS_ON : krca_state(now->state));
	if (up && !(was_up && same))
		krca_session_tell(pe, ec_node_available, RS_CS_READY);
}

/*
 * The state is read from the NIC under the lock, so that no thread overwrites it with an older one.
 */
static void krca_look(struct aries_dev *ad, u32 pe)
{
	struct aries_node was, now;
	unsigned long flags;

	spin_lock_irqsave(&krca_lock, flags);
	was = krca_table[pe];
	now = aries_node_get(ad, pe);
	krca_table[pe] = now;
	if (krca_known && pe != krca_own)
		krca_tell(pe, &was, &now);
	spin_unlock_irqrestore(&krca_lock, flags);
}

static void krca_changed(struct aries_node_watch *watch, u32 pe, const struct aries_node *node)
{
	krca_look(READ_ONCE(krca_nic), pe);
}

/* ---- nodes and addresses ---- */

/**
 * krca_node() - encode a node
 * @nid: node
 * @state: RS_CS_*
 *
 * Context: any. Return: the node's word.
 */
rs_node_t krca_node(rca_nid_t nid, rs_state_t state)
{
	return (rs_node_t){ .rs_node_flat = RSN_PUT_FLD(NID, nid) | RSN_PUT_FLD(TYPE, rt_node) |
					    RSN_PUT_FLD(STATE, state) | RSN_PUT_FLD(IS_SVC, 1) };
}

/* Check that there is a NIC, and such a node. */
static int krca_check(u32 nid)
{
	u32 nodes = READ_ONCE(krca_nodes);

	if (!nodes)
		return -ENODEV;
	return nid < nodes ? 0 : -ENOENT;
}

int krca_nid_to_nicaddrs(rca_nid_t nid, int numnic, nic_addr_t *nicaddrs)
{
	int rc;

	if (numnic < 1 || !nicaddrs)
		return -EINVAL;
	rc = krca_check(nid);
	if (rc)
		return rc;
	nicaddrs[0] = nid;
	return 1;
}
EXPORT_SYMBOL_GPL(krca_nid_to_nicaddrs);

int krca_nicaddr_to_nid(nic_addr_t nicaddr, rca_nid_t *nid)
{
	int rc;

	if (!nid)
		return -EINVAL;
	rc = krca_check(nicaddr);
	if (!rc)
		*nid = nicaddr;
	return rc;
}
EXPORT_SYMBOL_GPL(krca_nicaddr_to_nid);

int krca_get_sysnodes(rs_node_array_t *list)
{
	unsigned long flags;
	rs_node_t *ids;
	u32 nid;

	if (!list)
		return -EINVAL;
	*list = (rs_node_array_t){};
	ids = kcalloc(ARIES_NODES_MAX, sizeof(*ids), GFP_ATOMIC);
	if (!ids)
		return -ENOMEM;
	spin_lock_irqsave(&krca_lock, flags);
	for (nid = 0; nid < krca_nodes; nid++)
		ids[nid] = krca_node(nid, krca_state(krca_table[nid].state));
	spin_unlock_irqrestore(&krca_lock, flags);
	if (!nid) {
		kfree(ids);
		return -ENODEV;
	}
	list->na_ids = ids;
	list->na_len = nid;
	return 0;
}
EXPORT_SYMBOL_GPL(krca_get_sysnodes);

void send_hb_2_l0(void)
{
}
EXPORT_SYMBOL_GPL(send_hb_2_l0);

/* ---- binding ---- */

static void krca_set_nodes(u32 nodes, u32 own)
{
	unsigned long flags;

	spin_lock_irqsave(&krca_lock, flags);
	krca_nodes = min_t(u32, nodes, ARIES_NODES_MAX);
	krca_own = own;
	spin_unlock_irqrestore(&krca_lock, flags);
}

static void krca_begin(struct aries_dev *ad)
{
	struct aries_info info;
	u32 pe;

	aries_get_info(ad, &info);
	WRITE_ONCE(krca_nic, ad);
	krca_set_nodes(info.nodes, info.pe);
	aries_node_watch(ad, &krca_watch);
	for (pe = 0; pe < ARIES_NODES_MAX; pe++)
		krca_look(ad, pe);
	spin_lock_irq(&krca_lock);
	krca_known = true;
	spin_unlock_irq(&krca_lock);
}

static int krca_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct aries_dev *ad = aries_client_dev(adev);

	mutex_lock(&krca_nic_mutex);
	if (!krca_nic)
		krca_begin(ad);
	mutex_unlock(&krca_nic_mutex);
	return 0;
}

static void krca_remove(struct auxiliary_device *adev)
{
	struct aries_dev *ad = aries_client_dev(adev);

	mutex_lock(&krca_nic_mutex);
	if (krca_nic == ad) {
		aries_node_unwatch(ad, &krca_watch);
		krca_set_nodes(0, 0);
		krca_nic = NULL;
	}
	mutex_unlock(&krca_nic_mutex);
}

static const struct auxiliary_device_id krca_ids[] = { { .name = ARIES_NODES_DEVICE }, {} };
MODULE_DEVICE_TABLE(auxiliary, krca_ids);

static struct auxiliary_driver krca_driver = {
	.name = "krca",
	.id_table = krca_ids,
	.probe = krca_probe,
	.remove = krca_remove,
};

static int __init krca_init(void)
{
	return auxiliary_driver_register(&krca_driver);
}
module_init(krca_init);

static void __exit krca_exit(void)
{
	auxiliary_driver_unregister(&krca_driver);
	krca_session_end_all();
}
module_exit(krca_exit);

MODULE_DESCRIPTION("Nodes of the machine and their events for kernel clients of GNI");
MODULE_LICENSE("GPL");
#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
MODULE_IMPORT_NS(ARIES);
#else
MODULE_IMPORT_NS("ARIES");
#endif
