/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic of the collective engine: every command against a plain reference, exceptions, rounding (N23). */
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "aries_hw.h"
#include "nic/engines/ce_math.hpp"
#include "tests/cmocka_cpp.hpp"

using namespace aries;

namespace
{

constexpr unsigned int UP = 0, DOWN = 1, NEAR = 2, ZERO = 3;

/* gni_ce_cmd_type_t: the short form, the long one is one more. */
constexpr uint16_t AND = 0x00, OR = 0x02, XOR = 0x04, IMIN = 0x10, IMAX = 0x12, IADD = 0x14, FPMIN = 0x18, FPMAX = 0x1a,
		   FPADD = 0x1c, GREATEST = 0x20;
constexpr uint16_t FAMILIES[] = {AND,
				 OR,
				 XOR,
				 IMIN,
				 IMAX,
				 IADD,
				 FPMIN,
				 FPMAX,
				 FPADD,
				 IMIN | GREATEST,
				 IMAX | GREATEST,
				 FPMIN | GREATEST,
				 FPMAX | GREATEST};

template <typename T> T as(uint64_t word)
{
	T value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

template <typename T> uint64_t word(T value)
{
	uint64_t w = 0;

	memcpy(&w, &value, sizeof(value));
	return w;
}

/** A second way to the same result: sort out the best, or fold, in the type itself. */
template <typename U, typename I, typename F>
void reference(uint16_t code, bool two, const std::vector<CeValue> &in, uint64_t out[2])
{
	const bool least = (code & 0x1e) == IMIN || (code & 0x1e) == FPMIN;
	auto fold = [&](int which, auto f) {
		U all = as<U>(in[0].operand[which]);

		for (size_t i = 1; i < in.size(); i++)
			all = f(all, as<U>(in[i].operand[which]));
		out[which] = word(all);
	};
	auto best = [&](auto get) {
		size_t win = 0;

		for (size_t i = 1; i < in.size(); i++) {
			const auto a = get(in[win]), b = get(in[i]);
			const U ia = as<U>(in[win].operand[1]), ib = as<U>(in[i].operand[1]);

			if ((least ? b < a : b > a) || (a == b && (code & GREATEST ? ib > ia : ib < ia)))
				win = i;
		}
		out[0] = word(as<U>(in[win].operand[0]));
		out[1] = word(as<U>(in[win].operand[1]));
	};

	out[1] = 0;
	for (int which = 0; which < (two ? 2 : 1); which++) {
		switch (code & 0x1e) {
		case AND:
			fold(which, [](U a, U b) { return U(a & b); });
			break;
		case OR:
			fold(which, [](U a, U b) { return U(a | b); });
			break;
		case XOR:
			fold(which, [](U a, U b) { return U(a ^ b); });
			break;
		case IADD:
			fold(which, [](U a, U b) { return U(a + b); });
			break;
		case FPADD:
			fold(which, [](U a, U b) { return as<U>(word(F(as<F>(a) + as<F>(b)))); });
			break;
		case IMIN:
		case IMAX:
			best([](const CeValue &v) { return as<I>(v.operand[0]); });
			break;
		default:
			best([](const CeValue &v) { return as<F>(v.operand[0]); });
			break;
		}
	}
}

TEST(test_every_command)
{
	std::mt19937_64 random(20261121);
	unsigned int commands = 0;

	for (const uint16_t family : FAMILIES) {
		for (uint16_t wide = 0; wide < 2; wide++, commands++) {
			CeCommand command;

			assert_true(command.decode(family | wide));
			for (unsigned int round = 0; round < 2000; round++) {
				std::vector<CeValue> in(1 + random() % 32);
				const bool two = !command.indexed() && random() % 2;
				uint64_t want[2];

				for (CeValue &v : in) {
					/* Few values: equal ones must be frequent. */
					const double small = double(int64_t(random() % 9) - 4) / 3;
					const uint64_t number = wide ? word(small) : word(float(small));

					v = {{command.floating() ? number : random() >> (random() % 64),
					      command.floating() && two ? number : random() % 5},
					     0};
					if (!command.floating() && random() % 2)
						v.operand[0] = uint64_t(-int64_t(random() % 4));
				}
				if (wide)
					reference<uint64_t, int64_t, double>(family, two, in, want);
				else
					reference<uint32_t, int32_t, float>(family, two, in, want);
				const CeValue got = ce_reduce(command, two, NEAR, in.data(), in.size());

				assert_int_equal(got.operand[0], want[0]);
				assert_int_equal(got.operand[1], want[1]);
			}
		}
	}
	assert_int_equal(commands, 26);
}

/* Products and all other codes do not exist. */
TEST(test_unknown_commands)
{
	unsigned int known = 0;

	for (uint16_t code = 0; code < 0x400; code++) {
		CeCommand command;

		known += command.decode(code);
		if (code > 0x3b || (code & 0x1e) == 0x06 || (code & 0x1e) == 0x1e || (code & 0x1e) == 0x16)
			assert_false(command.decode(code));
	}
	assert_int_equal(known, 26);
}

template <typename F> CeValue add(unsigned int round, F a, F b)
{
	CeCommand command;
	const CeValue in[2] = {{{word(a), 0}, 0}, {{word(b), 0}, 0}};

	assert_true(command.decode(FPADD | (sizeof(F) == 8)));
	return ce_reduce(command, false, round, in, 2);
}

template <typename F> void rounding()
{
	const F one = 1, tiny = std::numeric_limits<F>::epsilon() / 8;
	const F above = std::nextafter(one, F(2)), below = std::nextafter(one, F(0));

	assert_true(as<F>(add<F>(UP, one, tiny).operand[0]) == above);
	assert_true(as<F>(add<F>(DOWN, one, tiny).operand[0]) == one);
	assert_true(as<F>(add<F>(NEAR, one, tiny).operand[0]) == one);
	assert_true(as<F>(add<F>(ZERO, one, tiny).operand[0]) == one);
	assert_true(as<F>(add<F>(UP, one, -tiny).operand[0]) == one);
	assert_true(as<F>(add<F>(DOWN, one, -tiny).operand[0]) == below);
	assert_true(as<F>(add<F>(NEAR, one, -tiny).operand[0]) == one);
	assert_true(as<F>(add<F>(ZERO, one, -tiny).operand[0]) == below);
	assert_int_equal(add<F>(NEAR, one, tiny).fpe, ARIES_CE_FPE_INEXACT);
}

template <typename F> void exceptions()
{
	using limits = std::numeric_limits<F>;

	assert_int_equal(add<F>(NEAR, 1, 2).fpe, 0);
	assert_int_equal(add<F>(NEAR, limits::infinity(), -limits::infinity()).fpe, ARIES_CE_FPE_INVALID);
	assert_int_equal(add<F>(NEAR, limits::max(), limits::max()).fpe, ARIES_CE_FPE_OVERFLOW | ARIES_CE_FPE_INEXACT);
	assert_true(std::isinf(as<F>(add<F>(NEAR, limits::max(), limits::max()).operand[0])));
	/* Sums that are tiny are exact: underflow only comes from what a contribution declares. */
	assert_int_equal(add<F>(NEAR, limits::denorm_min(), limits::denorm_min()).fpe, 0);
}

TEST(test_rounding_and_exceptions)
{
	rounding<float>();
	rounding<double>();
	exceptions<float>();
	exceptions<double>();
}

TEST(test_declared_exceptions)
{
	CeCommand command;
	const CeValue in[2] = {{{word(1.0), 0}, ARIES_CE_FPE_UNDERFLOW}, {{word(2.0), 0}, ARIES_CE_FPE_OVERFLOW}};

	assert_true(command.decode(FPADD | 1));
	assert_int_equal(ce_reduce(command, false, NEAR, in, 2).fpe, ARIES_CE_FPE_UNDERFLOW | ARIES_CE_FPE_OVERFLOW);
	assert_int_equal(ce_reduce(command, false, NEAR, in, 1).fpe, ARIES_CE_FPE_UNDERFLOW);
}

TEST(test_nan_and_zero)
{
	const double nan = std::numeric_limits<double>::quiet_NaN();
	CeCommand command;

	for (const uint16_t family : {FPMIN, FPMAX}) {
		const CeValue one[2] = {{{word(nan), 0}, 0}, {{word(3.0), 7}, 0}};
		const CeValue zero[2] = {{{word(0.0), 9}, 0}, {{word(-0.0), 4}, 0}};

		assert_true(command.decode(family | 1));
		for (size_t count : {1, 2}) {
			const CeValue got = ce_reduce(command, false, NEAR, one, count);

			assert_int_equal(got.fpe, ARIES_CE_FPE_INVALID);
			assert_int_equal(got.operand[0], count == 1 ? word(nan) : word(3.0));
		}
		assert_int_equal(ce_reduce(command, false, NEAR, zero, 2).operand[1], 4);
		assert_true(command.decode(family | 1 | GREATEST));
		assert_int_equal(ce_reduce(command, false, NEAR, zero, 2).operand[1], 9);
	}
}

/* A thread of the host must not find another rounding mode, nor flags. */
TEST(test_environment)
{
	fesetround(FE_DOWNWARD);
	feclearexcept(FE_ALL_EXCEPT);
	add<double>(UP, 1, 1e-30);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
	feraiseexcept(FE_DIVBYZERO);
	assert_int_equal(add<double>(NEAR, 1, 2).fpe, 0);
	assert_true(fetestexcept(FE_DIVBYZERO));
	fesetround(FE_TONEAREST);
	feclearexcept(FE_ALL_EXCEPT);
}

} // namespace

TEST_MAIN("tests")
