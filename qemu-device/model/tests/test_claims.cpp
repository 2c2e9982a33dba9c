/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is promised of the NIC, promise by promise: each test is named after the claim that it checks. */
#include <condition_variable>
#include <mutex>
#include <thread>

#include "nic/time/orb.hpp"
#include "packet/flits.hpp"
#include "tests/launch_job.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

using namespace std::chrono_literals;

constexpr unsigned int FETCH_ADD = 0x008, SHORT_FETCH_ADD = 0x254;
constexpr uint64_t CHUNK = 1 << 20; /* longer transfers have a thread of their own */

/** Holds block transfers of at least @from bytes when their data is there, before their events. */
class Gate
{
public:
	explicit Gate(uint64_t from) : from_(from) {}

	FakeHost::Options options()
	{
		FakeHost::Options options;

		options.on_trace = [this](const char *event, uint64_t bytes) {
			if (!strcmp(event, "bte_copied") && bytes >= from_)
				pass();
		};
		return options;
	}
	void let(unsigned int count)
	{
		std::lock_guard guard(mutex_);

		tickets_ += count;
		changed_.notify_all();
	}
	/** Waits until @count transfers have come here; false if they do not. */
	bool wait(unsigned int count)
	{
		std::unique_lock guard(mutex_);

		return changed_.wait_for(guard, 10s, [&] { return arrived_ >= count; });
	}
	/** Whether nothing but @count transfers comes here. */
	bool stays(unsigned int count)
	{
		std::unique_lock guard(mutex_);

		return !changed_.wait_for(guard, 50ms, [&] { return arrived_ > count; }) && arrived_ == count;
	}

private:
	void pass()
	{
		std::unique_lock guard(mutex_);

		arrived_++;
		changed_.notify_all();
		changed_.wait(guard, [this] { return tickets_ > 0; });
		tickets_--;
	}

	const uint64_t from_;
	std::mutex mutex_;
	std::condition_variable changed_;
	unsigned int arrived_ = 0, tickets_ = 0;
};

/** A pair with large regions, whose longer block transfers the gate holds. */
struct Held {
	static constexpr unsigned int NEAR = 100, FAR = 101;
	static constexpr uint64_t REGION = 2 * CHUNK;

	Gate gate{CHUNK};
	Pair pair{gate.options()};
	uint64_t near = pair.a.alloc(REGION), far = pair.b.alloc(REGION);

	Held()
	{
		pair.a.make_mdd(NEAR, PTAG_A, near, REGION, BASE);
		pair.b.make_mdd(FAR, PTAG_B, far, REGION, BASE);
	}
	/* A failed check must not leave threads behind that wait for ever. */
	~Held() { gate.let(1000); }

	void put(unsigned int slot, uint64_t bytes, unsigned int flags = 0)
	{
		aries_bte_desc &d = pair.a.slot(FMAD, slot);

		d = block_transfer(ARIES_BTE_PUT, FAR, NEAR, bytes);
		d.tid = uint16_t(slot);
		d.flags = uint16_t(flags);
		assert_int_equal(pair.a.ring_bte(FMAD, slot), 0);
	}
	unsigned int finished()
	{
		const Event event = pair.a.wait_event(20, 10000);

		assert_true(bool(event));
		assert_int_equal(event.status(), 0);
		return event.tid();
	}
	unsigned int unfinished() const { return pair.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & 0xffff; }
	uint8_t there() const { return *pair.b.ram(far); }
};

/** Packets and flits that an operation costs, by the counters of the initiator. */
struct Cost {
	uint64_t packets, request, response;

	static Cost now(const FakeHost &host)
	{
		return {host.counter(ARIES_CNT_REQ_PACKETS), host.counter(ARIES_CNT_REQ_FLITS),
			host.counter(ARIES_CNT_RSP_FLITS)};
	}
	Cost operator-(const Cost &other) const
	{
		return {packets - other.packets, request - other.request, response - other.response};
	}
};

