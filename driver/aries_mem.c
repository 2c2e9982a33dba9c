// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory domains: registrations of user memory.
 */
#include <linux/mm.h>

#include "aries.h"
#include "aries_trace.h"

#define ARIES_MEM_MAX BIT_ULL(ARIES_OFFSET_BITS)

static void aries_mem_free(struct aries_dev *ad, struct aries_mem *mem)
{
	aries_pte_free(ad, mem);
	aries_unpin(ad, mem);
}

static void aries_mem_program(struct aries_ctx *ctx, const struct aries_mem *mem)
{
	struct aries_dev *ad = ctx->ad;
	bool two_level = mem->leaf;
	u64 ctl = FIELD_PREP(ARIES_MDD_CTL_VALID_MASK, 1ull) |
		  FIELD_PREP(ARIES_MDD_CTL_READ_ONLY_MASK, (u64)mem->read_only) |
		  FIELD_PREP(ARIES_MDD_CTL_TWO_LEVEL_MASK, (u64)two_level) |
		  FIELD_PREP(ARIES_MDD_CTL_PTAG_MASK, (u64)ctx->dom->ptag) |
		  FIELD_PREP(ARIES_MDD_CTL_PAGE_SHIFT_MASK, (u64)mem->page_shift) |
		  FIELD_PREP(ARIES_MDD_CTL_OWNER_MASK, (u64)ctx->owner);

	if (mem->cq)
		ctl |= FIELD_PREP(ARIES_MDD_CTL_CQ_VALID_MASK, 1ull) |
		       FIELD_PREP(ARIES_MDD_CTL_CQ_MASK, (u64)mem->cq->nr);
	aries_wr64(ad, ARIES_MDD_BASE_N(mem->mdh),
		   FIELD_PREP(ARIES_MDD_BASE_OFFSET_MASK, mem->start & (ARIES_MEM_MAX - 1)));
	aries_wr64(ad, ARIES_MDD_LENGTH_N(mem->mdh),
		   FIELD_PREP(ARIES_MDD_LENGTH_LENGTH_MASK, (u64)mem->npages << PAGE_SHIFT));
	aries_wr64(ad, ARIES_MDD_TABLE_N(mem->mdh), mem->table_dma);
	aries_wr64(ad, ARIES_MDD_CTL_N(mem->mdh), ctl);
}

static int aries_mem_find_cq(struct aries_ctx *ctx, struct aries_mem *mem, u32 cq)
{
	if (cq == KGNI_NO_CQ)
		return 0;
	mem->cq = aries_cq_find(ctx, cq);
	return mem->cq ? 0 : -ENOENT;
}

static int aries_mem_add(struct aries_ctx *ctx, struct aries_mem *mem, u32 cq)
	__must_hold(&ctx->lock)
{
	struct aries_dev *ad = ctx->ad;
	int rc, mdh;

	lockdep_assert_held(&ctx->lock);
	rc = aries_mem_find_cq(ctx, mem, cq);
	if (rc)
		return rc;
	rc = aries_pte_build(ad, mem);
	if (rc)
		goto err_pte;
	rc = aries_domain_charge(ad, ctx->dom, ARIES_RES_MDD);
	if (rc)
		goto err_pte;
	mdh = aries_pool_get(&ad->mdds, ctx->owner);
	if (mdh < 0) {
		rc = mdh;
		goto err_uncharge;
	}
	mem->mdh = mdh;
	rc = xa_err(xa_store(&ctx->mems, mdh, mem, GFP_KERNEL));
	if (rc)
		goto err_pool;
	if (mem->cq)
		mem->cq->mem_refs++;
	aries_mem_program(ctx, mem);
	trace_aries_mem(ad->id, ctx->owner, mdh, mem->start, mem->npages, mem->page_shift, true);
	return 0;

err_pool:
	aries_pool_put(&ad->mdds, mdh, ctx->owner);
err_uncharge:
	aries_domain_uncharge(ad, ctx->dom, ARIES_RES_MDD);
err_pte:
	aries_pte_free(ad, mem);
	return rc;
}

