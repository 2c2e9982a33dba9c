// SPDX-License-Identifier: GPL-2.0-or-later
/* Links, routers and nodes fail and come back in mid-run (R14), links lose lanes (P17). */
#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

struct Happening {
	Change change;
	const char *text;
};

std::vector<Incident> incidents_of(const topology::Machine &machine, const std::vector<Happening> &happenings)
{
	std::vector<Incident> incidents;

	for (const Happening &happening : happenings)
		incidents.push_back(parse_incident(happening.change, happening.text, machine));
	std::stable_sort(incidents.begin(), incidents.end());
	return incidents;
}

/* A network in which things happen. */
struct FaultRig : Rig {
	FaultRig(const topology::Machine &of, const TrafficShape &traffic, const std::vector<Happening> &happenings,
		 const Parameters &parameters = {})
		: Rig(of, traffic, parameters, 1, RunShape::default_policy(), {},
		      {incidents_of(of, happenings), RunShape::default_policy()})
	{
	}
};

const std::vector<Happening> TROUBLE = {
	{Change::Fail, "2000:link:0-1"},   {Change::Fail, "3000:router:5"},  {Change::Fail, "3500:node:3"},
	{Change::Lanes, "4000:2-3:1"},     {Change::Fail, "9000:node:20"},   {Change::Repair, "14000:link:0-1"},
	{Change::Repair, "15000:node:3"},  {Change::Fail, "15000:link:8.0"}, {Change::Repair, "22000:router:5"},
	{Change::Repair, "23000:node:20"},
};

topology::Machine small_aries()
{
	return topology::build_aries({.groups = 3, .chassis = 2, .slots = 2});
}

const TrafficShape TRAFFICS[] = {
	{.pattern = Pattern::Uniform, .operation = Operation::Put, .bytes = 64, .load_ppm = 300000},
	{.pattern = Pattern::Group, .operation = Operation::Put, .bytes = 4096, .load_ppm = 1000000},
	{.pattern = Pattern::Permutation,
	 .operation = Operation::Get,
	 .bytes = 1024,
	 .load_ppm = 700000,
	 .request_mode = {Routing::NonminimalHash, 0}},
	{.pattern = Pattern::Uniform, .operation = Operation::Raw, .raw_flits = 7, .load_ppm = 500000},
};

/* Nothing is lost that is not counted, and all room comes back. */
TEST(injected_is_arrived_and_lost_R14)
{
	for (const TrafficShape &traffic : TRAFFICS) {
		FaultRig rig(small_aries(), traffic, TROUBLE);

		rig.network.run(30000);
		rig.drain();

		const Statistics seen = rig.network.statistics();

		assert_int_equal(seen.injected_packets, seen.received_packets + seen.lost_on_links +
								seen.lost_without_way + seen.lost_at_nodes);
		assert_string_equal(rig.network.leftover().c_str(), "");
		assert_true(seen.lost_on_links > 0);
		assert_true(seen.lost_at_nodes > 0);
		if (traffic.operation == Operation::Raw)
			assert_int_equal(seen.given_up, 0);
		else
			assert_true(seen.given_up > 0);
		/* Failures; what comes back, at once or in turn, as it takes until the network is empty. */
		assert_in_range(rig.network.rebuilds().size(), 1, 4);
		print_message("lost %zu on links, %zu without a way, %zu at nodes; %zu given up of %zu\n",
			      static_cast<size_t>(seen.lost_on_links), static_cast<size_t>(seen.lost_without_way),
			      static_cast<size_t>(seen.lost_at_nodes), static_cast<size_t>(seen.given_up),
			      static_cast<size_t>(seen.injected_packets));
	}
}

