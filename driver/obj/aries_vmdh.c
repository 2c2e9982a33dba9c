// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual memory domain handles. The processes of a domain on this node share a block of
 * consecutive memory domains. They fill its entries by index, so the same index has the same
 * meaning on all nodes.
 */
#include <linux/bitmap.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "aries_obj.h"
#include "aries_ptag.h"

/**
 * struct aries_block - memory domains of a communication domain, protected by aries_dev.ptag_lock
 * @ref: one reference for all users together, and one for each registration; freed at zero
 * @dom: domain that is charged for it, with a reference
 * @base: first memory domain
 * @count: number of memory domains
 * @entry: index of its VMDH_CTL register
 * @users: attachments that share it
 * @taken: entries with a registration
 * @kept: keeps the block after its last user has left, while the NIC may still use the entry
 */
struct aries_block {
	refcount_t ref;
	struct aries_domain *dom;
	unsigned int base;
	unsigned int count;
	unsigned int entry;
	unsigned int users;
	DECLARE_BITMAP(taken, ARIES_MDD_ENTRIES);
	struct aries_kept kept;
};

/* Returns a VMDH entry of the NIC that no domain uses, or -ENOSPC. */
static int aries_vmdh_entry(struct aries_dev *ad)
	__must_hold(&ad->ptag_lock)
{
	DECLARE_BITMAP(used, ARIES_VMDH_ENTRIES) = {};
	unsigned int ptag, nr;

	lockdep_assert_held(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++)
		if (ad->domain[ptag] && ad->domain[ptag]->block)
			__set_bit(ad->domain[ptag]->block->entry, used);
	nr = find_first_zero_bit(used, ARIES_VMDH_ENTRIES);
	return nr < ARIES_VMDH_ENTRIES ? nr : -ENOSPC;
}

static int aries_vmdh_make(struct aries_dev *ad, struct aries_domain *dom, unsigned int count)
	__must_hold(&ad->ptag_lock)
{
	struct aries_block *block;
	int entry, base;

	lockdep_assert_held(&ad->ptag_lock);
	entry = aries_vmdh_entry(ad);
	if (entry < 0)
		return entry;
	block = kzalloc(sizeof(*block), GFP_KERNEL_ACCOUNT);
	if (!block)
		return -ENOMEM;
	/* charge the whole block, no matter how much of it will be used */
	base = aries_ptag_charge(dom, ARIES_RES_MDD, count);
	if (base)
		goto err_free;
	base = aries_pool_get_row(&ad->mdds, count);
	if (base < 0)
		goto err_uncharge;
	refcount_set(&block->ref, 1);
	block->dom = aries_domain_get(dom);
	block->base = base;
	block->count = count;
	block->entry = entry;
	dom->block = block;
	aries_wr64(ad, ARIES_VMDH_CTL_N(entry),
		   FIELD_PREP(ARIES_VMDH_CTL_VALID_MASK, 1ull) |
			   FIELD_PREP(ARIES_VMDH_CTL_PTAG_MASK, (u64)dom->ptag) |
			   FIELD_PREP(ARIES_VMDH_CTL_BASE_MASK, (u64)base) |
			   FIELD_PREP(ARIES_VMDH_CTL_COUNT_MASK, (u64)count));
	return 0;

err_uncharge:
	dom->used[ARIES_RES_MDD] -= count;
err_free:
	kfree(block);
	return base;
}

/** aries_vmdh_block() - KGNI_IOC_MDD_BLOCK. Context: sleeps. */
int aries_vmdh_block(struct aries_owner *own, struct kgni_mdd_block *arg)
{
	struct aries_dev *ad = own->ad;
	int rc;

	if (!arg->entries)
		return -EINVAL;
	if (arg->entries > ARIES_MDD_ENTRIES)
		return -ENOSPC;
	rc = aries_owner_enter(own, true);
	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	if (own->block)
		rc = -EBUSY;
	else if (!own->dom->block)
		rc = aries_vmdh_make(ad, own->dom, arg->entries);
	else if (arg->entries > own->dom->block->count)
		rc = -ENOSPC;
	if (!rc) {
		own->dom->block->users++;
		own->block = true;
	}
	mutex_unlock(&ad->ptag_lock);
	aries_owner_exit(own);
	return rc;
}