/* Invalidates a registration and frees it; one that the NIC does not let go of is put aside. */
static void aries_mem_del(struct aries_ctx *ctx, struct aries_mem *mem)
	__must_hold(&ctx->lock)
{
	struct aries_dev *ad = ctx->ad;
	int rc;

	lockdep_assert_held(&ctx->lock);
	rc = aries_inv_mdd(ad, mem->mdh);
	trace_aries_mem(ad->id, ctx->owner, mem->mdh, mem->start, mem->npages, mem->page_shift,
			false);
	xa_erase(&ctx->mems, mem->mdh);
	if (mem->cq)
		mem->cq->mem_refs--;
	aries_domain_uncharge(ad, ctx->dom, ARIES_RES_MDD);
	if (rc) {
		aries_pool_hold(&ad->mdds, mem->mdh);
		mutex_lock(&ad->inv_lock);
		list_add(&mem->node, &ad->quarantine);
		mutex_unlock(&ad->inv_lock);
		return;
	}
	aries_pool_put(&ad->mdds, mem->mdh, ctx->owner);
	aries_mem_free(ad, mem);
}

static int aries_mem_check(const struct kgni_mem_register *arg, unsigned long *start,
			   unsigned long *npages)
{
	u64 end;

	if (arg->flags & ~KGNI_MEM_READ_ONLY || arg->reserved || !arg->length)
		return -EINVAL;
	if (check_add_overflow(arg->address, arg->length, &end) || end > TASK_SIZE_MAX)
		return arg->length > ARIES_MEM_MAX ? -EFBIG : -EINVAL;
	*start = arg->address & PAGE_MASK;
	*npages = (PAGE_ALIGN(end) - *start) >> PAGE_SHIFT;
	return *npages > ARIES_MEM_MAX >> PAGE_SHIFT ? -EFBIG : 0;
}

/** aries_mem_register() - KGNI_IOC_MEM_REGISTER. Context: sleeps. */
int aries_mem_register(struct aries_ctx *ctx, struct kgni_mem_register *arg)
{
	unsigned long start, npages;
	struct aries_mem *mem;
	int rc = aries_mem_check(arg, &start, &npages);

	if (rc)
		return rc;
	/* only to refuse before the work of pinning: the answer may change meanwhile */
	rc = aries_ctx_enter(ctx, true);
	if (rc)
		return rc;
	aries_ctx_exit(ctx);
	mem = aries_pin(ctx->ad, start, npages, arg->flags & KGNI_MEM_READ_ONLY);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	rc = aries_ctx_enter(ctx, true);
	if (rc)
		goto err_unpin;
	rc = aries_mem_add(ctx, mem, arg->cq);
	if (!rc) {
		arg->mdh = mem->mdh;
		arg->page_shift = mem->page_shift;
		arg->base = mem->start;
		arg->pages = mem->npages;
	}
	aries_ctx_exit(ctx);
	if (!rc)
		return 0;
err_unpin:
	aries_unpin(ctx->ad, mem);
	return rc;
}

/** aries_mem_deregister() - KGNI_IOC_MEM_DEREGISTER. Context: sleeps. */
int aries_mem_deregister(struct aries_ctx *ctx, struct kgni_mem_deregister *arg)
{
	struct aries_mem *mem;
	int rc = aries_ctx_enter(ctx, true);

	if (rc)
		return rc;
	mem = xa_load(&ctx->mems, arg->mdh);
	if (mem)
		aries_mem_del(ctx, mem);
	else
		rc = -ENOENT;
	aries_ctx_exit(ctx);
	return rc;
}

/** aries_mem_teardown() - end all registrations of an attachment. Context: sleeps; lock held. */
void aries_mem_teardown(struct aries_ctx *ctx)
{
	struct aries_mem *mem;
	unsigned long mdh;

	xa_for_each(&ctx->mems, mdh, mem)
		aries_mem_del(ctx, mem);
}

/** aries_mem_free_quarantine() - free what was put aside; the NIC was reset or cannot do DMA */
void aries_mem_free_quarantine(struct aries_dev *ad)
{
	struct aries_mem *mem, *next;

	mutex_lock(&ad->inv_lock);
	list_for_each_entry_safe(mem, next, &ad->quarantine, node) {
		list_del(&mem->node);
		aries_mem_free(ad, mem);
	}
	mutex_unlock(&ad->inv_lock);
}
