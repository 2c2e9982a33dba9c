/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows whose addresses select the node as well (N09). */
#include "tests/launch_job.hpp"

using namespace aries_test;

namespace
{

void select(Job &job, unsigned int shift, unsigned int bits)
{
	job.window().pe_shift = uint8_t(shift);
	job.window().pe_bits = uint8_t(bits);
}

/* 64, 128 or 256 bytes to each node of the job by one contiguous run of stores. */
TEST(contiguous_stores_N09)
{
	for (unsigned int shift : {6u, 7u, 8u}) {
		Job job;
		const uint64_t part = uint64_t(1) << shift;

		job.desc().pe = 0;
		select(job, shift, 2);
		/* Two rounds over the nodes: the second one lands behind the first. */
		for (uint64_t at = 0; at < 2 * Job::NODES * part; at += 8)
			job.a().store(Job::FMAD, at, 8, 0xabc0000 + at);
		for (unsigned int n = 0; n < Job::NODES; n++)
			for (uint64_t at = 0; at < 2 * part; at += 8)
				assert_int_equal(job.word(n, at),
						 0xabc0000 + (at / part * Job::NODES + n) * part + at % part);
		assert_int_equal(job.close(ARIES_EV_GLOBAL, 3), 0);
		assert_int_equal(job.a().next_event(Job::CQ).tid(), 3);
		assert_false(bool(job.a().next_event(Job::CQ)));
	}
}

/* The same from the line, for one doorbell. */
TEST(line_through_the_window_N09)
{
	Job job;

	for (unsigned int i = 0; i < 2048; i++)
		job.a().line(Job::FMAD)[i] = uint8_t(i * 5 + i / 256);
	job.desc().pe = 0;
	select(job, 7, 2);
	job.window().at = 128 + 56;
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 1000, ARIES_EV_GLOBAL), 0);
	assert_int_equal(job.done(), 9); /* 72 + 7 * 128 + 32 */
	for (unsigned int i = 0; i < 1000; i++) {
		const unsigned int at = 184 + i, node = at / 128 % 4;

		assert_int_equal(*job.host(node).ram(job.target[node] + at / 512 * 128 + at % 128),
				 job.a().line(Job::FMAD)[i]);
	}
	assert_true(bool(job.a().next_event(Job::CQ)));
	assert_false(bool(job.a().next_event(Job::CQ)));
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_TRAPS), 1);
	/* Empty: one empty put. */
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 0, ARIES_EV_GLOBAL), 0);
	assert_int_equal(job.done(), 1);
	/* Without scatter it is a put at a window address. */
	select(job, 0, 0);
	job.window().at = 4000;
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 64), 0);
	assert_memory_equal(job.host(0).ram(job.target[0] + 4000), job.a().line(Job::FMAD), 64);
}

/* N08: control words of the get window, with N09. */
TEST(gets_and_atomics_N08_N09)
{
	Job job;

	job.desc().pe = 0;
	select(job, 4, 2);
	for (unsigned int n = 0; n < Job::NODES; n++)
		job.a().store(Job::FMAD, n * 16 + 8, 8, 1000 + n);
	for (unsigned int n = 0; n < Job::NODES; n++) {
		job.a().store(Job::FMAD, ARIES_FMA_GET + n * 16 + 8, 8,
			      (Job::LOCAL_BASE + n * 8) | uint64_t(7) << ARIES_GETW_LEN_SHIFT);
		assert_int_equal(job.fetched(n * 8), 1000 + n);
		job.desc().operand[0] = 1;
		job.a().store(Job::FMAD, ARIES_FMA_GET + n * 16 + 8, 8,
			      (Job::LOCAL_BASE + 256) | uint64_t(0x008) << ARIES_GETW_AMO_SHIFT);
		assert_int_equal(job.word(n, 8), 1001 + n);
	}
	assert_int_equal(job.close(), 0);
}

TEST(what_crosses_a_part_is_refused)
{
	Job job;

	job.desc().pe = 0;
	select(job, 3, 2);
	job.a().store(Job::FMAD, 12, 8, ~uint64_t(0));
	assert_int_equal(job.close(), ARIES_ST_ALIGN);
	job.a().store(Job::FMAD, ARIES_FMA_GET + 8, 8, Job::LOCAL_BASE | uint64_t(15) << ARIES_GETW_LEN_SHIFT);
	assert_int_equal(job.close(), ARIES_ST_ALIGN);
	for (unsigned int n = 0; n < Job::NODES; n++)
		assert_int_equal(job.word(n, 0), 0);
	job.a().store(Job::FMAD, 12, 4, 0x11223344);
	assert_int_equal(job.close(), 0);
	assert_int_equal(job.word(1, 0), uint64_t(0x11223344) << 32);
}

