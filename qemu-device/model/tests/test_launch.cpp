/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FMA launch: single entries and rings of them (N10), in the bounds of transactions (N18). */
#include <thread>

#include <unistd.h>

#include "tests/launch_job.hpp"

using namespace aries_test;

namespace
{

constexpr uint16_t ADD = 0x008, ADD_QUIET = 0x108, AX_SHORT_QUIET = 0x348, SHORT_ADD = 0x254;

/* An arbitrary node and offset each; one completion for all of them. */
TEST(every_kind_N10_N18)
{
	Job job;
	aries_launch_entry *line = job.line();

	line[0] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + 8, 0x1122334455667788);
	line[1] = launch_entry(ARIES_LAUNCH_PUT4, 2, Job::BASE + 4097, 0xaabbccdd);
	line[2] = launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE + 8, Job::LOCAL_BASE + 512);
	line[3] = launch_entry(ARIES_LAUNCH_GET4, 1, Job::BASE + 12, Job::LOCAL_BASE + 523);
	line[4] = launch_entry(ARIES_LAUNCH_AMO, 3, Job::BASE + 16, 5);
	line[5] = launch_entry(ARIES_LAUNCH_AMO, 3, Job::BASE + 16, 7);
	job.window().amo = ADD;
	assert_int_equal(job.launch(6, ARIES_EV_GLOBAL, 0x77), 0);
	assert_int_equal(job.done(), 6);
	assert_int_equal(job.word(1, 8), 0x1122334455667788);
	assert_int_equal(job.word(2, 4097), 0xaabbccdd);
	assert_int_equal(job.fetched(512), 0x1122334455667788);
	assert_int_equal(job.fetched(523), 0x11223344);
	assert_int_equal(job.word(3, 16), 12);
	assert_int_equal(job.fetched(5 * 8), 5);
	const Event event = job.a().next_event(Job::CQ);

	assert_int_equal(event.tid(), 0x77);
	assert_int_equal(event.status(), 0);
	assert_int_equal(event.info(), ARIES_INFO_GLOBAL);
	assert_false(bool(job.a().next_event(Job::CQ)));
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_PUTS), 2);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_GETS), 2);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_AMOS), 2);
	assert_int_equal(job.a().counter(ARIES_CNT_REQ_PACKETS), 6);
	assert_int_equal(job.a().counter(ARIES_CNT_RSP_PACKETS), 6);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_TRAPS), 1);
	for (unsigned int n = 1; n < 4; n++)
		assert_true(job.host(n).counter(ARIES_CNT_RX_REQUESTS) > 0);
}

/* The first entry that fails ends the batch and is named; what stands before it has happened. */
TEST(first_failure_is_named)
{
	for (bool slow : {false, true}) {
		Job job;
		const struct {
			aries_launch_entry entry;
			uint8_t status;
		} bad[] = {
			{launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + Job::BYTES - 7, 1), ARIES_ST_BOUNDS},
			{launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE - 1, 1), ARIES_ST_BOUNDS},
			{launch_entry(ARIES_LAUNCH_PUT8, 7, Job::BASE, 1), ARIES_ST_NO_NODE},
			{launch_entry(ARIES_LAUNCH_PUT8, 0x3ffff, Job::BASE, 1), ARIES_ST_NO_NODE},
			{launch_entry(ARIES_LAUNCH_PUT4, 1, Job::BASE, uint64_t(1) << 32), ARIES_ST_RESERVED},
			{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE, uint64_t(1) << 40), ARIES_ST_RESERVED},
			{launch_entry(ARIES_LAUNCH_GET4, 1, Job::BASE + 2, Job::LOCAL_BASE), ARIES_ST_ALIGN},
			{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE, Job::LOCAL_BASE - 8), ARIES_ST_LOCAL_BOUNDS},
			{launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 4, 1), ARIES_ST_ALIGN},
			{launch_entry(0, 1, Job::BASE, 1), ARIES_ST_BAD_OP},
			{launch_entry(6, 1, Job::BASE, 1), ARIES_ST_BAD_OP},
			{launch_entry(63, 1, Job::BASE, 1), ARIES_ST_BAD_OP},
			{{0, 0}, ARIES_ST_BAD_OP},
		};

		job.slow(slow);
		job.window().amo = ADD_QUIET;
		for (const auto &one : bad) {
			for (unsigned int i = 0; i < 8; i++)
				job.line()[i] =
					launch_entry(ARIES_LAUNCH_PUT8, 1 + i % 3, Job::BASE + i * 8, ~uint64_t(i));
			job.line()[5] = one.entry;
			for (unsigned int n = 1; n < 4; n++)
				memset(job.host(n).ram(job.target[n]), 0, 64);
			assert_int_equal(job.launch(8, ARIES_EV_GLOBAL), one.status);
			assert_int_equal(job.done(), 5);
			const Event event = job.a().next_event(Job::CQ);

			assert_int_equal(event.status(), one.status);
			assert_false(bool(job.a().next_event(Job::CQ)));
			for (unsigned int i = 0; i < 8; i++)
				assert_int_equal(job.word(1 + i % 3, i * 8), i < 5 ? ~uint64_t(i) : 0);
		}
		assert_true(job.a().read(ARIES_FMAD_STATUS_N(Job::FMAD), 8) != 0);
	}
}

