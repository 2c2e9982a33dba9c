// SPDX-License-Identifier: GPL-2.0-only
/* Endpoints. */
#include <linux/export.h>
#include <linux/slab.h>

#include "aries_regs.h"
#include "kgni_cq.h"
#include "kgni_dgram.h"
#include "kgni_ep.h"
#include "kgni_handle.h"

/*
 * Choose the descriptor for all block transfers of an endpoint. It must be a single one, because a
 * fence orders the transfers of one descriptor only. gni_nic.lock is held.
 */
static struct aries_port *kgni_ep_port(struct gni_nic *nic)
{
	unsigned int others = nic->ports - nic->bells;

	return others ? nic->port[nic->bells + nic->turn++ % others] : nic->port[0];
}

/*
 * gni_ep_create() - create an endpoint, see gni_pub.h
 *
 * Context: any.
 */
gni_return_t gni_ep_create(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl,
			   gni_ep_handle_t *ep_hndl)
{
	unsigned long flags;
	struct gni_ep *ep;

	if (!kgni_nic_valid(nic_hndl) || !ep_hndl ||
	    (src_cq_hndl && (!kgni_cq_valid(src_cq_hndl) || src_cq_hndl->nic != nic_hndl)))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl,
				   (uintptr_t)src_cq_hndl);
	ep = kzalloc(sizeof(*ep), GFP_ATOMIC);
	if (!ep || kgni_handle_add(ep)) {
		kfree(ep);
		return kgni_refuse(GNI_RC_ERROR_NOMEM, ENOMEM);
	}
	refcount_set(&ep->ref, 1);
	ep->nic = nic_hndl;
	ep->cq = src_cq_hndl;
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->smsg_lost);
	timer_setup(&ep->timer, kgni_smsg_timer, 0);
	if (src_cq_hndl && !kgni_cq_use(src_cq_hndl)) {
		kgni_handle_del(ep);
		kfree(ep);
		/* a queue is either for local or for remote events, not for both */
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBUSY, (uintptr_t)src_cq_hndl);
	}
	spin_lock_irqsave(&nic_hndl->lock, flags);
	ep->port = kgni_ep_port(nic_hndl);
	ep->name = ++nic_hndl->names;
	list_add_tail(&ep->node, &nic_hndl->eps);
	spin_unlock_irqrestore(&nic_hndl->lock, flags);
	ep->magic = KGNI_EP_MAGIC;
	*ep_hndl = ep;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_ep_create);

/* gni_ep_set_eventdata() - set the data of its events, see gni_pub.h. Context: any. */
gni_return_t gni_ep_set_eventdata(gni_ep_handle_t ep_hndl, uint32_t local_event,
				  uint32_t remote_event)
{
	unsigned long flags;

	if (!kgni_ep_valid(ep_hndl))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	ep_hndl->local_event = local_event;
	ep_hndl->remote_event = remote_event;
	ep_hndl->own_event_data = true;
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_ep_set_eventdata);

/* gni_ep_bind() - bind it to a peer, see gni_pub.h. Context: any. */
gni_return_t gni_ep_bind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id)
{
	unsigned long flags;
	bool bound;

	if (!kgni_ep_valid(ep_hndl) || remote_addr >> ARIES_PE_BITS)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl, remote_addr);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	bound = ep_hndl->bound;
	if (!bound) {
		ep_hndl->remote_address = remote_addr;
		ep_hndl->remote_id = remote_id;
		if (!ep_hndl->own_event_data) {
			ep_hndl->local_event = remote_id;
			ep_hndl->remote_event = ep_hndl->nic->inst_id;
		}
		ep_hndl->bound = true;
	}
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return bound ? kgni_refuse(GNI_RC_INVALID_PARAM, EISCONN, remote_addr, remote_id)
		     : GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_ep_bind);

/* gni_ep_unbind() - undo that, see gni_pub.h. Context: any. */
gni_return_t gni_ep_unbind(gni_ep_handle_t ep_hndl)
{
	struct kgni_smsg *s = NULL;
	unsigned long flags;
	bool idle;

	if (!kgni_ep_valid(ep_hndl))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	/* idle if the handle's reference is the only one; a retransmitted message holds one, too */
	idle = refcount_read(&ep_hndl->ref) == 1;
	if (idle) {
		s = kgni_smsg_close(ep_hndl);
		ep_hndl->bound = false;
	}
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	kfree(s);
	return idle ? GNI_RC_SUCCESS : GNI_RC_NOT_DONE;
}
EXPORT_SYMBOL_GPL(gni_ep_unbind);

/*
 * gni_ep_destroy() - destroy an endpoint, see gni_pub.h
 *
 * Its posts continue, and their events are still delivered. Context: any.
 */
gni_return_t gni_ep_destroy(gni_ep_handle_t ep_hndl)
{
	struct kgni_smsg *s;
	unsigned long flags;
	struct gni_nic *nic;

	if (!kgni_ep_valid(ep_hndl) || cmpxchg(&ep_hndl->magic, KGNI_EP_MAGIC, 0) != KGNI_EP_MAGIC)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl);
	kgni_handle_del(ep_hndl);
	nic = ep_hndl->nic;
	kgni_dgram_close(ep_hndl);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	s = kgni_smsg_close(ep_hndl);
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	kfree(s);
	if (ep_hndl->cq)
		kgni_cq_unuse(ep_hndl->cq);
	spin_lock_irqsave(&nic->lock, flags);
	list_del(&ep_hndl->node);
	spin_unlock_irqrestore(&nic->lock, flags);
	kgni_ep_put(ep_hndl);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_ep_destroy);
