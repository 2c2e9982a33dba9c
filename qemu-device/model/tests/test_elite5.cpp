// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Elite5 as a description: lengths and times of packets that the source tells (Q04, Q05, Q07 to Q09, Q11 to Q18, Q39),
 * and what is no switch.
 */
#include "cmocka_cpp.hpp"

#include <cmath>

#include "chip/elite5.hpp"

using namespace aries::chip;

namespace
{

void near(double value, double wanted, double by)
{
	if (!(std::fabs(value - wanted) <= by))
		fail_msg("%g and not %g", value, wanted);
}

TEST(segments_Q12_Q14)
{
	constexpr SegmentForm form = ELITE5.packets;

	/* 248 bytes in the first segment and 252 in each other, of which the trailer takes eight. */
	assert_int_equal(segments(form, 0), 1);
	assert_int_equal(segments(form, 240), 1);
	assert_int_equal(segments(form, 241), 2);
	assert_int_equal(segments(form, 240 + 252), 2);
	assert_int_equal(segments(form, 240 + 253), 3);
	assert_int_equal(wire_bytes(form, 240), 256);
	assert_int_equal(wire_bytes(form, 241), 261);
	assert_int_equal(wire_bytes(form, 492), 512);
	assert_int_equal(segments(form, form.usual_payload), 5);
	assert_int_equal(segments(form, form.most_payload), 17);
	for (uint32_t payload = 0; payload <= form.most_payload; payload++)
		assert_true(wire_bytes(form, payload) <= segments(form, payload) * form.segment_bytes);
	assert_int_equal(form.header_crc_bits, 16);
	assert_int_equal(form.trailer_crc_bits, 32);
}

TEST(small_puts_Q15_Q17)
{
	/* Header, address, 32 or 64 bits of data, CRC and id. */
	assert_int_equal(put_bytes(ELITE5.packets, 8), 32);
	assert_int_equal(put_bytes(ELITE5.packets, 4), 28);
	/* It overtakes where a segment ends, and waits for one at most. */
	near(overtaking_ns(ELITE5), 102.4, 1e-9);
}

TEST(line_Q18_Q39)
{
	assert_int_equal(raw_mbit(ELITE5.line), 25'000);
	assert_int_equal(mbyte_per_s(ELITE5.line), 2500);
	/* Eight bytes in each cycle, to the last digit that the clock is told with. */
	near(ELITE5.times.switch_mhz * 8.0, 2500, 8);
	assert_int_equal(ELITE5.times.adapter_mhz, 500);
	near(payload_share(ELITE5, 1024), 0.8 * 1024 / 1056, 1e-12);
}

/* 1K crosses one switch of 32 nodes in 40 ns and five of 2,048 in 200; 1.2 to 2.9 channels, "2 or 3" in the source. */
TEST(times_Q04_Q05_Q07_Q08_Q09_Q11)
{
	const double packet = 422.4;

	assert_int_equal(ELITE5.channels.channels, 32);
	assert_int_equal(ELITE5.channels.outstanding, 32);
	assert_int_equal(1 * ELITE5.times.crossing_ns, 40);
	assert_int_equal(5 * ELITE5.times.crossing_ns, 200);
	assert_int_equal(ELITE5.times.write_least_ns, 300);
	assert_int_equal(ELITE5.times.write_most_ns, 400);
	near(wire_ns(ELITE5.line, wire_bytes(ELITE5.packets, 1024)), packet, 1e-9);
	near(channels_for_line_rate(ELITE5, 1024, 1, 0), (packet + 80) / packet, 1e-12);
	near(channels_for_line_rate(ELITE5, 1024, 5, 400), (packet + 400 + 400) / packet, 1e-12);
	near(channels_for_line_rate(ELITE5, 1024, 1, 0), 1.2, 0.05);
	near(channels_for_line_rate(ELITE5, 1024, 5, 400), 2.9, 0.05);
	/* Smaller packets need more, and 32 are enough for those of 64 bytes. */
	assert_true(channels_for_line_rate(ELITE5, 256, 5, 400) > 2 * channels_for_line_rate(ELITE5, 1024, 5, 400));
	assert_true(channels_for_line_rate(ELITE5, 64, 5, 400) < ELITE5.channels.channels);
	assert_true(channels_for_line_rate(ELITE5, 16, 5, 400) > ELITE5.channels.channels);
}

TEST(buffers_Q16)
{
	assert_int_equal(input_bytes(ELITE5.channels), 12'288);
	assert_int_equal(input_bytes(ELITE5_WITHOUT_POOL.channels), 8192);
}

template <typename Change> void is_none(Change change)
{
	Switch chip = ELITE5;

	assert_true(holds_together(chip));
	change(chip);
	assert_false(holds_together(chip));
}

TEST(what_does_not_hold_together)
{
	is_none([](Switch &chip) { chip.radix = 31; });
	is_none([](Switch &chip) { chip.packets.first_header = 256; });
	is_none([](Switch &chip) { chip.packets.next_header = 256; });
	is_none([](Switch &chip) { chip.packets.usual_payload = 4097; });
	is_none([](Switch &chip) { chip.channels.buffer_bytes = 255; });
	is_none([](Switch &chip) { chip.channels.channels = 0; });
	is_none([](Switch &chip) { chip.line.code_data = 11; });
	is_none([](Switch &chip) { chip.times.write_least_ns = 500; });
}

} // namespace

TEST_MAIN("elite5")