template <class F> Cost cost(const FakeHost &host, F operation)
{
	const Cost before = Cost::now(host);

	operation();
	return Cost::now(host) - before;
}

/* N05: a process goes on with the same virtual node while a spare one takes the place of one that failed. */
TEST(n05_virtual_nodes_map_around_failed_nodes)
{
	Job job;
	constexpr unsigned int FAILED = 1, SPARE = 3, ENTRY = 40;
	auto map = [&](unsigned int node) {
		job.a().write32(ARIES_NTT_ENTRY_N(ENTRY + 1), ARIES_NTT_ENTRY_VALID_MASK | node);
	};
	auto put = [&](uint8_t value) {
		memset(job.a().line(Job::FMAD), value, 8);
		return job.a().ring(Job::FMAD, ARIES_FMA_PUT_LINE, 8);
	};

	job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER,
			    ARIES_FMAD_CTL_NTT_MASK | uint64_t(ENTRY) << 32 | uint64_t(2) << 48);
	job.desc().pe = 1;
	map(FAILED);
	assert_int_equal(put(0x11), ARIES_ST_OK);
	assert_int_equal(job.word(FAILED, 0) & 0xff, 0x11);
	job.hosts[FAILED].reset();
	assert_int_not_equal(put(0x22), ARIES_ST_OK);
	map(SPARE);
	assert_int_equal(put(0x33), ARIES_ST_OK);
	assert_int_equal(job.word(SPARE, 0), 0x3333333333333333);
	assert_int_equal(job.word(2, 0), 0);
}

