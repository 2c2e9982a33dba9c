// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams. Their state is in aries.ko. Only the buffer for the partner's data, and whether an
 * endpoint has posted a datagram, is kept here and protected by gni_ep.lock.
 */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "kgni_dgram.h"
#include "kgni_ep.h"
#include "kgni_handle.h"
#include "uapi/kgni_abi.h"

#define KGNI_NO_ID (~0ull)

/* Return: false if the endpoint has one already. */
static bool kgni_dgram_reserve(struct gni_ep *ep, void *out, u16 room, struct kgni_dgram_post *arg)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ep->lock, flags);
	ok = !ep->dgram.posted;
	if (ok) {
		ep->dgram.by_id = arg->flags & KGNI_DGRAM_ID;
		ep->dgram.id = arg->id;
		ep->dgram.wildcard = !ep->bound;
		ep->dgram.cancelled = false;
		WRITE_ONCE(ep->dgram.posted, true);
		ep->dgram.out = out;
		ep->dgram.room = room;
		kgni_ep_get(ep);
	}
	if (ep->bound) {
		arg->pe = ep->remote_address;
		arg->inst_id = ep->remote_id;
	} else {
		arg->flags |= KGNI_DGRAM_WILDCARD;
	}
	spin_unlock_irqrestore(&ep->lock, flags);
	return ok;
}

/* The datagram is finished. Return: false if another thread has found that out first. */
static bool kgni_dgram_forget(struct gni_ep *ep, void **out, u16 *room)
{
	unsigned long flags;
	bool was;

	spin_lock_irqsave(&ep->lock, flags);
	was = ep->dgram.posted;
	ep->dgram.posted = false;
	*out = ep->dgram.out;
	*room = ep->dgram.room;
	spin_unlock_irqrestore(&ep->lock, flags);
	if (was)
		kgni_ep_put(ep);
	return was;
}

static gni_return_t kgni_dgram_post(struct gni_ep *ep, const void *in, u16 length, void *out,
				    u16 room, u32 flags, u64 id)
{
	struct kgni_dgram_post arg = { .flags = flags, .id = id, .length = length };
	int rc;

	might_sleep();
	if (!kgni_ep_valid(ep) || (length && !in) || (room && !out))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep, length, room);
	if (length > GNI_DATAGRAM_MAXSIZE)
		return kgni_refuse(GNI_RC_SIZE_ERROR, E2BIG, length, GNI_DATAGRAM_MAXSIZE);
	arg.ep = ep->name;
	if (length)
		memcpy(arg.data, in, length);
	if (!kgni_dgram_reserve(ep, out, room, &arg))
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EBUSY, id);
	rc = aries_datagram_post(ep->nic->own, &arg);
	if (!rc)
		return GNI_RC_SUCCESS;
	kgni_dgram_forget(ep, &out, &room);
	return kgni_refuse(rc == -EINVAL ? GNI_RC_INVALID_PARAM : GNI_RC_ERROR_RESOURCE, -rc, id);
}

/* gni_ep_postdata() - post a datagram, see gni_pub.h. Context: sleeps. */
gni_return_t gni_ep_postdata(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len,
			     void *out_buf, uint16_t buf_size)
{
	return kgni_dgram_post(ep_hndl, in_data, data_len, out_buf, buf_size, 0, 0);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata);

/* gni_ep_postdata_w_id() - the same with an id to find it by, see gni_pub.h. Context: sleeps. */
gni_return_t gni_ep_postdata_w_id(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len,
				  void *out_buf, uint16_t buf_size, uint64_t datagram_id)
{
	if (datagram_id == KGNI_NO_ID)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, datagram_id);
	return kgni_dgram_post(ep_hndl, in_data, data_len, out_buf, buf_size, KGNI_DGRAM_ID,
			       datagram_id);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_w_id);

/*
 * Find a datagram that was lost with its NIC, and was posted with an id to one partner: its client
 * waits to hear how it ends. Return: whether there is one.
 */
static bool kgni_dgram_left(struct gni_nic *nic, u64 *id)
{
	unsigned long flags;
	bool found = false;
	struct gni_ep *ep;

	if (!READ_ONCE(nic->gone))
		return false;
	spin_lock_irqsave(&nic->lock, flags);
	list_for_each_entry(ep, &nic->eps, node)
		if (READ_ONCE(ep->dgram.posted) && ep->dgram.by_id && !ep->dgram.wildcard) {
			*id = ep->dgram.id;
			found = true;
			break;
		}
	spin_unlock_irqrestore(&nic->lock, flags);
	return found;
}

static bool kgni_dgram_final(u32 state)
{
	return state != KGNI_DGRAM_PENDING && state != KGNI_DGRAM_REMOTE_DATA;
}

