/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequence identification: packets in any order (N19), copies of packets, lost packets (N27, P18). */
#include <algorithm>
#include <random>
#include <thread>

#include "link/timing.hpp"
#include "nic/target/sequence.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int SOURCE_CQ = 20, REMOTE_CQ = 21;
constexpr unsigned int FETCH_ADD = 0x008, ADD = 0x108, FETCH_CSWAP = 0x00d, FETCH_SWAP_32 = 0x246;

void set_fault(const Pair &p, const char *name, uint64_t value)
{
	char err[128] = "";

	assert_int_equal(aries_nic_set_fault(p.a.nic(), name, value, err, sizeof(err)), 0);
}

uint64_t get_fault(const Pair &p, const char *name)
{
	uint64_t value = 0;

	assert_int_equal(aries_nic_get_fault(p.a.nic(), name, &value), 0);
	return value;
}

/** The only event of @mode's ones that there is: exactly one here, and one at the target if there should be. */
Event only_event(Pair &p, bool remote)
{
	const Event event = p.a.wait_event(SOURCE_CQ, 5000);

	assert_true(bool(event));
	assert_false(bool(p.a.next_event(SOURCE_CQ)));
	assert_int_equal(bool(p.b.next_event(REMOTE_CQ)), remote);
	assert_false(bool(p.b.next_event(REMOTE_CQ)));
	return event;
}

/** One random transfer between the two regions, told to @near and @far as well. */
struct Transfer {
	unsigned int kind, mode;
	uint64_t at, local, bytes;

	explicit Transfer(std::mt19937 &random)
	{
		kind = random() % 5;
		const bool get = kind == 1 || kind == 4;
		const uint64_t limit = kind == 0 || kind == 2 ? ARIES_DESC_LINE_BYTES : 9000;

		mode = (random() % 2 ? ARIES_EV_LOCAL : ARIES_EV_GLOBAL) | (random() % 2 ? ARIES_EV_REMOTE : 0);
		bytes = kind == 0 || kind == 2 ? random() % (limit + 1) : 4 + random() % limit;
		at = 64 + random() % (BYTES - 10000);
		local = 64 + random() % (BYTES - 10000);
		if (get) {
			bytes &= ~uint64_t(3);
			at &= ~uint64_t(3);
		}
	}
	bool get() const { return kind == 1 || kind == 4; }
	bool block() const { return kind >= 3; }

	/** Starts it; the status comes with the event. */
	void start(Pair &p, uint64_t sync) const
	{
		aries_fma_desc &d = p.desc();

		if (block()) {
			aries_bte_desc &s = p.a.slot(FMAD, 5);

			s = block_transfer(get() ? ARIES_BTE_GET : ARIES_BTE_PUT, MDH, LOCAL_MDH, bytes, mode);
			s.offset += at;
			s.local_offset += local;
			s.cq = SOURCE_CQ;
			p.a.ring_bte(FMAD, 5);
			return;
		}
		d.offset = BASE + at;
		d.local_offset = BASE + local;
		d.sync_offset = BASE;
		d.sync_value = sync;
		memcpy(p.a.line(FMAD), p.a.ram(p.local + local), get() ? 0 : bytes);
		p.a.ring(FMAD,
			 kind == 0   ? ARIES_FMA_PUT_LINE
			 : kind == 1 ? ARIES_FMA_GET_OP
				     : ARIES_FMA_PUT_SYNC,
			 unsigned(bytes), mode);
	}
	void apply(std::vector<uint8_t> &near, std::vector<uint8_t> &far, uint64_t sync) const
	{
		if (get())
			std::copy_n(far.begin() + long(at), bytes, near.begin() + long(local));
		else
			std::copy_n(near.begin() + long(local), bytes, far.begin() + long(at));
		if (kind == 2)
			memcpy(far.data(), &sync, 8);
	}
};

struct Memories {
	std::vector<uint8_t> near, far;

	Memories(Pair &p, std::mt19937 &random) : near(BYTES), far(BYTES)
	{
		std::generate(near.begin(), near.end(), [&] { return uint8_t(random()); });
		std::generate(far.begin(), far.end(), [&] { return uint8_t(random()); });
		std::copy(near.begin(), near.end(), p.a.ram(p.local));
		std::copy(far.begin(), far.end(), p.b.ram(p.target));
	}
	void check(Pair &p) const
	{
		assert_memory_equal(p.a.ram(p.local), near.data(), BYTES);
		assert_memory_equal(p.b.ram(p.target), far.data(), BYTES);
	}
};

