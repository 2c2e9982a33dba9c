// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Block transfers are accounted in runs. What links and processor tiles carry, and how many packets go by a root, must
 * be what it is when each packet chooses its own way: in the hashed modes whenever it leaves, in the adaptive ones at
 * the pace of the NIC, on a quiet network, on one with load and beside another sender. What does not agree is in
 * Documentation/design/network.md.
 */
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "cmocka_cpp.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

constexpr DragonflyShape SHAPE{96, 4, 2}; // three groups of two chassis of four routers
constexpr uint32_t BYTES = 64 * 1024;
constexpr uint32_t PACKETS = BYTES / 64;
constexpr uint32_t PACKET_FLITS = request_flits(PacketKind::Put, 64);
constexpr uint64_t APART = 1000000; // ns between transfers that must not meet
constexpr double AGREE = 0.01;

/** Flits by output tile of each router. */
struct Outcome {
	std::vector<double> flits;
	double total = 0;
};

/* @transfers from node 0 to @dst, each by itself, as runs or packet by packet. */
Outcome carry_all(uint32_t dst, uint16_t mode, uint32_t transfers, bool runs)
{
	Machine m(SHAPE);
	Outcome outcome;

	for (uint32_t n = 0; n < transfers; n++) {
		const uint64_t at = NOW + n * APART;

		if (runs)
			book(m.net, 0, dst, PacketClass::Request, PACKETS * PACKET_FLITS, mode, mix64(n), at);
		for (uint32_t i = 0; !runs && i < PACKETS; i++)
			book(m.net, 0, dst, PacketClass::Request, PACKET_FLITS, mode, mix64(n * uint64_t{PACKETS} + i),
			     at);
	}
	for (uint32_t router = 0; router < m.net.topology().routers(); router++) {
		for (uint32_t tile = 0; tile < TILES; tile++) {
			const TileCounters values = m.net.tile_counters(router, tile);
			double sum = 0;

			for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
				sum += double(values[ARIES_RTR_OUT_FLITS + vc]);
			outcome.flits.push_back(sum);
			outcome.total += sum;
		}
	}
	return outcome;
}

bool agree(const char *what, double one, double other, double of)
{
	if (std::fabs(one - other) <= AGREE * of)
		return true;
	print_error("%s: %g and %g, of %g\n", what, one, other, of);
	return false;
}

/* Nodes of the same chassis, of another one, of another group. */
TEST(shares_agree)
{
	constexpr std::array<uint32_t, 3> PEERS{4, 16, 64};
	constexpr uint32_t RUNS = 20000, BY_PACKETS = 200;

	for (const uint32_t dst : PEERS) {
		for (const uint16_t mode : {DLV_MIN_HASH, DLV_NMIN_HASH}) {
			const Outcome runs = carry_all(dst, mode, RUNS, true);
			const Outcome packets = carry_all(dst, mode, BY_PACKETS, false);
			const double scale = double(RUNS) / BY_PACKETS;
			uint32_t used = 0;

			assert_true(agree("all flits", runs.total, packets.total * scale, runs.total));
			for (size_t i = 0; i < runs.flits.size(); i++) {
				used += packets.flits[i] > 0;
				if (!agree(("router " + std::to_string(i / TILES) + " tile " +
					    std::to_string(i % TILES))
						   .c_str(),
					   runs.flits[i], packets.flits[i] * scale, runs.total))
					assert_true(false);
			}
			assert_true(used > 2);
		}
	}
}

/* Each single run takes all four tiles of both NICs alike, as its packets would (T04). */
TEST(a_run_takes_all_tiles_T04)
{
	constexpr uint32_t DST = 64, QUAD = 4, FLITS = PACKETS * PACKET_FLITS;

	for (const uint16_t mode : {DLV_MIN_HASH, DLV_NMIN_HASH}) {
		Machine m(SHAPE);
		const auto flits = [&m](uint32_t router, uint32_t tile, uint32_t which) {
			const TileCounters values = m.net.tile_counters(router, FIRST_PROCESSOR + tile);
			double sum = 0;

			for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
				sum += double(values[which + vc]);
			return sum;
		};

		book(m.net, 0, DST, PacketClass::Request, FLITS, mode, 7, NOW);
		for (uint32_t i = 0; i < QUAD; i++) {
			assert_true(agree("in", flits(0, i, ARIES_RTR_IN_FLITS), FLITS / 4.0, FLITS));
			assert_true(agree("out", flits(DST / 4, i, ARIES_RTR_OUT_FLITS), FLITS / 4.0, FLITS));
		}
	}
}

/* One run or more at once, of NICs that send from @packets at the same time on. */
struct Scene {
	const char *name;
	std::vector<std::array<uint32_t, 2>> flows; // source and destination
	std::vector<uint32_t> loaded;               // tiles of router 0 that are booked
	uint64_t load_ns;
	double agree; // of all flits, for each output
	double ways;  // of all packets, for those that go by a root
};

constexpr uint32_t BURST = 1024; // packets

struct Shares {
	std::vector<double> tile; // flits by router and tile, of all flits
	double hops, nonminimal;  // of a packet
};

