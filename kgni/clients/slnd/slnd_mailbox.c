// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Mailboxes. Several share one block of memory and one registration, each at its own offset.
 */
#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "slnd_priv.h"

#define SLND_BLOCK_BOXES 8
#define SLND_LARGE 16 /* a mailbox has space for at least this many messages of the largest size */

/**
 * struct slnd_block - a block of memory for mailboxes
 * @node: in slnd.blocks
 * @memory: the memory
 * @contiguous: it is physically contiguous
 * @bytes: its size
 * @box_bytes: size of one mailbox
 * @handle: registration
 * @boxes: mailboxes
 */
struct slnd_block {
	struct list_head node;
	void *memory;
	bool contiguous;
	size_t bytes;
	u32 box_bytes;
	gni_mem_handle_t handle;
	struct slnd_box boxes[SLND_BLOCK_BOXES];
};

static void slnd_box_attr(gni_smsg_attr_t *attr)
{
	*attr = (gni_smsg_attr_t){
		.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
		.mbox_maxcredit = slnd_credits,
		.msg_maxsize = sizeof(struct slnd_head) + SLND_MESSAGE_MAX,
	};
}

/* The required size holds four messages of the largest size. More makes it faster. */
static u32 slnd_box_bytes(void)
{
	gni_smsg_attr_t attr;
	unsigned int bytes;

	slnd_box_attr(&attr);
	if (gni_smsg_buff_size_needed(&attr, &bytes) != GNI_RC_SUCCESS)
		return 0;
	return ALIGN(bytes + (SLND_LARGE - 4) * attr.msg_maxsize, SMP_CACHE_BYTES);
}

static void slnd_block_free(struct slnd_block *block)
{
	if (block->contiguous)
		free_pages_exact(block->memory, block->bytes);
	else
		vfree(block->memory);
	kfree(block);
}

static struct slnd_block *slnd_block_new(void)
{
	struct slnd_block *block = kzalloc(sizeof(*block), GFP_KERNEL);
	u32 flags = GNI_MEM_READWRITE;

	if (!block)
		return NULL;
	block->box_bytes = slnd_box_bytes();
	block->bytes = SLND_BLOCK_BOXES * (size_t)block->box_bytes;
	block->memory = alloc_pages_exact(block->bytes, GFP_KERNEL | __GFP_NOWARN);
	block->contiguous = block->memory;
	if (block->contiguous)
		flags |= GNI_MEM_PHYS_CONT;
	else
		block->memory = vmalloc(block->bytes);
	if (block->memory && gni_mem_register(slnd.nic, (uintptr_t)block->memory, block->bytes,
					      slnd.rx_cq, flags, &block->handle) == GNI_RC_SUCCESS)
		return block;
	if (block->memory)
		slnd_block_free(block);
	else
		kfree(block);
	return NULL;
}

static struct slnd_box *slnd_box_take(void)
{
	struct slnd_box *box;

	spin_lock(&slnd.lock);
	box = list_first_entry_or_null(&slnd.boxes, struct slnd_box, node);
	if (box)
		list_del_init(&box->node);
	spin_unlock(&slnd.lock);
	return box;
}

/** slnd_box_get() - allocate a mailbox, zeroed. Context: sleeps. Return: the mailbox, or NULL. */
struct slnd_box *slnd_box_get(void)
{
	struct slnd_box *box = slnd_box_take();
	struct slnd_block *block;
	unsigned int i;

	if (!box) {
		block = slnd_block_new();
		if (!block)
			return NULL;
		spin_lock(&slnd.lock);
		list_add(&block->node, &slnd.blocks);
		for (i = 0; i < SLND_BLOCK_BOXES; i++) {
			block->boxes[i].block = block;
			block->boxes[i].offset = i * block->box_bytes;
			list_add_tail(&block->boxes[i].node, &slnd.boxes);
		}
		spin_unlock(&slnd.lock);
		box = slnd_box_take();
	}
	if (box)
		memset(box->block->memory + box->offset, 0, box->block->box_bytes);
	return box;
}

/** slnd_box_put() - free a mailbox that no peer writes to any more. Context: any thread. */
void slnd_box_put(struct slnd_box *box)
{
	spin_lock(&slnd.lock);
	list_add(&box->node, &slnd.boxes);
	spin_unlock(&slnd.lock);
}

/** slnd_box_describe() - describe a mailbox for the peer. Context: any. */
void slnd_box_describe(const struct slnd_box *box, gni_smsg_attr_t *attr)
{
	slnd_box_attr(attr);
	attr->msg_buffer = box->block->memory;
	attr->buff_size = box->block->box_bytes;
	attr->mem_hndl = box->block->handle;
	attr->mbox_offset = box->offset;
}

/** slnd_blocks_free() - free all mailboxes. Context: sleeps; no connection uses one. */
void slnd_blocks_free(void)
{
	struct slnd_block *block, *next;

	INIT_LIST_HEAD(&slnd.boxes);
	list_for_each_entry_safe(block, next, &slnd.blocks, node) {
		gni_mem_deregister(slnd.nic, &block->handle, 0);
		slnd_block_free(block);
	}
	INIT_LIST_HEAD(&slnd.blocks);
}
