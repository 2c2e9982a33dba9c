// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs of flits over a link with errors: the same as with all sets, at no cost where there are none. */
#include "lcb_rig.hpp"

#include <vector>

#include "link/lcb_run.hpp"

using namespace aries;

namespace
{

constexpr uint64_t CABLE = ns_to_ticks(82);

const auto nobody = [](const LcbDamage &) { fail_msg("the CRC missed an error"); };

/* With the same errors on the line a run has as many replays as the link, and ends in the same tick (P09). */
TEST(a_run_is_as_the_link_P09)
{
	constexpr uint64_t FLITS = 90000;

	for (const double rate : {0.0, 1e-6, 1e-5, 1e-4, 1e-3}) {
		for (const uint64_t latency : {uint64_t{0}, CABLE, ns_to_ticks(200)}) {
			for (uint32_t lanes = 1; lanes <= LANES; lanes++) {
				const LcbLine line{Medium::Optical, lanes, latency};
				LcbRig rig({.medium = line.medium,
					    .latency = latency,
					    .error_rate = {rate, 0},
					    .seed = 9 + lanes});
				BitErrors errors(rate, 9 + lanes);
				const LcbRun run = lcb_run(line, FLITS, errors, nobody);
				const uint64_t sets = FLITS / LCB_FLITS;
				const uint64_t end = ((sets * lcb_set_time(line)) >> FLIT_SHIFT) + latency;

				for (uint32_t side = 0; side < 2; side++)
					rig.link.set_lanes(side, (1u << lanes) - 1);
				rig.offer(FLITS, 0);
				rig.drain();
				assert_int_equal(run.sets, sets);
				assert_int_equal(run.replays, rig.link.end(0).counters().replays);
				assert_in_range(end + run.extra_ticks, rig.last - 1, rig.last + 1);
				assert_true(run.replays > 0 || rate < 1e-5);
			}
		}
	}
}

/* A second of a link at 10^-12, many times over: 0.042 replays in each, and nothing to do but for these (P11). */
TEST(good_links_send_again_0_042_times_a_second_P11)
{
	constexpr double SECONDS = 1e6;
	const double flits = SECONDS * 42e9 * 0.9 / FLIT_BITS;
	BitErrors errors(1e-12, 4);
	const LcbRun run = lcb_run({.latency = CABLE}, static_cast<uint64_t>(flits), errors, nobody);
	const auto replays = static_cast<double>(run.replays);

	print_message("%.4f replays in a second\n", replays / SECONDS);
	assert_true(std::abs(replays - 0.042 * SECONDS) < 4 * std::sqrt(0.042 * SECONDS));
	assert_int_equal(run.extra_ticks,
			 (run.replays * lcb_replay_sets({.latency = CABLE}) * lcb_set_time({}) + (1u << FLIT_SHIFT) -
			  1) >> FLIT_SHIFT);
}

/* What an operation of a millisecond sees of a link: the rate of replays, whatever tick it begins at (P11). */
TEST(errors_follow_from_the_tick)
{
	constexpr uint64_t FLITS = 9000;
	constexpr double RATE = 1e-7;
	const double expected = 20000.0 * FLITS / LCB_FLITS * SET_BITS * RATE;
	uint64_t replays = 0;

	for (uint64_t tick = 0; tick < 20000; tick++) {
		BitErrors errors = lcb_errors(RATE, 77, tick);
		BitErrors again = lcb_errors(RATE, 77, tick);
		const LcbRun run = lcb_run({}, FLITS, errors, nobody);

		assert_int_equal(run.replays, lcb_run({}, FLITS, again, nobody).replays);
		replays += run.replays;
	}
	print_message("%lu replays, expected %.0f\n", replays, expected);
	assert_true(std::abs(static_cast<double>(replays) - expected) < 4 * std::sqrt(expected));
}

/* Bits that are wrong where a test wants them. */
class Script
{
public:
	explicit Script(std::vector<uint64_t> wrong) : wrong_(std::move(wrong)) {}

	uint64_t clear() const { return next_ < wrong_.size() ? wrong_[next_] - at_ : uint64_t{1} << 62; }

	bool pass(uint64_t bits)
	{
		if (clear() < bits)
			return false;
		at_ += bits;
		return true;
	}