TEST(commands_of_atomics)
{
	Job job;

	/* Not usable by launch; an unknown one; a cached one without the right. */
	for (unsigned int command : {unsigned(AX_SHORT_QUIET), 0x368u, 0x34au, 0x36au, 0x3ffu, 0u, 0x018u, 0xffffu}) {
		job.line()[0] = launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE, 1);
		job.window().amo = uint16_t(command);
		assert_int_equal(job.launch(1), ARIES_ST_BAD_OP);
		assert_int_equal(job.word(1, 0), 0);
	}
	/* A narrow one works on 4 bytes; what it fetches still has 8 bytes of its own. */
	job.window().amo = SHORT_ADD;
	for (unsigned int i = 0; i < 3; i++)
		job.line()[i] = launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 4, 0xffffffff);
	assert_int_equal(job.launch(3), 0);
	assert_int_equal(job.word(1, 0), uint64_t(0xfffffffd) << 32);
	assert_int_equal(job.fetched(8), 0xffffffff);
	assert_int_equal(job.fetched(16), 0xfffffffe);
	/* The second operand is the descriptor's: compare and swap. */
	job.window().amo = 0x00d;
	job.desc().operand[1] = 99;
	job.line()[0] = launch_entry(ARIES_LAUNCH_AMO, 2, Job::BASE, 1);
	job.line()[1] = launch_entry(ARIES_LAUNCH_AMO, 2, Job::BASE, 0);
	assert_int_equal(job.launch(2), 0);
	assert_int_equal(job.word(2, 0), 99);
}

/* Rights are those of a single operation. */
TEST(rights_of_a_batch)
{
	Job job;

	job.a().make_cq(21, 6, Job::OWNER + 1);
	job.line()[0] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE, 1);
	for (unsigned int op : {unsigned(ARIES_FMA_LAUNCH), unsigned(ARIES_FMA_LAUNCH_RING)}) {
		job.ring()[0] = job.line()[0];
		job.desc().cq = 21;
		assert_int_equal(job.a().ring(Job::FMAD, op, 1, ARIES_EV_GLOBAL), ARIES_ST_CQ_OWNER);
		job.desc().cq = Job::CQ;
		job.desc().reserved = 1;
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_RESERVED);
		job.desc().reserved = 0;
		job.desc().mdh = ARIES_MDD_ENTRIES;
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_RESERVED);
		job.desc().mdh = Job::MDH + 1;
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_MDD);
		job.desc().mdh = Job::MDH;
		job.host(1).set_key(Job::PTAG, 78);
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_PTAG);
		job.host(1).set_key(Job::PTAG, 77);
		job.a().enable_fmad(Job::FMAD, 99, Job::OWNER);
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_LOCAL_PTAG);
		job.a().disable_fmad(Job::FMAD);
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), ARIES_ST_DISABLED);
		job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER);
		assert_int_equal(job.word(1, 0), 0);
		assert_int_equal(job.a().ring(Job::FMAD, op, 1), 0);
		assert_int_equal(job.word(1, 0), 1);
		memset(job.host(1).ram(job.target[1]), 0, 8);
	}
	for (unsigned int length : {0u, 129u, 65535u})
		assert_int_equal(job.launch(length), ARIES_ST_LENGTH);
	for (unsigned int length : {0u, 4097u, 65535u})
		assert_int_equal(job.launch_ring(length), ARIES_ST_LENGTH);
}

