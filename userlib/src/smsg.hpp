// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short messages: what a mailbox looks like, and the state of one connection.
 *
 * A mailbox is memory of the receiver that the peer writes and the receiver
 * polls. From the first 64-byte boundary in it:
 *
 *   one line        credit word, which the peer writes; then words of the owner: identity, messages
 *                   released, and a place for what it reads from the peer's mailbox
 *   maxcredit words header words, one a message, used in turn; rounded to lines
 *   the rest        ring of data in lines: credit word, identity of the sender, then header and data
 *
 * Each word has one writer. One put with sync flag carries a message: data into the ring, then the header word into
 * its slot. The NIC promises that the flag is one store of 8 bytes after the data, so who sees the header word sees
 * the message. Longer messages put their first part before that, without events.
 *
 * The receiver leaves a slot as it is and remembers what it has read there, so a slot with another word has news, and
 * the slot tells the sender for ever whether a message has arrived. That settles what became of a put whose response
 * was lost: before anything else is sent the sender reads the slot back (smsg_repeat.cpp). A message is written again
 * only when it is known not to be there.
 *
 * A slot and ring space are the sender's again when the peer has released the message. The peer tells so in the
 * credit word that goes with each message, or in one of its own. That one may get lost: a sender without room
 * reads how much is released from the peer's mailbox.
 *
 * The identity is another one for each connection. The header's check covers it, so what an earlier
 * connection of the same mailboxes has left is no message of this one.
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
/* Credit word and identity, in front of each message: it begins at a multiple of 16. */
constexpr uint32_t kSmsgPrefix = 16;

/** Words of the first line. */
enum SmsgControl : uint32_t { kSmsgCredit, kSmsgIdentity, kSmsgReleased, kSmsgLanding };

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

constexpr uint32_t kSmsgTurn = 1U << 24;
constexpr uint32_t kSmsgOnes = 0xfe000000;

/**
 * Header word: length 15:0, tag 23:16, turn 24, ones 31:25, check over these, key and number of the message 63:32.
 * @turn: 0 or kSmsgTurn, the other one each time that the slots begin again: two words in a row of one slot differ
 * whatever the check is, and with them what the receiver remembers and what the sender reads back.
 */
constexpr uint64_t smsg_header(uint32_t key, uint64_t number, uint32_t length, uint8_t tag, uint32_t turn)
{
	const uint64_t low = length | uint32_t{tag} << 16 | turn | kSmsgOnes;

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
	return word == smsg_header(key, number, smsg_header_length(word), smsg_header_tag(word),
				   static_cast<uint32_t>(word) & kSmsgTurn);
}

/** Credit word: messages released modulo 2^32 63:32, check 31:0 (never 0). */
constexpr uint64_t smsg_credit(uint32_t key, uint64_t released)
{
	return released << 32 | (smsg_mix((released & 0xffffffff) ^ uint64_t{key} << 32) >> 32 | 1);
}

/** Identity word: the sender's number of this connection 63:32, check 31:0. @key: of the two mailboxes. */
constexpr uint64_t smsg_identity(uint32_t key, uint32_t nonce)
{
	return uint64_t{nonce} << 32 | (smsg_mix(nonce ^ uint64_t{key} << 32) >> 32 | 1);
}

/** The key of a connection: that of the two mailboxes, and of who sends. */
constexpr uint32_t smsg_key(uint32_t key, uint32_t nonce)
{
	return static_cast<uint32_t>(smsg_mix(uint64_t{key} << 32 | nonce) >> 32);
}

/** Where the data of a message goes in the ring, and what it takes, the unused end of the ring included. */
struct SmsgPlace {
	uint32_t at;
	uint32_t taken;
	uint32_t next;
};

