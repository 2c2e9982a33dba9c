// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: joining and leaving. */
#include "msgq.hpp"
#include "aries_regs.h"
#include "cq.hpp"
#include "debug.hpp"
#include "gone.hpp"
#include "ground.hpp"

using namespace ugni;

namespace ugni
{

constinit Slab<gni_msgq> msgqs;

bool msgq_sending(const gni_msgq *q, const uint32_t *pe)
{
	gni_nic *nic = q->nic;

	if (!nic->msgq_sends)
		return false;
	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		const Request &r = nic->requests[static_cast<uint16_t>(id)];
		if ((r.state & Request::kMsgq) && endpoints.valid(r.ep) && (!pe || r.ep->remote_address == *pe))
			return true;
	}
	return false;
}

/* Late threads still find valid objects. */
static void leave_tables(const gni_msgq *q)
{
	if (q->tables)
		ground_leave(q->tables, q->table_bytes);
}

void msgq_close(gni_msgq *q)
{
	msgqs.retire(q);
	q->send_queue->endpoints--;
	q->nic->msgq = nullptr;
	msgq_leave(q);
	leave_tables(q);
	msgqs.recycle(q);
}

} // namespace ugni

namespace
{

/* Allocates inboxes with their words, routes, and space for the results of a search. */
bool allocate(gni_msgq *q)
{
	const MsgqLayout &l = q->layout;

	const size_t inboxes = l.peers * (sizeof(MsgqInbox) + l.words * sizeof(uint32_t));

	static_assert(alignof(MsgqFound) <= alignof(MsgqRoute) && alignof(MsgqInbox) <= alignof(MsgqRoute) &&
		      sizeof(MsgqFound) % alignof(MsgqInbox) == 0);
	q->table_bytes = kMsgqRoutes * sizeof(MsgqRoute) + l.slots * sizeof(MsgqFound) + inboxes;
	q->table_bytes = (q->table_bytes + 4095) & ~size_t{4095};
	q->tables = ground_new(q->table_bytes);
	if (!q->tables)
		return false;
	q->routes = static_cast<MsgqRoute *>(q->tables);
	q->found = reinterpret_cast<MsgqFound *>(q->routes + kMsgqRoutes);
	q->inboxes = reinterpret_cast<MsgqInbox *>(q->found + l.slots);
	auto *words = reinterpret_cast<uint32_t *>(q->inboxes + l.peers);
	for (uint32_t i = 0; i < l.peers; i++)
		q->inboxes[i].emptied = words + size_t{i} * l.words;
	return true;
}

/* GNI_CqCreate() and GNI_MemRegisterSegments() tell under their own names why they refuse. */
gni_return_t open_queue(gni_msgq *q, const gni_msgq_attr_t *attrs, const char *call)
{
	if (!allocate(q))
		return refuse(GNI_RC_ERROR_NOMEM, call, "no memory for %u connections", q->layout.peers);
	const auto mode = static_cast<gni_cq_mode_t>(q->blocking ? GNI_CQ_BLOCKING : GNI_CQ_NOBLOCK);
	gni_return_t rc = GNI_CqCreate(q->nic, attrs->rcv_cq_sz, 0, mode, nullptr, nullptr, &q->receive_queue);
	if (rc != GNI_RC_SUCCESS)
		return rc == GNI_RC_INVALID_PARAM ? rc : told(GNI_RC_ERROR_NOMEM);
	rc = msgq_join(q, attrs, call);
	if (rc != GNI_RC_SUCCESS)
		(void)GNI_CqDestroy(q->receive_queue);
	return rc;
}

} // namespace

gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data,
			  gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs, gni_msgq_handle_t *msgq_hndl)
{
	MsgqLayout layout;

	if (!nics.valid(nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	if (!rcv_cb || !msgq_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	if (const char *const fault = msgq_layout(attrs, &layout))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", fault);
	const Locked lock(Subject::msgq, nic_hndl);
	if (!nics.valid(nic_hndl) || !queues.valid(snd_cq) || snd_cq->nic != nic_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      nics.valid(nic_hndl) ? "snd_cq is no queue of this NIC handle" : kNoNic);
	if (nic_hndl->msgq || nic_hndl->checkpoint)
		return refuse(GNI_RC_INVALID_STATE, __func__, "the NIC handle %s",
			      nic_hndl->msgq ? "has a message queue already" : "is in a checkpoint");
	gni_msgq *q = msgqs.create();
	if (!q)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "%s", kNoHandles);
	q->nic = nic_hndl;
	q->callback = rcv_cb;
	q->context = cb_data;
	q->send_queue = snd_cq;
	q->layout = layout;
	q->largest = attrs->max_msg_sz;
	q->later = nic_hndl->caps & ARIES_ID_CAPS_LATER_MASK ? ARIES_DB_LATER : 0;
	q->blocking = attrs->modes & GNI_MSGQ_MODE_BLOCKING;
	const gni_msgq_attr_t copy = *attrs;
	gni_return_t rc = open_queue(q, &copy, __func__);
	if (rc != GNI_RC_SUCCESS) {
		leave_tables(q);
		msgqs.destroy(q);
		return rc;
	}
	snd_cq->endpoints++;
	nic_hndl->msgq = q;
	*msgq_hndl = q;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl)
{
	if (!msgqs.valid(msgq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoMsgq);
	gni_nic *nic = msgq_hndl->nic;
	const Locked lock(Subject::msgq, nic);
	if (!msgqs.valid(msgq_hndl) || msgq_hndl->nic != nic)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoMsgq);
	MsgqBusy before = MsgqBusy::nobody;
	if (!msgq_hndl->busy.compare_exchange_strong(before, MsgqBusy::release))
		return later(GNI_RC_NOT_DONE, __func__, "%s", kMsgqBusy);
	/* A NIC that is gone tells the end of none. */
	if (msgq_sending(msgq_hndl, nullptr) && nic_there(nic)) {
		msgq_hndl->busy = MsgqBusy::nobody;
		return later(GNI_RC_NOT_DONE, __func__, "%s", kMsgqSending);
	}
	gni_cq *receive_queue = msgq_hndl->receive_queue;
	/* Who comes from here on has no queue any more. */
	msgqs.retire(msgq_hndl);

	/* Peers that still send here are refused from now on. */
	(void)GNI_MemDeregister(nic, &msgq_hndl->handle);
	msgq_close(msgq_hndl);
	(void)GNI_CqDestroy(receive_queue);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl)
{
	if (!msgqs.valid(msgq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoMsgq);
	const gni_msgq *q = msgq_hndl;
	const bool quiet = q->busy == MsgqBusy::nobody && !msgq_sending(q, nullptr) && !cq_peek(q->receive_queue) &&
			   !q->searching && q->found_next == q->found_count;

	return quiet ? GNI_RC_SUCCESS : nic_later(q->nic, __func__, "messages are on their way, or to be received");
}
