/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations to nodes of another host: Documentation/gateway.md */
#include "tests/amo_table.hpp"
#include "tests/launch_job.hpp"
#include "tests/peer_process.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;
using namespace std::chrono_literals;

namespace
{

constexpr uint64_t VALUE = 0x1122334455667788;
constexpr unsigned int FETCHING_ADD = 0x008;

TEST(a_put_goes_to_another_host)
{
	TwoHosts p;

	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL | ARIES_EV_LOCAL | ARIES_EV_REMOTE, 7), ARIES_ST_OK);
	const Event remote = p.b.wait_event(21, TwoHosts::PATIENCE_MS);

	assert_int_equal(remote.data(), 0x2222);
	assert_int_equal(p.there(), VALUE);
	const Event first = p.event(), second = p.event();

	assert_int_equal(first.status(), ARIES_ST_OK);
	assert_int_equal(first.tid(), 7);
	assert_int_equal(second.info(), ARIES_INFO_GLOBAL);
	p.wait([&] { return p.busy() == 0; });
	assert_int_equal(p.carrier[0]->figures().requests, 1);
	assert_int_equal(p.carrier[1]->figures().served, 1);
	assert_true(p.a.counter(ARIES_CNT_LATENCY_LAST_NS) > 0);
}

TEST(puts_of_all_kinds)
{
	TwoHosts p;

	for (unsigned int i = 0; i < 2048; i++)
		p.a.line(FMAD)[i] = uint8_t(i * 7 + 1);
	/* At an odd place, over a page. */
	p.desc().offset = BASE + 4096 - 1001;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_LINE, 2048, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_memory_equal(p.b.ram(p.target + 4096 - 1001), p.a.line(FMAD), 2048);
	p.desc().offset = BASE;
	p.desc().sync_offset = BASE + 16384;
	p.desc().sync_value = VALUE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 64, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_memory_equal(p.b.ram(p.target), p.a.line(FMAD), 64);
	assert_int_equal(p.there(16384), VALUE);
	/* Scattered, and a transaction of window stores. */
	p.a.window(FMAD) = {};
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SCATTER, 128, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_memory_equal(p.b.ram(p.target), p.a.line(FMAD), 128);
	for (unsigned int i = 0; i < 8; i++)
		p.a.store(FMAD, ARIES_FMA_PUT + 8 * i, 8, i + 1);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 3), ARIES_ST_OK);
	assert_int_equal(p.event().tid(), 3);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(p.there(8 * i), i + 1);
}

TEST(gets_bring_data_back)
{
	TwoHosts p;

	for (uint64_t i = 0; i < BYTES; i++)
		*p.b.ram(p.target + i) = uint8_t(i * 13 + i / 256);
	for (const unsigned int bytes : {4u, 64u, 68u, 2048u, 65532u}) {
		memset(p.a.ram(p.local), 0, BYTES);
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, bytes, ARIES_EV_GLOBAL), ARIES_ST_OK);
		assert_int_equal(p.event().status(), ARIES_ST_OK);
		assert_memory_equal(p.a.ram(p.local), p.b.ram(p.target), bytes);
	}
	/* Without an event the doorbell waits, and its status tells. */
	memset(p.a.ram(p.local), 0, BYTES);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
	assert_int_equal(p.back(), p.there());
	memset(p.a.ram(p.local), 0, BYTES);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, 64), ARIES_ST_OK);
	p.wait([&] { return uint32_t(p.back(64)) == ARIES_FMA_FLAG; });
	assert_memory_equal(p.a.ram(p.local), p.b.ram(p.target), 64);
	/* What cannot be read says so, however it is told. */
	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_BOUNDS);
}

TEST(atomics_of_all_kinds)
{
	TwoHosts p;

	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	for (const Command &command : COMMANDS) {
		const uint64_t before = 0x4008000000000010, first = 0x4010000000000003, second = 5;

		memcpy(p.b.ram(p.target), &before, 8);
		memset(p.a.ram(p.local), 0, 8);
		p.desc().operand[0] = first;
		p.desc().operand[1] = second;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, command.bytes, ARIES_EV_GLOBAL, 0, command.code),
				 ARIES_ST_OK);
		assert_int_equal(p.event().status(), ARIES_ST_OK);
		assert_int_equal(command.bytes == 8 ? p.there() : uint32_t(p.there()),
				 expected(command, before, first, second));
		if (command.fetch)
			assert_int_equal(p.back(), command.bytes == 8 ? before : uint32_t(before));
	}
	/* One after the other, each once, and waited for. */
	const uint64_t zero = 0;

	memcpy(p.b.ram(p.target), &zero, 8);
	p.desc().operand[0] = 1;
	for (unsigned int i = 0; i < 50; i++) {
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, FETCHING_ADD), ARIES_ST_OK);
		assert_int_equal(p.back(), i);
	}
	assert_int_equal(p.there(), 50);
}

