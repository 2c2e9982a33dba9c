// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets through routers that a CPU second simulates: single flits on the canonical dragonfly of 1,056 nodes, uniform
 * 0.2, and puts with responses on Aries. For counting instructions:
 *   valgrind --tool=callgrind --toggle-collect='aries::sim::Network::run(unsigned int)' bench_hops 500
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "simulation.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

double cpu_seconds()
{
	timespec now{};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void measure(const char *name, const topology::Machine &machine, const TrafficShape &traffic, uint32_t cycles)
{
	const routing::Built built = routing::build_tables(machine, RunShape::default_policy());
	Network network(machine, built.tables, machine.router_type.request_channels, {},
			Workload(traffic, static_cast<uint32_t>(machine.nodes.size())), 1);

	network.run(cycles);

	const Statistics before = network.statistics();
	const double start = cpu_seconds();

	network.run(2 * cycles);

	const double used = cpu_seconds() - start;
	const Statistics &after = network.statistics();

	std::printf(
		"%-32s %6.2f million packets through routers a CPU second; %.2f looks at resources each; %llu in all\n",
		name, static_cast<double>(after.hops - before.hops) / used / 1e6,
		static_cast<double>(after.checks - before.checks) / static_cast<double>(after.hops - before.hops),
		static_cast<unsigned long long>(after.hops));
}

} // namespace

int main(int argc, char **argv)
{
	const auto cycles = static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000);

	measure("canonical, 1,056 nodes, 1 flit", topology::build_canonical({.p = 4, .a = 8, .h = 4}),
		{.operation = Operation::Raw, .raw_flits = 1, .load_ppm = 200000}, cycles);
	if (argc <= 1)
		measure("Aries, 768 nodes, 64-byte puts", topology::build_aries({.groups = 2}), {.load_ppm = 200000},
			cycles);
	return 0;
}
