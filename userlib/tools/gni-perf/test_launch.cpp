// SPDX-License-Identifier: BSD-2-Clause
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
constexpr uint64_t ring_at = 4 * span; /* in the own data region */
constexpr uint64_t read_back_at = 2 * span;
constexpr uint64_t region = ring_at + words * ARIES_LAUNCH_BYTES;
constexpr uint64_t offset_mask = (uint64_t{1} << 40) - 1;
constexpr unsigned rounds = 11;

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
		  ring_(reinterpret_cast<volatile aries_launch_entry *>(job.data() + ring_at))
	{
		auto *area = reinterpret_cast<volatile uint8_t *>(raw_.area());
		auto *desc = reinterpret_cast<volatile aries_fma_desc *>(area + ARIES_DESC_FMA);
		auto *window = reinterpret_cast<volatile aries_fma_window *>(area + ARIES_DESC_WINDOW);
		desc_ = desc;
		desc->pe = job.info(job.partner()).pe;
		desc->mdh = mdh_of(job.info(job.partner()).data_handle);
		desc->offset = target_ & offset_mask;
		window->ring_mdh = mdh_of(job.info(job.rank()).data_handle);
		window->ring_offset = (job.info(job.rank()).data + ring_at) & offset_mask;
		window->ring_entries = words;
		line_ = reinterpret_cast<volatile aries_launch_entry *>(area + ARIES_DESC_LINE);
		status_ = reinterpret_cast<volatile aries_fma_status *>(area + ARIES_DESC_STATUS);
		bell_ = raw_.bell(ARIES_DB_FMA);
	}

	/** Puts @p value + n to each word n. Returns false when the NIC refused. */
	bool start(Way way, uint64_t value)
	{
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

/* All launchers at once, each on a processor of its own; returns nanoseconds until the last has ended. */
uint64_t run_together(std::vector<std::unique_ptr<Launcher>> &launchers, unsigned count, Way way, uint64_t repeats,
		      uint64_t value)
{
	std::atomic<unsigned> ready{0};
	std::atomic<bool> go{false}, failed{false};
	std::vector<std::thread> threads;
	for (unsigned t = 0; t < count; t++)
		threads.emplace_back([&, t] {
			pin(t);
			ready++;
			while (!go.load(std::memory_order_acquire))
				sched_yield();
			for (uint64_t n = 0; n < repeats && !failed.load(std::memory_order_relaxed); n++)
				if (!launchers[t]->start(way, value + n))
					failed = true;
		});
	while (ready.load() < count)
		sched_yield();
	uint64_t start = tools::now_ns();
	go.store(true, std::memory_order_release);
	for (std::thread &thread : threads)
		thread.join();
	if (failed)
		throw Failure("the NIC refused a put");
	return tools::now_ns() - start;
}

/* The partner's memory has what the last puts stored. */
void verify(const Job &job, unsigned count, uint64_t value)
{
	gni_post_descriptor_t get = job.transfer(GNI_POST_RDMA_GET, job.partner(), read_back_at, 0, count * span);
	job.execute(job.partner(), get);
	for (uint64_t n = 0; n < count * words; n++) {
		uint64_t word;
		memcpy(&word, job.data() + read_back_at + n * 8, 8);
		if (word != value + n % words)
			throw Failure(tools::format("word %llu is %llu", static_cast<unsigned long long>(n),
						    static_cast<unsigned long long>(word)));
	}
}

void measure(Context &context, std::vector<std::unique_ptr<Launcher>> &launchers, unsigned count, Way way,
	     const char *name, const char *note)
{
	const uint64_t repeats = way == Way::Single ? 8 : 64;
	tools::CounterDelta traps(context.job.stats(), "fma_traps");
	Samples samples;
	uint64_t value = 1;
	for (unsigned round = 0; round < rounds; round++) {
		/* Picoseconds: a put takes a few nanoseconds. */
		samples.add(run_together(launchers, count, way, repeats, value) * 1000 / (repeats * words * count));
		value += repeats;
	}
	Row row;
	row.test = name;
	row.size = 8;
	row.transfers = rounds * repeats * words * count;
	if (traps.value())
		row.traps = static_cast<double>(*traps.value()) / static_cast<double>(row.transfers);
	row.p50_ns = static_cast<double>(samples.percentile(50)) / 1000;
	row.p99_ns = static_cast<double>(samples.percentile(99)) / 1000;
	row.min_ns = static_cast<double>(samples.percentile(0)) / 1000;
	row.rate = 1e9 / *row.p50_ns;
	row.note = note;
	verify(context.job, count, value - 1);
	context.report.add(row);
}

} // namespace

void test_launch(Context &context)
{
	Job &job = context.job;
	if (job.data_size() < region)
		throw Failure("launch needs a --max-size of 256K or more");
	const unsigned processors = std::min(std::thread::hardware_concurrency(), 2u);
	std::vector<std::unique_ptr<Launcher>> launchers;
	for (unsigned n = 0; n < processors; n++)
		launchers.push_back(std::make_unique<Launcher>(job, n));
	measure(context, launchers, 1, Way::Line, "launch", "puts by launch entries, 128 for a doorbell");
	measure(context, launchers, 1, Way::Ring, "launch-ring", "puts by launch entries, 4,096 for a doorbell");
	measure(context, launchers, 1, Way::Single, "put-each", "puts by a doorbell each");
	if (processors < 2)
		return;
	measure(context, launchers, 2, Way::Line, "launch-2", "as launch, from two processors at once");
	measure(context, launchers, 2, Way::Single, "put-each-2", "as put-each, from two processors at once");
}

} // namespace perf