/* N06: 127 descriptors for processes beside the kernel's, each with rights of its own, and not one more. */
TEST(n06_descriptors_1_to_127_are_for_processes)
{
	Pair p;
	const unsigned int last = ARIES_FMA_DESCRIPTORS - 1;

	assert_int_equal(last, 127);
	for (unsigned int index = 1; index <= last; index++) {
		p.a.enable_fmad(index, PTAG_A, OWNER);
		p.a.desc(index) = p.desc();
		p.a.desc(index).offset = BASE + uint64_t(index) * 8;
		memset(p.a.line(index), int(index), 8);
	}
	for (unsigned int index = 1; index <= last; index++)
		assert_int_equal(p.a.ring(index, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	for (unsigned int index = 1; index <= last; index++)
		assert_int_equal(p.word(uint64_t(index) * 8), 0x0101010101010101 * index);
	p.a.disable_fmad(77);
	assert_int_equal(p.a.ring(77, ARIES_FMA_PUT_LINE, 8), ARIES_ST_DISABLED);
	assert_int_equal(p.a.ring(78, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);

	/* The one after the last: no window, and nothing happens. */
	const Cost none = cost(p.a, [&] {
		p.a.store(last + 1, ARIES_FMA_PUT, 8, 1);
		p.a.store(last + 1, ARIES_FMA_DOORBELL, 8, uint64_t(8) << 16 | uint64_t(ARIES_FMA_PUT_LINE) << 32);
	});

	assert_int_equal(none.packets, 0);
}

/* N07: every store to the window is a put of its bytes; what is longer than 64 bytes becomes several packets. */
TEST(n07_window_store_is_a_put_of_up_to_64_bytes)
{
	Pair p;

	for (unsigned int size : {1u, 2u, 4u, 8u}) {
		const Cost one = cost(p.a, [&] { p.a.store(FMAD, 64, size, 0x8877665544332211); });

		assert_int_equal(one.packets, 1);
		assert_int_equal(one.request, aries::request_flits(aries::PacketKind::Put, size));
		assert_int_equal(p.word(64),
				 size == 8 ? 0x8877665544332211 : 0x8877665544332211 & ((1ull << size * 8) - 1));
	}
	for (unsigned int bytes = 1; bytes <= ARIES_DESC_LINE_BYTES; bytes += 7) {
		const Cost line = cost(p.a, [&] { assert_int_equal(p.put(bytes), ARIES_ST_OK); });

		assert_int_equal(line.packets, (bytes + 63) / 64);
	}

	/* Each store is under the descriptor of its time: what changes later concerns the next store only. */
	p.desc().offset = BASE + 4096;
	p.a.store(FMAD, 0, 8, 1);
	p.desc().offset = BASE + 8192;
	p.a.store(FMAD, 0, 8, 2);
	assert_int_equal(p.word(4096), 1);
	assert_int_equal(p.word(8192), 2);
}

/* N08: one store of a control word fetches up to 64 bytes, or fetches and changes a word. */
TEST(n08_control_word_gets_up_to_64_bytes_or_fetches)
{
	Pair p;
	auto control = [](unsigned int bytes, unsigned int amo = 0) {
		return BASE | uint64_t(bytes - 1) << ARIES_GETW_LEN_SHIFT | uint64_t(amo) << ARIES_GETW_AMO_SHIFT;
	};

	for (unsigned int i = 0; i < 256; i++)
		*p.b.ram(p.target + i) = uint8_t(i + 1);
	for (unsigned int bytes = 4; bytes <= 64; bytes += 4) {
		memset(p.a.ram(p.local), 0, 128);
		const Cost get = cost(p.a, [&] { p.a.store(FMAD, ARIES_FMA_GET + 8, 8, control(bytes)); });

		assert_int_equal(get.packets, 1);
		assert_memory_equal(p.a.ram(p.local), p.b.ram(p.target + 8), bytes);
		assert_int_equal(*p.a.ram(p.local + bytes), 0);
	}
	const uint64_t before = p.word(16);
	const Cost amo = cost(p.a, [&] {
		p.desc().operand[0] = 5;
		p.a.store(FMAD, ARIES_FMA_GET + 16, 8, control(8, FETCH_ADD));
	});

	assert_int_equal(amo.packets, 1);
	assert_int_equal(p.fetched(), before);
	assert_int_equal(p.word(16), before + 5);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_OK);

	/* The control word says where it goes, not the descriptor; a narrow command takes 4 bytes. */
	p.desc().local_offset = BASE + 512;
	p.a.store(FMAD, ARIES_FMA_GET + 64, 8, control(8) + 256);
	assert_memory_equal(p.a.ram(p.local + 256), p.b.ram(p.target + 64), 8);
	memset(p.a.ram(p.local + 256), 0, 8);
	p.desc().operand[0] = 1;
	p.desc().offset += 4;
	p.a.store(FMAD, ARIES_FMA_GET + 64, 8, control(8, SHORT_FETCH_ADD) + 256);
	p.desc().offset -= 4;
	assert_int_equal(*p.a.ram(p.local + 256), 69);
	assert_int_equal(*p.a.ram(p.local + 260), 0);
	assert_int_equal(*p.b.ram(p.target + 68), 70);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_OK);
	assert_int_equal(*p.a.ram(p.local + 512), 0);
	p.desc().local_offset = BASE;

	/* More than a packet, and half a control word. */
	p.fetched() = 0;
	p.a.store(FMAD, ARIES_FMA_GET, 8, control(68));
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_LENGTH);
	const Cost half = cost(p.a, [&] { p.a.store(FMAD, ARIES_FMA_GET, 4, uint32_t(control(8))); });

	assert_int_equal(half.packets, 0);
	assert_int_equal(p.fetched(), 0);
}

/* N14: four block transfers are under way at once; the others wait until one has ended. */
TEST(n14_four_block_transfers_at_once)
{
	Held h;
	unsigned int ended = 0;

	for (unsigned int slot = 0; slot < 7; slot++)
		h.put(slot, CHUNK + 4096);
	assert_true(h.gate.wait(4));
	assert_true(h.gate.stays(4));
	assert_int_equal(h.unfinished(), 7);
	assert_false(bool(h.pair.a.next_event(20)));
	for (unsigned int more = 1; more <= 3; more++) {
		h.gate.let(1);
		h.finished();
		ended++;
		assert_true(h.gate.wait(4 + more));
		assert_true(h.gate.stays(4 + more));
	}
	h.gate.let(4);
	for (; ended < 7; ended++)
		h.finished();
	assert_false(bool(h.pair.a.next_event(20)));
}

