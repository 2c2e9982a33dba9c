// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * What the machine charges for the steps of a put, and a put in a loop. Each figure is the median over loops, since
 * reading the clock costs as much as a trap.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "aries_hw.h"

#include "channel.h"
#include "common/failure.h"
#include "common/raw.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

namespace
{

constexpr uint64_t floor_loops = 51;

template <class Step> Row time_loop(const char *name, uint64_t loops, uint64_t steps, const char *note, Step step)
{
	Samples samples;
	for (uint64_t loop = 0; loop < loops; loop++) {
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < steps; n++)
			step(n);
		samples.add((tools::now_ns() - start) * 1000 / steps);
	}
	Row row;
	row.test = name;
	row.p50_ns = static_cast<double>(samples.percentile(50)) / 1000;
	row.p99_ns = static_cast<double>(samples.percentile(99)) / 1000;
	row.min_ns = static_cast<double>(samples.percentile(0)) / 1000;
	row.note = note;
	return row;
}

} // namespace

void test_floor(Context &context)
{
	const tools::Place &place = context.options.place;
	tools::RawAttachment raw(place.device, place.cookie);
	volatile uint64_t *bell = raw.bell(ARIES_DB_NULL);
	volatile uint64_t *line = raw.area() + ARIES_DESC_LINE / 8;
	Report &report = context.report;
	report.add(time_loop("null-mmio", floor_loops, 20000, "8-byte store to ARIES_DB_NULL",
			     [&](uint64_t n) { *bell = n; }));
	report.add(time_loop("bar-store", floor_loops, 200000, "8-byte store into the descriptor area",
			     [&](uint64_t n) { line[n % 64] = n; }));
	report.add(time_loop("syscall", floor_loops, 5000, "getppid", [](uint64_t) { syscall(SYS_getppid); }));
	report.add(time_loop("clock", floor_loops, 5000, "clock_gettime", [](uint64_t) { tools::now_ns(); }));
}

void test_put_event(Context &context)
{
	Job &job = context.job;
	uint64_t value = 0;
	gni_post_descriptor_t put = job.control_put(job.partner(), control_amo, &value, sizeof(value));
	put.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
	tools::CounterDelta traps(job.stats(), "fma_traps");
	constexpr uint64_t steps = 2000;
	uint64_t loops = context.options.iterations;
	Row row = time_loop("put-event", loops, steps,
			    "8-byte put, from GNI_PostFma to its global event and GNI_GetCompleted", [&](uint64_t) {
				    value++;
				    job.post(job.partner(), put);
				    job.reap();
			    });
	row.size = 8;
	row.transfers = loops * steps;
	if (traps.value())
		row.traps = static_cast<double>(*traps.value()) / static_cast<double>(row.transfers);
	uint64_t arrived = context.peer.call(Ask::GetWord).value;
	if (arrived != value)
		throw tools::Failure(tools::format("the last put stored %llu, the word is %llu",
						   static_cast<unsigned long long>(value),
						   static_cast<unsigned long long>(arrived)));
	context.report.add(row);
}

} // namespace perf
