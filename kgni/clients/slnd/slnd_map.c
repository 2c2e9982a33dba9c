// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Registrations of users' memory. Registering and deregistering memory takes longer than moving its
 * contents. So a buffer keeps its registration until its user no longer needs it.
 */
#include <linux/export.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "slnd_priv.h"

/**
 * struct slnd_mapping - registration of a buffer
 * @node: in slnd_mappings while it is registered
 * @handle: memory handle
 * @pages: number of registered pages
 */
struct slnd_mapping {
	struct list_head node;
	gni_mem_handle_t handle;
	u32 pages;
};

static LIST_HEAD(slnd_mappings);
static DEFINE_MUTEX(slnd_mappings_lock); /* protects slnd_mappings and its elements */

static void slnd_mapping_end(struct slnd_mapping *mapping, int hold_ms)
{
	if (list_empty(&mapping->node))
		return;
	list_del_init(&mapping->node);
	gni_mem_deregister(slnd.nic, &mapping->handle, hold_ms);
}

/* Register page by page. The address of a byte is its offset from the start of the first page. */
static int slnd_mapping_begin(struct slnd_mapping *mapping, const struct slnd_buffer *buffer)
{
	u32 flags = GNI_MEM_READWRITE | GNI_MEM_PHYS_SEGMENTS | GNI_MEM_RELAXED_PI_ORDERING;
	gni_mem_segment_t *segments;
	gni_return_t rc;
	u32 i;

	mapping->pages = DIV_ROUND_UP(buffer->offset + buffer->bytes, PAGE_SIZE);
	segments = kvmalloc_array(mapping->pages, sizeof(*segments), GFP_KERNEL);
	if (!segments)
		return -ENOMEM;
	for (i = 0; i < mapping->pages; i++) {
		segments[i].address = page_to_phys(buffer->pages[i]);
		segments[i].length = PAGE_SIZE;
	}
	rc = gni_mem_register_segments(slnd.nic, segments, mapping->pages, NULL, flags,
				       &mapping->handle);
	kvfree(segments);
	if (rc != GNI_RC_SUCCESS)
		return -ENOMEM;
	list_add(&mapping->node, &slnd_mappings);
	return 0;
}

/**
 * slnd_map() - register a buffer, unless it is registered
 * @buffer: it
 * @handle: out: memory handle
 *
 * Context: sleeps. Return: 0 or -ENOMEM.
 */
int slnd_map(struct slnd_buffer *buffer, gni_mem_handle_t *handle)
{
	struct slnd_mapping *mapping = buffer->mapping;
	int rc = 0;

	if (!mapping) {
		mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
		if (!mapping)
			return -ENOMEM;
		INIT_LIST_HEAD(&mapping->node);
		buffer->mapping = mapping;
	}
	mutex_lock(&slnd_mappings_lock);
	if (mapping->pages * PAGE_SIZE < buffer->offset + buffer->bytes)
		slnd_mapping_end(mapping, 0);
	if (list_empty(&mapping->node))
		rc = slnd_mapping_begin(mapping, buffer);
	*handle = mapping->handle;
	mutex_unlock(&slnd_mappings_lock);
	return rc;
}

/** slnd_map_hold() - deregister a buffer, and hold its MDD for a while. Context: sleeps. */
void slnd_map_hold(struct slnd_buffer *buffer)
{
	mutex_lock(&slnd_mappings_lock);
	slnd_mapping_end(buffer->mapping, slnd_hold * 1000);
	mutex_unlock(&slnd_mappings_lock);
}

/** slnd_map_end() - end all registrations before the device is closed. Context: sleeps. */
void slnd_map_end(void)
{
	struct slnd_mapping *mapping, *next;

	mutex_lock(&slnd_mappings_lock);
	list_for_each_entry_safe(mapping, next, &slnd_mappings, node)
		slnd_mapping_end(mapping, 0);
	mutex_unlock(&slnd_mappings_lock);
}

/**
 * slnd_unmap() - a buffer will not be used for transfers any more
 * @buffer: buffer that no transfer uses
 *
 * Context: sleeps.
 */
void slnd_unmap(struct slnd_buffer *buffer)
{
	if (!buffer->mapping)
		return;
	mutex_lock(&slnd_mappings_lock);
	slnd_mapping_end(buffer->mapping, 0);
	mutex_unlock(&slnd_mappings_lock);
	kfree(buffer->mapping);
	buffer->mapping = NULL;
}
EXPORT_SYMBOL_GPL(slnd_unmap);
