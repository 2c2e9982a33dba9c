// SPDX-License-Identifier: BSD-2-Clause
/* Receiving short messages, and giving their room back. */
#include "smsg.hpp"

using namespace ugni;

namespace
{

/* A credit word that could not be sent is tried again after so many looks, at most. */
constexpr uint32_t kMostLooks = 1U << 16;

uint64_t *slot_address(const Smsg *s)
{
	return reinterpret_cast<uint64_t *>(s->in.box.slots) + s->in.slot; // NOLINT(performance-no-int-to-ptr)
}

char *message_address(const Smsg *s, const SmsgPlace &place)
{
	return reinterpret_cast<char *>(s->in.box.ring + place.at); // NOLINT(performance-no-int-to-ptr)
}

/* Tells the peer by a put of its own how much is released. No event: the peer looks when it wants to send. */
[[gnu::noinline]] void tell(gni_ep *ep, Smsg *s)
{
	SmsgReceiver &in = s->in;
	aries_fma_desc *area = smsg_fill(ep, s, 0);
	SmsgRepeat repeat(ep->nic, true);
	uint32_t status;

	area->offset = s->out.box.control & kOffsetMask;
	area->sync_offset = s->out.box.control & kOffsetMask;
	area->sync_value = smsg_credit(s->out.box.key, in.released);
	do {
		fma_ring(ep->nic, 0, 0, ARIES_FMA_PUT_SYNC, 0);
		status = fma_last_status(ep->nic);
	} while (status != ARIES_ST_OK && repeat.again(status));
	if (status != ARIES_ST_OK) {
		in.backoff = in.backoff && in.backoff < kMostLooks ? in.backoff * 2 : in.backoff ? kMostLooks : 1;
		in.wait = in.backoff;
		return;
	}
	in.told = in.released;
	in.untold_bytes = 0;
	in.wait = 0;
	in.backoff = 0;
}

/* Nothing there. A peer that waits for a credit word that got lost would wait for ever. */
[[gnu::noinline]] gni_return_t tell_again(gni_ep *ep, Smsg *s)
{
	if (--s->in.wait == 0)
		tell(ep, s);
	return GNI_RC_NOT_DONE;
}

/*
 * A word that is no message of this connection: damage, or the last message of
 * this slot once more, which a repetition may do whose first attempt did arrive.
 */
[[gnu::noinline]] gni_return_t unexpected(Smsg *s, uint64_t word)
{
	if (s->in.released >= s->credits && smsg_header_is(word, s->in.box.key, s->in.released - s->credits)) {
		(void)__atomic_compare_exchange_n(slot_address(s), &word, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return GNI_RC_NOT_DONE;
	}
	s->broken = true;
	return GNI_RC_INVALID_STATE;
}

/* Looks for the next message. Return: SUCCESS with its header word, NOT_DONE, INVALID_STATE. */
[[gnu::always_inline]] inline gni_return_t look(gni_ep *ep, Smsg *s, uint64_t *header)
{
	/* Pairs with the NIC's release store of the sync flag: the data is there. */
	uint64_t word = __atomic_load_n(slot_address(s), __ATOMIC_ACQUIRE);

	if (!word)
		return s->in.wait ? tell_again(ep, s) : GNI_RC_NOT_DONE;
	if (!smsg_header_is(word, s->in.box.key, s->in.released) || smsg_header_length(word) > s->in.box.most ||
	    smsg_header_tag(word) == GNI_SMSG_ANY_TAG)
		return unexpected(s, word);
	SmsgPlace place = smsg_place(s->in.position, s->in.box.ring_bytes, smsg_header_length(word));
	uint64_t credit;
	__builtin_memcpy(&credit, message_address(s, place), sizeof(credit));
	if (!smsg_acknowledge(s, credit)) {
		s->broken = true;
		return GNI_RC_INVALID_STATE;
	}
	*header = word;
	return GNI_RC_SUCCESS;
}

[[gnu::always_inline]] inline gni_return_t next(gni_ep *ep, Smsg *s, void **header, uint8_t *tag)
{
	uint64_t word = s->in.word;

	if (s->broken)
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
	*header = message_address(s, place) + kSmsgWord;
	return GNI_RC_SUCCESS;
}

} // namespace

UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s || !header)
		return GNI_RC_INVALID_PARAM;
	return next(ep_hndl, s, header, nullptr);
}

UGNI_IN_ONE_PAGE(512)
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
	/* Ready for the next round before the peer hears of it. */
	__atomic_store_n(slot_address(s), 0, __ATOMIC_RELEASE);
	in.word = 0;
	in.released++;
	in.slot = in.slot + 1 >= s->credits ? 0 : in.slot + 1;
	in.position = place.next;
	in.untold_bytes += place.taken;
	if ((in.released - in.told) * 2 >= s->credits || in.untold_bytes >= in.box.ring_bytes / kSmsgLargest)
		tell(ep_hndl, s);
	return GNI_RC_SUCCESS;
}
