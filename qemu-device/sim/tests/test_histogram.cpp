// SPDX-License-Identifier: GPL-2.0-or-later
/* Quantiles of counts, and the exponential of whole numbers. */
#include <cmath>

#include "histogram.hpp"
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

TEST(quantiles_are_exact_when_small)
{
	Histogram histogram;

	for (uint32_t value = 1; value <= 1000; value++)
		histogram.add(value);
	assert_int_equal(histogram.quantile(500), 500);
	assert_int_equal(histogram.quantile(990), 990);
	assert_int_equal(histogram.quantile(1000), 1000);
	assert_int_equal(histogram.least(), 1);
	assert_int_equal(histogram.most(), 1000);
	assert_int_equal(histogram.sum(), 500500);
}

TEST(quantiles_are_near_when_large)
{
	for (const uint32_t value : {8191u, 8192u, 8193u, 100000u, 12345678u, UINT32_MAX / 2}) {
		Histogram histogram;

		histogram.add(value);
		histogram.add(UINT32_MAX);
		assert_in_range(histogram.quantile(500), value, value + value / 4096 + 1);
		assert_int_equal(histogram.count_of(value) >= 1, 1);
	}
}

TEST(exponential_has_its_mean)
{
	constexpr uint64_t MEAN = 1000;
	constexpr uint32_t DRAWS = 100000;
	uint64_t sum = 0, above = 0;

	for (uint32_t i = 0; i < DRAWS; i++) {
		const uint64_t value = exponential(random_of(1, 2, i), MEAN << Traffic::FRACTION);

		sum += value;
		above += value > MEAN << Traffic::FRACTION;
	}
	assert_in_range(sum / DRAWS >> Traffic::FRACTION, MEAN * 98 / 100, MEAN * 102 / 100);
	assert_true(std::abs(static_cast<double>(above) / DRAWS - std::exp(-1)) < 0.01);
	assert_int_equal(exponential(UINT64_MAX, MEAN), 0);
	assert_true(exponential(0, MEAN) > 44 * MEAN);
}

} // namespace

TEST_MAIN("tests")
