// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Sending short messages: no system call, no lock. Header and data are copied
 * before the call returns. A message that fits the line with its credit word
 * (2,032 bytes) is one doorbell.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "mmio.hpp"
#include "smsg.hpp"

#include <cinttypes>
#include <cstring>

using namespace ugni;

namespace
{

using Part = SmsgPart;

/* Credit word and identity, header, data: one stream of bytes. */
struct Stream {
	Part parts[3];
	uint32_t bytes;
};

/* Bytes @from and following of the stream, into the line. */
void gather(char *line, const Stream &stream, uint32_t from, uint32_t bytes)
{
	for (const Part &p : stream.parts) {
		if (from >= p.bytes) {
			from -= p.bytes;
			continue;
		}
		uint32_t n = p.bytes - from < bytes ? p.bytes - from : bytes;
		if (n)
			memcpy(line, static_cast<const char *>(p.from) + from, n);
		line += n;
		bytes -= n;
		from = 0;
	}
}

/* Longest part that is copied without a call. */
constexpr uint32_t kShortPart = 64;

/* To the end of the line. A call of memcpy() costs an emulated processor more than ten words; latency is measured with
 * fewer. */
inline char *append(char *line, const Part &p)
{
	const char *from = static_cast<const char *>(p.from);
	uint32_t left = p.bytes;

	if (left > kShortPart) [[unlikely]] {
		memcpy(line, from, left);
		return line + left;
	}
	/* The compiler would make calls of these loops. */
	for (; left >= 8; left -= 8, line += 8, from += 8) {
		memcpy(line, from, 8);
		compiler_barrier();
	}
	for (; left; left--) {
		*line++ = *from++;
		compiler_barrier();
	}
	return line;
}

/* Everything but the last part. Return: ARIES_ST_*; how much is there in @done. */
uint32_t put_first_parts(const gni_nic *nic, uint64_t start, const Stream &stream, uint32_t *done)
{
	while (stream.bytes - *done > ARIES_DESC_LINE_BYTES) {
		gather(nic->area + ARIES_DESC_LINE, stream, *done, ARIES_DESC_LINE_BYTES);
		fma_area(nic)->offset = (start + *done) & GNI_OFFSET_MASK;
		const uint32_t status = fma_ring_piece(nic, ARIES_DESC_LINE_BYTES, ARIES_FMA_PUT_LINE);
		if (status != ARIES_ST_OK)
			return status;
		*done += ARIES_DESC_LINE_BYTES;
	}
	return ARIES_ST_OK;
}

/* No room. The peer may have told of some in a word that got lost. */
[[gnu::noinline]] gni_return_t stalled(gni_ep *ep, Smsg *s, gni_statistic_t why, const char *call)
{
	ep->nic->statistics[why]++;
	gni_smsg_ask_credit(ep, s);
	return nic_later(ep->nic, call,
			 why == GNI_STAT_SMSG_MBOX_CREDITS_STALL
				 ? "no credit: the peer has not released as many messages as it takes"
				 : "no room for the message in the peer's mailbox");
}

/* Room for @length bytes in the mailbox: count of messages and ring. */
[[gnu::always_inline]] inline gni_return_t reserve(gni_ep *ep, Smsg *s, uint32_t length, SmsgPlace *place,
						   const char *call)
{
	const gni_smsg_sender &out = s->out;
	const uint64_t credit = gni_load_acquire(gni_smsg_own(s, GNI_SMSG_CREDIT));

	if (credit != out.told_seen && !gni_smsg_take_credit(s, credit)) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kSmsgDamaged);
	if (out.sent - out.acknowledged == s->credits)
		return stalled(ep, s, GNI_STAT_SMSG_MBOX_CREDITS_STALL, call);
	*place = gni_smsg_place(out.position, out.box.ring_bytes, length);
	if (place->taken > out.box.ring_bytes - out.used)
		return stalled(ep, s, GNI_STAT_SMSG_BUFF_CREDITS_STALL, call);
	return GNI_RC_SUCCESS;
}

/* A place for the event in the source queue, and a transaction id. Return: 0 if there is none. */
[[gnu::always_inline]] inline uint32_t reserve_event(gni_ep *ep)
{
	gni_nic *nic = ep->nic;
	uint32_t id = ep->cq->room ? nic->requests.take() : 0;

	if (!id) {
		nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
		nic_refused(nic);
		return 0;
	}
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	r.local_event = ep->events[0];
	r.ep = ep;
	r.cq = ep->cq;
	r.state = 1U << ARIES_INFO_LOCAL | Request::kSmsg;
	ep->references++;
	ep->cq->room--;
	return id;
}

/* Descriptor, and the two words in front of the message. */
[[gnu::always_inline]] inline aries_fma_desc *fill(const gni_ep *ep, const gni_smsg_conn *s, uint32_t msg_id,
						   uint32_t bytes, uint8_t tag)
{
	aries_fma_desc *area = smsg_fill(ep, s, msg_id);

	area->sync_offset = (s->out.box.slots + uint64_t{s->out.slot} * kSmsgWord) & GNI_OFFSET_MASK;
	area->sync_value = gni_smsg_next_header(s, bytes, tag);
	return area;
}

