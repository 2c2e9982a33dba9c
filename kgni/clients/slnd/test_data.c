// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Test data that can be verified, and memory for it. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "test.h"

static LIST_HEAD(st_free);
static DEFINE_SPINLOCK(st_free_lock);

static u8 st_byte(u32 seed, u32 position)
{
	u32 x = (seed + position) * 0x9e3779b1u;

	return x >> 24;
}

/*
 * st_fill() - generate data. @seed: selects the data, @position: of @at in all of it. Context: any.
 */
void st_fill(void *at, u32 bytes, u32 seed, u32 position)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		((u8 *)at)[i] = st_byte(seed, position + i);
}

/** st_is() - verify data of st_fill(). Context: any. */
bool st_is(const void *at, u32 bytes, u32 seed, u32 position)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (((const u8 *)at)[i] != st_byte(seed, position + i))
			return false;
	return true;
}

static bool st_memory_each(struct st_memory *memory, u32 seed, bool fill)
{
	u32 position = 0, offset = memory->buffer.offset, i;
	bool right = true;

	for (i = 0; position < memory->buffer.bytes; i++, offset = 0) {
		u32 bytes = min_t(u32, memory->buffer.bytes - position, PAGE_SIZE - offset);
		void *at = kmap_local_page(memory->pages[i]);

		if (fill)
			st_fill(at + offset, bytes, seed, position);
		else
			right &= st_is(at + offset, bytes, seed, position);
		kunmap_local(at);
		position += bytes;
	}
	return right;
}

/** st_memory_fill() - generate data for a transfer. Context: any. */
void st_memory_fill(struct st_memory *memory, u32 seed)
{
	st_memory_each(memory, seed, true);
}

/** st_memory_is() - verify data of st_memory_fill(). Context: any. */
bool st_memory_is(struct st_memory *memory, u32 seed)
{
	return st_memory_each(memory, seed, false);
}

/**
 * st_memory_get() - get pages for a transfer
 * @bytes: length
 * @offset: offset of the first byte in the first page
 *
 * Context: sleeps. Return: the pages, or NULL.
 */
struct st_memory *st_memory_get(u32 bytes, u32 offset)
{
	u32 pages = DIV_ROUND_UP(offset + bytes, PAGE_SIZE), i;
	struct st_memory *memory;

	if (!bytes || offset >= PAGE_SIZE || pages > SLND_BULK_PAGES)
		return NULL;
	spin_lock(&st_free_lock);
	memory = list_first_entry_or_null(&st_free, struct st_memory, node);
	if (memory)
		list_del(&memory->node);
	spin_unlock(&st_free_lock);
	if (!memory)
		memory = kvzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return NULL;
	for (i = 0; i < pages; i++) {
		if (!memory->pages[i])
			memory->pages[i] = alloc_page(GFP_KERNEL);
		if (!memory->pages[i]) {
			st_memory_put(memory);
			return NULL;
		}
	}
	memory->buffer.pages = memory->pages;
	memory->buffer.offset = offset;
	memory->buffer.bytes = bytes;
	return memory;
}

/** st_memory_put() - give pages back for reuse. Context: any thread. */
void st_memory_put(struct st_memory *memory)
{
	spin_lock(&st_free_lock);
	list_add(&memory->node, &st_free);
	spin_unlock(&st_free_lock);
}

/** st_memory_free() - free all unused pages. Context: sleeps. */
void st_memory_free(void)
{
	struct st_memory *memory, *next;
	LIST_HEAD(all);
	u32 i;

	spin_lock(&st_free_lock);
	list_splice_init(&st_free, &all);
	spin_unlock(&st_free_lock);
	list_for_each_entry_safe(memory, next, &all, node) {
		slnd_unmap(&memory->buffer);
		for (i = 0; i < SLND_BULK_PAGES && memory->pages[i]; i++)
			__free_page(memory->pages[i]);
		kvfree(memory);
	}
}