/* Packets of a run leave one after the other; all that is booked for a time is booked then. */
Shares play(const Scene &scene, uint32_t packets, uint32_t rounds, bool runs)
{
	Machine m(SHAPE);
	auto *tiles = static_cast<TileState *>(m.memory());
	const uint32_t step = runs ? std::min(BURST, packets) : 1;
	uint64_t hops = 0, nonminimal = 0;

	for (uint32_t n = 0; n < rounds; n++) {
		const uint64_t start = NOW + n * APART;

		for (const uint32_t tile : scene.loaded) {
			settle(tiles[tile], RouterStates::stream_of(tiles, tile), ns_to_ticks(start));
			m.book_until(0, tile, start + scene.load_ns);
		}
		for (uint32_t i = 0; i < packets; i += step) {
			const uint64_t at = start + i * INJECT_TICKS / TICKS_PER_NS;

			for (const auto &[src, dst] : scene.flows) {
				const uint64_t hash = mix64((uint64_t{n} << 32 | i) * 64 + src);
				const auto t = m.net.book(
					{src, dst, PacketClass::Request, ADAPTIVE, step * PACKET_FLITS, 0, hash, step},
					at, at);

				assert_true(t.reachable);
				hops += t.all_hops;
				nonminimal += t.nonminimal;
			}
		}
	}

	const double all = double(packets) * rounds * double(scene.flows.size());
	Shares shares{{}, double(hops) / all, double(nonminimal) / all};

	for (uint32_t router = 0; router < m.net.topology().routers(); router++) {
		for (uint32_t tile = 0; tile < TILES; tile++) {
			const TileCounters values = m.net.tile_counters(router, tile);
			double sum = 0;

			for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
				sum += double(values[ARIES_RTR_OUT_FLITS + vc]);
			shares.tile.push_back(sum / all / PACKET_FLITS);
		}
	}
	return shares;
}

void same_shares(const Scene &scene, uint32_t packets, uint32_t by_packets, uint32_t by_runs)
{
	const Shares one = play(scene, packets, by_packets, false), run = play(scene, packets, by_runs, true);
	double sum = 0;

	print_message("%s, %u packets: %.3f hops, %.3f by a root; runs %.3f and %.3f\n", scene.name, packets, one.hops,
		      one.nonminimal, run.hops, run.nonminimal);
	for (size_t i = 0; i < one.tile.size(); i++) {
		const auto where = "router " + std::to_string(i / TILES) + " tile " + std::to_string(i % TILES);

		sum += i % TILES < NETWORK_TILES ? run.tile[i] : 0;
		if (std::fabs(one.tile[i] - run.tile[i]) > scene.agree)
			fail_msg("%s: %.4f of all flits, in runs %.4f", where.c_str(), one.tile[i], run.tile[i]);
	}
	/* A packet that goes by a root has up to three hops more. */
	if (std::fabs(one.hops - run.hops) > 3 * scene.ways)
		fail_msg("%.3f hops, in runs %.3f", one.hops, run.hops);
	if (std::fabs(one.nonminimal - run.nonminimal) > scene.ways)
		fail_msg("%.3f by a root, in runs %.3f", one.nonminimal, run.nonminimal);
	/* What a NIC counts is what links count. */
	assert_true(std::fabs(sum - run.hops) < 0.01);
}

/* Nodes of the chassis, of another one straight ahead and across, of another group; 4 KiB to 1 MiB. */
TEST(adaptive_runs_on_a_quiet_network_R11)
{
	for (const uint32_t packets : {64U, 256U, 1024U, 16384U}) {
		const uint32_t rounds = std::max(65536 / packets, 8U);

		same_shares({"chassis", {{0, 4}}, {}, 0, AGREE, AGREE}, packets, rounds, 16 * rounds);
		same_shares({"black", {{0, 16}}, {}, 0, AGREE, AGREE}, packets, rounds, 16 * rounds);
		/* Packets tell routers of waits of some flits, which a run does not have. */
		same_shares({"green and black", {{0, 20}}, {}, 0, 1.5 * AGREE, AGREE}, packets, rounds, 16 * rounds);
		same_shares({"blue", {{0, 64}}, {}, 0, AGREE, AGREE}, packets, rounds, 16 * rounds);
	}
}

/* Minimal ways are booked when the first packet leaves, and have their turn again before the last one does (R10). */
TEST(adaptive_runs_on_a_loaded_network_R10)
{
	const std::vector<uint32_t> green{0}, blue{32, 33, 36, 37};

	for (const uint64_t load : {300U, 1000U, 3000U}) {
		same_shares({"loaded chassis", {{0, 4}}, green, load, 1.5 * AGREE, AGREE}, 1024, 64, 256);
		same_shares({"loaded blue", {{0, 64}}, blue, load, AGREE, 1.5 * AGREE}, 1024, 64, 256);
	}
}

/* What one of them still has to send is not in the way of the other at once (R08). */
TEST(adaptive_runs_of_two_senders_R08)
{
	for (const uint32_t packets : {256U, 1024U, 16384U}) {
		const uint32_t rounds = std::max(65536 / packets, 8U);

		same_shares({"two to another group", {{0, 64}, {1, 66}}, {}, 0, AGREE, 3 * AGREE}, packets, rounds,
			    16 * rounds);
		same_shares({"two ways that cross", {{0, 16}, {16, 0}}, {}, 0, AGREE, AGREE}, packets, rounds,
			    16 * rounds);
	}
}

} // namespace

TEST_MAIN("tests")
