// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Completion queues: creation, and reading without waiting. */
#include "cq.hpp"
#include "debug.hpp"
#include "gone.hpp"
#include "post.hpp"
#include "smsg_event.hpp"
#include "unsettled.hpp"

#include <cinttypes>

using namespace ugni;

namespace ugni
{

constinit Slab<gni_cq> queues;
constinit gni_cq no_queue{};

static constexpr const char *kGetEvent = "GNI_CqGetEvent";

/* Forgets posts whose events would go to @cq: no call can ask for them any more. */
static void drop_requests(gni_cq *cq)
{
	gni_nic *nic = cq->nic;

	/* All of them: the queue's room may be counted wrong, see mend.cpp. */
	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		Request &r = nic->requests[static_cast<uint16_t>(id)];
		if (!r.state || r.cq != cq)
			continue;
		cq->room += static_cast<uint32_t>(std::popcount(r.pending()));
		request_end(nic, r, id);
	}
}

constexpr uint32_t kLooksPerSlot = 16;

/* Slots from @read on to the first of @count that holds an entry; @count if none does. */
static uint64_t first_entry(const gni_cq *cq, uint64_t read, uint64_t count)
{
	uint64_t ahead = 0;

	while (ahead < count && !__atomic_load_n(&cq->slots[(read + ahead) & cq->mask], __ATOMIC_ACQUIRE))
		ahead++;
	return ahead;
}

void cq_resync(gni_cq *cq)
{
	const uint64_t read = cq->read.load(std::memory_order_relaxed);

	cq->looks = static_cast<uint32_t>(cq->mask + 1) * kLooksPerSlot;
	uint64_t ahead = first_entry(cq, read, cq->mask + 1);
	if (ahead > cq->mask)
		return;
	/* Entries come in order: those before the one that was found, if there are any, are there by now. */
	ahead = first_entry(cq, read, ahead);
	if (ahead) {
		debug("a queue was read by several threads at once: %u entries passed over",
		      static_cast<unsigned>(ahead));
		cq->read.store(read + ahead, std::memory_order_relaxed);
		__atomic_store_n(&cq_header(cq)->consumed, read + ahead, __ATOMIC_RELEASE);
	}
}

void cq_close(gni_cq *cq)
{
	if (!cq->retired)
		queues.retire(cq);
	cq->nic->queues.remove(cq);
	if (!cq->nic->checkpoint)
		sys::unmap(cq_header(cq), cq->mapped);
	queues.recycle(cq);
}

void cq_forget_registration(gni_cq *cq)
{
	cq->registrations--;
	if (!cq->retired || cq->registrations)
		return;
	if (!cq->nic->checkpoint)
		(void)kernel::cq_destroy(cq->nic->fd, cq->number, nullptr);
	cq_close(cq);
}

/* What the caller must see as the status of an entry when the library found the failure, not the NIC. */
static gni_cq_entry_t overlay(gni_cq *cq, gni_cq_entry_t entry)
{
	uint32_t source = gni_entry_source(entry);

	if ((source != ARIES_SRC_FMA && source != ARIES_SRC_BTE) || gni_entry_status(entry) ||
	    gni_entry_info(entry) > 2)
		return entry;
	const Request &r = cq->nic->requests[gni_entry_tid(entry)];
	if (r.state && r.cq == cq)
		entry |= static_cast<uint64_t>(r.forced()) << ARIES_CQE_STATUS_SHIFT;
	return entry;
}

gni_return_t cq_tend(gni_cq *cq, gni_cq_entry_t *out, HandlerDue *due)
{
	gni_nic *nic = cq->nic;

	if (nic->collectives)
		ce_advance(nic);
	if (!nic->unsettled.first())
		return nothing(GNI_RC_NOT_DONE);
	unsettled_tend(nic);
	const gni_cq_entry_t entry = unsettled_take(cq);
	return entry ? cq_deliver_special(cq, entry, out, due, kGetEvent) : nothing(GNI_RC_NOT_DONE);
}

