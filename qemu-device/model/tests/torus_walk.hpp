// SPDX-License-Identifier: GPL-2.0-or-later
/* Tori of every class, ways of packets over them, failures, and which channel of which link waits for which. */
#ifndef ARIES_TESTS_TORUS_WALK_HPP
#define ARIES_TESTS_TORUS_WALK_HPP

#include "cmocka_cpp.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "dependencies.hpp"
#include "router/torus.hpp"
#include "topology/build_torus.hpp"
#include "topology/wiring.hpp"

namespace aries::routing
{

using topology::build_torus;
using topology::Machine;
using topology::TorusClass;
using topology::TorusShape;
using topology::Wiring;

struct NoLoad {
	uint32_t operator()(uint32_t) const { return 0; }
};

inline std::vector<TorusShape> shapes()
{
	return {{4, 4, 4},
		{5, 6, 3},
		{1, 8, 8},
		{3, 12, 1},
		{5, 8, 5, true},
		{.of = TorusClass::Class0, .cabinets = 1},
		{.of = TorusClass::Class1, .cabinets = 4},
		{.of = TorusClass::Class2, .cabinets = 8},
		{.of = TorusClass::Class3, .cabinets = 2, .rows = 3},
		{.of = TorusClass::M, .cabinets = 2}};
}

/* A machine, its tables, and what walks over it need. */
struct Torus {
	explicit Torus(const TorusShape &shape, uint8_t channels = TORUS_DATELINE_CHANNELS,
		       const Failures &failures = {})
		: machine(build_torus(shape)), wiring(machine), tables(machine, channels, failures)
	{
	}

	uint32_t routers() const { return tables.routers(); }

