// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device's model of time beside the simulator: the same packet, alone on the same machine, by a minimal way of the
 * same links. They were written apart, and agree but for four things, which Documentation/simulator.md explains:
 *
 *   Netlink     the simulator takes 8 cycles each way for it (18.29 ns), the device has it in the 50 ns of a router
 *   a flit      goes into a processor tile and out of one, a cycle each; the device counts the second only (1.14 ns)
 *   the router  44 cycles are 0.29 ns more than 50 ns
 *   links       of a length: with the router behind them 76 cycles (green), 84 (black), 117 (blue) instead of 100 ns
 *
 * What is left is rounding: to whole cycles at each link here, to whole nanoseconds at the end there. The table has
 * the numbers of both, so a change of either shows.
 */
#include <cmath>

#include "link/timing.hpp"
#include "machine.hpp"
#include "rig.hpp"
#include "topology/wiring.hpp"

using namespace aries;

namespace
{

constexpr double CYCLE_NS = 8 / 7.0; // of 875 MHz (P02)
constexpr double ROUNDING_NS = 1.5;  // of a way

/* Groups of two chassis with four blades, so many that there is one cable of four links between each two. */
constexpr uint32_t GROUP_COUNT = 12, CHASSIS_OF_GROUP = 2, SLOTS = 4;
constexpr DragonflyShape SHAPE{GROUP_COUNT * CHASSIS_OF_GROUP * SLOTS * NICS_PER_ROUTER, SLOTS, CHASSIS_OF_GROUP};

struct Links {
	uint32_t green, black, blue;

	uint32_t count() const { return green + black + blue; }
};

struct Way {
	const char *name;
	uint32_t source, target; ///< nodes
	Links links;
};

/* Time between NICs: of a put its request, of a get both packets without what the target does in between. */
struct Expected {
	const Way &way;
	PacketKind kind;
	uint32_t bytes;
	uint64_t device_ns;
	uint32_t sim_cycles;
};

constexpr Way SAME{"same router", 0, 1, {0, 0, 0}};
constexpr Way GREEN{"green", 0, 4, {1, 0, 0}};
constexpr Way BLACK{"black", 0, 16, {0, 1, 0}};
constexpr Way BLUE{"blue", 0, 32, {0, 0, 1}};
constexpr Way LONGEST{"five", 28, 60, {2, 2, 1}};

constexpr Expected TABLE[] = {
	{SAME, PacketKind::Put, 8, 56, 66},        {SAME, PacketKind::Put, 64, 66, 75},
	{SAME, PacketKind::Get, 8, 108, 128},      {SAME, PacketKind::Get, 64, 118, 137},
	{GREEN, PacketKind::Put, 8, 157, 142},     {GREEN, PacketKind::Put, 64, 168, 152},
	{GREEN, PacketKind::Get, 8, 308, 280},     {GREEN, PacketKind::Get, 64, 320, 290},
	{BLACK, PacketKind::Put, 8, 157, 150},     {BLACK, PacketKind::Put, 64, 168, 160},
	{BLACK, PacketKind::Get, 8, 308, 296},     {BLACK, PacketKind::Get, 64, 320, 306},
	{BLUE, PacketKind::Put, 8, 158, 184},      {BLUE, PacketKind::Put, 64, 170, 196},
	{BLUE, PacketKind::Get, 8, 310, 364},      {BLUE, PacketKind::Get, 64, 323, 375},
	{LONGEST, PacketKind::Put, 8, 558, 504},   {LONGEST, PacketKind::Put, 64, 570, 516},
	{LONGEST, PacketKind::Get, 8, 1110, 1004}, {LONGEST, PacketKind::Get, 64, 1123, 1015},
};

/* Between NICs, by the device's network. */
uint64_t device_ns(const Way &way, PacketKind kind, uint32_t bytes)
{
	Machine device(SHAPE);
	const TransferFlits flits = transfer_flits(kind, bytes);
	const auto there =
		book(device.net, way.source, way.target, PacketClass::Request, flits.request, ADAPTIVE, 0, NOW);
	const uint64_t request = there.arrive_ns - NOW;

	assert_true(there.reachable && !there.nonminimal);
	assert_int_equal(there.hops, way.links.count());
	if (!returns_data(kind))
		return request;

	const uint64_t turn = there.arrive_ns + SERVE_GET_NS;
	const auto back =
		book(device.net, way.target, way.source, PacketClass::Response, flits.response, ADAPTIVE, 0, turn);

	assert_true(back.reachable && !back.nonminimal);
	assert_int_equal(back.hops, way.links.count());
	return request + back.arrive_ns - turn;
}

const topology::Machine &simulated_machine()
{
	static const topology::Machine machine =
		topology::build_aries({.groups = GROUP_COUNT, .chassis = CHASSIS_OF_GROUP, .slots = SLOTS});

	return machine;
}

/* The same by the simulator: a trace of one message. */
uint32_t sim_cycles(const Way &way, PacketKind kind, uint32_t bytes)
{
	const bool get = returns_data(kind);
	sim::RunShape shape;

	shape.jobs = {{.name = "one",
		       .nodes = {way.source, way.target},
		       .traffic = {},
		       .trace = {2, {{100, 0, 1, bytes, get ? sim::Operation::Get : sim::Operation::Put}}}}};
	shape.warmup = 0;
	shape.measure = 1000;

	const sim::Result result = sim::run(simulated_machine(), shape);
	const sim::Statistics &seen = result.statistics;

	assert_true(result.drained);
	assert_int_equal(seen.latency.count(), 1);
	assert_int_equal(seen.nonminimal, 0);
	assert_int_equal(seen.hop_count[way.links.count()], 1);
	assert_int_equal(seen.latency.sum(), seen.network.sum());
	return static_cast<uint32_t>(get ? seen.round_trip.sum() - sim::Parameters().serve_cycles : seen.latency.sum());
}

/* What the head comment says, for one packet. */
double named_difference_ns(const Links &links)
{
	return (2 * 8 + 1 + 44) * CYCLE_NS - ROUTER_NS + links.green * (76 * CYCLE_NS - HOP_NS) +
	       links.black * (84 * CYCLE_NS - HOP_NS) + links.blue * (117 * CYCLE_NS - HOP_NS);
}

TEST(latencies_of_quiet_packets_L05_L06)
{
	for (const Expected &expected : TABLE) {
		const bool get = returns_data(expected.kind);
		const uint64_t device = device_ns(expected.way, expected.kind, expected.bytes);
		const uint32_t sim = sim_cycles(expected.way, expected.kind, expected.bytes);
		const double difference = sim * CYCLE_NS - static_cast<double>(device);
		const double named = named_difference_ns(expected.way.links) * (get ? 2 : 1);

		print_message("%s, %s of %u bytes: device %u ns, simulator %u cycles, %.2f ns; differ by %.2f, of "
			      "which %.2f have "
			      "names\n",
			      expected.way.name, get ? "get" : "put", expected.bytes, static_cast<uint32_t>(device),
			      sim, sim * CYCLE_NS, difference, named);
		assert_int_equal(device, expected.device_ns);
		assert_int_equal(sim, expected.sim_cycles);
		assert_true(std::abs(difference - named) < ROUNDING_NS * (get ? 2 : 1));
	}
}

/* Both machines have the links of the ways. Five hops between two groups are two green, two black and a blue one. */
TEST(ways_are_of_these_links)
{
	const topology::Wiring wiring(simulated_machine());
	const Dragonfly device(SHAPE);
	const std::pair<const Way &, TileKind> direct[] = {
		{GREEN, TileKind::Green}, {BLACK, TileKind::Black}, {BLUE, TileKind::Blue}};

	assert_int_equal(simulated_machine().nodes.size(), device.nodes());
	for (const auto &[way, kind] : direct) {
		const uint32_t from = way.source / NICS_PER_ROUTER;
		const uint32_t to = way.target / NICS_PER_ROUTER;
		uint32_t links = 0;

		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const LinkEnd there = device.far_end(from, tile);

			if (there.tile == NO_TILE || there.router != to)
				continue;
			links++;
			assert_true(tile_kind(tile) == kind);
			assert_int_equal(wiring.far_end(from, tile).router, to);
			assert_int_equal(wiring.far_end(from, tile).tile, there.tile);
		}
		assert_in_range(links, 1, BLACK_LINKS);
	}
	assert_int_not_equal(device.node_place(LONGEST.source).group, device.node_place(LONGEST.target).group);
}