/* More than the line takes. */
[[gnu::noinline]] SmsgTry put_long(const gni_ep *ep, const gni_smsg_conn *s, const SmsgText &text,
				   const SmsgPlace &place, uint32_t id)
{
	const gni_nic *nic = ep->nic;
	const uint64_t prefix[2] = {s->in.credit, s->out.identity};
	const Stream stream = {{{prefix, kSmsgPrefix}, text.header, text.data}, kSmsgPrefix + text.bytes()};
	const uint64_t start = s->out.box.ring + place.at;
	uint32_t done = 0;

	const uint32_t status = put_first_parts(nic, start, stream, &done);
	if (status != ARIES_ST_OK)
		return {status, false};
	gather(nic->area + ARIES_DESC_LINE, stream, done, stream.bytes - done);
	fma_area(nic)->offset = (start + done) & GNI_OFFSET_MASK;
	const uint64_t events = id ? s->events : s->events & ~ARIES_EV_LOCAL;
	return {fma_ring_and_look(nic, id, stream.bytes - done, ARIES_FMA_PUT_SYNC, events), true};
}

[[gnu::always_inline]] inline SmsgTry put(const gni_ep *ep, const gni_smsg_conn *s, const SmsgText &text,
					  const SmsgPlace &place, uint32_t id, uint32_t events)
{
	const gni_nic *nic = ep->nic;
	const uint32_t bytes = text.bytes();
	aries_fma_desc *area = fill(ep, s, text.msg_id, bytes, text.tag);

	if (bytes > ARIES_DESC_LINE_BYTES - kSmsgPrefix) [[unlikely]] {
		/* Copies: what has an address does not stay in registers. */
		const SmsgText whole = text;
		const SmsgPlace there = place;
		return put_long(ep, s, whole, there, id);
	}
	char *line = nic->area + ARIES_DESC_LINE;
	memcpy(line, &s->in.credit, kSmsgWord);
	memcpy(line + kSmsgWord, &s->out.identity, kSmsgWord);
	append(append(line + kSmsgPrefix, text.header), text.data);
	area->offset = (s->out.box.ring + place.at) & GNI_OFFSET_MASK;
	return {fma_ring_and_look(nic, id, kSmsgPrefix + bytes, ARIES_FMA_PUT_SYNC, events), true};
}

/* @tagged: whether the limit is that of messages with a tag. */
[[gnu::always_inline]] inline gni_return_t send(gni_ep *ep, const SmsgText &text, bool tagged, const char *call)
{
	Smsg *s = smsg_of(ep);

	if (!s) [[unlikely]]
		return smsg_none(ep, call);
	gni_return_t behind = GNI_RC_SUCCESS;
	if (s->obstacles) [[unlikely]] {
		behind = smsg_obstacle(ep, s, call);
		if (behind != GNI_RC_SUCCESS && behind != GNI_RC_TRANSACTION_ERROR)
			return behind;
	}
	if ((!text.header.from && text.header.bytes) || (!text.data.from && text.data.bytes)) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNull);
	const uint32_t most = tagged ? s->out.box.most : s->largest;
	if (uint64_t{text.header.bytes} + text.data.bytes > most) [[unlikely]]
		return refuse(GNI_RC_ERROR_RESOURCE, call, "%" PRIu64 " bytes of header and data: %u are possible",
			      uint64_t{text.header.bytes} + text.data.bytes, most);
	if (behind != GNI_RC_SUCCESS) [[unlikely]] {
		const SmsgText whole = text;
		return smsg_send_behind(ep, s, whole, call);
	}
	SmsgPlace place;
	gni_return_t rc = reserve(ep, s, text.bytes(), &place, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	uint32_t id = reserve_event(ep);
	if (!id) [[unlikely]]
		return nic_later(ep->nic, call, kSmsgNoEvent);
	const SmsgTry first = put(ep, s, text, place, id, s->events);
	if (first.status != ARIES_ST_OK) [[unlikely]] {
		const SmsgText whole = text;
		const SmsgPlace there = place;
		return smsg_failed(ep, s, whole, there, id, first);
	}
	gni_smsg_sent(s, place);
	return GNI_RC_SUCCESS;
}

} // namespace

namespace ugni
{

uint32_t smsg_reserve_event(gni_ep *ep)
{
	return reserve_event(ep);
}

} // namespace ugni

gni_smsg_try gni_env_smsg_put(gni_ep_handle_t ep, const gni_smsg_conn *c, const void *text, const gni_smsg_spot *spot,
			      uint32_t id)
{
	gni_smsg_conn then = *c; /* with the newest credit */

	then.out.sent = spot->number;
	then.out.slot = spot->slot;
	then.out.turn = spot->header & GNI_SMSG_TURN;
	return put(ep, &then, *static_cast<const SmsgText *>(text), spot->place, id,
		   id ? c->events : c->events & ~uint32_t{ARIES_EV_LOCAL});
}

UGNI_IN_ONE_PAGE(2048)
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			  uint32_t data_length, uint32_t msg_id)
{
	return send(ep_hndl, {{header, header_length}, {data, data_length}, msg_id, 0}, false, __func__);
}

UGNI_IN_ONE_PAGE(2048)
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			      uint32_t data_length, uint32_t msg_id, uint8_t tag)
{
	if (tag == GNI_SMSG_ANY_TAG) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "the tag 0x%x stands for any tag", GNI_SMSG_ANY_TAG);
	return send(ep_hndl, {{header, header_length}, {data, data_length}, msg_id, tag}, true, __func__);
}
