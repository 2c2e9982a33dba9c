// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short messages: what a mailbox looks like, and the state of one connection.
 *
 * A mailbox is memory of the receiver that the peer writes and the receiver
 * polls. From the first 64-byte boundary in it:
 *
 *   one line        credit word: how many messages the peer has released
 *   maxcredit words header words, one a message, used in turn; rounded to lines
 *   the rest        ring of data in lines: credit word, then header and data
 *
 * One put with sync flag carries a message: data into the ring, then the header
 * word into its slot. The NIC promises that the flag is one store of 8 bytes
 * after the data, so who sees the header word sees the message. Longer messages
 * put their first part before that, without events.
 *
 * A slot and ring space are the sender's again when the peer has told so, in
 * the credit word that goes with each message, or in one of its own. The
 * receiver clears a slot on release, so a slot that is not 0 is a message, and
 * a check over the count of messages and a key of the connection tells damage.
 *
 * Both sides compute places from the lengths alone; nothing but these words is
 * exchanged. What a peer wrote is loaded once and checked.
 */
#ifndef UGNI_SMSG_HPP
#define UGNI_SMSG_HPP

#include "cq_entry.hpp"
#include "objects.hpp"
#include "post.hpp"

namespace ugni
{

constexpr uint32_t kSmsgLine = 64;
constexpr uint32_t kSmsgWord = 8;
/* Messages of the largest size that the smallest mailbox has room for; each release may split the ring at its end. */
constexpr uint32_t kSmsgLargest = 4;

constexpr uint32_t smsg_lines(uint32_t bytes)
{
	return (bytes + kSmsgLine - 1) / kSmsgLine * kSmsgLine;
}

constexpr uint64_t smsg_mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15;
	v ^= v >> 29;
	v *= 0xbf58476d1ce4e5b9;
	return v ^ v >> 32;
}

/** Header word: length 15:0, tag 23:16, ones 31:24, check over these, key and number of the message 63:32. */
constexpr uint64_t smsg_header(uint32_t key, uint64_t number, uint32_t length, uint8_t tag)
{
	uint64_t low = length | uint32_t{tag} << 16 | 0xff000000U;

	return low | smsg_mix((low | uint64_t{key} << 32) ^ smsg_mix(number + 1)) >> 32 << 32;
}

constexpr uint32_t smsg_header_length(uint64_t word)
{
	return static_cast<uint32_t>(word & 0xffff);
}

constexpr uint8_t smsg_header_tag(uint64_t word)
{
	return static_cast<uint8_t>(word >> 16);
}

/** @word is the header of message @number of the connection with @key. */
constexpr bool smsg_header_is(uint64_t word, uint32_t key, uint64_t number)
{
	return word == smsg_header(key, number, smsg_header_length(word), smsg_header_tag(word));
}

/** Credit word: messages released 63:16, check 15:0 (never 0). */
constexpr uint64_t smsg_credit(uint32_t key, uint64_t released)
{
	return released << 16 | (smsg_mix(released ^ uint64_t{key} << 16) >> 48 | 1);
}

/** Where the data of a message goes in the ring, and what it takes, the unused end of the ring included. */
struct SmsgPlace {
	uint32_t at;
	uint32_t taken;
	uint32_t next;
};

constexpr SmsgPlace smsg_place(uint32_t position, uint32_t ring_bytes, uint32_t length)
{
	uint32_t bytes = smsg_lines(kSmsgWord + length);
	uint32_t left = ring_bytes - position;
	uint32_t at = bytes <= left ? position : 0;

	return {at, at == position ? bytes : left + bytes, at + bytes == ring_bytes ? 0 : at + bytes};
}

/** One mailbox, as both sides see it; addresses are those of the process that owns it. */
struct SmsgMailbox {
	uint64_t control;
	uint64_t slots;
	uint64_t ring;
	uint32_t ring_bytes;
	uint32_t most; /* header and data of a message with a tag; not less than msg_maxsize */
	uint32_t key;  /* of the direction that writes into this mailbox */
	uint16_t mdh;
};

/** The sending half of a connection. */
struct SmsgSender {
	SmsgMailbox box; /* the peer's */
	uint64_t sent;
	uint64_t acknowledged; /* released by the peer, as far as we know */
	uint32_t slot;         /* of the next message */
	uint32_t oldest;       /* slot of the first one not acknowledged */
	uint32_t position;     /* in the ring */
	uint32_t used;         /* of the ring */
};

/** The receiving half. */
struct SmsgReceiver {
	SmsgMailbox box; /* our own */
	uint64_t released;
	uint64_t told; /* of these the peer knows */
	uint64_t word; /* header of the current message, 0 if there is none */
	uint32_t slot; /* of the next message, or the current one */
	uint32_t position;
	uint32_t untold_bytes;
	uint32_t wait; /* looks until a credit word that failed is sent again; 0: none is due */
	uint32_t backoff;
};

/** A connection. Belongs to its endpoint. */
struct Smsg {
	SmsgSender out;
	SmsgReceiver in;
	uint32_t credits;
	uint32_t largest;     /* header and data of a message without a tag: msg_maxsize */
	uint64_t credit_seen; /* credit word of the peer that was looked at last */
	bool repeats;         /* GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT */
	bool broken;          /* the peer wrote what it must not */
	uint32_t *taken;      /* of the ring, by slot of the message */
	Smsg *next;           /* when it is no connection any more */
};

/**
 * The connection of a handle, nullptr if either is none. Looked at once: another thread may end it meanwhile, and its
 * memory stays a connection's.
 */
inline Smsg *smsg_of(const gni_ep *ep)
{
	return endpoints.valid(ep) ? __atomic_load_n(&ep->smsg, __ATOMIC_RELAXED) : nullptr;
}

/** Event bits of all doorbells of short messages. */
constexpr uint64_t kSmsgType = GNI_CQ_EVENT_TYPE_SMSG << ARIES_EV_TYPE_SHIFT;

/** Whether @word, a credit word of the peer, is sound; takes what it says. */
inline bool smsg_acknowledge(Smsg *s, uint64_t word)
{
	SmsgSender &out = s->out;
	uint64_t released = word >> 16;

	if (word != smsg_credit(s->in.box.key, released) || released > out.sent)
		return false;
	/* Words are not read in the order they were written: an older one says nothing new. */
	while (out.acknowledged < released) {
		out.used -= s->taken[out.oldest];
		out.oldest = out.oldest + 1 >= s->credits ? 0 : out.oldest + 1;
		out.acknowledged++;
	}
	return true;
}

/** Repeats what failed with a status that may go away, as often as the NIC handle allows. */
class SmsgRepeat
{
public:
	explicit SmsgRepeat(gni_nic *nic, bool allowed) : nic_(nic), left_(allowed ? nic->smsg_retransmissions : 0U) {}
	/** Whether to ring again after @status; counts it. */
	bool again(uint32_t status);

private:
	gni_nic *nic_;
	uint32_t left_;
};

/** The FMA descriptor for a put towards the peer's mailbox. */
inline aries_fma_desc *smsg_fill(const gni_ep *ep, const Smsg *s, uint32_t msg_id)
{
	aries_fma_desc *area = fma_area(ep->nic);

	area->pe = ep->remote_address;
	area->mdh = s->out.box.mdh;
	area->dlvr_mode = ep->nic->smsg_delivery;
	area->local_mdh = 0;
	area->cq = static_cast<uint16_t>(ep->cq->number);
	area->reserved = 0;
	area->local_event = msg_id;
	area->remote_event = ep->events[1];
	return area;
}

} // namespace ugni

#endif
