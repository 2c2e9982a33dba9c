// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Message queues: half round trip, and messages a second in one direction.
 */
#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "msgq.h"
#include "report.h"
#include "samples.h"
#include "tests.h"

namespace perf
{

namespace
{

Row exchange(Context &context, uint64_t size)
{
	constexpr uint64_t warm = 100, together = 20;
	uint64_t rounds = uint64_t{10} * context.options.iterations + warm;
	context.peer.send(Ask::Msgq, {.size = size}, rounds);
	Msgq queue(context.job, size); /* which needs the partner's */
	queue.await(0);

	auto ping = [&](uint64_t n) {
		queue.send(n);
		queue.await(n);
	};
	Samples samples;
	uint64_t round = 0;
	while (round < warm)
		ping(++round);
	while (round + together <= rounds) {
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < together; n++)
			ping(++round);
		samples.add((tools::now_ns() - start) / (2 * together));
	}
	while (round < rounds)
		ping(++round);

	uint64_t start = tools::now_ns();
	for (uint64_t n = 1; n <= rounds; n++)
		queue.send(n);
	queue.await(rounds);
	double seconds = static_cast<double>(tools::now_ns() - start) / 1e9;
	context.peer.answer();

	Row row;
	row.test = "msgq";
	row.size = size;
	row.transfers = 3 * rounds;
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.rate = static_cast<double>(rounds) / seconds;
	row.note = "half round trip with all events; rate: one direction";
	return row;
}

} // namespace

void test_msgq(Context &context)
{
	if (context.job.ranks() != 2)
		return; /* a message queue is the node's, not a pair's */
	const std::vector<uint64_t> sizes = {8, 56, 128};
	for (uint64_t size : context.options.sizes.empty() ? sizes : context.options.sizes)
		if (size && size % 8 == 0 && size <= msgq_max)
			context.report.add(exchange(context, size));
}

} // namespace perf
