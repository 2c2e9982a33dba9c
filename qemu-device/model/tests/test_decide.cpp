// SPDX-License-Identifier: GPL-2.0-or-later
/* One decision: candidates, biases, modes, channels, links that are down. */
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "route_walk.hpp"
#include "topology/build_aries.hpp"
#include "topology/dragonfly.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_aries;

namespace
{

constexpr RoutingMode ADAPTIVE{Routing::Adaptive, 0};
constexpr RoutingMode MODES[] = {{Routing::InOrder, 0},  {Routing::MinimalHash, 0}, {Routing::NonminimalHash, 0},
				 {Routing::Adaptive, 0}, {Routing::Adaptive, 1},    {Routing::Adaptive, 2},
				 {Routing::Adaptive, 3}};

/* Eleven groups of 2 x 2: four global links between each two, roots and gateways of all kinds. */
const topology::AriesShape SMALL{.groups = 11, .chassis = 2, .slots = 2};

const RoutedMachine &small_machine()
{
	static const RoutedMachine net(build_aries(SMALL));

	return net;
}

/* Two full groups: ten links from every router to the other group. */
const RoutedMachine &two_groups()
{
	static const RoutedMachine net(build_aries({.groups = 2}));

	return net;
}

Header header(const RoutedMachine &net, uint32_t dst, RoutingMode mode, uint32_t hash = 0)
{
	return header_to(net, dst, mode, hash);
}

template <typename Load>
Decision inject(const RoutedMachine &net, uint32_t src, const Header &packet, const Load &load, uint64_t random)
{
	return decide(net.tables.router(src), net.inject, packet, load, random);
}

TEST(minimal_candidates_are_two_and_uniform_R06)
{
	const RoutedMachine &net = two_groups();
	const RouterTables &at = net.tables.router(5);
	const Ports entry = at.global[1];
	std::map<std::pair<uint8_t, uint8_t>, double> seen;

	assert_int_equal(entry.count, 10);
	for (uint32_t i = 0; i < 90000; i++) {
		const PortPair pair = pick_two(at, entry, mix64(i + 1));

		assert_int_not_equal(pair.first, pair.second);
		seen[{pair.first, pair.second}]++;
	}
	/* All ordered pairs, equally often. */
	assert_int_equal(seen.size(), 10 * 9);
	assert_true(is_even(seen));
}

/* Two different roots, uniform over all routers but the ends (R04), inside a group over those of the group (R03). */
void check_roots(const RoutedMachine &net, uint32_t src, uint32_t dst, uint32_t expected)
{
	const RouterTables &at = net.tables.router(src);
	const Address to = net.tables.address(dst);
	std::map<uint32_t, double> first;
	std::map<uint32_t, double> second;

	for (uint32_t i = 0; i < 1000 * expected; i++) {
		const RootPair pair = pick_roots(at, to, mix64(i + 1));

		assert_false(pair.first.root == pair.second.root);
		for (const Candidate &by : {pair.first, pair.second}) {
			const Ports entry = minimal_entry(at, by.root);
			const uint8_t *list = at.ports + entry.first;

			assert_false(by.root == at.here || by.root == to);
			assert_true(std::find(list, list + entry.count, by.tile) != list + entry.count);
		}
		first[net.tables.router_at(pair.first.root)]++;
		second[net.tables.router_at(pair.second.root)]++;
	}
	for (const auto &seen : {first, second}) {
		for (const auto &[root, count] : seen)
			assert_true(net.group_of(src) != net.group_of(dst) || net.group_of(root) == net.group_of(src));
		assert_int_equal(seen.size(), expected);
		assert_true(is_even(seen));
	}
}

TEST(roots_are_two_and_uniform_R03_R04_R06)
{
	check_roots(small_machine(), 0, 43, 42);
	check_roots(small_machine(), 17, 4, 42);
	check_roots(small_machine(), 4, 7, 2);
	check_roots(two_groups(), 3, 80, 94);
}

/* Which tiles a decision asks the load of is its list of candidates. */
struct Trace {
	std::vector<uint32_t> load = std::vector<uint32_t>(MAX_TILES);
	mutable std::vector<uint32_t> asked;