	Machine machine;
	Wiring wiring;
	TorusTables tables;
};

struct Hop {
	uint32_t router, tile, channel;
};

/* The way of a packet. @return it arrives */
template <typename Load>
bool walk(const Torus &net, uint32_t from, uint32_t to, TorusHeader header, const Load &load, std::vector<Hop> &way)
{
	uint32_t at = from, in = UINT32_MAX;
	uint64_t random = header.hash;

	way.clear();
	header.destination = net.tables.router(to).here;
	header.channel = 0;
	while (at != to) {
		const TorusRouter &router = net.tables.router(at);
		const auto loads = [&](uint32_t tile) { return load(at, tile); };

		random = mix64(random + at);

		const TorusDecision go = in == UINT32_MAX ? TorusRouting::first(router, header, loads, random)
							  : TorusRouting::next(router, in, header, loads, random);

		if (go.tile == NO_OUTPUT || way.size() > net.routers())
			return false;
		way.push_back({at, go.tile, go.channel});

		const topology::LinkEnd far = net.wiring.far_end(at, go.tile);

		if (far.tile == topology::NOT_CONNECTED)
			fail_msg("router %u sends by tile %u, which has no link", at, go.tile);
		at = far.router;
		in = far.tile;
		apply(go, header);
	}
	return TorusRouting::eject(net.tables.router(at), header, NoLoad{}, random).tile >= chip::GEMINI.tiles.network;
}

inline uint32_t quiet(uint32_t, uint32_t)
{
	return 0;
}

/* All parallel links to a neighbour, in one channel: a node of the graph, for a packet may take any of them. */
inline uint32_t bundle_of(const Torus &net, uint32_t router, uint32_t tile, uint32_t channel)
{
	const size_t axis = torus_axis(tile);
	const uint32_t first = torus_tile(axis, tile < torus_tile(axis, Turn::Down) ? Turn::Up : Turn::Down);

	return (router * net.wiring.tiles() + first) * TORUS_DATELINE_CHANNELS + channel;
}

/* What is a node of the graph: all parallel links, for a packet may take any of them; or each link. */
enum class Grain : uint8_t { Bundle, Link };

/*
 * What waits for what. From every router to every other: where a packet may go by either half of a ring both are
 * followed, so that these are all ways.
 */
inline Graph waits(const Torus &net, Grain grain = Grain::Bundle)
{
	constexpr uint32_t INJECTED = UINT32_MAX;
	constexpr uint32_t EITHER_BIT = 48; // from it on the bits by which halves are chosen
	struct State {
		uint32_t router, in, held;
		uint16_t via;
	};
	Graph graph(size_t{net.routers()} * net.wiring.tiles() * TORUS_DATELINE_CHANNELS);

	for (uint32_t to = 0; to < net.routers(); to++) {
		std::set<std::pair<uint32_t, uint16_t>> seen;
		std::vector<State> unvisited;
		TorusHeader header{.destination = net.tables.router(to).here, .adaptive = true};

		for (uint32_t from = 0; from < net.routers(); from++)
			unvisited.push_back({from, INJECTED, INJECTED, 0});
		while (!unvisited.empty()) {
			const State at = unvisited.back();
			const TorusRouter &router = net.tables.router(at.router);

			unvisited.pop_back();
			if (at.router == to)
				continue;
			header.channel = at.held == INJECTED ? 0 : at.held % TORUS_DATELINE_CHANNELS;
			header.via = at.via;

			const uint64_t halves = at.in == INJECTED ? 8 : 2, links = grain == Grain::Link ? 8 : 1;

			for (uint64_t choice = 0; choice < halves * links; choice++) {
				/* The highest of 16 bits choose a link. */
				const uint64_t random = choice / links << EITHER_BIT | choice % links << 13;
				const TorusDecision go =
					at.in == INJECTED ? TorusRouting::first(router, header, NoLoad{}, random)
							  : TorusRouting::next(router, at.in, header, NoLoad{}, random);

				if (go.tile == NO_OUTPUT)
					continue;

				const topology::LinkEnd far = net.wiring.far_end(at.router, go.tile);
				const uint32_t next =
					grain == Grain::Link
						? (at.router * net.wiring.tiles() + go.tile) * TORUS_DATELINE_CHANNELS +
							  go.channel
						: bundle_of(net, at.router, go.tile, go.channel);

				if (at.held != INJECTED)
					graph[at.held].push_back(next);
				if (seen.insert({next, go.via}).second)
					unvisited.push_back({far.router, far.tile, next, go.via});
			}
		}
	}
	for (auto &next : graph) {
		std::sort(next.begin(), next.end());
		next.erase(std::unique(next.begin(), next.end()), next.end());
	}
	return graph;
}

/* Whether packets can go all round the ring of a router. */
inline bool closes(const Torus &net, TorusAddress at, size_t axis, Turn turn)
{
	const uint32_t size = net.tables.router(0).last[axis] + 1u;

	for (at[axis] = 0; at[axis] < size; at[axis]++) {
		if (!net.tables.router(net.tables.router_at(at)).links[axis][static_cast<size_t>(turn)])
			return false;
	}
	return true;
}

/*
 * The same with the channels of each ring that closes, and direction, taken as one; of each ring of single links if
 * they are nodes.
 */
inline Graph rings_as_one(const Torus &net, const Graph &graph)
{
	const uint32_t tiles = net.wiring.tiles();
	std::map<std::array<uint32_t, 6>, uint32_t> rings;
	const auto ring_of = [&](uint32_t channel) {
		const uint32_t tile = channel / TORUS_DATELINE_CHANNELS % tiles;
		const auto axis = static_cast<uint32_t>(torus_axis(tile));
		TorusAddress at = net.tables.router(channel / TORUS_DATELINE_CHANNELS / tiles).here;

		const bool down = tile >= torus_tile(axis, Turn::Down);

		if (closes(net, at, axis, down ? Turn::Down : Turn::Up))
			at[axis] = 0;
		return rings
			.emplace(std::array<uint32_t, 6>{at[0], at[1], at[2], axis, down,
							 tile - torus_tile(axis, down ? Turn::Down : Turn::Up)},
				 static_cast<uint32_t>(rings.size()))
			.first->second;
	};
	Graph between(graph.size());

	for (uint32_t from = 0; from < graph.size(); from++) {
		for (const uint32_t to : graph[from]) {
			if (ring_of(from) != ring_of(to))
				between[ring_of(from)].push_back(ring_of(to));
		}
	}
	return between;
}

inline Failures some_links(const Machine &machine, uint32_t count, uint32_t seed)
{
	std::mt19937 random(seed);
	Failures failures;

	for (uint32_t i = 0; i < count; i++)
		failures.links.push_back(static_cast<uint32_t>(random() % machine.links.size()));
	return failures;
}

/* All parallel links between a router and its neighbour upwards. */
inline void cut_neighbour(const Machine &machine, uint32_t router, size_t axis, Failures &failures)
{
	for (uint32_t i = 0; i < machine.links.size(); i++) {
		for (const topology::LinkEnd &end : machine.links[i].end) {
			if (end.router == router && torus_axis(end.tile) == axis &&
			    end.tile < torus_tile(axis, Turn::Down))
				failures.links.push_back(i);
		}
	}
}

} // namespace aries::routing

#endif
