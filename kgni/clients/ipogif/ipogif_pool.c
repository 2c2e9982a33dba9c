// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers that a peer puts frames into. They stay registered as long as the connection lasts. So
 * nothing is registered on the data path, and a late put cannot hit memory that is used for
 * something else. The stack gets the pages themselves. A buffer may be filled again when ours is
 * the only reference to its page. While the stack holds on to most of the buffers, frames are
 * copied out.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "ipogif.h"

/* Up to this size a copy costs less than a buffer that the stack may keep for long. */
#define IPOGIF_COPY 4096u

static void ipogif_pool_free(struct ipogif_pool *pool, unsigned int buffers)
{
	unsigned int i;

	/* pages that the stack still uses are freed by it later */
	for (i = 0; i < buffers; i++)
		put_page(pool->pages[i]);
	kfree(pool->pages);
	pool->pages = NULL;
	pool->buffers = 0;
}

static int ipogif_pool_register(struct ipogif_conn *conn, unsigned int buffers)
{
	struct ipogif_pool *pool = &conn->pool;
	unsigned int count = buffers << IPOGIF_BUFFER_ORDER, i;
	gni_mem_segment_t *segment = kvcalloc(count, sizeof(*segment), GFP_KERNEL);
	gni_return_t rc;

	if (!segment)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct page *page = pool->pages[i >> IPOGIF_BUFFER_ORDER] +
				    (i & ((1 << IPOGIF_BUFFER_ORDER) - 1));

		segment[i].address = page_to_phys(page);
		segment[i].length = PAGE_SIZE;
	}
	rc = gni_mem_register_segments(conn->ipg->nic, segment, count, NULL,
				       GNI_MEM_PHYS_SEGMENTS | GNI_MEM_READWRITE |
					       GNI_MEM_RELAXED_PI_ORDERING,
				       &pool->handle);
	kvfree(segment);
	return rc == GNI_RC_SUCCESS ? 0 : -ENOSPC;
}

/**
 * ipogif_pool_make() - allocate buffers for a connection, as many as there is memory for
 * @conn: connection without buffers
 *
 * Context: sleeps; ipogif.mutex held. Return: 0, -ENOBUFS if other connections have all buffers, or
 * another negative errno.
 */
int ipogif_pool_make(struct ipogif_conn *conn)
{
	unsigned int want = min(READ_ONCE(conn->ipg->buffers), conn->ipg->room);
	struct ipogif_pool *pool = &conn->pool;
	unsigned int have;
	int rc;

	if (!want)
		return -ENOBUFS;
	pool->pages = kcalloc(want, sizeof(*pool->pages), GFP_KERNEL);
	if (!pool->pages)
		return -ENOMEM;
	for (have = 0; have < want; have++) {
		pool->pages[have] = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_NOWARN |
							__GFP_NORETRY | __GFP_ZERO,
						IPOGIF_BUFFER_ORDER);
		if (!pool->pages[have])
			break;
	}
	pool->held = 0;
	rc = have ? ipogif_pool_register(conn, have) : -ENOMEM;
	if (rc) {
		ipogif_pool_free(pool, have);
		return rc;
	}
	atomic64_set(&pool->freed, GENMASK_ULL(have - 1, 0));
	/* pairs with ipogif_receive(): a message can name a buffer from now on */
	smp_store_release(&pool->buffers, have);
	conn->ipg->room -= have;
	return 0;
}

/*
 * ipogif_pool_end() - free the buffers. Context: ipogif.mutex held; nothing is received any more.
 */
void ipogif_pool_end(struct ipogif_conn *conn, int hold_ms)
{
	if (!conn->pool.buffers)
		return;
	gni_mem_deregister(conn->ipg->nic, &conn->pool.handle, hold_ms);
	conn->ipg->room += conn->pool.buffers;
	ipogif_pool_free(&conn->pool, conn->pool.buffers);
}

/** ipogif_pool_reclaim() - find buffers that the stack no longer uses. Context: NAPI. */
void ipogif_pool_reclaim(struct ipogif_pool *pool)
{
	u64 left = pool->held, freed = 0;

	for (; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (page_ref_count(pool->pages[i]) == 1)
			freed |= BIT_ULL(i);
	}
	if (!freed)
		return;
	/* other users have read the buffer before the peer may write to it again */
	smp_mb();
	pool->held &= ~freed;
	atomic64_or(freed, &pool->freed);
}

static bool ipogif_pool_copy(struct sk_buff *skb, struct page *from, unsigned int bytes)
{
	unsigned int order = get_order(bytes);
	struct page *page = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN, order);

	if (!page)
		return false;
	memcpy(page_address(page), page_address(from), bytes);
	skb_add_rx_frag(skb, 0, page, 0, bytes, PAGE_SIZE << order);
	return true;
}

/**
 * ipogif_pool_take() - append the rest of a frame from a buffer
 * @conn: connection
 * @skb: beginning of the frame, NULL if there was no memory for it
 * @buffer: buffer that holds the rest
 * @bytes: size of the rest
 *
 * Context: NAPI. Return: @skb; NULL if there is no memory, then @skb is freed.
 */
struct sk_buff *ipogif_pool_take(struct ipogif_conn *conn, struct sk_buff *skb, unsigned int buffer,
				 unsigned int bytes)
{
	struct ipogif_pool *pool = &conn->pool;
	struct page *page = pool->pages[buffer];

	ipogif_pool_reclaim(pool);
	if (skb && bytes > IPOGIF_COPY && hweight64(pool->held) < pool->buffers * 3 / 4) {
		get_page(page);
		pool->held |= BIT_ULL(buffer);
		skb_add_rx_frag(skb, 0, page, 0, bytes, IPOGIF_BUFFER);
		return skb;
	}
	if (skb && !ipogif_pool_copy(skb, page, bytes)) {
		dev_kfree_skb_any(skb);
		skb = NULL;
	}
	if (skb)
		ipogif_count(&conn->rxq->rx, &conn->rxq->rx.copied);
	atomic64_or(BIT_ULL(buffer), &pool->freed);
	return skb;
}
