// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Half round trip of puts that the other side sees by polling its memory, or a queue.
 */
#include <cstring>

#include "channel.h"
#include "common/failure.h"
#include "echo.h"
#include "job.h"
#include "report.h"
#include "rounds.h"
#include "tests.h"

namespace perf
{

namespace
{

Row play(Context &context, uint64_t size, Seen seen)
{
	Job &job = context.job;
	const bool events = seen == Seen::ByEvent;
	const uint64_t rounds = uint64_t{10} * context.options.iterations + warm_rounds;
	memset(job.control() + control_ping, 0, control_ping_size);
	PingPong side(job, size, seen);
	context.peer.send(events ? Ask::PutRemote : Ask::Pingpong, {.size = size}, rounds);
	Samples samples = time_rounds(rounds, [&](uint64_t n) {
		side.send(n);
		side.await(n);
	});
	context.peer.answer();

	Row row = timed_row(events ? "put-remote" : "pingpong", samples,
			    events ? "half round trip, polling for the remote event"
				   : "half round trip, polling on memory");
	row.size = size;
	row.transfers = 2 * rounds;
	return row;
}

void play_sizes(Context &context, const std::vector<uint64_t> &sizes, Seen seen)
{
	for (uint64_t size : context.options.sizes.empty() ? sizes : context.options.sizes)
		if (size % 8 == 0 && size <= ping_max)
			context.report.add(play(context, size, seen));
}

} // namespace

void test_pingpong(Context &context)
{
	play_sizes(context, {8, 64, 1024}, Seen::InMemory);
}

void test_put_remote(Context &context)
{
	play_sizes(context, {8}, Seen::ByEvent);
}

} // namespace perf
