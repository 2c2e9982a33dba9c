// SPDX-License-Identifier: GPL-2.0-or-later
/* Completions that are held until modelled time has come. A slow rate makes what is on its way visible to a host. */
#include <chrono>
#include <cmath>
#include <thread>

#include "netlink/fabric_clock.hpp"
#include "tests/launch_job.hpp"
#include "tests/pair.hpp"

using namespace aries_test;
using namespace std::chrono_literals;

namespace
{

using Clock = std::chrono::steady_clock;

constexpr double SLOW = 2e-6; // a put of 0.8 us takes 0.4 s of the host, longer than a busy one stands still
constexpr unsigned int PATIENCE_MS = 60000;
constexpr uint64_t VALUE = 0x1122334455667788;
constexpr unsigned int FETCHING_ADD = 0x008;

/** Two hosts whose fabric holds completions; the host's time at which it was begun to measure. */
struct Held : Pair {
	explicit Held(double rate = SLOW) : slow(rate)
	{
		char err[256];

		assert_int_equal(aries_nic_set_time_rate(a.nic(), rate, err, sizeof(err)), 0);
		aries_nic_set_hold(a.nic(), true);
		assert_true(aries_nic_hold(b.nic()));
	}

	void start() { since = Clock::now(); }
	/** Modelled ns since start(), rounded up: the device's clock has whole ones, and so has what it is due at. */
	double modelled() const
	{
		return std::chrono::duration<double, std::nano>(Clock::now() - since).count() * slow + 2;
	}
	uint64_t latency() const { return a.counter(ARIES_CNT_LATENCY_LAST_NS); }
	Event event() { return a.wait_event(20, PATIENCE_MS); }
	uint32_t send(uint64_t value, unsigned int mode = ARIES_EV_GLOBAL, unsigned int tid = 0)
	{
		memcpy(a.line(FMAD), &value, 8);
		return put(8, mode, tid);
	}
	unsigned int busy() const
	{
		return unsigned(a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) & ARIES_FMAD_STATUS_BUSY_MASK);
	}
	uint64_t there(uint64_t at = 0) { return __atomic_load_n(&word(at), __ATOMIC_ACQUIRE); }

	/** Word @n of where data come back to. */
	uint64_t back(unsigned int n = 0) { return __atomic_load_n(&fetched() + n, __ATOMIC_ACQUIRE); }

	const double slow;
	Clock::time_point since;
};

TEST(a_put_is_there_in_modelled_time)
{
	Held p;

	p.start();
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, 7), ARIES_ST_OK);
	/* It has taken its data along. */
	memset(p.a.line(FMAD), 0xee, 64);
	p.desc().offset = BASE + 512;
	assert_int_equal(p.there(), 0);
	assert_false(bool(p.a.next_event(20)));
	assert_int_not_equal(p.busy(), 0);

	const Event remote = p.b.wait_event(21, PATIENCE_MS);

	assert_int_equal(remote.data(), 0x2222);
	assert_int_equal(p.there(), VALUE);
	const double arrived = p.modelled();
	const Event global = p.event();

	assert_in_range(p.latency(), 700, 900);
	assert_true(arrived >= double(p.latency()));

	assert_int_equal(global.status(), ARIES_ST_OK);
	assert_int_equal(global.tid(), 7);
	assert_true(p.modelled() > double(p.latency()) + 100);
	assert_int_equal(p.there(512), 0);
}

TEST(gets_and_atomics_come_back_in_modelled_time)
{
	Held p;

	p.word() = VALUE;
	p.start();
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.back(), 0);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.back(), VALUE);
	assert_in_range(p.latency(), 1500, 1700);
	assert_true(p.modelled() >= double(p.latency()));

	p.desc().operand[0] = 1;
	p.start();
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, ARIES_EV_GLOBAL, 0, FETCHING_ADD), ARIES_ST_OK);
	assert_int_equal(p.there(), VALUE);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.there(), VALUE + 1);
	assert_int_equal(p.back(), VALUE);
	assert_true(p.modelled() >= double(p.latency()));
}

