// SPDX-License-Identifier: GPL-2.0-or-later
/* What has been done once is known for some time, and not for ever. */
#include "elite5_line.hpp"
#include "recent.hpp"
#include "rig.hpp"
#include "switch_checks.hpp"
#include "topology/build_qsnet.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

TEST(a_number_is_known_so_long)
{
	for (uint32_t first = 0; first < 300; first += 7) {
		Recent seen(100);

		/* One comes each cycle, so that old ones are forgotten. */
		for (uint32_t now = 0; now < first; now++)
			assert_true(seen.insert(1000 + now, now));
		assert_true(seen.insert(1, first));
		for (uint32_t now = first; now < first + 100; now++) {
			assert_true(seen.insert(2000 + now, now));
			assert_false(seen.insert(1, now));
		}
		for (uint32_t now = first + 100; now < first + 300; now++)
			seen.insert(2000 + now, now);
		assert_true(seen.insert(1, first + 300));
	}
}

TEST(there_are_no_more_of_them_in_a_longer_run)
{
	Recent seen(100);

	for (uint32_t now = 0; now < 100'000; now++) {
		seen.insert(now, now);
		assert_in_range(seen.size(), 1, 200);
	}
}

/* What adapters know that they have done is in the estimate, of a long run no more than of what may come again. */
TEST(what_is_done_takes_memory_Q21)
{
	const topology::Machine machine = topology::build_qsnet({.nodes = 1024});
	const Workload puts({.bytes = 8, .load_ppm = 1000000}, 1024),
		gets({.operation = Operation::Get, .bytes = 8}, 1024);
	const Parameters usual = parameters_of(ELITE5_LINE);
	const auto bytes_of = [&machine, &usual](const Workload &workload, uint64_t cycles) {
		return estimate_remembered_bytes(machine, workload, usual, cycles);
	};

	/* A put of four words in four cycles of each node's link. */
	assert_int_equal(bytes_of(puts, 40000), 1024 * 10000 * Recent::NUMBER_BYTES);
	assert_int_equal(bytes_of(puts, 1'000'000),
			 1024 * uint64_t{4 * usual.timeout_cycles / 4} * Recent::NUMBER_BYTES);
	assert_true(bytes_of(gets, 40000) > bytes_of(puts, 40000) / 3);

	RunShape noisy;

	noisy.parameters = usual;
	noisy.traffic = puts.jobs[0].traffic;
	noisy.measure = 1'000'000;
	noisy.parameters.bit_errors = 1;
	noisy.memory_bytes = estimate_bytes(machine, 32) + (10 << 20);
	refused(machine, noisy, "1024 nodes need about");
}

/*
 * A put has come, its answer is lost with a link, and it comes again long after its number may have been forgotten, for
 * its target is busy then: it is refused, and its source gives it up (Q21).
 */
TEST(what_comes_too_late_is_not_done_again_Q21)
{
	constexpr uint32_t BYTES = 1024, MANY = 16384, FIRST = 2, LAST = 16;
	const topology::Machine machine = topology::build_qsnet({.nodes = LAST, .links = 2});
	RunShape shape;
	Job job{"trace", {}, {}, {.nodes = LAST, .messages = {{0, 0, 1, BYTES, Operation::Put}}}};

	shape.parameters = parameters_of(ELITE5_LINE);
	shape.parameters.timeout_cycles = 1000;
	shape.parameters.retry_cycles = 500;
	shape.warmup = 0;
	shape.measure = 20000;
	for (uint32_t node = 0; node < LAST; node++)
		job.nodes.push_back(node);
	for (uint32_t node = FIRST; node < LAST; node++)
		job.trace.messages.push_back({250, node, 1, MANY, Operation::Put});
	shape.jobs.push_back(job);
	/* By then all of the put is at its target, and the answer is not at its source. */
	shape.incidents.push_back(parse_incident(Change::Fail, "240:link:0.0", machine));

	const Result result = run(machine, shape);
	const Statistics &seen = result.statistics;

	assert_true(result.drained);
	assert_int_equal(seen.sent_again, 1);
	assert_int_equal(seen.refused, 1);
	assert_int_equal(seen.given_up, 1);
	assert_int_equal(seen.came_twice, 0);
	assert_int_equal(seen.window_bytes, BYTES + (LAST - FIRST) * MANY);
}

} // namespace

TEST_MAIN("tests")