/**
 * aries_vmdh_get() - take an entry of the block
 * @own: attachment
 * @place: index of the entry, or ~0 for the first free one; set to the index taken
 * @found: set to the block
 *
 * Context: sleeps; own->lock held. Return: the memory domain handle; -ENOENT if there is no block
 * or no such entry; -EBUSY if it is taken; -ENOSPC if no entry is free.
 */
int aries_vmdh_get(struct aries_owner *own, u32 *place, struct aries_block **found)
	__must_hold(&own->lock)
{
	struct aries_block *block;
	int rc;

	lockdep_assert_held(&own->lock);
	mutex_lock(&own->ad->ptag_lock);
	block = own->block ? own->dom->block : NULL;
	if (block && *place == U32_MAX)
		*place = find_first_zero_bit(block->taken, block->count);
	else if (block && *place >= block->count)
		block = NULL;
	if (!block)
		rc = -ENOENT;
	else if (*place >= block->count)
		rc = -ENOSPC;
	else if (__test_and_set_bit(*place, block->taken))
		rc = -EBUSY;
	else
		rc = block->base + *place;
	if (rc >= 0) {
		refcount_inc(&block->ref);
		*found = block;
	}
	mutex_unlock(&own->ad->ptag_lock);
	return rc;
}

/* All numbers of the block are held, and the NIC uses none of them any more. */
static void aries_vmdh_release(struct aries_dev *ad, struct aries_block *block)
{
	unsigned int i;

	for (i = 0; i < block->count; i++)
		aries_pool_put_held(&ad->mdds, block->base + i);
	aries_domain_uncharge(ad, block->dom, ARIES_RES_MDD, block->count);
	aries_domain_put(block->dom);
	kfree(block);
}

/* Context: ptag_lock not held. */
static void aries_vmdh_unref(struct aries_dev *ad, struct aries_block *block)
{
	if (refcount_dec_and_test(&block->ref))
		aries_vmdh_release(ad, block);
}

/**
 * aries_vmdh_put() - release an entry
 * @ad: the device
 * @block: from aries_vmdh_get()
 * @mdh: return value of aries_vmdh_get(); the memory domain can no longer be accessed
 *
 * Context: sleeps; ptag_lock not held.
 */
void aries_vmdh_put(struct aries_dev *ad, struct aries_block *block, unsigned int mdh)
{
	mutex_lock(&ad->ptag_lock);
	__clear_bit(mdh - block->base, block->taken);
	mutex_unlock(&ad->ptag_lock);
	aries_vmdh_unref(ad, block);
}

static void aries_vmdh_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	aries_vmdh_unref(ad, container_of(kept, struct aries_block, kept));
}

/**
 * aries_vmdh_leave() - an attachment ends; the last user of the block frees it
 * @own: attachment, without registrations
 * @gone: list from aries_kept_take()
 *
 * Another domain may get the VMDH entry while accesses through the old entry are still in flight.
 * That is harmless: the memory domain numbers that they translated to are held and not reused yet.
 *
 * Context: sleeps; own->lock held.
 */
void aries_vmdh_leave(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	struct aries_block *block;
	unsigned int i;

	lockdep_assert_held(&own->lock);
	if (!own->block)
		return;
	own->block = false;
	mutex_lock(&ad->ptag_lock);
	block = own->dom->block;
	if (!--block->users) {
		aries_wr64(ad, ARIES_VMDH_CTL_N(block->entry), 0);
		own->dom->block = NULL;
		for (i = 0; i < block->count; i++)
			aries_pool_hold(&ad->mdds, block->base + i, 0);
		aries_kept_take(own, gone, &block->kept, aries_vmdh_free_kept);
	}
	mutex_unlock(&ad->ptag_lock);
}

/** aries_vmdh_show() - debugfs line of a domain's block. Context: ptag_lock held. */
void aries_vmdh_show(struct seq_file *m, struct aries_dev *ad, const struct aries_domain *dom)
	__must_hold(&ad->ptag_lock)
{
	const struct aries_block *block = dom->block;

	lockdep_assert_held(&ad->ptag_lock);
	if (!block)
		return;
	seq_printf(m, "block %u ptag %u base %u count %u users %u taken %u valid %llu\n",
		   block->entry, dom->ptag, block->base, block->count, block->users,
		   bitmap_weight(block->taken, block->count),
		   FIELD_GET(ARIES_VMDH_CTL_VALID_MASK,
			     aries_rd64(ad, ARIES_VMDH_CTL_N(block->entry))));
}
