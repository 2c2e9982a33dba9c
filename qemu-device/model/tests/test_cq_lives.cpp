/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queues and those who outlive them: numbers given away again, writers that died, writers that are stopped. */
#include "tests/pair.hpp"
#include "tests/peer_process.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int SHARED = 25, LOG2 = 6;
constexpr uint64_t VALID = ARIES_CQ_CTL_VALID_MASK | uint64_t(LOG2) << 8;

/** A pair whose node 0 takes queue SHARED from its owner and gives it to @owner when its NIC traces @when. */
struct Takeover {
	const std::string when;
	const unsigned int owner;
	uint64_t gpa = 0;
	bool done = false;
	Pair pair;

	explicit Takeover(const char *event, unsigned int heir = OWNER + 1)
		: when(event), owner(heir), pair({.on_trace = [this](const char *name, uint64_t) {
			  if (name == when && gpa && !done)
				  take();
		  }})
	{
		pair.a.make_cq(SHARED, LOG2, OWNER);
		gpa = pair.a.read(ARIES_CQ_BASE_N(uint64_t(SHARED)), 8);
		pair.desc().cq = SHARED;
	}
	void take()
	{
		done = true;
		pair.a.write64(ARIES_CQ_CTL_N(uint64_t(SHARED)), 0);
		pair.a.write64(ARIES_CQ_CTL_N(uint64_t(SHARED)), VALID | uint64_t(owner) << 16);
	}
	/** What the new owner finds. */
	Event stray()
	{
		assert_true(done);
		return pair.a.next_event(SHARED);
	}
};

/* The operation began with the rights to a queue that is another process's when its event is due. */
TEST(test_fma_event_of_former_owner)
{
	Takeover t("fma_failed");

	t.pair.desc().offset = BASE + BYTES;
	assert_int_equal(t.pair.put(8, ARIES_EV_LOCAL | ARIES_EV_GLOBAL, 5), ARIES_ST_BOUNDS);
	assert_int_equal(t.stray().word, 0);
	/* Who has it now gets its own. */
	t.pair.a.enable_fmad(FMAD + 1, PTAG_A, OWNER + 1);
	t.pair.a.desc(FMAD + 1) = t.pair.desc();
	t.pair.a.ring(FMAD + 1, ARIES_FMA_PUT_LINE, 8, ARIES_EV_LOCAL, 6);
	assert_int_equal(t.stray().tid(), 6);
}

TEST(test_launch_event_of_former_owner)
{
	Takeover t("fma_failed");
	auto *entry = reinterpret_cast<aries_launch_entry *>(t.pair.a.line(FMAD));

	t.pair.a.window(FMAD) = {};
	entry[0] = {(BASE + BYTES) | uint64_t(1) << 40 | uint64_t(ARIES_LAUNCH_PUT8) << 58, 1};
	assert_int_equal(t.pair.a.ring(FMAD, ARIES_FMA_LAUNCH, 1, ARIES_EV_LOCAL), ARIES_ST_BOUNDS);
	assert_int_equal(t.stray().word, 0);
}

TEST(test_block_event_of_former_queue)
{
	for (uint64_t bytes : {uint64_t(16384), uint64_t(3) << 20}) {
		Takeover t("bte_copied", OWNER); /* another owner was refused before, but for the last instant */
		const uint64_t far = t.pair.b.alloc(bytes), near = t.pair.a.alloc(bytes);

		t.pair.b.make_mdd(50, PTAG_B, far, bytes, BASE);
		t.pair.a.make_mdd(51, PTAG_A, near, bytes, BASE);
		t.pair.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, 50, 51, bytes);
		t.pair.a.slot(FMAD, 0).cq = SHARED;
		assert_int_equal(t.pair.a.ring_bte(FMAD, 0), ARIES_ST_OK);
		while (t.pair.a.counter(ARIES_CNT_BTE_PUTS) == 0 || t.pair.a.read(ARIES_BTE_STATUS, 4))
			usleep(1000);
		assert_int_equal(t.stray().word, 0);
	}
}

