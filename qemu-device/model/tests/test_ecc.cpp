/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors in the NIC's memories: one bit is put right and counted; with two nothing wrong goes anywhere, and somebody is
 * told. What holds for every memory is tested with each of the list in aries_hw.h.
 */
#include <iterator>
#include <string>

#include <unistd.h>

#include "nic/core/ecc.hpp"
#include "tests/ecc_rig.hpp"

using namespace aries_test;

namespace
{

/** Takes the events of a node; those of the tables' ECC go into @info of the last, their number is returned. */
unsigned int events(FakeHost &host, uint64_t code, uint8_t category, uint64_t (&info)[4])
{
	unsigned int count = 0;

	while (host.read(ARIES_ERR_COUNT, 4)) {
		const uint64_t event = host.read(ARIES_ERR_EVENT, 8);

		if (aries::field(event, ARIES_ERR_EVENT_CODE_MASK) == code) {
			assert_int_equal(aries::field(event, ARIES_ERR_EVENT_CATEGORY_MASK), category);
			for (uint32_t i = 0; i < 4; i++)
				info[i] = host.read(ARIES_ERR_INFO_N(i), 8);
			count++;
		}
		host.write32(ARIES_ERR_POP, 1);
	}
	return count;
}

TEST(one_bit_is_put_right)
{
	for (const Subject &subject : SUBJECTS) {
		SubjectRig rig(subject);
		const uint64_t whole = subject.shown ? subject.shown(rig) : 0;
		uint64_t info[4];

		print_message("%s\n", subject.name);
		assert_int_equal(subject.use(rig), ARIES_ST_OK);
		assert_int_equal(subject.first(rig), 0);
		assert_true(subject.strike(rig));
		if (subject.shown)
			assert_int_equal(subject.shown(rig), whole);
		assert_int_equal(subject.corrected(rig), 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(subject.use(rig), ARIES_ST_OK);
		assert_int_equal(subject.corrected(rig), 1);
		assert_int_equal(subject.damaged(rig), 0);
		if (subject.shown)
			assert_int_equal(subject.shown(rig), whole);
		assert_int_equal(subject.first(rig) & ~ARIES_RAS_FIRST_SYNDROME_MASK,
				 ARIES_RAS_FIRST_VALID_MASK | subject.index);
		assert_int_equal(events(subject.of(rig), ARIES_RAS_SINGLE + subject.memory, 0x01, info), 0);
		for (const Subject &other : SUBJECTS)
			assert_int_equal(other.corrected(rig), other.memory == subject.memory ? 1 : 0);
	}
}

/* Two bits: nothing goes wrong without somebody being told, and nothing else stops. */
TEST(two_bits_are_told)
{
	for (const Subject &subject : SUBJECTS) {
		SubjectRig rig(subject);
		const uint64_t whole = subject.shown ? subject.shown(rig) : 0;
		const uint8_t category = subject.memory == ARIES_RAS_PTE ? 0x01 : 0x02;
		const unsigned int times = subject.stays ? 3 : 1;
		uint64_t info[4] = {};

		print_message("%s\n", subject.name);
		assert_int_equal(subject.use(rig), ARIES_ST_OK);
		assert_true(subject.strike(rig, true));
		if (subject.shown)
			assert_int_equal(subject.shown(rig), whole);
		for (unsigned int i = 0; i < times; i++)
			assert_int_equal(subject.use(rig), subject.status);
		assert_int_equal(subject.damaged(rig), times);
		assert_int_equal(subject.corrected(rig), 0);
		assert_int_equal(subject.first(rig) & ~ARIES_RAS_FIRST_SYNDROME_MASK,
				 ARIES_RAS_FIRST_VALID_MASK | ARIES_RAS_FIRST_DOUBLE_MASK | subject.index);
		assert_int_equal(events(subject.of(rig), ARIES_RAS_DOUBLE + subject.memory, category, info), times);
		assert_int_equal(info[1], subject.index);
		assert_int_equal(info[2], times);
		assert_int_equal(info[3], aries::ecc_syndrome(subject.index, true));
		/* What has nothing to do with the entry goes on. */
		if (subject.memory != ARIES_RAS_PTAG) {
			rig.desc().mdh = 10;
			rig.b.make_mdd(10, PTAG_B, rig.b.alloc(PAGE), PAGE, BASE);
			assert_int_equal(rig.Pair::put(8), ARIES_ST_OK);
		}
		if (subject.stays) {
			/* An error of one bit more does not make it better. */
			assert_true(subject.strike(rig));
			assert_int_equal(subject.use(rig), subject.status);
			subject.write_anew(rig);
		}
		assert_int_equal(subject.use(rig), ARIES_ST_OK);
		if (subject.shown)
			assert_int_equal(subject.shown(rig) | ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(0xff) << 24,
					 whole | ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(0xff) << 24);
		assert_int_equal(subject.corrected(rig), 0);
		assert_true(rig.a.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK);
		assert_true(rig.b.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK);
	}
}

TEST(threshold_makes_an_event_of_several)
{
	for (const Subject &subject : SUBJECTS) {
		SubjectRig rig(subject);
		uint64_t info[4] = {};

		subject.of(rig).write32(ARIES_RAS_THRESHOLD_N(subject.memory), 3);
		for (int i = 0; i < 8; i++) {
			assert_true(subject.strike(rig));
			assert_int_equal(subject.use(rig), ARIES_ST_OK);
		}
		assert_int_equal(subject.corrected(rig), 8);
		assert_int_equal(events(subject.of(rig), ARIES_RAS_SINGLE + subject.memory, 0x01, info), 2);
		assert_int_equal(info[1], subject.index);
		assert_int_equal(info[2], 6);
	}
}

/* Whether the NIC of a node has stopped, as its host has been told. */
bool has_stopped(const Subject &subject, Rig &rig)
{
	FakeHost &host = subject.of(rig);

	host.main_loop();
	host.main_loop();
	const bool stopped = host.read(ARIES_RAS_STOPPED, 4) != 0;

	assert_int_equal(host.read(ARIES_RAS_STOPPED, 4), stopped ? 1u << subject.memory : 0);
	assert_int_equal(host.uncorrectable, stopped ? 1 : 0);
	assert_int_equal((host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK) != 0, !stopped);
	return stopped;
}

/* It serves nobody until a reset, which makes it as good as new. */
void stays_stopped_until_a_reset(const Subject &subject, Rig &rig)
{
	FakeHost &host = subject.of(rig);
	uint64_t info[4] = {};

	assert_int_not_equal(rig.put(), ARIES_ST_OK);
	assert_int_equal(events(host, ARIES_RAS_STOP + subject.memory, 0x02, info), 1);
	assert_int_equal(info[1], subject.index);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	assert_true(has_stopped(subject, rig));
	assert_true(subject.first(rig) & ARIES_RAS_FIRST_VALID_MASK);
	assert_true(host.read(ARIES_RAS_FIRST_TIME_N(subject.memory), 8) <= host.read(ARIES_CLK_NOW, 8));
	assert_int_not_equal(host.read(ARIES_RAS_FIRST_TIME_N(subject.memory), 8), 0);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	assert_int_equal(host.read(ARIES_RAS_STOPPED, 4), 0);
	assert_int_equal(host.read(ARIES_RAS_FIRST_TIME_N(subject.memory), 8), 0);
	assert_true(host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK);
}

/* Each time is signalled, also if the host has not come by since the reset. */
TEST(it_can_stop_again)
{
	Rig rig;

	for (unsigned int time = 1; time <= 3; time++) {
		rig.a.write32(ARIES_RAS_SIGNAL, 1u << ARIES_RAS_PTAG);
		rig.a.set_key(PTAG_A, KEY);
		rig.a.enable_fmad(FMAD, PTAG_A, OWNER);
		assert_true(Rig::inject(rig.a, ARIES_RAS_PTAG, PTAG_A, true));
		assert_int_equal(rig.Pair::put(8), ARIES_ST_LOCAL_ECC);
		rig.a.main_loop();
		rig.a.main_loop();
		assert_int_equal(rig.a.uncorrectable, time);
		rig.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
		rig.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	}
}

TEST(too_many_stop_the_nic)
{
	for (const Subject &subject : SUBJECTS) {
		SubjectRig rig(subject);

		print_message("%s\n", subject.name);
		subject.of(rig).write32(ARIES_RAS_LIMIT_N(subject.memory), 3);
		for (int i = 0; i < 2; i++) {
			assert_true(subject.strike(rig));
			assert_int_equal(subject.use(rig), ARIES_ST_OK);
		}
		assert_false(has_stopped(subject, rig));
		assert_true(subject.strike(rig));
		subject.use(rig);
		assert_true(has_stopped(subject, rig));
		stays_stopped_until_a_reset(subject, rig);
	}
}

/* Errors further apart than the window are a fact of life. */
TEST(few_in_a_window_do_not)
{
	const Subject &subject = SUBJECTS[ARIES_RAS_NTT];
	SubjectRig rig(subject);

	rig.a.write32(ARIES_RAS_LIMIT_N(subject.memory), 2 | 50u << 16);
	for (int i = 0; i < 4; i++) {
		assert_true(subject.strike(rig));
		assert_int_equal(subject.use(rig), ARIES_ST_OK);
		usleep(60000);
	}
	assert_int_equal(subject.corrected(rig), 4);
	assert_false(has_stopped(subject, rig));
	/* A window that no two of them fit into on any machine would be no test of this. */
	rig.a.write32(ARIES_RAS_LIMIT_N(subject.memory), 2 | 60000u << 16);
	for (int i = 0; i < 2; i++) {
		assert_true(subject.strike(rig));
		subject.use(rig);
	}
	assert_true(has_stopped(subject, rig));
}

/* Two wrong bits stop the NIC where the driver has asked for it, and only there. */
TEST(two_bits_stop_the_nic_if_asked_to)
{
	for (const Subject &subject : SUBJECTS) {
		SubjectRig rig(subject);
		const uint32_t all = (1u << ARIES_RAS_MEMORY_COUNT) - 1;

		print_message("%s\n", subject.name);
		subject.of(rig).write32(ARIES_RAS_SIGNAL, all & ~(1u << subject.memory));
		assert_true(subject.strike(rig, true));
		subject.use(rig);
		assert_false(has_stopped(subject, rig));
		if (subject.write_anew)
			subject.write_anew(rig);
		subject.of(rig).write32(ARIES_RAS_SIGNAL, 1u << subject.memory);
		assert_true(subject.strike(rig, true));
		subject.use(rig);
		assert_true(has_stopped(subject, rig));
		stays_stopped_until_a_reset(subject, rig);
	}
}

TEST(the_first_error_is_kept_until_it_is_cleared)
{
	const Subject &subject = SUBJECTS[ARIES_RAS_NTT];
	SubjectRig rig(subject);

	subject.strike(rig);
	rig.put();
	const uint64_t kept = subject.first(rig);

	subject.strike(rig, true);
	rig.put();
	assert_int_equal(subject.first(rig), kept);
	assert_false(kept & ARIES_RAS_FIRST_DOUBLE_MASK);
	rig.a.write64(ARIES_RAS_FIRST_N(subject.memory), 0);
	assert_int_equal(subject.first(rig), kept);
	rig.a.write64(ARIES_RAS_FIRST_N(subject.memory), ARIES_RAS_FIRST_VALID_MASK);
	assert_int_equal(subject.first(rig), 0);
	rig.put();
	assert_true(subject.first(rig) & ARIES_RAS_FIRST_DOUBLE_MASK);
	/* A reset begins anew. */
	rig.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(subject.first(rig), 0);
	assert_int_equal(subject.corrected(rig), 0);
	assert_int_equal(subject.damaged(rig), 0);
}

/* A descriptor with errors is in use all the same. */
TEST(what_is_hit_is_not_free)
{
	const Subject &subject = SUBJECTS[ARIES_RAS_MDD];
	SubjectRig rig(subject);
	const uint64_t ctl = subject.shown(rig), queue = rig.a.read(ARIES_CQ_CTL_N(20), 8);
	const uint64_t before = rig.b.counter(ARIES_CNT_GUEST_ERRORS);

	assert_true(subject.strike(rig, true));
	aries_nic_write(rig.b.nic(), 0, ARIES_MDD_CTL_N(MDH), 8, ctl);
	aries_nic_write(rig.b.nic(), 0, ARIES_MDD_CTL_N(MDH), 8, 0);
	assert_int_equal(rig.b.counter(ARIES_CNT_GUEST_ERRORS) - before, 2);
	assert_int_equal(rig.put(), ARIES_ST_ECC);
	assert_true(Rig::inject(rig.a, ARIES_RAS_CQ, 20, true));
	rig.a.write64(ARIES_CQ_CTL_N(20), queue);
	assert_int_equal(rig.a.counter(ARIES_CNT_GUEST_ERRORS), 1);
}

/* RAS_REWRITE starts nothing that has been stopped, and is refused where registers do not hold the entry. */
TEST(rewriting_starts_nothing)
{
	Rig rig;

	assert_true(Rig::inject(rig.a, ARIES_RAS_CQ, 20, true));
	rig.a.write64(ARIES_CQ_CTL_N(20), 0);
	rig.rewrite(rig.a, ARIES_RAS_CQ, 20);
	assert_int_equal(rig.a.read(ARIES_CQ_CTL_N(20), 8), 0);
	assert_int_equal(rig.a.ring(V, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL), ARIES_ST_CQ_OWNER);
	const uint64_t before = rig.a.counter(ARIES_CNT_GUEST_ERRORS);

	rig.rewrite(rig.a, ARIES_RAS_MDD, LOCAL_MDH);
	rig.rewrite(rig.a, ARIES_RAS_MEMORY_COUNT, 0);
	rig.rewrite(rig.a, ARIES_RAS_NTT, ARIES_NTT_ENTRIES);
	assert_int_equal(rig.a.counter(ARIES_CNT_GUEST_ERRORS) - before, 3);
}

TEST(only_entries_in_use_can_be_hit)
{
	Rig rig;
	char err[256] = "";
	const uint64_t at[] = {NTT + 1, MDH + 1, 77, 9, 1, ARIES_ORB_ENTRIES, 22, 0, 0, 9, 200, 9};

	static_assert(std::size(at) == ARIES_RAS_MEMORY_COUNT);
	for (uint64_t memory = 0; memory < ARIES_RAS_MEMORY_COUNT; memory++) {
		for (const uint64_t index : {at[memory], uint64_t(aries::ECC_ENTRIES[memory])}) {
			assert_int_equal(
				aries_nic_set_fault(rig.a.nic(), "ecc-double", memory << 32 | index, err, sizeof(err)),
				-1);
			assert_non_null(strstr(err, "is not there"));
		}
	}
	assert_int_equal(aries_nic_set_fault(rig.a.nic(), "ecc-single", uint64_t(ARIES_RAS_MEMORY_COUNT) << 32, err,
					     sizeof(err)),
			 -1);
	assert_int_equal(rig.put(), ARIES_ST_OK);
}

/* Every pair of bits has a syndrome of its own sort: never that of one wrong bit at the same place, never none. */
TEST(syndromes_tell_the_place)
{
	for (uint32_t i = 0; i < 64; i++) {
		const uint8_t one = aries::ecc_syndrome(i, false), two = aries::ecc_syndrome(i, true);

		assert_in_range(one, 3, 71);
		assert_false(std::has_single_bit(one));
		assert_int_not_equal(two, 0);
		assert_int_not_equal(one, two);
		assert_int_equal(one, aries::ecc_syndrome(i + 64, false));
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(one, aries::ecc_syndrome(k, false));
	}
}

} // namespace

TEST_MAIN("ecc")
