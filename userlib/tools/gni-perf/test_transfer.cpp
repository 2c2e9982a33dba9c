// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Put and get by FMA and BTE: latency of single transfers and rate of many, every byte checked.
 */
#include <cinttypes>
#include <cstring>

#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

using tools::Failure;
using tools::format;
using tools::Mismatch;

namespace
{

constexpr uint64_t most_in_batch = 32;

struct Operation {
	const char *name;
	gni_post_type_t type;
	bool get;
	std::vector<uint64_t> sizes;
};

/** Runs batches of one size: prepares contents, transfers, has the result verified. */
class Runner
{
public:
	Runner(Context &context, const Operation &operation, uint64_t size)
		: context_(context), operation_(operation), descriptors_(most_in_batch), model_sum_(0), model_count_(0),
		  traps_(0)
	{
		layout_.size = size;
		layout_.count = batch_for(size, context.job.data_size(), most_in_batch);
		tools::guard_fill(context.job.data(), layout_.count * layout_.stride());
		context.peer.call(Ask::Prepare, layout_);
	}

	uint64_t batch() const { return layout_.count; }

	/** Transfers one after the other, each timed. */
	void single(Samples &samples)
	{
		prepare();
		Counters counters(*this);
		for (uint64_t n = 0; n < layout_.count; n++) {
			uint64_t start = tools::now_ns();
			context_.job.execute(peer(), describe(n));
			samples.add(tools::now_ns() - start);
		}
		counters.stop(layout_.count);
		verify();
	}

	/** Transfers posted at once; returns nanoseconds until the last event. */
	uint64_t together()
	{
		prepare();
		uint64_t start = tools::now_ns();
		for (uint64_t n = 0; n < layout_.count; n++)
			context_.job.post(peer(), describe(n));
		for (uint64_t n = 0; n < layout_.count; n++)
			context_.job.reap();
		uint64_t time = tools::now_ns() - start;
		verify();
		return time;
	}

	std::optional<double> model_ns() const
	{
		return model_count_ ? std::optional<double>(static_cast<double>(model_sum_) /
							    static_cast<double>(model_count_))
				    : std::nullopt;
	}

	std::optional<double> traps_per_transfer() const { return traps_; }

private:
	/** Modelled time and traps of the transfers alone, without those of the channel. */
	class Counters
	{
	public:
		explicit Counters(Runner &runner)
			: runner_(runner), sum_(runner.context_.job.stats(), "latency_ns"),
			  ops_(runner.context_.job.stats(), "latency_ops"),
			  traps_(runner.context_.job.stats(), "fma_traps")
		{
		}

		void stop(uint64_t transfers)
		{
			auto traps = traps_.value();
			auto sum = sum_.value(), ops = ops_.value();
			if (traps)
				runner_.traps_ = static_cast<double>(*traps) / static_cast<double>(transfers);
			else
				runner_.traps_.reset();
			if (sum && ops) {
				runner_.model_sum_ += *sum;
				runner_.model_count_ += *ops;
			}
		}

	private:
		Runner &runner_;
		tools::CounterDelta sum_, ops_, traps_;
	};

	int peer() const { return context_.job.partner(); }

	gni_post_descriptor_t &describe(uint64_t n)
	{
		size_t at = layout_.at(n);
		descriptors_[n] = context_.job.transfer(operation_.type, peer(), at, at, layout_.size);
		return descriptors_[n];
	}

	void prepare()
	{
		layout_.seed += layout_.count;
		if (operation_.get) {
			context_.peer.call(Ask::Fill, layout_);
			return;
		}
		for (uint64_t n = 0; n < layout_.count; n++)
			tools::pattern_fill(context_.job.data() + layout_.at(n), layout_.size, layout_.seed + n);
	}

	void verify()
	{
		if (!operation_.get) {
			context_.peer.call(Ask::Check, layout_);
			return;
		}
		for (uint64_t n = 0; n < layout_.count; n++) {
			const uint8_t *data = context_.job.data() + layout_.at(n);
			report(n, "data that arrived is wrong",
			       tools::pattern_check(data, layout_.size, layout_.seed + n));
			report(n, "memory beside the transfer was changed", tools::guard_check(data, layout_.size));
		}
	}

	static void report(uint64_t n, const char *what, const Mismatch &m)
	{
		if (m.found)
			throw Failure(format("%s, transfer %" PRIu64 " of the batch, offset %" PRId64
					     ": expected 0x%02x, got 0x%02x",
					     what, n, m.offset, m.expected, m.got));
	}

	Context &context_;
	const Operation &operation_;
	Layout layout_;
	std::vector<gni_post_descriptor_t> descriptors_;
	uint64_t model_sum_, model_count_;
	std::optional<double> traps_;
};

/* As many as asked for up to 64 KiB, then less and less, at least 3. */
uint64_t transfers_for(const Options &options, uint64_t size)
{
	uint64_t wanted = options.iterations;
	if (size > 65536)
		wanted = wanted * 65536 / size;
	return std::clamp<uint64_t>(wanted, 3, options.iterations < 3 ? 3 : options.iterations);
}

Row measure(Context &context, const Operation &operation, uint64_t size)
{
	Runner runner(context, operation, size);
	uint64_t wanted = transfers_for(context.options, size);
	Row row;
	row.test = operation.name;
	row.size = size;

	/* The first transfer to a page makes the machine map it, which is many times what a transfer takes. */
	Samples first, samples;
	runner.single(first);
	tools::Deadline half(context.options.size_seconds / 2);
	do
		runner.single(samples);
	while (samples.count() < wanted && !half.passed());
	row.first_ns = first.percentile(50);
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.model_ns = runner.model_ns();
	row.traps = runner.traps_per_transfer();

	Samples batches;
	tools::Deadline rest(context.options.size_seconds / 2);
	do
		batches.add(runner.together());
	while (batches.count() * runner.batch() < wanted && !rest.passed());
	double seconds = static_cast<double>(batches.percentile(50)) / 1e9;
	row.rate = static_cast<double>(runner.batch()) / seconds;
	row.bandwidth = *row.rate * static_cast<double>(size);
	row.transfers = first.count() + samples.count() + batches.count() * runner.batch();
	return row;
}

void run(Context &context, const Operation &operation)
{
	for (uint64_t size : context.options.sizes.empty() ? operation.sizes : context.options.sizes) {
		if (context.options.sizes.empty() && size > context.options.max_size)
			continue;
		if (operation.get && size % 4)
			continue;
		try {
			context.report.add(measure(context, operation, size));
		} catch (const Failure &failure) {
			throw Failure(format("size %" PRIu64 ": %s", size, failure.what()));
		}
	}
}

const std::vector<uint64_t> fma_sizes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
const std::vector<uint64_t> bte_sizes = {4u << 10, 16u << 10, 64u << 10, 256u << 10,
					 1u << 20, 4u << 20,  16u << 20, 64u << 20};

} // namespace

void test_fma_put(Context &context)
{
	run(context, {"fma-put", GNI_POST_FMA_PUT, false, fma_sizes});
}

void test_fma_get(Context &context)
{
	run(context, {"fma-get", GNI_POST_FMA_GET, true, fma_sizes});
}

void test_bte_put(Context &context)
{
	run(context, {"bte-put", GNI_POST_RDMA_PUT, false, bte_sizes});
}

void test_bte_get(Context &context)
{
	run(context, {"bte-get", GNI_POST_RDMA_GET, true, bte_sizes});
}

} // namespace perf
