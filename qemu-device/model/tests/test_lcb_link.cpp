// SPDX-License-Identifier: GPL-2.0-or-later
/* Two LCBs on lanes with errors, in modelled time: nothing lost, doubled or wrong; rates, lanes, replays. */
#include "lcb_rig.hpp"

#include "link/lcb_run.hpp"

using namespace aries;

namespace
{

/* 35 m at 5 ns/m (T18), and 28 cycles of 875 MHz for SerDes and LCBs, as the simulator has it. */
constexpr uint64_t LONG_CABLE = ns_to_ticks(35 * 5 + 32);
constexpr uint64_t SHORT_CABLE = ns_to_ticks(12);

/* Both directions full, at every rate of errors: each flit comes once, in order, as it was (P09). */
TEST(nothing_is_lost_at_any_error_rate_P09)
{
	for (const double rate : {0.0, 1e-5, 1e-4, 1e-3, 3e-3}) {
		for (const uint64_t latency : {uint64_t{0}, SHORT_CABLE, LONG_CABLE}) {
			LcbRig rig({.latency = latency, .error_rate = {rate, rate / 3}, .seed = 7});

			rig.offer(100000, 60000);
			rig.drain();
			rig.run(rig.now + 10 * LONG_CABLE);
			for (uint32_t side = 0; side < 2; side++) {
				const LcbCounters &sent = rig.link.end(side).counters();
				const LcbCounters &came = rig.link.end(1 - side).counters();

				assert_true(rig.link.end(side).quiet() || rate > 1e-3);
				assert_int_equal(came.taken, (rig.streams[side].limit + LCB_FLITS - 1) / LCB_FLITS);
				assert_int_equal(sent.bad_acks, 0);
				assert_int_equal(rig.link.undetected(side), 0);
				/* What was sent came, was damaged, or was skipped; empty sets are damaged, too. */
				assert_int_equal(sent.sets, came.taken + sent.replayed);
				assert_true(came.taken + came.skipped <= sent.sets);
				assert_true(came.crc_errors > 0 || rate < 1e-4);
				assert_true(came.nacks <= 2 * came.crc_errors);
				assert_int_equal(came.crc_errors == 0, sent.replays == 0 && came.nacks == 0);
			}
		}
	}
}

/* Sets without an error are not coded: all of the rest is as if they were. */
TEST(sets_that_are_not_coded_are_the_same)
{
	std::array<LcbCounters, 2> counters[2];
	uint64_t last[2];

	for (uint32_t all = 0; all < 2; all++) {
		LcbRig rig({.latency = SHORT_CABLE, .error_rate = {1e-4, 1e-4}, .seed = 3, .code_all = all == 1});

		rig.offer(200000, 200000);
		rig.drain();
		counters[all] = {rig.link.end(0).counters(), rig.link.end(1).counters()};
		last[all] = rig.last;
	}
	assert_memory_equal(&counters[0], &counters[1], sizeof(counters[0]));
	assert_int_equal(last[0], last[1]);
	assert_true(counters[0][0].replays > 100);
}

/* Bytes of packets in a microsecond, from a sender that always has some. */
double rate_of(uint32_t mask, Medium medium, uint64_t latency)
{
	constexpr uint64_t FLITS = 900000;
	LcbRig rig({.medium = medium, .latency = latency});

	rig.link.set_lanes(0, mask);
	rig.offer(FLITS, 0);
	rig.drain();
	return static_cast<double>(FLITS) * 6 * 1000 * TICKS_PER_NS / static_cast<double>(rig.last - latency);
}

void assert_close(double value, double want, double share)
{
	print_message("%.2f, expected %.2f\n", value, want);
	assert_true(std::abs(value / want - 1) < share);
}

/* Nine flits in the time of ten (P05), of 5.25 and 4.6875 GB/s (T19); two lanes 2/3 of it, one 1/3 (P17). */
TEST(rates_of_lanes_P05_P17)
{
	assert_close(rate_of(7, Medium::Electrical, SHORT_CABLE), 5250 * 0.9, 1e-4);
	assert_close(rate_of(6, Medium::Electrical, SHORT_CABLE), 3500 * 0.9, 1e-4);
	assert_close(rate_of(2, Medium::Electrical, SHORT_CABLE), 1750 * 0.9, 1e-4);
	assert_close(rate_of(7, Medium::Optical, SHORT_CABLE), 4687.5 * 0.9, 1e-4);
	assert_close(rate_of(5, Medium::Optical, SHORT_CABLE), 3125 * 0.9, 1e-4);
}

/* The send buffer covers the round trip of 35 m; of the longest line it does not: 48 sets of 178 (T18). */
TEST(the_send_buffer_covers_35_m_T18)
{
	const uint64_t far = LCB_LATENCY_LIMIT;
	const auto round_trip = static_cast<double>(lcb_replay_sets({.latency = far}));

	assert_close(rate_of(7, Medium::Electrical, LONG_CABLE), 5250 * 0.9, 1e-4);
	assert_close(rate_of(7, Medium::Electrical, far), 5250 * 0.9 * LCB_WINDOW / round_trip, 0.02);
}

/* Lanes are taken away and given back, in both directions and while both are full of packets and errors (P17). */
TEST(lanes_change_under_traffic_P17)
{
	LcbRig rig({.latency = LONG_CABLE, .error_rate = {1e-4, 1e-4}, .seed = 11});
	BitRandom random(5);

	rig.offer(3000000, 3000000);
	for (uint32_t i = 0; i < 2000; i++) {
		rig.link.set_lanes(random.below(2), 1 + random.below(7));
		rig.run(rig.now + random.below(40000));
	}
	assert_false(rig.done());
	rig.link.set_lanes(0, ALL_LANES);
	rig.link.set_lanes(1, 0);
	rig.drain();
}

/*
 * A lane fails in the middle of a set, and carries noise until both LCBs go on without it, 1 to 100 sets later; it is
 * repaired and taken again. Everything that was damaged is sent again (P17, P09).
 */
TEST(a_lane_fails_in_a_set_P17_P09)
{
	LcbRig rig({.latency = SHORT_CABLE});
	BitRandom random(6);
	uint64_t damaged = 0;

	rig.offer(2000000, 2000000);
	for (uint32_t i = 0; i < 300; i++) {
		const uint32_t side = random.below(2), lane = random.below(LANES);
		const uint64_t before = rig.link.end(1 - side).counters().crc_errors;

		rig.run(rig.now + 20000 + random.below(5000));
		rig.link.fail_lane(side, lane, rig.now);
		rig.run(rig.now + 732 + random.below(73200));

		const uint64_t came = rig.streams[side].came;

		rig.link.set_lanes(side, ALL_LANES & ~(1u << lane));
		rig.run(rig.now + 20000);
		assert_true(rig.streams[side].came > came);
		rig.link.repair_lane(side, lane);
		rig.link.set_lanes(side, ALL_LANES);
		damaged += rig.link.end(1 - side).counters().crc_errors > before;
	}
	assert_int_equal(damaged, 300);
	rig.drain();
	assert_int_equal(rig.link.undetected(0) + rig.link.undetected(1), 0);
}

/* Of a set whose lane fails near its end, only bits of that lane from then on are noise. */
TEST(noise_begins_where_the_lane_fails_P17)
{
	const uint64_t set_ticks = lcb_set_time({}) >> FLIT_SHIFT;
	uint32_t whole = 0;

	/* One bit of the lane is left: it is right for one seed of two. */
	for (uint64_t seed = 0; seed < 200; seed++) {
		LcbRig rig({.seed = seed});

		rig.offer(LCB_FLITS, 0);
		rig.run(set_ticks - 2);
		rig.link.fail_lane(0, 1, rig.now);
		rig.run(rig.now + 10);
		whole += rig.link.end(1).counters().taken == 1;
	}
	assert_in_range(whole, 60, 140);
}

/* Replays at a rate of 10^-5: sets that are not whole, but for those that are skipped meanwhile (P09). */
TEST(replays_are_what_errors_make_of_them_P09)
{
	constexpr double RATE = 1e-5;
	constexpr uint64_t FLITS = 18'000'000;
	const double wrong = -std::expm1(SET_BITS * std::log1p(-RATE));
	LcbRig rig({.latency = LONG_CABLE, .error_rate = {RATE, 0}, .seed = 1});

	rig.offer(FLITS, 0);
	rig.drain();

	const double sets = static_cast<double>(FLITS) / LCB_FLITS;
	const auto replays = static_cast<double>(rig.link.end(0).counters().replays);
	const auto cost = static_cast<double>(lcb_replay_sets({.latency = LONG_CABLE}));
	const double time = static_cast<double>((rig.last - LONG_CABLE) << FLIT_SHIFT) /
			    static_cast<double>(lcb_set_time({})) / sets;

	print_message("%.0f replays, expected %.0f; %.4f of the time without errors, expected %.4f\n", replays,
		      sets * wrong / (1 - wrong), time, 1 + cost * wrong / (1 - wrong));
	assert_true(std::abs(replays / (sets * wrong / (1 - wrong)) - 1) < 0.05);
	assert_true(std::abs((time - 1) / (cost * wrong / (1 - wrong)) - 1) < 0.05);
}

/*
 * So many errors that CRC-20 misses some: one set in 2^20. Few of these say of themselves that flits are missing, and
 * are refused for what is there in their place (P10). As nothing is acknowledged, a link sends one window of sets.
 */
TEST(some_errors_are_missed_P10)
{
	const uint64_t links = slow_lcb_tests() ? 1'000'000 : 100'000;
	double missed = 0, found = 0;

	for (uint64_t i = 0; i < links; i++) {
		LcbLink link({.error_rate = {0.02, 0}, .seed = i});
		LcbArrival arrival;

		for (uint64_t n = 0; link.end(0).push(flit_of(n, 0)); n++) {
		}
		while (link.advance((LCB_WINDOW * lcb_set_time({})) >> FLIT_SHIFT, arrival)) {
		}
		missed += static_cast<double>(link.undetected(1));
		found += static_cast<double>(link.end(1).counters().crc_errors);
	}

	const double expected = (missed + found) * 0x1p-20 * 0.98;

	print_message("%.0f of %.0f damaged sets are missed, %.1f expected\n", missed, missed + found, expected);
	assert_true(found > 0.95 * static_cast<double>(links * LCB_WINDOW));
	assert_true(missed > 0 && std::abs(missed - expected) < 4 * std::sqrt(expected));
}

} // namespace

TEST_MAIN("lcb_link")