	template <typename Wrong> void take(uint64_t bits, Wrong &&wrong)
	{
		for (; next_ < wrong_.size() && wrong_[next_] < at_ + bits; next_++)
			wrong(wrong_[next_] - at_);
		at_ += bits;
	}

private:
	std::vector<uint64_t> wrong_;
	size_t next_ = 0;
	uint64_t at_ = 0;
};

/* The polynomial as an error: it ends in bit @p end. */
void add_code_word(std::vector<uint64_t> &wrong, uint64_t end)
{
	for (uint32_t i = CRC20_BITS + 1; i-- > 0;) {
		if ((CRC20_POLYNOMIAL | 1u << CRC20_BITS) >> i & 1)
			wrong.push_back(end - i);
	}
}

/* Errors that the CRC misses are told with their place and bits; the run goes on (P10). */
TEST(missed_errors_are_told_P10)
{
	constexpr uint64_t AGAIN = lcb_replay_sets({.latency = CABLE});
	std::vector<uint64_t> wrong;
	std::vector<uint64_t> places;

	add_code_word(wrong, 7 * SET_BITS + 60);
	wrong.push_back(9 * SET_BITS + 3);
	/* What is skipped may be wrong; then the same set comes again, and is wrong as a code word. */
	wrong.push_back(11 * SET_BITS + 3);
	add_code_word(wrong, (9 + AGAIN) * SET_BITS + 47);

	Script errors(wrong);
	const LcbRun run = lcb_run({.latency = CABLE}, 1000, errors, [&](const LcbDamage &damage) {
		std::array<uint64_t, LCB_FLITS> want{};

		for (uint32_t i = 0; i <= CRC20_BITS; i++) {
			if (!((CRC20_POLYNOMIAL | 1u << CRC20_BITS) >> i & 1))
				continue;

			const uint32_t bit = (places.empty() ? 60 : 47) - i;

			want[bit / 48] |= uint64_t{1} << (47 - bit % 48);
		}
		assert_true(damage.wrong == want);
		places.push_back(damage.first_flit);
	});

	assert_int_equal(run.undetected, 2);
	assert_true(places == (std::vector<uint64_t>{63, 81}));
	assert_int_equal(run.replays, 1);
	assert_int_equal(run.extra_ticks, (AGAIN * lcb_set_time({}) + (1u << FLIT_SHIFT) - 1) >> FLIT_SHIFT);
}

/* The first set that is sent again is wrong, and two behind it: only the third shows that it is missing (P09). */
TEST(damage_to_a_first_set_shows_late_P09)
{
	constexpr uint64_t AGAIN = lcb_replay_sets({.latency = CABLE});
	Script errors({0, AGAIN * SET_BITS, (AGAIN + 1) * SET_BITS + 7, (AGAIN + 2) * SET_BITS + 479});
	const LcbRun run = lcb_run({.latency = CABLE}, 9, errors, nobody);

	assert_int_equal(run.replays, 2);
	assert_int_equal(run.extra_ticks, ((2 * AGAIN + 3) * lcb_set_time({}) + (1u << FLIT_SHIFT) - 1) >> FLIT_SHIFT);
}

/* Of sets full of errors one in 2^20 passes (P10). */
TEST(one_in_2_to_the_20_passes_P10)
{
	const uint64_t sets = slow_lcb_tests() ? 200'000'000 : 5'000'000;
	const double expected = static_cast<double>(sets) * 0x1p-20;
	BitErrors errors(0.03, 2);
	double missed = 0;

	/* One in two million has no error at all: that is none that is missed. */
	for (uint64_t i = 0; i < sets; i++) {
		const LcbSetErrors set(errors);

		missed += set.any() && !set.found();
	}
	print_message("%.0f of %lu are missed, %.1f expected\n", missed, sets, expected);
	assert_true(missed > 0 && std::abs(missed - expected) < 4 * std::sqrt(expected));
}

/* Distances between errors: their mean, that each bit has its rate, and the ends of the scale. */
TEST(errors_have_their_rate_P11)
{
	for (const double rate : {0.5, 1e-2, 1e-4}) {
		const double bits = 1e5 / rate;
		BitErrors errors(rate, 8);
		double wrong = 0;
		std::array<double, 2> halves{};

		for (uint32_t i = 0; i < 1000; i++) {
			errors.take(static_cast<uint64_t>(bits / 1000), [&](uint64_t at) {
				wrong++;
				halves[static_cast<double>(at) * 2000 >= bits]++;
			});
		}
		assert_true(std::abs(wrong - 1e5) < 4 * std::sqrt(1e5));
		assert_true(std::abs(halves[0] - halves[1]) < 4 * std::sqrt(1e5));
	}

	BitErrors never(0, 1), always(1, 1), not_a_number(std::nan(""), 1);
	uint32_t wrong = 0;

	assert_true(never.pass(uint64_t{1} << 60) && never.pass(uint64_t{1} << 60) && never.pass(uint64_t{1} << 60));
	assert_true(not_a_number.pass(uint64_t{1} << 60));
	always.take(480, [&](uint64_t at) { assert_int_equal(at, wrong++); });
	assert_int_equal(wrong, 480);
}

} // namespace

TEST_MAIN("lcb_run")
