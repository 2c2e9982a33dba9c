// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sending short messages: no system call, no lock. Header and data are copied
 * before the call returns. A message that fits the line with its credit word
 * (2,040 bytes) is one doorbell.
 */
#include "mmio.hpp"
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
 * The part that makes the message readable, @bytes of which are in the line. This first attempt puts the event of the
 * send into the queue. Return: ARIES_ST_*
 */
inline uint32_t put_last_part(const gni_nic *nic, uint32_t id, uint32_t bytes)
{
	fma_ring(nic, id, bytes, ARIES_FMA_PUT_SYNC, kSmsgType | ARIES_EV_LOCAL | ARIES_EV_REMOTE);
	return fma_last_status(nic);
}

/*
 * It failed with @status. When another attempt does not, readers of the queue mend the event of the first.
 * Return: whether the message has arrived
 */
[[gnu::noinline]] bool repeat_last_part(Sending m, uint32_t bytes, uint32_t status)
{
	gni_nic *nic = m.ep->nic;

	while (status != ARIES_ST_OK && m.repeat.again(status)) {
		fma_ring(nic, 0, bytes, ARIES_FMA_PUT_SYNC, kSmsgType | ARIES_EV_REMOTE);
		status = fma_last_status(nic);
	}
	if (status == ARIES_ST_OK)
		nic->requests[static_cast<uint16_t>(m.id)].state |= Request::kMended;
	return status == ARIES_ST_OK;
}

/* The event of a message whose first parts failed: an empty put raises it, readers of the queue add the status. */
void fail_early(const Sending &m, uint32_t status)
{
	gni_nic *nic = m.ep->nic;

	nic->requests[static_cast<uint16_t>(m.id)].state |= (status & 0x3f) << Request::kForcedShift;
	m.ep->cq->attention++;
	fma_ring(nic, m.id, 0, ARIES_FMA_PUT_LINE, kSmsgType | ARIES_EV_LOCAL);
}

/* More than the line takes. Return: whether the message has arrived */
[[gnu::noinline]] bool transmit_long(Sending m, const Stream &stream)
{
	const gni_nic *nic = m.ep->nic;
	uint32_t done = 0;
	uint32_t status = put_first_parts(m, stream, &done);

	if (status != ARIES_ST_OK) {
		fail_early(m, status);
		return false;
	}
	gather(nic->area + ARIES_DESC_LINE, stream, done, stream.bytes - done);
	fma_area(nic)->offset = (m.s->out.box.ring + m.place.at + done) & kOffsetMask;
	status = put_last_part(nic, m.id, stream.bytes - done);
	return status == ARIES_ST_OK || repeat_last_part(m, stream.bytes - done, status);
}

/* The peer has told what it released in a word of its own. Return: whether it is sound */
[[gnu::noinline]] bool take_credit(Smsg *s, uint64_t word)
{
	/* None: the owner may have cleared the mailbox. */
	if (word && !smsg_acknowledge(s, word)) {
		s->broken = true;
		return false;
	}
	s->credit_seen = word;
	return true;
}

/* Room for @length bytes in the mailbox: count of messages and ring. */
[[gnu::always_inline]] inline gni_return_t reserve(gni_nic *nic, Smsg *s, uint32_t length, SmsgPlace *place)
{
	const SmsgSender &out = s->out;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	uint64_t credit = __atomic_load_n(reinterpret_cast<const uint64_t *>(s->in.box.control), __ATOMIC_ACQUIRE);

	if (credit != s->credit_seen && !take_credit(s, credit)) [[unlikely]]
		return GNI_RC_INVALID_PARAM;
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

/* The peer has the message, and with it our credit word. */
inline void sent(Smsg *s, const SmsgPlace &place)
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

/*
 * A message that leaves no trace is not sent(): the next one takes its place.
 * @tagged: whether the limit is that of messages with a tag.
 */
[[gnu::always_inline]] inline gni_return_t send(gni_ep *ep, Part header, Part data, uint32_t msg_id, uint8_t tag,
						bool tagged)
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
	aries_fma_desc *area = smsg_fill(ep, s, msg_id);
	area->sync_offset = (s->out.box.slots + uint64_t{s->out.slot} * kSmsgWord) & kOffsetMask;
	area->sync_value = smsg_header(s->out.box.key, s->out.sent, bytes, tag);
	bytes += kSmsgWord;
	if (bytes > ARIES_DESC_LINE_BYTES) [[unlikely]] {
		const Stream stream = {{{&credit, kSmsgWord}, header, data}, bytes};
		if (transmit_long({ep, s, id, place, SmsgRepeat(ep->nic, s->repeats)}, stream))
			sent(s, place);
		return GNI_RC_SUCCESS;
	}
	char *line = ep->nic->area + ARIES_DESC_LINE;
	memcpy(line, &credit, kSmsgWord);
	append(append(line + kSmsgWord, header), data);
	area->offset = (s->out.box.ring + place.at) & kOffsetMask;
	uint32_t status = put_last_part(ep->nic, id, bytes);
	if (status == ARIES_ST_OK ||
	    repeat_last_part({ep, s, id, place, SmsgRepeat(ep->nic, s->repeats)}, bytes, status)) [[likely]]
		sent(s, place);
	return GNI_RC_SUCCESS;
}

} // namespace

UGNI_IN_ONE_PAGE(2048)
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			  uint32_t data_length, uint32_t msg_id)
{
	return send(ep_hndl, {header, header_length}, {data, data_length}, msg_id, 0, false);
}

UGNI_IN_ONE_PAGE(2048)
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			      uint32_t data_length, uint32_t msg_id, uint8_t tag)
{
	if (tag == GNI_SMSG_ANY_TAG)
		return GNI_RC_INVALID_PARAM;
	return send(ep_hndl, {header, header_length}, {data, data_length}, msg_id, tag, true);
}
