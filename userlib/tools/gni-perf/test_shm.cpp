// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Floor of the ping-pong: the same between the same machines without a NIC.
 */
#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "rounds.h"
#include "shm.h"
#include "tests.h"

namespace perf
{

void test_shm(Context &context)
{
	SharedBar bar;
	*bar.word(0) = 0;
	*bar.word(1) = 0;
	const uint64_t rounds = warm_rounds + uint64_t{20} * context.options.iterations;
	context.peer.send(Ask::Shm, {}, rounds);

	tools::Deadline deadline = context.job.deadline();
	Samples samples = time_rounds(rounds, [&](uint64_t n) { shm_ping(bar, n, deadline); });
	context.peer.answer();

	Row row = timed_row("shm", samples, "half round trip, plain shared memory");
	row.size = 8;
	row.transfers = 2 * rounds;
	context.report.add(row);
}

} // namespace perf