/* N05: virtual nodes: those of the domain, and no others. */
TEST(virtual_nodes_N05)
{
	Job job;

	job.a().write32(ARIES_NTT_ENTRY_N(100), ARIES_NTT_ENTRY_VALID_MASK | 2);
	job.a().write32(ARIES_NTT_ENTRY_N(101), ARIES_NTT_ENTRY_VALID_MASK | 1);
	job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER,
			    ARIES_FMAD_CTL_NTT_MASK | uint64_t(100) << 32 | uint64_t(2) << 48);
	for (unsigned int i = 0; i < 3; i++)
		job.line()[i] = launch_entry(ARIES_LAUNCH_PUT8, i, Job::BASE, 10 + i);
	assert_int_equal(job.launch(3), ARIES_ST_NTT);
	assert_int_equal(job.done(), 2);
	assert_int_equal(job.word(2, 0), 10);
	assert_int_equal(job.word(1, 0), 11);
	/* The descriptor's own node counts only if it is used. */
	job.desc().pe = 55;
	assert_int_equal(job.launch(2), 0);
	assert_int_equal(job.launch(2, ARIES_EV_REMOTE), ARIES_ST_NTT);
	assert_int_equal(job.done(), 2);
}

TEST(ring_wraps)
{
	Job job;
	constexpr uint32_t SIZE = 300;

	job.window().ring_entries = SIZE;
	job.window().ring_first = 250;
	for (uint32_t i = 0; i < SIZE; i++)
		job.ring()[(250 + i) % SIZE] = launch_entry(ARIES_LAUNCH_PUT8, 1 + i % 3, Job::BASE + i * 8, i + 1);
	assert_int_equal(job.launch_ring(SIZE, ARIES_EV_LOCAL), 0);
	assert_int_equal(job.done(), SIZE);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_int_equal(job.word(1 + i % 3, uint64_t(i) * 8), i + 1);
	assert_int_equal(job.a().next_event(Job::CQ).data(), 0x1111);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_TRAPS), 1);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_PUTS), SIZE);

	/* The largest doorbell; an index beyond the first copies of entries is told right. */
	job.window().ring_entries = ARIES_LAUNCH_MAX;
	job.window().ring_first = 0;
	for (uint32_t i = 0; i < ARIES_LAUNCH_MAX; i++)
		job.ring()[i] = launch_entry(ARIES_LAUNCH_PUT8, 2, Job::BASE + i % 64 * 8, i);
	assert_int_equal(job.launch_ring(ARIES_LAUNCH_MAX), 0);
	assert_int_equal(job.word(2, 8), 4033);
	job.ring()[3333].target = 0;
	assert_int_equal(job.launch_ring(ARIES_LAUNCH_MAX), ARIES_ST_BAD_OP);
	assert_int_equal(job.done(), 3333);
}

TEST(ring_memory_is_checked)
{
	Job job;
	const aries_fma_window good = job.window();
	auto status = [&](auto change) {
		job.window() = good;
		change(job.window());
		return job.launch_ring(4);
	};

	for (unsigned int i = 0; i < 4; i++)
		job.ring()[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE, 1);
	using Window = aries_fma_window &;
	assert_int_equal(status([](Window w) { w.ring_entries = 0; }), ARIES_ST_RESERVED);
	assert_int_equal(status([](Window w) { w.ring_entries = ARIES_RING_MAX + 1; }), ARIES_ST_RESERVED);
	assert_int_equal(status([](Window w) { w.ring_first = w.ring_entries; }), ARIES_ST_RESERVED);
	assert_int_equal(status([](Window w) { w.ring_mdh = ARIES_MDD_ENTRIES; }), ARIES_ST_RESERVED);
	assert_int_equal(status([](Window w) { w.ring_offset |= uint64_t(1) << 40; }), ARIES_ST_RESERVED);
	assert_int_equal(status([](Window w) { w.ring_entries = 3; }), ARIES_ST_LENGTH);
	assert_int_equal(status([](Window w) { w.ring_offset += 8; }), ARIES_ST_LOCAL_ALIGN);
	assert_int_equal(status([](Window w) { w.ring_mdh++; }), ARIES_ST_LOCAL_MDD);
	assert_int_equal(status([](Window w) { w.ring_offset = Job::LOCAL_BASE - 16; }), ARIES_ST_LOCAL_BOUNDS);
	/* A ring may be named larger than its memory; entries outside are not read. */
	assert_int_equal(status([](Window w) { w.ring_offset += Job::RING - 16 * 3; }), ARIES_ST_LOCAL_BOUNDS);
	assert_int_equal(job.done(), 0);
	assert_int_equal(job.word(1, 0), 0);
	/* Memory of another domain on the same node. */
	job.a().set_key(8, 123);
	job.a().make_mdd(40, 8, job.a().alloc(PAGE), PAGE, 0);
	assert_int_equal(status([](Window w) {
				 w.ring_mdh = 40;
				 w.ring_offset = 0;
			 }),
			 ARIES_ST_LOCAL_PTAG);
	/* Read only is enough. */
	const uint64_t gpa = job.a().alloc(PAGE);

	memcpy(job.a().ram(gpa), job.ring(), 64);
	job.a().make_mdd(41, Job::PTAG, gpa, PAGE, 0, ARIES_MDD_CTL_READ_ONLY_MASK, false);
	assert_int_equal(status([](Window w) {
				 w.ring_mdh = 41;
				 w.ring_offset = 0;
			 }),
			 ARIES_ST_OK);
	assert_int_equal(job.word(1, 0), 1);
}

