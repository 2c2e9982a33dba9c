// SPDX-License-Identifier: GPL-2.0-or-later
/* Routes: hop bounds, reachability, virtual channels, roots, the cache. */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "router/path_cache.hpp"
#include "router/route_tables.hpp"
#include "router/routing_mode.hpp"

using namespace aries;

namespace
{

struct Hops {
	uint32_t green = 0;
	uint32_t black = 0;
	uint32_t blue = 0;
	bool arrives = false;

	uint32_t all() const { return green + black + blue; }
};

/* Follow a path over real links from its source; arrives if each hop is wired and starts where the last ended. */
Hops walk(const Dragonfly &topo, const Path &path, uint32_t from, uint32_t to)
{
	Hops hops;

	for (uint32_t i = 0; i < path.hops; i++) {
		const uint32_t tile = link_tile(path.link[i]);
		const LinkEnd far = topo.far_end(from, tile);

		if (link_router(path.link[i]) != from || far.tile == NO_TILE)
			return hops;
		hops.green += tile_kind(tile) == TileKind::Green;
		hops.black += tile_kind(tile) == TileKind::Black;
		hops.blue += tile_kind(tile) == TileKind::Blue;
		from = far.router;
	}
	hops.arrives = from == to;
	return hops;
}

Path minimal(const RouteTables &tables, uint32_t from, uint32_t to, uint32_t way)
{
	Path path{};

	tables.append_minimal(from, to, way, path);
	return path;
}

void group_minimal_exhaustive_R01(void **)
{
	const Dragonfly topo({384, 0, 0});
	const RouteTables tables(topo);

	for (uint32_t a = 0; a < 96; a++) {
		for (uint32_t b = 0; b < 96; b++) {
			const Place pa = topo.router_place(a);
			const Place pb = topo.router_place(b);
			std::set<uint32_t> black;

			for (uint32_t way = 0; way < 4; way++) {
				const Path path = minimal(tables, a, b, way);
				const Hops hops = walk(topo, path, a, b);

				assert_true(hops.arrives);
				assert_int_equal(hops.green, pa.slot != pb.slot);
				assert_int_equal(hops.black, pa.chassis != pb.chassis);
				assert_int_equal(hops.blue, 0);
				if (hops.black)
					black.insert(path.link[path.hops - 1]);
			}
			/* All three parallel links are used (T09). */
			assert_int_equal(black.size(), pa.chassis != pb.chassis ? 3 : 0);
		}
	}
}

/* A last chassis with empty slots: still two hops between any two routers. */
void partly_filled_group_R01(void **)
{
	for (uint32_t nodes : {4u, 20u, 68u, 100u, 252u, 380u}) {
		const Dragonfly topo({nodes, 0, 0});
		const RouteTables tables(topo);

		for (uint32_t a = 0; a < topo.routers(); a++) {
			for (uint32_t b = 0; b < topo.routers(); b++) {
				const Hops hops = walk(topo, minimal(tables, a, b, a ^ b), a, b);

				assert_true(hops.arrives);
				assert_true(hops.green <= 1 && hops.black <= 1);
			}
		}
	}
}

/* Every step-th pair of routers; the longest way seen must be as long as stated. */
void check_global(const Dragonfly &topo, uint32_t step, uint32_t max_hops)
{
	const RouteTables tables(topo);
	uint32_t longest = 0;

	for (uint32_t a = 0; a < topo.routers(); a += step) {
		for (uint32_t b = a % step; b < topo.routers(); b += step) {
			const bool inside = topo.group_of(a) == topo.group_of(b);

			for (uint32_t way = 0; way < 4; way++) {
				const Hops hops = walk(topo, minimal(tables, a, b, way), a, b);

				assert_true(hops.arrives);
				assert_int_equal(hops.blue, inside ? 0 : 1);
				assert_true(hops.green <= (inside ? 1 : 2) && hops.black <= (inside ? 1 : 2));
				longest = std::max(longest, hops.all());
			}
		}
	}
	assert_int_equal(longest, max_hops);
}

void between_groups_minimal_R02(void **)
{
	check_global(Dragonfly({64, 2, 2}), 1, 3);
	check_global(Dragonfly({176, 2, 2}), 1, 4);
	check_global(Dragonfly({250, 5, 3}), 1, 4);
	check_global(Dragonfly({256, 3, 2}), 1, 5);
	check_global(Dragonfly({12, 1, 1}), 1, 1);
	check_global(Dragonfly({768, 0, 0}), 11, 3);
}

/* The whole machine, sampled: nothing is built for pairs (T12). */
void full_machine_R02_T12(void **)
{
	check_global(Dragonfly({92544, 0, 0}), 997, 5);
}

void six_groups_need_three_hops_T37(void **)
{
	check_global(Dragonfly({6 * 384, 0, 0}), 37, 3);
}

/* R05 needs tables that know the nearest gateway: no minimal way is longer than the nearest one makes it. */
void nearest_gateway_is_taken_R05(void **)
{
	const Dragonfly topo({176, 2, 2});
	const RouteTables tables(topo);

	for (uint32_t a = 0; a < topo.routers(); a++) {
		for (uint32_t group = 0; group < topo.groups(); group++) {
			uint32_t best = UINT32_MAX;

			if (group == topo.group_of(a))
				continue;
			for (uint32_t i = 0; i < topo.links_between_groups(); i++) {
				const uint32_t gateway = topo.blue_link(topo.group_of(a), group, i).router;

				best = std::min(best, minimal(tables, a, gateway, 0).hops);
			}
			for (uint32_t way = 0; way < 4; way++) {
				const Path path = minimal(tables, a, group * topo.group_routers(), way);

				assert_int_equal(tile_kind(link_tile(path.link[best])), TileKind::Blue);
			}
		}
	}
}

Path through(const RouteTables &tables, uint32_t from, uint32_t root, uint32_t to, uint32_t way)
{
	Path path = minimal(tables, from, root, way);

	tables.append_minimal(root, to, way >> 2, path);
	return path;
}

void group_nonminimal_R03(void **)
{
	const Dragonfly topo({384, 0, 0});
	const RouteTables tables(topo);
	uint32_t longest = 0;

	for (uint32_t a = 0; a < 96; a += 5) {
		for (uint32_t b = 0; b < 96; b++) {
			for (uint32_t pick = 0; pick < 16; pick++) {
				const uint32_t way = pick * 0x10000001u;
				const uint32_t root = tables.root(a, b, way);
				const Hops hops = walk(topo, through(tables, a, root, b, way), a, b);

				assert_true(root < 96 && root != a && root != b);
				assert_true(hops.arrives);
				assert_true(hops.green <= 2 && hops.black <= 2 && hops.blue == 0);
				longest = std::max(longest, hops.all());
			}
		}
	}
	assert_int_equal(longest, 4);
}

void global_nonminimal_R04(void **)
{
	uint32_t longest = 0;

	for (DragonflyShape shape : {DragonflyShape{176, 2, 2}, {256, 3, 2}}) {
		const Dragonfly topo(shape);
		const RouteTables tables(topo);

		for (uint32_t a = 0; a < topo.routers(); a++) {
			for (uint32_t b = 0; b < topo.routers(); b++) {
				const auto way = static_cast<uint32_t>(mix64(a * 1000 + b));
				const Hops hops = walk(topo, through(tables, a, tables.root(a, b, way), b, way), a, b);

				assert_true(hops.arrives);
				assert_true(hops.all() <= MAX_HOPS && hops.blue <= 2);
				longest = std::max(longest, hops.all());
			}
		}
	}
	assert_in_range(longest, 8, MAX_HOPS);
}

/* R04: roots are uniform over all routers of the system. */
void roots_are_uniform_R04(void **)
{
	const Dragonfly topo({176, 2, 2});
	const RouteTables tables(topo);
	std::map<uint32_t, uint32_t> seen;
	const uint32_t rounds = 44 * 1000;

	for (uint32_t i = 0; i < rounds; i++)
		seen[tables.root(0, 43, static_cast<uint32_t>(mix64(i)))]++;
	assert_int_equal(seen.size(), 42);
	for (const auto &[root, count] : seen) {
		assert_true(root != 0 && root != 43);
		assert_in_range(count, rounds / 42 * 9 / 10, rounds / 42 * 11 / 10);
	}
}

/* Is there a circle of channels that wait for each other? */
class Dependencies
{
public:
	void add(const RouteTables &tables, uint32_t a, uint32_t root, uint32_t b, uint32_t way)
	{
		Path path = minimal(tables, a, root, way);
		const uint32_t up = path.hops;
		uint32_t vc = 0;
		uint32_t last = UINT32_MAX;

		tables.append_minimal(root, b, way, path);
		for (uint32_t i = 0; i < path.hops; i++) {
			if (i)
				vc = RouteTables::next_vc(vc, tile_kind(link_tile(path.link[i - 1])) == TileKind::Blue,
							  i == up);
			highest_ = std::max(highest_, vc);

			const uint32_t channel = path.link[i] * 8 + vc;

			if (last != UINT32_MAX)
				next_[last].insert(channel);
			last = channel;
		}
	}

