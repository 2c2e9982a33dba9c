// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: connections between nodes. One instance of a node makes a connection, and all of its instances use
 * it. */
#include "aries_regs.h"
#include "debug.hpp"
#include "gni_memhandle.h"
#include "gone.hpp"
#include "msgq.hpp"

#include <cstddef>
#include <cstring>

using namespace ugni;

namespace
{

constexpr uint32_t kNone = ~0U;
constexpr const char *kNotAll = "not all instances of the node have come, or one has left";

/* With the lock held. Return: connection to @pe, kNone if there is none. */
uint32_t find(const gni_msgq *q, uint32_t pe)
{
	for (uint32_t i = 0; i < q->layout.peers; i++) {
		if (msgq_link(q->peer(i)->state) != kMsgqFree && q->peer(i)->pe == pe)
			return i;
	}
	return kNone;
}

uint32_t find_free(const gni_msgq *q)
{
	for (uint32_t i = 0; i < q->layout.peers; i++) {
		if (msgq_link(q->peer(i)->state) == kMsgqFree)
			return i;
	}
	return kNone;
}

void set_link(const gni_msgq *q, uint32_t n, uint32_t generation, MsgqLink link)
{
	__atomic_store_n(&q->peer(n)->state, generation << 8 | link, __ATOMIC_RELEASE);
}

/* Nothing is left of an earlier use. The peer does not know yet where to write. */
void clear(const gni_msgq *q, uint32_t n)
{
	const MsgqLayout &l = q->layout;

	memset(static_cast<void *>(q->sender(n, 0)), 0, kMsgqMembers * l.sender_bytes);
	memset(q->credits(n, 0), 0, size_t{kMsgqMembers} * l.words * sizeof(uint64_t));
	for (uint32_t m = 0; m < l.members; m++)
		memset(q->mailbox(m, n), 0, l.mailbox_bytes());
}

void describe(const gni_msgq *q, uint32_t n, uint32_t generation, gni_msgq_ep_attr_t *attrs)
{
	const MsgqLayout &l = q->layout;

	attrs->pe_addr = q->nic->address;
	attrs->max_msg_sz = q->largest;
	attrs->smsg_q_sz = l.slots;
	attrs->num_insts = l.members;
	for (uint32_t m = 0; m < l.members; m++) {
		const MsgqMember &member = q->control()->members[m];
		attrs->insts[m] = {member.inst_id, member.handle, msgq_place(l.mailbox(n), n, generation)};
	}
}

/* Return: what is wrong with @a, nullptr if nothing is */
const char *attrs_fault(const gni_msgq *q, uint32_t pe, const gni_msgq_ep_attr_t *a)
{
	if (!a)
		return kNull;
	if (a->pe_addr != pe)
		return "the attributes are of another node than pe_addr";
	if (a->max_msg_sz != q->largest || a->smsg_q_sz != q->layout.slots)
		return "the other node's queue differs in max_msg_sz or smsg_q_sz";
	if (!a->num_insts || a->num_insts > kMsgqMembers)
		return "num_insts is 0, or more than GNI_MSGQ_NODE_INSTS_MAX";
	for (uint32_t i = 0; i < a->num_insts; i++) {
		if (!gni_hndl_intact(&a->insts[i].mdh) || a->insts[i].mdh_off >> 60)
			return "no memory handle of a message queue";
		for (uint32_t k = 0; k < i; k++) {
			if (a->insts[k].id == a->insts[i].id)
				return "two instances with one id";
		}
	}
	return nullptr;
}

} // namespace

