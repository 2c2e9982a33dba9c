// SPDX-License-Identifier: GPL-2.0-or-later
/* QSC: how a driver hears that the network is quiesced, and of the end. */
#include "tests/operator.hpp"
#include "tests/pair.hpp"

using namespace aries_test;
using aries::Network;

namespace
{

constexpr unsigned int VECTOR = 3;
constexpr uint64_t MS = 1'000'000;

unsigned int interrupts(FakeHost &host)
{
	return host.irqs[VECTOR].exchange(0);
}

void tick(FakeHost &host)
{
	aries_nic_tick(host.nic());
}

bool begun(const FakeHost &host)
{
	return host.read(ARIES_QSC_STATUS, 4) == ARIES_QSC_STATUS_BEGUN_MASK;
}

void enable(const FakeHost &host)
{
	host.write32(ARIES_QSC_CTL, ARIES_QSC_CTL_ENABLE_MASK | VECTOR << 8);
}

/** One NIC of each of two hosts, and an operator. */
struct Quiet : Pair {
	Operator op{path};
};

TEST(each_driver_is_told_and_acknowledges)
{
	Quiet quiet;

	enable(quiet.a);
	tick(quiet.a);
	assert_false(begun(quiet.a));
	assert_int_equal(interrupts(quiet.a), 0);
	quiet.op.quiesce(MS * 20000);
	assert_int_equal(quiet.a.read(ARIES_QSC_COUNT, 4), 1);
	assert_int_equal(quiet.a.read(ARIES_QSC_LENGTH, 8), MS * 20000);
	tick(quiet.a);
	tick(quiet.b);
	assert_true(begun(quiet.a));
	assert_true(begun(quiet.b));
	assert_true(interrupts(quiet.a) > 0);
	assert_int_equal(interrupts(quiet.b), 0); /* has not asked for any */

	/* A level: it comes again until it is acknowledged. */
	tick(quiet.a);
	assert_true(interrupts(quiet.a) > 0);
	quiet.a.write32(ARIES_QSC_STATUS, 0);
	assert_true(begun(quiet.a));
	quiet.a.write32(ARIES_QSC_STATUS, ARIES_QSC_STATUS_BEGUN_MASK);
	assert_false(begun(quiet.a));
	tick(quiet.a);
	assert_int_equal(interrupts(quiet.a), 0);
	assert_true(begun(quiet.b));
	/* Who asks late is told at once. */
	enable(quiet.b);
	assert_true(interrupts(quiet.b) > 0);
	quiet.op.quiesce(MS);
	tick(quiet.a);
	assert_true(begun(quiet.a));
	assert_true(interrupts(quiet.a) > 0);
	assert_int_equal(quiet.a.read(ARIES_QSC_COUNT, 4), 2);
	assert_int_equal(quiet.a.read(ARIES_QSC_LENGTH, 8), MS);
}

TEST(what_is_left_ends_with_modelled_time)
{
	Quiet quiet;

	assert_int_equal(quiet.a.read(ARIES_QSC_LEFT, 8), 0);
	quiet.op.quiesce(MS * 50000);
	const uint64_t left = quiet.a.read(ARIES_QSC_LEFT, 8);

	assert_in_range(left, 1, MS * 50000);
	assert_true(quiet.a.read(ARIES_QSC_LEFT, 8) <= left);
	/* The first request moves modelled time to the end. */
	quiet.put(8);
	assert_int_equal(quiet.a.read(ARIES_QSC_LEFT, 8), 0);
	assert_int_equal(quiet.b.read(ARIES_QSC_LEFT, 8), 0);
	assert_int_equal(quiet.a.read(ARIES_QSC_COUNT, 4), 1);
}

TEST(a_reset_forgets_and_vectors_exist)
{
	Quiet quiet;

	enable(quiet.a);
	quiet.op.quiesce(MS);
	tick(quiet.a);
	assert_true(begun(quiet.a));
	quiet.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_false(begun(quiet.a));
	assert_int_equal(quiet.a.read(ARIES_QSC_CTL, 4), 0);
	interrupts(quiet.a);
	tick(quiet.a);
	assert_false(begun(quiet.a));
	assert_int_equal(interrupts(quiet.a), 0);
	assert_int_equal(quiet.a.read(ARIES_QSC_COUNT, 4), 1); /* of the fabric */
	quiet.a.write32(ARIES_QSC_CTL, ARIES_MSIX_VECTORS << 8);
	assert_int_equal(quiet.a.read(ARIES_QSC_CTL, 4), 0);
	assert_true(quiet.a.read(ARIES_ID_CAPS, 8) & ARIES_ID_CAPS_QUIESCE_MASK);
}

} // namespace

TEST_MAIN("tests")
