// SPDX-License-Identifier: GPL-2.0-only
/* Sending short messages: header and data are copied before the call returns. */
#include <linux/export.h>

#include "kgni_cq.h"
#include "kgni_handle.h"
#include "kgni_smsg.h"

/* There is no space. The peer may have released some, but its credit word may have been lost. */
static gni_return_t kgni_smsg_stalled(struct gni_ep *ep, gni_statistic_t why)
{
	kgni_count(ep->nic, why);
	gni_smsg_ask_credit(ep, &ep->smsg->c);
	return GNI_RC_NOT_DONE;
}

/* Find space for @bytes in the mailbox: a free slot, and a place in the ring. */
static gni_return_t kgni_smsg_reserve(struct gni_ep *ep, u32 bytes, struct gni_smsg_place *place)
{
	struct gni_smsg_conn *c = &ep->smsg->c;
	struct gni_smsg_sender *out = &c->out;
	/*
	 * pairs with the peer, which has finished reading the messages before it writes this word
	 */
	u64 credit = smp_load_acquire(gni_smsg_own(c, GNI_SMSG_CREDIT));

	if (credit != out->told_seen && !gni_smsg_take_credit(c, credit))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADMSG, credit);
	if (out->sent - out->acknowledged == c->credits)
		return kgni_smsg_stalled(ep, GNI_STAT_SMSG_MBOX_CREDITS_STALL);
	*place = gni_smsg_place(out->position, out->box.ring_bytes, bytes);
	if (place->taken > out->box.ring_bytes - out->used)
		return kgni_smsg_stalled(ep, GNI_STAT_SMSG_BUFF_CREDITS_STALL);
	return GNI_RC_SUCCESS;
}

/* It is not known whether an earlier message has arrived, and the peer does not answer. */
static gni_return_t kgni_smsg_send_behind(struct gni_ep *ep, const struct kgni_text *text)
{
	u16 id;

	if (!gni_smsg_room_behind(&ep->smsg->c, text->bytes))
		return GNI_RC_NOT_DONE;
	id = kgni_cq_request_smsg(ep, text->msg_id);
	if (!id)
		return GNI_RC_NOT_DONE;
	kgni_smsg_behind(ep, text, id);
	kgni_cq_decide(ep, id);
	return GNI_RC_SUCCESS;
}

static gni_return_t kgni_smsg_send(struct gni_ep *ep, const struct kgni_text *text)
{
	struct kgni_smsg *s = ep->smsg;
	struct gni_smsg_place place;
	gni_return_t rc;
	struct gni_smsg_try first;
	struct gni_smsg_spot spot;
	u16 id;

	if (!s)
		return kgni_refuse(GNI_RC_INVALID_PARAM, ENOTCONN);
	if (s->c.obstacles & GNI_SMSG_BROKEN || READ_ONCE(ep->smsg_late))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADMSG, s->c.out.sent);
	if (text->bytes > s->c.largest)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EMSGSIZE, text->bytes, s->c.largest);
	if (READ_ONCE(ep->nic->quiet))
		return GNI_RC_NOT_DONE;
	if (s->waiting || READ_ONCE(ep->smsg_mending)) {
		kgni_count(ep->nic, GNI_STAT_SMSG_RETRANS_STALL);
		return GNI_RC_NOT_DONE;
	}
	if (gni_smsg_settle(ep, &s->c) != ARIES_ST_OK)
		return kgni_smsg_send_behind(ep, text);
	rc = kgni_smsg_reserve(ep, text->bytes, &place);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	id = kgni_cq_request_smsg(ep, text->msg_id);
	if (!id) {
		kgni_count(ep->nic, GNI_STAT_SMSG_REQ_STALL);
		return GNI_RC_NOT_DONE;
	}
	spot = gni_smsg_next_spot(&s->c, place, text->bytes, 0);
	first = gni_env_smsg_put(ep, &s->c, text, &spot, id);
	if (first.status == ARIES_ST_OK)
		gni_smsg_sent(&s->c, place);
	else if (first.status == ARIES_ST_LATER)
		kgni_smsg_keep(ep, text, place, id);
	else
		kgni_smsg_put_failed(ep, text, place, id, first);
	kgni_cq_decide(ep, id);
	return GNI_RC_SUCCESS;
}

/* gni_smsg_send() - send a message, see gni_pub.h. Context: any. */
gni_return_t gni_smsg_send(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length,
			   void *data, uint32_t data_length, uint32_t msg_id)
{
	const struct kgni_text text = {
		.part = { { header, header_length }, { data, data_length } },
		.bytes = header_length + data_length,
		.msg_id = msg_id,
	};
	unsigned long flags;
	gni_return_t rc;

	if (!kgni_ep_valid(ep_hndl) || (!header && header_length) || (!data && data_length))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)ep_hndl, header_length,
				   data_length);
	if (text.bytes < header_length)
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EMSGSIZE, header_length, data_length);
	spin_lock_irqsave(&ep_hndl->lock, flags);
	rc = kgni_smsg_send(ep_hndl, &text);
	spin_unlock_irqrestore(&ep_hndl->lock, flags);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_smsg_send);

/*
 * gni_smsg_set_delivery_mode() - set the routing mode of short messages, see gni_pub.h. Context:
 * any.
 */
gni_return_t gni_smsg_set_delivery_mode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode)
{
	if (!kgni_nic_valid(nic_handle) || (dlvr_mode & ARIES_DLV_RSVD_MASK))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, dlvr_mode);
	WRITE_ONCE(nic_handle->smsg_delivery, dlvr_mode);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_smsg_set_delivery_mode);

/*
 * gni_smsg_set_max_retrans() - set the number of attempts for a message, see gni_pub.h. Context:
 * any.
 */
gni_return_t gni_smsg_set_max_retrans(gni_nic_handle_t nic_handle, uint16_t max_retrans)
{
	if (!kgni_nic_valid(nic_handle))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL);
	WRITE_ONCE(nic_handle->smsg_retransmissions, max_retrans);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_smsg_set_max_retrans);
