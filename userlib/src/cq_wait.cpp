// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Waiting for events. All state is in the kernel while a thread sleeps, and no
 * lock is held: a thread may be cancelled there, and nowhere else.
 */
#include "debug.hpp"
#include "gone.hpp"
#include "unsettled.hpp"

#include <cstdlib>

using namespace ugni;

namespace
{

constexpr uint64_t kForever = ~uint64_t{0};
constexpr uint32_t kMostQueues = 64; /* of one request to the driver */
/* Queues of several NIC handles are asked in turn, each for this long. */
constexpr uint64_t kSliceMs = 2;
/* An endless wait checks its queues with this interval, because another thread may destroy them. */
constexpr uint64_t kLookMs = 250;
/* So often the kernel may say that there is an event when there is none; then the caller shall look. */
constexpr uint32_t kMostMisses = 4;

constexpr const char *kNotBlocking = "the queue was not created with GNI_CQ_BLOCKING";

class Deadline
{
public:
	explicit Deadline(uint64_t timeout_ms)
		: end_(timeout_ms == kForever ? kForever : saturated(sys::now_ms(), timeout_ms))
	{
	}
	uint64_t left() const
	{
		if (end_ == kForever)
			return kForever;
		uint64_t now = sys::now_ms();
		return now < end_ ? end_ - now : 0;
	}

private:
	static uint64_t saturated(uint64_t a, uint64_t b) { return a > kForever - b ? kForever : a + b; }
	uint64_t end_;
};

gni_return_t check(gni_cq *const *cqs, uint32_t count, const char *call)
{
	if (!cqs || count == 0 || count > kMostQueues)
		return refuse(GNI_RC_INVALID_PARAM, call, "%u queues: 1 to %u are possible", cqs ? count : 0,
			      kMostQueues);
	for (uint32_t i = 0; i < count; i++) {
		if (!queues.valid(cqs[i]))
			return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoQueue);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!(cqs[i]->modes & GNI_CQ_BLOCKING))
			return refuse(GNI_RC_ERROR_RESOURCE, call, "%s", kNotBlocking);
	}
	return GNI_RC_SUCCESS;
}

bool find_event(gni_cq *const *cqs, uint32_t count, uint32_t *which)
{
	for (uint32_t i = 0; i < count; i++) {
		if (cq_peek(cqs[i])) {
			*which = i;
			return true;
		}
	}
	return false;
}

bool any_masked(gni_cq *const *cqs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (cqs[i]->masked.load(std::memory_order_relaxed))
			return true;
	}
	return false;
}

/*
 * Sleeps on the queues that belong to @nic. Return: TIMEOUT if no queue got an event; SUCCESS, and in @which a queue
 * that did.
 */
gni_return_t sleep_on(const gni_nic *nic, gni_cq *const *cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which,
		      const Uncancelled &outer, const char *call)
{
	uint32_t numbers[kMostQueues] = {};
	uint32_t places[kMostQueues] = {};
	uint32_t n = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (cqs[i]->nic == nic) {
			places[n] = i;
			numbers[n++] = cqs[i]->number;
		}
	}
	gni_return_t rc = kernel::cq_wait(nic->fd, numbers, n, timeout_ms, &found, outer, call);
	if (rc == GNI_RC_SUCCESS && found < n)
		*which = places[found];
	return rc;
}

bool one_nic(gni_cq *const *cqs, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (cqs[i]->nic != cqs[0]->nic)
			return false;
	}
	return true;
}

/* What a wait is to return that ended with @rc. */
gni_return_t failure(gni_cq *cq, gni_return_t rc)
{
	if (!queues.valid(cq))
		return told(GNI_RC_INVALID_PARAM);
	const gni_return_t there = cq_there(cq);
	return there == GNI_RC_SUCCESS ? rc : there;
}

/*
 * Return: SUCCESS when queue *@which has an event, TIMEOUT, or an error. A
 * signal does not end the wait; destruction of a queue does.
 */
gni_return_t wait_any(gni_cq *const *cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which,
		      const Uncancelled &outer, const char *call)
{
	Deadline deadline(timeout_ms);
	const uint64_t most = one_nic(cqs, count) ? kLookMs : kSliceMs;

	for (uint32_t turn = 0, misses = 0;; turn = (turn + 1) % count) {
		gni_return_t rc = check(cqs, count, call);
		if (rc != GNI_RC_SUCCESS)
			return rc;
		if (find_event(cqs, count, which))
			return cq_there(cqs[*which]);
		uint64_t left = deadline.left();
		if (left == 0)
			return nothing(GNI_RC_TIMEOUT);
		if (left > most)
			left = most;
		rc = sleep_on(cqs[turn]->nic, cqs, count, left, which, outer, call);
		/* Another reader was faster each time, or the queue is out of step, which the read after this finds
		 * out. */
		if (rc == GNI_RC_SUCCESS && ++misses > kMostMisses)
			return rc;
		/* INVALID_STATE: a signal. */
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TIMEOUT && rc != GNI_RC_INVALID_STATE)
			return failure(cqs[turn], rc);
	}
}

/*
 * Collectives that wait for their turn and messages that are tried again are looked after while the thread waits: what
 * they wait for comes without an event.
 */
