// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues: giving slots back, a word with 32 of them at a time. */
#include "msgq.hpp"

#include <bit>

using namespace ugni;

namespace
{

/* Credits that could not be sent are tried again after 1 ms, then after pauses up to this. */
constexpr uint32_t kMostPauseMs = 64;

/*
 * A word that has left may get lost yet, and a sender without room would wait for ever. So it is read back: one round
 * trip for half of a mailbox. The descriptor is that of the put. Return: whether it is there
 */
[[gnu::noinline]] bool arrived(const gni_msgq *q, aries_fma_desc *area)
{
	const uint64_t word = area->sync_value;

	area->local_mdh = gni_hndl_name(&q->handle);
	area->local_offset = q->layout.landing();
	return fma_ring_piece(q->nic, sizeof(word), ARIES_FMA_GET_OP) == ARIES_ST_OK &&
	       __atomic_load_n(q->landing(), __ATOMIC_ACQUIRE) == word;
}

/*
 * Puts one word. Any instance of the peer gives access to the peer's credits; one that has left refuses, and the next
 * one is tried.
 */
bool put(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t word)
{
	gni_nic *nic = q->nic;
	const MsgqPeer *p = q->peer(peer);
	const uint32_t count = p->count < kMsgqMembers ? p->count : kMsgqMembers;
	aries_fma_desc *area = fma_area(nic);

	area->pe = p->pe;
	area->dlvr_mode = nic->smsg_delivery;
	area->cq = static_cast<uint16_t>(q->send_queue->number);
	area->reserved = 0;
	area->local_event = 0;
	area->remote_event = 0;
	for (uint32_t tries = 0; tries < count; tries++) {
		const gni_msgq_rem_inst_t to = p->instances[box->via % count];
		const uint64_t at = q->layout.credit(msgq_place_peer(to.mdh_off), box->self) + word * sizeof(uint64_t);
		area->local_mdh = 0;
		area->sync_value = msgq_credit(box->key, word, box->emptied[word]);
		area->mdh = gni_hndl_name(&to.mdh);
		area->offset = at & GNI_OFFSET_MASK;
		area->sync_offset = at & GNI_OFFSET_MASK;
		const uint32_t status = fma_ring_and_look(nic, 0, 0, ARIES_FMA_PUT_SYNC, q->later);
		if (status == ARIES_ST_OK || (status == ARIES_ST_LATER && arrived(q, area)))
			return true;
		box->via = (box->via + 1) % count;
	}
	return false;
}

void tell(gni_msgq *q, uint32_t peer, MsgqInbox *box)
{
	while (box->dirty) {
		const auto word = static_cast<uint32_t>(std::countr_zero(box->dirty));
		if (!put(q, peer, box, word)) {
			box->pause_ms = !box->pause_ms                 ? 1
					: box->pause_ms < kMostPauseMs ? box->pause_ms * 2
								       : kMostPauseMs;
			box->due_ms = sys::now_ms() + box->pause_ms;
			q->credits_due = true;
			return;
		}
		box->dirty &= box->dirty - 1;
	}
	box->untold = 0;
	box->pause_ms = 0;
}

} // namespace

namespace ugni
{

static_assert(kMsgqMostSlots / kMsgqWordSlots <= 64, "MsgqInbox.dirty has a bit for each word");

void msgq_emptied(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t slot)
{
	const uint32_t word = slot / kMsgqWordSlots;

	box->emptied[word] ^= 1U << slot % kMsgqWordSlots;
	box->dirty |= uint64_t{1} << word;
	box->untold++;
	if (box->untold * 2 >= q->layout.slots && !box->pause_ms)
		tell(q, peer, box);
}

void msgq_tell_due(gni_msgq *q)
{
	const uint64_t now = sys::now_ms();

	q->credits_due = false;
	for (uint32_t i = 0; i < q->layout.peers; i++) {
		MsgqInbox *box = &q->inboxes[i];
		if (!box->pause_ms || msgq_inbox(q, i) != box || !box->pause_ms)
			continue;
		if (now >= box->due_ms)
			tell(q, i, box);
		else
			q->credits_due = true;
	}
}

} // namespace ugni
