// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Messages that are not settled when the call that sent them returns: the put failed with a temporary status, or it is
 * not known whether it has arrived. Calls that use the NIC handle (queues, mailboxes, further sends) repeat the put
 * with growing pauses. The event of such a send is held until its outcome is known.
 */
#ifndef UGNI_UNSETTLED_HPP
#define UGNI_UNSETTLED_HPP

#include "aries_hw.h"
#include "gni_entry.h"
#include "objects.hpp"

namespace ugni
{

struct Unsettled {
	/** Tries once more. Return: ARIES_ST_*; with @left 0 it is final. */
	uint32_t (*again)(Unsettled *u);
	/** The message is over, with @status. */
	void (*ended)(Unsettled *u);
	gni_ep *ep;
	gni_cq *cq; /* of the event */
	uint64_t due_ms;
	uint64_t entry; /* the event, when it has been read */
	uint32_t id;
	uint32_t status; /* of the last attempt */
	uint32_t left;   /* attempts */
	uint32_t pause_ms;
	bool over;   /* its event waits until the queue is read */
	bool posted; /* was put again: the next event tells the outcome */
	Unsettled *previous;
	Unsettled *next;
};

/** A message that has left and may get lost yet, as those for another host may. From malloc(). */
struct Departed : Unsettled {
	/** The message was lost, with @status. Return: false if its connection has ended. */
	bool (*lost)(Departed *m);
	uint32_t local_event; /* of its request, which has the pointer to this instead */
};

/** Whether an operation with this status may have been executed. */
inline bool status_unknown(uint32_t status)
{
	return status == ARIES_ST_TIMEOUT;
}

/** Whether @match(u, @what) holds for a message that is not over. */
bool unsettled_any(gni_nic *nic, bool (*match)(const Unsettled *u, const void *what), const void *what);
/** From now on @u is looked after; the first attempts are made at once. Takes the object, which malloc() has made. */
void unsettled_begin(Unsettled *u);
/** @u, which has left, was lost, as its event @entry tells: the same. */
void unsettled_lost(Unsettled *u, uint64_t entry);
/** For Unsettled::again(): the attempt has an event of its own, because the earlier event of @u was read. */
void unsettled_posted(Unsettled *u);
/** Keeps @m with its request @r until the event tells the outcome. */
void departed_keep(Request &r, Departed *m);
/** The reverse; @m stays. */
void departed_leave(Request &r, const Departed *m);
/** The event of a message with a copy: @entry. Return: whether it is kept back; if not the copy is gone. */
bool departed_event(Request &r, uint64_t entry);
/** Attempts that are due. */
void unsettled_tend(gni_nic *nic);
/** The event of request @id has been read: keeps it back. Return: false if the request is settled by now. */
bool unsettled_keep(gni_cq *cq, uint32_t id, uint64_t entry);
/** An event of @cq that was kept back and may be delivered now, 0 if there is none; its request tells the outcome. */
uint64_t unsettled_take(gni_cq *cq);
/** Ends the messages of @ep with their present status. */
void unsettled_leave(gni_ep *ep);
/** The request is forgotten. */
void unsettled_forget(gni_nic *nic, uint32_t id);
/** All of @nic are forgotten. */
void unsettled_close(gni_nic *nic);

} // namespace ugni

#endif