/* Logs the failed operation, as far as it is known. */
[[gnu::cold, gnu::noinline]] static gni_return_t failure(const gni_cq *cq, gni_cq_entry_t entry, const char *call)
{
	char status[64] = "?";
	const Request &r = cq->nic->requests[gni_entry_tid(entry)];
	const bool post = !gni_entry_message(entry) && gni_entry_info(entry) != ARIES_INFO_REMOTE && r.pending() &&
			  r.cq == cq && !(r.state & Request::kSmsg);

	(void)GNI_CqErrorStr(entry, status, sizeof(status));
	if (!post)
		return refuse(GNI_RC_TRANSACTION_ERROR, call, "%s, event data %u", status,
			      static_cast<unsigned>(GNI_CQ_GET_INST_ID(entry)));
	return refuse(GNI_RC_TRANSACTION_ERROR, call,
		      "%s: post of type %d, %" PRIu64 " bytes, node %u, remote_addr 0x%" PRIx64
		      ", local_addr 0x%" PRIx64,
		      status, r.descriptor->type, r.descriptor->length, r.ep->remote_address, r.descriptor->remote_addr,
		      r.descriptor->local_addr);
}

UGNI_IN_ONE_PAGE(512)
gni_return_t cq_deliver_special(gni_cq *cq, gni_cq_entry_t entry, gni_cq_entry_t *out, HandlerDue *due,
				const char *call)
{
	if (entry == kGoneEntry) {
		*out = 0;
		return cq_gone(cq);
	}
	if (entry & ARIES_CQE_OVERRUN) {
		*out = entry;
		return refuse(GNI_RC_ERROR_RESOURCE, call, "the queue overran: events were lost");
	}
	if (!gni_entry_message(entry))
		*out = overlay(cq, entry);
	else
		*out = gni_entry_info(entry) == ARIES_INFO_LOCAL ? smsg_event(cq, entry) : entry;
	/* The send of this event is not settled: deliver the next event, if there is one. */
	if (!*out)
		return cq_next(cq, out, due);
	const gni_return_t rc = *out & ARIES_CQE_STATUS_MASK ? failure(cq, *out, call) : GNI_RC_SUCCESS;
	if (cq->handler && due)
		*due = cq;
	else if (cq->handler)
		cq->handler(out, cq->context);
	return rc;
}

gni_return_t cq_next(gni_cq *cq, gni_cq_entry_t *out, HandlerDue *due)
{
	if (!queues.valid(cq))
		return refuse(GNI_RC_INVALID_PARAM, kGetEvent, "%s", kNoQueue);
	const gni_cq_entry_t entry = cq_take(cq);
	if (!entry) {
		cq_missed(cq);
		return cq->nic->collectives || cq->nic->unsettled.first() ? cq_tend(cq, out, due)
									  : nothing(GNI_RC_NOT_DONE);
	}
	if (cq->attention || (entry & kSpecialEntry))
		return cq_deliver_special(cq, entry, out, due, kGetEvent);
	*out = entry;
	return GNI_RC_SUCCESS;
}

} // namespace ugni

