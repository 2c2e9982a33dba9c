// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collective engines. A process owns them, but only the kernel writes their place in a tree.
 *
 * The driver checks everything that the process passes: its queue, its engine, and nodes, by the
 * translation of its attachment. The NIC checks who may contribute, by the domain and the node of
 * each packet.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "aries_obj.h"
#include "aries_trace.h"

static_assert(KGNI_CE_CHILDREN == ARIES_CE_CHILDREN);

#define ARIES_CE_FLAGS (KGNI_CE_PARENT | KGNI_CE_CQ_ONERR)

/**
 * struct aries_ce_tree - register values of one engine
 * @ctl: CE_CTL
 * @parent: CE_PARENT
 * @child: CE_CHILD
 */
struct aries_ce_tree {
	u64 ctl;
	u64 parent;
	u64 child[ARIES_CE_CHILDREN];
};

static int aries_ce_child(struct aries_owner *own, const struct kgni_ce_child *child, u64 *word)
	__must_hold(&own->lock)
{
	u32 node;
	int rc;

	if (child->kind == KGNI_CE_ENGINE) {
		if (child->ce >= ARIES_CE_CHANNELS || child->inst_id)
			return -EINVAL;
	} else if (child->kind != KGNI_CE_ENDPOINT || child->ce) {
		return -EINVAL;
	}
	rc = aries_ntt_physical(own->ad, own->dom, child->pe, &node);
	if (rc)
		return rc;
	*word = FIELD_PREP(ARIES_CE_CHILD_PE_MASK, (u64)node) |
		FIELD_PREP(ARIES_CE_CHILD_CE_MASK, (u64)child->ce) |
		FIELD_PREP(ARIES_CE_CHILD_KIND_MASK, (u64)child->kind);
	if (child->kind == KGNI_CE_ENDPOINT)
		*word |= FIELD_PREP(ARIES_CE_CHILD_INST_VALID_MASK, 1ull) |
			 FIELD_PREP(ARIES_CE_CHILD_INST_MASK, (u64)child->inst_id);
	return 0;
}

static int aries_ce_parent(struct aries_owner *own, const struct kgni_ce_config *arg, u64 *word)
	__must_hold(&own->lock)
{
	u32 node;
	int rc;

	*word = 0;
	if (!(arg->flags & KGNI_CE_PARENT))
		return arg->parent_pe || arg->parent_ce || arg->parent_index ? -EINVAL : 0;
	if (arg->parent_ce >= ARIES_CE_CHANNELS || arg->parent_index >= ARIES_CE_CHILDREN)
		return -EINVAL;
	rc = aries_ntt_physical(own->ad, own->dom, arg->parent_pe, &node);
	if (rc)
		return rc;
	*word = FIELD_PREP(ARIES_CE_PARENT_PE_MASK, (u64)node) |
		FIELD_PREP(ARIES_CE_PARENT_CE_MASK, (u64)arg->parent_ce) |
		FIELD_PREP(ARIES_CE_PARENT_INDEX_MASK, (u64)arg->parent_index) |
		FIELD_PREP(ARIES_CE_PARENT_VALID_MASK, 1ull);
	return 0;
}

static int aries_ce_tree(struct aries_owner *own, const struct kgni_ce_config *arg,
			 const struct kgni_ce_child *children, struct aries_ce_tree *tree)
	__must_hold(&own->lock)
{
	unsigned int i;
	int rc = aries_ce_parent(own, arg, &tree->parent);

	for (i = 0; i < arg->count && !rc; i++)
		rc = aries_ce_child(own, &children[i], &tree->child[i]);
	tree->ctl = FIELD_PREP(ARIES_CE_CTL_ENABLE_MASK, 1ull) |
		    FIELD_PREP(ARIES_CE_CTL_CQ_ONERR_MASK,
			       arg->flags & KGNI_CE_CQ_ONERR ? 1ull : 0ull) |
		    FIELD_PREP(ARIES_CE_CTL_ROUND_MASK, (u64)arg->round) |
		    FIELD_PREP(ARIES_CE_CTL_ROUTE_MASK, (u64)arg->route) |
		    FIELD_PREP(ARIES_CE_CTL_PTAG_MASK, (u64)own->dom->ptag) |
		    FIELD_PREP(ARIES_CE_CTL_OWNER_MASK, (u64)own->nr) |
		    FIELD_PREP(ARIES_CE_CTL_CHILDREN_MASK, (u64)arg->count);
	return rc;
}