/* If the state is final, tell the partner and copy its data. */
static gni_return_t kgni_dgram_tell(struct gni_ep *ep, const struct kgni_dgram_test *arg,
				    gni_post_state_t *state, u32 *address, u32 *id)
{
	void *out;
	u16 room;

	if (kgni_dgram_final(arg->state)) {
		if (!kgni_dgram_forget(ep, &out, &room))
			return kgni_refuse(GNI_RC_NO_MATCH, ENOENT, arg->id);
		if (arg->state == KGNI_DGRAM_COMPLETED) {
			*address = arg->pe;
			*id = arg->inst_id;
			if (arg->length > room)
				return kgni_refuse(GNI_RC_SIZE_ERROR, ENOSPC, arg->length, room);
			if (arg->length)
				memcpy(out, arg->data, arg->length);
		}
	}
	*state = arg->state;
	return GNI_RC_SUCCESS;
}

static gni_return_t kgni_dgram_test(struct gni_ep *ep, u32 flags, u64 id, u64 timeout_ms,
				    gni_post_state_t *state, u32 *address, u32 *remote_id)
{
	struct kgni_dgram_test arg = { .flags = flags, .id = id, .timeout_ms = timeout_ms };
	int rc;

	if (!kgni_ep_valid(ep) || !state || !address || !remote_id)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep);
	if (!READ_ONCE(ep->dgram.posted))
		return kgni_refuse(GNI_RC_NO_MATCH, ENOENT, id);
	arg.ep = ep->name;
	rc = aries_datagram_test(ep->nic->own, &arg);
	if (rc == -EIO || rc == -ENODEV) {
		/* it was lost with the NIC */
		arg.state = ep->dgram.cancelled ? KGNI_DGRAM_TERMINATED : KGNI_DGRAM_ERROR;
		rc = ep->dgram.by_id == !!(flags & KGNI_DGRAM_ID) && ep->dgram.id == id ? 0
											: -ENOENT;
	}
	switch (rc) {
	case 0:
		return kgni_dgram_tell(ep, &arg, state, address, remote_id);
	case -ETIMEDOUT:
	case -EINTR:
	case -ERESTARTSYS:
		return GNI_RC_TIMEOUT;
	case -ENOENT:
		return kgni_refuse(GNI_RC_NO_MATCH, ENOENT, id);
	default:
		return kgni_refuse(GNI_RC_INVALID_PARAM, -rc, id);
	}
}

/* gni_ep_postdata_test() - get the state of a datagram, see gni_pub.h. Context: any. */
gni_return_t gni_ep_postdata_test(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state,
				  uint32_t *remote_addr, uint32_t *remote_id)
{
	return kgni_dgram_test(ep_hndl, 0, 0, 0, post_state, remote_addr, remote_id);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_test);

/* gni_ep_postdata_test_by_id() - the same, by its id, see gni_pub.h. Context: any. */
gni_return_t gni_ep_postdata_test_by_id(gni_ep_handle_t ep_hndl, uint64_t datagram_id,
					gni_post_state_t *post_state, uint32_t *remote_addr,
					uint32_t *remote_id)
{
	return kgni_dgram_test(ep_hndl, KGNI_DGRAM_ID, datagram_id, 0, post_state, remote_addr,
			       remote_id);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_test_by_id);

/* Convert a timeout in milliseconds for the NIC's driver: all ones mean for ever. */
static u64 kgni_dgram_timeout(u32 timeout)
{
	return timeout == U32_MAX ? U64_MAX : timeout;
}

/* gni_ep_postdata_wait() - wait for a datagram, see gni_pub.h. Context: sleeps. */
gni_return_t gni_ep_postdata_wait(gni_ep_handle_t ep_hndl, uint32_t timeout,
				  gni_post_state_t *post_state, uint32_t *remote_addr,
				  uint32_t *remote_id)
{
	might_sleep();
	if (!timeout)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, timeout);
	return kgni_dgram_test(ep_hndl, 0, 0, kgni_dgram_timeout(timeout), post_state, remote_addr,
			       remote_id);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_wait);

/* gni_postdata_probe() - find a datagram with a final state, see gni_pub.h. Context: any. */
gni_return_t gni_postdata_probe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr,
				uint32_t *remote_id)
{
	struct kgni_dgram_probe arg = {};

	if (!kgni_nic_valid(nic_hndl) || !remote_addr || !remote_id)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl);
	if (aries_datagram_probe(nic_hndl->own, &arg))
		return GNI_RC_NO_MATCH;
	*remote_addr = arg.pe;
	*remote_id = arg.inst_id;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_postdata_probe);

/* gni_postdata_probe_by_id() - the same for datagrams with an id, see gni_pub.h. Context: any. */
gni_return_t gni_postdata_probe_by_id(gni_nic_handle_t nic_hndl, uint64_t *datagram_id)
{
	struct kgni_dgram_probe arg = { .flags = KGNI_DGRAM_ID };

	if (!kgni_nic_valid(nic_hndl) || !datagram_id)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl);
	if (aries_datagram_probe(nic_hndl->own, &arg))
		return kgni_dgram_left(nic_hndl, datagram_id) ? GNI_RC_SUCCESS : GNI_RC_NO_MATCH;
	*datagram_id = arg.id;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_postdata_probe_by_id);

