// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets that go from router to router by decide() alone. */
#ifndef ARIES_TESTS_ROUTE_WALK_HPP
#define ARIES_TESTS_ROUTE_WALK_HPP

#include "cmocka_cpp.hpp"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "router/decide.hpp"
#include "router/table_builder.hpp"
#include "topology/wiring.hpp"

/* A machine with its tables. */
struct RoutedMachine {
	explicit RoutedMachine(aries::topology::Machine m, const aries::routing::Policy &policy = {},
			       const aries::routing::Failures &failures = {})
		: machine(std::move(m)), wiring(machine),
		  built(aries::routing::build_tables(machine, policy, failures)), tables(built.tables)
	{
		for (const auto &tile : machine.router_type.tiles) {
			if (tile.role == aries::topology::TileRole::Processor)
				break;
			inject++;
		}
	}
	RoutedMachine(const RoutedMachine &) = delete;
	RoutedMachine &operator=(const RoutedMachine &) = delete;

	uint32_t routers() const { return tables.routers(); }
	uint32_t group_of(uint32_t router) const { return tables.address(router).group; }

	aries::topology::Machine machine;
	aries::topology::Wiring wiring;
	aries::routing::Built built;
	const aries::routing::Tables &tables;
	uint32_t inject = 0; // a processor tile
};

struct Quiet {
	uint32_t operator()(uint32_t) const noexcept { return 0; }
};

inline constexpr uint32_t GLOBAL_HOP = 2; // all of them, see Walk::hops()

struct Step {
	uint32_t router;
	uint8_t tile;
	uint8_t channel;
	aries::routing::Phase phase;

	bool operator==(const Step &) const = default;
};

struct Walk {
	std::vector<Step> steps; // network links only
	bool arrived = false;
	bool nonminimal = false;
	aries::routing::Header header{};

	/* Hops by links of a local class, or by all global ones (GLOBAL_HOP). */
	uint32_t hops(const RoutedMachine &net, uint32_t kind) const
	{
		uint32_t sum = 0;

		for (const Step &step : steps) {
			const uint32_t of = net.machine.router_type.tiles[step.tile].link_class;
			const bool global = net.machine.classes[of].scope == aries::topology::Scope::Global;

			sum += global ? kind == GLOBAL_HOP : kind == of;
		}
		return sum;
	}
};

inline constexpr uint32_t TOO_MANY_HOPS = 100;

inline aries::routing::Header header_to(const RoutedMachine &net, uint32_t dst, aries::RoutingMode mode,
					uint32_t hash = 0)
{
	return {net.tables.address(dst), aries::routing::NO_ROOT, hash, mode, 0, 0, aries::routing::Phase::Down};
}

/* Continue from the input tile of a router. @p load is asked for (router, tile). */
template <typename Load>
Walk walk_on(const RoutedMachine &net, uint32_t router, uint32_t in, aries::routing::Header header, const Load &load,
	     uint64_t seed)
{
	const aries::routing::Address to = header.destination;
	Walk walk;

	while (walk.steps.size() < TOO_MANY_HOPS) {
		const auto at_router = [&](uint32_t tile) { return load(router, tile); };
		const auto decision =
			aries::routing::decide(net.tables.router(router), in, header, at_router, aries::mix64(++seed));

		if (decision.tile == aries::routing::NO_OUTPUT)
			break;
		aries::routing::apply(decision, header);
		walk.nonminimal = walk.nonminimal || header.phase == aries::routing::Phase::Up;
		if (net.machine.router_type.tiles[decision.tile].role == aries::topology::TileRole::Processor) {
			walk.arrived = net.tables.address(router) == to;
			break;
		}
		walk.steps.push_back({router, decision.tile, decision.channel, decision.phase});

		const auto far = net.wiring.far_end(router, decision.tile);

		if (far.tile == aries::topology::NOT_CONNECTED)
			break;
		router = far.router;
		in = far.tile;
	}
	walk.header = header;
	return walk;
}

template <typename Load>
Walk walk_from(const RoutedMachine &net, uint32_t src, const aries::routing::Header &header, const Load &load,
	       uint64_t seed)
{
	return walk_on(net, src, net.inject, header, load, seed);
}

inline uint32_t quiet_link(uint32_t, uint32_t)
{
	return 0;
}

/* Are the counts such as draws with equal chances give? By chi-square, five standard deviations at most. */
inline bool is_even(const std::vector<double> &counts)
{
	const auto freedom = static_cast<double>(counts.size() - 1);
	double sum = 0;
	double squares = 0;

	for (const double n : counts)
		sum += n;

	const double want = sum / static_cast<double>(counts.size());

	for (const double n : counts)
		squares += (n - want) * (n - want) / want;
	return squares < freedom + 5 * std::sqrt(2 * freedom);
}

template <typename Key> bool is_even(const std::map<Key, double> &seen)
{
	std::vector<double> counts;

	counts.reserve(seen.size());
	for (const auto &[key, count] : seen)
		counts.push_back(count);
	return is_even(counts);
}

#endif
