// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: a message on its way into a slot of the peer, and the state that its sender keeps. */
#ifndef UGNI_MSGQ_LETTER_HPP
#define UGNI_MSGQ_LETTER_HPP

#include "msgq.hpp"

namespace ugni
{

constexpr const char *kMsgqSend = "GNI_MsgqSend";
/* Of a request whose event has not been read. */
constexpr uint32_t kMsgqAwaited = 1U << ARIES_INFO_LOCAL | Request::kSmsg | Request::kMsgq;

/** One slot of the peer's mailbox, taken by us. */
struct MsgqTaken {
	uint32_t slot;
	uint32_t word;
	uint32_t mask;
	uint32_t count; /* how often a slot of the word was taken by then */
	uint8_t round;  /* the same of this slot, the low bits */
	bool bit;
};

/** A message with its slot. */
struct MsgqLetter {
	const gni_msgq *q;
	MsgqRoute route;
	MsgqTaken taken;
	uint64_t header;
	uint32_t msg_id;
	uint32_t bytes;
	char line[kMsgqPrefix + GNI_MSGQ_MSG_SZ_MAX];

	uint64_t slot() const { return (route.place & GNI_OFFSET_MASK) + uint64_t{taken.slot} * q->layout.slot_bytes; }
};

/** Finds the way to instance @id of node @pe. Return: SUCCESS, NO_MATCH, INVALID_STATE. */
gni_return_t msgq_find(const gni_msgq *q, uint32_t pe, uint32_t id, MsgqRoute **out);
/** Takes a slot. Return: SUCCESS, NOT_DONE, INVALID_STATE if there will never be one. */
gni_return_t msgq_take(const gni_msgq *q, const MsgqRoute *r, MsgqTaken *out);
/** Nothing was written there. */
void msgq_give_back(const MsgqRoute *r, const MsgqTaken &t);
/** The message in the slot has an unknown fate: it keeps the slot until the receiver says otherwise. */
void msgq_give_up(const MsgqLetter &l);

/** What this node knows of the slot: emptied, or even taken since, by others of us and any number of times? */
enum class MsgqSince { kept, emptied, unknown };
MsgqSince msgq_slot_since(const MsgqLetter &l);

/** Descriptor for the slot's node. */
aries_fma_desc *msgq_fill(const MsgqLetter &l, const gni_cq *cq);
/** One attempt. @id: of the local event, 0: none. Return: ARIES_ST_* */
uint32_t msgq_put(const MsgqLetter &l, const gni_cq *cq, uint32_t id);

/** The message has left, and may still get lost. */
void msgq_keep(gni_ep *ep, gni_cq *cq, const MsgqLetter &l, uint32_t id);
/** The first attempt has ended with @status. Return: as GNI_MsgqSend() */
gni_return_t msgq_failed(gni_ep *ep, gni_cq *cq, const MsgqLetter &l, uint32_t id, uint32_t status);
/** A message to the same instance is being repeated: the order stays. */
bool msgq_behind(gni_nic *nic, const MsgqRoute *route);

} // namespace ugni

#endif
