// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages: the state of one connection. What a mailbox looks like, and why, is said in gni_smsg.h. */
#ifndef UGNI_SMSG_HPP
#define UGNI_SMSG_HPP

#include "gni_entry.h"
#include "gni_smsg.h"
#include "objects.hpp"
#include "post.hpp"

namespace ugni
{

constexpr uint32_t kSmsgWord = GNI_SMSG_WORD;
constexpr uint32_t kSmsgPrefix = GNI_SMSG_PREFIX;

/** Words of the first line. */
enum SmsgControl : uint32_t {
	kSmsgCredit = GNI_SMSG_CREDIT,
	kSmsgIdentity = GNI_SMSG_IDENTITY,
	kSmsgReleased = GNI_SMSG_RELEASED,
	kSmsgLanding = GNI_SMSG_LANDING
};

using SmsgPlace = struct gni_smsg_place;

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
	bool asked;       /* the peer has been, once */
	bool known;       /* the sender's identity is known */
};

/** Why a send has to wait, or cannot be. */
enum SmsgObstacle : uint32_t {
	kSmsgBroken = 1,  /* the peer wrote what it must not */
	kSmsgUnsure = 2,  /* the fate of the last put is not known */
	kSmsgWaiting = 4, /* a message is being repeated */
	kSmsgMending = 8, /* messages that were lost later are */
	kSmsgHole = 16,   /* one of those stays away, and others were sent behind it */
};

/** A connection. Belongs to its endpoint. */
struct Smsg {
	SmsgSender out;
	SmsgReceiver in;
	uint32_t credits;
	uint32_t largest;   /* header and data of a message without a tag: msg_maxsize */
	uint32_t obstacles; /* SmsgObstacle */
	uint32_t events;    /* of the put that carries a message, as in a doorbell */
	uint32_t mending;   /* messages, with kSmsgMending */
	SmsgUnsure unsure;  /* with kSmsgUnsure */
	bool repeats;       /* GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT */
	uint64_t origin;    /* of the region that our mailbox is in: gni_hndl_origin() */
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
	return gni_smsg_header(s->out.key, s->out.sent, bytes, tag, s->out.turn);
}

/**
 * Moves @slot on, and returns what it was. Threads that share a connection without a lock lose messages, but it is one
 * of the connection's slots at any time: what is stored comes from one look.
 */
inline uint32_t smsg_advance(const Smsg *s, uint32_t *slot)
{
	const uint32_t was = __atomic_load_n(slot, __ATOMIC_RELAXED);

	__atomic_store_n(slot, was + 1 >= s->credits ? 0 : was + 1, __ATOMIC_RELAXED);
	return was;
}

/** The peer has the message at @place, and with it our credit word. */
inline void smsg_sent(Smsg *s, const SmsgPlace &place)
{
	SmsgSender &out = s->out;

	const uint32_t slot = out.slot; /* as smsg_advance() */
	const bool last = slot + 1 >= s->credits;

	s->taken[slot] = place.taken;
	out.used += place.taken;
	out.position = place.next;
	if (last)
		out.turn ^= GNI_SMSG_TURN;
	__atomic_store_n(&out.slot, last ? 0 : slot + 1, __ATOMIC_RELAXED);
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

	if (word != gni_smsg_credit(out.key, word >> 32))
		return false;
	/* Words are not read in the order they were written: an older one says nothing new. */
	if (static_cast<int32_t>(more) <= 0)
		return true;
	if (more > out.sent - out.acknowledged) [[unlikely]]
		return false;
	for (uint32_t n = more; n; n--)
		out.used -= s->taken[smsg_advance(s, &out.oldest)];
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
	uint32_t status; /* ARIES_ST_LATER: it is on its way, and may be lost yet */
	bool whole;      /* the put that makes the message readable has been rung */
};

/** Puts the message at @place into the peer's mailbox. @id: request for the event here, 0: none */
SmsgTry smsg_put(const gni_ep *ep, const Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id);
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