/* N19: what the fault knobs do to a sequence is what they say. */
TEST(test_arrivals)
{
	aries::Faults faults;
	std::mt19937 random(1);
	unsigned int in_order = 0;

	for (unsigned int round = 0; round < 500; round++) {
		const uint32_t packets = 1 + random() % 200, copies = random() % (packets + 1);
		const bool shuffled = round % 2;
		const aries::Arrivals<200> arrivals(faults, packets, copies, shuffled);
		std::vector<unsigned int> seen(packets);

		assert_int_equal(arrivals.end() - arrivals.begin(), packets + copies);
		for (uint32_t packet : arrivals)
			seen[packet]++;
		assert_int_equal(std::count(seen.begin(), seen.end(), 1u), packets - copies);
		assert_int_equal(std::count(seen.begin(), seen.end(), 2u), copies);
		if (!shuffled)
			assert_true(std::is_sorted(arrivals.begin(), arrivals.begin() + packets));
		else if (packets > 20)
			in_order += std::is_sorted(arrivals.begin(), arrivals.begin() + packets);
	}
	assert_int_equal(in_order, 0);
	aries::Sequence<4> sequence;

	assert_true(sequence.accept(2));
	assert_true(sequence.accept(0));
	assert_false(sequence.accept(2));
	assert_true(sequence.accept(3));
	assert_false(sequence.accept(0));
}

/* N19, N18: random transfers whose packets come in any order and twice: the same memory, one event. */
TEST(test_any_order)
{
	Pair p;
	std::mt19937 random(19);
	Memories expect(p, random);
	uint64_t copies = 0;

	set_fault(p, "reorder", 1);
	for (uint64_t round = 1; round <= 400; round++) {
		const Transfer transfer(random);
		const uint64_t wanted = random() % 40, before = p.b.counter(ARIES_CNT_RX_DUPLICATES);

		set_fault(p, "duplicate", wanted);
		transfer.start(p, round);
		const Event event = only_event(p, transfer.mode & ARIES_EV_REMOTE);

		assert_int_equal(event.status(), ARIES_ST_OK);
		transfer.apply(expect.near, expect.far, round);
		expect.check(p);
		const uint64_t made = std::min<uint64_t>(wanted, aries::packets_of(transfer.bytes));

		assert_int_equal(get_fault(p, "duplicate"), wanted - made);
		assert_int_equal(p.b.counter(ARIES_CNT_RX_DUPLICATES) - before, made);
		copies += made;
	}
	assert_true(copies > 1000);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_DUPLICATES), 0);
}

/* N19: the copy of an atomic, or of a CQ write, is not executed. */
TEST(test_atomics_once)
{
	Pair p;
	std::mt19937_64 random(7);
	uint64_t word = p.word() = 5;
	unsigned int ops = 0;

	for (unsigned int round = 0; round < 300; round++, ops++) {
		const uint64_t value = random();

		set_fault(p, "reorder", round & 1);
		set_fault(p, "duplicate", 1);
		switch (random() % 5) {
		case 0:
			assert_int_equal(p.amo(ADD, value), 0);
			word += value;
			break;
		case 1:
			assert_int_equal(p.amo(FETCH_ADD, value), 0);
			assert_int_equal(p.fetched(), word);
			word += value;
			break;
		case 2: /* a second swap would return the new value */
			assert_int_equal(p.amo(FETCH_SWAP_32, value, 0, 4), 0);
			assert_int_equal(uint32_t(p.fetched()), uint32_t(word));
			word = (word & ~uint64_t(UINT32_MAX)) | uint32_t(value);
			break;
		case 3: /* a second compare would fail and return the new value */
			assert_int_equal(p.amo(FETCH_CSWAP, word, value), 0);
			assert_int_equal(p.fetched(), word);
			word = value;
			break;
		default:
			p.desc().operand[0] = value & ARIES_CQE_WRITE_MASK;
			assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0), 0);
			assert_int_equal(p.b.next_event(REMOTE_CQ).word & ARIES_CQE_WRITE_MASK,
					 value & ARIES_CQE_WRITE_MASK);
		}
		assert_false(bool(p.b.next_event(REMOTE_CQ)));
		assert_int_equal(p.word(), word);
		assert_int_equal(get_fault(p, "duplicate"), 0);
	}
	assert_int_equal(p.b.counter(ARIES_CNT_RX_DUPLICATES), ops);
	assert_int_equal(p.a.counter(ARIES_CNT_RX_DUPLICATES), 0);
}