TEST(queue_writes_and_order)
{
	TwoHosts p;

	p.wire.set_delay(2ms);
	/* The entry comes behind what was sent before, whatever that was. */
	for (unsigned int i = 0; i < 20; i++) {
		p.desc().offset = BASE;
		assert_int_equal(p.send(i + 1, 0), ARIES_ST_OK);
		p.desc().operand[0] = i + 1;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0, ARIES_EV_GLOBAL), ARIES_ST_OK);
		const Event written = p.b.wait_event(21, TwoHosts::PATIENCE_MS);

		assert_int_equal(written.source(), ARIES_SRC_CQWRITE);
		assert_int_equal(written.data(), i + 1);
		assert_int_equal(p.there(), i + 1);
		assert_int_equal(p.event().status(), ARIES_ST_OK);
	}
}

TEST(batches)
{
	TwoHosts p;
	auto *entry = reinterpret_cast<aries_launch_entry *>(p.a.line(FMAD));

	for (unsigned int i = 0; i < 64; i++)
		entry[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, BASE + uint64_t{8} * i, i + 1);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_LAUNCH, 64, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, 9), ARIES_ST_OK);
	assert_int_equal(p.event().tid(), 9);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(p.there(uint64_t{8} * i), i + 1);
	assert_true(bool(p.b.next_event(21)));
	for (unsigned int i = 0; i < 64; i++)
		entry[i] = launch_entry(ARIES_LAUNCH_GET8, 1, BASE + uint64_t{8} * i, BASE + uint64_t{8} * (63 - i));
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_LAUNCH, 64, ARIES_EV_GLOBAL, 10), ARIES_ST_OK);
	assert_int_equal(p.event().tid(), 10);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(p.back(uint64_t{8} * (63 - i)), i + 1);
}

/* A failure of an operation without an event is the next event's, and the target is told whom it has refused. */
TEST(silent_failures_are_told)
{
	TwoHosts p;

	p.desc().mdh = MDH + 1;
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	p.desc().mdh = MDH;
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, 5), ARIES_ST_OK);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, 6), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_MDD);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	const uint64_t head = p.b.read(ARIES_ERR_EVENT, 8);

	assert_int_equal(head & 0xffff, ARIES_ST_MDD);
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	/* Another domain is another domain there, too. */
	p.a.set_key(PTAG_A, KEY + 1);
	assert_int_equal(p.send(VALUE + 1, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_PTAG);
	assert_int_equal(p.there(), VALUE);
}

/* More than a NIC may have outstanding: the processor is held up, and all of it arrives. */
TEST(a_thousand_are_under_way)
{
	TwoHosts p;

	p.wire.set_delay(1ms);
	for (unsigned int i = 0; i < 3000; i++) {
		p.desc().offset = BASE + 8 * (i % 1000);
		assert_int_equal(p.send(i + 1, i + 1 == 3000 ? ARIES_EV_GLOBAL : 0), ARIES_ST_OK);
	}
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(p.there(8 * i), 2000 + i + 1);
	assert_true(p.a.counter(ARIES_CNT_ORB_STALLS) > 0);
	assert_int_equal(p.carrier[0]->figures().open, 0);
}

