// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Half round trip of puts that the other side sees by polling its memory.
 */
#include <cinttypes>
#include <cstring>

#include "channel.h"
#include "common/failure.h"
#include "echo.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

namespace
{

Row play(Context &context, uint64_t size)
{
	Job &job = context.job;
	constexpr uint64_t warm = 100, together = 20;
	uint64_t rounds = uint64_t{10} * context.options.iterations + warm;
	memset(job.control() + control_ping, 0, control_ping_size);
	context.peer.send(Ask::Pingpong, {.size = size}, rounds);

	PingPong side(job, size);
	auto ping = [&](uint64_t n) {
		side.send(n);
		side.await(n);
	};
	/* Many rounds to one reading of the clock, which costs as much as a put. */
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
	context.peer.answer();

	Row row;
	row.test = "pingpong";
	row.size = size;
	row.transfers = 2 * rounds;
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.note = "half round trip, polling on memory";
	return row;
}

} // namespace

void test_pingpong(Context &context)
{
	const std::vector<uint64_t> sizes = {8, 64, 1024};
	for (uint64_t size : context.options.sizes.empty() ? sizes : context.options.sizes)
		if (size % 8 == 0 && size <= ping_max)
			context.report.add(play(context, size));
}

} // namespace perf
