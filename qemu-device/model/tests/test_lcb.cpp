// SPDX-License-Identifier: GPL-2.0-or-later
/* One LCB: the form of sets (P05, P07), numbers, acknowledgements, sending again (P09), garbage. */
#include "lcb_rig.hpp"

#include <algorithm>
#include <vector>

using namespace aries;

namespace
{

bool same(const LcbSet &a, const LcbSet &b)
{
	return a.count == b.count && std::equal(a.flit.begin(), a.flit.begin() + a.count, b.flit.begin()) &&
	       a.sequence == b.sequence && a.acknowledged == b.acknowledged && a.round == b.round &&
	       a.wanted == b.wanted && a.load == b.load && a.clock == b.clock;
}

TEST(sets_come_as_they_were_P07)
{
	BitRandom random(1);

	for (uint32_t i = 0; i < 100000; i++) {
		const LcbSet in = random_set(random);
		LcbSet out;

		assert_true(decode_set(encode_set(in), out));
		assert_true(same(in, out));
	}
}

/* The CRC fits, but there is no one in ends, or something where no flit is. */
TEST(forms_that_nobody_sends_are_damage)
{
	const auto with_crc = [](LcbBits bits) {
		const auto control = static_cast<uint32_t>(bits.word[9] >> 20);

		bits.word[9] = uint64_t{control} << 20 | crc20(control, 28, crc20({bits.word.data(), 9}));
		return bits;
	};
	LcbSet out;
	LcbBits bits = encode_set({});

	assert_true(decode_set(with_crc(bits), out));
	bits.word[8] = 1;
	assert_false(decode_set(with_crc(bits), out));
	bits.word[8] = 0;
	bits.word[9] &= ~(uint64_t{0x3ff} << (20 + 4));
	assert_false(decode_set(with_crc(bits), out));
}

/* 480 bits divide over three, two lanes and one; each bit has a place of its own (P08, P17). */
TEST(lanes_share_the_bits_P08_P17)
{
	for (uint32_t lanes = 1; lanes <= LANES; lanes++) {
		std::vector<uint32_t> seen(SET_BITS);

		for (uint32_t lane = 0; lane < lanes; lane++) {
			for (uint32_t time = 0; time < SET_BITS / lanes; time++) {
				const uint32_t bit = bit_of(lane, time, lanes);

				assert_int_equal(lane_of(bit, lanes), lane);
				seen.at(bit)++;
			}
		}
		for (const uint32_t times : seen)
			assert_int_equal(times, 1);
	}
}

/* Hand the next set over; what comes is appended. */
LcbTaken pass(LcbEnd &from, LcbEnd &to, std::vector<uint64_t> &flits, uint32_t flip = SET_BITS)
{
	LcbBits bits = encode_set(from.next());
	LcbSet set;

	if (flip < SET_BITS)
		bits.flip(flip);

	const LcbTaken taken = to.take(bits, set);

	if (taken == LcbTaken::Flits)
		flits.insert(flits.end(), set.flits().begin(), set.flits().end());
	return taken;
}

void fill(LcbEnd &end, uint64_t &pushed)
{
	while (end.push(flit_of(pushed, 0)))
		pushed++;
}

void assert_stream(const std::vector<uint64_t> &flits, uint64_t count)
{
	assert_int_equal(flits.size(), count);
	for (uint64_t i = 0; i < count; i++)
		assert_true(flits[i] == flit_of(i, 0));
}

/* Without acknowledgement no more than the window is sent; one set of the other side frees all of it (P09). */
TEST(the_send_buffer_waits_for_acknowledgements_P09)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;

	assert_int_equal(a.room(), LCB_WINDOW * LCB_FLITS);
	fill(a, pushed);
	assert_int_equal(pushed, LCB_WINDOW * LCB_FLITS);
	assert_int_equal(a.room(), 0);
	for (uint32_t i = 0; i < LCB_WINDOW; i++)
		assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	assert_int_equal(pass(a, b, flits), LcbTaken::Empty);
	assert_stream(flits, pushed);
	assert_false(a.quiet());
	assert_int_equal(pass(b, a, none), LcbTaken::Empty);
	assert_true(a.quiet());
	assert_int_equal(a.room(), LCB_WINDOW * LCB_FLITS);
}