uint64_t slice_of(gni_cq *const *cqs, uint32_t count, uint64_t left)
{
	for (uint32_t i = 0; i < count; i++) {
		if ((cqs[i]->nic->collectives || cqs[i]->nic->unsettled.first()) && left > kSliceMs)
			return kSliceMs;
	}
	return left;
}

/* Tends the NIC handles of empty queues. As cq_next(), for the first queue that gets an event by that. */
gni_return_t tend(gni_cq *const *cqs, uint32_t count, gni_cq_entry_t *event, HandlerDue *due, uint32_t *which)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!cqs[i]->nic->collectives && !cqs[i]->nic->unsettled.first()) [[likely]]
			continue;
		const gni_return_t rc = cq_tend(cqs[i], event, due);
		*which = i;
		if (rc != GNI_RC_NOT_DONE)
			return rc;
	}
	return nothing(GNI_RC_NOT_DONE);
}

gni_return_t vector_wait(gni_cq **cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which, const Uncancelled &outer,
			 const char *call)
{
	gni_return_t rc = check(cqs, count, call);

	if (rc != GNI_RC_SUCCESS)
		return rc;
	if (find_event(cqs, count, which))
		return cq_there(cqs[*which]);
	if (any_masked(cqs, count))
		return later(GNI_RC_NOT_DONE, call, "the interrupt of a queue is masked");
	return wait_any(cqs, count, timeout_ms, which, outer, call);
}

gni_return_t wait_event(gni_cq *cq, uint64_t timeout, gni_cq_entry_t *event, HandlerDue *due, const char *call)
{
	const Uncancelled whole;
	gni_return_t rc = check(&cq, 1, call);
	Deadline deadline(timeout);

	while (rc == GNI_RC_SUCCESS) {
		rc = cq_next(cq, event, due);
		if (rc != GNI_RC_NOT_DONE)
			return rc;
		uint32_t which = 0;
		const uint64_t left = deadline.left();
		const uint64_t slice = slice_of(&cq, 1, left);
		rc = wait_any(&cq, 1, slice, &which, whole, call);
		if (rc == GNI_RC_TIMEOUT && slice < left)
			rc = check(&cq, 1, call);
	}
	return rc;
}

gni_return_t vector_wait_event(gni_cq **cqs, uint32_t count, uint64_t timeout, gni_cq_entry_t *event, HandlerDue *due,
			       uint32_t *which, const char *call)
{
	const Uncancelled whole;
	Deadline deadline(timeout);

	for (;;) {
		gni_return_t rc = check(cqs, count, call);
		if (rc != GNI_RC_SUCCESS)
			return rc;
		rc = tend(cqs, count, event, due, which);
		if (rc != GNI_RC_NOT_DONE)
			return rc;
		const uint64_t left = deadline.left();
		const uint64_t slice = slice_of(cqs, count, left);
		rc = vector_wait(cqs, count, slice, which, whole, call);
		if (rc == GNI_RC_TIMEOUT && slice < left)
			continue;
		if (rc != GNI_RC_SUCCESS)
			return rc;
		/* Another thread may have been faster. */
		rc = cq_next(cqs[*which], event, due);
		if (rc != GNI_RC_NOT_DONE)
			return rc;
	}
}

} // namespace

namespace ugni
{

gni_return_t cq_monitor(gni_cq **cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which, const Uncancelled &outer,
			const char *call)
{
	return vector_wait(cqs, count, timeout_ms, which, outer, call);
}

} // namespace ugni

gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq_hndl, uint64_t timeout, gni_cq_entry_t *event_data)
{
	HandlerDue due = nullptr;

	if (!event_data)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const gni_return_t rc = wait_event(cq_hndl, timeout, event_data, &due, __func__);
	cq_handle(due, event_data);
	return rc;
}

gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout,
				   gni_cq_entry_t *event_data, uint32_t *which)
{
	HandlerDue due = nullptr;

	if (!event_data || !which)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const gni_return_t rc = vector_wait_event(cq_hndls, num_cqs, timeout, event_data, &due, which, __func__);
	cq_handle(due, event_data);
	return rc;
}

gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, uint32_t *which)
{
	const Uncancelled whole;

	if (!which)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const gni_return_t rc = check(cq_hndls, num_cqs, __func__);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	/* Tending is left to the thread that reads the queue: this thread may not be allowed to. */
	const uint64_t slice = slice_of(cq_hndls, num_cqs, timeout);
	const gni_return_t waited = vector_wait(cq_hndls, num_cqs, slice, which, whole, __func__);
	if (waited != GNI_RC_TIMEOUT || slice == timeout)
		return waited;
	*which = 0;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq_hndl)
{
	if (!queues.valid(cq_hndl) || !(cq_hndl->modes & GNI_CQ_BLOCKING))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", queues.valid(cq_hndl) ? kNotBlocking : kNoQueue);
	cq_hndl->masked.fetch_add(1);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq_hndl)
{
	if (!queues.valid(cq_hndl) || !(cq_hndl->modes & GNI_CQ_BLOCKING))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", queues.valid(cq_hndl) ? kNotBlocking : kNoQueue);
	uint32_t count = cq_hndl->masked.load();
	do {
		if (count == 0)
			return refuse(GNI_RC_NOT_DONE, __func__, "the queue is not masked");
	} while (!cq_hndl->masked.compare_exchange_weak(count, count - 1));
	return GNI_RC_SUCCESS;
}
