// SPDX-License-Identifier: GPL-2.0-only
/* Registration of kernel memory: ranges of kernel addresses, or pages by physical address. */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_handle.h"
#include "kgni_mem.h"

/*
 * Hints about ordering, pool and contiguity are accepted and ignored: this NIC keeps all accesses
 * in order, has a single pool, and finds the pages itself.
 */
#define KGNI_HNDL_HINTS                                                                 \
	(GNI_MEM_PHYS_CONT | GNI_MEM_STRICT_PI_ORDERING | GNI_MEM_RELAXED_PI_ORDERING | \
	 GNI_MEM_PI_FLUSH | GNI_MEM_MDD_SHARED | GNI_MEM_MDD_DEDICATED | GNI_MEM_MDD_CLONE)

static gni_return_t kgni_mem_refuse(int error)
{
	switch (error) {
	case -EINVAL:
	case -EFAULT:
	case -EFBIG:
		return kgni_refuse(GNI_RC_INVALID_PARAM, -error);
	default:
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, -error);
	}
}

static gni_mem_handle_t kgni_mem_handle(const struct aries_region_info *info, bool by_offset,
					u32 flags)
{
	const struct gni_hndl hndl = {
		.address = by_offset ? 0 : info->base,
		.pages = info->bytes >> GNI_HNDL_ADDRESS_SHIFT,
		.mdh = info->mdh,
		.page_shift = GNI_HNDL_ADDRESS_SHIFT,
		.flags = flags & GNI_MEM_READ_ONLY ? GNI_HNDL_READ_ONLY : 0,
	};

	return gni_hndl_encode(hndl);
}

static gni_return_t kgni_mem_add(struct gni_nic *nic, struct aries_region_args *args, u32 flags,
				 struct gni_cq *cq, gni_mem_handle_t *handle)
{
	struct kgni_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);
	struct aries_region_info info;
	unsigned long irq;

	if (!mem)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM);
	if (cq && !kgni_cq_register(cq)) {
		kfree(mem);
		/* a queue is either for local or for remote events, not for both */
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBUSY, (uintptr_t)cq);
	}
	args->flags = flags & GNI_MEM_READ_ONLY ? ARIES_REGION_READ_ONLY : 0;
	args->cq = cq ? cq->hw : NULL;
	mem->region = aries_region_register(nic->own, args, &info);
	if (mem->region == ERR_PTR(-ENOSPC)) {
		/* deferred deregistrations may not have freed their resources yet */
		kgni_mem_later_flush(nic);
		mem->region = aries_region_register(nic->own, args, &info);
	}
	if (IS_ERR(mem->region)) {
		int error = PTR_ERR(mem->region);

		if (cq)
			kgni_cq_unregister(cq);
		kfree(mem);
		return kgni_mem_refuse(error);
	}
	mem->cq = cq;
	mem->handle = kgni_mem_handle(&info, args->by_offset, flags);
	*handle = mem->handle;
	spin_lock_irqsave(&nic->lock, irq);
	list_add_tail(&mem->node, &nic->mems);
	spin_unlock_irqrestore(&nic->lock, irq);
	return GNI_RC_SUCCESS;
}

static bool kgni_mem_sound(const struct gni_nic *nic, const struct gni_cq *cq, u32 flags,
			   const void *handle)
{
	return kgni_nic_valid(nic) && handle && !(flags & ~(GNI_MEM_READ_ONLY | KGNI_HNDL_HINTS)) &&
	       (!cq || (kgni_cq_valid(cq) && cq->nic == nic));
}