TEST(bits_without_sense)
{
	Job job;

	for (auto [shift, bits] :
	     {std::pair{2, 1}, {0, 1}, {3, 14}, {15, 2}, {16, 1}, {255, 1}, {3, 255}, {255, 255}}) {
		select(job, unsigned(shift), unsigned(bits));
		job.a().store(Job::FMAD, 0, 8, 1);
		assert_int_equal(job.close(), ARIES_ST_RESERVED);
		job.a().store(Job::FMAD, ARIES_FMA_GET, 8, Job::LOCAL_BASE | uint64_t(7) << ARIES_GETW_LEN_SHIFT);
		assert_int_equal(job.close(), ARIES_ST_RESERVED);
		assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 8), ARIES_ST_RESERVED);
		assert_int_equal(job.done(), 0);
		assert_int_equal(job.close(), ARIES_ST_RESERVED);
	}
	/* Without bits the shift has no meaning. */
	select(job, 255, 0);
	job.a().store(Job::FMAD, 0, 8, 1);
	assert_int_equal(job.close(), ARIES_ST_OK);
	select(job, 13, 3);
	job.a().store(Job::FMAD, 0, 8, 1);
	assert_int_equal(job.close(), ARIES_ST_OK);
	/* The line must end in the window. */
	job.window().at = 0xffff;
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 2), ARIES_ST_LENGTH);
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 2049), ARIES_ST_LENGTH);
}

/* Nodes that are not there fail by themselves; what reached others stays. */
TEST(nodes_beyond_the_job)
{
	Job job;

	job.desc().pe = 2;
	select(job, 6, 2);
	for (unsigned int at = 0; at < 256; at += 64)
		job.a().store(Job::FMAD, at, 8, 5);
	assert_int_equal(job.close(), ARIES_ST_NO_NODE);
	assert_int_equal(job.word(2, 0), 5);
	assert_int_equal(job.word(3, 0), 5);
	assert_int_equal(job.word(0, 0), 0);
	memset(job.a().line(Job::FMAD), 6, 256);
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, 256), ARIES_ST_NO_NODE);
	assert_int_equal(job.done(), 2);
	/* Node numbers do not wrap. */
	job.desc().pe = UINT32_MAX;
	job.a().store(Job::FMAD, 64, 8, 7);
	assert_int_equal(job.close(), ARIES_ST_NO_NODE);
	assert_int_equal(job.word(0, 0), 0);
	/* Virtual ones end with the domain. */
	job.a().write32(ARIES_NTT_ENTRY_N(0), ARIES_NTT_ENTRY_VALID_MASK | 3);
	job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER, ARIES_FMAD_CTL_NTT_MASK | uint64_t(1) << 48);
	job.desc().pe = 0;
	job.a().store(Job::FMAD, 8, 8, 8);
	job.a().store(Job::FMAD, 64, 8, 9);
	assert_int_equal(job.close(), ARIES_ST_NTT);
	assert_int_equal(job.word(3, 8), 8);
}

/* Offsets go on at 0 behind the last one of 40 bits, from the descriptor's to the window's, and in the parts of nodes.
 */
TEST(window_over_the_end_of_offsets)
{
	constexpr unsigned int HIGH = 50;
	Job job;
	uint64_t gpa[Job::NODES];
	auto word = [&](unsigned int node, uint64_t at) {
		uint64_t value;

		memcpy(&value, job.host(node).ram(gpa[node] + at), 8);
		return value;
	};

	for (unsigned int n = 0; n < Job::NODES; n++) {
		gpa[n] = job.host(n).alloc(2 * PAGE);
		job.host(n).make_mdd(HIGH, Job::PTAG, gpa[n], 2 * PAGE, MASK40 + 1 - PAGE);
	}
	job.desc().mdh = HIGH;
	job.desc().offset = MASK40 + 1 - 64;
	job.a().store(Job::FMAD, 56, 8, 1);
	job.a().store(Job::FMAD, 64, 8, 2);
	assert_int_equal(job.close(0), 0);
	assert_int_equal(word(1, PAGE - 8), 1);
	assert_int_equal(word(1, PAGE), 2);
	job.desc().pe = 0;
	select(job, 6, 2);
	for (uint64_t at = 0; at < 2 * Job::NODES * 64; at += 8)
		job.a().store(Job::FMAD, at, 8, 100 + at);
	assert_int_equal(job.close(0), 0);
	for (unsigned int n = 0; n < Job::NODES; n++)
		for (uint64_t at = 0; at < 128; at += 8)
			assert_int_equal(word(n, PAGE - 64 + at), 100 + (at / 64 * Job::NODES + n) * 64 + at % 64);
}

} // namespace

TEST_MAIN("tests")
