// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Who sends into a mailbox. The first message says it, by the identity that goes with it. Clients neither agree on
 * who connects first nor clear mailboxes that they use again, so messages that are there when a connection begins are
 * either the peer's, which was faster, or nobody has read them in an earlier connection of these two mailboxes. The
 * peer is asked when the owner wants to read them: they are its if it still has the identity that they were sent with.
 * Where the memory of the mailbox was never one before, as most are when a client begins, nobody needs to be asked.
 *
 * A peer that has not connected anew by then still has the old one. When it does, its first message comes to the
 * first slot once more, with another identity; so as long as nothing else has come that slot is looked at as well.
 *
 * Until it connects anew it may also go on to send in the earlier connection, into any slot. All of that is there
 * before its first message of the new connection, so when that one comes, other words in the slots are no messages.
 */
#include "gone.hpp"
#include "smsg.hpp"

#include <unistd.h>

namespace ugni
{

namespace
{

/* A peer that does not answer is asked again after so many looks. */
constexpr uint32_t kLooks = 64;
/*
 * But clients look once when a connection begins, and then only when an event comes. So the first answer is waited for:
 * on the way to another host that is busy several questions may end with a time-out each.
 */
constexpr uint64_t kPatienceMs = 2000;
constexpr useconds_t kPauseUs = 1000;

uint64_t load_slot(const Smsg *s, uint32_t slot)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return __atomic_load_n(reinterpret_cast<const uint64_t *>(s->in.box.slots) + slot, __ATOMIC_ACQUIRE);
}

/* The identity where the first message of a connection has it; its length does not matter. */
uint64_t first_identity(const Smsg *s)
{
	return load_word(smsg_ring(s, gni_smsg_place(0, s->in.box.ring_bytes, 0)) + kSmsgWord);
}

/* The identity that lies with the message of header @word, the first of a connection, and its key. Return: 0 if it is
 * none. */
uint64_t identity_of(const Smsg *s, uint64_t word, uint32_t *key)
{
	const SmsgMailbox &box = s->in.box;

	if (!word || gni_smsg_header_length(word) > box.most)
		return 0;
	const uint64_t identity = first_identity(s);
	const auto nonce = static_cast<uint32_t>(identity >> 32);
	*key = gni_smsg_key(box.key, nonce);
	return identity == gni_smsg_identity(box.key, nonce) && gni_smsg_header_is(word, *key, 0) ? identity : 0;
}

/* The identity that the peer has now. Return: whether it has answered */
bool ask_identity(const gni_ep *ep, Smsg *s, uint64_t *identity)
{
	SmsgReceiver &in = s->in;

	if (in.looks && --in.looks)
		return false;
	const uint64_t until = in.asked ? 0 : sys::now_ms() + kPatienceMs;
	in.asked = true;
	for (;;) {
		const uint32_t status =
			smsg_read(ep, s, s->out.box.control + uint64_t{kSmsgIdentity} * kSmsgWord, identity);

		if (status == ARIES_ST_OK)
			return true;
		if (status != ARIES_ST_TIMEOUT || sys::now_ms() >= until || !nic_there(ep->nic))
			break;
		usleep(kPauseUs);
	}
	in.looks = kLooks;
	return false;
}

/* The sender is known by @key: what is there and not from it will never be a message, all else is to be read. */
void know(Smsg *s, uint32_t key)
{
	s->in.key = key;
	s->in.known = true;
	for (uint32_t i = 0; i < s->credits; i++) {
		const uint64_t word = load_slot(s, i);
		s->last[i] = gni_smsg_header_is(word, key, i) ? 0 : word;
	}
}

/* Messages that this mailbox's owner has released of a sender with @key, before this connection began. */
uint32_t released_earlier(const Smsg *s, uint32_t key)
{
	const uint64_t word = s->in.earlier;

	return word && word == gni_smsg_credit(key, word >> 32) ? static_cast<uint32_t>(word >> 32) : 0;
}

/* Asks the peer whether the messages that were found are its. Return: whether they are */
bool decide(const gni_ep *ep, Smsg *s)
{
	SmsgReceiver &in = s->in;
	uint64_t identity;
	uint32_t key = 0;

	if (!ask_identity(ep, s, &identity))
		return false;
	if (identity != identity_of(s, s->last[0], &key)) {
		in.found = 0;
		return false;
	}
	know(s, key);
	return true;
}

} // namespace

void smsg_take_stock(Smsg *s)
{
	uint32_t key = 0;

	/* Backwards: whoever sends begins with the first slot, so what comes meanwhile is seen there. */
	for (uint32_t i = s->credits; i-- > 0;)
		s->last[i] = load_slot(s, i);
	s->in.earlier = __atomic_load_n(smsg_own(s, kSmsgReleased), __ATOMIC_RELAXED);
	/* What has been read in an earlier connection is not the peer's, which was faster. */
	if (!identity_of(s, s->last[0], &key) || released_earlier(s, key))
		return;
	while (s->in.found < s->credits && gni_smsg_header_is(s->last[s->in.found], key, s->in.found))
		s->in.found++;
	/* No connection has begun in this memory yet, so there is no earlier one that they could be of. */
	if (!__atomic_load_n(smsg_own(s, kSmsgIdentity), __ATOMIC_RELAXED))
		know(s, key);
}

bool smsg_adopt(Smsg *s, uint64_t word)
{
	SmsgReceiver &in = s->in;
	uint32_t key = 0;

	if (!identity_of(s, word, &key))
		return false;
	know(s, key);
	/* It may be the earlier connection's only one. */
	in.found = 1;
	in.released = 0;
	in.told = 0;
	in.credit = 0;
	in.word = 0;
	in.slot = 0;
	in.position = 0;
	in.untold_bytes = 0;
	__atomic_store_n(smsg_own(s, kSmsgReleased), 0, __ATOMIC_RELEASE);
	return true;
}

SmsgOrigin smsg_origin(gni_ep *ep, Smsg *s, uint64_t word)
{
	uint64_t identity;

	if ((word & GNI_SMSG_ONES) != GNI_SMSG_ONES || gni_smsg_header_length(word) > s->in.box.most)
		return SmsgOrigin::kDamaged;
	if (!ask_identity(ep, s, &identity))
		return SmsgOrigin::kUnknown;
	const uint32_t key = gni_smsg_key(s->in.box.key, static_cast<uint32_t>(identity >> 32));
	const uint32_t read = released_earlier(s, key);
	/* It still has the earlier connection. Numbers in the first slot are multiples of the credits. */
	if (read)
		return gni_smsg_header_is(word, key, uint64_t{read + s->credits - 1} / s->credits * s->credits)
			       ? SmsgOrigin::kEarlier
			       : SmsgOrigin::kDamaged;
	/* It has connected anew. If the first message is there, this should be its header. */
	return identity == first_identity(s) ? SmsgOrigin::kDamaged : SmsgOrigin::kEarlier;
}

bool smsg_consider(gni_ep *ep, Smsg *s)
{
	SmsgReceiver &in = s->in;

	if (!in.known)
		return decide(ep, s);
	if (in.released > in.found) {
		in.found = 0;
		return false;
	}
	const uint64_t first = load_slot(s, 0);
	return in.released && first != s->last[0] && smsg_adopt(s, first);
}

} // namespace ugni