/* A line does not wait for nine flits. */
TEST(a_set_that_is_not_full_goes)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits;

	for (uint64_t n = 0; n < 20; n++) {
		assert_true(a.push(flit_of(n, 0)));
		if (n % 3 == 0)
			assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	}
	assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	assert_stream(flits, 20);
	assert_int_equal(a.counters().sets, 8);
}

/* After a damaged set nothing is taken; told of it, the sender begins again with it, and in order (P09). */
TEST(a_damaged_set_is_sent_again_P09)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;

	fill(a, pushed);
	for (uint32_t i = 0; i < 3; i++)
		pass(a, b, flits);
	assert_int_equal(pass(a, b, flits, 100), LcbTaken::Damaged);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pass(a, b, flits), LcbTaken::Skipped);
	assert_stream(flits, 27);
	pass(b, a, none);
	assert_int_equal(a.counters().replays, 1);
	assert_int_equal(a.counters().replayed, 6);
	/* The same word a second time is no second one. */
	pass(b, a, none);
	for (uint32_t i = 3; i < LCB_WINDOW; i++)
		assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	pass(b, a, none);
	assert_stream(flits, pushed);
	assert_true(a.quiet());
	assert_int_equal(a.counters().replays, 1);
	assert_int_equal(b.counters().crc_errors, 1);
	assert_int_equal(b.counters().nacks, 1);
	assert_int_equal(b.counters().skipped, 5);
	assert_int_equal(b.counters().taken, LCB_WINDOW);
}

/* The first set of what is sent again is damaged as well; then the last one, behind which only empty ones come. */
TEST(sets_are_damaged_again_P09)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;

	fill(a, pushed);
	pass(a, b, flits, 0);
	pass(b, a, none);
	pass(a, b, flits, 479);
	pass(a, b, flits, 3);
	assert_int_equal(pass(a, b, flits), LcbTaken::Skipped);
	assert_int_equal(b.counters().nacks, 2);
	pass(b, a, none);
	assert_int_equal(a.counters().replays, 2);
	for (uint32_t i = 0; i + 1 < LCB_WINDOW; i++)
		assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	assert_int_equal(pass(a, b, flits, 5), LcbTaken::Damaged);
	assert_int_equal(pass(a, b, flits), LcbTaken::Skipped);
	pass(b, a, none);
	assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	assert_stream(flits, pushed);
}

/* The word that asks for sets again is damaged itself: the next one says the same (P09). */
TEST(a_lost_acknowledgement_does_no_harm_P09)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;

	fill(a, pushed);
	pass(a, b, flits);
	pass(a, b, flits, 77);
	assert_int_equal(pass(b, a, none, 12), LcbTaken::Damaged);
	assert_int_equal(a.counters().replays, 0);
	assert_int_equal(pass(b, a, none), LcbTaken::Skipped);
	assert_int_equal(a.counters().replays, 1);
	for (uint32_t i = 1; i < LCB_WINDOW; i++)
		pass(a, b, flits);
	pass(b, a, none, 12);
	assert_false(a.quiet());
	pass(b, a, none);
	assert_true(a.quiet());
	assert_stream(flits, pushed);
	/* Nothing was in the sets of b that were lost, so b had nothing to send again. */
	assert_int_equal(b.counters().replays, 0);
}

/* Numbers go round many times, with damage everywhere: a set is lost in either direction with every seventh. */
TEST(numbers_go_round_P09)
{
	LcbEnd a, b;
	BitRandom random(2);
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;

	while (flits.size() < 100000) {
		fill(a, pushed);
		pass(a, b, flits, random.below(7) ? SET_BITS : random.below(SET_BITS));
		if (random.below(3) == 0)
			pass(b, a, none, random.below(7) ? SET_BITS : random.below(SET_BITS));
	}
	assert_stream(flits, flits.size());
	assert_int_equal(a.counters().bad_acks, 0);
}

