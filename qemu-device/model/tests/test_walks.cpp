// SPDX-License-Identifier: GPL-2.0-or-later
/* Ways that decide() takes from router to router: bounds of hops, parallel links, shares, histograms. */
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "route_walk.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_aries;
using topology::build_canonical;

namespace
{

constexpr RoutingMode ADAPTIVE{Routing::Adaptive, 0};
constexpr RoutingMode BY_ROOT{Routing::NonminimalHash, 0};
constexpr RoutingMode ORDERED{Routing::InOrder, 0};

/* Kinds of hops: the local classes of links in their order, and all global ones. */
enum : uint32_t { GREEN, BLACK, BLUE = GLOBAL_HOP };

/* All ways from a router to another, and their longest: each pair of every step-th router, several times. */
struct Bounds {
	uint32_t step = 1;
	uint32_t times = 1;
	RoutingMode mode = ADAPTIVE;
	uint32_t inside[3];  ///< green, black, blue of a way inside a group
	uint32_t between[3]; ///< and of one between groups
	uint32_t longest;    ///< must be reached
};

void check_bounds(const RoutedMachine &net, const Bounds &bounds)
{
	uint32_t longest = 0;

	for (uint32_t a = 0; a < net.routers(); a += bounds.step) {
		for (uint32_t b = a % bounds.step; b < net.routers(); b += bounds.step) {
			const uint32_t *most = net.group_of(a) == net.group_of(b) ? bounds.inside : bounds.between;

			for (uint32_t time = 0; time < bounds.times; time++) {
				const uint64_t seed = mix64(uint64_t{time} << 40 | a << 20 | b);
				const Header header = header_to(net, b, bounds.mode, static_cast<uint32_t>(seed));
				const Walk walk = walk_from(net, a, header, quiet_link, seed);

				assert_true(walk.arrived);
				for (const uint32_t kind : {GREEN, BLACK, BLUE})
					assert_in_range(walk.hops(net, kind), 0, most[kind]);
				if (!walk.nonminimal)
					assert_int_equal(walk.hops(net, BLUE), most == bounds.between);
				longest = std::max(longest, static_cast<uint32_t>(walk.steps.size()));
			}
		}
	}
	assert_int_equal(longest, bounds.longest);
}

/* R01: at most one green and one black link, whatever the pair. */
TEST(group_minimal_exhaustive_R01)
{
	const RoutedMachine net(build_aries({.groups = 1}));

	assert_int_equal(net.routers(), 96);
	for (uint32_t a = 0; a < 96; a++) {
		for (uint32_t b = 0; b < 96; b++) {
			std::set<uint32_t> last;

			for (uint64_t seed = 0; seed < 48; seed++) {
				const Walk walk = walk_from(net, a, header_to(net, b, ADAPTIVE), quiet_link,
							    mix64(a * 96 + b) + seed * 100);

				assert_true(walk.arrived);
				assert_int_equal(walk.hops(net, GREEN), a % 16 != b % 16);
				assert_int_equal(walk.hops(net, BLACK), a / 16 != b / 16);
				assert_int_equal(walk.steps.size(), (a % 16 != b % 16) + (a / 16 != b / 16));
				if (!walk.steps.empty())
					last.insert(walk.steps.back().tile);
			}
			/* All three black links are used (T09). */
			assert_int_equal(last.size(), a / 16 != b / 16 ? 3 : a != b);
		}
	}
}

/* A last chassis with empty slots: still at most one green and one black hop. */
TEST(partly_filled_chassis_R01)
{
	for (const uint32_t slots : {1u, 2u, 15u}) {
		for (const uint32_t chassis : {1u, 2u, 6u}) {
			const RoutedMachine net(
				build_aries({.groups = 1, .last_group_chassis = chassis, .last_chassis_slots = slots}));

			assert_int_equal(net.routers(), (chassis - 1) * 16 + slots);
			assert_true(net.built.detoured.empty());
			check_bounds(net, {.inside = {1, 1, 0},
					   .between = {},
					   .longest = chassis > 1 ? 2u
						      : slots > 1 ? 1u
								  : 0u});
		}
	}
}

/* R02: minimal ways on both sides of one optical link. */
TEST(between_groups_minimal_R02)
{
	check_bounds(RoutedMachine(build_aries({.groups = 3, .chassis = 2, .slots = 4, .cables_per_pair = 1})),
		     {.times = 4, .inside = {1, 1, 0}, .between = {2, 2, 1}, .longest = 5});
	check_bounds(RoutedMachine(build_aries({.groups = 5, .chassis = 3, .slots = 5, .cables_per_pair = 1})),
		     {.times = 4, .inside = {1, 1, 0}, .between = {2, 2, 1}, .longest = 5});
	/* The last group is one chassis. */
	check_bounds(RoutedMachine(build_aries({.groups = 4, .last_group_chassis = 1, .cables_per_pair = 6})),
		     {.step = 3, .inside = {1, 1, 0}, .between = {2, 2, 1}, .longest = 4});
}

/* 48 cables between each two of six groups: every router has links to every group. */
TEST(six_groups_need_three_hops_T37)
{
	check_bounds(RoutedMachine(build_aries({.groups = 6, .cables_per_pair = 48})),
		     {.step = 5, .inside = {1, 1, 0}, .between = {1, 1, 1}, .longest = 3});
}

TEST(group_nonminimal_R03)
{
	const RoutedMachine net(build_aries({.groups = 1}));
	const Bounds bounds{.times = 8, .mode = BY_ROOT, .inside = {2, 2, 0}, .between = {}, .longest = 4};

	check_bounds(net, bounds);
}

TEST(global_nonminimal_R04)
{
	const Bounds bounds{
		.step = 7, .times = 8, .mode = BY_ROOT, .inside = {2, 2, 0}, .between = {4, 4, 2}, .longest = 10};

	check_bounds(RoutedMachine(build_aries({.groups = 9, .chassis = 3, .slots = 8, .cables_per_pair = 1})), bounds);
}

/* No router sends a packet further to a gateway than to the nearest one. */
TEST(nearest_gateway_is_taken_R05)
{
	const RoutedMachine net(build_aries({.groups = 11}));

	for (uint32_t a = 0; a < 96; a++) {
		for (uint32_t peer = 1; peer < 11; peer++) {
			uint32_t nearest = UINT32_MAX;

			for (uint32_t gateway = 0; gateway < 96; gateway++) {
				for (uint32_t tile = 30; tile < 40; tile++) {
					const auto far = net.wiring.far_end(gateway, tile);

					if (far.tile != topology::NOT_CONNECTED &&
					    net.wiring.group_of(far.router) == peer)
						nearest = std::min(nearest, uint32_t{a % 16 != gateway % 16} +
										    (a / 16 != gateway / 16));
				}
			}
			for (uint64_t seed = 0; seed < 4; seed++) {
				const Walk walk =
					walk_from(net, a, header_to(net, peer * 96, ADAPTIVE), quiet_link, seed * 99);

				assert_true(walk.steps[nearest].tile >= 30);
			}
		}
	}
}

/* Share of each number of hops of ways by a root between groups, for random ends. */
struct Histogram {
	std::array<uint32_t, 12> count{};
	double mean = 0;
	double blue = 0;
	double minimal = 0;

