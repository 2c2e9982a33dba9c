// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Receiving short messages, and giving their room back. */
#include "debug.hpp"
#include "gone.hpp"
#include "smsg.hpp"
#include "unsettled.hpp"

using namespace ugni;

namespace
{

/*
 * Puts the credit word into the peer's mailbox, without an event: the peer reads it when it wants to send. If this put
 * is lost, the next release makes another one, and a peer that waits for credit asks.
 */
[[gnu::noinline]] void tell(gni_ep *ep, Smsg *s)
{
	gni_smsg_receiver &in = s->in;
	aries_fma_desc *area = smsg_fill(ep, s, 0);

	area->offset = s->out.box.control & GNI_OFFSET_MASK;
	area->sync_offset = s->out.box.control & GNI_OFFSET_MASK;
	area->sync_value = in.credit;
	if (fma_ring_and_look(ep->nic, 0, 0, ARIES_FMA_PUT_SYNC, 0) != ARIES_ST_OK)
		return;
	in.told = in.released;
	in.untold_bytes = 0;
}

/* A further attempt of next(), as a separate function. */
gni_return_t next_again(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call);

gni_return_t broken(Smsg *s, const char *call)
{
	s->obstacles |= kSmsgBroken;
	return refuse(GNI_RC_INVALID_STATE, call, "%s", kSmsgDamaged);
}

/* The slot has another word than before, which is no message of this connection. */
[[gnu::noinline]] gni_return_t unexpected(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call,
					  uint64_t word)
{
	switch (gni_smsg_unexpected(ep, s, word)) {
	case GNI_SMSG_AGAIN:
		return next_again(ep, s, header, tag, call);
	case GNI_SMSG_DAMAGED:
		return broken(s, call);
	case GNI_SMSG_NO_ANSWER:
		return nic_there(ep->nic) ? nothing(GNI_RC_NOT_DONE) : nic_gone(ep->nic);
	default:
		return nothing(GNI_RC_NOT_DONE);
	}
}

/* The credit that goes with the message is not plain. */
[[gnu::noinline]] gni_return_t unexpected_credit(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call,
						 uint64_t credit)
{
	if (credit && !gni_smsg_acknowledge(s, credit))
		return broken(s, call);
	s->out.credit_seen = credit;
	return next_again(ep, s, header, tag, call);
}

/* Nothing new, but there is something else to look after. */
[[gnu::noinline]] gni_return_t look_around(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call)
{
	if (ep->nic->unsettled.first())
		unsettled_tend(ep->nic);
	if (s->in.found && gni_smsg_consider(ep, s))
		return next_again(ep, s, header, tag, call);
	return nic_there(ep->nic) ? nothing(GNI_RC_NOT_DONE) : nic_gone(ep->nic);
}

/* The message of header @word. */
[[gnu::always_inline]] inline gni_return_t deliver(Smsg *s, uint64_t word, void **header, uint8_t *tag)
{
	if (tag) {
		if (*tag != GNI_SMSG_ANY_TAG && *tag != gni_smsg_header_tag(word))
			return nothing(GNI_RC_NO_MATCH);
		*tag = gni_smsg_header_tag(word);
	}
	s->in.word = word;
	const SmsgPlace place = gni_smsg_place(s->in.position, s->in.box.ring_bytes, gni_smsg_header_length(word));
	*header = gni_smsg_ring(s, place.at) + kSmsgPrefix;
	return GNI_RC_SUCCESS;
}

/* A message that was read and not released is delivered again, unless the connection is broken. */
[[gnu::noinline]] gni_return_t same(Smsg *s, void **header, uint8_t *tag, const char *call)
{
	return smsg_broken(s) ? broken(s, call) : deliver(s, s->in.word, header, tag);
}

/* Calls are at the end only: what goes well needs no stack. */
[[gnu::always_inline]] inline gni_return_t next(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call)
{
	const gni_smsg_receiver &in = s->in;

	if (in.word | smsg_broken(s)) [[unlikely]]
		return same(s, header, tag, call);
	/* Pairs with the NIC's release store of the sync flag: the data is there. */
	const uint64_t word = gni_load_acquire(gni_smsg_slot(s, in.slot));
	if (word == s->last[in.slot]) {
		const gni_nic *nic = ep->nic;
		if (!nic->unsettled.first() && !in.found && nic_there(nic)) [[likely]]
			return nothing(GNI_RC_NOT_DONE);
		return look_around(ep, s, header, tag, call);
	}
	if (!gni_smsg_is_next(s, word)) [[unlikely]]
		return unexpected(ep, s, header, tag, call, word);
	const SmsgPlace place = gni_smsg_place(in.position, in.box.ring_bytes, gni_smsg_header_length(word));
	const uint64_t credit = load_word(gni_smsg_ring(s, place.at));
	if (credit != s->out.credit_seen) {
		if (!gni_smsg_acknowledge_known(s, credit)) [[unlikely]]
			return unexpected_credit(ep, s, header, tag, call, credit);
		s->out.credit_seen = credit;
	}
	return deliver(s, word, header, tag);
}

[[gnu::noinline]] gni_return_t next_again(gni_ep *ep, Smsg *s, void **header, uint8_t *tag, const char *call)
{
	return next(ep, s, header, tag, call);
}

} // namespace

UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s) [[unlikely]]
		return smsg_none(ep_hndl, __func__);
	if (!header) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	return next(ep_hndl, s, header, nullptr, __func__);
}

UGNI_IN_ONE_PAGE(1024)
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s) [[unlikely]]
		return smsg_none(ep_hndl, __func__);
	if (!header || !tag) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	return next(ep_hndl, s, header, tag, __func__);
}

UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl)
{
	Smsg *s = smsg_of(ep_hndl);

	if (!s) [[unlikely]]
		return smsg_none(ep_hndl, __func__);
	if (!s->in.word) [[unlikely]]
		return later(GNI_RC_NOT_DONE, __func__, "no message has been read since the last release");
	if (gni_smsg_released(s))
		tell(ep_hndl, s);
	return GNI_RC_SUCCESS;
}
