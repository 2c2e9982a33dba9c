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

namespace
{

/* FMA puts of more than 64 bytes are several packets, so every word is waited for, the last one first. */
void await(const Job &job, const uint64_t *words, size_t size, uint64_t round)
{
	for (size_t n = size / 8; n-- > 0;) {
		std::atomic_ref<const uint64_t> word(words[n]);
		auto there = [&] { return word.load(std::memory_order_acquire) == round; };
		if (!there() && !tools::poll_until(there, job.deadline()))
			throw Failure(format("ping-pong of %zu bytes: word %zu is %" PRIu64 ", expected %" PRIu64, size,
					     n, word.load(), round));
	}
}

uint64_t *inbox(const Job &job)
{
	return reinterpret_cast<uint64_t *>(job.control() + control_ping);
}

void send(const Job &job, uint64_t *message, size_t size, uint64_t round)
{
	for (size_t n = 0; n < size / 8; n++)
		message[n] = round;
	gni_post_descriptor_t put = job.control_put(job.partner(), control_ping, message, size);
	job.post(job.partner(), put);
	job.reap();
}

} // namespace

void echo(Job &job, size_t size, uint64_t rounds)
{
	if (size % 8 || size > ping_max)
		throw Failure("ping-pong of a size that is not possible");
	auto *message = reinterpret_cast<uint64_t *>(job.data());
	for (uint64_t round = 1; round <= rounds; round++) {
		await(job, inbox(job), size, round);
		send(job, message, size, round);
	}
}

void ping(Job &job, size_t size, uint64_t round)
{
	send(job, reinterpret_cast<uint64_t *>(job.data()), size, round);
	await(job, inbox(job), size, round);
}

} // namespace perf
