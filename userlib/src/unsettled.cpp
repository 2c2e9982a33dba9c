// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * When messages that are not settled are tried again, and what becomes of their events. A lock keeps the list whole
 * for callers that do not serialise; nothing takes it before something has failed.
 */
#include "unsettled.hpp"
#include "gni_entry.h"

#include <cstdlib>

using namespace ugni;

namespace
{

/* Packets get lost now and then: so many attempts come at once. */
constexpr uint32_t kAtOnce = 2;
/* Then ways may be closed: pauses of 1 ms, twice as long each time, up to this. */
constexpr uint32_t kMostPauseMs = 256;

/* With the lock held, as all of these. */
void drop(gni_nic *nic, Unsettled *u)
{
	if (u->entry)
		u->cq->kept.fetch_sub(1, std::memory_order_relaxed);
	nic->unsettled.remove(u);
	free(u);
}

/* Who reads the event, now or later, finds the outcome in the request. */
void publish(gni_nic *nic, const Unsettled *u)
{
	Request &r = nic->requests[static_cast<uint16_t>(u->id)];

	r.state &= ~Request::kUnsettled;
	if (u->status == ARIES_ST_OK) {
		r.state |= Request::kMended;
		return;
	}
	r.state |= (u->status & 0x3f) << Request::kForcedShift;
	u->cq->attention++;
}

void end(gni_nic *nic, Unsettled *u)
{
	u->over = true;
	u->ended(u);
	if (u->entry)
		return;
	publish(nic, u);
	drop(nic, u);
}

/* Return: whether there may be another one */
bool attempt(gni_nic *nic, Unsettled *u)
{
	if (u->left) {
		u->left--;
		nic->statistics[GNI_STAT_SMSG_RETRANS_COUNT]++;
		const uint32_t status = u->again(u);
		if (u->posted)
			return true;
		u->status = status;
	}
	if (u->status != ARIES_ST_OK && u->left && gni_status_recoverable(u->status))
		return true;
	end(nic, u);
	return false;
}

/* @entry: the event of @u, if it was read */
void begin(Unsettled *u, uint64_t entry)
{
	gni_nic *nic = u->ep->nic;
	const Locked lock(Subject::unsettled, nic);

	nic->requests[static_cast<uint16_t>(u->id)].state |= Request::kUnsettled;
	u->over = false;
	u->entry = entry;
	u->pause_ms = 1;
	nic->unsettled.add(u);
	for (uint32_t n = 0; n < kAtOnce && !u->posted; n++) {
		if (!attempt(nic, u))
			return;
	}
	u->due_ms = sys::now_ms() + u->pause_ms;
}

/* The event of an attempt was read: @u is over, or the next attempt is scheduled. */
void answered(gni_nic *nic, Unsettled *u)
{
	u->posted = false;
	u->due_ms = sys::now_ms() + u->pause_ms;
	if (u->status == ARIES_ST_OK || !u->left || !gni_status_recoverable(u->status))
		end(nic, u);
}

Unsettled *find(const gni_nic *nic, uint32_t id)
{
	for (Unsettled *u = nic->unsettled.first(); u; u = u->next) {
		if (u->id == id)
			return u;
	}
	return nullptr;
}

} // namespace

namespace ugni
{

bool unsettled_any(gni_nic *nic, bool (*match)(const Unsettled *u, const void *what), const void *what)
{
	const Locked lock(Subject::unsettled, nic);

	for (const Unsettled *u = nic->unsettled.first(); u; u = u->next) {
		if (!u->over && match(u, what))
			return true;
	}
	return false;
}

void unsettled_begin(Unsettled *u)
{
	begin(u, 0);
}

void unsettled_lost(Unsettled *u, uint64_t entry)
{
	u->cq->kept.fetch_add(1, std::memory_order_relaxed);
	begin(u, entry);
}

void unsettled_posted(Unsettled *u)
{
	u->entry = 0;
	u->cq->kept.fetch_sub(1, std::memory_order_relaxed);
	u->posted = true;
}

void departed_keep(Request &r, Departed *m)
{
	m->local_event = r.local_event;
	r.copy = m;
	r.state |= Request::kCopied;
}

void departed_leave(Request &r, const Departed *m)
{
	r.local_event = m->local_event;
	r.state &= ~Request::kCopied;
}

bool departed_event(Request &r, uint64_t entry)
{
	Departed *m = r.copy;

	m->status = gni_entry_status(entry) & ~uint32_t{ARIES_ST_LOCAL};
	if (!gni_entry_status(entry) || !m->lost(m)) {
		departed_leave(r, m);
		free(m);
		return false;
	}
	unsettled_lost(m, entry);
	return true;
}

void unsettled_tend(gni_nic *nic)
{
	const Locked lock(Subject::unsettled, nic);
	const uint64_t now = sys::now_ms();

	for (Unsettled *u = nic->unsettled.first(), *next; u; u = next) {
		next = u->next;
		if (u->over || u->posted || now < u->due_ms)
			continue;
		if (u->pause_ms < kMostPauseMs)
			u->pause_ms *= 2;
		u->due_ms = now + u->pause_ms;
		(void)attempt(nic, u);
	}
}

bool unsettled_keep(gni_cq *cq, uint32_t id, uint64_t entry)
{
	const Locked lock(Subject::unsettled, cq->nic);
	Unsettled *u = find(cq->nic, id);

	if (!u || u->over)
		return false;
	const bool last = u->posted;
	if (last)
		u->status = gni_entry_status(entry) & ~uint32_t{ARIES_ST_LOCAL};
	if (last && u->status == ARIES_ST_OK) {
		answered(cq->nic, u);
		return false;
	}
	u->entry = entry;
	cq->kept.fetch_add(1, std::memory_order_relaxed);
	if (last)
		answered(cq->nic, u);
	return true;
}

uint64_t unsettled_take(gni_cq *cq)
{
	gni_nic *nic = cq->nic;
	const Locked lock(Subject::unsettled, nic);
	Unsettled *oldest = nullptr;

	for (Unsettled *u = nic->unsettled.first(); u; u = u->next) {
		if (u->over && u->entry && u->cq == cq)
			oldest = u;
	}
	if (!oldest)
		return 0;
	const uint64_t entry = oldest->entry;
	publish(nic, oldest);
	drop(nic, oldest);
	return entry;
}

void unsettled_leave(gni_ep *ep)
{
	gni_nic *nic = ep->nic;
	const Locked lock(Subject::unsettled, nic);

	for (Unsettled *u = nic->unsettled.first(), *next; u; u = next) {
		next = u->next;
		if (u->ep == ep && !u->over)
			end(nic, u);
	}
}

void unsettled_forget(gni_nic *nic, uint32_t id)
{
	const Locked lock(Subject::unsettled, nic);
	Unsettled *u = find(nic, id);

	if (!u)
		return;
	if (!u->over)
		u->ended(u);
	drop(nic, u);
}

void unsettled_close(gni_nic *nic)
{
	const Locked lock(Subject::unsettled, nic);

	while (Unsettled *u = nic->unsettled.first())
		drop(nic, u);
}

} // namespace ugni
