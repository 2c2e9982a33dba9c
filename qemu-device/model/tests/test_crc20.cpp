// SPDX-License-Identifier: GPL-2.0-or-later
/* CRC-20 of a link's sets (P08): what it finds, what it misses, and what follows for a machine (P10). */
#include "lcb_rig.hpp"

#include <algorithm>
#include <bit>
#include <vector>

using namespace aries;

namespace
{

/* Codes of weight up to this are counted. */
constexpr uint32_t WEIGHTS = 8;

/* The definition: long division of the bits, most significant first. */
uint32_t divided(const LcbBits &set, uint32_t bits, uint32_t crc)
{
	for (uint32_t bit = 0; bit < bits; bit++) {
		const uint32_t in = set.word[bit / 48] >> (47 - bit % 48) & 1;
		const bool carry = (crc >> 19 & 1) != in;

		crc = (crc << 1 & 0xfffff) ^ (carry ? CRC20_POLYNOMIAL : 0);
	}
	return crc;
}

/* The CRC is that of 460 bits, so 60 bytes with its own 20 (P07, P08). */
TEST(is_the_remainder_of_60_bytes_P08)
{
	BitRandom random(1);

	for (uint32_t i = 0; i < 1000; i++) {
		const LcbBits bits = encode_set(random_set(random));

		assert_int_equal(bits.word[9] & 0xfffff, divided(bits, 460, 0xfffff));
	}
}

/* A line that is stuck is no set, on one lane or all. */
TEST(stuck_lines_are_no_sets)
{
	LcbBits bits{};
	LcbSet out;

	assert_false(decode_set(bits, out));
	bits.word.fill(LCB_FLIT);
	assert_false(decode_set(bits, out));
}

/* The 24,000 primitive polynomials of degree 20: x has the order 2^20 - 1, whose primes are 3, 5, 11, 31, 41. */
TEST(polynomial_is_primitive)
{
	const auto power = [](uint32_t exponent) {
		uint32_t crc = 1;

		while (exponent--)
			crc = detail::crc20_shift(crc);
		return crc;
	};

	assert_int_equal(power((1u << 20) - 1), 1);
	for (const uint32_t prime : {3u, 5u, 11u, 31u, 41u})
		assert_int_not_equal(power(((1u << 20) - 1) / prime), 1);
}

/* All errors of 1, 2 and 3 bits are found: the distance is 4 at least (P08, P10). */
TEST(finds_all_errors_of_three_bits_P08_P10)
{
	std::vector<bool> single(1u << 20);

	for (const uint32_t syndrome : CRC20_SYNDROMES) {
		assert_int_not_equal(syndrome, 0);
		assert_false(single[syndrome]);
		single[syndrome] = true;
	}
	for (uint32_t a = 0; a < SET_BITS; a++) {
		for (uint32_t b = a + 1; b < SET_BITS; b++)
			assert_false(single[CRC20_SYNDROMES[a] ^ CRC20_SYNDROMES[b]]);
	}
}

/* The syndromes are those of the code: flipped sets say the same. */
TEST(syndromes_are_those_of_sets_P08)
{
	BitRandom random(2);

	for (uint32_t i = 0; i < 20000; i++) {
		const LcbSet set = random_set(random);
		LcbBits bits = encode_set(set);
		uint32_t syndrome = 0;

		for (uint32_t n = random.below(6); n > 0; n--) {
			const uint32_t bit = random.below(SET_BITS);

			bits.flip(bit);
			syndrome ^= CRC20_SYNDROMES[bit];
		}
		assert_int_equal(divided(bits, 460, 0xfffff) ^ (bits.word[9] & 0xfffff), syndrome);
	}
}

/* Bursts of up to 20 bits are found, on the line or on one of one to three lanes (P08, P17). */
TEST(finds_bursts_on_lanes_P08_P17)
{
	BitRandom random(3);

	for (uint32_t lanes = 1; lanes <= LANES; lanes++) {
		for (uint32_t lane = 0; lane < lanes; lane++) {
			for (uint32_t i = 0; i < 100000; i++) {
				const uint32_t length = 1 + random.below(20);
				const uint32_t at = random.below(SET_BITS / lanes - length + 1);
				const uint64_t inner = random.next();
				uint32_t syndrome = 0;

				for (uint32_t n = 0; n < length; n++) {
					if (n == 0 || n == length - 1 || inner >> n & 1)
						syndrome ^= CRC20_SYNDROMES[bit_of(lane, at + n, lanes)];
				}
				assert_int_not_equal(syndrome, 0);
			}
		}
	}
}

double choose(double n, uint32_t k)
{
	double product = 1;

	for (uint32_t i = 0; i < k; i++)
		product *= (n - i) / (i + 1);
	return product;
}

/*
 * How many errors of each weight are missed, exactly: from the weights of the 2^20 words of the dual code, by
 * MacWilliams' identity.
 */
std::array<double, WEIGHTS + 1> missed_by_weight()
{
	std::array<std::array<uint64_t, 8>, 20> rows{};
	std::vector<uint32_t> dual(SET_BITS + 1);
	std::array<uint64_t, 8> word{};
	std::array<double, WEIGHTS + 1> missed{};

	for (uint32_t bit = 0; bit < SET_BITS; bit++) {
		for (uint32_t row = 0; row < 20; row++)
			rows[row][bit / 64] |= uint64_t{CRC20_SYNDROMES[bit] >> row & 1} << bit % 64;
	}
	for (uint32_t i = 0; i < 1u << 20; i++) {
		uint32_t weight = 0;

		/* In the order of a Gray code each word is one row from the last. */
		for (uint32_t part = 0; part < 8; part++) {
			if (i)
				word[part] ^= rows[std::countr_zero(i)][part];
			weight += std::popcount(word[part]);
		}
		dual[weight]++;
	}
	for (uint32_t w = 0; w <= WEIGHTS; w++) {
		__int128 sum = 0;

		for (uint32_t j = 0; j <= SET_BITS; j++) {
			__int128 krawtchouk = 0;

			for (uint32_t s = 0; s <= w && dual[j]; s++) {
				__int128 ways = 1;

				for (uint32_t i = 0; i < s; i++)
					ways = ways * (j - i) / (i + 1);
				for (uint32_t i = 0; i < w - s; i++)
					ways = ways * (SET_BITS - j - i) / (i + 1);
				krawtchouk += s % 2 ? -ways : ways;
			}
			sum += krawtchouk * dual[j];
		}
		missed[w] = static_cast<double>(sum >> 20);
	}
	return missed;
}

/* Errors of weight 4 and more that add up to nothing, drawn at random: the fraction is that of the exact count. */
TEST(missed_fractions_are_2_to_the_minus_20_P10)
{
	const std::array<double, WEIGHTS + 1> exact = missed_by_weight();
	const uint64_t samples = slow_lcb_tests() ? 2'000'000'000 : 20'000'000;
	BitRandom random(4);

	for (uint32_t w = 1; w <= 3; w++)
		assert_true(exact[w] == 0);
	for (uint32_t weight = 4; weight <= WEIGHTS; weight++) {
		const double fraction = exact[weight] / choose(SET_BITS, weight);
		const double expected = fraction * static_cast<double>(samples);
		uint64_t missed = 0;

		for (uint64_t i = 0; i < samples; i++) {
			std::array<uint32_t, WEIGHTS> bits{};
			uint32_t syndrome = 0;

			for (uint32_t n = 0; n < weight; n++) {
				do {
					bits[n] = random.below(SET_BITS);
				} while (std::find(bits.begin(), bits.begin() + n, bits[n]) != bits.begin() + n);
				syndrome ^= CRC20_SYNDROMES[bits[n]];
			}
			missed += syndrome == 0;
		}

		const double sigma = std::sqrt(expected);

		print_message("weight %u: %.0f words, 2^%.4f of all; of %lu random errors %lu are missed, %.1f +- %.1f "
			      "expected\n",
			      weight, exact[weight], std::log2(fraction), samples, missed, expected, 3 * sigma);
		assert_true(std::abs(static_cast<double>(missed) - expected) < 4 * sigma + 1);
		assert_true(fraction * 0x1p20 > 0.95 && fraction * 0x1p20 < 1.05);
	}
}

/*
 * 25,000 nodes, so 6,250 routers, each with 30 electrical and 10 optical tiles that send (T06, T19) at a bit error
 * rate of 10^-7: years between errors that no CRC-20 finds. Errors of four bits are almost all of them.
 */
TEST(years_between_undetected_errors_P10)
{
	constexpr double RATE = 1e-7, YEAR = 365.25 * 86400;
	const std::array<double, WEIGHTS + 1> exact = missed_by_weight();
	const double sets_14 = static_cast<double>(raw_mbit_per_s(Medium::Electrical)) * 1e6 / SET_BITS;
	const double sets_mixed = (30 * sets_14 + 10e6 * raw_mbit_per_s(Medium::Optical) / SET_BITS) / 40;
	double missed = 0;

	for (uint32_t w = 4; w <= WEIGHTS; w++)
		missed += exact[w] * std::pow(RATE, w) * std::pow(1 - RATE, SET_BITS - w);

	const double years = 1 / (250000 * sets_mixed * missed * YEAR);
	const double years_14 = 1 / (250000 * sets_14 * missed * YEAR);
	const double random_code = choose(SET_BITS, 4) * std::pow(RATE, 4) * 0x1p-20;

	print_message("%.0f words of weight 4: %.0f years, %.0f with all links at 14 Gb/s (P10: 7250 and 6954)\n",
		      exact[4], years, years_14);
	assert_true(exact[4] == 2053);
	assert_true(years > 7250 && years < 7250 * 1.01);
	assert_true(std::abs(1 / (250000 * sets_14 * random_code * YEAR) - 6954) < 1);
	assert_true(std::abs(years_14 / 6954 - 1) < 0.02);
}

} // namespace

TEST_MAIN("crc20")
