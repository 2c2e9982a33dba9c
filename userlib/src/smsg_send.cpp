// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sending short messages: no system call, no lock. Header and data are copied
 * before the call returns. A message that fits the line with its credit word
 * (2,040 bytes) is one doorbell.
 */
#include "smsg.hpp"

#include <cstring>

using namespace ugni;

namespace
{

struct Part {
	const void *from;
	uint32_t bytes;
};

/* Credit word, header, data: one stream of bytes. */
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

/* The whole of a short stream; what latency is measured with. */
void gather_all(char *line, const Stream &stream)
{
	for (const Part &p : stream.parts) {
		if (p.bytes)
			memcpy(line, p.from, p.bytes);
		line += p.bytes;
	}
}

struct Sending {
	gni_ep *ep;
	Smsg *s;
	uint32_t id;
	SmsgPlace place;
	SmsgRepeat repeat;
};

/*
 * Everything but the last part. Return: ARIES_ST_*; how much is there in @done.
 */
uint32_t put_first_parts(Sending &m, const Stream &stream, uint32_t *done)
{
	const gni_nic *nic = m.ep->nic;
	uint64_t start = m.s->out.box.ring + m.place.at;

	while (stream.bytes - *done > ARIES_DESC_LINE_BYTES) {
		gather(nic->area + ARIES_DESC_LINE, stream, *done, ARIES_DESC_LINE_BYTES);
		fma_area(nic)->offset = (start + *done) & kOffsetMask;
		uint32_t status;
		do
			status = fma_ring_piece(nic, ARIES_DESC_LINE_BYTES, ARIES_FMA_PUT_LINE);
		while (status != ARIES_ST_OK && m.repeat.again(status));
		if (status != ARIES_ST_OK)
			return status;
		*done += ARIES_DESC_LINE_BYTES;
	}
	return ARIES_ST_OK;
}

/*
 * The part that makes the message readable. The first attempt puts the event of
 * the send into the queue; when it failed and another one does not, readers of
 * the queue mend that event.
 */
uint32_t put_last_part(Sending &m, const Stream &stream, uint32_t done)
{
	const gni_nic *nic = m.ep->nic;
	uint32_t bytes = stream.bytes - done;

	if (done)
		gather(nic->area + ARIES_DESC_LINE, stream, done, bytes);
	else
		gather_all(nic->area + ARIES_DESC_LINE, stream);
	fma_area(nic)->offset = (m.s->out.box.ring + m.place.at + done) & kOffsetMask;
	fma_ring(nic, m.id, bytes, ARIES_FMA_PUT_SYNC, kSmsgType | ARIES_EV_LOCAL | ARIES_EV_REMOTE);
	uint32_t status = fma_last_status(nic);
	if (status == ARIES_ST_OK) [[likely]]
		return status;
	while (status != ARIES_ST_OK && m.repeat.again(status)) {
		fma_ring(nic, 0, bytes, ARIES_FMA_PUT_SYNC, kSmsgType | ARIES_EV_REMOTE);
		status = fma_last_status(nic);
	}
	if (status == ARIES_ST_OK)
		m.ep->nic->requests[static_cast<uint16_t>(m.id)].state |= Request::kMended;
	return status;
}

/* The event of a message whose first parts failed: an empty put raises it, readers of the queue add the status. */
void fail_early(const Sending &m, uint32_t status)
{
	gni_nic *nic = m.ep->nic;

	nic->requests[static_cast<uint16_t>(m.id)].state |= (status & 0x3f) << Request::kForcedShift;
	m.ep->cq->attention++;
	fma_ring(nic, m.id, 0, ARIES_FMA_PUT_LINE, kSmsgType | ARIES_EV_LOCAL);
}

/* Return: whether the message has arrived. A message that has not leaves no trace: the next one takes its place. */
bool transmit(Sending &m, const Stream &stream, uint64_t word, uint32_t msg_id)
{
	const SmsgSender &out = m.s->out;
	aries_fma_desc *area = smsg_fill(m.ep, m.s, msg_id);
	uint32_t done = 0;

	area->sync_offset = (out.box.slots + uint64_t{out.slot} * kSmsgWord) & kOffsetMask;
	area->sync_value = word;
	if (stream.bytes > ARIES_DESC_LINE_BYTES) {
		uint32_t status = put_first_parts(m, stream, &done);
		if (status != ARIES_ST_OK) {
			fail_early(m, status);
			return false;
		}
	}
	return put_last_part(m, stream, done) == ARIES_ST_OK;
}

/* Room for @length bytes in the mailbox: count of messages and ring. */
gni_return_t reserve(gni_nic *nic, Smsg *s, uint32_t length, SmsgPlace *place)
{
	const SmsgSender &out = s->out;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	uint64_t credit = __atomic_load_n(reinterpret_cast<const uint64_t *>(s->in.box.control), __ATOMIC_ACQUIRE);

	if (credit && !smsg_acknowledge(s, credit)) {
		s->broken = true;
		return GNI_RC_INVALID_PARAM;
	}
	if (out.sent - out.acknowledged == s->credits) {
		nic->statistics[GNI_STAT_SMSG_MBOX_CREDITS_STALL]++;
		return GNI_RC_NOT_DONE;
	}
	*place = smsg_place(out.position, out.box.ring_bytes, length);
	if (place->taken > out.box.ring_bytes - out.used) {
		nic->statistics[GNI_STAT_SMSG_BUFF_CREDITS_STALL]++;
		return GNI_RC_NOT_DONE;
	}
	return GNI_RC_SUCCESS;
}

/* A place for the event in the source queue, and a transaction id. Return: 0 if there is none. */
uint32_t reserve_event(gni_ep *ep)
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

/* The peer has the message, and with it our credit word. */
void sent(Smsg *s, const SmsgPlace &place)
{
	SmsgSender &out = s->out;

	s->taken[out.slot] = place.taken;
	out.used += place.taken;
	out.position = place.next;
	out.slot = out.slot + 1 >= s->credits ? 0 : out.slot + 1;
	out.sent++;
	s->in.told = s->in.released;
	s->in.untold_bytes = 0;
	s->in.wait = 0;
	s->in.backoff = 0;
}

/* @tagged: whether the limit is that of messages with a tag. */
gni_return_t send(gni_ep *ep, const Part &header, const Part &data, uint32_t msg_id, uint8_t tag, bool tagged)
{
	Smsg *s = smsg_of(ep);

	if (!s || s->broken)
		return GNI_RC_INVALID_PARAM;
	if ((!header.from && header.bytes) || (!data.from && data.bytes))
		return GNI_RC_INVALID_PARAM;
	uint64_t length = uint64_t{header.bytes} + data.bytes;
	if (length > (tagged ? s->out.box.most : s->largest))
		return GNI_RC_ERROR_RESOURCE;
	uint32_t bytes = static_cast<uint32_t>(length);
	SmsgPlace place;
	gni_return_t rc = reserve(ep->nic, s, bytes, &place);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	uint32_t id = reserve_event(ep);
	if (!id)
		return GNI_RC_NOT_DONE;

	const uint64_t credit = smsg_credit(s->out.box.key, s->in.released);
	const Stream stream = {{{&credit, kSmsgWord}, header, data}, kSmsgWord + bytes};
	Sending m = {ep, s, id, place, SmsgRepeat(ep->nic, s->repeats)};
	if (transmit(m, stream, smsg_header(s->out.box.key, s->out.sent, bytes, tag), msg_id))
		sent(s, place);
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			  uint32_t data_length, uint32_t msg_id)
{
	return send(ep_hndl, {header, header_length}, {data, data_length}, msg_id, 0, false);
}

gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			      uint32_t data_length, uint32_t msg_id, uint8_t tag)
{
	if (tag == GNI_SMSG_ANY_TAG)
		return GNI_RC_INVALID_PARAM;
	return send(ep_hndl, {header, header_length}, {data, data_length}, msg_id, tag, true);
}