/* A memory domain keeps to the queue that had the number when it was published. */
TEST(test_remote_event_of_former_owner)
{
	Pair p;

	assert_int_equal(p.put(8, ARIES_EV_REMOTE), ARIES_ST_OK);
	assert_true(bool(p.b.next_event(21)));
	p.b.write64(ARIES_CQ_CTL_N(21ull), 0);
	p.b.make_cq(21, LOG2, OWNER + 1);
	assert_int_equal(p.put(8, ARIES_EV_REMOTE), ARIES_ST_NO_CQ);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0), ARIES_ST_NO_CQ);
	assert_int_equal(p.b.next_event(21).word, 0);
	assert_int_equal(p.put(8), ARIES_ST_OK);
}

/** A node with queue 20 and a peer in another process, in whose name locks are held. */
struct Peered {
	const std::string path = fabric_path();
	PeerProcess peer{path, 1};
	FakeHost a{path, 0};
	RawSegment raw{path};
	const uint32_t word = peer.lock_word(raw);

	Peered()
	{
		a.set_key(PTAG_A, KEY);
		a.enable_fmad(FMAD, PTAG_A, OWNER);
		a.make_cq(20, LOG2, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(3) << 32);
		a.make_mdd(MDH, PTAG_A, a.alloc(BYTES), BYTES, BASE);
		a.desc(FMAD) = {};
		a.desc(FMAD).mdh = MDH;
		a.desc(FMAD).offset = BASE;
		a.desc(FMAD).cq = 20;
	}
	~Peered() { peer.kill(); }

	void bury_peer() { peer.bury(a, raw); }
	std::atomic<uint32_t> &lock() { return raw.node(0).cq[20].lock; }
	uint64_t &slot(unsigned int n)
	{
		return reinterpret_cast<uint64_t *>(a.ram(a.read(ARIES_CQ_BASE_N(20), 8) + ARIES_CQ_HEADER_BYTES))[n];
	}
	void put(unsigned int tid)
	{
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_LOCAL, tid), ARIES_ST_OK);
	}
	static uint64_t entry(uint32_t data) { return uint64_t(ARIES_SRC_REMOTE) << 56 | data; }
};

/** The same, and the peer died in the queue between an entry and its count. */
struct Orphan : Peered {
	explicit Orphan(bool read)
	{
		slot(0) = entry(0x77);
		lock().store(word);
		if (read)
			assert_int_equal(a.next_event(20).data(), 0x77);
		bury_peer();
	}
	/** Two more events, and that they come as they should behind what was there. */
	void check(bool read)
	{
		for (unsigned int tid : {5u, 6u})
			put(tid);
		if (!read)
			assert_int_equal(a.next_event(20).data(), 0x77);
		for (unsigned int tid : {5u, 6u})
			assert_int_equal(a.next_event(20).tid(), tid);
		assert_int_equal(a.next_event(20).word, 0);
		assert_int_equal(a.read(ARIES_CQ_PRODUCED_N(20), 8), 3);
		assert_int_equal(a.counter(ARIES_CNT_CQ_OVERRUNS), 0);
	}
};

/* Whoever comes next to the lock of a dead writer, and for whatever reason, puts the queue right. */
TEST(test_takeover_of_lock)
{
	for (bool read : {false, true}) {
		Orphan arm(read), disarm(read), fence(read), post(read);

		arm.a.write32(ARIES_CQI_ARM, 20);
		assert_int_equal(arm.a.irqs[3], !read);
		arm.check(read);
		assert_int_equal(arm.a.irqs[3], 1);
		disarm.a.write32(ARIES_CQI_DISARM, 20);
		disarm.check(read);
		aries_nic_set_bus_master(fence.a.nic(), false);
		aries_nic_set_bus_master(fence.a.nic(), true);
		fence.check(read);
		post.check(read);
	}
}

