// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: slots of a peer's mailbox. The senders of a node take them from each other by atomic operations,
 * without a lock.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "msgq_letter.hpp"

#include <bit>

namespace ugni
{

namespace
{

/* Fills @route in. Return: SUCCESS, NO_MATCH, INVALID_STATE. */
[[gnu::noinline]] gni_return_t search(const gni_msgq *q, uint32_t pe, uint32_t id, MsgqRoute *route)
{
	for (uint32_t n = 0; n < q->layout.peers; n++) {
		const MsgqPeer *p = q->peer(n);
		const uint32_t state = msgq_state(q, n);
		if (msgq_link(state) == kMsgqFree || p->pe != pe)
			continue;
		if (msgq_link(state) != kMsgqConnected)
			return later(GNI_RC_INVALID_STATE, kMsgqSend, "node %u is not connected yet: GNI_MsgqConnect()",
				     pe);
		for (uint32_t i = 0; i < p->count && i < kMsgqMembers; i++) {
			const gni_msgq_rem_inst_t to = p->instances[i];
			if (to.id != id)
				continue;
			const uint64_t own = msgq_place(q->layout.mailbox(n), n, state >> 8);
			const uint16_t name = gni_hndl_name(&to.mdh);
			*route = {state,
				  pe,
				  id,
				  msgq_key(name, to.mdh_off, q->nic->address, own),
				  n,
				  name,
				  to.mdh_off,
				  q->sender(n, i),
				  q->credits(n, i)};
			/* Another process may have released the slot meanwhile. */
			if (msgq_state(q, n) == state) [[likely]]
				return GNI_RC_SUCCESS;
			route->state = 0;
			return later(GNI_RC_INVALID_STATE, kMsgqSend, "the connection to node %u has just ended", pe);
		}
		return refuse(GNI_RC_NO_MATCH, kMsgqSend, "node %u has no instance %u", pe, id);
	}
	return msgq_phase(q) == kMsgqForming
		       ? later(GNI_RC_INVALID_STATE, kMsgqSend, "not all instances of the node have come")
		       : refuse(GNI_RC_NO_MATCH, kMsgqSend, "no connection to node %u", pe);
}

/* Slots of @word that the peer has emptied, by their bits. Return: false if it cannot have written that. */
bool emptied(const MsgqRoute *r, uint32_t word, uint32_t *bits)
{
	const uint64_t credit = __atomic_load_n(&r->credits[word], __ATOMIC_ACQUIRE);

	*bits = static_cast<uint32_t>(credit);
	return !credit || credit == msgq_credit(r->key, word, *bits);
}

/* Slots with messages of unknown fate. */
uint32_t *lost_words(const gni_msgq *q, MsgqSender *s)
{
	return s->lost(q->layout.words);
}

/* Its fate is known by now: the receiver has emptied the slot. */
void forget_lost(const gni_msgq *q, MsgqSender *s, uint32_t word, uint32_t mask)
{
	uint32_t *lost = lost_words(q, s) + word;

	if (__atomic_load_n(lost, __ATOMIC_RELAXED) & mask) [[unlikely]]
		(void)__atomic_fetch_and(lost, ~mask, __ATOMIC_RELAXED);
}

/* This instance owns the slot, so no other one writes the word. */
uint8_t next_round(const gni_msgq *q, MsgqSender *s, uint32_t slot)
{
	uint8_t *round = s->rounds(q->layout.words) + slot;
	const auto next = static_cast<uint8_t>(__atomic_load_n(round, __ATOMIC_RELAXED) + 1);

	__atomic_store_n(round, next, __ATOMIC_RELAXED);
	return next;
}

enum class Take { done, none, damaged };

/*
 * Takes a slot of word @w. In each attempt the peer's emptied bits are read after the taken bits, with which they are
 * compared. So a slot that looks free stays free until the word of taken bits changes, and with it its count.
 */
Take take_of(const gni_msgq *q, const MsgqRoute *r, uint32_t w, MsgqTaken *out)
{
	uint64_t *place = r->sender->taken() + w;
	uint64_t taken = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	for (;;) {
		uint32_t done;
		if (!emptied(r, w, &done))
			return Take::damaged;
		const uint32_t free = ~(static_cast<uint32_t>(taken) ^ done) & q->layout.mask(w);
		if (!free)
			return Take::none;
		const uint32_t mask = free & -free;
		if (!__atomic_compare_exchange_n(place, &taken, (taken ^ mask) + (uint64_t{1} << 32), true,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		forget_lost(q, r->sender, w, mask);
		const uint32_t slot = w * kMsgqWordSlots + static_cast<uint32_t>(std::countr_zero(mask));
		*out = {slot,           w, mask, static_cast<uint32_t>(taken >> 32) + 1, next_round(q, r->sender, slot),
			!(taken & mask)};
		return Take::done;
	}
}

} // namespace

gni_return_t msgq_find(const gni_msgq *q, uint32_t pe, uint32_t id, MsgqRoute **out)
{
	MsgqRoute *route = &q->routes[(pe * 31 + id) % kMsgqRoutes];

	*out = route;
	if (route->state && route->pe == pe && route->id == id && msgq_state(q, route->peer) == route->state) [[likely]]
		return GNI_RC_SUCCESS;
	route->state = 0;
	return search(q, pe, id, route);
}

gni_return_t msgq_take(const gni_msgq *q, const MsgqRoute *r, MsgqTaken *out)
{
	const uint32_t words = q->layout.words;
	bool hope = false;

	for (uint32_t w = 0; w < words; w++) {
		const Take taken = take_of(q, r, w, out);
		if (taken == Take::done)
			return GNI_RC_SUCCESS;
		if (taken == Take::none)
			hope |= q->layout.mask(w) & ~__atomic_load_n(lost_words(q, r->sender) + w, __ATOMIC_RELAXED);
	}
	return hope ? nic_later(q->nic, kMsgqSend, "all slots of the instance are taken")
		    : refuse(GNI_RC_INVALID_STATE, kMsgqSend,
			     "damaged credits, or the fate of no message in a slot is known");
}

void msgq_give_back(const MsgqRoute *r, const MsgqTaken &t)
{
	(void)__atomic_fetch_xor(r->sender->taken() + t.word, uint64_t{t.mask}, __ATOMIC_ACQ_REL);
}

MsgqSince msgq_slot_since(const MsgqLetter &l)
{
	const MsgqTaken &t = l.taken;
	const uint64_t taken = __atomic_load_n(l.route.sender->taken() + t.word, __ATOMIC_ACQUIRE);
	const uint8_t *round = l.route.sender->rounds(l.q->layout.words) + t.slot;
	uint32_t done;

	if (emptied(&l.route, t.word, &done) && ((done & t.mask) != 0) == t.bit)
		return MsgqSince::emptied;
	if (((taken & t.mask) != 0) != t.bit || __atomic_load_n(round, __ATOMIC_RELAXED) != t.round)
		return MsgqSince::emptied;
	return static_cast<uint32_t>(taken >> 32) - t.count < MsgqSender::kRounds ? MsgqSince::kept
										  : MsgqSince::unknown;
}

void msgq_give_up(const MsgqLetter &l)
{
	(void)__atomic_fetch_or(lost_words(l.q, l.route.sender) + l.taken.word, l.taken.mask, __ATOMIC_RELAXED);
}

} // namespace ugni