/*
 * gni_postdata_probe_wait_by_id() - wait for a datagram with an id, see gni_pub.h
 *
 * On a NIC that is gone no datagram completes any more. This function waits all the same, for at
 * most a second, because clients call it in a loop that would spin otherwise. Context: sleeps.
 */
gni_return_t gni_postdata_probe_wait_by_id(gni_nic_handle_t nic_hndl, uint32_t timeout,
					   uint64_t *datagram_id)
{
	struct kgni_dgram_probe arg = { .flags = KGNI_DGRAM_ID };
	int rc;

	might_sleep();
	if (!kgni_nic_valid(nic_hndl) || !datagram_id)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl);
	arg.timeout_ms = kgni_dgram_timeout(timeout);
	rc = aries_datagram_probe(nic_hndl->own, &arg);
	if (!rc) {
		*datagram_id = arg.id;
		return GNI_RC_SUCCESS;
	}
	if (kgni_dgram_left(nic_hndl, datagram_id))
		return GNI_RC_SUCCESS;
	if (rc == -EIO || rc == -ENODEV)
		schedule_timeout_interruptible(msecs_to_jiffies(min(timeout, 1000u)));
	return GNI_RC_TIMEOUT;
}
EXPORT_SYMBOL_GPL(gni_postdata_probe_wait_by_id);

/*
 * Cancel a datagram after the NIC is gone, so that it cannot be matched any more. A wildcard just
 * disappears. Any other datagram ends as TERMINATED, as it would on a working NIC.
 */
static gni_return_t kgni_dgram_cancel_gone(struct gni_ep *ep, u32 flags, u64 id)
{
	bool wildcard, ours;
	unsigned long irq;
	void *out;
	u16 room;

	spin_lock_irqsave(&ep->lock, irq);
	ours = ep->dgram.posted && ep->dgram.by_id == !!(flags & KGNI_DGRAM_ID) &&
	       ep->dgram.id == id && !ep->dgram.cancelled;
	wildcard = ep->dgram.wildcard;
	if (ours)
		ep->dgram.cancelled = true;
	spin_unlock_irqrestore(&ep->lock, irq);
	if (!ours || (wildcard && !kgni_dgram_forget(ep, &out, &room)))
		return kgni_refuse(GNI_RC_NO_MATCH, ENOENT, id);
	return GNI_RC_SUCCESS;
}

static gni_return_t kgni_dgram_cancel(struct gni_ep *ep, u32 flags, u64 id)
{
	struct kgni_dgram_cancel arg = { .flags = flags, .id = id };
	void *out;
	u16 room;
	int rc;

	if (!kgni_ep_valid(ep))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep);
	if (!READ_ONCE(ep->dgram.posted))
		return kgni_refuse(GNI_RC_NO_MATCH, ENOENT, id);
	arg.ep = ep->name;
	rc = aries_datagram_cancel(ep->nic->own, &arg);
	if (rc == -EIO || rc == -ENODEV)
		return kgni_dgram_cancel_gone(ep, flags, id);
	/* a wildcard is gone, unless it was matched just now; others end as TERMINATED */
	if (!rc && arg.gone)
		kgni_dgram_forget(ep, &out, &room);
	return rc ? kgni_refuse(GNI_RC_NO_MATCH, -rc, id) : GNI_RC_SUCCESS;
}

/* gni_ep_postdata_cancel() - cancel a datagram, see gni_pub.h. Context: any. */
gni_return_t gni_ep_postdata_cancel(gni_ep_handle_t ep_hndl)
{
	return kgni_dgram_cancel(ep_hndl, 0, 0);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_cancel);

/* gni_ep_postdata_cancel_by_id() - the same, by its id, see gni_pub.h. Context: any. */
gni_return_t gni_ep_postdata_cancel_by_id(gni_ep_handle_t ep_hndl, uint64_t datagram_id)
{
	return kgni_dgram_cancel(ep_hndl, KGNI_DGRAM_ID, datagram_id);
}
EXPORT_SYMBOL_GPL(gni_ep_postdata_cancel_by_id);

/** kgni_dgram_close() - release the datagram of an endpoint that is destroyed. Context: any. */
void kgni_dgram_close(struct gni_ep *ep)
{
	struct kgni_dgram_cancel arg = { .flags = KGNI_DGRAM_RELEASE };
	void *out;
	u16 room;

	if (!kgni_dgram_forget(ep, &out, &room))
		return;
	arg.ep = ep->name;
	aries_datagram_cancel(ep->nic->own, &arg);
}
