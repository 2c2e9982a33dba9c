// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "echo.h"

#include <atomic>
#include <cinttypes>

#include "common/failure.h"
#include "job.h"

namespace perf
{

using tools::Failure;
using tools::format;

PingPong::PingPong(Job &job, size_t size, Seen seen)
	: job_(job), seen_(seen), words_(size / 8), inbox_(reinterpret_cast<uint64_t *>(job.control() + control_ping)),
	  message_(reinterpret_cast<uint64_t *>(job.data())), endpoint_(job.endpoint(job.partner())),
	  queue_(job.source().handle()), put_(job.control_put(job.partner(), control_ping, message_, size)),
	  deadline_(job.deadline())
{
	if (seen == Seen::ByEvent) { /* of the two regions the data region has a queue */
		put_ = job.transfer(GNI_POST_FMA_PUT, job.partner(), 0, ping_max, size);
		put_.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
		inbox_ = reinterpret_cast<uint64_t *>(job.data() + ping_max);
	}
	if (size == 0 || size % 8 || size > ping_max)
		throw Failure("ping-pong of a size that is not possible");
}

void PingPong::send(uint64_t round)
{
	for (size_t n = 0; n < words_; n++)
		message_[n] = round;
	if (GNI_PostFma(endpoint_, &put_) != GNI_RC_SUCCESS)
		throw Failure(format("ping-pong: message %" PRIu64 " was not taken", round));
	/* While the message is on its way. */
	gni_cq_entry_t entry;
	gni_post_descriptor_t *done;
	if (GNI_CqGetEvent(queue_, &entry) != GNI_RC_SUCCESS)
		job_.reap();
	else if (GNI_GetCompleted(queue_, entry, &done) != GNI_RC_SUCCESS || done != &put_)
		throw Failure(format("ping-pong: message %" PRIu64 ": wrong completion", round));
}

/* A put of more than 64 bytes is several packets, so every word is waited for, the last one first. */
void PingPong::await(uint64_t round)
{
	if (seen_ == Seen::ByEvent)
		await_event(round);
	for (size_t n = words_; n-- > 0;) {
		std::atomic_ref<const uint64_t> word(inbox_[n]);
		auto there = [&] { return word.load(std::memory_order_acquire) == round; };
		if (!tools::poll_until(there, deadline_))
			throw Failure(format("ping-pong of %zu bytes: word %zu is %" PRIu64 ", expected %" PRIu64,
					     8 * words_, n, word.load(), round));
	}
}

/* Then the data is there, too. */
void PingPong::await_event(uint64_t round)
{
	gni_cq_entry_t entry = 0;
	gni_return_t rc = GNI_CqGetEvent(job_.sink().handle(), &entry);
	if (rc == GNI_RC_NOT_DONE)
		rc = job_.sink().poll(entry, deadline_);
	if (rc != GNI_RC_SUCCESS || GNI_CQ_GET_INST_ID(entry) != remote_event_of(job_.partner()))
		throw Failure(format("put %" PRIu64 ": remote event: %s", round, tools::rc_name(rc).c_str()));
	if (std::atomic_ref<const uint64_t>(inbox_[words_ - 1]).load(std::memory_order_acquire) != round)
		throw Failure(format("put %" PRIu64 ": its remote event came before its data", round));
}

void echo(Job &job, size_t size, uint64_t rounds, Seen seen)
{
	PingPong side(job, size, seen);
	for (uint64_t round = 1; round <= rounds; round++) {
		side.await(round);
		side.send(round);
	}
}

} // namespace perf