/* N17: a later transfer may end before an earlier one; with a fence it does not even begin before that. */
TEST(n17_only_a_fence_orders_block_transfers)
{
	Held h;

	*h.pair.a.ram(h.near) = 1;
	h.put(0, CHUNK + 4096);
	assert_true(h.gate.wait(1));
	*h.pair.a.ram(h.near) = 2;
	h.put(1, 64);
	assert_int_equal(h.finished(), 1);
	assert_int_equal(h.there(), 2);
	*h.pair.a.ram(h.near) = 3;
	h.put(2, 64, ARIES_BTE_FENCE);
	h.put(3, 64);
	assert_false(bool(h.pair.a.wait_event(20, 50)));
	assert_int_equal(h.there(), 2);
	h.gate.let(1);
	assert_int_equal(h.finished(), 0);
	assert_int_equal(h.finished(), 2);
	assert_int_equal(h.finished(), 3);
	assert_int_equal(h.there(), 3);
}

/* N20: 1,024 packets of a NIC are on their way; the next one finds no room until one of them is answered. */
TEST(n20_1024_packets_are_outstanding)
{
	aries::Orb orb;

	assert_int_equal(orb.limit(), 1024);
	for (uint64_t i = 0; i < 1024; i++) {
		assert_int_equal(orb.admit(1, 5000).first, 5000);
		orb.enter(0, 1, 5000, 9000 - i, 9000 - i);
	}
	assert_int_equal(orb.used(5000), 1024);
	assert_int_equal(orb.admit(1, 5000).first, 9000 - 1023);
	assert_int_equal(orb.used(5000), 1023);

	/* Balanced injection makes it smaller, never nothing. */
	Pair p;

	p.a.write32(ARIES_BI_LIMIT, 1023);
	assert_int_equal(p.a.read(ARIES_BI_LIMIT, 4), 1023);
	assert_int_equal(p.put(2048), ARIES_ST_OK);
	assert_int_equal(p.a.counter(ARIES_CNT_ORB_STALLS), 0);
}

/* Block transfers, FMA operations, launches and windows by a domain that the target's memory does not belong to. */
struct Stranger {
	static constexpr uint64_t MARK = 0x5ec2e75ec2e75ec2;

	Held h;
	Pair &p = h.pair;
	uint32_t refusals = 0;

	Stranger()
	{
		p.a.set_key(PTAG_A, KEY ^ 0x10000);
		for (uint64_t at = 0; at < BYTES; at += 8) {
			p.word(at) = MARK;
			*reinterpret_cast<uint64_t *>(p.a.ram(p.local + at)) = ~MARK;
		}
		memset(p.a.line(FMAD), 0x11, ARIES_DESC_LINE_BYTES);
		p.desc().sync_offset = BASE + 4096;
		p.desc().sync_value = 0x77;
		p.a.window(FMAD) = {};
	}
	/** Blocked, told to the initiator by @status, and to both kernels; nothing has changed on either side. */
	void blocked(uint32_t status, unsigned int mdh = MDH)
	{
		refusals++;
		assert_int_equal(status, ARIES_ST_PTAG);
		for (uint64_t at = 0; at < BYTES; at += 8) {
			assert_int_equal(p.word(at), MARK);
			assert_int_equal(*reinterpret_cast<uint64_t *>(p.a.ram(p.local + at)), ~MARK);
		}
		assert_false(bool(p.b.next_event(21)));
		for (FakeHost *host : {&p.a, &p.b}) {
			assert_int_equal(host->read(ARIES_ERR_COUNT, 4), 1);
			assert_int_equal(host->read(ARIES_ERR_EVENT, 8) & 0xffff, ARIES_ST_PTAG);
			assert_int_equal(host->read(ARIES_ERR_INFO_N(0), 8) >> 32, mdh);
			host->write32(ARIES_ERR_POP, 1);
		}
		assert_int_equal(p.b.counter(ARIES_CNT_RX_REFUSED), refusals);
	}
	/** Status of the event that the initiator has got. */
	uint32_t told()
	{
		const Event event = p.a.wait_event(20, 10000);

		assert_true(bool(event));
		assert_false(bool(p.a.next_event(20)));
		return event.status();
	}
};