TEST(block_transfers)
{
	TwoHosts p;
	constexpr uint64_t BIG = 3 << 20;
	const uint64_t near = p.a.alloc(BIG), far = p.b.alloc(BIG);

	p.a.make_mdd(LOCAL_MDH + 1, PTAG_A, near, BIG, BASE);
	p.b.make_mdd(MDH + 1, PTAG_B, far, BIG, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
	constexpr uint64_t SIZES[] = {1, 64, 4096, 65536 + 12, BIG};

	for (const uint64_t bytes : SIZES) {
		for (const unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
			if (op == ARIES_BTE_GET && bytes % 4)
				continue;
			uint8_t *const from = op == ARIES_BTE_PUT ? p.a.ram(near) : p.b.ram(far);
			uint8_t *const to = op == ARIES_BTE_PUT ? p.b.ram(far) : p.a.ram(near);

			for (uint64_t i = 0; i < bytes; i++)
				from[i] = uint8_t(i * 31 + i / 4096 + op);
			memset(to, 0, bytes);
			p.a.slot(FMAD, 0) =
				block_transfer(op, MDH + 1, LOCAL_MDH + 1, bytes, ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
			assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
			assert_int_equal(p.event().status(), ARIES_ST_OK);
			assert_memory_equal(from, to, bytes);
			assert_true(bool(p.b.next_event(21)));
		}
	}
	/* The whole range is checked before anything is written. */
	memset(p.b.ram(far), 0, 64);
	p.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH + 1, LOCAL_MDH + 1, BIG);
	p.a.slot(FMAD, 0).offset = BASE + 4;
	assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_BOUNDS);
	assert_int_equal(p.b.ram(far)[4], 0);
}

void post_receive(const FakeHost &host, unsigned int n, unsigned int channel, uint32_t length)
{
	host.write64(ARIES_RMT_OFFSET_N(n), BASE);
	host.write32(ARIES_RMT_LENGTH_N(n), length);
	host.write32(ARIES_RMT_EVENT_N(n), 0x5000 + n);
	host.write64(ARIES_RMT_CTL_N(n),
		     ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(channel) << 16 | uint64_t(MDH) << 32);
}

uint32_t channel_send(TwoHosts &p, unsigned int channel, uint32_t length)
{
	aries_bte_desc &d = p.a.slot(FMAD, 0);

	d = block_transfer(ARIES_BTE_SEND, 0, LOCAL_MDH, length);
	d.offset = channel;
	return p.a.ring_bte(FMAD, 0);
}

TEST(channel_sends)
{
	TwoHosts p;

	for (uint64_t i = 0; i < BYTES; i++)
		*p.a.ram(p.local + i) = uint8_t(i * 7 + 1);
	assert_int_equal(channel_send(p, 9, 64), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_NO_RECEIVE);
	for (const uint32_t bytes : {8u, 4096u, 65536u}) {
		post_receive(p.b, 4, 9, 65536);
		memset(p.b.ram(p.target), 0, BYTES);
		assert_int_equal(channel_send(p, 9, bytes), ARIES_ST_OK);
		assert_int_equal(p.event().status(), ARIES_ST_OK);
		/* From node 0. */
		assert_int_equal(p.b.read(ARIES_RMT_STATUS_N(4), 8), bytes | ARIES_RMT_STATUS_DONE_MASK);
		assert_memory_equal(p.b.ram(p.target), p.a.ram(p.local), bytes);
		assert_int_equal(p.b.next_event(21).data(), 0x5004);
		p.b.write64(ARIES_RMT_CTL_N(4), 0);
	}
	post_receive(p.b, 4, 9, 16);
	assert_int_equal(channel_send(p, 9, 64), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_RECEIVE_LENGTH);
	/* One that fails leaves the receive as it was. */
	p.b.write64(ARIES_RMT_CTL_N(4), 0);
	post_receive(p.b, 4, 9, 4096);
	assert_true(p.a.invalidate(LOCAL_MDH));
	assert_int_equal(channel_send(p, 9, 64), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_LOCAL_MDD);
	p.wait([&] { return p.b.read(ARIES_RMT_STATUS_N(4), 8) == 0; });
	assert_true(p.b.read(ARIES_RMT_CTL_N(4), 8) & ARIES_RMT_CTL_VALID_MASK);
}

/* What is under way when a host goes ends with TIMEOUT, what comes then is refused; and it comes back. */
TEST(a_host_goes_and_comes)
{
	TwoHosts p;

	p.wire.set_delay(10s);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, i), ARIES_ST_OK);
	p.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, BYTES);
	assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
	/* Nothing comes back in time, and a processor does not wait for ever. */
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_TIMEOUT);
	p.wire.part();
	for (unsigned int i = 0; i < 51; i++)
		assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	p.wait_for(ARIES_NODE_DEAD);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_TIMEOUT);
	assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	assert_int_equal(p.there(), 0);
	p.wire.set_delay(0ms);
	p.wire.join();
	p.wait_for(ARIES_NODE_UP);
	p.wait([&] { return p.busy() == 0; });
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.there(), VALUE);
}

