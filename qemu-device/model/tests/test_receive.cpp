/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of a receive between its message and its event: senders that are late, or that die there. */
#include "nic/target/receive.hpp"
#include "tests/pair.hpp"
#include "tests/peer_process.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int RECEIVE = 7, CQ = 21, EVENT = 0x5007;
constexpr uint16_t CHANNEL = 0xbeef;

/** Node 1, with a receive for messages of node 0, which is a process of its own. */
struct Receiver {
	const std::string path = fabric_path();
	PeerProcess sender{path, 0};
	FakeHost host{path, 1};
	RawSegment raw{path};
	aries::NodeSlot &slot = raw.node(1);
	const uint32_t taker = sender.lock_word(raw);

	Receiver()
	{
		host.set_key(PTAG_B, KEY);
		host.make_cq(CQ, 6, OWNER);
		host.make_mdd(MDH, PTAG_B, host.alloc(BYTES), BYTES, BASE,
			      ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(CQ) << 24);
		post();
	}
	~Receiver() { sender.kill(); }

	void post() const
	{
		host.write64(ARIES_RMT_OFFSET_N(RECEIVE), BASE);
		host.write32(ARIES_RMT_LENGTH_N(RECEIVE), uint32_t(BYTES));
		host.write32(ARIES_RMT_EVENT_N(RECEIVE), EVENT);
		host.write64(ARIES_RMT_CTL_N(RECEIVE), ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 |
							       uint64_t(CHANNEL) << 16 | uint64_t(MDH) << 32);
		assert_true(host.read(ARIES_RMT_CTL_N(RECEIVE), 8) & ARIES_RMT_CTL_VALID_MASK);
	}
	aries::RmtClaim take() const
	{
		aries::RmtClaim claim;

		assert_int_equal(aries::rmt_take(slot, taker, CHANNEL, KEY, 64, claim), ARIES_ST_OK);
		assert_int_equal(claim.index, RECEIVE);
		return claim;
	}
	uint64_t status() const { return host.read(ARIES_RMT_STATUS_N(RECEIVE), 8); }
};

/* A sender that goes on when its receive has been taken back, posted anew and got another message. */
TEST(test_late_sender)
{
	Receiver r;
	aries::RmtClaim late = r.take();

	r.host.write64(ARIES_RMT_CTL_N(RECEIVE), 0);
	assert_true(r.host.invalidate(99));
	r.post();
	aries::RmtClaim next = r.take();

	assert_true(aries::rmt_finish(r.slot, next, 100));
	assert_false(aries::rmt_finish(r.slot, late, 64));
	assert_int_equal(r.status(), 100 | ARIES_RMT_STATUS_DONE_MASK);
	aries::rmt_told(r.slot, late);
	aries::rmt_return(r.slot, late);
	assert_int_equal(r.status(), 100 | ARIES_RMT_STATUS_DONE_MASK);
	aries::rmt_told(r.slot, next);
	assert_int_equal(r.status(), 100 | ARIES_RMT_STATUS_DONE_MASK);
}

/* The message is there, the event perhaps: nobody can tell, so the queue says that it may have lost one. */
TEST(test_sender_dies_before_its_event)
{
	Receiver r;
	aries::RmtClaim claim = r.take();

	assert_true(aries::rmt_finish(r.slot, claim, 64));
	r.host.main_loop();
	assert_int_equal(r.host.next_event(CQ).word, 0);
	r.sender.bury(r.host, r.raw);
	r.host.main_loop();
	assert_int_equal(r.status(), 64 | ARIES_RMT_STATUS_DONE_MASK);
	assert_true(r.host.next_event(CQ).overrun());
	r.host.main_loop();
	assert_int_equal(r.host.next_event(CQ).word, 0);
}

/* One that has told of its event, or has not finished its message, owes none. */
TEST(test_sender_dies_elsewhere)
{
	for (const bool told : {false, true}) {
		Receiver r;
		aries::RmtClaim claim = r.take();

		if (told) {
			assert_true(aries::rmt_finish(r.slot, claim, 64));
			aries::rmt_told(r.slot, claim);
		}
		r.sender.bury(r.host, r.raw);
		r.host.main_loop();
		assert_int_equal(r.status(), told ? 64 | ARIES_RMT_STATUS_DONE_MASK : 0);
		assert_int_equal(!(r.host.read(ARIES_RMT_CTL_N(RECEIVE), 8) & ARIES_RMT_CTL_VALID_MASK), told);
		assert_int_equal(r.host.next_event(CQ).word, 0);
	}
}

} // namespace

TEST_MAIN("tests")
