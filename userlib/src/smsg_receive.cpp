// SPDX-License-Identifier: BSD-2-Clause
/* Receiving short messages, and giving their room back. */
#include "smsg.hpp"
#include "unsettled.hpp"

using namespace ugni;

namespace
{

uint64_t *slot_address(const Smsg *s)
{
	return reinterpret_cast<uint64_t *>(s->in.box.slots) + s->in.slot; // NOLINT(performance-no-int-to-ptr)
}

/*
 * Tells the peer by a put of its own how much is released. No event: the peer looks when it wants to send. What gets
 * lost here the next release tells again, and a peer that waits for it asks.
 */
[[gnu::noinline]] void tell(gni_ep *ep, Smsg *s)
{
	SmsgReceiver &in = s->in;
	aries_fma_desc *area = smsg_fill(ep, s, 0);

	area->offset = s->out.box.control & kOffsetMask;
	area->sync_offset = s->out.box.control & kOffsetMask;
	area->sync_value = in.credit;
	fma_ring(ep->nic, 0, 0, ARIES_FMA_PUT_SYNC, 0);
	if (fma_last_status(ep->nic) != ARIES_ST_OK)
		return;
	in.told = in.released;
	in.untold_bytes = 0;
}

/* The slot has another word than before, which is no message of this connection. Return: whether to look again */
[[gnu::noinline]] bool unexpected(Smsg *s, uint64_t word)
{
	SmsgReceiver &in = s->in;

	if (in.slot == 0 && (!in.known || in.found) && smsg_adopt(s, word))
		return true;
	/* None: the owner may have cleared the mailbox. */
	if (word)
		s->obstacles |= kSmsgBroken;
	else
		s->last[in.slot] = 0;
	return false;
}

/* Nothing new, but there is something else to look after. Return: whether to look again */
[[gnu::noinline]] bool look_around(gni_ep *ep, Smsg *s)
{
	if (ep->nic->unsettled.first())
		unsettled_tend(ep->nic);
	return s->in.found && smsg_consider(ep, s);
}

/* Looks for the next message. Return: SUCCESS with its header word, NOT_DONE, INVALID_STATE. */
[[gnu::always_inline]] inline gni_return_t look(gni_ep *ep, Smsg *s, uint64_t *header)
{
	const SmsgReceiver &in = s->in;

	for (;;) {
		/* Pairs with the NIC's release store of the sync flag: the data is there. */
		const uint64_t word = __atomic_load_n(slot_address(s), __ATOMIC_ACQUIRE);

		if (word == s->last[in.slot]) {
			if (!ep->nic->unsettled.first() && !in.found) [[likely]]
				return GNI_RC_NOT_DONE;
			if (!look_around(ep, s))
				return GNI_RC_NOT_DONE;
			continue;
		}
		if (!smsg_header_is(word, in.key, in.released) || smsg_header_length(word) > in.box.most ||
		    smsg_header_tag(word) == GNI_SMSG_ANY_TAG) [[unlikely]] {
			if (unexpected(s, word))
				continue;
			return word ? GNI_RC_INVALID_STATE : GNI_RC_NOT_DONE;
		}
		const SmsgPlace place = smsg_place(in.position, in.box.ring_bytes, smsg_header_length(word));
		uint64_t credit;
		__builtin_memcpy(&credit, smsg_ring(s, place), sizeof(credit));
		if (credit != s->out.credit_seen) {
			if (credit && !smsg_acknowledge(s, credit)) [[unlikely]] {
				s->obstacles |= kSmsgBroken;
				return GNI_RC_INVALID_STATE;
			}
			s->out.credit_seen = credit;
		}
		*header = word;
		return GNI_RC_SUCCESS;
	}
}

[[gnu::always_inline]] inline gni_return_t next(gni_ep *ep, Smsg *s, void **header, uint8_t *tag)
{
	uint64_t word = s->in.word;

	if (smsg_broken(s))
		return GNI_RC_INVALID_STATE;
	if (!word) {
		gni_return_t rc = look(ep, s, &word);
		if (rc != GNI_RC_SUCCESS)
			return rc;
	}
	if (tag) {
		if (*tag != GNI_SMSG_ANY_TAG && *tag != smsg_header_tag(word))
			return GNI_RC_NO_MATCH;
		*tag = smsg_header_tag(word);
	}
	s->in.word = word;
	SmsgPlace place = smsg_place(s->in.position, s->in.box.ring_bytes, smsg_header_length(word));
	*header = smsg_ring(s, place) + kSmsgPrefix;
	return GNI_RC_SUCCESS;
}

} // namespace

UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s || !header)
		return GNI_RC_INVALID_PARAM;
	return next(ep_hndl, s, header, nullptr);
}

UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s || !header || !tag)
		return GNI_RC_INVALID_PARAM;
	return next(ep_hndl, s, header, tag);
}

/*
 * The peer is told at once when half of the credits or a quarter of the ring
 * wait for it: what is left then always has room for the largest message.
 * Before that the credits go with the next message.
 */
UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s)
		return GNI_RC_INVALID_PARAM;
	SmsgReceiver &in = s->in;
	if (!in.word)
		return GNI_RC_NOT_DONE;
	SmsgPlace place = smsg_place(in.position, in.box.ring_bytes, smsg_header_length(in.word));
	s->last[in.slot] = in.word;
	in.word = 0;
	in.released++;
	in.credit = smsg_credit(in.key, in.released);
	/* Where the peer looks when it has no room. */
	__atomic_store_n(smsg_own(s, kSmsgReleased), in.credit, __ATOMIC_RELEASE);
	in.slot = in.slot + 1 >= s->credits ? 0 : in.slot + 1;
	in.position = place.next;
	in.untold_bytes += place.taken;
	if ((in.released - in.told) * 2 >= s->credits || in.untold_bytes >= in.box.ring_bytes / kSmsgLargest)
		tell(ep_hndl, s);
	return GNI_RC_SUCCESS;
}