/* What was checked is what is done, although the ring's memory is the target of its own entries. */
TEST(entries_are_copied_first)
{
	Job job;

	job.host(0).make_mdd(Job::MDH + 1, Job::PTAG, job.local, Job::LOCAL_BYTES + Job::RING, Job::LOCAL_BASE);
	job.desc().mdh = Job::MDH + 1;
	for (uint32_t i = 0; i < 8; i++)
		job.ring()[i] = launch_entry(ARIES_LAUNCH_PUT8, 0,
					     Job::LOCAL_BASE + Job::LOCAL_BYTES + ((i + 1) % 8) * 16, ~uint64_t(0));
	assert_int_equal(job.launch_ring(8), 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(job.ring()[i].target, ~uint64_t(0));
	assert_int_equal(job.launch_ring(8), ARIES_ST_BAD_OP);
}

/* A 16-byte store issues one operation; CLOSE completes all. */
TEST(store_of_16_bytes_N10)
{
	Job job;
	auto store = [&](const aries_launch_entry &entry) {
		job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH, 8, entry.target);
		job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + 8, 8, entry.value);
	};

	for (unsigned int i = 0; i < 6; i++)
		store(launch_entry(ARIES_LAUNCH_PUT8, 1 + i % 3, Job::BASE + i * 8, 100 + i));
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(job.word(1 + i % 3, i * 8), 100 + i);
	assert_false(bool(job.a().next_event(Job::CQ)));
	assert_int_equal(job.close(ARIES_EV_GLOBAL, 9), 0);
	assert_int_equal(job.a().next_event(Job::CQ).tid(), 9);
	assert_int_equal(job.a().counter(ARIES_CNT_SSIDS), 1);

	/* An upper half alone is no entry, nor one of before the descriptor changed hands. */
	job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + 8, 8, 1);
	assert_int_equal(job.close(), ARIES_ST_BAD_OP);
	job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH, 8,
		      launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE, 0).target);
	job.a().disable_fmad(Job::FMAD);
	job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER);
	job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + 8, 8, 0x5555);
	assert_int_equal(job.close(), ARIES_ST_BAD_OP);
	assert_int_equal(job.word(1, 0), 100);

	/* Only as two aligned halves. */
	const unsigned int errors = job.a().guest_errors;

	job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH, 4, 1);
	job.a().store(Job::FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + 4, 8, 1);
	assert_true(job.a().guest_errors > errors);
}