/* Load stays, a pulse is in one set (R09). */
TEST(clock_and_load_go_along_P07)
{
	LcbEnd a, b;
	LcbSet set;

	a.set_load(5);
	a.pulse_clock();
	b.take(encode_set(a.next()), set);
	assert_int_equal(set.load, 5);
	assert_true(set.clock);
	b.take(encode_set(a.next()), set);
	assert_int_equal(set.load, 5);
	assert_false(set.clock);
}

/* An error that is a code word passes: flits are wrong, the link goes on, and packets have a CRC of their own (P18). */
TEST(what_the_crc_misses_passes_P10_P18)
{
	LcbEnd a, b;
	std::vector<uint64_t> flits, none;
	uint64_t pushed = 0;
	LcbBits bits;
	LcbSet set;
	uint32_t wrong = 0;

	/* x^20 + ... itself, in the first flit: eleven bits. */
	fill(a, pushed);
	bits = encode_set(a.next());
	for (uint32_t i = 0; i <= CRC20_BITS; i++) {
		if ((CRC20_POLYNOMIAL | 1u << CRC20_BITS) >> i & 1)
			bits.flip(40 - i);
	}
	assert_int_equal(b.take(bits, set), LcbTaken::Flits);
	for (uint32_t i = 0; i < LCB_FLITS; i++)
		wrong += set.flit[i] != flit_of(i, 0);
	assert_int_equal(wrong, 1);
	assert_int_equal(b.counters().crc_errors, 0);
	assert_int_equal(pass(a, b, flits), LcbTaken::Flits);
	assert_true(flits[0] == flit_of(LCB_FLITS, 0));
}

/* What cannot have been sent is not acknowledged; if that is all that comes, both have to start again. */
TEST(bad_acknowledgements_are_ignored)
{
	LcbEnd a;
	LcbSet set{};
	uint64_t pushed = 0;

	fill(a, pushed);
	for (uint32_t i = 0; i < 10; i++)
		a.next();
	for (uint32_t round = 0; round < 3; round++) {
		set.acknowledged = 11;
		for (uint32_t i = 1; i < LCB_BROKEN_AFTER; i++)
			a.take(set);
		assert_int_equal(a.room(), round ? 10 * LCB_FLITS : 0);
		assert_false(a.broken());
		set.acknowledged = 10;
		a.take(set);
	}
	assert_int_equal(a.counters().bad_acks, 3 * (LCB_BROKEN_AFTER - 1));
	/* Of what has been acknowledged before, neither. */
	set.acknowledged = 9;
	for (uint32_t i = 0; i < LCB_BROKEN_AFTER; i++)
		a.take(set);
	assert_true(a.broken());
}

/*
 * Whatever comes, an LCB goes on: bits at random, and sets with a good CRC that nobody should send. Then the two talk
 * again, or one knows that they cannot.
 */
TEST(garbage_does_not_stop_an_lcb)
{
	BitRandom random(3);
	uint32_t broken = 0, well = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		LcbEnd a, b;
		std::vector<uint64_t> flits, none;
		uint64_t pushed = 0;

		for (uint32_t n = 0; n < 40; n++) {
			LcbSet set = random_set(random);
			LcbBits bits = encode_set(set);

			fill(a, pushed);
			pass(a, b, flits);
			pass(b, a, none);
			if (random.below(2)) {
				for (uint64_t &word : bits.word)
					word = random.next() & LCB_FLIT;
			}
			if (random.below(4) == 0)
				(random.below(2) ? a : b).take(bits, set);
		}

		const uint64_t before = b.counters().taken;

		for (uint32_t n = 0; n < 200; n++) {
			fill(a, pushed);
			pass(a, b, flits);
			pass(b, a, none);
		}

		const bool talks = b.counters().taken > before + 100;

		broken += a.broken() || b.broken();
		well += talks;
		assert_true(talks || a.broken() || b.broken());
	}
	print_message("%u links go on, %u are broken\n", well, broken);
	assert_true(well > 0 && broken > 0);
}

} // namespace

TEST_MAIN("lcb")
