// SPDX-License-Identifier: GPL-2.0-or-later
/* Bit errors on links (P07 to P11), and where packets wait for room (P14, P15). */
#include <algorithm>
#include <cmath>
#include <sstream>

#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr uint32_t FROM = 10000, UNTIL = 60000; // cycles

/* Two routers with three black links, each of which could send all the time. */
TrafficShape flood()
{
	return {.operation = Operation::Raw, .raw_flits = 14, .load_ppm = 1000000};
}

topology::Machine pair()
{
	return topology::build_aries({.groups = 1, .chassis = 2, .slots = 1});
}

LinkCount links_of(const Network &network)
{
	const std::vector<LinkCount> counts = network.link_counts();
	LinkCount sum;

	for (uint32_t place = 0; place < counts.size(); place++) {
		if (network.layout().lanes[place].far == NO_PLACE)
			continue;
		sum.flits += counts[place].flits;
		sum.replays += counts[place].replays;
		sum.row_stalled += counts[place].row_stalled;
		sum.column_stalled += counts[place].column_stalled;
		sum.stalled += counts[place].stalled;
	}
	return sum;
}

/*
 * Of 53.3 bits a flit so many are wrong; each is found (CRC-20 finds any single one, P08), costs a round trip and a
 * set, and nothing is lost (P09). Six directions share the work.
 */
TEST(bit_errors_are_sent_again_P08_P09)
{
	for (const uint32_t rate : {0u, 1'000'000u, 10'000'000u}) {
		Parameters parameters;

		parameters.bit_errors = rate;

		Rig rig(pair(), flood(), parameters);

		rig.network.run(FROM);

		const LinkCount before = links_of(rig.network);

		rig.network.run(UNTIL);

		const LinkCount after = links_of(rig.network);
		const auto flits = static_cast<double>(after.flits - before.flits);
		const auto replays = static_cast<double>(after.replays - before.replays);
		const double expected = flits * 48 * 10 / 9 * rate * 1e-12;
		Lane lane;

		for (const Lane &of : rig.network.layout().lanes) {
			if (of.far != NO_PLACE)
				lane = of;
		}

		const double lost = replays * replay_ticks(lane, chip::ARIES.line.set_units) / lane.flit_ticks;
		const double full =
			6.0 * (UNTIL - FROM) * rig.network.layout().chip.times.cycle_ticks / lane.flit_ticks;

		print_message("%u errors in 10^12 bits: %.0f replays of %.0f, %.0f flits of %.0f\n", rate, replays,
			      expected, flits, full - lost);
		assert_true(std::abs(replays - expected) <= 4 * std::sqrt(expected));
		assert_true(std::abs(flits - (full - lost)) <= full / 200);
		assert_true(rate == 0 || replays > 10);
		rig.run_and_drain(rig.network.now());
		assert_string_equal(rig.network.leftover().c_str(), "");
		assert_int_equal(rig.network.statistics().injected_packets, rig.network.statistics().received_packets);
	}
}

/* A link of 42 Gb/s with one error in 10^12 bits sends again 0.042 times in a second. */
TEST(replays_of_good_links_P11)
{
	const double flits_per_s = 875e6 * chip::ARIES.times.cycle_ticks / flit_ticks(chip::ARIES, 14, 3, 875);

	assert_true(std::abs(flits_per_s * 48 * 10 / 9 * 1e-12 - 0.042) < 1e-6);
}

TEST(errors_are_the_same_in_parts)
{
	std::string first;

	for (const uint32_t parts : {1u, 3u, 5u}) {
		const auto machine = topology::build_aries({.groups = 3, .chassis = 2, .slots = 2});
		std::ostringstream text;
		RunShape shape;

		shape.traffic.load_ppm = 300000;
		shape.parameters.bit_errors = 10'000'000;
		shape.warmup = 1000;
		shape.measure = 3000;
		shape.workers.parts = parts;

		const Result result = run(machine, shape);

		write_json(text, machine, shape, result);
		write_links_csv(text, result);
		assert_true(result.classes[0].replays + result.classes[1].replays + result.classes[2].replays > 10);
		if (first.empty())
			first = text.str();
		assert_string_equal(text.str().c_str(), first.c_str());
	}
}

constexpr double CYCLES = 10000;

/* Of the busiest link, and of the inputs from NICs. */
struct Waiting {
	double load, row, column, output;
};

Waiting worst_case(uint32_t load_ppm, uint32_t input_buffer)
{
	RunShape shape;

	shape.traffic = flood();
	shape.traffic.request_mode = {Routing::MinimalHash, 0};
	shape.traffic.pattern = Pattern::Group;
	shape.traffic.load_ppm = load_ppm;
	shape.parameters.input_buffer = input_buffer;
	shape.warmup = 5000;
	shape.measure = static_cast<uint32_t>(CYCLES);
	shape.drain = 0;

	const Result result = run(topology::build_canonical({.p = 2, .a = 4, .h = 2}), shape);
	const LinkResult &most = *std::max_element(result.links.begin(), result.links.end(),
						   [](const auto &a, const auto &b) { return a.load < b.load; });
	const Waiting waiting{most.load, result.classes.back().row_stalled, most.column_stalled / CYCLES,
			      most.stalled / CYCLES};

	assert_string_equal(result.classes.back().name.c_str(), "processor");
	print_message("load %.3f: without room row buses %.4f, column bus %.4f, output %.4f of the time\n",
		      waiting.load, waiting.row, waiting.column, waiting.output);
	return waiting;
}

/*
 * A quiet network has room everywhere. Where a link is all that is short, a packet of 14 flits takes 15.56 cycles on it
 * and 14 on its column bus, which then waits: a tenth of the time. Packets for it wait in the stages before. With no
 * more than reserves behind the link, it waits for credits.
 */
TEST(stalls_by_stage_P14_P15)
{
	const Waiting quiet = worst_case(10000, 640);
	const Waiting full = worst_case(1000000, 640);
	const Waiting small = worst_case(1000000, 28 * 8);

	assert_true(quiet.row == 0 && quiet.column == 0 && quiet.output == 0);
	assert_true(full.load > 0.99);
	assert_true(std::abs(full.column - 0.1) < 0.02);
	assert_true(full.output < 0.001);
	assert_true(full.row > 0.1);
	assert_true(small.load < 0.5);
	assert_true(small.output > 0.5);
}

} // namespace

TEST_MAIN("tests")