/* A member that is stopped in the queue: what others have for it is owed, and told as soon as somebody can tell. */
TEST(test_owed)
{
	enum End { GOES_ON, NEXT_POST, DIES };

	for (const End end : {GOES_ON, NEXT_POST, DIES}) {
		Peered p;

		p.put(1);
		p.lock().store(p.word);
		for (unsigned int tid : {2u, 3u, 4u})
			p.put(tid);
		p.a.main_loop();
		assert_int_equal(p.a.next_event(20).tid(), 1);
		assert_int_equal(p.a.next_event(20).word, 0);
		assert_int_equal(p.a.read(ARIES_CQ_DROPPED_N(20), 8), 0);
		if (end == DIES)
			p.bury_peer();
		else
			p.lock().store(0);
		if (end == NEXT_POST)
			p.put(5);
		else
			p.a.main_loop();
		assert_true(p.a.next_event(20).overrun());
		assert_int_equal(p.a.next_event(20).tid(), end == NEXT_POST ? 5 : 0);
		p.a.main_loop();
		assert_int_equal(p.a.next_event(20).word, 0);
		assert_int_equal(p.a.read(ARIES_CQ_DROPPED_N(20), 8), 3);
		assert_int_equal(p.a.counter(ARIES_CNT_CQ_OVERRUNS), 3);
		p.put(6);
		assert_int_equal(p.a.next_event(20).tid(), 6);
	}
}

/* The process and the queue are gone by the time; the number is somebody else's. */
TEST(test_owed_to_former_owner)
{
	Peered p;

	p.lock().store(p.word);
	p.put(1);
	p.a.write64(ARIES_CQ_CTL_N(20), 0);
	p.lock().store(0);
	p.a.make_cq(20, LOG2, OWNER + 1);
	p.a.main_loop();
	assert_int_equal(p.a.next_event(20).word, 0);
	assert_int_equal(p.a.read(ARIES_CQ_DROPPED_N(20), 8), 0);
}

/* Armed while a member is stopped in the queue, behind the entry: the owner sees that for itself. */
TEST(test_armed_meanwhile)
{
	Peered p;

	p.lock().store(p.word);
	p.a.write32(ARIES_CQI_ARM, 20);
	p.a.main_loop();
	assert_int_equal(p.a.irqs[3], 0);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(0), 8), 1 << 20);
	p.slot(0) = Peered::entry(0x77);
	p.a.main_loop();
	assert_int_equal(p.a.irqs[3], 1);
	assert_int_equal(p.a.read(ARIES_CQI_ARMED_N(0), 8), 0);
	p.a.main_loop();
	assert_int_equal(p.a.irqs[3], 1);
}

/* The same for errors: counted while nobody else can write, and an interrupt that was not raised comes. */
TEST(test_errors)
{
	Peered p;
	aries::ErrorRing &ring = p.raw.node(0).errors;
	const auto fail = [&p] {
		p.a.desc(FMAD).pe = 77;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NO_NODE);
	};

	ring.lock.store(p.word);
	fail();
	assert_int_equal(p.a.read(ARIES_ERR_COUNT, 4), 0);
	assert_int_equal(p.a.read(ARIES_ERR_LOST, 4), 1);
	/* The other one goes on as far as to its event, and dies before it tells. */
	ring.record[ring.tail % aries::ERROR_RING].event = ARIES_ST_MDD;
	ring.tail++;
	p.bury_peer();
	for (unsigned int i = 0; i < 3; i++)
		p.a.main_loop();
	assert_int_equal(p.a.irqs[0], 1);
	assert_int_equal(p.a.read(ARIES_ERR_EVENT, 8), ARIES_ST_MDD);
	fail();
	assert_int_equal(p.a.read(ARIES_ERR_COUNT, 4), 2);
	p.a.write32(ARIES_ERR_POP, 1);
	p.a.write32(ARIES_ERR_POP, 1);
	fail();
	p.a.main_loop();
	assert_int_equal(p.a.irqs[0], 2);
}

} // namespace

TEST_MAIN("tests")
