// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Rate of 8-byte puts to addresses that differ, from one and from two processors: by launch entries in the line, by a
 * launch ring, and by a doorbell each. Attachments of their own, no library: this is what the NIC can take.
 */
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "aries_hw.h"

#include "common/failure.h"
#include "common/raw.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

namespace
{

using tools::Failure;

constexpr uint64_t words = 4096; /* that one processor puts to */
constexpr uint64_t span = words * 8;
constexpr uint64_t ring_at = 4 * span; /* in the own data region, one behind the other */
constexpr uint64_t read_back_at = 2 * span;
constexpr uint64_t ring_bytes = words * ARIES_LAUNCH_BYTES;
constexpr uint64_t region = ring_at + 2 * ring_bytes;
constexpr uint64_t offset_mask = (uint64_t{1} << 40) - 1;
constexpr unsigned rounds = 11;
constexpr uint64_t window_ns = 5'000'000; /* that a measurement lasts, at least */

enum class Way { Line, Ring, Single };

uint16_t mdh_of(const gni_mem_handle_t &handle)
{
	bool second = handle.qword2 >> 41 & 1;
	return static_cast<uint16_t>(second ? handle.qword2 >> 42 & 0xfff : handle.qword1 >> 52);
}

/* One processor's puts: word n of its part of the partner's region gets what start() was told plus n. */
class Launcher
{
public:
	Launcher(const Job &job, unsigned number)
		: raw_(job.options().place.device, job.options().place.cookie),
		  target_(static_cast<uint64_t>(job.info(job.partner()).pe) << ARIES_LAUNCH_PE_SHIFT |
			  ((job.info(job.partner()).data + number * span) & offset_mask)),
		  ring_(reinterpret_cast<volatile aries_launch_entry *>(job.data() + ring_at + number * ring_bytes))
	{
		auto *area = reinterpret_cast<volatile uint8_t *>(raw_.area());
		auto *desc = reinterpret_cast<volatile aries_fma_desc *>(area + ARIES_DESC_FMA);
		auto *window = reinterpret_cast<volatile aries_fma_window *>(area + ARIES_DESC_WINDOW);
		desc_ = desc;
		desc->pe = job.info(job.partner()).pe;
		desc->mdh = mdh_of(job.info(job.partner()).data_handle);
		desc->offset = target_ & offset_mask;
		window->ring_mdh = mdh_of(job.info(job.rank()).data_handle);
		window->ring_offset = (job.info(job.rank()).data + ring_at + number * ring_bytes) & offset_mask;
		window->ring_entries = words;
		line_ = reinterpret_cast<volatile aries_launch_entry *>(area + ARIES_DESC_LINE);
		status_ = reinterpret_cast<volatile aries_fma_status *>(area + ARIES_DESC_STATUS);
		bell_ = raw_.bell(ARIES_DB_FMA);
	}

	/** Puts value() + n to each word n, with a value that is new. Returns false when the NIC refused. */
	bool start(Way way)
	{
		const uint64_t value = ++value_;
		switch (way) {
		case Way::Line:
			for (uint64_t n = 0; n < words; n += ARIES_LAUNCH_LINE) {
				fill(line_, ARIES_LAUNCH_LINE, n, value);
				if (!ring(ARIES_FMA_LAUNCH, ARIES_LAUNCH_LINE))
					return false;
			}
			return true;
		case Way::Ring:
			fill(ring_, words, 0, value);
			return ring(ARIES_FMA_LAUNCH_RING, words);
		default:
			for (uint64_t n = 0; n < words; n++) {
				desc_->offset = (target_ & offset_mask) + n * 8;
				*reinterpret_cast<volatile uint64_t *>(line_) = value + n;
				if (!ring(ARIES_FMA_PUT_LINE, 8))
					return false;
			}
			return true;
		}
	}

	uint64_t value() const { return value_; }

private:
	void fill(volatile aries_launch_entry *to, uint64_t count, uint64_t first, uint64_t value) const
	{
		constexpr uint64_t put = uint64_t{ARIES_LAUNCH_PUT8} << ARIES_LAUNCH_KIND_SHIFT;
		for (uint64_t n = 0; n < count; n++) {
			to[n].target = (target_ + (first + n) * 8) | put;
			to[n].value = value + first + n;
		}
	}

	bool ring(aries_fma_op op, uint64_t length) const
	{
		__atomic_thread_fence(__ATOMIC_RELEASE);
		*bell_ = length << ARIES_DB_LEN_SHIFT | static_cast<uint64_t>(op) << ARIES_DB_OP_SHIFT;
		return status_->status == ARIES_ST_OK;
	}

