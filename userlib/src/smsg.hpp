// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Short messages: connections, puts and refusals of this library. What a connection is, is in gni_smsg_conn.h. */
#ifndef UGNI_SMSG_HPP
#define UGNI_SMSG_HPP

#include "gni_entry.h"
#include "gni_smsg_conn.h"
#include "objects.hpp"
#include "post.hpp"

namespace ugni
{

constexpr uint32_t kSmsgWord = GNI_SMSG_WORD;
constexpr uint32_t kSmsgPrefix = GNI_SMSG_PREFIX;

using SmsgPlace = struct gni_smsg_place;
using SmsgSpot = struct gni_smsg_spot;

/** Why a send has to wait, or cannot be. */
enum SmsgObstacle : uint32_t {
	kSmsgBroken = GNI_SMSG_BROKEN,
	kSmsgUnsure = GNI_SMSG_UNSURE,
	kSmsgWaiting = 4, /* a message is being repeated */
	kSmsgMending = 8, /* messages that were lost later are */
	kSmsgHole = 16,   /* a lost message will not arrive, and others were sent after it */
};

/** A connection. Belongs to its endpoint. */
struct Smsg : gni_smsg_conn {
	uint32_t mending; /* messages, with kSmsgMending */
	Smsg *next;       /* in the list of unused connections */
};

inline bool smsg_broken(const Smsg *s)
{
	return s->obstacles & kSmsgBroken;
}

/**
 * The connection of a handle; nullptr if the handle is not valid, or has no connection. Loaded once, because another
 * thread may end the connection; its memory stays that of a connection.
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

/** The FMA descriptor for a put towards the peer's mailbox. */
inline aries_fma_desc *smsg_fill(const gni_ep *ep, const gni_smsg_conn *s, uint32_t msg_id)
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

using SmsgTry = struct gni_smsg_try;

/**
 * The first attempt to send has ended with @first, not ARIES_ST_OK. Return: SUCCESS if an event will come; as
 * nic_gone() if the NIC is gone.
 */
gni_return_t smsg_failed(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id, SmsgTry first);
/**
 * A send finds an obstacle. Return: SUCCESS: it is gone; NOT_DONE, INVALID_PARAM; TRANSACTION_ERROR: the peer does not
 * answer and the fate of an earlier message is not known, smsg_send_behind() is for those; as nic_gone().
 */
gni_return_t smsg_obstacle(gni_ep *ep, Smsg *s, const char *call);
/** Accepts a message to be put when the fate of the message before is known. Return: SUCCESS, NOT_DONE. */
gni_return_t smsg_send_behind(gni_ep *ep, Smsg *s, const SmsgText &text, const char *call);
/** A place for the event in the source queue, and a transaction id. Return: 0 if there is none. */
uint32_t smsg_reserve_event(gni_ep *ep);

} // namespace ugni

#endif
