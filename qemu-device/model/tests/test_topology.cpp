// SPDX-License-Identifier: GPL-2.0-or-later
/* Dragonfly: sizes, places, wiring. */
#include "cmocka_cpp.hpp"

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "topology/dragonfly.hpp"

using namespace aries;

namespace
{

uint32_t wired(const Dragonfly &topo, uint32_t router, TileKind kind)
{
	uint32_t count = 0;

	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++)
		count += tile_kind(tile) == kind && topo.far_end(router, tile).tile != NO_TILE;
	return count;
}

/* What a machine has of them is in test_build_aries (T02). */
TEST(tiles_by_kind)
{
	std::array<uint32_t, 4> count{};

	for (uint32_t tile = 0; tile < TILES; tile++)
		count[static_cast<uint32_t>(tile_kind(tile))]++;
	assert_int_equal(count[0], 15);
	assert_int_equal(count[1], 15);
	assert_int_equal(count[2], 10);
	assert_int_equal(count[3], 8);
}

TEST(sizes_T01_T07_T12)
{
	const Dragonfly two({2, 0, 0});
	const Dragonfly chassis({64, 0, 0});
	const Dragonfly group({384, 0, 0});
	const Dragonfly full({92544, 0, 0});

	assert_int_equal(two.routers(), 1);
	assert_int_equal(chassis.routers(), 16);
	assert_int_equal(group.routers(), 96);
	assert_int_equal(group.groups(), 1);
	assert_int_equal(full.groups(), 241);
	assert_int_equal(full.routers(), 23136);
	/* T49: eight groups of six chassis, and the largest of the paper. */
	assert_int_equal(Dragonfly({3072, 0, 0}).groups(), 8);
	assert_int_equal(Dragonfly({24576, 0, 0}).groups(), 64);
}

bool refused(DragonflyShape shape, const char *word)
{
	const std::string reason = Dragonfly::check(shape);
	bool thrown = false;

	try {
		Dragonfly topo(shape);
	} catch (const std::invalid_argument &error) {
		thrown = reason == error.what();
	}
	return thrown && reason.find(word) != std::string::npos && reason.find('\n') == std::string::npos;
}

TEST(impossible_sizes_have_a_reason_T11)
{
	assert_true(refused({0, 0, 0}, "at least one node"));
	assert_true(refused({64, 17, 0}, "at most 16"));
	assert_true(refused({64, 0, 7}, "at most 6"));
	assert_true(refused({92545, 0, 0}, "241 groups"));
	assert_true(refused({UINT32_MAX, 0, 0}, "241 groups"));
	/* 4 routers have 10 cables: 11 groups of 16 nodes. */
	assert_true(refused({177, 2, 2}, "11 groups, 176 nodes"));
	assert_true(Dragonfly::check({176, 2, 2}).empty());
	/* One router: 10 links, two cables of four. */
	assert_true(Dragonfly::check({12, 1, 1}).empty());
	assert_true(refused({13, 1, 1}, "3 groups"));
}

TEST(every_size_up_to_256_can_be_built)
{
	for (uint32_t nodes = 1; nodes <= 256; nodes++) {
		for (DragonflyShape shape :
		     {DragonflyShape{nodes, 0, 0}, {nodes, 4, 3}, {nodes, 4, 2}, {nodes, 5, 3}}) {
			assert_string_equal(Dragonfly::check(shape).c_str(), "");

			const Dragonfly topo(shape);

			assert_true(topo.routers() * 4 >= nodes);
			assert_true(topo.routers() <= 128);
		}
	}
}

TEST(places_are_one_to_one)
{
	for (DragonflyShape shape : {DragonflyShape{92544, 0, 0}, {64, 2, 2}, {100, 0, 0}, {250, 5, 3}}) {
		const Dragonfly topo(shape);
		uint32_t last_group = 0;

		for (uint32_t node = 0; node < topo.nodes(); node++) {
			const Place at = topo.node_place(node);

			assert_int_equal(topo.node_at(at), node);
			assert_true(topo.router_exists(at.group, at.chassis, at.slot));
			assert_true(at.nic < 4 && at.group < topo.groups());
			assert_int_equal(topo.group_of(node / 4), at.group);
			last_group = at.group;
		}
		assert_int_equal(last_group, topo.groups() - 1);
	}
}

/* Each link is the other end of its other end, and both ends are of one kind. */
TEST(links_have_two_ends)
{
	for (DragonflyShape shape : {DragonflyShape{64, 2, 2},
				     {176, 2, 2},
				     {100, 0, 0},
				     {768, 0, 0},
				     {12, 1, 1},
				     {250, 5, 3},
				     {3072, 0, 0},
				     {92544, 0, 0}}) {
		const Dragonfly topo(shape);

		for (uint32_t router = 0; router < topo.routers(); router++) {
			for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
				const LinkEnd far = topo.far_end(router, tile);

				if (far.tile == NO_TILE)
					continue;

				const LinkEnd back = topo.far_end(far.router, far.tile);

				assert_true(far.router != router && far.router < topo.routers());
				assert_int_equal(back.router, router);
				assert_int_equal(back.tile, tile);
				assert_int_equal(tile_kind(far.tile), tile_kind(tile));
				assert_true((topo.group_of(router) != topo.group_of(far.router)) ==
					    (tile_kind(tile) == TileKind::Blue));
			}
		}
	}
}