/* Window stores, silent batches and single launches are one transaction with one completion. */
TEST(one_completion_for_all_N18)
{
	Job job;

	job.line()[0] = launch_entry(ARIES_LAUNCH_PUT8, 2, Job::BASE + 8, 2);
	job.line()[1] = launch_entry(ARIES_LAUNCH_PUT8, 3, Job::BASE + 8, 3);
	job.a().store(Job::FMAD, 8, 8, 1);
	assert_int_equal(job.launch(2), 0);
	assert_false(bool(job.a().next_event(Job::CQ)));
	assert_int_equal(job.close(ARIES_EV_GLOBAL | ARIES_EV_REMOTE), 0);
	for (unsigned int n = 1; n < 4; n++)
		assert_int_equal(job.word(n, 8), n);
	assert_true(bool(job.a().next_event(Job::CQ)));
	assert_false(bool(job.a().next_event(Job::CQ)));
	assert_int_equal(job.host(1).next_event(Job::CQ).info(), ARIES_INFO_REMOTE);
	assert_false(bool(job.host(2).next_event(Job::CQ)));

	/* A failure in a silent batch is told by CLOSE as well, once; a batch with an event has told already. */
	job.line()[1].target = 0;
	assert_int_equal(job.launch(2), ARIES_ST_BAD_OP);
	assert_int_equal(job.close(), ARIES_ST_BAD_OP);
	assert_int_equal(job.a().next_event(Job::CQ).status(), ARIES_ST_BAD_OP);
	assert_int_equal(job.launch(2, ARIES_EV_LOCAL), ARIES_ST_BAD_OP);
	assert_int_equal(job.a().next_event(Job::CQ).status(), ARIES_ST_BAD_OP);
	assert_int_equal(job.close(), ARIES_ST_OK);

	/* The remote event of a batch comes at the descriptor's node, when all has succeeded. */
	while (job.a().next_event(Job::CQ))
		;
	assert_int_equal(job.launch(1, ARIES_EV_REMOTE | ARIES_EV_GLOBAL), 0);
	assert_int_equal(job.host(1).next_event(Job::CQ).data(), 0x2222);
	assert_int_equal(job.launch(2, ARIES_EV_REMOTE), ARIES_ST_BAD_OP);
	assert_false(bool(job.host(1).next_event(Job::CQ)));
}

/* More targets than fit a segment, pages that change under one's hands, a region that goes away. */
TEST(pages_and_regions_that_go)
{
	Job job;

	for (uint32_t i = 0; i < 128; i++)
		job.line()[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + i * 150, i + 1);
	assert_int_equal(job.launch(128), 0);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(job.word(1, i * 150), i + 1);
	/* Entries that lie on two pages. */
	const uint64_t edge = PAGE - Job::BASE % PAGE;

	job.line()[0] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + edge - 3, 0x8877665544332211);
	job.line()[1] = launch_entry(ARIES_LAUNCH_PUT4, 1, Job::BASE + edge - 2, 0xaabbccdd);
	assert_int_equal(job.launch(2), 0);
	assert_int_equal(job.word(1, edge - 3), 0x887766aabbccdd11);
	assert_true(job.host(1).invalidate(Job::MDH));
	assert_int_equal(job.launch(2), ARIES_ST_MDD);
	assert_int_equal(job.host(1).counter(ARIES_CNT_RX_REFUSED), 1);
}