std::string text_of(const TrafficShape &traffic, const Workers &workers)
{
	const topology::Machine machine = small_aries();
	std::ostringstream text;
	RunShape shape;

	shape.traffic = traffic;
	shape.incidents = incidents_of(machine, TROUBLE);
	shape.warmup = 10000;
	shape.measure = 15000;
	shape.drain = 1000000;
	shape.workers = workers;

	const Result result = run(machine, shape);

	assert_true(result.drained);
	write_json(text, machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

TEST(parts_do_not_change_what_fails)
{
	for (const TrafficShape &traffic : {TRAFFICS[0], TRAFFICS[2]}) {
		const std::string one = text_of(traffic, {});

		assert_non_null(strstr(one.c_str(), "lost_on_links"));
		assert_string_equal(text_of(traffic, {.parts = 3}).c_str(), one.c_str());
		assert_string_equal(text_of(traffic, {.threads = 2, .parts = 5}).c_str(), one.c_str());
	}
}

uint64_t flits_between(const Network &network, uint32_t from, uint32_t to)
{
	const Layout &layout = network.layout();
	uint64_t flits = 0;

	for (uint32_t place = layout.place(from, 0); place < layout.place(from + 1, 0); place++) {
		if (layout.lanes[place].far != NO_PLACE && layout.lanes[place].far / layout.tiles == to)
			flits += network.port(place).flits;
	}
	return flits;
}

/* Two routers with three black links, all they can take: with one link less it is 2/3 (R14). */
TEST(one_of_three_links_R14)
{
	FaultRig rig(topology::build_aries({.groups = 1, .chassis = 2, .slots = 1}),
		     {.operation = Operation::Raw,
		      .raw_flits = 14,
		      .load_ppm = 1000000,
		      .request_mode = {Routing::Adaptive, 3}},
		     {{Change::Fail, "20000:link:0.15"}, {Change::Repair, "45000:link:0.15"}});
	uint64_t flits[3];

	rig.network.run(10000);
	for (uint64_t &of : flits) {
		const uint64_t before = flits_between(rig.network, 0, 1);

		rig.network.run(rig.network.now() + 10000);
		of = flits_between(rig.network, 0, 1) - before;
		/* Until tables have changed, and queues are as before. */
		rig.network.run(rig.network.now() + 15000);
	}
	print_message("%zu flits, %zu with two links, %zu after\n", static_cast<size_t>(flits[0]),
		      static_cast<size_t>(flits[1]), static_cast<size_t>(flits[2]));
	/* 0.9 a link and cycle, and part of a packet at either end. */
	assert_in_range(flits[0], 26900, 27000 + 3 * 14);
	assert_in_range(flits[1], 17900, 18000 + 2 * 14);
	assert_in_range(flits[2], 26900, 27000 + 3 * 14);
}

/* A link of three lanes goes on with two, with one, and with three again; nothing is lost (P17). */
TEST(lanes_change_the_rate_P17)
{
	FaultRig rig(topology::build_aries({.groups = 1, .chassis = 2, .slots = 1}),
		     {.operation = Operation::Raw, .raw_flits = 14, .load_ppm = 1000000},
		     {{Change::Lanes, "20000:0-1:2"}, {Change::Lanes, "40000:0-1:1"}, {Change::Lanes, "60000:0-1:3"}});
	const uint64_t expected[] = {27000, 18000, 9000, 27000};

	rig.network.run(5000);
	for (const uint64_t flits : expected) {
		const uint64_t before = flits_between(rig.network, 0, 1);

		rig.network.run(rig.network.now() + 10000);

		const uint64_t sent = flits_between(rig.network, 0, 1) - before;

		print_message("%zu flits of %zu\n", static_cast<size_t>(sent), static_cast<size_t>(flits));
		assert_in_range(sent, flits * 98 / 100, flits + 14 * 3);
		rig.network.run(rig.network.now() + 10000);
	}
	rig.drain();
	assert_int_equal(rig.network.statistics().injected_packets, rig.network.statistics().received_packets);
	assert_int_equal(rig.network.rebuilds().size(), 0);
}

/* All links of a router: its nodes cannot be reached, the others can. */
TEST(unreachable_nodes_are_counted)
{
	const topology::Machine machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	std::vector<std::string> texts;
	std::vector<Happening> happenings;

	for (const topology::Link &link : machine.links) {
		if (link.end[0].router == 6 || link.end[1].router == 6)
			texts.push_back("1000:link:" + std::to_string(link.end[0].router) + "." +
					std::to_string(link.end[0].tile));
	}
	assert_int_equal(texts.size(), 5);
	for (const std::string &text : texts)
		happenings.push_back({Change::Fail, text.c_str()});

	FaultRig rig(machine, {.load_ppm = 200000}, happenings);

	rig.network.run(20000);
	assert_int_equal(rig.network.rebuilds().size(), 1);
	assert_int_equal(rig.network.rebuilds()[0].cut_routers, 1);

	const Statistics before = rig.network.statistics();

	rig.network.run(40000);
	rig.drain();

	const Statistics after = rig.network.statistics();

	assert_int_equal(after.lost_on_links, before.lost_on_links);
	assert_int_equal(after.lost_at_nodes, 0);
	assert_true(after.lost_without_way > before.lost_without_way + 100);
	assert_true(after.received_packets > before.received_packets + 10000);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

/*
 * A link is out for a moment, and tables stay as they are. Then nobody waits for new ones: packets for the router that
 * was cut off before are dropped, and do not stand in the way.
 */
TEST(tables_that_stay_R14)
{
	FaultRig rig(topology::build_canonical({.p = 2, .a = 4, .h = 2}), {.load_ppm = 200000},
		     {{Change::Fail, "1000:router:6"},
		      {Change::Fail, "20000:link:0-1"},
		      {Change::Repair, "22000:link:0-1"}});

	rig.network.run(30000);
	assert_int_equal(rig.network.rebuilds().size(), 1);

	const Statistics before = rig.network.statistics();

	rig.network.run(40000);

	const Statistics after = rig.network.statistics();

	assert_true(after.lost_without_way > before.lost_without_way + 20);
	assert_true(after.received_packets > before.received_packets + 5000);
	rig.drain();
	assert_string_equal(rig.network.leftover().c_str(), "");
}

/* The worst case at a load that is too much, with the least buffers, a router and links less: it goes on, and drains.
 */
TEST(no_circle_after_failures_P13)
{
	Parameters parameters;

	parameters.channel_reserve = 14;
	parameters.input_buffer = parameters.processor_buffer = 14 * 8;
	parameters.subswitch_buffer = parameters.column_buffer = 14;

	TrafficShape worst = TRAFFICS[1];

	/* Three times what gets through, so that it can end. */
	worst.load_ppm = 200000;

	FaultRig rig(topology::build_canonical({.p = 2, .a = 4, .h = 2}), worst,
		     {{Change::Fail, "5000:router:9"},
		      {Change::Fail, "6000:link:0-1"},
		      {Change::Fail, "25000:link:2-3"},
		      {Change::Repair, "40000:router:9"}},
		     parameters);

	for (uint32_t window = 0; window < 8; window++) {
		const uint64_t before = rig.network.statistics().hops;

		rig.network.run(rig.network.now() + 10000);
		assert_true(rig.network.statistics().hops > before + 1000);
	}
	rig.drain();
	assert_in_range(rig.network.rebuilds().size(), 2, 3);
	assert_string_equal(rig.network.leftover().c_str(), "");
}

void refused(const std::vector<Happening> &happenings, const char *part)
{
	const topology::Machine machine = small_aries();
	std::string said;

	try {
		RunShape shape;

		shape.incidents = incidents_of(machine, happenings);
		run(machine, shape);
	} catch (const std::exception &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("said \"%s\", not \"%s\"", said.c_str(), part);
}

TEST(what_cannot_happen)
{
	refused({{Change::Fail, "5:link"}}, "CYCLE:link:LINK");
	refused({{Change::Fail, "x:link:0-1"}}, "'x' is not a number");
	refused({{Change::Fail, "5:cable:0-1"}}, "not cable");
	refused({{Change::Fail, "5:link:0"}}, "ROUTER-ROUTER or ROUTER.TILE");
	refused({{Change::Fail, "5:link:0-99"}}, "there is no router 99: 12 are numbered from 0");
	refused({{Change::Fail, "5:link:0-3"}}, "there is no link between routers 0 and 3");
	refused({{Change::Fail, "5:link:0.40"}}, "that tile has no link");
	refused({{Change::Fail, "5:link:0.48"}}, "there is no tile 48");
	refused({{Change::Fail, "5:router:12"}}, "there is no router 12");
	refused({{Change::Fail, "5:node:48"}}, "there is no node 48");
	refused({{Change::Lanes, "5:0-1:4"}}, "1 to 3 lanes");
	refused({{Change::Lanes, "5:0-1:0"}}, "1 to 3 lanes");
	refused({{Change::Repair, "5:router:1"}}, "it has not failed before");
	refused({{Change::Fail, "5:node:1"}, {Change::Fail, "9:node:1"}}, "it has failed already");
	refused({{Change::Fail, "5:node:1"}, {Change::Repair, "9:node:1"}}, "at the soonest");
	refused({{Change::Fail, "30000:node:1"}}, "traffic ends in cycle 30000");
}

} // namespace

TEST_MAIN("tests")