	tools::RawAttachment raw_;
	uint64_t value_ = 0;
	uint64_t target_;
	volatile aries_launch_entry *ring_;
	volatile aries_fma_desc *desc_;
	volatile aries_launch_entry *line_;
	volatile aries_fma_status *status_;
	volatile uint64_t *bell_;
};

void pin(unsigned processor)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

using Launchers = std::vector<std::unique_ptr<Launcher>>;

/* What launchers did in one window. */
struct Outcome {
	uint64_t puts = 0;
	double rate = 0; /* puts a nanosecond, of all of them */
	bool refused = false;
};

/* Puts for as long as a window lasts. */
Outcome put_for_a_window(Launcher &launcher, Way way)
{
	Outcome out;
	uint64_t start = tools::now_ns();
	uint64_t taken = 0;
	while (taken < window_ns && !out.refused) {
		out.refused = !launcher.start(way);
		out.puts += words;
		taken = tools::now_ns() - start;
	}
	out.rate = static_cast<double>(out.puts) / static_cast<double>(taken);
	return out;
}

/*
 * Launchers from @first on at once, each on a processor of its own. Their rates are added: processors of an emulated
 * machine need not be equally fast.
 */
Outcome run_together(const Launchers &launchers, unsigned first, unsigned count, Way way)
{
	std::atomic<unsigned> missing{count};
	std::vector<Outcome> parts(count);
	std::vector<std::thread> threads;
	for (unsigned n = 0; n < count; n++)
		threads.emplace_back([&, n] {
			pin(first + n);
			missing--;
			while (missing.load(std::memory_order_acquire))
				sched_yield();
			parts[n] = put_for_a_window(*launchers[first + n], way);
		});
	for (std::thread &thread : threads)
		thread.join();
	Outcome all;
	for (const Outcome &part : parts) {
		if (part.refused)
			throw Failure("the NIC refused a put");
		all.puts += part.puts;
		all.rate += part.rate;
	}
	return all;
}

/* One after the other; the rate is their mean. */
Outcome run_in_turn(const Launchers &launchers, Way way)
{
	Outcome all;
	for (unsigned n = 0; n < launchers.size(); n++) {
		Outcome one = run_together(launchers, n, 1, way);
		all.puts += one.puts;
		all.rate += one.rate / static_cast<double>(launchers.size());
	}
	return all;
}

/* The partner's memory has what the last puts stored. */
void verify(const Job &job, const Launchers &launchers)
{
	const uint64_t count = launchers.size();
	gni_post_descriptor_t get = job.transfer(GNI_POST_RDMA_GET, job.partner(), read_back_at, 0, count * span);
	job.execute(job.partner(), get);
	for (uint64_t n = 0; n < count * words; n++) {
		uint64_t word;
		memcpy(&word, job.data() + read_back_at + n * 8, 8);
		if (word != launchers[n / words]->value() + n % words)
			throw Failure(tools::format("word %llu is %llu", static_cast<unsigned long long>(n),
						    static_cast<unsigned long long>(word)));
	}
}

/* One row: a way, and whether the launchers put at once or in turn. */
struct Plan {
	Way way;
	bool together;
	const char *name;
	const char *note;
};

/* What the rounds of one row gave. */
struct Tally {
	Samples samples; /* picoseconds for a put, which takes few nanoseconds */
	uint64_t puts = 0;
	uint64_t traps = 0;
	bool counted = true; /* traps is known */
};

void measure_round(const Context &context, const Launchers &launchers, const Plan &plan, Tally &tally)
{
	tools::CounterDelta counter(context.job.stats(), "fma_traps");
	Outcome out = plan.together ? run_together(launchers, 0, static_cast<unsigned>(launchers.size()), plan.way)
				    : run_in_turn(launchers, plan.way);
	std::optional<uint64_t> traps = counter.value();
	tally.samples.add(static_cast<uint64_t>(1000 / out.rate));
	tally.puts += out.puts;
	tally.traps += traps.value_or(0);
	tally.counted = tally.counted && traps;
}

Row row_of(const Plan &plan, Tally &tally)
{
	Row row;
	row.test = plan.name;
	row.size = 8;
	row.transfers = tally.puts;
	if (tally.counted)
		row.traps = static_cast<double>(tally.traps) / static_cast<double>(tally.puts);
	row.p50_ns = static_cast<double>(tally.samples.percentile(50)) / 1000;
	row.p99_ns = static_cast<double>(tally.samples.percentile(99)) / 1000;
	row.min_ns = static_cast<double>(tally.samples.percentile(0)) / 1000;
	row.rate = 1e9 / *row.p50_ns;
	row.note = plan.note;
	return row;
}

/* Rows that are compared take turns: what the machine's speed does meanwhile meets them alike. */
void measure(Context &context, const Launchers &launchers, const std::vector<Plan> &plans)
{
	std::vector<Tally> tallies(plans.size());
	for (unsigned round = 0; round < rounds; round++)
		for (size_t n = 0; n < plans.size(); n++)
			measure_round(context, launchers, plans[n], tallies[n]);
	verify(context.job, launchers);
	for (size_t n = 0; n < plans.size(); n++)
		context.report.add(row_of(plans[n], tallies[n]));
}

} // namespace

void test_launch(Context &context)
{
	Job &job = context.job;
	if (job.data_size() < region)
		throw Failure("launch needs a --max-size of 256K or more");
	const unsigned processors = std::min(std::thread::hardware_concurrency(), 2u);
	Launchers launchers;
	for (unsigned n = 0; n < processors; n++)
		launchers.push_back(std::make_unique<Launcher>(job, n));
	std::vector<Plan> lines = {{Way::Line, false, "launch", "puts by launch entries, 128 for a doorbell"}};
	std::vector<Plan> singles = {{Way::Single, false, "put-each", "puts by a doorbell each"}};
	if (processors == 2) {
		lines.push_back({Way::Line, true, "launch-2", "as launch, from two processors at once"});
		singles.push_back({Way::Single, true, "put-each-2", "as put-each, from two processors at once"});
	}
	measure(context, launchers, lines);
	measure(context, launchers,
		{{Way::Ring, false, "launch-ring", "puts by launch entries, 4,096 for a doorbell"}});
	measure(context, launchers, singles);
}

} // namespace perf
