// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings that are taken away from a process, and the pages that it finds in their place once its
 * attachment is dead.
 *
 * They read as all ones, like the registers of a NIC that is gone. So the process is not killed for
 * accessing a NIC that it cannot know to be gone. It notices from what it reads anyway: an invalid
 * status word, or a queue entry that no NIC writes.
 */
#include <linux/mm.h>

#include "aries_user.h"

/**
 * aries_ctx_zap() - remove mappings of an attachment; the process may fault them in again
 * @ctx: attachment
 * @start: offset in its file
 * @size: number of bytes, or 0 for everything from @start on
 *
 * A file that is being closed has no mappings any more. After that its inode may be gone, while a
 * reset or a suspension still has a reference to the attachment.
 *
 * Context: sleeps; ctx->own.lock held, or the lock of the descriptor that @ctx shares.
 */
void aries_ctx_zap(struct aries_ctx *ctx, u64 start, u64 size)
{
	struct address_space *mapping = READ_ONCE(ctx->mapping);

	if (mapping)
		unmap_mapping_range(mapping, start, size, 1);
}

/*
 * A page of a dead attachment must keep reading as all ones when the process stores to another one.
 * So each kind of page has a ghost page of its own. Pages that a process only stores to share one.
 */
static enum aries_ghost aries_ghost_kind(const struct vm_fault *vmf)
{
	u64 offset = (u64)vmf->vma->vm_pgoff << PAGE_SHIFT;
	unsigned long n = vmf->pgoff - vmf->vma->vm_pgoff;

	BUILD_BUG_ON(ARIES_GHOST_AREA + ARIES_DESC_STRIDE / PAGE_SIZE != ARIES_GHOST_COUNT);
	if (offset == ARIES_MMAP_CLOCK)
		return ARIES_GHOST_CLOCK;
	if (offset < ARIES_MMAP_PLACE)
		return n < ARIES_CQ_HEADER_BYTES / PAGE_SIZE ? ARIES_GHOST_STORES :
							       ARIES_GHOST_SLOTS;
	if ((offset - ARIES_MMAP_PLACE) % ARIES_MMAP_PLACE_SIZE == ARIES_MMAP_DESC)
		return ARIES_GHOST_AREA + n;
	return ARIES_GHOST_STORES;
}

/**
 * aries_ghost_fault() - a page fault of a dead attachment
 * @vmf: the fault
 * @ctx: attachment
 *
 * The ghost pages belong to this attachment alone, so no other process sees what is stored there.
 *
 * Context: sleeps; ctx->own.lock held. Return: 0 or VM_FAULT_OOM.
 */
vm_fault_t aries_ghost_fault(struct vm_fault *vmf, struct aries_ctx *ctx)
	__must_hold(&ctx->own.lock)
{
	struct page **ghost = &ctx->ghosts[aries_ghost_kind(vmf)];

	lockdep_assert_held(&ctx->own.lock);
	if (!*ghost) {
		*ghost = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!*ghost)
			return VM_FAULT_OOM;
		memset(page_address(*ghost), 0xff, PAGE_SIZE);
	}
	get_page(*ghost);
	vmf->page = *ghost;
	return 0;
}

/** aries_ghosts_free() - free the ghost pages when an attachment ends. Context: any. */
void aries_ghosts_free(struct aries_ctx *ctx)
{
	unsigned int n;

	for (n = 0; n < ARIES_GHOST_COUNT; n++)
		if (ctx->ghosts[n])
			put_page(ctx->ghosts[n]);
}
