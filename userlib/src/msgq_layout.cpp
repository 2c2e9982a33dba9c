// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: attributes, and the memory that they require. */
#include "debug.hpp"
#include "msgq.hpp"

using namespace ugni;

namespace
{

constexpr uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

const char *attrs_fault(const gni_msgq_attr_t *a)
{
	if (!a)
		return kNull;
	if (!a->max_msg_sz || a->max_msg_sz > GNI_MSGQ_MSG_SZ_MAX)
		return "max_msg_sz is 0, or more than GNI_MSGQ_MSG_SZ_MAX";
	if (!a->smsg_q_sz || a->smsg_q_sz > kMsgqMostSlots)
		return "smsg_q_sz is 0, or more than 2,048";
	if (!a->num_msgq_eps || a->num_msgq_eps > kMsgqMostPeers)
		return "num_msgq_eps is 0, or more than 4,096";
	if (!a->nloc_insts || a->nloc_insts > kMsgqMembers)
		return "nloc_insts is 0, or more than GNI_MSGQ_NODE_INSTS_MAX";
	if (!a->rcv_pool_sz || !a->rcv_cq_sz)
		return "rcv_pool_sz or rcv_cq_sz is 0";
	if (a->modes & ~GNI_MSGQ_MODE_BLOCKING)
		return "modes has bits without a meaning";
	return nullptr;
}

static_assert(kMsgqMostSlots == 2048 && kMsgqMostPeers == 4096, "attrs_fault() names them");

} // namespace

namespace ugni
{

const char *msgq_layout(const gni_msgq_attr_t *attrs, MsgqLayout *layout)
{
	if (const char *const fault = attrs_fault(attrs))
		return fault;
	MsgqLayout &l = *layout;

	l.slots = attrs->smsg_q_sz;
	l.words = (l.slots + kMsgqWordSlots - 1) / kMsgqWordSlots;
	l.slot_bytes = gni_smsg_lines(static_cast<uint32_t>(sizeof(MsgqSlot)) + attrs->max_msg_sz);
	l.peers = attrs->num_msgq_eps;
	l.members = attrs->nloc_insts;
	l.peers_at = round_up(sizeof(MsgqControl), GNI_SMSG_LINE);
	l.senders_at = round_up(l.peers_at + uint64_t{l.peers} * sizeof(MsgqPeer), GNI_SMSG_LINE);
	l.sender_bytes = round_up(MsgqSender::bytes(l.words), GNI_SMSG_LINE);
	l.credits_at = round_up(l.senders_at + uint64_t{l.peers} * kMsgqMembers * l.sender_bytes, kMsgqPage);
	l.credits_bytes = round_up(l.credit(l.peers, 0), kMsgqPage);
	l.mail_at = l.credits_at + l.credits_bytes;
	l.mail_bytes = round_up(l.peers * l.mailbox_bytes() + GNI_SMSG_LINE, kMsgqPage);
	l.used = l.mail_at + l.members * l.mail_bytes;
	l.size = round_up(l.used, kMsgqHugePage);
	return l.size <= UINT32_MAX ? nullptr : "a queue of more than 4 GiB";
}

} // namespace ugni

gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size)
{
	MsgqLayout layout;

	const char *const fault = size ? msgq_layout(attrs, &layout) : kNull;
	if (fault)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", fault);
	*size = static_cast<uint32_t>(layout.size);
	return GNI_RC_SUCCESS;
}
