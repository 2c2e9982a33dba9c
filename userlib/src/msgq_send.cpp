// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: sending. No system call, no lock. Header and data are copied before the call returns; one doorbell a
 * message.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "msgq_letter.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstring>

using namespace ugni;

namespace
{

constexpr uint64_t kType = GNI_CQ_EVENT_TYPE_MSGQ << ARIES_EV_TYPE_SHIFT;

struct Text {
	const void *header;
	uint32_t header_bytes;
	const void *data;
	uint32_t data_bytes;

	uint32_t bytes() const { return header_bytes + data_bytes; }
};

/* A place for the event, and a transaction id. Return: 0 if there is none. */
uint32_t reserve_event(gni_ep *ep, gni_cq *cq)
{
	gni_nic *nic = ep->nic;
	const uint32_t id = nic->requests.take();

	if (!id)
		return 0;
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	r.local_event = ep->events[0];
	r.ep = ep;
	r.cq = cq;
	r.state = kMsgqAwaited;
	ep->references++;
	cq->room--;
	nic->msgq_sends++;
	return id;
}

void write(const gni_msgq *q, MsgqLetter *l, const MsgqRoute *r, const MsgqTaken &t, const Text &text, uint32_t msg_id,
	   uint8_t tag)
{
	const uint64_t number = __atomic_fetch_add(&r->sender->number, 1, __ATOMIC_ACQ_REL);
	const uint32_t sender_id = q->nic->inst_id;
	const MsgqSlot head = {0, number, sender_id, {}};

	l->q = q;
	l->route = *r;
	l->taken = t;
	l->header = msgq_header(r->key, number, sender_id, text.bytes(), tag, t.bit);
	l->msg_id = msg_id;
	l->bytes = kMsgqPrefix + text.bytes();
	memcpy(l->line, reinterpret_cast<const char *>(&head) + sizeof(uint64_t), kMsgqPrefix);
	if (text.header_bytes)
		memcpy(l->line + kMsgqPrefix, text.header, text.header_bytes);
	if (text.data_bytes)
		memcpy(l->line + kMsgqPrefix + text.header_bytes, text.data, text.data_bytes);
}

} // namespace

namespace ugni
{

aries_fma_desc *msgq_fill(const MsgqLetter &l, const gni_cq *cq)
{
	const gni_nic *nic = l.q->nic;
	aries_fma_desc *area = fma_area(nic);

	area->pe = l.route.pe;
	area->mdh = l.route.name;
	area->dlvr_mode = nic->smsg_delivery;
	area->local_mdh = 0;
	area->cq = static_cast<uint16_t>(cq->number);
	area->reserved = 0;
	area->local_event = l.msg_id;
	area->remote_event = msgq_event(l.route.place, l.taken.slot, l.taken.bit);
	return area;
}

uint32_t msgq_put(const MsgqLetter &l, const gni_cq *cq, uint32_t id)
{
	const gni_nic *nic = l.q->nic;
	aries_fma_desc *area = msgq_fill(l, cq);

	area->offset = l.slot() + sizeof(uint64_t);
	area->sync_offset = l.slot();
	area->sync_value = l.header;
	memcpy(nic->area + ARIES_DESC_LINE, l.line, l.bytes);
	return fma_ring_and_look(nic, id, l.bytes, ARIES_FMA_PUT_SYNC,
				 kType | ARIES_EV_REMOTE | l.q->later | (id ? uint64_t{ARIES_EV_LOCAL} : 0));
}

} // namespace ugni

namespace
{

gni_return_t send(const gni_msgq *q, gni_ep *ep, gni_cq *cq, const Text &text, uint32_t msg_id, uint8_t tag)
{
	gni_nic *nic = q->nic;
	MsgqRoute *route;
	MsgqTaken t;

	gni_return_t rc = msgq_find(q, ep->remote_address, ep->remote_id, &route);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (nic->unsettled.first() && msgq_behind(nic, route)) [[unlikely]] {
		nic->statistics[GNI_STAT_SMSG_RETRANS_STALL]++;
		return nic_later(nic, kMsgqSend, "an earlier message to the instance is being repeated");
	}
	if (!cq->room) {
		nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
		return nic_later(nic, kMsgqSend, kSmsgNoEvent);
	}
	rc = msgq_take(q, route, &t);
	if (rc != GNI_RC_SUCCESS) {
		if (rc == GNI_RC_NOT_DONE)
			nic->statistics[GNI_STAT_SMSG_MBOX_CREDITS_STALL]++;
		return rc;
	}
	const uint32_t id = reserve_event(ep, cq);
	if (!id) {
		msgq_give_back(route, t);
		nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
		return nic_later(nic, kMsgqSend, kSmsgNoEvent);
	}
	MsgqLetter l;
	write(q, &l, route, t, text, msg_id, tag);
	const uint32_t status = msgq_put(l, cq, id);
	if (status == ARIES_ST_LATER)
		msgq_keep(ep, cq, l, id);
	else if (status != ARIES_ST_OK) [[unlikely]]
		return msgq_failed(ep, cq, l, id, status);
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr, uint32_t hdr_len, void *msg,
			  uint32_t msg_len, uint32_t msg_id, uint8_t msg_tag)
{
	if (!msgqs.valid(msgq_hndl) || !endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", msgqs.valid(msgq_hndl) ? kNoEndpoint : kNoMsgq);
	if (!ep_hndl->bound || ep_hndl->nic != msgq_hndl->nic)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "the endpoint is %s",
			      ep_hndl->bound ? "of another NIC handle" : "not bound");
	if ((!hdr && hdr_len) || (!msg && msg_len))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	if (uint64_t{hdr_len} + msg_len > msgq_hndl->largest)
		return refuse(GNI_RC_SIZE_ERROR, __func__, "%" PRIu64 " bytes of header and data: %u are possible",
			      uint64_t{hdr_len} + msg_len, msgq_hndl->largest);
	gni_cq *cq = ep_hndl->cq ? ep_hndl->cq : msgq_hndl->send_queue;
	return send(msgq_hndl, ep_hndl, cq, {hdr, hdr_len, msg, msg_len}, msg_id, msg_tag);
}
