// SPDX-License-Identifier: GPL-2.0-or-later
/* With links cut at random, against a search of its own: a way that exists is found, and none is invented. */
#include "cmocka_cpp.hpp"

#include <cstring>
#include <random>
#include <vector>

#include "machine.hpp"

using namespace aries;

namespace
{

constexpr uint32_t NOWHERE = UINT32_MAX;

/** The links of a machine as the test knows them. */
class Wires
{
public:
	explicit Wires(Network &net) : net_(net), topo_(net.topology()), up_(topo_.routers() * NETWORK_TILES, false)
	{
		for (uint32_t router = 0; router < topo_.routers(); router++) {
			for (uint32_t tile = 0; tile < NETWORK_TILES; tile++)
				up_[router * NETWORK_TILES + tile] = topo_.far_end(router, tile).tile != NO_TILE;
		}
	}

	void cut(uint32_t router, uint32_t tile)
	{
		const LinkEnd far = topo_.far_end(router, tile);

		assert_true(net_.set_link(router, tile, false));
		up_[router * NETWORK_TILES + tile] = false;
		up_[far.router * NETWORK_TILES + far.tile] = false;
	}

	void cut_some(std::mt19937 &random, uint32_t percent)
	{
		for (uint32_t router = 0; router < topo_.routers(); router++) {
			for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
				if (up_[router * NETWORK_TILES + tile] && random() % 100 < percent)
					cut(router, tile);
			}
		}
	}

	/** Links that a way from @from to each router takes at least; NOWHERE: there is none. */
	std::vector<uint32_t> distances(uint32_t from) const
	{
		std::vector<uint32_t> distance(topo_.routers(), NOWHERE), next{from}, now;

		distance[from] = 0;
		for (uint32_t hops = 1; !next.empty(); hops++) {
			now.swap(next);
			next.clear();
			for (const uint32_t router : now) {
				for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
					const uint32_t far = topo_.far_end(router, tile).router;

					if (!up_[router * NETWORK_TILES + tile] || distance[far] != NOWHERE)
						continue;
					distance[far] = hops;
					next.push_back(far);
				}
			}
		}
		return distance;
	}

	/** Links that carry something: how many. Cut ones must not. */
	uint32_t loaded(uint64_t now) const
	{
		uint32_t count = 0;

		for (uint32_t router = 0; router < topo_.routers(); router++) {
			for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
				const bool load = net_.load_ns(router, tile, now) != 0;

				assert_true(up_[router * NETWORK_TILES + tile] || !load);
				count += load;
			}
		}
		return count;
	}

private:
	Network &net_;
	const Dragonfly &topo_;
	std::vector<bool> up_;
};

void check_pair(Machine &m, const Wires &wires, uint32_t from, uint32_t to, uint32_t distance, uint64_t &at)
{
	for (const uint16_t mode : {uint16_t(0), DLV_IN_ORDER, DLV_NMIN_HASH}) {
		at += NOW;
		const Network::Transit t =
			m.put8(from * NICS_PER_ROUTER, to * NICS_PER_ROUTER, mode, at * 0x9e3779b97f4a7c15, at);

		if (t.reachable != (distance != NOWHERE))
			fail_msg("routers %u to %u, mode %#x: told %d, %s", from, to, mode, t.reachable,
				 distance == NOWHERE ? "there is no way" : "there is a way");
		if (!t.reachable)
			continue;
		assert_in_range(t.hops, distance, m.net.topology().routers());
		/* Now and then: what was booked is a way of that length over links that are there. */
		if ((from * 31 + to) % 64 == 0)
			assert_in_range(wires.loaded(at), 1, t.hops);
	}
}

/* Tiles may be missing in the last routers of a machine: nodes are named by their routers' first NIC. */
void check_all(Machine &m, const Wires &wires, uint64_t &at)
{
	const uint32_t routers = (m.net.topology().nodes() + NICS_PER_ROUTER - 1) / NICS_PER_ROUTER;

	for (uint32_t from = 0; from < routers; from++) {
		const std::vector<uint32_t> distance = wires.distances(from);

		for (uint32_t to = 0; to < routers; to++) {
			if (to != from)
				check_pair(m, wires, from, to, distance[to], at);
		}
	}
}

TEST(random_cuts_R14)
{
	std::mt19937 random(4711);

	for (const DragonflyShape shape :
	     {DragonflyShape{40, 16, 6}, DragonflyShape{64, 4, 4}, DragonflyShape{64, 1, 6}, DragonflyShape{128, 3, 2},
	      DragonflyShape{256, 16, 4}}) {
		for (const uint32_t percent : {5, 20, 40, 60, 80}) {
			Machine m(shape);
			Wires wires(m.net);
			uint64_t at = NOW;

			wires.cut_some(random, percent);
			check_all(m, wires, at);
		}
	}
}

/* Two routers with eight links: each set of cuts that leaves one. */
TEST(each_set_of_cuts_R14)
{
	const uint32_t links = Machine({8, 1, 1}).net.topology().links_between_groups();
	uint64_t at = NOW;

	assert_in_range(links, 2, 12);
	for (uint32_t set = 0; set < uint32_t(1) << links; set++) {
		Machine m({8, 1, 1});
		Wires wires(m.net);
		uint32_t nth = 0;

		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			if (m.net.topology().far_end(0, tile).tile != NO_TILE && set >> nth++ & 1)
				wires.cut(0, tile);
		}
		check_all(m, wires, at);
	}
}

/* A chain: all but one neighbour of each router cut off. The way is longer than any of the tables. */
TEST(longest_way_R14)
{
	Machine m({64, 16, 1});
	Wires wires(m.net);
	uint64_t at = NOW;

	for (uint32_t a = 0; a < 16; a++) {
		for (uint32_t b = a + 2; b < 16; b++)
			wires.cut(a, Dragonfly::green_tile(a, b));
	}
	assert_int_equal(m.put8(0, 60).hops, 15);
	check_all(m, wires, at);
	wires.cut(7, Dragonfly::green_tile(7, 8));
	assert_false(m.put8(0, 60).reachable);
	check_all(m, wires, at);
}

/* Many flits go in parts, each its own way, and all parts have one. */
TEST(long_trains_R14)
{
	Machine m({64, 16, 1});
	Wires wires(m.net);

	for (uint32_t b = 1; b < 15; b++)
		wires.cut(0, Dragonfly::green_tile(0, b));
	for (uint32_t a = 1; a < 14; a++)
		wires.cut(a, Dragonfly::green_tile(a, 15));
	const Network::Transit t = book(m.net, 0, 4, PacketClass::Request, 4000, 0, 1, NOW);

	assert_true(t.reachable && t.nonminimal);
	assert_int_equal(t.hops, 3);
}

} // namespace

TEST_MAIN("tests")