/* What says neither by an event nor by a flag that it is back is back when the doorbell's store is over. */
TEST(reads_without_an_event_are_waited_for)
{
	for (const double rate : {1e-4, aries::FabricClock::RATE_MIN}) {
		Held p(rate);

		const auto *told = reinterpret_cast<const aries_fma_status *>(reinterpret_cast<uint8_t *>(&p.desc()) +
									      ARIES_DESC_STATUS);
		const uint32_t before = told->sequence;

		p.word() = VALUE;
		p.start();
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_OK);
		assert_int_equal(told->sequence, before + 1);
		assert_int_equal(p.back(), VALUE);
		/* But no store waits longer than the guest's kernel is patient. */
		assert_true(p.modelled() >= (rate > SLOW ? double(p.latency()) : 50e6 * rate));
		assert_int_equal(p.amo(FETCHING_ADD, 1), ARIES_ST_OK);
		assert_int_equal(p.there(), VALUE + 1);
		assert_int_equal(p.send(5, 0), ARIES_ST_OK);
		if (rate < SLOW)
			assert_int_equal(p.there(), VALUE + 1);
	}
	Held p;

	/* With a flag a program looks by itself. */
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, 8), ARIES_ST_OK);
	assert_int_equal(p.back(1), 0);
	for (unsigned int i = 0; !p.back(1) && i < PATIENCE_MS; i++)
		std::this_thread::sleep_for(1ms);
	assert_int_equal(p.back(1), ARIES_FMA_FLAG);
	/* A failure on the way is in the status. */
	char err[256];

	aries_nic_set_time_rate(p.a.nic(), 1, err, sizeof(err));
	assert_int_equal(aries_nic_set_fault(p.a.nic(), "drop-response", 1, err, sizeof(err)), 0);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_TIMEOUT);
}

TEST(many_are_on_their_way_at_once)
{
	Held p;
	constexpr unsigned int COUNT = 30;

	p.start();
	for (unsigned int i = 0; i < COUNT; i++) {
		p.desc().offset = BASE + uint64_t{8} * i;
		assert_int_equal(p.send(i + 1, ARIES_EV_GLOBAL, i), ARIES_ST_OK);
	}
	assert_int_equal(p.busy(), COUNT);
	for (unsigned int i = 0; i < COUNT; i++) {
		assert_int_equal(p.event().tid(), i);
		assert_int_equal(p.there(uint64_t{8} * i), i + 1);
	}
	/* One after the other they would need this long. */
	assert_true(p.modelled() < COUNT / 2.0 * double(p.latency()));
	assert_int_equal(p.busy(), 0);
}

TEST(what_is_wrong_is_refused_at_once)
{
	Held p;

	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_BOUNDS);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.next_event(20).status(), ARIES_ST_BOUNDS);
	p.desc().offset = BASE;
	p.desc().local_offset = BASE + BYTES;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, 0), ARIES_ST_LOCAL_BOUNDS);
	assert_int_equal(p.busy(), 0);
}

/* The region is gone, or another has its place, when the packet gets there. */
TEST(a_region_that_went_meanwhile_is_not_written)
{
	for (const bool again : {false, true}) {
		Held p;

		p.start();
		assert_int_equal(p.send(VALUE), ARIES_ST_OK);
		assert_true(p.b.invalidate(MDH));
		if (again)
			p.b.make_mdd(MDH, PTAG_B, p.target, BYTES, BASE);
		assert_int_equal(p.event().status(), ARIES_ST_MDD);
		assert_int_equal(p.there(), 0);
	}
	Held p;

	p.word() = VALUE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_true(p.a.invalidate(LOCAL_MDH));
	p.a.make_mdd(LOCAL_MDH, PTAG_A, p.local, BYTES, BASE);
	assert_int_equal(p.event().status(), ARIES_ST_LOCAL_MDD);
	assert_int_equal(p.back(), 0);
}

