// SPDX-License-Identifier: BSD-2-Clause
/* Message queues: giving slots back, a word with 32 of them at a time. */
#include "msgq.hpp"

#include <bit>

using namespace ugni;

namespace
{

/* Credits that could not be sent are tried again after so many looks, at most. */
constexpr uint32_t kMostLooks = 1U << 16;

/* Puts one word. Any instance of the peer leads to its credits; who has left refuses, then it is the next one's turn.
 */
bool put(gni_msgq *q, uint32_t peer, MsgqInbox *box, uint32_t word)
{
	gni_nic *nic = q->nic;
	const MsgqPeer *p = q->peer(peer);
	const uint32_t count = p->count < kMsgqMembers ? p->count : kMsgqMembers;
	aries_fma_desc *area = fma_area(nic);
	SmsgRepeat repeat(nic, true);

	area->pe = p->pe;
	area->dlvr_mode = nic->smsg_delivery;
	area->local_mdh = 0;
	area->cq = static_cast<uint16_t>(q->send_queue->number);
	area->reserved = 0;
	area->local_event = 0;
	area->remote_event = 0;
	area->sync_value = msgq_credit(box->key, word, box->emptied[word]);
	for (uint32_t tries = 0; tries < count; tries++) {
		const gni_msgq_rem_inst_t to = p->instances[box->via % count];
		const uint64_t at = q->layout.credit(msgq_place_peer(to.mdh_off), box->self) + word * sizeof(uint64_t);
		uint32_t status;
		area->mdh = mem_name(to.mdh);
		area->offset = at & kOffsetMask;
		area->sync_offset = at & kOffsetMask;
		do {
			fma_ring(nic, 0, 0, ARIES_FMA_PUT_SYNC, 0);
			status = fma_last_status(nic);
		} while (status != ARIES_ST_OK && repeat.again(status));
		if (status == ARIES_ST_OK)
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
			box->backoff = !box->backoff ? 1 : box->backoff < kMostLooks ? box->backoff * 2 : kMostLooks;
			box->wait = box->backoff;
			q->credits_due = true;
			return;
		}
		box->dirty &= box->dirty - 1;
	}
	box->untold = 0;
	box->wait = 0;
	box->backoff = 0;
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
	if (box->untold * 2 >= q->layout.slots && !box->wait)
		tell(q, peer, box);
}

void msgq_tell_due(gni_msgq *q)
{
	q->credits_due = false;
	for (uint32_t i = 0; i < q->layout.peers; i++) {
		MsgqInbox *box = &q->inboxes[i];
		if (!box->wait || msgq_inbox(q, i) != box || !box->wait)
			continue;
		if (--box->wait == 0)
			tell(q, i, box);
		else
			q->credits_due = true;
	}
}

} // namespace ugni
