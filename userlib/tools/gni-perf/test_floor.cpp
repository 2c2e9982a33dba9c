// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What the machine charges for the steps of a put. Each figure is the median over loops, since reading the clock costs
 * as much as a trap.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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

/* Samples are in picoseconds: a store into memory takes less than two nanoseconds. */
template <class Step> Row time_loop(const char *name, uint64_t loops, uint64_t steps, const char *note, Step step)
{
	Samples samples;
	for (uint64_t loop = 0; loop < loops; loop++) {
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < steps; n++)
			step(n);
		samples.add((tools::now_ns() - start) * 1000 / std::max<uint64_t>(steps, 1));
	}
	return timed_row(name, samples, note, 1000);
}

void put_again_and_again(Context &context, uint64_t size, uint64_t seed, uint64_t repeats, Samples &samples)
{
	Job &job = context.job;
	Layout layout;
	layout.size = size;
	layout.count = 1;
	layout.seed = seed;
	context.peer.call(Ask::Prepare, layout);
	tools::pattern_fill(job.data() + layout.at(0), size, seed);
	for (uint64_t n = 0; n < repeats; n++) {
		gni_post_descriptor_t d =
			job.transfer(GNI_POST_RDMA_PUT, job.partner(), layout.at(0), layout.at(0), size);
		uint64_t start = tools::now_ns();
		job.execute(job.partner(), d);
		samples.add(tools::now_ns() - start);
	}
	context.peer.call(Ask::Check, layout);
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

void test_bulk(Context &context)
{
	const std::vector<uint64_t> defaults = {1u << 20, 64u << 20};
	for (uint64_t size : context.options.sizes.empty() ? defaults : context.options.sizes) {
		if (size > context.options.max_size)
			continue;
		constexpr uint64_t rounds = 5;
		uint64_t repeats = std::clamp<uint64_t>((uint64_t{64} << 20) / size, 3, 50);
		Samples samples;
		for (uint64_t round = 0; round < rounds; round++)
			put_again_and_again(context, size, round + 1, repeats, samples);
		Row row = timed_row("bulk-put", samples, "block put, the same buffers again and again");
		row.size = size;
		row.transfers = rounds * repeats;
		row.bandwidth = static_cast<double>(size) * 1e9 / *row.p50_ns;
		context.report.add(row);
	}
}

} // namespace perf