/* A failure of an operation without an event is the next event's, and that one's only. */
TEST(a_late_failure_is_told_by_the_next_event)
{
	Held p;
	const uint64_t other = p.b.alloc(PAGE);

	p.b.make_mdd(MDH + 1, PTAG_B, other, PAGE, 0);
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	assert_true(p.b.invalidate(MDH));
	p.desc().mdh = MDH + 1;
	p.desc().offset = 0;
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, 5), ARIES_ST_OK);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, 6), ARIES_ST_OK);
	const Event first = p.event(), second = p.event();

	assert_int_equal(first.tid(), 5);
	assert_int_equal(first.status(), ARIES_ST_MDD);
	assert_int_equal(second.tid(), 6);
	assert_int_equal(second.status(), ARIES_ST_OK);
	assert_int_equal(p.a.counter(ARIES_CNT_ERRORS), 1);
	/* Also when completions are no longer held. */
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	assert_true(p.b.invalidate(MDH + 1));
	aries_nic_set_hold(p.a.nic(), false);
	for (unsigned int i = 0; p.busy() && i < PATIENCE_MS; i++)
		std::this_thread::sleep_for(1ms);
	p.b.make_mdd(MDH + 2, PTAG_B, other, PAGE, 0);
	p.desc().mdh = MDH + 2;
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL, 8), ARIES_ST_OK);
	const Event late = p.event();

	assert_int_equal(late.tid(), 8);
	assert_int_equal(late.status(), ARIES_ST_MDD);
}

TEST(a_transaction_ends_behind_its_stores)
{
	Held p;

	for (unsigned int i = 0; i < 8; i++)
		p.a.store(FMAD, ARIES_FMA_PUT + 8 * i, 8, i + 1);
	assert_int_equal(p.there(), 0);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 3), ARIES_ST_OK);
	assert_int_equal(p.event().tid(), 3);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(p.there(8 * i), i + 1);
	/* One of the stores failed on its way. */
	p.a.store(FMAD, ARIES_FMA_PUT, 8, 99);
	assert_true(p.b.invalidate(MDH));
	p.b.make_mdd(MDH, PTAG_B, p.target, BYTES, BASE);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 4), ARIES_ST_OK);
	const Event closed = p.event();

	assert_int_equal(closed.tid(), 4);
	assert_int_equal(closed.status(), ARIES_ST_MDD);
	assert_int_equal(p.there(), 1);
	/* And one at once. */
	p.desc().offset = BASE + BYTES;
	p.a.store(FMAD, ARIES_FMA_PUT, 8, 99);
	p.desc().offset = BASE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 5), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 6), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

TEST(a_batch_ends_behind_its_parts)
{
	Held p;
	auto *entry = reinterpret_cast<aries_launch_entry *>(p.a.line(FMAD));

	for (unsigned int i = 0; i < 16; i++)
		entry[i] = launch_entry(ARIES_LAUNCH_PUT8, 1, BASE + uint64_t{8} * i, i + 1);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_LAUNCH, 16, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, 9), ARIES_ST_OK);
	assert_int_equal(p.there(), 0);
	assert_int_equal(p.event().tid(), 9);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(p.there(uint64_t{8} * i), i + 1);
	assert_true(bool(p.b.next_event(21)));
}

TEST(block_transfers_take_their_time)
{
	Held p(1e-5);
	constexpr uint64_t SIZES[] = {64, 4096, BYTES};

	for (const uint64_t bytes : SIZES) {
		for (const unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
			memset(p.b.ram(p.target), op == ARIES_BTE_PUT ? 0 : 0x5a, bytes);
			memset(p.a.ram(p.local), op == ARIES_BTE_PUT ? 0x5a : 0, bytes);
			p.a.slot(FMAD, 0) = block_transfer(op, MDH, LOCAL_MDH, bytes);
			p.start();
			assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
			uint8_t *const last = (op == ARIES_BTE_PUT ? p.b.ram(p.target) : p.a.ram(p.local)) + bytes - 1;

			const uint8_t early = __atomic_load_n(last, __ATOMIC_ACQUIRE);

			if (p.modelled() < 700)
				assert_int_equal(early, 0);
			assert_int_equal(p.event().status(), ARIES_ST_OK);
			/* That a put has arrived is told when the response is back. */
			assert_true(p.modelled() >= double(p.latency()) + (op == ARIES_BTE_PUT ? 100 : 0));
			/* 10.24 GB/s (L08) */
			assert_true(p.modelled() >= double(bytes) / 10.24);
			assert_memory_equal(p.a.ram(p.local), p.b.ram(p.target), bytes);
			assert_int_equal(*p.b.ram(p.target + bytes - 1), 0x5a);
		}
	}
}