/* gni_mem_register() - register a range of kernel addresses, see gni_pub.h. Context: sleeps. */
gni_return_t gni_mem_register(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length,
			      gni_cq_handle_t dst_cq_hndl, uint32_t flags,
			      gni_mem_handle_t *mem_hndl)
{
	const struct aries_segment segment = { .address = address, .length = length };
	struct aries_region_args args = { .segments = &segment, .count = 1 };

	might_sleep();
	if (!kgni_mem_sound(nic_hndl, dst_cq_hndl, flags, mem_hndl) || !length)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, address, length, flags);
	return kgni_mem_add(nic_hndl, &args, flags, dst_cq_hndl, mem_hndl);
}
EXPORT_SYMBOL_GPL(gni_mem_register);

/* gni_mem_register_segments() - register several pieces, see gni_pub.h. Context: sleeps. */
gni_return_t gni_mem_register_segments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments,
				       uint32_t segments_cnt, gni_cq_handle_t dst_cq_hndl,
				       uint32_t flags, gni_mem_handle_t *mem_hndl)
{
	/* the structures of client and driver are the same */
	struct aries_region_args args = {
		.segments = (const struct aries_segment *)mem_segments,
		.count = segments_cnt,
		.physical = flags & GNI_MEM_PHYS_SEGMENTS,
		.by_offset = true,
	};

	BUILD_BUG_ON(sizeof(gni_mem_segment_t) != sizeof(struct aries_segment) ||
		     offsetof(gni_mem_segment_t, length) != offsetof(struct aries_segment, length));
	might_sleep();
	if (!kgni_mem_sound(nic_hndl, dst_cq_hndl, flags & ~GNI_MEM_PHYS_SEGMENTS, mem_hndl) ||
	    !mem_segments || !segments_cnt)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, segments_cnt, flags);
	return kgni_mem_add(nic_hndl, &args, flags, dst_cq_hndl, mem_hndl);
}
EXPORT_SYMBOL_GPL(gni_mem_register_segments);

/* Remove the registration of a handle from the list. Return: the registration, or NULL. */
static struct kgni_mem *kgni_mem_take(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
	struct kgni_mem *mem, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&nic->lock, flags);
	list_for_each_entry(mem, &nic->mems, node)
		if (kgni_mem_same(mem, handle)) {
			found = mem;
			list_del(&mem->node);
			break;
		}
	spin_unlock_irqrestore(&nic->lock, flags);
	return found;
}

/* gni_mem_deregister() - deregister memory, see gni_pub.h. Context: any. */
gni_return_t gni_mem_deregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl,
				int hold_timeout)
{
	struct kgni_mem *mem;

	if (!kgni_nic_valid(nic_hndl) || !mem_hndl || hold_timeout < 0)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl, hold_timeout);
	mem = kgni_mem_take(nic_hndl, mem_hndl);
	if (!mem)
		return kgni_refuse(GNI_RC_INVALID_PARAM, ENOENT, mem_hndl->qword1,
				   mem_hndl->qword2);
	mem->hold_ms = hold_timeout;
	kgni_mem_end_later(nic_hndl, mem);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_mem_deregister);

/*
 * gni_mem_mdd_release() - release an MDD that gni_mem_deregister() holds, see gni_pub.h
 *
 * Context: any.
 */
gni_return_t gni_mem_mdd_release(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl)
{
	if (!kgni_nic_valid(nic_hndl) || !mem_hndl || !gni_hndl_intact(mem_hndl))
		return kgni_refuse(GNI_RC_NO_MATCH, EINVAL);
	if (!kgni_mem_release_later(nic_hndl, mem_hndl))
		return kgni_refuse(GNI_RC_NO_MATCH, ENOENT);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_mem_mdd_release);

/*
 * kgni_mem_close() - end all registrations of a NIC handle. Context: sleeps; no registration may be
 * made at the same time.
 */
void kgni_mem_close(struct gni_nic *nic)
{
	struct kgni_mem *mem, *next;

	list_for_each_entry_safe(mem, next, &nic->mems, node) {
		kgni_mem_end(mem);
		kfree(mem);
	}
	INIT_LIST_HEAD(&nic->mems);
	kgni_mem_later_close(nic);
}
