// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Latency and bandwidth of a pair, with as many operations under way, as long and from as many threads as one likes.
 */
#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "channel.h"
#include "common/failure.h"
#include "common/pattern.h"
#include "job.h"
#include "report.h"
#include "stream.h"
#include "tests.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

struct Kind {
	const char *name;
	StreamOp op;
	bool latency; /* one at a time */
	std::vector<uint64_t> sizes;
};

const std::vector<uint64_t> fma_sizes = {8, 64, 512, 4096};
const std::vector<uint64_t> block_sizes = {4u << 10, 64u << 10, 1u << 20, 4u << 20};

StreamPlan plan_for(const Context &context, const Kind &kind, uint64_t size)
{
	const Options &o = context.options;
	StreamPlan plan = {};
	plan.op = kind.op;
	plan.size = size;
	plan.threads = kind.latency ? 1 : o.threads;
	plan.both = !kind.latency && o.bidirectional;
	plan.window = kind.latency ? 1 : o.window;
	const uint64_t share = context.job.data_size() / (plan.threads * (plan.both ? 2 : 1));
	plan.slots = batch_for(size, share, plan.window);
	/* What both sides do must overlap: that needs time. */
	if (o.iterations_given && !plan.both) {
		plan.count = o.iterations;
		plan.slots = std::min(plan.slots, plan.count);
	}
	plan.nanoseconds = static_cast<uint64_t>(o.seconds * 1e9);
	return plan;
}

std::atomic_ref<uint64_t> own_word(const Job &job)
{
	return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(job.control() + control_amo));
}

void verify_here(const Job &job, const Layout &layout)
{
	for (uint64_t n = 0; n < layout.count; n++) {
		const uint8_t *data = job.data() + layout.at(n);
		const bool wrong = tools::pattern_check(data, layout.size, layout.seed + n).found;
		if (wrong || tools::guard_check(data, layout.size).found)
			throw Failure(format("place %" PRIu64 ": %s", n,
					     wrong ? "data that arrived is wrong" : "memory beside was changed"));
	}
}

/* The last operation of each place has left what it should. */
void verify(Context &context, const StreamPlan &plan, const StreamResult &own, const Reply &other)
{
	if (plan.op == StreamOp::Add) {
		const uint64_t sum = context.peer.call(Ask::GetWord).value;
		const uint64_t here = own_word(context.job).load();
		if (sum != own.operations || (plan.both && here != other.operations))
			throw Failure(format("%" PRIu64 " additions of 1 made %" PRIu64, own.operations, sum));
		return;
	}
	const Layout layout = stream_layout(plan);
	if (!stream_fetches(plan.op) || plan.both)
		context.peer.call(Ask::Check, layout);
	if (stream_fetches(plan.op) || plan.both)
		verify_here(context.job, layout);
}

std::string note_of(const StreamPlan &plan)
{
	std::string note = format("window %" PRIu64, plan.window);
	if (plan.threads > 1)
		note += format(", %" PRIu64 " threads", plan.threads);
	if (plan.both)
		note += ", both ways";
	return note;
}

Row measure(Context &context, const Kind &kind, uint64_t size)
{
	const StreamPlan plan = plan_for(context, kind, size);
	Job &job = context.job;
	check_plan(job, plan);
	context.peer.plan(plan);
	context.peer.call(Ask::StreamPrepare);
	stream_prepare(job, plan, true);
	context.peer.call(Ask::SetWord, {}, 0);
	own_word(job).store(0);
	if (plan.both)
		context.peer.send(Ask::Stream);
	StreamResult own = stream_run(job, plan, true);
	const Reply other = plan.both ? context.peer.answer() : Reply{};
	verify(context, plan, own, other);

	Row row = timed_row(kind.name, own.latencies, note_of(plan).c_str());
	row.size = size;
	row.transfers = own.operations + other.operations;
	row.rate = static_cast<double>(own.operations) * 1e9 / static_cast<double>(own.nanoseconds);
	if (other.nanoseconds)
		*row.rate += static_cast<double>(other.operations) * 1e9 / static_cast<double>(other.nanoseconds);
	row.bandwidth = *row.rate * static_cast<double>(size);
	return row;
}

void run(Context &context, const Kind &kind)
{
	const bool sweep = !context.options.sizes.empty() && kind.op != StreamOp::Add;
	for (const uint64_t size : sweep ? context.options.sizes : kind.sizes) {
		if ((!sweep && size > context.options.max_size) || (stream_fetches(kind.op) && size % 4))
			continue;
		try {
			context.report.add(measure(context, kind, size));
		} catch (const Failure &failure) {
			throw Failure(format("size %" PRIu64 ": %s", size, failure.what()));
		}
	}
}

} // namespace

void test_put_lat(Context &context)
{
	run(context, {"put-lat", StreamOp::Put, true, fma_sizes});
}

void test_put_bw(Context &context)
{
	run(context, {"put-bw", StreamOp::Put, false, fma_sizes});
}

void test_get_lat(Context &context)
{
	run(context, {"get-lat", StreamOp::Get, true, fma_sizes});
}

void test_get_bw(Context &context)
{
	run(context, {"get-bw", StreamOp::Get, false, fma_sizes});
}

void test_block_put_bw(Context &context)
{
	run(context, {"bte-put-bw", StreamOp::BlockPut, false, block_sizes});
}

void test_block_get_bw(Context &context)
{
	run(context, {"bte-get-bw", StreamOp::BlockGet, false, block_sizes});
}

void test_amo_lat(Context &context)
{
	run(context, {"amo-lat", StreamOp::Add, true, {8}});
}

void test_amo_bw(Context &context)
{
	run(context, {"amo-bw", StreamOp::Add, false, {8}});
}

} // namespace perf