/* Two processors, two descriptors, the same nodes: nobody waits for the other, nothing is lost. */
TEST(two_at_once)
{
	Job job;
	std::vector<std::thread> threads;

	job.a().enable_fmad(2, Job::PTAG, Job::OWNER);
	job.a().desc(2) = job.desc();
	for (unsigned int index : {1u, 2u})
		threads.emplace_back([&job, index] {
			auto *entry = reinterpret_cast<aries_launch_entry *>(job.a().line(index));

			for (uint64_t round = 0; round < 200; round++) {
				for (uint64_t i = 0; i < 128; i++)
					entry[i] = launch_entry(ARIES_LAUNCH_PUT8, uint32_t(1 + i % 3),
								Job::BASE + index * 8000 + (round + i) % 900 * 8,
								round << 32 | i);
				assert_int_equal(job.a().ring(index, ARIES_FMA_LAUNCH, 128), 0);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	for (uint64_t index : {1, 2})
		for (uint64_t i = 0; i < 128; i++)
			assert_int_equal(job.word(unsigned(1 + i % 3), index * 8000 + (199 + i) % 900 * 8),
					 uint64_t(199) << 32 | i);
	assert_int_equal(job.a().counter(ARIES_CNT_FMA_PUTS), 2 * 200 * 128);
}

/* Once an invalidation has ended no entry of a batch under way stores there any more. */
TEST(invalidation_during_batches)
{
	Job job;
	std::atomic<bool> stop{false};
	unsigned int stored = 0;

	for (uint32_t i = 0; i < 4000; i++)
		job.ring()[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + i % 2000 * 8, ~uint64_t(0));
	std::thread thread([&job, &stop] {
		while (!stop) {
			const uint32_t status = job.launch_ring(4000);

			assert_true(status == ARIES_ST_OK || status == ARIES_ST_MDD);
		}
	});
	for (unsigned int round = 0; round < 100; round++) {
		for (unsigned int i = 0;
		     i < 1000 && !__atomic_load_n(job.host(1).ram(job.target[1] + 8), __ATOMIC_RELAXED); i++)
			usleep(10);
		stored += __atomic_load_n(job.host(1).ram(job.target[1] + 8), __ATOMIC_RELAXED) != 0;
		assert_true(job.host(1).invalidate(Job::MDH));
		memset(job.host(1).ram(job.target[1]), 0, Job::BYTES);
		usleep(200);
		for (uint64_t at = 0; at < 16000; at += 8)
			assert_int_equal(job.word(1, at), 0);
		job.host(1).make_mdd(Job::MDH, Job::PTAG, job.target[1], Job::BYTES, Job::BASE);
	}
	stop = true;
	thread.join();
	assert_true(stored > 0);
}

/* Injected loss and damage hit entries of a batch like other packets. */
TEST(faults_in_a_batch)
{
	Job job;
	char error[80];

	for (uint32_t i = 0; i < 10; i++)
		job.line()[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + i * 8, i + 1);
	assert_int_equal(aries_nic_set_fault(job.a().nic(), "drop", 1, error, sizeof(error)), 0);
	assert_int_equal(job.launch(10), ARIES_ST_TIMEOUT);
	assert_int_equal(job.done(), 0);
	assert_int_equal(job.launch(10), ARIES_ST_OK);
	assert_int_equal(aries_nic_set_fault(job.a().nic(), "link", 0, error, sizeof(error)), 0);
	assert_int_equal(job.launch(10), ARIES_ST_NO_NODE);
	assert_int_equal(job.done(), 0);
	assert_int_equal(aries_nic_set_fault(job.a().nic(), "link", 1, error, sizeof(error)), 0);
	assert_int_equal(aries_nic_set_fault(job.host(2).nic(), "link", 0, error, sizeof(error)), 0);
	job.line()[4] = launch_entry(ARIES_LAUNCH_PUT8, 2, Job::BASE, 1);
	assert_int_equal(job.launch(10), ARIES_ST_NO_NODE);
	assert_int_equal(job.done(), 4);
}

/* N07: an empty put moves nothing, and is checked like any other; its events come. */
TEST(zero_length_put_N07)
{
	Job job;
	auto put = [&](unsigned int mode = 0) { return job.a().ring(Job::FMAD, ARIES_FMA_PUT_LINE, 0, mode); };

	assert_int_equal(put(ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE), 0);
	assert_int_equal(job.a().next_event(Job::CQ).info(), ARIES_INFO_LOCAL);
	assert_int_equal(job.a().next_event(Job::CQ).info(), ARIES_INFO_GLOBAL);
	assert_int_equal(job.host(1).next_event(Job::CQ).info(), ARIES_INFO_REMOTE);
	assert_int_equal(job.a().counter(ARIES_CNT_REQ_PACKETS), 1);
	job.desc().offset = Job::BASE + Job::BYTES;
	assert_int_equal(put(), 0);
	job.desc().offset++;
	assert_int_equal(put(), ARIES_ST_BOUNDS);
	job.desc().offset = Job::BASE;
	job.desc().mdh++;
	assert_int_equal(put(), ARIES_ST_MDD);
	job.desc().mdh--;
	job.host(1).set_key(Job::PTAG, 78);
	assert_int_equal(put(), ARIES_ST_PTAG);
	job.host(1).set_key(Job::PTAG, 77);
	job.host(1).make_mdd(30, Job::PTAG, job.host(1).alloc(PAGE), PAGE, 0, ARIES_MDD_CTL_READ_ONLY_MASK);
	job.desc().mdh = 30;
	job.desc().offset = 0;
	assert_int_equal(put(), ARIES_ST_ACCESS);
	assert_int_equal(put(ARIES_EV_REMOTE), ARIES_ST_ACCESS);
}

} // namespace

TEST_MAIN("tests")
