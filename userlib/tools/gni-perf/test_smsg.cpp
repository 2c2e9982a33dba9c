// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Short messages: half round trip, and messages a second in one direction.
 */
#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "mail.h"
#include "report.h"
#include "rounds.h"
#include "tests.h"

namespace perf
{

namespace
{

Row exchange(Context &context, uint64_t size)
{
	const uint64_t rounds = uint64_t{10} * context.options.iterations + warm_rounds;
	Mail mail(context.job, size);
	context.peer.send(Ask::Smsg, {.size = size}, rounds);
	mail.await(0);
	Samples samples = time_rounds(rounds, [&](uint64_t n) {
		mail.send(n);
		mail.await(n);
	});

	uint64_t start = tools::now_ns();
	for (uint64_t n = 1; n <= rounds; n++)
		mail.send(n);
	mail.await(rounds);
	double seconds = static_cast<double>(tools::now_ns() - start) / 1e9;
	context.peer.answer();

	Row row = timed_row("smsg", samples, "half round trip with all events; rate: one direction");
	row.size = size;
	row.transfers = 3 * rounds;
	row.rate = static_cast<double>(rounds) / seconds;
	row.bandwidth = *row.rate * static_cast<double>(size);
	return row;
}

} // namespace

void test_smsg(Context &context)
{
	const std::vector<uint64_t> sizes = {8, 56, 1024, 8192};
	for (uint64_t size : context.options.sizes.empty() ? sizes : context.options.sizes)
		if (size && size % 8 == 0 && size <= mail_max)
			context.report.add(exchange(context, size));
}

} // namespace perf