/* More than a NIC may have outstanding (N20): the processor is held up, modelled time is not moved on. */
TEST(a_full_buffer_holds_the_processor_up)
{
	Held p(1e-3);
	constexpr unsigned int COUNT = 200, LENGTH = 2048;

	p.start();
	for (unsigned int i = 0; i < COUNT; i++)
		assert_int_equal(p.put(LENGTH, i + 1 == COUNT ? ARIES_EV_GLOBAL : 0), ARIES_ST_OK);
	assert_true(p.a.counter(ARIES_CNT_ORB_STALLS) > 0);
	/* 32 puts of 32 packets are outstanding; by then all others have left. */
	assert_true(p.modelled() >= (COUNT - 2 * 1024 / 32) * LENGTH / 10.24);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_true(p.modelled() >= COUNT * LENGTH / 10.24);
}

TEST(a_descriptor_that_is_disabled_waits_for_nothing)
{
	Held p(aries::FabricClock::RATE_MIN); // a put would take 0.8 s

	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, ARIES_EV_GLOBAL), ARIES_ST_OK);
	p.start();
	p.a.disable_fmad(FMAD);
	for (unsigned int i = 0; p.busy() && i < PATIENCE_MS; i++)
		std::this_thread::sleep_for(1ms);
	assert_int_equal(p.busy(), 0);
	assert_true(p.modelled() < 796);
	assert_int_equal(p.there(), VALUE);
}

TEST(a_reset_drops_what_is_on_its_way)
{
	Held p;

	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(p.send(VALUE, i % 2 ? ARIES_EV_GLOBAL : 0), ARIES_ST_OK);
	p.a.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, 4096);
	assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
	aries_nic_reset(p.a.nic());
	assert_int_equal(p.busy(), 0);
	std::this_thread::sleep_for(1s); // later than all of it would have come
	assert_int_equal(p.there(), 0);
	/* A block transfer that is under way says so; what only has an event to come says nothing any more. */
	while (const Event event = p.a.next_event(20)) {
		assert_int_equal(event.source(), ARIES_SRC_BTE);
		assert_int_equal(event.status(), ARIES_ST_FLUSHED);
	}
}

/* The flag of a message comes behind parts of it that were sent before, whatever ways they take. */
TEST(a_flag_comes_behind_what_was_sent_before)
{
	Held p(1e-4);
	char err[256];

	/* The first part is late. */
	assert_int_equal(aries_nic_set_fault(p.a.nic(), "delay-ns", 3000, err, sizeof(err)), 0);
	assert_int_equal(p.send(VALUE, 0), ARIES_ST_OK);
	assert_int_equal(aries_nic_set_fault(p.a.nic(), "delay-ns", 0, err, sizeof(err)), 0);
	p.desc().offset = BASE + 64;
	p.desc().sync_offset = BASE + 4096;
	p.desc().sync_value = 1;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 8, ARIES_EV_REMOTE), ARIES_ST_OK);
	for (unsigned int i = 0; !p.there(4096) && i < PATIENCE_MS * 10; i++)
		std::this_thread::sleep_for(100us);
	assert_int_equal(p.there(4096), 1);
	assert_int_equal(p.there(), VALUE);
}

TEST(lost_packets_end_with_a_timeout)
{
	Held p(1e-2);
	char err[256];

	assert_int_equal(aries_nic_set_fault(p.a.nic(), "drop", 1, err, sizeof(err)), 0);
	p.start();
	assert_int_equal(p.send(VALUE), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_TIMEOUT);
	assert_true(p.modelled() >= 1e7);
	assert_int_equal(p.there(), 0);
}

TEST(order_is_kept_when_holding_ends)
{
	Held p;

	assert_int_equal(p.send(1, 0), ARIES_ST_OK);
	aries_nic_set_hold(p.a.nic(), false);
	assert_int_equal(p.send(2), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.there(), 2);
	assert_int_equal(p.busy(), 0);
}

