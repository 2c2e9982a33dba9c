// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets and flits through routers that a CPU second simulates, the looks at resources that a packet needs in a
 * router, and how many times faster two threads are in time: single flits on the canonical dragonfly of 1,056 nodes,
 * uniform 0.2, and puts with responses on Aries. One run of so many cycles and twice as many that are counted, for
 * counting instructions: valgrind --tool=callgrind --toggle-collect='aries::sim::Network::run(unsigned int)'
 * bench_hops 500; with a second argument of Aries.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "simulation.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr int ROUNDS = 3;

double seconds(clockid_t clock)
{
	timespec now{};

	clock_gettime(clock, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Bench {
	const char *name;
	topology::Machine machine;
	TrafficShape traffic;
};

struct Run {
	double packets = 0; ///< through routers
	double flits = 0;   ///< through routers
	double checks = 0;  ///< looks at resources
	double cpu = 0;     ///< seconds, of all threads
	double time = 0;    ///< seconds
};

uint64_t flits_out(const Network &network)
{
	uint64_t flits = 0;

	for (const LinkCount &link : network.link_counts())
		flits += link.flits;
	return flits;
}

/* So many cycles, after as many that are not counted. */
Run run(const Bench &bench, const routing::Built &built, uint32_t cycles, uint32_t threads)
{
	Network network(bench.machine, &built.tables, bench.machine.router_type.request_channels, {},
			Workload(bench.traffic, static_cast<uint32_t>(bench.machine.nodes.size())), 1,
			{.threads = threads});

	network.run(cycles);

	const Statistics before = network.statistics();
	const uint64_t flits = flits_out(network);
	const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	const double time = seconds(CLOCK_MONOTONIC);

	network.run(2 * cycles);

	const Statistics after = network.statistics();

	return {static_cast<double>(after.hops - before.hops), static_cast<double>(flits_out(network) - flits),
		static_cast<double>(after.checks - before.checks), seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
		seconds(CLOCK_MONOTONIC) - time};
}

double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

/* A line of the table: medians of rounds; each round has one run by one thread and one by two. */
void measure(const Bench &bench, uint32_t cycles)
{
	const routing::Built built = routing::build_tables(bench.machine, RunShape::default_policy());
	std::vector<double> packets, flits, faster;
	double checks = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const Run one = run(bench, built, cycles, 1);
		const Run two = run(bench, built, cycles, 2);

		packets.push_back(one.packets / one.cpu / 1e6);
		flits.push_back(one.flits / one.cpu / 1e6);
		faster.push_back(one.time / two.time);
		checks = one.checks / one.packets;
	}
	std::printf("%-36s %12.2f %12.2f %10.2f %12.2f\n", bench.name, median(packets), median(flits), checks,
		    median(faster));
	std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv)
{
	const Bench canonical{"canonical, 1,056 nodes, 1 flit, 0.2",
			      topology::build_canonical({.p = 4, .a = 8, .h = 4}),
			      {.operation = Operation::Raw, .raw_flits = 1, .load_ppm = 200000}};

	const Bench whole{
		"Aries, 3,072 nodes, 64 B puts, 0.2", topology::build_aries({.groups = 8}), {.load_ppm = 200000}};

	if (argc > 1) { // for callgrind
		const Bench &bench = argc > 2 ? whole : canonical;
		const routing::Built built = routing::build_tables(bench.machine, RunShape::default_policy());
		const Run one = run(bench, built, static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)), 1);

		std::printf("%.0f packets, %.3f CPU seconds, %.3f 10^6 packets a second\n", one.packets, one.cpu,
			    one.packets / one.cpu / 1e6);
		return 0;
	}
	std::printf("%-36s %12s %12s %10s %12s\n", "through routers in a CPU second", "10^6 packets", "10^6 flits",
		    "looks each", "two threads");
	measure(canonical, 2000);
	measure(whole, 1000);
	return 0;
}