	uint32_t highest() const { return highest_; }

	bool circular()
	{
		for (const auto &[channel, unused] : next_) {
			if (visit(channel))
				return true;
		}
		return false;
	}

private:
	bool visit(uint32_t channel)
	{
		int &mark = marks_[channel];

		if (mark)
			return mark == 1;
		mark = 1;
		const auto found = next_.find(channel);

		if (found != next_.end()) {
			for (uint32_t after : found->second) {
				if (visit(after))
					return true;
			}
		}
		marks_[channel] = 2;
		return false;
	}

	std::map<uint32_t, std::set<uint32_t>> next_;
	std::map<uint32_t, int> marks_;
	uint32_t highest_ = 0;
};

/* P13, R16: four channels are enough for any way, and no circle of waiting is possible. */
void channels_cannot_deadlock_P13_R16(void **)
{
	for (DragonflyShape shape : {DragonflyShape{48, 2, 2}, {44, 4, 3}, {64, 0, 0}, {36, 3, 1}}) {
		const Dragonfly topo(shape);
		const RouteTables tables(topo);
		Dependencies deps;

		for (uint32_t a = 0; a < topo.routers(); a++) {
			for (uint32_t b = 0; b < topo.routers(); b++) {
				for (uint32_t root = 0; root < topo.routers(); root++) {
					for (uint32_t way = 0; way < 4; way++)
						deps.add(tables, a, root, b, way);
				}
			}
		}
		assert_int_equal(deps.highest(), topo.groups() > 1 ? REQUEST_VCS - 1 : 1);
		assert_false(deps.circular());
	}
}

/* The detector of the test above finds a circle where there is one: one channel for everything. */
void deadlock_detector_detects(void **)
{
	const Dragonfly topo({64, 4, 4});
	const RouteTables tables(topo);
	std::map<uint32_t, std::set<uint32_t>> next;
	bool found = false;

	for (uint32_t a = 0; a < 16; a++) {
		for (uint32_t b = 0; b < 16; b++) {
			const Path path = through(tables, a, (a + 5) % 16, b, 0);

			for (uint32_t i = 1; i < path.hops; i++)
				next[path.link[i - 1]].insert(path.link[i]);
		}
	}
	for (const auto &[start, unused] : next) {
		std::set<uint32_t> reached{start};
		std::vector<uint32_t> todo{start};

		while (!todo.empty()) {
			const uint32_t at = todo.back();

			todo.pop_back();
			for (uint32_t after : next[at]) {
				found |= after == start;
				if (reached.insert(after).second)
					todo.push_back(after);
			}
		}
	}
	assert_true(found);
}

void cache_agrees_with_the_tables_R12(void **)
{
	for (DragonflyShape shape : {DragonflyShape{176, 2, 2}, {256, 0, 0}, {2, 0, 0}, {768, 0, 0}, {250, 5, 3}}) {
		const Dragonfly topo(shape);
		const RouteTables tables(topo);
		PathCache cache(topo.routers());
		const uint32_t step = topo.routers() > 100 ? 19 : 1;

		for (uint32_t round = 0; round < 2; round++) {
			for (uint32_t a = 0; a < topo.routers(); a += step) {
				for (uint32_t b = 0; b < topo.routers(); b += step) {
					for (uint32_t way = 0; a != b && way < 4; way++) {
						const Path want = minimal(tables, a, b, way);
						Path got;

						cache.get(tables, a, b, way, got);
						assert_int_equal(got.hops, want.hops);
						assert_memory_equal(got.link.data(), want.link.data(),
								    want.hops * sizeof(uint32_t));
					}
				}
			}
		}
	}
}

bool is(RoutingMode mode, Routing routing, uint8_t bias = 0)
{
	return mode.routing == routing && mode.bias == bias;
}

void delivery_modes_R10_R12(void **)
{
	assert_true(is(routing_mode(0, false), Routing::Adaptive, 0));
	assert_true(is(routing_mode(DLV_ADAPTIVE1, false), Routing::Adaptive, 1));
	assert_true(is(routing_mode(DLV_ADAPTIVE2, false), Routing::Adaptive, 2));
	assert_true(is(routing_mode(DLV_ADAPTIVE3, true), Routing::Adaptive, 3));
	assert_true(is(routing_mode(DLV_IN_ORDER, false), Routing::InOrder));
	assert_true(is(routing_mode(DLV_IN_ORDER, true), Routing::InOrder));
	assert_true(is(routing_mode(DLV_MIN_HASH, false), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NMIN_HASH, false), Routing::NonminimalHash));
	/* Requests and responses have a bit each. */
	assert_true(is(routing_mode(DLV_NO_ADAPT, false), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NO_ADAPT, true), Routing::Adaptive, 0));
	assert_true(is(routing_mode(DLV_NO_RADAPT, true), Routing::MinimalHash));
	assert_true(is(routing_mode(DLV_NO_RADAPT | DLV_NO_HASH, true), Routing::InOrder));
	assert_true(is(routing_mode(DLV_NO_RADAPT, false), Routing::Adaptive, 0));
	/* The modifier for the tail changes nothing for the packets themselves. */
	assert_true(is(routing_mode(0x100, false), Routing::Adaptive, 0));
	for (uint32_t i = 1; i < BIAS_NS.size(); i++)
		assert_true(BIAS_NS[i] > BIAS_NS[i - 1]);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(group_minimal_exhaustive_R01),   cmocka_unit_test(partly_filled_group_R01),
		cmocka_unit_test(between_groups_minimal_R02),     cmocka_unit_test(full_machine_R02_T12),
		cmocka_unit_test(six_groups_need_three_hops_T37), cmocka_unit_test(nearest_gateway_is_taken_R05),
		cmocka_unit_test(group_nonminimal_R03),           cmocka_unit_test(global_nonminimal_R04),
		cmocka_unit_test(roots_are_uniform_R04),          cmocka_unit_test(channels_cannot_deadlock_P13_R16),
		cmocka_unit_test(deadlock_detector_detects),      cmocka_unit_test(cache_agrees_with_the_tables_R12),
		cmocka_unit_test(delivery_modes_R10_R12),
	};

	return cmocka_run_group_tests_name("router", tests, nullptr, nullptr);
}