/* A flit takes the same time on a link: lanes, media, the LCB's tenth. */
TEST(flit_times_P05_P17_T19)
{
	constexpr uint64_t FLITS = 45 * 1000;
	const std::pair<uint32_t, double> media[] = {{0, 14}, {1, 12.5}};

	for (const auto &[medium, gbit] : media) {
		for (uint32_t lanes = 1; lanes <= LANES; lanes++) {
			const uint64_t device = aries::flit_ticks(FLITS, LINK_FACTORS[medium][LANES - lanes]);
			const double sim =
				sim::flit_ticks(chip::ARIES, gbit, lanes, ROUTER_MHZ) * 1000 * CYCLE_NS * TICKS_PER_NS;

			/* The device's factor has ten binary places. */
			assert_true(std::abs(static_cast<double>(device) - sim) < FLITS / 1024.0);
		}
	}
	assert_true(std::abs(static_cast<double>(aries::flit_ticks(FLITS, LINK_FACTORS[2][0])) -
			     FLITS * CYCLE_NS * TICKS_PER_NS) < FLITS / 1024.0);
}

/* The device's hosts and NICs around the network of either: the digits that the sources print. */
TEST(digits_of_the_sources_L01_L02_L06_L07)
{
	const double put[] = {static_cast<double>(device_ns(SAME, PacketKind::Put, 8)),
			      sim_cycles(SAME, PacketKind::Put, 8) * CYCLE_NS};
	const double get[] = {static_cast<double>(device_ns(SAME, PacketKind::Get, 8)),
			      sim_cycles(SAME, PacketKind::Get, 8) * CYCLE_NS};
	const double far[] = {static_cast<double>(device_ns(LONGEST, PacketKind::Put, 8)),
			      sim_cycles(LONGEST, PacketKind::Put, 8) * CYCLE_NS};

	/* The simulator's target answers without reading memory over PCIe, which is most of the device's 750 ns. */
	assert_int_equal(SERVE_GET_NS - HOST_READ_NS, 240);
	assert_in_range(sim::Parameters().serve_cycles * CYCLE_NS, 114, 115);
	for (const uint32_t by : {0, 1}) {
		assert_int_equal(std::lround((SEND_NS + put[by] + RECEIVE_NS) / 100), 8);
		assert_int_equal(std::lround((SEND_NS + get[by] + SERVE_GET_NS + RECEIVE_NS) / 100), 16);
		assert_true(SEND_NS + far[by] + RECEIVE_NS < 2000);
		/* What five hops add (L06). */
		assert_in_range(std::lround(far[by] - put[by]), 499, 503);
	}
}

} // namespace

TEST_MAIN("tests")
