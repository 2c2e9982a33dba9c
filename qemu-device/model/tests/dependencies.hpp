// SPDX-License-Identifier: GPL-2.0-or-later
/* Which channel of which link waits for which, of every way that decide() can take; circles in such graphs. */
#ifndef ARIES_TESTS_DEPENDENCIES_HPP
#define ARIES_TESTS_DEPENDENCIES_HPP

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "route_walk.hpp"

namespace aries::routing
{

inline constexpr uint32_t CHANNELS = 8; // of a link, both classes
inline constexpr uint32_t NONE = UINT32_MAX;

using Graph = std::vector<std::vector<uint32_t>>; // what each waits for

/* A circle, or nothing: depth first, without recursion. */
inline std::vector<uint32_t> find_circle(const Graph &waits_for)
{
	enum : uint8_t { NEW, ON_WAY, DONE };
	std::vector<uint8_t> mark(waits_for.size(), NEW);
	std::vector<size_t> next(waits_for.size());

	for (uint32_t start = 0; start < waits_for.size(); start++) {
		std::vector<uint32_t> way;

		if (mark[start] == NEW)
			way.push_back(start);
		while (!way.empty()) {
			const uint32_t at = way.back();

			mark[at] = ON_WAY;
			if (next[at] == waits_for[at].size()) {
				mark[at] = DONE;
				way.pop_back();
				continue;
			}

			const uint32_t to = waits_for[at][next[at]++];

			if (mark[to] == ON_WAY)
				return {std::find(way.begin(), way.end(), to), way.end()};
			if (mark[to] == NEW)
				way.push_back(to);
		}
	}
	return {};
}

/* The channels of all links, and which a packet in one may wait for. */
class Dependencies
{
public:
	explicit Dependencies(const RoutedMachine &net)
		: net_(net), tiles_(net.wiring.tiles()), waits_for_(size_t{net.routers()} * tiles_ * CHANNELS)
	{
	}

	/*
	 * Every way between any two routers, minimal and by every root, whatever ports are chosen: first all ways up to
	 * each root, from everywhere; then from all states in which a packet can be at that root, or at its source, all
	 * ways down to each destination.
	 */
	void add_all()
	{
		std::vector<std::vector<State>> at_root(net_.routers());
		std::vector<State> states;

		for (uint32_t root = 0; root < net_.routers(); root++)
			spread(root, Phase::Up, sources(root), at_root[root]);
		for (uint32_t to = 0; to < net_.routers(); to++) {
			states = sources(to);
			for (uint32_t root = 0; root < net_.routers(); root++) {
				if (root != to)
					states.insert(states.end(), at_root[root].begin(), at_root[root].end());
			}
			std::vector<State> arrived;

			spread(to, Phase::Down, states, arrived);
		}
	}

	size_t edges() const
	{
		size_t sum = 0;

		for (const auto &next : waits_for_)
			sum += next.size();
		return sum;
	}

	uint32_t highest() const { return highest_; }

	bool has(uint32_t from, uint32_t to) const
	{
		return std::find(waits_for_[from].begin(), waits_for_[from].end(), to) != waits_for_[from].end();
	}

	std::vector<uint32_t> circle() const { return find_circle(waits_for_); }

	const Graph &graph() const { return waits_for_; }

	uint32_t channel_of(uint32_t router, uint32_t tile, uint32_t channel) const
	{
		return (router * tiles_ + tile) * CHANNELS + channel;
	}

	std::string name(uint32_t channel) const
	{
		const uint32_t router = channel / CHANNELS / tiles_;
		const uint32_t tile = channel / CHANNELS % tiles_;

		return net_.machine.classes[net_.machine.router_type.tiles[tile].link_class].name + " " +
		       std::to_string(router) + "->" + std::to_string(net_.wiring.far_end(router, tile).router) +
		       " channel " + std::to_string(channel % CHANNELS);
	}

private:
	/* A packet in an input queue: of the link that it came by, or, at its source, none. */
	struct State {
		uint32_t router;
		uint32_t in;
		uint8_t channel;
		Phase phase;
		uint32_t held; // channel
	};

	std::vector<State> sources(uint32_t but) const
	{
		std::vector<State> states;

		for (uint32_t router = 0; router < net_.routers(); router++) {
			if (router != but)
				states.push_back({router, net_.inject, 0, Phase::Down, NONE});
		}
		return states;
	}

	void connect(uint32_t held, uint32_t next)
	{
		auto &list = waits_for_[held];

		if (std::find(list.begin(), list.end(), next) == list.end())
			list.push_back(next);
	}

	/* Follow packets in these states to a router; collect in what states they get there. */
	void spread(uint32_t target, Phase phase, std::vector<State> todo, std::vector<State> &arrived)
	{
		std::vector<bool> seen(waits_for_.size());
		const Address goal = net_.tables.address(target);

		while (!todo.empty()) {
			const State at = todo.back();
			const RouterTables &tables = net_.tables.router(at.router);

			todo.pop_back();
			if (tables.here == goal) {
				/* decide() will see that this is the root. */
				arrived.push_back({at.router, at.in, at.channel, Phase::Up, at.held});
				continue;
			}

			const uint32_t choices = minimal_entry(tables, goal).count;
			std::set<uint8_t> taken;

			for (uint32_t nth = 0; nth < choices; nth++) {
				const Decision d = take(at, goal, phase, nth, choices);

				if (!taken.insert(d.tile).second)
					continue;
				go(at, d, phase, seen, todo);
			}
			assert_int_equal(taken.size(), choices);
		}
	}

	/* The decision with random bits that name the nth port. */
	Decision take(const State &at, Address goal, Phase phase, uint32_t nth, uint32_t choices) const
	{
		const uint64_t random = (nth * 65536 + choices - 1) / choices;
		Header header{goal, NO_ROOT, 0, {Routing::Adaptive, 0}, 0, at.channel, Phase::Down};

		if (phase == Phase::Up) {
			/* Some destination elsewhere; decide() sees it at the root alone. */
			header.root = goal;
			header.phase = Phase::Up;
			header.destination = {goal.group, UINT16_MAX};
			if (at.in == net_.inject)
				return {goal, port(at, goal, nth), 0, Phase::Up};
		} else if (at.phase == Phase::Up) {
			/* At the root. */
			header.root = net_.tables.address(at.router);
			header.phase = Phase::Up;
			/* Its source was the root itself: that does not happen. */
			assert_int_not_equal(at.in, net_.inject);
		}
		return decide(net_.tables.router(at.router), at.in, header, Quiet{}, random);
	}

	/* What the first router does with a root is in test_decide: any port of its entry, in the first channel. */
	uint8_t port(const State &at, Address goal, uint32_t nth) const
	{
		const RouterTables &tables = net_.tables.router(at.router);

		return tables.ports[minimal_entry(tables, goal).first + nth];
	}

	void go(const State &at, const Decision &d, Phase phase, std::vector<bool> &seen, std::vector<State> &todo)
	{
		const auto far = net_.wiring.far_end(at.router, d.tile);
		const uint32_t channel = channel_of(at.router, d.tile, d.channel);

		assert_true(d.phase == phase && far.tile != topology::NOT_CONNECTED);
		highest_ = std::max(highest_, uint32_t{d.channel});
		if (at.held != NONE)
			connect(at.held, channel);
		if (seen[channel])
			return;
		seen[channel] = true;
		todo.push_back({far.router, far.tile, d.channel, Phase::Down, channel});
	}

	const RoutedMachine &net_;
	uint32_t tiles_;
	uint32_t highest_ = 0;
	Graph waits_for_;
};

} // namespace aries::routing

#endif
