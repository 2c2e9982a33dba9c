// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: messages whose events are gone, because the receive queue
 * overran or because they came before the connection was made here.
 *
 * A mailbox is looked through twice: the first time for the highest number,
 * the second time for all messages up to that. What an instance has sent
 * before a message that was seen is there the second time, so the order stays.
 * Later ones come with events that are not taken before this is done.
 */
#include "msgq.hpp"

#include <algorithm>

using namespace ugni;

namespace
{

/* Calls @visit with slot and number of each new message. */
template <typename F> void for_each_message(const gni_msgq *q, uint32_t peer, const MsgqInbox *box, F visit)
{
	for (uint32_t slot = 0; slot < q->layout.slots; slot++) {
		uint64_t word;
		uint64_t number;
		uint32_t sender_id;
		if (msgq_look(q, peer, box, slot, &word, &number, &sender_id) == MsgqOutcome::kTaken)
			visit(slot, number);
	}
}

void collect(gni_msgq *q, uint32_t peer, const MsgqInbox *box)
{
	uint64_t limit = 0;
	uint32_t count = 0;

	for_each_message(q, peer, box, [&](uint32_t, uint64_t number) { limit = std::max(limit, number); });
	for_each_message(q, peer, box, [&](uint32_t slot, uint64_t number) {
		if (number <= limit)
			q->found[count++] = {number, slot};
	});
	std::sort(q->found, q->found + count,
		  [](const MsgqFound &a, const MsgqFound &b) { return a.number < b.number; });
	q->found_peer = peer;
	q->found_count = count;
	q->found_next = 0;
}

} // namespace

namespace ugni
{

void msgq_search_all(gni_msgq *q)
{
	for (uint32_t i = 0; i < q->layout.peers; i++)
		q->inboxes[i].search = msgq_link(msgq_state(q, i)) != kMsgqFree;
	q->searching = true;
}

bool msgq_search(gni_msgq *q)
{
	bool waiting = false;

	for (uint32_t i = 0; i < q->layout.peers; i++) {
		if (!q->inboxes[i].search)
			continue;
		MsgqInbox *box = msgq_inbox(q, i);
		if (!box) {
			const bool reserved = msgq_link(msgq_state(q, i)) == kMsgqReserved;
			q->inboxes[i].search = reserved;
			waiting |= reserved;
			continue;
		}
		box->search = false;
		collect(q, i, box);
		if (q->found_count)
			return true;
	}
	q->searching = waiting;
	return false;
}

} // namespace ugni