/* N27, P18: whatever packet is lost, one event tells TIMEOUT in bounded modelled time; nothing is left of the try. */
TEST(test_lost)
{
	Pair p;
	std::mt19937 random(27);
	Memories expect(p, random);

	for (uint64_t round = 1; round <= 200; round++) {
		const Transfer transfer(random);
		const bool lost = random() % 2;

		set_fault(p, "reorder", random() % 2);
		set_fault(p, "duplicate", random() % 20);
		set_fault(p, "drop", lost);
		transfer.start(p, round);
		const Event event = only_event(p, !lost && (transfer.mode & ARIES_EV_REMOTE));

		assert_int_equal(event.status(), lost ? ARIES_ST_TIMEOUT : ARIES_ST_OK);
		assert_int_equal(get_fault(p, "drop"), 0);
		const uint64_t latency = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);

		assert_int_equal(latency >= aries::RESPONSE_TIMEOUT_NS, lost);
		assert_true(latency < 2 * aries::RESPONSE_TIMEOUT_NS);
		if (!lost)
			transfer.apply(expect.near, expect.far, round);
		expect.check(p);
	}
	/* An atomic: it was not executed, so it may be tried again. */
	set_fault(p, "duplicate", 0);
	p.desc().offset = BASE;
	for (uint64_t i = p.word() = 0; i < 10; i++) {
		set_fault(p, "drop", 1);
		assert_int_equal(p.amo(ADD, 1), ARIES_ST_TIMEOUT);
		assert_int_equal(p.amo(ADD, 1), ARIES_ST_OK);
		assert_int_equal(p.word(), i + 1);
	}
	assert_true(p.a.counter(ARIES_CNT_TIMEOUTS) > 50);
}

/* N27: a lost response tells TIMEOUT, too, but the target has done what it was asked, with its event, and once. */
TEST(test_lost_responses)
{
	Pair p;
	std::mt19937 random(28);
	Memories expect(p, random);
	uint64_t timeouts = 0;

	for (uint64_t round = 1; round <= 200; round++) {
		const Transfer transfer(random);
		const bool lost = random() % 2;

		set_fault(p, "reorder", random() % 2);
		set_fault(p, "duplicate", random() % 20);
		set_fault(p, "drop-response", lost);
		transfer.start(p, round);
		const Event event = only_event(p, transfer.mode & ARIES_EV_REMOTE);

		assert_int_equal(event.status(), lost ? ARIES_ST_TIMEOUT : ARIES_ST_OK);
		assert_int_equal(get_fault(p, "drop-response"), 0);
		const uint64_t latency = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);

		assert_int_equal(latency >= aries::RESPONSE_TIMEOUT_NS, lost);
		assert_true(latency < 2 * aries::RESPONSE_TIMEOUT_NS);
		timeouts += lost;
		if (!lost || !transfer.get())
			transfer.apply(expect.near, expect.far, round);
		expect.check(p);
	}
	assert_int_equal(p.a.counter(ARIES_CNT_TIMEOUTS), timeouts);
	/* All others have come. */
	assert_int_equal(p.a.counter(ARIES_CNT_RSP_PACKETS), p.a.counter(ARIES_CNT_REQ_PACKETS) - timeouts);
}

