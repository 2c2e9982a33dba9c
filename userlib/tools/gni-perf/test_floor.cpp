// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * What the machine charges for the steps of a put, and a put in a loop. Each figure is the median over loops, since
 * reading the clock costs as much as a trap.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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

Row timed_row(const char *name, Samples &samples, const char *note)
{
	Row row;
	row.test = name;
	row.p50_ns = static_cast<double>(samples.percentile(50));
	row.p99_ns = static_cast<double>(samples.percentile(99));
	row.min_ns = static_cast<double>(samples.percentile(0));
	row.note = note;
	return row;
}

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
	Row row = timed_row(name, samples, note);
	for (auto *value : {&row.p50_ns, &row.p99_ns, &row.min_ns})
		**value /= 1000;
	return row;
}

constexpr unsigned put_batch = 64; /* puts between two looks at the clock */

/* A put from the call until its event is seen; it is there when the call returns, or soon. */
bool put_and_see(gni_ep_handle_t ep, gni_cq_handle_t cq, gni_post_descriptor_t &put, gni_cq_entry_t &entry)
{
	constexpr unsigned looks = 1u << 26;
	if (GNI_PostFma(ep, &put) != GNI_RC_SUCCESS)
		return false;
	gni_return_t rc = GNI_CqGetEvent(cq, &entry);
	for (unsigned look = 0; rc == GNI_RC_NOT_DONE && look < looks; look++)
		rc = GNI_CqGetEvent(cq, &entry);
	return rc == GNI_RC_SUCCESS;
}

/* The descriptors come back after the clock has been stopped. */
uint64_t time_batch(gni_ep_handle_t ep, gni_cq_handle_t cq, std::array<gni_post_descriptor_t, put_batch> &puts,
		    uint64_t &failures)
{
	std::array<gni_cq_entry_t, put_batch> entries{};
	uint64_t start = tools::now_ns();
	for (unsigned n = 0; n < put_batch; n++)
		failures += !put_and_see(ep, cq, puts[n], entries[n]);
	uint64_t spent = tools::now_ns() - start;
	for (unsigned n = 0; n < put_batch; n++) {
		gni_post_descriptor_t *done = nullptr;
		failures += GNI_GetCompleted(cq, entries[n], &done) != GNI_RC_SUCCESS || done != &puts[n];
	}
	return spent;
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

void test_put_event(Context &context)
{
	Job &job = context.job;
	uint64_t value = 0, failures = 0;
	std::array<gni_post_descriptor_t, put_batch> puts;
	for (gni_post_descriptor_t &put : puts) {
		put = job.control_put(job.partner(), control_amo, &value, sizeof(value));
		put.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
	}
	tools::CounterDelta traps(job.stats(), "fma_traps");
	const uint64_t batches = context.options.iterations * 32;
	Samples samples;
	for (uint64_t batch = 0; batch < batches; batch++) {
		value++;
		samples.add(time_batch(job.endpoint(job.partner()), job.source().handle(), puts, failures) * 1000 /
			    put_batch);
	}
	Row row = timed_row("put-event", samples, "8-byte put, from GNI_PostFma to its global event");
	for (auto *figure : {&row.p50_ns, &row.p99_ns, &row.min_ns})
		**figure /= 1000;
	row.size = 8;
	row.transfers = batches * put_batch;
	if (traps.value())
		row.traps = static_cast<double>(*traps.value()) / static_cast<double>(row.transfers);
	uint64_t arrived = context.peer.call(Ask::GetWord).value;
	if (failures)
		throw tools::Failure(tools::format("%llu puts did not end with their event",
						   static_cast<unsigned long long>(failures)));
	if (arrived != value)
		throw tools::Failure(tools::format("the last put stored %llu, the word is %llu",
						   static_cast<unsigned long long>(value),
						   static_cast<unsigned long long>(arrived)));
	context.report.add(row);
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