TEST(rates_that_are_none_are_refused)
{
	Pair p;
	char err[256] = "";

	for (const double rate : {0.0, -1.0, 1e-7, 1e4, double(NAN)}) {
		assert_int_equal(aries_nic_set_time_rate(p.a.nic(), rate, err, sizeof(err)), -1);
		assert_non_null(strstr(err, "rate from 1e-06 to 1000"));
	}
	assert_true(aries_nic_time_rate(p.a.nic()) == 1);
	assert_int_equal(aries_nic_set_time_rate(p.a.nic(), 0.25, err, sizeof(err)), 0);
	assert_true(aries_nic_time_rate(p.b.nic()) == 0.25);
}

/* The clock itself, without a host. */
TEST(modelled_time_goes_on_without_a_leap)
{
	aries::ClockState state{};
	aries::FabricClock clock(state);
	uint64_t host = 1'000'000'000, before = clock.at(host);

	assert_int_equal(before, host);
	clock.pass(before + 500, host);
	assert_int_equal(clock.at(host), before + 500);
	before += 500;
	for (const double rate : {0.5, 0.001, 10.0, 1.0, 2.0, 0.25, 4.0, 1000.0, 1e-6, 1.0}) {
		assert_true(clock.set_rate(rate, host));
		assert_in_range(clock.at(host), before, before + 1);
		/* A thread that has looked at the host's clock before. */
		assert_in_range(clock.at(host - 100), before, before + 1);
		before = clock.at(host);
		host += 1'000'000;
		const double went = double(clock.at(host) - before);

		assert_true(went >= 1e6 * rate * 0.999 - 1 && went <= 1e6 * rate * 1.001 + 1);
		before = clock.at(host);
		const uint64_t due = before + 12345, left = clock.host_until(due, host);

		assert_true(clock.at(host + left) >= due);
		assert_true(left < 2 || clock.at(host + left - left / 100 - 2) < due);
		clock.pass(before + 7, host);
		assert_int_equal(clock.at(host), before + 7);
		before += 7;
	}
	assert_false(clock.holds());
	clock.set_holds(true);
	assert_int_equal(clock.at(host), before);
	assert_int_equal(clock.host_until(before, host), 0);
	clock.set_holds(false);
	assert_int_equal(clock.at(host), before);
}

/* Who asks is told whether the outcome is known. */
TEST(doorbells_tell_what_is_on_its_way)
{
	Held p(1e-2);

	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL | ARIES_DB_LATER), ARIES_ST_LATER);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	assert_int_equal(p.send(VALUE, ARIES_DB_LATER), ARIES_ST_LATER);
	/* What is refused at once, or waited for, is known. */
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8, ARIES_DB_LATER), ARIES_ST_OK);
	p.desc().mdh = MDH + 1;
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL | ARIES_DB_LATER), ARIES_ST_MDD);
	assert_int_equal(p.event().status(), ARIES_ST_MDD);
	p.desc().mdh = MDH;
	aries_nic_set_hold(p.a.nic(), false);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL | ARIES_DB_LATER), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

/* A message in two parts, of which the first is lost: the second one, with the flag, stores nothing either. */
TEST(a_flag_stands_for_all_parts)
{
	Held p(1e-2);
	char err[256];

	const auto message = [&p](uint64_t value) {
		p.desc().offset = BASE;
		assert_int_equal(p.send(value, 0), ARIES_ST_OK);
		p.desc().offset = BASE + 8;
		p.desc().sync_offset = BASE + 16;
		p.desc().sync_value = value;
		memcpy(p.a.line(FMAD), &value, 8);
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 8, ARIES_EV_GLOBAL), ARIES_ST_OK);
		return p.event().status();
	};

	assert_int_equal(aries_nic_set_fault(p.a.nic(), "drop", 1, err, sizeof(err)), 0);
	assert_int_equal(message(VALUE), ARIES_ST_TIMEOUT);
	for (const uint64_t at : {0, 8, 16})
		assert_int_equal(p.there(at), 0);
	assert_int_equal(message(VALUE), ARIES_ST_OK);
	for (const uint64_t at : {0, 8, 16})
		assert_int_equal(p.there(at), VALUE);
}

} // namespace

TEST_MAIN("tests")
