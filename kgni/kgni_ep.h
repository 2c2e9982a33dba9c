/* SPDX-License-Identifier: GPL-2.0-only */
/* References to endpoints. */
#ifndef KGNI_EP_H
#define KGNI_EP_H

#include <linux/slab.h>

#include "kgni.h"

static inline void kgni_ep_get(struct gni_ep *ep)
{
	refcount_inc(&ep->ref);
}

/** kgni_ep_put() - drop a reference. Context: any. */
static inline void kgni_ep_put(struct gni_ep *ep)
{
	if (refcount_dec_and_test(&ep->ref))
		kfree(ep);
}

struct kgni_smsg *kgni_smsg_close(struct gni_ep *ep);
void kgni_smsg_timer(struct timer_list *timer);

#endif
