// SPDX-License-Identifier: BSD-2-Clause
#include "echo.h"

#include <atomic>
#include <cinttypes>

#include "common/failure.h"
#include "job.h"

namespace perf
{

using tools::Failure;
using tools::format;

PingPong::PingPong(Job &job, size_t size)
	: job_(job), words_(size / 8), inbox_(reinterpret_cast<uint64_t *>(job.control() + control_ping)),
	  message_(reinterpret_cast<uint64_t *>(job.data())), endpoint_(job.endpoint(job.partner())),
	  queue_(job.source().handle()), put_(job.control_put(job.partner(), control_ping, message_, size)),
	  deadline_(job.deadline())
{
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
	for (size_t n = words_; n-- > 0;) {
		std::atomic_ref<const uint64_t> word(inbox_[n]);
		auto there = [&] { return word.load(std::memory_order_acquire) == round; };
		if (!tools::poll_until(there, deadline_))
			throw Failure(format("ping-pong of %zu bytes: word %zu is %" PRIu64 ", expected %" PRIu64,
					     8 * words_, n, word.load(), round));
	}
}

void echo(Job &job, size_t size, uint64_t rounds)
{
	PingPong side(job, size);
	for (uint64_t round = 1; round <= rounds; round++) {
		side.await(round);
		side.send(round);
	}
}

} // namespace perf
