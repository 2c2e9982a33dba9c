// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a routing decision costs: a simulator makes some 100 million of them in a run. Prints the median of several
 * rounds for each case; ends with 1 if one is above its limit.
 *
 *   bench_decide [CASE]   only that case, for counting instructions (of 11 x 65,536 decisions):
 *   valgrind --tool=callgrind --toggle-collect='*time_decisions*' bench_decide 1
 */
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "router/decide.hpp"
#include "router/table_builder.hpp"
#include "topology/build_aries.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

constexpr uint32_t PROCESSOR_TILE = 40;
constexpr uint32_t GREEN_TILE = 0;
constexpr uint32_t TILES = 48;
constexpr uint32_t PACKETS = 1 << 16;
constexpr int ROUNDS = 11;

struct Case {
	const char *name;
	double limit_ns;
	uint32_t in;
	uint32_t load; // of all tiles
	uint32_t groups;
	Routing routing;
	bool own_group; // destinations
	bool one_router;
};

constexpr Case CASES[] = {
	{"first hop, quiet", 60, PROCESSOR_TILE, 0, 8, Routing::Adaptive, false, true},
	{"first hop, loaded: four candidates", 100, PROCESSOR_TILE, 90000, 8, Routing::Adaptive, false, true},
	{"first hop, loaded, same group", 100, PROCESSOR_TILE, 90000, 8, Routing::Adaptive, true, true},
	{"later hop, adaptive", 60, GREEN_TILE, 90000, 8, Routing::Adaptive, false, true},
	{"later hop, same group", 60, GREEN_TILE, 90000, 8, Routing::Adaptive, true, true},
	{"later hop, minimal hash", 60, GREEN_TILE, 90000, 8, Routing::MinimalHash, false, true},
	{"first hop, non-minimal hash", 100, PROCESSOR_TILE, 90000, 8, Routing::NonminimalHash, false, true},
	{"first hop, loaded, 23,136 routers", 2000, PROCESSOR_TILE, 90000, 241, Routing::Adaptive, false, false},
};

double thread_ns()
{
	timespec now{};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/* Destinations of the packets, and the routers that decide about them. */
struct Work {
	std::vector<Header> headers;
	std::vector<uint32_t> routers;
};

Work prepare(const Case &c, const Tables &tables)
{
	Work work;

	for (uint32_t i = 0; work.headers.size() < PACKETS; i++) {
		const uint64_t random = mix64(i + 1);
		const uint32_t to = pick_of(static_cast<uint32_t>(random >> 32), tables.routers());
		const uint32_t at = c.one_router ? 5 : pick_of(static_cast<uint32_t>(random), tables.routers());

		if (to == at || (tables.address(to).group == tables.address(at).group) != c.own_group)
			continue;
		work.headers.push_back({tables.address(to), NO_ROOT, i, {c.routing, 0}, 0, 0, Phase::Down});
		work.routers.push_back(at);
	}
	return work;
}

/* A function of its own, for callgrind's --toggle-collect. */
[[gnu::noinline]] double time_decisions(const Case &c, const Tables &tables, const Work &work)
{
	std::array<double, ROUNDS> ns{};
	std::array<uint32_t, TILES> load{};
	uint64_t random = 1;
	volatile uint32_t sink = 0;

	for (uint32_t tile = 0; tile < TILES; tile++)
		load[tile] = c.load ? c.load + static_cast<uint32_t>(mix64(tile) % 1000) : 0;
	for (double &round : ns) {
		const double start = thread_ns();
		uint32_t sum = 0;

		for (uint32_t i = 0; i < PACKETS; i++) {
			random += 0x9e3779b97f4a7c15;
			sum += decide(tables.router(work.routers[i]), c.in, work.headers[i],
				      LoadArray<uint32_t>{load.data()}, mix64(random))
				       .tile;
		}
		sink = sum;
		round = (thread_ns() - start) / PACKETS;
	}
	(void)sink;
	std::sort(ns.begin(), ns.end());
	return ns[ROUNDS / 2];
}

} // namespace

int main(int argc, char **argv)
{
	const size_t only = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : std::size(CASES);
	int result = 0;

	for (size_t i = 0; i < std::size(CASES); i++) {
		const Case &c = CASES[i];

		if (argc > 1 && i != only)
			continue;

		const Built built = build_tables(topology::build_aries({.groups = c.groups}));
		const double ns = time_decisions(c, built.tables, prepare(c, built.tables));

		std::printf("%-36s %6.1f ns (limit %.0f)\n", c.name, ns, c.limit_ns);
		if (ns > c.limit_ns)
			result = 1;
	}
	return result;
}
