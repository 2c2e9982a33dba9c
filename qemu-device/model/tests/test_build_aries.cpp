// SPDX-License-Identifier: GPL-2.0-or-later
/* Machines of Aries routers: sizes, wiring, the rules of configuration, upgrades that keep their cables. */
#include "cmocka_cpp.hpp"

#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "topology/build_aries.hpp"
#include "topology/dragonfly.hpp"
#include "topology/wiring.hpp"

using namespace aries::topology;

namespace
{

constexpr uint8_t BLUE = 2;

Machine built(const AriesShape &shape)
{
	const std::string reason = check_aries(shape);

	if (!reason.empty())
		fail_msg("%s", reason.c_str());

	Machine machine = build_aries(shape);

	assert_string_equal(validate(machine).c_str(), "");
	return machine;
}

uint32_t count(const Machine &machine, uint8_t cls)
{
	uint32_t links = 0;

	for (const Link &link : machine.links)
		links += link.link_class == cls;
	return links;
}

/* Cables between groups: pair of groups to numbers of cables. */
std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> bundles(const Machine &machine)
{
	std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> result;

	for (const Link &link : machine.links) {
		if (link.link_class == BLUE)
			result[{machine.routers[link.end[0].router].group, machine.routers[link.end[1].router].group}]
				.insert(link.cable);
	}
	return result;
}

/* T01, T02, T03, T04, T06: what a router of a full machine is connected to. */
TEST(router_T01_T02_T03_T04_T06)
{
	const Machine machine = built({});
	const RouterType &type = machine.router_type;
	uint32_t count[4] = {};

	assert_int_equal(type.rows, 6);
	assert_int_equal(type.columns, 8);
	for (uint32_t tile = 0; tile < type.tiles.size(); tile++) {
		const bool processor = type.tiles[tile].role == TileRole::Processor;

		count[processor ? 3 : type.tiles[tile].link_class]++;
		/* Four tiles for NICs 0 and 1, four for 2 and 3. */
		assert_int_equal(type.tiles[tile].nic_mask, processor ? (tile < 44 ? 3 : 12) : 0);
	}
	assert_int_equal(count[0], 15);
	assert_int_equal(count[1], 15);
	assert_int_equal(count[2], 10);
	assert_int_equal(count[3], 8);
	/* 120 SerDes: three lanes to each network tile; four NICs. */
	assert_int_equal(count[0] * machine.classes[0].lanes + count[1] * machine.classes[1].lanes +
				 count[2] * machine.classes[2].lanes,
			 120);
	assert_int_equal(type.nics, 4);
	assert_int_equal(machine.nodes.size(), machine.routers.size() * 4);
}

/* T07 to T10: one group, and how many links of each colour there are. */
TEST(group_T07_T08_T09_T10)
{
	const Machine one = built({});

	assert_int_equal(one.nodes.size(), 384);
	assert_int_equal(one.routers.size(), 96);
	assert_int_equal(count(one, 0), 720);
	assert_int_equal(count(one, 1), 720);
	assert_int_equal(count(built({.groups = 2}), BLUE), 960);
}

/* T11, T12, T49: the largest machine, and those of the experiments. */
TEST(sizes_T11_T12_T49)
{
	const Machine largest = built({.groups = 241});

	assert_int_equal(largest.nodes.size(), 92544);
	assert_int_equal(largest.routers.size(), 23136);
	assert_int_equal(largest.links.size(), 241 * 1440 + 241 * 240 / 2 * 4);
	/* All of it in well under 100 MB. */
	assert_in_range(Wiring(largest).bytes() + largest.links.size() * sizeof(Link), 20'000'000, 40'000'000);
	assert_int_equal(built({.groups = 8}).nodes.size(), 3072);
	assert_int_equal(built({.groups = 64}).nodes.size(), 24576);
}

/* The numbers of routers, tiles and nodes, and all electrical links, are those of the device. */
TEST(numbers_are_those_of_the_device)
{
	for (const uint32_t groups : {1, 2, 6}) {
		const Machine machine = built({.groups = groups, .chassis = 3, .slots = 5});
		const Wiring wiring(machine);
		const aries::Dragonfly device({groups * 60, 5, 3});

		assert_int_equal(machine.routers.size(), device.routers());
		for (uint32_t router = 0; router < device.routers(); router++) {
			const aries::Place place = device.router_place(router);

			assert_true((machine.routers[router] == RouterPlace{place.group,
									    {static_cast<uint16_t>(place.chassis),
									     static_cast<uint16_t>(place.slot), 0}}));
			for (uint32_t tile = 0; tile < aries::FIRST_BLUE; tile++) {
				const aries::LinkEnd there = device.far_end(router, tile);
				const LinkEnd here = wiring.far_end(router, tile);

				assert_int_equal(here.router, there.router);
				assert_int_equal(here.tile, there.tile);
			}
			for (uint32_t nic = 0; nic < 4; nic++)
				assert_int_equal(wiring.node_at(router, nic), router * 4 + nic);
		}
	}
}

/* T25: as many cables as the ports allow; each bundle has the same number, each cable four links. */
TEST(full_optics_T25)
{
	struct {
		uint32_t groups;
		uint32_t cables;
	} const cases[] = {{2, 240}, {3, 120}, {6, 48}, {8, 34}, {64, 3}, {241, 1}};

	for (const auto &c : cases) {
		const Machine machine = built({.groups = c.groups});
		const auto pairs = bundles(machine);

		assert_int_equal(aries_cables_per_pair({.groups = c.groups}), c.cables);
		assert_int_equal(pairs.size(), c.groups * (c.groups - 1) / 2);
		for (const auto &[pair, cables] : pairs)
			assert_int_equal(cables.size(), c.cables);
		assert_int_equal(count(machine, BLUE), pairs.size() * c.cables * 4);
	}
}

/* T37: with six groups and 48 cables every router has two links to every other group. */
TEST(every_router_reaches_every_group_T37)
{
	const Machine machine = built({.groups = 6});
	const Wiring wiring(machine);

	for (uint32_t router = 0; router < wiring.routers(); router++) {
		std::map<uint32_t, uint32_t> to;

		for (uint32_t tile = aries::FIRST_BLUE; tile < aries::FIRST_PROCESSOR; tile++)
			to[wiring.group_of(wiring.far_end(router, tile).router)]++;
		assert_int_equal(to.size(), 5);
		for (const auto &[peer, links] : to)
			assert_int_equal(links, 2);
	}
}

/* Partial optics: the ports of a bundle are spread evenly over the six chassis, whatever the peer. */
TEST(bundles_are_spread_over_chassis_T31)
{
	for (const uint32_t cables : {12, 24, 30}) {
		const Machine machine = built({.groups = 8, .cables_per_pair = cables});
		std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<uint32_t>> used;

		for (const Link &link : machine.links) {
			for (int side = 0; link.link_class == BLUE && side < 2; side++) {
				const RouterPlace &near = machine.routers[link.end[side].router];
				const uint32_t far = machine.routers[link.end[1 - side].router].group;

				used[{near.group, near.at[0], far}].insert(link.cable);
			}
		}
		assert_int_equal(used.size(), 8 * 6 * 7);
		for (const auto &[where, numbers] : used)
			assert_int_equal(numbers.size(), cables / 6);
	}
}

/* A link by the places of its ends, which do not change when a machine grows. */
using PlacedLink = std::tuple<RouterPlace, uint32_t, RouterPlace, uint32_t>;

std::set<PlacedLink> placed_links(const Machine &machine)
{
	std::set<PlacedLink> result;

	for (const Link &link : machine.links)
		result.insert({machine.routers[link.end[0].router], link.end[0].tile,
			       machine.routers[link.end[1].router], link.end[1].tile});
	return result;
}

uint32_t links_lost(const AriesShape &before, const AriesShape &after)
{
	const std::set<PlacedLink> links = placed_links(built(after));
	uint32_t lost = 0;

	for (const PlacedLink &link : placed_links(built(before)))
		lost += !links.contains(link);
	return lost;
}

/* T33: a larger machine has all the cables of the smaller one. */
TEST(upgrades_keep_cables_T33)
{
	struct {
		AriesShape before;
		AriesShape after;
	} const cases[] = {
		/* the sources' own: 12 to 16 cabinets with bundles of 12 */
		{{.groups = 6, .cables_per_pair = 12}, {.groups = 8, .cables_per_pair = 12}},
		{{.groups = 2, .cables_per_pair = 12}, {.groups = 21, .cables_per_pair = 12}},
		{{.groups = 2, .cables_per_pair = 34}, {.groups = 8, .cables_per_pair = 34}},
		{{.groups = 40, .cables_per_pair = 1}, {.groups = 60, .cables_per_pair = 1}},
		/* a chassis, a cabinet, then the next group */
		{{.groups = 6, .last_group_chassis = 1, .cables_per_pair = 12},
		 {.groups = 6, .last_group_chassis = 2, .cables_per_pair = 12}},
		{{.groups = 6, .last_group_chassis = 2, .cables_per_pair = 12},
		 {.groups = 7, .last_group_chassis = 1, .cables_per_pair = 12}},
		{{.groups = 20, .last_group_chassis = 3, .cables_per_pair = 10}, {.groups = 20, .cables_per_pair = 10}},
		/* within a plan also from few cables to full optics */
		{{.groups = 6, .cables_per_pair = 12, .planned_groups = 8}, {.groups = 8, .planned_groups = 8}},
		{{.groups = 6, .planned_groups = 8}, {.groups = 8}},
		/* air-cooled: a blade, a cabinet, from half to full */
		{{.groups = 3, .last_chassis_slots = 5, .cables_per_pair = 5, .cooling = Cooling::Air},
		 {.groups = 3, .last_chassis_slots = 6, .cables_per_pair = 5, .cooling = Cooling::Air}},
		{{.groups = 3, .cables_per_pair = 5, .cooling = Cooling::Air},
		 {.groups = 8, .last_chassis_slots = 3, .cooling = Cooling::Air}},
		{{.groups = 4, .half_optics = true, .planned_groups = 8, .cooling = Cooling::Air},
		 {.groups = 8, .planned_groups = 8, .cooling = Cooling::Air}},
	};

	for (const auto &c : cases)
		assert_int_equal(links_lost(c.before, c.after), 0);
	/* New cables of the sources' upgrade: 336 - 180. */
	assert_int_equal(count(built({.groups = 8, .cables_per_pair = 12}), BLUE) -
				 count(built({.groups = 6, .cables_per_pair = 12}), BLUE),
			 156 * 4);
	/* A bundle cannot shrink without a loss: 48 become 34. */
	assert_true(links_lost({.groups = 6}, {.groups = 8}) > 0);
}

/* T34: the last group has its share of each bundle, so that every chassis of the machine has the same. */
TEST(short_last_group_T34)
{
	for (uint32_t chassis = 1; chassis <= 6; chassis++) {
		const Machine machine = built({.groups = 4, .last_group_chassis = chassis, .cables_per_pair = 24});

		assert_int_equal(machine.nodes.size(), 3 * 384 + chassis * 64);
		for (const auto &[pair, cables] : bundles(machine))
			assert_int_equal(cables.size(), pair.second == 3 ? 4 * chassis : 24);
	}
	/* One cabinet of two: multiples of two are enough. */
	for (const auto &[pair, cables] : bundles(built({.groups = 8, .last_group_chassis = 3, .cables_per_pair = 34})))
		assert_int_equal(cables.size(), pair.second == 7 ? 17 : 34);
}

TEST(air_cooled_T36)
{
	for (uint32_t cabinets = 1; cabinets <= 8; cabinets++) {
		const Machine full = built({.groups = cabinets, .cooling = Cooling::Air});

		assert_int_equal(full.nodes.size(), cabinets * 64);
		assert_int_equal(count(full, 1), 0);
		assert_int_equal(full.classes[BLUE].medium, Medium::Copper);
		assert_int_equal(count(full, 0), cabinets * 120);
		for (const auto &[pair, cables] : bundles(full))
			assert_int_equal(cables.size(), 40 / (cabinets - 1));
		for (const auto &[pair, cables] :
		     bundles(built({.groups = cabinets, .half_optics = true, .cooling = Cooling::Air})))
			assert_int_equal(cables.size(), 20 / (cabinets - 1));
	}
	/* Blade by blade, where the cables of the blades reach all other chassis: five of a pair. */
	for (uint32_t blades = 1; blades <= 16; blades++) {
		for (uint32_t cabinets = 1; cabinets <= 8; cabinets++) {
			const AriesShape shape{
				.groups = cabinets, .last_chassis_slots = blades, .cooling = Cooling::Air};

			if (cabinets - 1 > 5 && blades <= 2)
				assert_non_null(std::strstr(check_aries(shape).c_str(), "more blades are needed"));
			else
				assert_int_equal(built(shape).nodes.size(), (cabinets - 1) * 64 + blades * 4);
		}
	}
}

/* T31, both ways: Table 3 has 34 cables for 16 cabinets; the rule allows 30. */
TEST(bundle_rule_T31)
{
	const auto cables = [](uint32_t groups, BundleRule rule) {
		return aries_cables_per_pair({.groups = groups, .bundle_rule = rule});
	};

	assert_int_equal(cables(8, BundleRule::AsNeeded), 34);
	assert_int_equal(cables(8, BundleRule::Multiples), 30);
	assert_int_equal(cables(13, BundleRule::Multiples), 18); /* 26 cabinets */
	assert_int_equal(cables(14, BundleRule::AsNeeded), 18);  /* 28 cabinets */
	assert_int_equal(cables(16, BundleRule::Multiples), 16);
	assert_int_equal(cables(26, BundleRule::AsNeeded), 9);
	assert_int_equal(cables(26, BundleRule::Multiples), 8);
	assert_int_equal(cables(49, BundleRule::Multiples), 5); /* above 64 cabinets there is no rule */
}

TEST(advice_T32)
{
	/* 60 of 240 is a quarter, 55 is less. */
	assert_true(advise_aries({.groups = 6, .cables_per_pair = 12}).empty());
	assert_true(advise_aries({.groups = 8, .cables_per_pair = 12}).empty());
	assert_true(advise_aries({}).empty());
	assert_int_equal(advise_aries({.groups = 6, .cables_per_pair = 11}).size(), 1);
	assert_non_null(std::strstr(advise_aries({.groups = 6, .cables_per_pair = 11})[0].c_str(), "55 of 240"));
}

struct Refused {
	AriesShape shape;
	const char *word;
};

void check_refused(const std::vector<Refused> &cases)
{
	for (const Refused &c : cases) {
		const std::string reason = check_aries(c.shape);
		std::string thrown;

		try {
			build_aries(c.shape);
		} catch (const std::invalid_argument &error) {
			thrown = error.what();
		}
		assert_string_equal(thrown.c_str(), reason.c_str());
		if (reason.find(c.word) == std::string::npos || reason.find('\n') != std::string::npos)
			fail_msg("no '%s' in '%s'", c.word, reason.c_str());
	}
}

TEST(impossible_sizes_have_a_reason_T11_T25)
{
	check_refused({
		{{.groups = 0}, "at least one group"},
		{{.groups = 242}, "at most 241"},
		{{.groups = UINT32_MAX}, "at most 241"},
		{{.slots = 17}, "at most 16"},
		{{.chassis = 7}, "at most 6"},
		{{.last_group_chassis = 7}, "the others have 6"},
		{{.last_chassis_slots = 17}, "the others have 16"},
		{{.cables_per_pair = 12}, "there is one group"},
		{{.groups = 6, .cables_per_pair = 49}, "at most 48"},
		{{.groups = 6, .cables_per_pair = UINT32_MAX}, "at most 48"},
		{{.groups = 6, .cables_per_pair = 25, .half_optics = true}, "at most 24"},
		{{.groups = 12, .chassis = 2, .slots = 2}, "reach only 11"},
		{{.groups = 241, .half_optics = true}, "no cable is left"},
		{{.groups = 6, .planned_groups = 5}, "6 to 241"},
		{{.groups = 6, .planned_groups = 242}, "6 to 241"},
		{{.groups = 2, .nodes = 769}, "room for 768"},
	});
}

TEST(broken_rules_have_a_name_T31_T34_T35_T36)
{
	check_refused({
		{{.groups = 8, .cables_per_pair = 34, .bundle_rule = BundleRule::Multiples}, "multiple of 6 (T31)"},
		{{.groups = 20, .cables_per_pair = 11, .bundle_rule = BundleRule::Multiples}, "multiple of 2 (T31)"},
		{{.groups = 8, .last_group_chassis = 2, .cables_per_pair = 34}, "multiple of 6 (T31)"},
		{{.groups = 8, .last_group_chassis = 3, .cables_per_pair = 33}, "multiple of 2 (T31)"},
		{{.groups = 20, .last_group_chassis = 2}, "last cabinet must be full (T35)"},
		{{.groups = 40, .last_group_chassis = 3}, "last group must be full (T35)"},
		{{.groups = 2, .last_chassis_slots = 5}, "grow by blades (T34, T36)"},
		{{.groups = 9, .cooling = Cooling::Air}, "at most 8 (T36)"},
		{{.groups = 2, .chassis = 2, .cooling = Cooling::Air}, "at most 1 if it is air-cooled (T36)"},
		{{.groups = 7, .last_chassis_slots = 2, .cooling = Cooling::Air}, "no cable to group 5"},
	});
}

} // namespace

TEST_MAIN("build_aries")