namespace ugni
{

MsgqInbox *msgq_inbox(const gni_msgq *q, uint32_t peer)
{
	MsgqInbox *box = &q->inboxes[peer];
	const uint32_t state = msgq_state(q, peer);

	if (box->state == state) [[likely]]
		return box;
	if (msgq_link(state) != kMsgqConnected)
		return nullptr;
	/* Another connection than the last time. */
	const MsgqPeer *p = q->peer(peer);
	const uint64_t own = msgq_place(q->layout.mailbox(peer), peer, state >> 8);
	uint32_t *emptied = box->emptied;
	const bool search = box->search;
	memset(emptied, 0, q->layout.words * sizeof(*emptied));
	*box = {};
	box->emptied = emptied;
	box->search = search;
	box->self = q->self;
	box->key = msgq_key(gni_hndl_name(&q->handle), own, p->pe, p->instances[0].mdh_off);
	/* Another process may have released the connection meanwhile. */
	if (msgq_state(q, peer) != state) [[unlikely]]
		return nullptr;
	box->state = state;
	return box;
}

} // namespace ugni

gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs,
				  uint32_t *attrs_size)
{
	const gni_msgq *q = msgq_hndl;

	if (!msgqs.valid(q) || !attrs)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", attrs ? kNoMsgq : kNull);
	if (pe_addr >> ARIES_PE_BITS)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "node address 0x%x has more than %u bits", pe_addr,
			      ARIES_PE_BITS);
	MsgqLock lock(q->share);
	if (msgq_phase(q) != kMsgqReady)
		return refuse(GNI_RC_PERMISSION_ERROR, __func__, "%s", kNotAll);
	if (find(q, pe_addr) != kNone)
		return refuse(GNI_RC_INVALID_STATE, __func__, "node %u has a connection already", pe_addr);
	const uint32_t n = find_free(q);
	if (n == kNone)
		return refuse(GNI_RC_ERROR_RESOURCE, __func__, "all %u connections are in use", q->layout.peers);
	const uint32_t generation = (q->peer(n)->state >> 8) + 1;
	clear(q, n);
	q->peer(n)->pe = pe_addr;
	q->peer(n)->count = 0;
	set_link(q, n, generation, kMsgqReserved);
	describe(q, n, generation, attrs);
	if (attrs_size)
		*attrs_size = static_cast<uint32_t>(offsetof(gni_msgq_ep_attr_t, insts) +
						    attrs->num_insts * sizeof(gni_msgq_rem_inst_t));
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs)
{
	const gni_msgq *q = msgq_hndl;

	if (!msgqs.valid(q))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoMsgq);
	if (const char *const fault = attrs_fault(q, pe_addr, attrs))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", fault);
	MsgqLock lock(q->share);
	if (msgq_phase(q) != kMsgqReady)
		return refuse(GNI_RC_PERMISSION_ERROR, __func__, "%s", kNotAll);
	const uint32_t n = find(q, pe_addr);
	if (n == kNone)
		return refuse(GNI_RC_NO_MATCH, __func__, "GNI_MsgqGetConnAttrs() was not called for node %u", pe_addr);
	MsgqPeer *p = q->peer(n);
	if (msgq_link(p->state) != kMsgqReserved)
		return refuse(GNI_RC_INVALID_STATE, __func__, "node %u is connected already", pe_addr);
	p->count = attrs->num_insts;
	memcpy(p->instances, attrs->insts, attrs->num_insts * sizeof(p->instances[0]));
	set_link(q, n, p->state >> 8, kMsgqConnected);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr)
{
	const gni_msgq *q = msgq_hndl;

	if (!msgqs.valid(q))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoMsgq);
	MsgqLock lock(q->share);
	const uint32_t n = find(q, pe_addr);
	if (n == kNone)
		return refuse(GNI_RC_NO_MATCH, __func__, "no connection to node %u", pe_addr);
	if (q->busy != MsgqBusy::nobody)
		return later(GNI_RC_NOT_DONE, __func__, "%s", kMsgqBusy);
	/* A NIC that is gone tells the end of none. */
	if (msgq_sending(q, &pe_addr) && nic_there(q->nic))
		return later(GNI_RC_NOT_DONE, __func__, "%s", kMsgqSending);
	set_link(q, n, q->peer(n)->state >> 8, kMsgqFree);
	return GNI_RC_SUCCESS;
}