TEST(group_wiring_T08_T09)
{
	const Dragonfly topo({384, 0, 0});
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> links;
	uint32_t green = 0;
	uint32_t black = 0;

	for (uint32_t router = 0; router < 96; router++) {
		assert_int_equal(wired(topo, router, TileKind::Green), 15);
		assert_int_equal(wired(topo, router, TileKind::Black), 15);
		assert_int_equal(wired(topo, router, TileKind::Blue), 0);
		green += wired(topo, router, TileKind::Green);
		black += wired(topo, router, TileKind::Black);
		for (uint32_t tile = 0; tile < FIRST_BLUE; tile++)
			links[{router, topo.far_end(router, tile).router}]++;
	}
	assert_int_equal(green / 2, 720);
	assert_int_equal(black / 2, 720);
	for (uint32_t a = 0; a < 96; a++) {
		for (uint32_t b = 0; b < 96; b++) {
			const Place pa = topo.router_place(a);
			const Place pb = topo.router_place(b);
			const bool same_chassis = pa.chassis == pb.chassis;
			const bool same_slot = pa.slot == pb.slot;
			const uint32_t expect = a == b ? 0 : same_chassis ? 1 : same_slot ? 3 : 0;

			assert_int_equal((links[{a, b}]), expect);
		}
	}
}

/* T21: links that cross a cut through the middle of either dimension. */
TEST(group_bisection_T21)
{
	const Dragonfly topo({384, 0, 0});
	uint32_t green = 0;
	uint32_t black = 0;

	for (uint32_t router = 0; router < 96; router++) {
		for (uint32_t tile = 0; tile < FIRST_BLUE; tile++) {
			const Place a = topo.router_place(router);
			const Place b = topo.router_place(topo.far_end(router, tile).router);

			green += a.slot < 8 && b.slot >= 8;
			black += a.chassis < 3 && b.chassis >= 3;
		}
	}
	assert_int_equal(green, 384);
	assert_int_equal(black, 432);
}

TEST(global_wiring_T10_T11_T25)
{
	struct {
		uint32_t groups;
		uint32_t cables;
	} const cases[] = {{2, 240}, {3, 120}, {6, 48}, {8, 34}, {64, 3}, {241, 1}};

	for (const auto &c : cases) {
		const Dragonfly topo({c.groups * 384, 0, 0});
		std::map<uint32_t, uint32_t> to_peer;

		assert_int_equal(topo.groups(), c.groups);
		assert_int_equal(topo.links_between_groups(), c.cables * 4);
		for (uint32_t router = 0; router < 96; router++) {
			for (uint32_t tile = FIRST_BLUE; tile < NETWORK_TILES; tile++) {
				const LinkEnd far = topo.far_end(router, tile);

				if (far.tile != NO_TILE)
					to_peer[topo.group_of(far.router)]++;
			}
		}
		assert_int_equal(to_peer.size(), c.groups - 1);
		for (const auto &[peer, links] : to_peer) {
			assert_int_not_equal(peer, 0);
			assert_int_equal(links, c.cables * 4);
		}
	}
}

/* blue_link() and far_end() tell the same story, link by link. */
TEST(global_links_are_numbered_alike_at_both_ends)
{
	const Dragonfly topo({176, 2, 2});
	std::set<std::pair<uint32_t, uint32_t>> seen;

	for (uint32_t a = 0; a < topo.groups(); a++) {
		for (uint32_t b = 0; b < topo.groups(); b++) {
			for (uint32_t i = 0; a != b && i < topo.links_between_groups(); i++) {
				const LinkEnd near = topo.blue_link(a, b, i);
				const LinkEnd far = topo.blue_link(b, a, i);
				const LinkEnd end = topo.far_end(near.router, near.tile);

				assert_int_equal(topo.group_of(near.router), a);
				assert_int_equal(end.router, far.router);
				assert_int_equal(end.tile, far.tile);
				assert_true(seen.insert({near.router, near.tile}).second);
			}
		}
	}
}

/* T37: six groups with 48 cables each: every router is connected to every other group, by two links. */
TEST(six_groups_reach_each_other_from_every_router_T37)
{
	const Dragonfly topo({6 * 384, 0, 0});

	for (uint32_t router = 0; router < topo.routers(); router++) {
		std::map<uint32_t, uint32_t> to_peer;

		for (uint32_t tile = FIRST_BLUE; tile < NETWORK_TILES; tile++)
			to_peer[topo.group_of(topo.far_end(router, tile).router)]++;
		assert_int_equal(to_peer.size(), 5);
		for (const auto &[peer, links] : to_peer)
			assert_int_equal(links, 2);
	}
}

TEST(rates_T19_T20_P17)
{
	assert_int_equal(raw_mbit_per_s(Medium::Electrical), 42000);
	assert_int_equal(raw_mbit_per_s(Medium::Optical), 37500);
	assert_int_equal(raw_mbit_per_s(Medium::Processor), 42000);
	assert_int_equal(raw_mbit_per_s(Medium::Electrical, 2), 28000);
	assert_int_equal(raw_mbit_per_s(Medium::Electrical, 1), 14000);
	assert_int_equal(tile_medium(FIRST_BLUE), Medium::Optical);
	assert_int_equal(tile_medium(FIRST_BLUE - 1), Medium::Electrical);
	assert_int_equal(tile_medium(FIRST_PROCESSOR), Medium::Processor);
}

} // namespace

TEST_MAIN("topology")
