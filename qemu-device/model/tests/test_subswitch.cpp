// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Freedom from deadlock inside routers (P13, P15). A packet goes through three queues: of its input
 * channel, of a sub-switch, of a column buffer. Who is first in one decides what all behind it wait for; so each queue
 * is a node of the graph, and waits for every queue into which any of its packets may go.
 *
 * Sub-switches have a queue for each input and channel. By the channel in which a packet came, as the simulator has
 * it, there is no circle. By the channel in which it leaves there is one: packets that came in different channels and
 * leave in the same one stand behind each other, and a packet waits for what only the others' ways need.
 */
#include <cstdio>
#include <map>

#include "dependencies.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_aries;
using topology::build_canonical;

namespace
{

enum class By : uint8_t { InputChannel, OutputChannel };

/* The queues between the channels of a dependency graph. Numbers below that of the channels are input queues. */
class Queues
{
public:
	Queues(const RoutedMachine &net, const Dependencies &channels, By by)
		: columns_(net.machine.router_type.columns), graph_(channels.graph().size())
	{
		const uint32_t tiles = net.wiring.tiles();

		for (uint32_t from = 0; from < channels.graph().size(); from++) {
			for (const uint32_t to : channels.graph()[from]) {
				const uint32_t router = to / CHANNELS / tiles;
				const uint32_t in =
					net.wiring.far_end(from / CHANNELS / tiles, from / CHANNELS % tiles).tile;
				const uint32_t out = to / CHANNELS % tiles;
				const uint32_t key = by == By::InputChannel ? from % CHANNELS : to % CHANNELS;
				const uint32_t sub = node({0, router, in, out % columns_, key});
				const uint32_t column = node({1, router, in / columns_, out, to % CHANNELS});

				connect(from, sub);
				connect(sub, column);
				connect(column, to);
			}
		}
	}

	std::vector<uint32_t> circle() const { return find_circle(graph_); }
	size_t size() const { return numbers_.size(); }

private:
	using Key = std::array<uint32_t, 5>; // kind, router, input or its row, column or output, channel

	uint32_t node(const Key &key)
	{
		const auto [at, is_new] = numbers_.emplace(key, static_cast<uint32_t>(graph_.size()));

		if (is_new)
			graph_.emplace_back();
		return at->second;
	}

	void connect(uint32_t from, uint32_t to)
	{
		if (std::find(graph_[from].begin(), graph_[from].end(), to) == graph_[from].end())
			graph_[from].push_back(to);
	}

	uint32_t columns_;
	Graph graph_;
	std::map<Key, uint32_t> numbers_;
};

std::vector<std::pair<const char *, topology::Machine>> machines()
{
	return {
		{"one group of 3 x 8", build_aries({.groups = 1, .chassis = 3, .slots = 8})},
		{"11 groups of 2 x 2", build_aries({.groups = 11, .chassis = 2, .slots = 2})},
		{"5 groups of 3 x 5", build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1})},
		{"canonical 2, 4, 2", build_canonical({.p = 2, .a = 4, .h = 2})},
	};
}

TEST(sub_switches_by_input_channel_P13_P15)
{
	uint32_t circles = 0;

	for (auto &[name, machine] : machines()) {
		const RoutedMachine net(machine);
		Dependencies channels(net);

		channels.add_all();

		const Queues in(net, channels, By::InputChannel), out(net, channels, By::OutputChannel);
		const auto circle = out.circle();

		std::printf("%s: %zu queues inside routers; by output channel a circle of %zu\n", name, in.size(),
			    circle.size());
		assert_true(in.size() > 100);
		assert_true(in.circle().empty());
		circles += !circle.empty();
	}
	/* The search finds circles where there are some. */
	assert_true(circles > 0);
}

} // namespace

TEST_MAIN("subswitch")