/*
 * Stop an engine: it accepts no more packets, and pending operations end after @seq of the engine.
 */
static void aries_ce_stop(struct aries_owner *own, struct aries_ce *ce)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	u64 ctl;

	lockdep_assert_held(&own->lock);
	if (!ce->enabled)
		return;
	ctl = aries_rd64(ad, ARIES_CE_CTL_N(ce->nr));
	aries_wr64(ad, ARIES_CE_CTL_N(ce->nr), 0);
	ce->seq = aries_inv_seq(ad);
	ce->enabled = false;
	trace_aries_ce_stop(own, ce->nr, ctl, aries_rd64(ad, ARIES_CE_PARENT_N(ce->nr)));
	if (ce->cq)
		ce->cq->ce_refs--;
	ce->cq = NULL;
}

/* Write the parent and all children of an engine that is not enabled. */
static void aries_ce_place(struct aries_dev *ad, unsigned int nr, const struct aries_ce_tree *tree)
{
	unsigned int i;

	aries_wr64(ad, ARIES_CE_PARENT_N(nr), tree->parent);
	for (i = 0; i < ARIES_CE_CHILDREN; i++)
		aries_wr64(ad, ARIES_CE_CHILD_N(nr * ARIES_CE_CHILDREN + i), tree->child[i]);
}

static int aries_ce_start(struct aries_owner *own, struct aries_ce *ce,
			  const struct aries_ce_tree *tree)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	u64 ctl;

	aries_ce_place(ad, ce->nr, tree);
	aries_wr64(ad, ARIES_CE_CTL_N(ce->nr), tree->ctl);
	ctl = aries_rd64(ad, ARIES_CE_CTL_N(ce->nr));
	if (ctl == ~0ull && !aries_hw_alive(ad))
		return -ENODEV;
	if (!(ctl & ARIES_CE_CTL_ENABLE_MASK))
		return -EIO;
	ce->enabled = true;
	trace_aries_ce_start(own, ce->nr, tree->ctl, tree->parent);
	return 0;
}

static struct aries_ce *aries_ce_owned(struct aries_owner *own, u32 nr)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	return nr < ARIES_CE_CHANNELS ? own->ces[nr] : NULL;
}

/*
 * Return: 0 or a negative errno; -EAGAIN: operations of the old configuration may run until @seq.
 */
static int aries_ce_apply(struct aries_owner *own, const struct kgni_ce_config *arg,
			  const struct kgni_ce_child *children, u64 *seq)
	__must_hold(&own->lock)
{
	struct aries_ce *ce = aries_ce_owned(own, arg->ce);
	struct aries_ce_tree tree = {};
	struct aries_cq *cq = NULL;
	int rc;

	if (!ce)
		return -ENOENT;
	rc = aries_ce_tree(own, arg, children, &tree);
	if (rc)
		return rc;
	if (arg->cq != KGNI_NO_CQ) {
		cq = aries_cq_find(own, arg->cq);
		if (!cq)
			return -ENOENT;
		tree.ctl |= FIELD_PREP(ARIES_CE_CTL_CQ_VALID_MASK, 1ull) |
			    FIELD_PREP(ARIES_CE_CTL_CQ_MASK, (u64)cq->nr);
	}
	aries_ce_stop(own, ce);
	*seq = ce->seq;
	if (aries_inv_look(own->ad, ce->seq) == -EAGAIN)
		return -EAGAIN;
	rc = aries_ce_start(own, ce, &tree);
	if (rc)
		return rc;
	ce->cq = cq;
	if (cq)
		cq->ce_refs++;
	return 0;
}

/** aries_ce_config() - KGNI_IOC_CE_CONFIG. Context: sleeps, killably. */
int aries_ce_config(struct aries_owner *own, struct kgni_ce_config *arg)
{
	struct kgni_ce_child *children;
	u64 seq = 0;
	int rc;

	if (arg->flags & ~ARIES_CE_FLAGS || !arg->count || arg->count > ARIES_CE_CHILDREN ||
	    arg->round > 3 || arg->route > 3 || arg->reserved)
		return -EINVAL;
	children = memdup_user(u64_to_user_ptr(arg->children), arg->count * sizeof(*children));
	if (IS_ERR(children))
		return PTR_ERR(children);
	do {
		/* in the first round there is nothing to wait for */
		rc = seq ? aries_inv_sleep(own->ad, seq) : 0;
		if (!rc)
			rc = aries_owner_enter(own, true);
		if (rc)
			break;
		rc = aries_ce_apply(own, arg, children, &seq);
		aries_owner_exit(own);
	} while (rc == -EAGAIN);
	kfree(children);
	return rc;
}

