// SPDX-License-Identifier: GPL-2.0-only
/* The table of requests of a queue, see kgni_request.h. */
#include <linux/slab.h>
#include <linux/string.h>

#include "kgni_request.h"

/** kgni_requests_init() - initialise an empty table. Context: any. */
void kgni_requests_init(struct kgni_requests *t)
{
	memset(t, 0, sizeof(*t));
	t->fresh = 1;
}

/** kgni_requests_exit() - free a table that is no longer in use. Context: any. */
void kgni_requests_exit(struct kgni_requests *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t->block); i++)
		kfree(t->block[i]);
}

static u16 kgni_request_fresh(struct kgni_requests *t)
{
	struct kgni_request **block;

	if (t->fresh >= KGNI_REQUEST_IDS)
		return 0;
	block = &t->block[t->fresh / KGNI_REQUEST_BLOCK];
	if (!*block)
		*block = kcalloc(KGNI_REQUEST_BLOCK, sizeof(**block), GFP_ATOMIC | __GFP_NOWARN);
	return *block ? t->fresh++ : 0;
}

static u16 kgni_request_reuse(struct kgni_requests *t)
{
	u16 id = t->head;

	if (!t->free)
		return 0;
	t->head = kgni_request(t, id)->next;
	t->free--;
	return id;
}

/**
 * kgni_request_take() - allocate an id
 * @t: table
 *
 * Context: gni_cq.lock held. Return: the id, whose request is all zero; 0 if all are taken, or if
 * there is no memory for more.
 */
u16 kgni_request_take(struct kgni_requests *t)
{
	u16 id = t->free > KGNI_REQUEST_QUARANTINE ? kgni_request_reuse(t) : kgni_request_fresh(t);

	return id ? id : kgni_request_reuse(t);
}

/**
 * kgni_request_give() - free an id
 * @t: table
 * @id: from kgni_request_take()
 *
 * Context: gni_cq.lock held.
 */
void kgni_request_give(struct kgni_requests *t, u16 id)
{
	struct kgni_request *r = kgni_request(t, id);

	r->descr = NULL;
	r->copy = NULL;
	r->ep = NULL;
	r->entry = 0;
	r->local_event = 0;
	r->next = 0;
	r->kind = KGNI_REQUEST_FREE;
	r->pending = 0;
	r->told = 0;
	r->forced = 0;
	r->flags = 0;
	if (t->free++)
		kgni_request(t, t->tail)->next = id;
	else
		t->head = id;
	t->tail = id;
}
