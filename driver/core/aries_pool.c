// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of numbers for FMA descriptors, memory domains, queues and contexts.
 *
 * Numbers are allocated round robin, so that a freed number is reused as late as possible. A stale
 * handle then refers to nothing, for a while at least.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "aries_core.h"

/**
 * aries_pool_init() - create a pool of the numbers @first to @size - 1, all free
 * @pool: the pool
 * @first: lowest number
 * @size: one more than the highest number
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int aries_pool_init(struct aries_pool *pool, unsigned int first, unsigned int size)
{
	spin_lock_init(&pool->lock);
	pool->first = first;
	pool->size = size;
	pool->used = 0;
	pool->held = 0;
	pool->cursor = first;
	pool->map = bitmap_zalloc(size, GFP_KERNEL);
	pool->owner = kvcalloc(size, sizeof(*pool->owner), GFP_KERNEL);
	if (pool->map && pool->owner)
		return 0;
	aries_pool_exit(pool);
	return -ENOMEM;
}

/**
 * aries_pool_exit() - free a pool; may be called on one that was never created
 * @pool: the pool
 *
 * Warns if numbers other than held ones are still taken. Context: may sleep.
 */
void aries_pool_exit(struct aries_pool *pool)
{
	WARN_ON(pool->map && pool->used != pool->held);
	bitmap_free(pool->map);
	kvfree(pool->owner);
	pool->map = NULL;
	pool->owner = NULL;
}

/**
 * aries_pool_get() - allocate a number
 * @pool: the pool
 * @owner: context number of the owner
 *
 * Context: any. Return: the number or -ENOSPC.
 */
int aries_pool_get(struct aries_pool *pool, u16 owner)
{
	unsigned int nr;

	spin_lock(&pool->lock);
	nr = find_next_zero_bit(pool->map, pool->size, pool->cursor);
	if (nr >= pool->size)
		nr = find_next_zero_bit(pool->map, pool->size, pool->first);
	if (nr >= pool->size) {
		spin_unlock(&pool->lock);
		return -ENOSPC;
	}
	__set_bit(nr, pool->map);
	pool->owner[nr] = owner;
	pool->used++;
	pool->cursor = nr + 1 < pool->size ? nr + 1 : pool->first;
	spin_unlock(&pool->lock);
	return nr;
}

/**
 * aries_pool_get_row() - allocate consecutive numbers, for owner 0
 * @pool: the pool
 * @count: how many numbers
 *
 * Context: any. Return: the first number or -ENOSPC.
 */
int aries_pool_get_row(struct aries_pool *pool, unsigned int count)
{
	unsigned long first;
	unsigned int nr;

	spin_lock(&pool->lock);
	first = bitmap_find_next_zero_area(pool->map, pool->size, pool->first, count, 0);
	if (first >= pool->size) {
		spin_unlock(&pool->lock);
		return -ENOSPC;
	}
	bitmap_set(pool->map, first, count);
	for (nr = first; nr < first + count; nr++)
		pool->owner[nr] = 0;
	pool->used += count;
	spin_unlock(&pool->lock);
	return first;
}

/**
 * aries_pool_put() - free a number
 * @pool: the pool
 * @nr: what aries_pool_get() returned
 * @owner: as passed there; a number of another owner is not freed, with a warning
 *
 * Context: any.
 */
void aries_pool_put(struct aries_pool *pool, unsigned int nr, u16 owner)
{
	spin_lock(&pool->lock);
	if (!WARN_ON(nr >= pool->size || !test_bit(nr, pool->map) || pool->owner[nr] != owner)) {
		__clear_bit(nr, pool->map);
		pool->used--;
	}
	spin_unlock(&pool->lock);
}

/**
 * aries_pool_hold() - take a number from its owner, but do not free it yet
 * @pool: the pool
 * @nr: number
 * @owner: as passed to aries_pool_get()
 *
 * For a resource that the NIC has not released yet, so that its number must not be reused. The
 * number is freed by aries_pool_put_held(), or by the next reset. Context: any.
 */
void aries_pool_hold(struct aries_pool *pool, unsigned int nr, u16 owner)
{
	spin_lock(&pool->lock);
	if (!WARN_ON(nr >= pool->size || !test_bit(nr, pool->map) || pool->owner[nr] != owner))
		pool->held++;
	spin_unlock(&pool->lock);
}

/**
 * aries_pool_put_held() - free a held number after the NIC has released the resource
 * @pool: the pool
 * @nr: number
 *
 * Context: any.
 */
void aries_pool_put_held(struct aries_pool *pool, unsigned int nr)
{
	spin_lock(&pool->lock);
	if (!WARN_ON(nr >= pool->size || !test_bit(nr, pool->map) || !pool->held)) {
		__clear_bit(nr, pool->map);
		pool->used--;
		pool->held--;
	}
	spin_unlock(&pool->lock);
}

/**
 * aries_pool_release_held() - free all held numbers after a reset or the removal of the NIC
 * @pool: the pool
 *
 * To be called when no other number is taken. Context: any.
 */
void aries_pool_release_held(struct aries_pool *pool)
{
	spin_lock(&pool->lock);
	WARN_ON(pool->used != pool->held);
	bitmap_zero(pool->map, pool->size);
	pool->used = 0;
	pool->held = 0;
	spin_unlock(&pool->lock);
}

/** aries_pool_used() - count the numbers in use, including held ones */
unsigned int aries_pool_used(struct aries_pool *pool)
{
	return READ_ONCE(pool->used);
}

/** aries_pool_total() - count all numbers of a pool */
unsigned int aries_pool_total(const struct aries_pool *pool)
{
	return pool->size - pool->first;
}