namespace
{

constexpr uint32_t kKnownModes = GNI_CQ_BLOCKING | GNI_CQ_PHYS_PAGES | GNI_CQ_UNMANAGED;

bool slots_valid(const kgni_cq_create &arg)
{
	return std::has_single_bit(arg.entries) && arg.mmap_size >= ARIES_CQ_HEADER_BYTES + arg.entries * 8ULL;
}

gni_return_t map_queue(gni_cq *cq, const kgni_cq_create &arg, const char *call)
{
	void *p = slots_valid(arg) ? sys::map(cq->nic->fd, arg.mmap_size, true, arg.mmap_offset) : nullptr;

	if (!p)
		return refuse(GNI_RC_ERROR_NOMEM, call, "the queue cannot be mapped");
	cq->mapped = arg.mmap_size;
	cq->slots = reinterpret_cast<uint64_t *>(static_cast<char *>(p) + ARIES_CQ_HEADER_BYTES);
	cq->mask = arg.entries - 1;
	cq->room = arg.entries - 1;
	cq->looks = arg.entries * kLooksPerSlot;
	cq->number = arg.cq;
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_CqCreate(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_count, gni_cq_mode_t mode,
			  void (*handler)(gni_cq_entry_t *, void *), void *context, gni_cq_handle_t *cq_hndl)
{
	if (!nics.valid(nic_hndl) || !cq_hndl)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", cq_hndl ? kNoNic : kNull);
	if (entry_count == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a queue of 0 entries");
	const Locked lock(Subject::control, nic_hndl);
	if (!nics.valid(nic_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	if (mode & ~kKnownModes)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "mode 0x%x is not available", mode & ~kKnownModes);
	gni_cq *cq = queues.create();
	if (!cq)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "%s", kNoHandles);

	kgni_cq_create arg{};
	arg.entries = entry_count;
	arg.flags = mode & GNI_CQ_BLOCKING ? KGNI_CQ_BLOCKING : 0;
	arg.delay = mode & GNI_CQ_BLOCKING ? delay_count : 0;
	cq->nic = nic_hndl;
	cq->modes = mode;
	cq->handler = handler;
	cq->attention = handler != nullptr;
	cq->context = context;
	gni_return_t rc = kernel::cq_create(nic_hndl->fd, &arg);
	if (rc == GNI_RC_SUCCESS) {
		rc = map_queue(cq, arg, __func__);
		if (rc != GNI_RC_SUCCESS)
			(void)kernel::cq_destroy(nic_hndl->fd, arg.cq, nullptr);
	}
	if (rc != GNI_RC_SUCCESS) {
		queues.destroy(cq);
		return rc;
	}
	nic_hndl->queues.add(cq);
	*cq_hndl = cq;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqDestroy(gni_cq_handle_t cq_hndl)
{
	if (!queues.valid(cq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoQueue);
	const Locked lock(Subject::control, cq_hndl->nic);
	if (!queues.valid(cq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoQueue);
	if (cq_hndl->endpoints)
		return refuse(GNI_RC_ERROR_RESOURCE, __func__, "%u endpoints or channels name the queue",
			      cq_hndl->endpoints);
	/*
	 * Clients destroy a queue before the registrations that name it. The
	 * NIC's queue then lives on, unread, until the last of them ends.
	 */
	if (cq_hndl->registrations) {
		drop_requests(cq_hndl);
		queues.retire(cq_hndl);
		cq_hndl->retired = true;
		return GNI_RC_SUCCESS;
	}
	if (!cq_hndl->nic->checkpoint)
		fma_drain(cq_hndl->nic);
	gni_return_t rc =
		cq_hndl->nic->checkpoint ? GNI_RC_SUCCESS : kernel::cq_destroy(cq_hndl->nic->fd, cq_hndl->number);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	drop_requests(cq_hndl);
	cq_close(cq_hndl);
	return GNI_RC_SUCCESS;
}

UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data)
{
	if (!queues.reachable(cq_hndl, !event_data)) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", event_data ? kNoQueue : kNull);
	const uint64_t word = first_word(cq_hndl); /* magic and attention */
	if (static_cast<uint32_t>(word) != gni_cq::kMagic) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoQueue);
	gni_cq_entry_t entry = cq_take(cq_hndl);
	if (!entry) {
		cq_missed(cq_hndl);
		return cq_hndl->nic->collectives || cq_hndl->nic->unsettled.first()
			       ? cq_tend(cq_hndl, event_data, nullptr)
			       : nothing(GNI_RC_NOT_DONE);
	}
	if ((entry & kSpecialEntry) | word >> 32) [[unlikely]]
		return cq_deliver_special(cq_hndl, entry, event_data, nullptr, __func__);
	*event_data = entry;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq_hndl)
{
	if (!queues.valid(cq_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoQueue);
	gni_cq_entry_t entry = cq_peek(cq_hndl);
	if (!entry)
		return cq_hndl->kept.load(std::memory_order_relaxed) ? GNI_RC_SUCCESS : nothing(GNI_RC_NOT_DONE);
	if (!(entry & ARIES_CQE_OVERRUN)) [[likely]]
		return GNI_RC_SUCCESS;
	if (entry == kGoneEntry)
		return nic_gone(cq_hndl->nic);
	return refuse(GNI_RC_ERROR_RESOURCE, __func__, "the queue overran: events were lost");
}

/* The codes of local and global events are the bits of cq_mode; no request waits for code 0 or 3. */
static_assert(GNI_CQ_EVENT_TYPE_POST == 0 && ARIES_INFO_LOCAL == GNI_CQMODE_LOCAL_EVENT &&
	      ARIES_INFO_GLOBAL == GNI_CQMODE_GLOBAL_EVENT);

/* Failures, block transfers, posts with both events, and events that belong to no post. */
UGNI_IN_ONE_PAGE(512)
[[gnu::noinline]] static gni_return_t completed_any(gni_cq *cq, gni_cq_entry_t entry, gni_post_descriptor_t **out)
{
	uint32_t event = gni_entry_info(entry);
	uint32_t id = gni_entry_tid(entry);
	Request &r = cq->nic->requests[static_cast<uint16_t>(id)];

	*out = nullptr;
	if (!(r.pending() >> event & 1) || r.cq != cq || (entry & ARIES_CQE_TYPE_MASK) || (r.state & Request::kSmsg))
		return refuse(GNI_RC_DESCRIPTOR_ERROR, "GNI_GetCompleted",
			      "the event 0x%" PRIx64 " belongs to no post, or was completed before", entry);
	gni_post_descriptor_t *d = r.descriptor;
	*out = d;
	if (!(r.state & Request::kPartly)) {
		d->status = GNI_RC_SUCCESS;
		d->cq_mode_complete = 0;
	}
	d->cq_mode_complete |= static_cast<uint16_t>(event);
	if (entry & ARIES_CQE_STATUS_MASK)
		d->status = GNI_RC_TRANSACTION_ERROR;
	cq->room++;
	r.state &= ~(1U << event | Request::kPartly);
	if (r.pending())
		r.state |= Request::kPartly;
	else
		request_end(cq->nic, r, id);
	return entry & ARIES_CQE_STATUS_MASK ? told(GNI_RC_TRANSACTION_ERROR) : GNI_RC_SUCCESS;
}

UGNI_IN_ONE_PAGE(512)
gni_return_t GNI_GetCompleted(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data, gni_post_descriptor_t **post_descr)
{
	if (!queues.valid(cq_hndl) || !post_descr) [[unlikely]]
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", post_descr ? kNoQueue : kNull);

	/* The common case: the one event of an FMA post that went well. */
	uint32_t event = gni_entry_info(event_data);
	uint32_t id = gni_entry_tid(event_data);
	gni_nic *nic = cq_hndl->nic;
	Request &r = nic->requests[static_cast<uint16_t>(id)];
	if (r.state != 1U << event || r.cq != cq_hndl || r.ep->references == 1 ||
	    (event_data & (ARIES_CQE_TYPE_MASK | ARIES_CQE_STATUS_MASK))) [[unlikely]]
		return completed_any(cq_hndl, event_data, post_descr);
	gni_post_descriptor_t *d = r.descriptor;
	*post_descr = d;
	d->status = GNI_RC_SUCCESS;
	d->cq_mode_complete = static_cast<uint16_t>(event);
	cq_hndl->room++;
	r.ep->references--;
	r.state = 0;
	nic->requests.give(id);
	return GNI_RC_SUCCESS;
}
