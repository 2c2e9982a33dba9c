// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/*
 * Block transfers are accounted in runs, which go one way each. In the hashed modes what links and processor tiles
 * carry must be what it is when each packet chooses its own way. Adaptive runs meet their own load, see design-notes.
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
			carry(m.net, 0, dst, PacketClass::Request, PACKETS * PACKET_FLITS, mode, mix64(n), at);
		for (uint32_t i = 0; !runs && i < PACKETS; i++)
			carry(m.net, 0, dst, PacketClass::Request, PACKET_FLITS, mode, mix64(n * uint64_t{PACKETS} + i),
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
void shares_agree(void **)
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
void a_run_takes_all_tiles_T04(void **)
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

		carry(m.net, 0, DST, PacketClass::Request, FLITS, mode, 7, NOW);
		for (uint32_t i = 0; i < QUAD; i++) {
			assert_true(agree("in", flits(0, i, ARIES_RTR_IN_FLITS), FLITS / 4.0, FLITS));
			assert_true(agree("out", flits(DST / 4, i, ARIES_RTR_OUT_FLITS), FLITS / 4.0, FLITS));
		}
	}
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(shares_agree),
		cmocka_unit_test(a_run_takes_all_tiles_T04),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