/* N26: what comes from outside of the domain is blocked by the NIC, whichever engine sends it, and an error is raised.
 */
TEST(n26_packets_of_other_domains_are_blocked)
{
	constexpr unsigned int ALL = ARIES_EV_GLOBAL | ARIES_EV_REMOTE;
	static const struct {
		unsigned int op, bytes, command;
	} operations[] = {
		{ARIES_FMA_PUT_LINE, 0, 0},
		{ARIES_FMA_PUT_LINE, 8, 0},
		{ARIES_FMA_PUT_LINE, 2048, 0},
		{ARIES_FMA_PUT_SYNC, 64, 0},
		{ARIES_FMA_GET_OP, 64, 0},
		{ARIES_FMA_GET_OP, 8192, 0},
		{ARIES_FMA_GET_FLAG, 64, 0},
		{ARIES_FMA_AMO_OP, 8, FETCH_ADD},
		{ARIES_FMA_AMO_OP, 8, 0x100 | FETCH_ADD},
		{ARIES_FMA_AMO_OP, 8, 0x10 | FETCH_ADD},
		{ARIES_FMA_AMO_OP, 4, SHORT_FETCH_ADD},
		{ARIES_FMA_AMO_FLAG, 8, FETCH_ADD},
		{ARIES_FMA_CQWRITE, 0, 0},
	};
	Stranger s;
	Pair &p = s.p;

	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	for (const auto &each : operations) {
		const unsigned int mode = each.op == ARIES_FMA_CQWRITE ? ARIES_EV_GLOBAL : ALL;

		s.blocked(p.a.ring(FMAD, each.op, each.bytes, mode, 1, each.command));
		assert_int_equal(s.told(), ARIES_ST_PTAG);
	}
	/* Batches. */
	auto *entry = reinterpret_cast<aries_launch_entry *>(p.a.line(FMAD));

	p.a.window(FMAD).amo = FETCH_ADD;
	for (unsigned int kind = ARIES_LAUNCH_PUT8; kind <= ARIES_LAUNCH_AMO; kind++) {
		for (unsigned int i = 0; i < 8; i++)
			entry[i] = launch_entry(kind, 1, BASE + 64 * i, BASE + 8 * i);
		if (kind == ARIES_LAUNCH_PUT4)
			entry[0].value = 1;
		s.blocked(p.a.ring(FMAD, ARIES_FMA_LAUNCH, 8, ARIES_EV_GLOBAL));
		assert_int_equal(s.told(), ARIES_ST_PTAG);
		assert_int_equal(p.a.done(FMAD), 0);
	}
	/* Stores to the windows: the transaction's end tells the process; the kernels know already. */
	const uint64_t stores[][2] = {{ARIES_FMA_PUT + 8, 1}, {ARIES_FMA_GET + 8, BASE | 7ull << ARIES_GETW_LEN_SHIFT}};

	for (const auto &store : stores) {
		p.a.store(FMAD, store[0], 8, store[1]);
		s.blocked(ARIES_ST_PTAG);
		p.a.set_key(PTAG_A, KEY); /* CLOSE itself is allowed */
		p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL);
		assert_int_equal(s.told(), ARIES_ST_PTAG);
		for (FakeHost *host : {&p.a, &p.b})
			assert_int_equal(host->read(ARIES_ERR_COUNT, 4), 0);
		p.a.set_key(PTAG_A, KEY ^ 0x10000);
	}
	/* Block transfers that the doorbell does itself, and one that a thread does. */
	for (unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
		for (uint64_t bytes : {uint64_t(8), uint64_t(4096), BYTES, CHUNK + 4096}) {
			const bool large = bytes > BYTES;
			const unsigned int mdh = large ? Held::FAR : MDH;

			*p.b.ram(s.h.far) = 1;
			*p.a.ram(s.h.near) = 2;
			p.a.slot(FMAD, 0) = block_transfer(op, mdh, large ? Held::NEAR : LOCAL_MDH, bytes, ALL);
			p.a.ring_bte(FMAD, 0);
			s.blocked(s.told(), mdh);
			assert_int_equal(*p.b.ram(s.h.far), 1);
			assert_int_equal(*p.a.ram(s.h.near), 2);
		}
	}
	/* The same domain gets through. */
	p.a.set_key(PTAG_A, KEY);
	memset(p.a.line(FMAD), 0x11, 8);
	assert_int_equal(p.put(8), ARIES_ST_OK);
	assert_int_equal(p.word(), 0x1111111111111111);
}