/* The same for single words: executed once, however many copies come, and nothing is stored at home. */
TEST(test_lost_responses_of_words)
{
	Pair p;
	uint64_t word = p.word() = 5;
	const uint32_t flag_before = 0;

	for (unsigned int round = 0; round < 100; round++) {
		const bool cached = round & 1;

		p.a.enable_fmad(FMAD, PTAG_A, OWNER, cached ? ARIES_FMAD_CTL_CACHED_AMO_MASK : 0);
		set_fault(p, "reorder", round / 2 & 1);
		set_fault(p, "duplicate", 1);
		set_fault(p, "drop-response", 1);
		p.fetched() = 0x7777;
		memcpy(p.a.ram(p.local + 8), &flag_before, 4);
		p.desc().operand[0] = round;
		assert_int_equal(
			p.a.ring(FMAD, ARIES_FMA_AMO_FLAG, 8, ARIES_EV_REMOTE, 0, FETCH_ADD | (cached ? 0x10 : 0)),
			ARIES_ST_TIMEOUT);
		word += round;
		assert_int_equal(p.word(), word);
		assert_int_equal(p.fetched(), 0x7777);
		assert_memory_equal(p.a.ram(p.local + 8), &flag_before, 4);
		assert_true(bool(p.b.next_event(REMOTE_CQ)));
		/* The next one is answered. */
		assert_int_equal(p.amo(FETCH_ADD, 1), ARIES_ST_OK);
		assert_int_equal(p.fetched(), word++);
		set_fault(p, "drop-response", 1);
		p.desc().operand[0] = 0x4711 + round;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0), ARIES_ST_TIMEOUT);
		assert_int_equal(p.b.next_event(REMOTE_CQ).word & ARIES_CQE_WRITE_MASK, 0x4711 + round);
		assert_false(bool(p.b.next_event(REMOTE_CQ)));
	}
}

/* Of a block get the chunk with the lost packet is missing and no other; a block put is there as a whole. */
TEST(test_lost_response_of_a_chunk)
{
	constexpr uint64_t CHUNK = 1 << 20;
	constexpr unsigned int NEAR = 100, FAR = 101;

	for (bool get : {false, true}) {
		Pair p;
		const uint64_t near = p.a.alloc(3 * CHUNK), far = p.b.alloc(3 * CHUNK);
		aries_bte_desc &s = p.a.slot(FMAD, 5);
		uint8_t *to = get ? p.a.ram(near) : p.b.ram(far);

		p.a.make_mdd(NEAR, PTAG_A, near, 3 * CHUNK, BASE);
		p.b.make_mdd(FAR, PTAG_B, far, 3 * CHUNK, BASE);
		memset(p.a.ram(near), get ? 0 : 0x55, 3 * CHUNK);
		memset(p.b.ram(far), get ? 0x55 : 0, 3 * CHUNK);
		s = {};
		s.pe = 1;
		s.mdh = FAR;
		s.local_mdh = NEAR;
		s.offset = s.local_offset = BASE;
		s.length = 3 * CHUNK;
		s.cq = SOURCE_CQ;
		s.op = get ? ARIES_BTE_GET : ARIES_BTE_PUT;
		s.mode = ARIES_EV_GLOBAL;
		set_fault(p, "drop-response", 1);
		assert_int_equal(p.a.ring_bte(FMAD, 5), ARIES_ST_OK);
		assert_int_equal(p.a.wait_event(SOURCE_CQ, 5000).status(), ARIES_ST_TIMEOUT);
		unsigned int there = 0;

		for (uint64_t chunk = 0; chunk < 3; chunk++)
			there += std::all_of(to + chunk * CHUNK, to + (chunk + 1) * CHUNK,
					     [](uint8_t byte) { return byte == 0x55; });
		assert_int_equal(there, get ? 2 : 3);
	}
}

/* N19: many descriptors at once, each with a sequence of its own. */
TEST(test_many_threads)
{
	Pair p;
	constexpr unsigned int THREADS = 4;
	constexpr uint64_t ADDS = 2000;

	set_fault(p, "reorder", 1);
	set_fault(p, "duplicate", UINT32_MAX);
	std::vector<std::thread> threads;

	p.word() = 0;
	for (unsigned int t = 0; t < THREADS; t++) {
		p.a.enable_fmad(t + 1, PTAG_A, OWNER);
		if (t)
			p.a.desc(t + 1) = p.desc();
		p.a.desc(t + 1).operand[0] = 1;
		threads.emplace_back([&, t] {
			for (uint64_t i = 0; i < ADDS; i++)
				p.a.ring(t + 1, ARIES_FMA_AMO_OP, 8, 0, 0, ADD);
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(p.word(), THREADS * ADDS);
}

} // namespace

TEST_MAIN("tests")
