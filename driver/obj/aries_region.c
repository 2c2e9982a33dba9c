// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: memory that peers may access, of whatever kind. A region is built without locks
 * (aries_pte.c). It is published under the lock of its owner, which takes only a moment. It is torn
 * down in three steps: it can no longer be found, then it can no longer be accessed, and then it is
 * freed.
 */
#include <linux/mm.h>

#include "aries_obj.h"
#include "aries_trace.h"

/** aries_region_program() - let peers access a region. Context: own->lock held. */
void aries_region_program(struct aries_owner *own, struct aries_region *region)
{
	struct aries_dev *ad = own->ad;
	bool two_level = region->leaf;
	/*
	 * a virtual handle maps to different addresses on each node: offsets count from its start
	 */
	u64 base = region->block ? 0 : region->start & (ARIES_REGION_MAX - 1);
	u64 ctl = FIELD_PREP(ARIES_MDD_CTL_VALID_MASK, 1ull) |
		  FIELD_PREP(ARIES_MDD_CTL_READ_ONLY_MASK, (u64)region->read_only) |
		  FIELD_PREP(ARIES_MDD_CTL_TWO_LEVEL_MASK, (u64)two_level) |
		  FIELD_PREP(ARIES_MDD_CTL_PTAG_MASK, (u64)own->dom->ptag) |
		  FIELD_PREP(ARIES_MDD_CTL_PAGE_SHIFT_MASK, (u64)region->page_shift) |
		  FIELD_PREP(ARIES_MDD_CTL_OWNER_MASK, (u64)own->nr);

	if (region->cq)
		ctl |= FIELD_PREP(ARIES_MDD_CTL_CQ_VALID_MASK, 1ull) |
		       FIELD_PREP(ARIES_MDD_CTL_CQ_MASK, (u64)region->cq->nr);
	aries_wr64(ad, ARIES_MDD_BASE_N(region->mdh),
		   FIELD_PREP(ARIES_MDD_BASE_OFFSET_MASK, base));
	aries_wr64(ad, ARIES_MDD_LENGTH_N(region->mdh),
		   FIELD_PREP(ARIES_MDD_LENGTH_LENGTH_MASK, (u64)region->npages << PAGE_SHIFT));
	aries_wr64(ad, ARIES_MDD_TABLE_N(region->mdh), region->table_dma);
	aries_wr64(ad, ARIES_MDD_CTL_N(region->mdh), ctl);
	region->live = true;
}

/* A number that is not part of a block. Numbers of a block were charged to the domain together. */
static int aries_region_get_number(struct aries_owner *own)
{
	struct aries_dev *ad = own->ad;
	int rc = aries_domain_charge(ad, own->dom, ARIES_RES_MDD, 1);

	if (rc)
		return rc;
	rc = aries_pool_get(&ad->mdds, own->nr);
	if (rc < 0)
		aries_domain_uncharge(ad, own->dom, ARIES_RES_MDD, 1);
	return rc;
}

/* For a region that was never programmed into the NIC. */
static void aries_region_put_number(struct aries_owner *own, const struct aries_region *region)
{
	struct aries_dev *ad = own->ad;

	if (region->block) {
		aries_vmdh_put(ad, region->block, region->mdh);
		return;
	}
	aries_pool_put(&ad->mdds, region->mdh, own->nr);
	aries_domain_uncharge(ad, own->dom, ARIES_RES_MDD, 1);
}

/**
 * aries_region_publish() - give a region to an owner, and let peers access it
 * @own: owner
 * @region: the region, already built and with its queue
 * @vmdh: entry of the domain's block, in and out; NULL for a number outside the block
 * @later: the caller will call aries_region_program() when the region has pages
 *
 * Context: sleeps; state_sem and own->lock held. Return: 0; -ENOSPC; -ENOMEM; -ENOENT if there is
 * no such entry; -EBUSY if it is taken. On error the caller frees the region.
 */
int aries_region_publish(struct aries_owner *own, struct aries_region *region, u32 *vmdh,
			 bool later)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc, mdh;

	lockdep_assert_held(&own->lock);
	rc = aries_domain_charge(ad, own->dom, ARIES_RES_PAGES, region->npages);
	if (rc)
		return rc;
	mdh = vmdh ? aries_vmdh_get(own, vmdh, &region->block) : aries_region_get_number(own);
	if (mdh < 0) {
		rc = mdh;
		goto err_pages;
	}
	region->mdh = mdh;
	rc = xa_err(xa_store(&own->mems, mdh, region, GFP_KERNEL));
	if (rc)
		goto err_number;
	if (region->cq)
		region->cq->mem_refs++;
	if (!later)
		aries_region_program(own, region);
	trace_aries_mem_register(own, region);
	return 0;

err_number:
	aries_region_put_number(own, region);
err_pages:
	aries_domain_uncharge(ad, own->dom, ARIES_RES_PAGES, region->npages);
	return rc;
}

static void aries_region_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_region *region = container_of(kept, struct aries_region, kept);

	if (region->block) {
		aries_vmdh_put(ad, region->block, region->mdh);
	} else if (!region->keep || !region->keep(ad, region)) {
		aries_pool_put_held(&ad->mdds, region->mdh);
		aries_domain_uncharge(ad, kept->dom, ARIES_RES_MDD, 1);
	}
	aries_domain_uncharge(ad, kept->dom, ARIES_RES_PAGES, region->npages);
	region->release(ad, region);
}

/**
 * aries_region_take_away() - prevent new accesses to a region
 * @ad: the device
 * @region: published region, whose number has not been reused
 *
 * Context: any. Return: the invalidation sequence number to wait for.
 */
u64 aries_region_take_away(struct aries_dev *ad, const struct aries_region *region)
{
	aries_wr32(ad, ARIES_INV_MDD, FIELD_PREP(ARIES_INV_MDD_MDH_MASK, region->mdh));
	return aries_inv_seq(ad);
}

/**
 * aries_region_revoke() - begin to tear down a region: prevent new accesses
 * @ad: the device
 * @region: published region
 *
 * Its number is not reused before aries_region_del(). Context: own->lock held.
 * Return: the invalidation sequence number to wait for.
 */
u64 aries_region_revoke(struct aries_dev *ad, struct aries_region *region)
{
	region->leaving = true;
	region->live = false;
	return aries_region_take_away(ad, region);
}

/**
 * aries_region_del() - invalidate a region and remove it from its owner
 * @own: owner
 * @region: published region without receives
 * @gone: list from aries_kept_take(); the region is released when the NIC no longer uses it
 *
 * Context: own->lock held.
 */
void aries_region_del(struct aries_owner *own, struct aries_region *region,
		      struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;

	lockdep_assert_held(&own->lock);
	if (!region->leaving)
		aries_region_revoke(ad, region);
	trace_aries_mem_deregister(own, region);
	xa_erase(&own->mems, region->mdh);
	if (region->cq)
		region->cq->mem_refs--;
	if (!region->block)
		aries_pool_hold(&ad->mdds, region->mdh, own->nr);
	aries_kept_take(own, gone, &region->kept, aries_region_free_kept);
}

/** aries_region_teardown() - revoke all regions of an owner. Context: own->lock held. */
void aries_region_teardown(struct aries_owner *own, struct list_head *gone)
{
	struct aries_region *region;
	unsigned long mdh;

	xa_for_each(&own->mems, mdh, region)
		aries_region_del(own, region, gone);
}