	uint32_t operator()(uint32_t tile) const
	{
		asked.push_back(tile);
		return load[tile];
	}
};

/* Two minimal and two non-minimal tiles are looked at, and the lightest is taken, with the bias (R06, R10). */
TEST(lightest_of_four_R06_R10)
{
	Policy policy;
	uint32_t by_root = 0;

	policy.global_bias = {0, 25, -25, 1000};

	const RoutedMachine net(build_aries(SMALL), policy);

	for (uint32_t i = 0; i < 20000; i++) {
		const uint64_t random = mix64(i + 7);
		const uint32_t src = i % 44;
		const uint32_t dst = (src + 4 + i / 44 % 36) % 44;
		const auto bias = static_cast<uint8_t>(i % BIASES);
		Trace trace;

		for (uint32_t tile = 0; tile < TILES; tile++)
			trace.load[tile] = 1 + mix64(random + tile) % 100;

		const Decision d =
			inject(net, src, header(net, dst, {Routing::Adaptive, bias}), std::cref(trace), random);
		const auto &asked = trace.asked;
		const uint32_t minimal = std::min(trace.load[asked[0]], trace.load[asked[1]]);

		if (asked.size() == 2) {
			/* No load can be lighter by so much. */
			assert_true(static_cast<int64_t>(minimal) <= policy.global_bias[bias]);
			assert_true(d.root == NO_ROOT);
			assert_int_equal(trace.load[d.tile], minimal);
			continue;
		}
		assert_int_equal(asked.size(), 4);

		const uint32_t other = std::min(trace.load[asked[2]], trace.load[asked[3]]);
		const bool want_root =
			static_cast<int64_t>(other) + policy.global_bias[bias] < static_cast<int64_t>(minimal);

		assert_int_equal(d.root != NO_ROOT, want_root);
		assert_int_equal(d.phase == Phase::Up, want_root);
		assert_int_equal(trace.load[d.tile], want_root ? other : minimal);
		by_root += want_root;
	}
	assert_in_range(by_root, 2000, 18000);
}

/* Load on all minimal tiles against load on all others: the border is where the bias says, for each mode (R10). */
TEST(biases_are_data_R10)
{
	Policy policy;

	policy.global_bias = {0, 100, -100, 1000};
	policy.local_bias = {-7, 0, 7, 70};

	const RoutedMachine net(build_aries({.groups = 1}), policy);
	const RoutedMachine two(build_aries({.groups = 2}), policy);

	for (uint32_t mode = 0; mode < BIASES; mode++) {
		for (const int32_t off : {-1, 0, 1}) {
			/* Inside a group, from one chassis to the next: the green link against black ones. */
			const RouterTables &at = net.tables.router(0);
			const uint32_t minimal = 5000;
			const int32_t others = static_cast<int32_t>(minimal) - policy.local_bias[mode] + off;
			const auto load = [&](uint32_t tile) {
				return tile == at.ports[at.local[1].first] ? minimal : static_cast<uint32_t>(others);
			};
			const Header packet = header(net, 1, {Routing::Adaptive, static_cast<uint8_t>(mode)});
			uint32_t taken = 0;

			for (uint32_t i = 0; i < 50; i++)
				taken += load(inject(net, 0, packet, load, mix64(i)).tile) != minimal;
			assert_int_equal(taken > 25, off < 0);
			assert_true(off < 0 || taken == 0);

			/* Between two groups: all global links against green and black ones. */
			const int32_t local = static_cast<int32_t>(minimal) - policy.global_bias[mode] + off;
			const auto load2 = [&](uint32_t tile) {
				return tile_kind(tile) == TileKind::Blue ? minimal : static_cast<uint32_t>(local);
			};
			const Header far = header(two, 100, {Routing::Adaptive, static_cast<uint8_t>(mode)});

			taken = 0;
			for (uint32_t i = 0; i < 50; i++)
				taken += tile_kind(inject(two, 0, far, load2, mix64(i)).tile) != TileKind::Blue;
			assert_int_equal(taken > 5, off < 0);
			assert_true(off < 0 || taken == 0);
		}
	}
}

/* Whatever the bias: nothing is lighter than a quiet minimal way (R11). */
TEST(quiet_is_minimal_R11)
{
	Policy policy;

	policy.global_bias = {0, 100, -100, -100000};
	policy.local_bias = {-1, 0, 7, -100000};

	const RoutedMachine net(build_aries(SMALL), policy);

	for (const RoutingMode mode : MODES) {
		for (uint32_t i = 0; i < 5000; i++) {
			const uint32_t src = i % 44;
			const uint32_t dst = (src + 1 + i / 44 % 43) % 44;
			const Decision d = inject(net, src, header(net, dst, mode, i), Quiet{}, mix64(i));

			assert_int_equal(d.root != NO_ROOT, mode.routing == Routing::NonminimalHash);
			assert_int_equal(d.phase == Phase::Up, mode.routing == Routing::NonminimalHash);
		}
	}
}

std::vector<Step> steps_of(const RoutedMachine &net, uint32_t src, uint32_t dst, RoutingMode mode, uint32_t hash,
			   uint64_t seed)
{
	const auto load = [&](uint32_t router, uint32_t tile) {
		return static_cast<uint32_t>(mix64(seed + uint64_t{router} * 64 + tile) % 1000);
	};

	return walk_from(net, src, header(net, dst, mode, hash), load, seed).steps;
}

/* Whether ways differ between random loads and random bits, and between hashes, is the mode (R12). */
TEST(modes_keep_order_R12)
{
	const RoutedMachine &net = two_groups();

	for (const RoutingMode mode : MODES) {
		uint32_t by_chance = 0;
		uint32_t by_hash = 0;

		for (uint32_t pair = 0; pair < 200; pair++) {
			const auto src = static_cast<uint32_t>(mix64(pair) % 192);
			const uint32_t dst = (src + 1 + static_cast<uint32_t>(mix64(pair + 999) % 191)) % 192;
			const auto first = steps_of(net, src, dst, mode, 1, 1);

			for (uint64_t seed = 2; seed < 6; seed++)
				by_chance += steps_of(net, src, dst, mode, 1, seed) != first;
			for (uint32_t hash = 2; hash < 6; hash++)
				by_hash += steps_of(net, src, dst, mode, hash, 1) != first;
		}
		const bool adaptive = mode.routing == Routing::Adaptive;
		const bool hashed = mode.routing == Routing::MinimalHash || mode.routing == Routing::NonminimalHash;

		assert_int_equal(by_chance > 100, adaptive);
		assert_true(adaptive || by_chance == 0);
		assert_int_equal(by_hash > 100, hashed);
		assert_true(hashed || by_hash == 0);
	}
}

/* Ways of different hashes, or of different destinations in the ordered mode, use all links of a router. */
TEST(fixed_modes_use_all_links_R12)
{
	const RoutedMachine &net = two_groups();

	for (const Routing routing : {Routing::InOrder, Routing::MinimalHash}) {
		std::map<uint32_t, double> seen;

		for (uint32_t i = 0; i < 9600; i++)
			seen[inject(net, 7, header(net, 96 + i % 96, {routing, 0}, i), Quiet{}, 0).tile]++;
		assert_int_equal(seen.size(), BLUE_LINKS);
		assert_true(routing == Routing::InOrder || is_even(seen));
	}
}

/* Packets whose hashes met in one link do not all meet again behind the next router (R12). */
TEST(hashes_part_again_R12)
{
	const RoutedMachine &net = two_groups();
	std::map<uint32_t, double> again;

	for (uint32_t hash = 0; hash < 30000; hash++) {
		const Header far = header(net, 100, {Routing::MinimalHash, 0}, hash);
		const Header near = header(net, 17, {Routing::MinimalHash, 0}, hash);

		if (inject(net, 0, far, Quiet{}, 0).tile == FIRST_BLUE)
			again[inject(net, 1, near, Quiet{}, 0).tile]++;
	}
	assert_int_equal(again.size(), BLACK_LINKS);
	assert_true(is_even(again));
}

/* Later routers choose the lighter of two, where the mode allows it. */
TEST(later_hops_adapt_R12)
{
	const RoutedMachine &net = two_groups();
	/* At the router below the destination, three black links lead there. */
	const uint32_t router = 1;
	const uint32_t in = Dragonfly::green_tile(1, 0);
	const uint32_t dst = 17;
	const uint32_t black = Dragonfly::black_tile(0, 1, 0);

	for (uint32_t light = 0; light < BLACK_LINKS; light++) {
		uint32_t adaptive = 0;
		uint32_t hashed = 0;
		const auto load = [&](uint32_t tile) { return tile == black + light ? 5u : 50u; };

		for (uint32_t i = 0; i < 3000; i++) {
			const Header a = header(net, dst, ADAPTIVE, i);
			const Header h = header(net, dst, {Routing::MinimalHash, 0}, i);

			adaptive += decide(net.tables.router(router), in, a, load, mix64(i)).tile == black + light;
			hashed += decide(net.tables.router(router), in, h, load, mix64(i)).tile == black + light;
		}
		/* It is one of the two candidates in two cases of three. */
		assert_in_range(adaptive, 1900, 2100);
		assert_in_range(hashed, 900, 1100);
	}
}

/* The output channel follows from the kind of the input tile, the input channel, and whether this is the root (R16). */
TEST(channel_rule_P13_R16)
{
	const RoutedMachine &net = small_machine();
	const uint32_t here = 6;
	const uint32_t dst = 7;
	const uint32_t green = FIRST_GREEN;
	const uint32_t blue = FIRST_BLUE;

	for (const uint32_t lowest : {0u, 4u}) {
		const auto next = [&](uint32_t in, uint32_t channel, Address root, Phase phase) {
			Header packet = header(net, dst, ADAPTIVE);

			packet.channel = static_cast<uint8_t>(lowest + channel);
			packet.root = root;
			packet.phase = phase;
			return decide(net.tables.router(here), in, packet, Quiet{}, 1).channel - lowest;
		};
		const Address me = net.tables.address(here);
		const Address there = net.tables.address(20);

		assert_int_equal(next(net.inject, 0, NO_ROOT, Phase::Down), 0);
		assert_int_equal(next(green, 0, NO_ROOT, Phase::Down), 0);
		assert_int_equal(next(green, 2, there, Phase::Up), 2);
		assert_int_equal(next(blue, 0, NO_ROOT, Phase::Down), 1);
		assert_int_equal(next(blue, 2, there, Phase::Down), 3);
		assert_int_equal(next(green, 0, me, Phase::Up), 1);
		assert_int_equal(next(blue, 0, me, Phase::Up), 2);
		/* Never into the other class. */
		assert_int_equal(next(blue, 3, me, Phase::Up), 3);
	}
}

/* A link that is down is taken by nobody as long as another one of the entry is up, and then a root serves (R14). */
TEST(links_down_are_avoided_R14)
{
	const RoutedMachine &net = two_groups();

	for (const RoutingMode mode : MODES) {
		for (uint32_t i = 0; i < 300; i++) {
			const uint32_t up = i % BLUE_LINKS;
			const auto one = [&](uint32_t tile) {
				return tile >= FIRST_BLUE && tile != FIRST_BLUE + up ? LOAD_DOWN : 10u;
			};
			const auto none = [&](uint32_t tile) { return tile >= FIRST_BLUE ? LOAD_DOWN : 10u; };
			const Header packet = header(net, 100, mode, i);
			Decision d = inject(net, 3, packet, one, mix64(i));

			assert_true(d.tile < FIRST_BLUE || d.tile == FIRST_BLUE + up);
			assert_true(d.root != NO_ROOT || d.tile == FIRST_BLUE + up);
			/* Only a root of the own group is left. */
			d = inject(net, 3, packet, none, mix64(i));
			assert_true(d.tile < FIRST_BLUE || d.tile == NO_OUTPUT);
			assert_true(d.tile == NO_OUTPUT || d.root != NO_ROOT);
		}
	}
	/* All down: said, not guessed. */
	const auto dead = [](uint32_t) { return LOAD_DOWN; };

	for (const RoutingMode mode : MODES)
		assert_int_equal(inject(net, 3, header(net, 100, mode), dead, 1).tile, NO_OUTPUT);
}

/* At the destination the packet leaves by a tile of its NIC, the lighter of two if it may. */
TEST(arrives_at_its_nic_T04)
{
	const RoutedMachine &net = two_groups();

	for (uint8_t nic = 0; nic < NICS_PER_ROUTER; nic++) {
		std::set<uint32_t> seen;

		for (uint32_t i = 0; i < 200; i++) {
			Header packet = header(net, 9, ADAPTIVE);

			packet.nic = nic;
			seen.insert(decide(net.tables.router(9), i % 40, packet, Quiet{}, mix64(i)).tile);
		}
		assert_int_equal(seen.size(), 4);
		assert_int_equal(*seen.begin(), FIRST_PROCESSOR + nic / 2 * 4);
		assert_int_equal(*seen.rbegin(), FIRST_PROCESSOR + nic / 2 * 4 + 3);
	}
}

} // namespace

TEST_MAIN("decide")
