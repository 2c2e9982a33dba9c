// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Floor of the ping-pong: the same between the same machines without a NIC.
 */
#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "shm.h"
#include "tests.h"

namespace perf
{

void test_shm(Context &context)
{
	SharedBar bar;
	*bar.word(0) = 0;
	*bar.word(1) = 0;
	constexpr uint64_t warm = 100, together = 20;
	uint64_t batches = context.options.iterations, rounds = warm + batches * together;
	context.peer.send(Ask::Shm, {}, rounds);

	tools::Deadline deadline = context.job.deadline();
	Samples samples;
	uint64_t round = 0;
	while (round < warm)
		shm_ping(bar, ++round, deadline);
	for (uint64_t batch = 0; batch < batches; batch++) {
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < together; n++)
			shm_ping(bar, ++round, deadline);
		samples.add((tools::now_ns() - start) / (2 * together));
	}
	context.peer.answer();

	Row row;
	row.test = "shm";
	row.size = 8;
	row.transfers = 2 * rounds;
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.note = "half round trip, plain shared memory";
	context.report.add(row);
}

} // namespace perf