/* The status of an operation without an event is its end: its memory is the process's again, and the next event is not
 * about it. */
TEST(nothing_lands_after_its_status)
{
	TwoHosts p;
	const auto wait_for_nothing = [&p] { p.wait([&] { return p.busy() == 0; }); };

	*reinterpret_cast<uint64_t *>(p.b.ram(p.target)) = VALUE;
	p.a.ring(FMAD, ARIES_FMA_GET_OP, 8);
	assert_int_equal(p.back(), VALUE);
	p.wire.set_delay(300ms);
	for (const bool atomic : {false, true}) {
		memset(p.a.ram(p.local), 0, 8);
		p.desc().operand[0] = 1;
		assert_int_equal(atomic ? p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, FETCHING_ADD)
					: p.a.ring(FMAD, ARIES_FMA_GET_OP, 8),
				 ARIES_ST_TIMEOUT);
		assert_int_equal(p.busy(), 1);
		wait_for_nothing();
		assert_int_equal(p.back(), 0);
	}
	/* The atomic was carried out all the same. */
	assert_int_equal(p.there(), VALUE + 1);
	p.wire.set_delay(10s);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_TIMEOUT);
	p.wire.part();
	p.wait_for(ARIES_NODE_DEAD);
	wait_for_nothing();
	p.wire.set_delay(0ms);
	p.wire.join();
	p.wait_for(ARIES_NODE_UP);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

TEST(nodes_are_seen_to_come_and_go)
{
	TwoHosts p;

	p.b.write32(ARIES_CTL_CONTROL, 0);
	p.wait_for(ARIES_NODE_OFF);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_TIMEOUT);
	assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	p.wait_for(ARIES_NODE_UP);
	assert_int_equal(p.a.read(ARIES_NODE_STATE_N(uint64_t(1)), 8), p.b.read(ARIES_NODE_STATE_N(uint64_t(1)), 8));
	/* Its address cannot be taken here meanwhile. */
	std::string why;

	try {
		const FakeHost other(p.path[0], 1, {.nodes = TwoHosts::NODES});
	} catch (const std::string &error) {
		why = error;
	}
	assert_non_null(strstr(why.c_str(), "in use"));
}

TEST(a_reset_drops_what_is_under_way)
{
	TwoHosts p;

	p.wire.set_delay(200ms);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(p.send(VALUE, i % 2 ? ARIES_EV_GLOBAL : 0), ARIES_ST_OK);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 2048, ARIES_EV_GLOBAL), ARIES_ST_OK);
	const aries_fma_desc desc = p.desc();

	aries_nic_reset(p.a.nic());
	assert_int_equal(p.busy(), 0);
	p.wire.set_delay(0ms);
	p.a.restart();
	p.desc() = desc;
	p.a.set_key(PTAG_A, KEY);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER);
	p.a.make_cq(20, 6, OWNER);
	p.wait_for(ARIES_NODE_UP);
	assert_int_equal(p.send(VALUE + 1, ARIES_EV_GLOBAL, 77), ARIES_ST_OK);
	const Event event = p.event();

	assert_int_equal(event.tid(), 77);
	assert_int_equal(event.status(), ARIES_ST_OK);
	p.wait([&] { return p.carrier[0]->figures().open == 0; });
	assert_int_equal(p.there(), VALUE + 1);
	assert_false(bool(p.a.next_event(20)));
}

/* Node 2, in a process of its own on host 0, with nothing in its head but what it sends. */
template <typename Work> pid_t start_sender(TwoHosts &p, Work &&work)
{
	return start_child([&](auto ready) {
		FakeHost c(p.path[0], 2, {.nodes = TwoHosts::NODES});

		c.set_key(PTAG_A, KEY);
		c.enable_fmad(FMAD, PTAG_A, OWNER);
		c.make_mdd(LOCAL_MDH, PTAG_A, c.alloc(BYTES), BYTES, BASE);
		c.desc(FMAD) = p.desc();
		ready();
		for (;;)
			work(c);
	});
}