constexpr SmsgPlace smsg_place(uint32_t position, uint32_t ring_bytes, uint32_t length)
{
	uint32_t bytes = smsg_lines(kSmsgPrefix + length);
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

/** A message that was put and perhaps is not there. */
struct SmsgUnsure {
	uint64_t header;
	SmsgPlace place;
};

/** The sending half of a connection. */
struct SmsgSender {
	SmsgMailbox box;   /* the peer's */
	uint64_t identity; /* goes with each message */
	uint64_t sent;
	uint64_t acknowledged; /* released by the peer, as far as we know */
	uint64_t told_seen;    /* credit word of the peer's own that was looked at last */
	uint64_t credit_seen;  /* the same, of those that come with messages */
	uint32_t key;          /* of messages and of credits for them: that of the mailboxes, and the identity */
	uint32_t slot;         /* of the next message */
	uint32_t turn;         /* of its header */
	uint32_t oldest;       /* slot of the first one not acknowledged */
	uint32_t position;     /* in the ring */
	uint32_t used;         /* of the ring */
	uint32_t refused;      /* sends for want of room, since there was some */
	uint32_t pause_ms;     /* from one reading of what is released to the next */
	uint64_t look_ms;      /* when it is read next */
};

/** The receiving half. */
struct SmsgReceiver {
	SmsgMailbox box; /* our own */
	uint64_t released;
	uint64_t told;   /* of these the peer knows */
	uint64_t credit; /* credit word that tells all that is released; 0: nothing is */
	uint64_t word;   /* header of the current message, 0 if there is none */
	uint32_t key;    /* as the sender's, when it is known */
	uint32_t slot;   /* of the next message, or the current one */
	uint32_t position;
	uint32_t untold_bytes;
	uint32_t found;   /* messages that were there when the connection began, until it is known whose they are */
	uint64_t earlier; /* credit word that told all that was released when the connection began */
	uint32_t looks;   /* for them, see smsg_newcomer.cpp */
	bool known;       /* the sender's identity is known */
};

/** Why a send has to wait, or cannot be. */
enum SmsgObstacle : uint32_t {
	kSmsgBroken = 1,  /* the peer wrote what it must not */
	kSmsgUnsure = 2,  /* the fate of the last put is not known */
	kSmsgWaiting = 4, /* a message is being repeated */
};

/** A connection. Belongs to its endpoint. */
struct Smsg {
	SmsgSender out;
	SmsgReceiver in;
	uint32_t credits;
	uint32_t largest;   /* header and data of a message without a tag: msg_maxsize */
	uint32_t obstacles; /* SmsgObstacle */
	uint32_t events;    /* of the put that carries a message, as in a doorbell */
	SmsgUnsure unsure;  /* with kSmsgUnsure */
	bool repeats;       /* GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT */
	uint64_t origin;    /* of the region that our mailbox is in: mem_origin() */
	uint32_t *taken;    /* of the ring, by slot of the message */
	uint64_t *last;     /* header words that were read, by slot */
	Smsg *next;         /* when it is no connection any more */
};

inline bool smsg_broken(const Smsg *s)
{
	return s->obstacles & kSmsgBroken;
}

/**
 * The connection of a handle, nullptr if either is none. Looked at once: another thread may end it meanwhile, and its
 * memory stays a connection's.
 */
inline Smsg *smsg_of(const gni_ep *ep)
{
	return endpoints.valid(ep) ? __atomic_load_n(&ep->smsg, __ATOMIC_RELAXED) : nullptr;
}

/** Refuses a call on @ep, which has no connection. */
[[gnu::cold, gnu::noinline]] gni_return_t smsg_none(const gni_ep *ep, const char *call);

constexpr const char *kSmsgDamaged = "the peer has written what is no message and no credit";
constexpr const char *kSmsgNoEvent = "the source queue has no room for more events, or no transaction id is free";

/** Event bits of all doorbells of short messages. */
constexpr uint64_t kSmsgType = GNI_CQ_EVENT_TYPE_SMSG << ARIES_EV_TYPE_SHIFT;

/** Word @which of the first line of our own mailbox. */
inline uint64_t *smsg_own(const Smsg *s, SmsgControl which)
{
	return reinterpret_cast<uint64_t *>(s->in.box.control) + which; // NOLINT(performance-no-int-to-ptr)
}

inline char *smsg_ring(const Smsg *s, const SmsgPlace &place)
{
	return reinterpret_cast<char *>(s->in.box.ring + place.at); // NOLINT(performance-no-int-to-ptr)
}

/** Header word of the next message. */
inline uint64_t smsg_next_header(const Smsg *s, uint32_t bytes, uint8_t tag)
{
	return smsg_header(s->out.key, s->out.sent, bytes, tag, s->out.turn);
}

/** The peer has the message at @place, and with it our credit word. */
inline void smsg_sent(Smsg *s, const SmsgPlace &place)
{
	SmsgSender &out = s->out;

	s->taken[out.slot] = place.taken;
	out.used += place.taken;
	out.position = place.next;
	if (++out.slot >= s->credits) {
		out.slot = 0;
		out.turn ^= kSmsgTurn;
	}
	out.sent++;
	s->in.told = s->in.released;
	s->in.untold_bytes = 0;
}

/**
 * Whether @word, a credit word of the peer that has not been looked at, is sound; takes what it says. One that tells of
 * a message whose fate is not known is left to smsg_acknowledge().
 */
inline bool smsg_acknowledge_known(Smsg *s, uint64_t word)
{
	SmsgSender &out = s->out;
	const auto more = static_cast<uint32_t>(word >> 32) - static_cast<uint32_t>(out.acknowledged);

	if (word != smsg_credit(out.key, word >> 32))
		return false;
	/* Words are not read in the order they were written: an older one says nothing new. */
	if (static_cast<int32_t>(more) <= 0)
		return true;
	if (more > out.sent - out.acknowledged) [[unlikely]]
		return false;
	for (uint32_t n = more; n; n--) {
		out.used -= s->taken[out.oldest];
		out.oldest = out.oldest + 1 >= s->credits ? 0 : out.oldest + 1;
	}
	out.acknowledged += more;
	out.refused = 0;
	return true;
}

/** The same for every credit word. */
bool smsg_acknowledge(Smsg *s, uint64_t word);

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

/* Data of a message, from its caller's memory. */
struct SmsgPart {
	const void *from;
	uint32_t bytes;
};

/* A message as its caller handed it over. */
struct SmsgText {
	SmsgPart header;
	SmsgPart data;
	uint32_t msg_id;
	uint8_t tag;

	uint32_t bytes() const { return header.bytes + data.bytes; }
};

/** What became of an attempt. */
struct SmsgTry {
	uint32_t status;
	bool whole; /* the put that makes the message readable has been rung */
};

/** Puts the message at @place into the peer's mailbox, without an event here. */
SmsgTry smsg_put(const gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place);
/**
 * The first attempt to send has ended with @first, not ARIES_ST_OK. Return: SUCCESS: its event or another one comes;
 * what nic_gone() says of a NIC that is not there.
 */
gni_return_t smsg_failed(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id, SmsgTry first);
/**
 * A send finds an obstacle. Return: SUCCESS: it is gone; NOT_DONE, INVALID_PARAM; TRANSACTION_ERROR: the peer does not
 * answer and the fate of an earlier message is not known, smsg_send_behind() is for those; as nic_gone().
 */
gni_return_t smsg_obstacle(gni_ep *ep, Smsg *s, const char *call);
/** Accepts a message whose turn comes when the fate of the one before is known. Return: SUCCESS, NOT_DONE. */
gni_return_t smsg_send_behind(gni_ep *ep, Smsg *s, const SmsgText &text, const char *call);
/** A place for the event in the source queue, and a transaction id. Return: 0 if there is none. */
uint32_t smsg_reserve_event(gni_ep *ep);
/** There is no room: asks the peer what it has released, now and then. */
void smsg_ask_credit(gni_ep *ep, Smsg *s);
/** Reads the word at @offset of the peer's mailbox. Return: ARIES_ST_* */
uint32_t smsg_read(const gni_ep *ep, const Smsg *s, uint64_t offset, uint64_t *word);

/** What is in our mailbox when a connection begins is the peer's, or of an earlier one; see smsg_newcomer.cpp. */
void smsg_take_stock(Smsg *s);
/** @word, in the first slot, is the first message of a connection: takes its sender for the peer. Return: whether */
bool smsg_adopt(Smsg *s, uint64_t word);
/** Whom @word is from that lies in the first slot and is no first message. */
enum class SmsgOrigin { kUnknown, kEarlier, kDamaged };
/** The peer is not known yet, and may have sent @word in an earlier connection; it is asked. */
SmsgOrigin smsg_origin(gni_ep *ep, Smsg *s, uint64_t word);
/** Nothing new, but messages were there when the connection began. Return: whether it is worth to look once more. */
bool smsg_consider(gni_ep *ep, Smsg *s);

} // namespace ugni

#endif