/* N28: nothing remote is kept at the initiator: each reference goes to the target and finds what is there now. */
TEST(n28_remote_references_are_never_cached)
{
	Pair p;

	for (uint64_t value : {0x1111ull, 0x2222ull, 0x3333ull}) {
		p.word() = value;
		for (unsigned int again = 0; again < 2; again++) {
			const Cost get = cost(p.a, [&] {
				p.fetched() = 0;
				assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
			});

			assert_int_equal(get.packets, 1);
			assert_int_equal(p.fetched(), value);
		}
		memset(p.a.line(FMAD), 0x77, 8);
		const Cost put = cost(p.a, [&] { assert_int_equal(p.put(8), ARIES_ST_OK); });

		assert_int_equal(put.packets, 1);
		assert_int_equal(p.word(), 0x7777777777777777);
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
		assert_int_equal(p.fetched(), 0x7777777777777777);
	}
}

/* P01: packets carry at most 64 bytes, whatever engine makes them. */
TEST(p01_packets_carry_at_most_64_bytes)
{
	Held h;
	Pair &p = h.pair;

	for (unsigned int bytes : {4u, 60u, 64u, 68u, 128u, 132u, 2048u}) {
		const uint64_t packets = (bytes + 63) / 64, served = p.b.counter(ARIES_CNT_RX_REQUESTS);

		assert_int_equal(cost(p.a, [&] { p.put(bytes); }).packets, packets);
		assert_int_equal(cost(p.a, [&] { p.a.ring(FMAD, ARIES_FMA_GET_OP, bytes); }).packets, packets);
		assert_int_equal(cost(p.a, [&] { h.put(0, bytes); }).packets, packets);
		assert_int_equal(p.b.counter(ARIES_CNT_RX_REQUESTS) - served, 3 * packets);
	}
}

/* P03: a put of 64 bytes is 14 flits and an answer of one; P02 makes a flit 6 bytes. */
TEST(p03_put_of_64_bytes_takes_14_and_1_flits)
{
	Held h;
	const Cost fma = cost(h.pair.a, [&] { assert_int_equal(h.pair.put(64), ARIES_ST_OK); });
	const Cost block = cost(h.pair.a, [&] { h.put(0, 65536); });

	assert_int_equal(fma.request, 14);
	assert_int_equal(fma.response, 1);
	assert_int_equal(block.packets, 1024);
	assert_int_equal(block.request, 14 * 1024);
	assert_int_equal(block.response, 1024);
}

/* P04: a get of 64 bytes is 3 flits and an answer of 12. */
TEST(p04_get_of_64_bytes_takes_3_and_12_flits)
{
	Held h;
	Pair &p = h.pair;
	const Cost fma = cost(p.a, [&] { assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 64), ARIES_ST_OK); });
	const Cost window =
		cost(p.a, [&] { p.a.store(FMAD, ARIES_FMA_GET, 8, BASE | uint64_t(63) << ARIES_GETW_LEN_SHIFT); });

	assert_int_equal(fma.request, 3);
	assert_int_equal(fma.response, 12);
	assert_int_equal(window.request, 3);
	assert_int_equal(window.response, 12);
}

} // namespace

TEST_MAIN("claims")