TEST(a_sender_is_killed)
{
	TwoHosts p;

	for (unsigned int round = 0; round < 5; round++) {
		const pid_t sender = start_sender(p, [](FakeHost &c) {
			c.ring(FMAD, ARIES_FMA_PUT_LINE, 2048);
			c.ring(FMAD, ARIES_FMA_GET_OP, 4096);
			c.main_loop();
		});
		const uint64_t before = p.carrier[1]->figures().served;

		p.wait([&] { return p.carrier[1]->figures().served > before + 20 + 7 * round; });
		kill_child(sender);
		p.wait([&] { return p.carrier[0]->figures().open == 0; });
		assert_int_equal(p.send(VALUE + round, ARIES_EV_GLOBAL), ARIES_ST_OK);
		assert_int_equal(p.event().status(), ARIES_ST_OK);
		p.wait([&] { return p.there() == VALUE + round; });
	}
}

/* It had taken a receive there: that is posted again. */
TEST(a_sender_is_killed_in_a_send)
{
	TwoHosts p;

	post_receive(p.b, 4, 9, 65536);
	p.wire.set_delay(100ms);
	const pid_t sender = start_sender(p, [](FakeHost &c) {
		c.slot(FMAD, 0) = block_transfer(ARIES_BTE_SEND, 0, LOCAL_MDH, 65536, 0);
		c.slot(FMAD, 0).offset = 9;
		c.ring_bte(FMAD, 0);
		c.main_loop(20);
	});

	p.wait([&] { return p.b.read(ARIES_RMT_STATUS_N(4), 8) & ARIES_RMT_STATUS_BUSY_MASK; });
	kill_child(sender);
	p.wire.set_delay(0ms);
	p.wait([&] { return p.b.read(ARIES_RMT_STATUS_N(4), 8) == 0; });
	assert_true(p.b.read(ARIES_RMT_CTL_N(4), 8) & ARIES_RMT_CTL_VALID_MASK);
	assert_int_equal(channel_send(p, 9, 4096), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

/* The same of a NIC that is reset. */
TEST(a_sender_is_reset_in_a_send)
{
	TwoHosts p;

	post_receive(p.b, 4, 9, 65536);
	p.wire.set_delay(100ms);
	assert_int_equal(channel_send(p, 9, 65536), ARIES_ST_OK);
	p.wait([&] { return p.b.read(ARIES_RMT_STATUS_N(4), 8) & ARIES_RMT_STATUS_BUSY_MASK; });
	aries_nic_reset(p.a.nic());
	p.wire.set_delay(0ms);
	p.wait([&] { return p.b.read(ARIES_RMT_STATUS_N(4), 8) == 0; });
	assert_true(p.b.read(ARIES_RMT_CTL_N(4), 8) & ARIES_RMT_CTL_VALID_MASK);
}

/* The gateway ends, and another one takes its place. */
TEST(a_gateway_ends)
{
	TwoHosts p;

	p.wire.set_delay(10s);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	p.wire.part();
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	p.wire.set_delay(0ms);
	p.wire.join();
	p.wait_for(ARIES_NODE_UP);
	p.wire.set_delay(10s);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	p.wire.attach(0, nullptr);
	p.carrier[0].reset();
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	p.wire.part();
	p.wire.set_delay(0ms);
	p.start(0);
	p.wire.join();
	p.wait_for(ARIES_NODE_UP);
	p.wait([&] { return p.busy() == 0; });
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.there(), VALUE);
}

/* Hosts whose nodes make no fabric are refused with the cause. */
TEST(configurations_that_make_no_sense)
{
	const std::string path = fabric_path();
	MemoryWire wire;
	const auto why = [&](auto &&change) {
		aries::CarrierConfig config = TwoHosts::config(path, 0);

		change(config);
		try {
			const aries::Carrier carrier(config, wire.end(0));
		} catch (const aries::Error &error) {
			return std::string(error.what());
		}
		return std::string();
	};

	assert_non_null(strstr(why([](auto &c) { c.host = 3; }).c_str(), "none of the 3 hosts"));
	assert_non_null(strstr(why([](auto &c) { c.hosts[1] = {4}; }).c_str(), "not below the number of nodes"));
	assert_non_null(strstr(why([](auto &c) { c.hosts[1] = {3}; }).c_str(), "address of the gateway"));
	assert_non_null(strstr(why([](auto &c) { c.hosts[1] = {0}; }).c_str(), "on one host"));
	const FakeHost there(path, 1, {.nodes = TwoHosts::NODES});

	assert_non_null(strstr(why([](auto &) {}).c_str(), "is in use on this host"));
}

} // namespace

TEST_MAIN("tests")
