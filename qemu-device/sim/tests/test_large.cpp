// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines of the size of real ones: 24,576 nodes under load for 10 us, 92,544 nodes with a burst. They take minutes
 * and gigabytes, so without OPENGNI_SLOW=1 these are machines of a few groups. What they cost is printed.
 */
#include <algorithm>
#include <chrono>
#include <ctime>
#include <sys/resource.h>
#include <thread>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr double MIB = 1 << 20;
constexpr uint32_t MOST_THREADS = 4;

/* The most memory that this process had up to now. */
double peak_mib()
{
	rusage usage{};

	getrusage(RUSAGE_SELF, &usage);
	return static_cast<double>(usage.ru_maxrss) * 1024 / MIB;
}

double cpu_seconds()
{
	return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

/* Runs it on a machine with so many groups, prints what it costs, and holds the memory against the estimate. */
Result run_and_weigh(uint32_t groups, RunShape shape)
{
	const double cpu = cpu_seconds();
	const double before = peak_mib();
	const auto start = std::chrono::steady_clock::now();
	const topology::Machine machine = topology::build_aries({.groups = groups});
	const double estimate =
		static_cast<double>(estimate_bytes(machine, machine.router_type.request_channels)) / MIB;

	shape.workers.threads = std::clamp(std::thread::hardware_concurrency(), 1u, MOST_THREADS);

	const Result result = run(machine, shape);
	const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;

	print_message("%zu nodes, %u cycles: %.1f s, %.1f CPU s, %.0f MiB of %.0f estimated, %llu packets through "
		      "routers\n",
		      machine.nodes.size(), result.cycles, passed.count(), cpu_seconds() - cpu, peak_mib(), estimate,
		      static_cast<unsigned long long>(result.statistics.hops));
	if (!sanitized())
		assert_true(peak_mib() < before + estimate);
	assert_true(result.drained);
	assert_false(result.stuck);
	assert_int_equal(result.statistics.injected_packets, result.statistics.received_packets);
	assert_int_equal(result.statistics.injected_flits, result.statistics.received_flits);
	return result;
}

/* 10 us of 64-byte puts with their responses at 0.2, which the network has to accept. */
TEST(uniform_load_T49)
{
	RunShape shape;

	shape.warmup = 2750;
	shape.measure = 6000;

	const Result result = run_and_weigh(slow_tests() ? 64 : 2, shape);

	assert_true(result.accepted > 0.98 * 0.2 && result.accepted < 1.02 * 0.2);
}

/* All nodes begin at once, with as much as they can send. */
TEST(burst_T12)
{
	constexpr uint32_t CYCLES = 50;
	RunShape shape;

	shape.traffic.load_ppm = 1'000'000;
	shape.warmup = 0;
	shape.measure = CYCLES;

	const uint32_t groups = slow_tests() ? 241 : 3;
	const Result result = run_and_weigh(groups, shape);
	const uint64_t nodes = groups * 384ULL;

	assert_int_equal(result.nodes, nodes);
	/* Two flits a cycle are a packet of 14 every seven cycles. */
	assert_in_range(result.measured, nodes * CYCLES / 7 * 95 / 100, nodes * CYCLES / 7 * 105 / 100);
	assert_int_equal(result.statistics.received_packets, 2 * result.measured);
}

} // namespace

TEST_MAIN("tests")