	uint32_t mode() const
	{
		return static_cast<uint32_t>(std::max_element(count.begin(), count.end()) - count.begin());
	}
	uint32_t longest() const
	{
		for (uint32_t hops = count.size(); hops-- > 0;) {
			if (count[hops])
				return hops;
		}
		return 0;
	}
};

Histogram measure(uint32_t groups, RootRule rule, uint32_t cables = 0)
{
	Policy policy;
	Histogram found;
	constexpr uint32_t samples = 20000;

	policy.roots = rule;

	const RoutedMachine net(build_aries({.groups = groups, .cables_per_pair = cables}), policy);

	for (uint32_t i = 0; i < samples;) {
		const auto a = pick_of(static_cast<uint32_t>(mix64(i + found.count[0])), net.routers());
		const auto b = pick_of(static_cast<uint32_t>(mix64(i + found.count[0]) >> 32), net.routers());

		if (net.group_of(a) == net.group_of(b)) {
			found.count[0]++;
			continue;
		}
		const Walk walk = walk_from(net, a, header_to(net, b, BY_ROOT, i), quiet_link, i);
		const Walk direct = walk_from(net, a, header_to(net, b, ADAPTIVE), quiet_link, i);

		assert_true(walk.arrived && walk.nonminimal && !direct.nonminimal);
		found.count[walk.steps.size()]++;
		found.mean += static_cast<double>(walk.steps.size()) / samples;
		found.blue += walk.hops(net, BLUE) / double{samples};
		found.minimal += static_cast<double>(direct.steps.size()) / samples;
		i++;
	}
	found.count[0] = 0;
	return found;
}

void print(uint32_t groups, const char *rule, const Histogram &found)
{
	std::printf("%4u groups, root is a %-6s: mean %.2f, most often %u, longest %u; blue %.2f; minimal %.2f |",
		    groups, rule, found.mean, found.mode(), found.longest(), found.blue, found.minimal);
	for (uint32_t hops = 2; hops <= 10; hops++)
		std::printf(" %u:%.1f%%", hops, found.count[hops] / 200.0);
	std::printf("\n");
}

/*
 * Six or seven hops are commonest from 8 groups on to some twenty: gateways are near, but not everywhere. In smaller
 * machines there are fewer hops, in larger ones eight, and nine where a pair of groups has but four links.
 */
TEST(histogram_R05)
{
	const std::map<uint32_t, uint32_t> commonest{{2, 5},  {3, 5},  {4, 5},  {6, 5},   {8, 6},  {11, 6},
						     {16, 7}, {32, 8}, {64, 8}, {128, 9}, {241, 9}};

	for (const auto &[groups, mode] : commonest) {
		const Histogram by_router = measure(groups, RootRule::Router);
		const Histogram by_group = measure(groups, RootRule::Group);

		print(groups, "router", by_router);
		print(groups, "group", by_group);
		assert_int_equal(by_router.mode(), mode);
		assert_true(by_group.longest() <= 8);
		/* Two thirds of the ways are not longer than said, up to 16 groups. */
		if (groups <= 16)
			assert_true(by_router.count[8] + by_router.count[9] + by_router.count[10] < 20000 / 3);
	}
}

/* The sources' own machines have 12 cables for each pair of 6 or 8 groups (T27, T28): six or seven hops (R05). */
TEST(partial_optics_R05_T27_T28)
{
	constexpr std::pair<uint32_t, uint32_t> machines[] = {{6, 12}, {8, 12}, {8, 24}, {11, 12}, {16, 12}};

	for (const auto &[groups, cables] : machines) {
		const Histogram found = measure(groups, RootRule::Router, cables);

		std::printf("%u cables a pair: ", cables);
		print(groups, "router", found);
		assert_in_range(found.mode(), 6, 7);
	}
}

/* Uniform traffic over a chassis or over a column keeps one in 16, one in 6 packets in its router (T38). */
TEST(share_that_stays_T38)
{
	const RoutedMachine net(build_aries({.groups = 1}));
	uint32_t stays[2] = {};

	for (uint32_t a = 0; a < 96; a++) {
		for (uint32_t b = 0; b < 96; b++) {
			const Walk walk = walk_from(net, a, header_to(net, b, ADAPTIVE), quiet_link, a * 96 + b);

			if (a / 16 == b / 16)
				stays[GREEN] += walk.hops(net, GREEN) == 0;
			if (a % 16 == b % 16)
				stays[BLACK] += walk.hops(net, BLACK) == 0;
		}
	}
	assert_int_equal(stays[GREEN] * 16, 96 * 16);
	assert_int_equal(stays[BLACK] * 6, 96 * 6);
}

/* Minimal ways cross one optical link; those by a root two, but for roots in one of the two groups (T47). */
TEST(optical_hops_T47)
{
	for (const uint32_t groups : {4u, 16u, 64u}) {
		const double inside = 2.0 / groups; // share of the roots
		const Histogram by_router = measure(groups, RootRule::Router);

		assert_true(std::abs(by_router.blue - (2 - inside)) < 0.02);
		assert_true(std::abs(measure(groups, RootRule::Group).blue - 2) < 1e-6);
	}
}

/* With two groups, ten links of every router lead to the other one, and all are used alike. */
TEST(all_parallel_links_are_used)
{
	for (const uint32_t groups : {2u, 3u, 6u}) {
		const RoutedMachine net(build_aries({.groups = groups}));

		for (const RoutingMode mode : {ADAPTIVE, RoutingMode{Routing::MinimalHash, 0}, ORDERED}) {
			std::map<std::pair<uint32_t, uint32_t>, double> used;
			const uint32_t pairs = 96 * 96 * 6;

			for (uint32_t i = 0; i < pairs; i++) {
				const uint32_t a = i % 96;
				const uint32_t b = 96 + i / 96 % 96;
				const Walk walk = walk_from(net, a, header_to(net, b, mode, i), quiet_link, mix64(i));

				for (const Step &step : walk.steps) {
					if (step.tile >= 30)
						used[{step.router, step.tile}]++;
				}
			}

			uint32_t links = 0;

			for (const topology::Link &link : net.machine.links) {
				const uint32_t a = net.group_of(link.end[0].router);
				const uint32_t b = net.group_of(link.end[1].router);

				links += a + b == 1 && a != b;
			}
			assert_int_equal(used.size(), links);
			const double share = double{pairs} / links;

			/* One way for each pair in the ordered mode: few draws. */
			for (const auto &[link, count] : used)
				assert_true(mode.routing == Routing::InOrder ||
					    std::abs(count - share) < share * 2 / 3);
		}
	}
}

/*
 * A response is a packet like another (R13): it finds its way by the loads that it meets. Requests whose ways are
 * loaded go by a root, and their responses come straight back.
 */
TEST(responses_go_their_own_way_R13)
{
	const RoutedMachine net(build_aries({.groups = 6}));
	uint32_t back_by_the_same_links = 0;

	for (uint32_t i = 0; i < 500; i++) {
		const auto a = static_cast<uint32_t>(mix64(i) % 96);
		const uint32_t b = 96 + static_cast<uint32_t>(mix64(i + 500) % 96);
		const auto load = [&](uint32_t router, uint32_t tile) {
			return router == a && tile >= 30 ? 90000u : 1u;
		};
		const Walk there = walk_from(net, a, header_to(net, b, ADAPTIVE), load, i);
		Header header = header_to(net, a, ADAPTIVE);

		header.channel = 4;

		const Walk back = walk_from(net, b, header, load, i + 1000);

		std::vector<std::pair<uint32_t, uint32_t>> reversed;
		std::vector<std::pair<uint32_t, uint32_t>> links;

		assert_true(there.arrived && back.arrived && !back.nonminimal);
		for (const Step &step : there.steps) {
			const auto far = net.wiring.far_end(step.router, step.tile);

			assert_in_range(step.channel, 0, 3);
			reversed.insert(reversed.begin(), {far.router, far.tile});
		}
		for (const Step &step : back.steps) {
			assert_in_range(step.channel, 4, 7);
			links.emplace_back(step.router, step.tile);
		}
		back_by_the_same_links += links == reversed;
	}
	assert_in_range(back_by_the_same_links, 0, 25);
}

/* The same code on the dragonfly of the literature: a group is a full mesh, one link between two groups. */
TEST(canonical_R01_R02_R04)
{
	const RoutedMachine net(build_canonical({.p = 2, .a = 4, .h = 2}));
	const RoutedMachine large(build_canonical({}));

	assert_int_equal(net.routers(), 36);
	assert_int_equal(large.routers(), 264);
	check_bounds(net, {.times = 4, .inside = {1, 1, 0}, .between = {2, 2, 1}, .longest = 3});
	check_bounds(net, {.times = 40, .mode = BY_ROOT, .inside = {2, 2, 0}, .between = {4, 4, 2}, .longest = 6});
	check_bounds(large, {.step = 5, .inside = {1, 1, 0}, .between = {2, 2, 1}, .longest = 3});
}

} // namespace

TEST_MAIN("walks")
