// SPDX-License-Identifier: GPL-2.0-only
/* Memory that peers access: mailboxes, and buffers of the user. All with slnd.mutex held. */
#include <linux/export.h>
#include <linux/io.h>
#include <linux/mm.h>

#include "slnd_priv.h"

#define SLND_MORE_MESSAGES 12 /* of the largest size, beyond those four that GNI requires */

/* Allocate and register a mailbox, zeroed; its events go to the receive queue. */
int slnd_mbox_get(gni_smsg_attr_t *mbox)
{
	u32 flags = GNI_MEM_READWRITE;

	*mbox = (gni_smsg_attr_t){
		.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
		.mbox_maxcredit = slnd_credits,
		.msg_maxsize = sizeof(struct slnd_msg) + SLND_MESSAGE_MAX,
	};
	if (gni_smsg_buff_size_needed(mbox, &mbox->buff_size) != GNI_RC_SUCCESS)
		return -EINVAL;
	mbox->buff_size += SLND_MORE_MESSAGES * mbox->msg_maxsize;
	mbox->msg_buffer = kvzalloc(mbox->buff_size, GFP_KERNEL);
	if (!mbox->msg_buffer)
		return -ENOMEM;
	if (!is_vmalloc_addr(mbox->msg_buffer))
		flags |= GNI_MEM_PHYS_CONT;
	if (gni_mem_register(slnd.nic, (uintptr_t)mbox->msg_buffer, mbox->buff_size, slnd.rx_cq,
			     flags, &mbox->mem_hndl) == GNI_RC_SUCCESS)
		return 0;
	kvfree(mbox->msg_buffer);
	return -ENOMEM;
}

/* No peer writes to a mailbox any more. */
void slnd_mbox_free(gni_smsg_attr_t *mbox)
{
	gni_mem_deregister(slnd.nic, &mbox->mem_hndl, 0);
	kvfree(mbox->msg_buffer);
}

/* Deregister a buffer. With a time to hold, its MDD is not used again until that is over. */
void slnd_map_end(struct slnd_buffer *buffer, int hold_ms)
{
	if (buffer->mapped) {
		list_del(&buffer->node);
		gni_mem_deregister(slnd.nic, &buffer->handle, hold_ms);
	}
	buffer->mapped = 0;
}

/*
 * Register a buffer page by page; the address of a byte is its offset from the start of the first
 * one. That takes longer than moving the contents, so it lasts until the user no longer needs it.
 */
int slnd_map(struct slnd_buffer *buffer)
{
	u32 flags = GNI_MEM_READWRITE | GNI_MEM_PHYS_SEGMENTS | GNI_MEM_RELAXED_PI_ORDERING, i;
	u32 pages = DIV_ROUND_UP(buffer->offset + buffer->bytes, PAGE_SIZE);
	gni_mem_segment_t *segments;
	gni_return_t rc;

	if (buffer->mapped >= pages)
		return 0;
	slnd_map_end(buffer, 0);
	segments = kvmalloc_array(pages, sizeof(*segments), GFP_KERNEL);
	if (!segments)
		return -ENOMEM;
	for (i = 0; i < pages; i++)
		segments[i] = (gni_mem_segment_t){ page_to_phys(buffer->pages[i]), PAGE_SIZE };
	rc = gni_mem_register_segments(slnd.nic, segments, pages, NULL, flags, &buffer->handle);
	kvfree(segments);
	if (rc != GNI_RC_SUCCESS)
		return -ENOMEM;
	buffer->mapped = pages;
	list_add(&buffer->node, &slnd.mapped);
	return 0;
}

/* slnd_unmap() - @buffer will not be used for transfers any more. Context: sleeps. */
void slnd_unmap(struct slnd_buffer *buffer)
{
	mutex_lock(&slnd.mutex);
	slnd_map_end(buffer, 0);
	mutex_unlock(&slnd.mutex);
}
EXPORT_SYMBOL_GPL(slnd_unmap);