static int aries_ce_take(struct aries_owner *own, struct aries_ce *ce)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc, nr;

	lockdep_assert_held(&own->lock);
	if (!FIELD_GET(ARIES_ID_CAPS_CE_MASK, ad->caps))
		return -EOPNOTSUPP;
	rc = aries_domain_charge(ad, own->dom, ARIES_RES_CE, 1);
	if (rc)
		return rc;
	nr = aries_pool_get(&ad->ces, own->nr);
	if (nr < 0) {
		aries_domain_uncharge(ad, own->dom, ARIES_RES_CE, 1);
		return nr;
	}
	ce->nr = nr;
	own->ces[nr] = ce;
	return 0;
}

/** aries_ce_alloc() - KGNI_IOC_CE_ALLOC. Context: sleeps. */
int aries_ce_alloc(struct aries_owner *own, struct kgni_ce_alloc *arg)
{
	struct aries_ce *ce = kzalloc(sizeof(*ce), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!ce)
		return -ENOMEM;
	rc = aries_owner_enter(own, true);
	if (!rc) {
		rc = aries_ce_take(own, ce);
		if (!rc)
			arg->ce = ce->nr;
		aries_owner_exit(own);
	}
	if (rc)
		kfree(ce);
	return rc;
}

/* Free an engine that the NIC does not use any more. */
static void aries_ce_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	static const struct aries_ce_tree none;
	struct aries_ce *ce = container_of(kept, struct aries_ce, kept);

	aries_ce_place(ad, ce->nr, &none);
	aries_pool_put_held(&ad->ces, ce->nr);
	aries_domain_uncharge(ad, kept->dom, ARIES_RES_CE, 1);
	kfree(ce);
}

static void aries_ce_del(struct aries_owner *own, struct aries_ce *ce, struct list_head *gone)
	__must_hold(&own->lock)
{
	aries_ce_stop(own, ce);
	own->ces[ce->nr] = NULL;
	aries_pool_hold(&own->ad->ces, ce->nr, own->nr);
	aries_kept_take(own, gone, &ce->kept, aries_ce_free_kept);
}

/** aries_ce_free() - KGNI_IOC_CE_FREE. Context: sleeps. */
int aries_ce_free(struct aries_owner *own, struct kgni_ce_free *arg)
{
	struct aries_ce *ce;
	LIST_HEAD(gone);
	int rc = aries_owner_enter(own, true);

	if (rc)
		return rc;
	ce = aries_ce_owned(own, arg->ce);
	if (ce)
		aries_ce_del(own, ce, &gone);
	else
		rc = -ENOENT;
	aries_owner_exit_free(own, &gone);
	return rc;
}

/** aries_ce_teardown() - stop all engines of an attachment. Context: own->lock held. */
void aries_ce_teardown(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	unsigned int nr;

	for (nr = 0; nr < ARIES_CE_CHANNELS; nr++)
		if (own->ces[nr])
			aries_ce_del(own, own->ces[nr], gone);
}

/**
 * aries_inst_add() - announce the process of an attachment to the fabric
 * @own: attachment; domain and instance id are set
 *
 * If it is a leaf of collective trees, these end with an error when the process ends, no matter on
 * which nodes their engines are. If no number is left the attachment cannot be a leaf.
 *
 * Context: state_sem and own->lock held.
 */
void aries_inst_add(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;

	lockdep_assert_held(&own->lock);
	own->inst = aries_pool_get(&ad->insts, own->nr);
	if (own->inst < 0)
		return;
	aries_wr64(ad, ARIES_CE_INST_N(own->inst),
		   FIELD_PREP(ARIES_CE_INST_INST_MASK, (u64)own->inst_id) |
			   FIELD_PREP(ARIES_CE_INST_PTAG_MASK, (u64)own->dom->ptag) |
			   FIELD_PREP(ARIES_CE_INST_VALID_MASK, 1ull));
}

/** aries_inst_del() - undo aries_inst_add() */
void aries_inst_del(struct aries_owner *own)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	if (own->inst < 0)
		return;
	aries_wr64(own->ad, ARIES_CE_INST_N(own->inst), 0);
	aries_pool_put(&own->ad->insts, own->inst, own->nr);
	own->inst = -1;
}
