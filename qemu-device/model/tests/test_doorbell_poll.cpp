/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Polled doorbells: who runs them, in which order, and that none is lost or run twice. */
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "nic/engines/doorbell_poll.hpp"
#include "tests/pair.hpp"
#include "tests/polled.hpp"

using namespace aries_test;
using namespace std::chrono_literals;

namespace
{

using Clock = std::chrono::steady_clock;

constexpr unsigned int ADD = 0x008, FETCHING_AND = 0x009; /* the last with operand 0 clears */
constexpr uint64_t PUT8 = uint64_t(ARIES_FMA_PUT_LINE) << 32 | uint64_t(8) << 16;
constexpr auto LINGER = std::chrono::nanoseconds(aries::DoorbellPoll::LINGER_NS);

FakeHost::Options polled()
{
	FakeHost::Options options;

	options.polled = true;
	return options;
}

struct Polled : Pair {
	explicit Polled(const FakeHost::Options &options = polled()) : Pair(options)
	{
		a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
	}
	~Polled() { assert_int_equal(a.guest_errors, 0); }

	/* enable_fmad() of Pair came without the bit, so this is where doorbells begin. */
	Process process{a, FMAD};

	uint64_t there(uint64_t at = 0) { return __atomic_load_n(&word(at), __ATOMIC_ACQUIRE); }
	bool busy() { return a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) & ARIES_FMAD_STATUS_BUSY_MASK; }
	void line(uint64_t value) { memcpy(a.line(FMAD), &value, sizeof(value)); }
	/** Atomic that adds 1 to the word at the start of the target: how often it was run can be seen. */
	uint64_t add()
	{
		desc().operand[0] = 1;
		return Process::value(ARIES_FMA_AMO_OP, 8, 0, 0, ADD | 0x100);
	}
};

template <typename Done> void eventually(Done &&done)
{
	const auto end = Clock::now() + 60s;

	while (!done()) {
		assert_true(Clock::now() < end);
		std::this_thread::sleep_for(100us);
	}
}

TEST(only_where_they_are_offered)
{
	Pair trapped;

	assert_int_equal(trapped.a.read(ARIES_ID_CAPS, 8) & ARIES_ID_CAPS_POLL_MASK, 0);
	trapped.a.enable_fmad(FMAD + 1, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
	assert_int_equal(trapped.a.guest_errors, 1);
	assert_int_equal(trapped.a.read(ARIES_FMAD_CTL_N(uint64_t(FMAD) + 1), 8), 0);
	trapped.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_POLL, 8, 0);
	assert_int_equal(trapped.a.guest_errors, 2);

	Polled p;

	assert_int_equal(p.a.read(ARIES_ID_CAPS, 8) & ARIES_ID_CAPS_POLL_MASK, ARIES_ID_CAPS_POLL_MASK);
	assert_int_equal(p.a.read(ARIES_FMAD_CTL_N(uint64_t(FMAD)), 8) & ARIES_FMAD_CTL_POLL_MASK,
			 ARIES_FMAD_CTL_POLL_MASK);
	/* Nobody looks into areas of descriptors that do not have the bit. */
	p.a.enable_fmad(FMAD + 1, PTAG_A, OWNER);
	p.a.desc(FMAD + 1) = p.desc();
	Process other(p.a, FMAD + 1);

	other.leave(PUT8);
	other.kick();
	assert_int_equal(p.a.status(FMAD + 1), ARIES_ST_DISABLED);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REQUESTS), 0);
}

TEST(one_that_comes_alone_is_run_by_its_trap)
{
	Polled p;

	for (uint64_t n = 1; n <= 5; n++) {
		p.line(n);
		assert_true(p.process.ring(PUT8 | uint64_t(ARIES_EV_GLOBAL) << 40 | n));
		assert_true(p.process.over());
		assert_int_equal(p.a.status(FMAD), ARIES_ST_OK);
		assert_int_equal(p.there(), n);
		assert_int_equal(p.a.next_event(20).tid(), n);
		assert_int_equal(p.a.counter(ARIES_CNT_FMA_WAKES), n);
		assert_int_equal(p.a.counter(ARIES_CNT_FMA_TRAPS), n);
		std::this_thread::sleep_for(2 * LINGER);
	}
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_POLLED), 0);
	/* Nothing is there to be run. */
	p.process.kick();
	assert_int_equal(p.process.sequence(), 5);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REQUESTS), 5);
}

/* Each is run once: by the thread, or by the trap. Data and descriptor are what they were when the word was stored. */
TEST(many_need_no_trap)
{
	Polled p;
	constexpr uint64_t FOUND = 5000;
	const auto end = Clock::now() + 100s;
	uint64_t rung = 0, trapped = 0, *const line = reinterpret_cast<uint64_t *>(p.a.line(FMAD));

	while (p.a.counter(ARIES_CNT_FMA_POLLED) < FOUND && Clock::now() < end) {
		const uint64_t at = rung % 16 * 2048;

		rung++;
		for (unsigned int i = 0; i < 256; i++)
			line[i] = rung;
		p.desc().offset = BASE + at;
		p.desc().local_event = uint32_t(rung);
		trapped += p.process.ring(Process::value(ARIES_FMA_PUT_LINE, 2048, ARIES_EV_GLOBAL, rung & 0xffff));
		assert_int_equal(p.process.wait(), ARIES_ST_OK);
		for (unsigned int i = 0; i < 256; i++)
			assert_int_equal(p.there(at + i * 8), rung);
		const Event event = p.a.next_event(20);

		assert_int_equal(event.data(), rung);
		assert_int_equal(event.tid(), rung & 0xffff);
		assert_int_equal(event.status(), ARIES_ST_OK);
	}
	assert_in_range(p.a.counter(ARIES_CNT_FMA_POLLED), FOUND, rung);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_WAKES), trapped);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_TRAPS), trapped);
	assert_in_range(p.a.counter(ARIES_CNT_FMA_POLLED) + trapped, rung, 2 * rung);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_PUTS), rung * 2048 / ARIES_PACKET_BYTES);
	eventually([&] { return p.a.read(ARIES_FMAD_STATUS_N(uint64_t(FMAD)), 8) == 0; });
}

/* Of a process that stores no more: what a driver waits for when it suspends a job. */
TEST(a_descriptor_that_is_not_busy_has_run_its_doorbell)
{
	Polled p;
	const uint64_t add = p.add();
	const auto end = Clock::now() + 2s;
	uint64_t rung = 0, found = 0;

	while (Clock::now() < end || !found) {
		const bool trapped = p.process.ring(add);

		eventually([&] {
			for (unsigned int i = 0; i < 1000; i++)
				if (!p.busy())
					return true;
			return false;
		});
		assert_int_equal(p.there(), ++rung);
		assert_int_equal(p.process.wait(30), ARIES_ST_OK);
		found += !trapped;
	}
}

/*
 * The thread goes to sleep when a doorbell is stored: whichever of the two sees the other's word, the doorbell is run
 * once, and without anybody looking a second time.
 */
TEST(none_is_lost_when_the_thread_falls_asleep)
{
	Polled p;
	std::minstd_rand random(1);
	const uint64_t add = p.add();
	const auto end = Clock::now() + 3s;
	uint64_t rung = 0, slept = 0;

	for (bool was = false; Clock::now() < end || !slept; rung++) {
		const auto pause = LINGER / 2 + std::chrono::nanoseconds(random() % (2 * LINGER).count());
		const auto next = Clock::now() + (rung % 4 ? pause : 0ns);

		while (Clock::now() < next)
			sched_yield();
		const bool trap = p.process.ring(add);

		slept += was && trap;
		was = !trap;
		assert_int_equal(p.process.wait(30), ARIES_ST_OK);
		assert_int_equal(p.there(), rung + 1);
		assert_true(Clock::now() < end + 60s);
	}
	print_message("%llu doorbells, %llu found, asleep %llu times\n", static_cast<unsigned long long>(rung),
		      static_cast<unsigned long long>(p.a.counter(ARIES_CNT_FMA_POLLED)),
		      static_cast<unsigned long long>(slept));
	assert_true(p.a.counter(ARIES_CNT_FMA_POLLED) > 0);
}

/* A process whose fence was none has told nobody. */
TEST(what_both_have_missed_is_found_with_a_tick)
{
	Polled p;

	assert_false(p.busy());
	p.process.leave(p.add());
	std::this_thread::sleep_for(1ms);
	assert_false(p.process.over());
	/* It will be run whatever the process does: a driver that wants the descriptor quiet has to know. */
	assert_true(p.busy());
	p.a.main_loop();
	assert_int_equal(p.process.wait(0), ARIES_ST_OK);
	assert_false(p.busy());
	p.a.main_loop();
	assert_int_equal(p.there(), 1);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_POLLED), 1);
}

/* A store to FMAD_CTL is the end of what was stored before. */
TEST(a_descriptor_that_is_disabled_has_run_its_doorbell)
{
	Polled p;
	const uint64_t add = p.add();
	uint64_t rung = 0;

	/* One that nobody has told of. */
	p.process.leave(add);
	p.a.disable_fmad(FMAD);
	assert_int_equal(p.there(), ++rung);
	assert_int_equal(p.process.wait(0), ARIES_ST_OK);
	for (unsigned int n = 0; n < 200; n++) {
		p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
		assert_false(p.a.awake(FMAD));
		p.process.begin();
		for (unsigned int i = 0; i < n % 8; i++, rung++)
			assert_int_equal(p.process.run(add), ARIES_ST_OK);
		p.process.ring(add);
		p.a.disable_fmad(FMAD);
		assert_int_equal(p.there(), ++rung);
		assert_false(p.a.awake(FMAD));
		/* Rights are those of the descriptor: it has none. */
		p.process.leave(add);
		p.process.kick();
		std::this_thread::sleep_for(10us);
		assert_int_equal(p.a.status(FMAD), ARIES_ST_DISABLED);
		assert_int_equal(p.there(), rung);
		assert_false(p.busy());
	}
	/* Other rights of the same owner: its doorbells go on as they were. */
	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
	p.process.begin();
	p.process.ring(add);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK | ARIES_FMAD_CTL_CACHED_AMO_MASK);
	assert_int_equal(p.there(), ++rung);
	assert_int_equal(p.process.run(add), ARIES_ST_OK);
	assert_int_equal(p.there(), ++rung);
}

TEST(a_reset_drops_it)
{
	Polled p;
	const uint64_t add = p.add();

	p.process.awaken(add);
	const uint64_t rung = p.there();

	aries_nic_set_bus_master(p.a.nic(), false);
	assert_int_equal(p.process.run(add), ARIES_ST_DISABLED);
	aries_nic_set_bus_master(p.a.nic(), true);
	/* A thread that looks may be faster. */
	eventually([&] { return !p.a.awake(FMAD); });
	p.process.leave(add);
	aries_nic_reset(p.a.nic());
	p.process.kick();
	p.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	p.process.kick();
	assert_int_equal(p.a.status(FMAD), ARIES_ST_DISABLED);
	assert_int_equal(p.there(), rung);
	p.a.set_key(PTAG_A, KEY);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
	/* What lay there is not what the next owner has stored. */
	p.process.kick();
	assert_int_equal(p.there(), rung);
	p.process.begin();
	p.process.awaken(p.add());
	assert_true(p.there() > rung);
}

/* Trapped and polled doorbells of one process, each when the one before is over: x = (x & 0) + 1, ... */
TEST(both_kinds_take_turns)
{
	Polled p;

	p.process.awaken(p.add());
	for (uint64_t n = 0; n < 20000; n++) {
		p.desc().operand[0] = n;
		assert_int_equal(p.process.run(Process::value(ARIES_FMA_AMO_OP, 8, 0, 0, ADD)), ARIES_ST_OK);
		const uint64_t before = p.fetched();

		p.desc().operand[0] = 0;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, FETCHING_AND), ARIES_ST_OK);
		assert_int_equal(p.fetched(), before + n);
		assert_int_equal(p.there(), 0);
	}
	/* A trapped store into a window, and its CLOSE by the polled way. */
	p.a.store(FMAD, ARIES_FMA_PUT + 64, 8, 0x55);
	p.desc().cq = 20;
	assert_int_equal(p.process.run(Process::value(ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL, 9)), ARIES_ST_OK);
	assert_int_equal(p.there(64), 0x55);
	assert_int_equal(p.a.next_event(20).tid(), 9);
}

/* Everything that an area can hold, stored at any moment: others go on, and see nothing of it. */
TEST(garbage_is_its_owners_loss)
{
	Polled p;
	constexpr unsigned int OTHER = FMAD + 1;
	std::atomic<bool> stop{false};

	p.a.enable_fmad(OTHER, PTAG_A + 1, OWNER + 1, ARIES_FMAD_CTL_POLL_MASK);
	p.a.set_key(PTAG_A + 1, KEY + 1);
	std::thread hostile([&] {
		std::mt19937_64 random(7);
		auto *words = reinterpret_cast<std::atomic<uint64_t> *>(&p.a.desc(OTHER));

		for (uint64_t n = 0; !stop; n++) {
			words[random() % 64].store(random());
			words[ARIES_DESC_POLL / 8].store(n % 3 ? random() : n << 63 | PUT8);
			if (n % 512 == 0)
				p.a.store(OTHER, ARIES_FMA_DOORBELL + ARIES_DB_POLL, 8, random());
		}
	});
	const auto end = Clock::now() + 2s;
	uint64_t n = 0;

	for (; Clock::now() < end; n++) {
		p.line(n);
		assert_int_equal(p.process.run(PUT8), ARIES_ST_OK);
		assert_int_equal(p.there(), n);
	}
	stop = true;
	hostile.join();
	for (uint64_t at = 8; at < BYTES; at += 8)
		assert_int_equal(p.word(at), 0);
	assert_true(n > 0);
	/* Bits without a meaning are told as with a trapped one. */
	for (uint64_t bit = uint64_t(1) << 58; bit < ARIES_DB_PHASE; bit <<= 1)
		assert_int_equal(p.process.run(PUT8 | bit), ARIES_ST_RESERVED);
}

/* Where completions are held stores wait for room, or for what they read: in their processor, not in the thread. */
TEST(nobody_is_looked_after_while_completions_are_held)
{
	Polled p;

	p.process.awaken(p.add());
	aries_nic_set_hold(p.a.nic(), true);
	eventually([&] { return !p.a.awake(FMAD); });
	const uint64_t found = p.a.counter(ARIES_CNT_FMA_POLLED);

	for (uint64_t n = 1; n < 200; n++) {
		p.word() = n;
		assert_true(p.process.ring(Process::value(ARIES_FMA_GET_OP, 8)));
		assert_true(p.process.over());
		assert_int_equal(p.a.status(FMAD), ARIES_ST_OK);
		assert_int_equal(p.fetched(), n);
	}
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_POLLED), found);
	assert_true(p.process.ring(PUT8 | uint64_t(ARIES_EV_GLOBAL) << 40));
	assert_int_equal(p.a.wait_event(20, 60000).status(), ARIES_ST_OK);
	/* One that is left is its process's alone to run: who waits for the descriptor would wait forever. */
	p.process.leave(PUT8);
	p.a.main_loop();
	assert_false(p.process.over());
	assert_false(p.busy());
	p.process.kick();
	assert_int_equal(p.process.wait(0), ARIES_ST_OK);
	aries_nic_set_hold(p.a.nic(), false);
	p.process.awaken(p.add());
	/* A doorbell and the change at once. */
	for (unsigned int n = 0; n < 300; n++) {
		std::thread changes([&] { aries_nic_set_hold(p.a.nic(), n % 2 == 0); });

		assert_int_equal(p.process.run(Process::value(ARIES_FMA_GET_OP, 8)), ARIES_ST_OK);
		changes.join();
		assert_int_equal(p.process.run(p.add()), ARIES_ST_OK);
	}
}

TEST(interrupts_come_from_the_thread)
{
	Polled p;
	const uint64_t ring = PUT8 | uint64_t(ARIES_EV_GLOBAL) << 40;
	const auto end = Clock::now() + 60s;
	bool trapped = true;

	p.a.make_cq(22, 6, OWNER, ARIES_CQ_CTL_IRQ_MASK | uint64_t(3) << 32);
	while (trapped && Clock::now() < end) {
		p.process.awaken(p.add());
		p.desc().cq = 22;
		p.a.write32(ARIES_CQI_ARM, 22);
		p.a.irqs[3] = 0;
		const uint64_t found = p.a.counter(ARIES_CNT_FMA_POLLED);

		assert_int_equal(p.process.run(ring), ARIES_ST_OK);
		trapped = p.a.counter(ARIES_CNT_FMA_POLLED) == found;
		eventually([&] {
			p.a.main_loop();
			return p.a.irqs[3] > 0;
		});
		assert_int_equal(p.a.next_event(22).status(), ARIES_ST_OK);
	}
	assert_false(trapped);
}

/* How often the thread has given its processor away, or had to. */
uint64_t switches()
{
	uint64_t sum = 0;

	for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
		std::ifstream status(task.path() / "status");
		std::string line;

		std::getline(status, line);
		if (line.find(aries::DoorbellPoll::THREAD_NAME) == std::string::npos)
			continue;
		while (std::getline(status, line)) {
			if (const size_t at = line.find("ctxt_switches:"); at != std::string::npos)
				sum += std::stoull(line.substr(at + strlen("ctxt_switches:")));
		}
	}
	return sum;
}

TEST(an_idle_nic_takes_no_processor)
{
	Polled p;

	p.process.awaken(p.add());
	eventually([&] { return !p.a.awake(FMAD); });
	/* It may be on its way to sleep. */
	uint64_t before = 0;

	eventually([&] {
		const uint64_t last = std::exchange(before, switches());

		std::this_thread::sleep_for(20ms);
		return last == before && before > 0;
	});
	std::this_thread::sleep_for(50ms);
	assert_int_equal(switches(), before);
	p.process.awaken(p.add());
	eventually([&] { return switches() > before; });
}

/* A thread that does not come to its turn is worse than none: after some doorbells it is not waited for any more. */
TEST(a_thread_that_comes_too_late_is_given_up)
{
	std::atomic<bool> stuck{false}, release{false};
	const std::thread::id here = std::this_thread::get_id();
	FakeHost::Options options = polled();

	options.on_trace = [&](const char *event, uint64_t) {
		if (strcmp(event, "fma_failed") || std::this_thread::get_id() == here || release)
			return;
		stuck = true;
		while (!release)
			std::this_thread::sleep_for(1ms);
	};
	Polled p(options);
	constexpr unsigned int OTHER = FMAD + 1;

	p.a.enable_fmad(OTHER, PTAG_A, OWNER, ARIES_FMAD_CTL_POLL_MASK);
	p.a.desc(OTHER) = p.desc();
	Process other(p.a, OTHER);
	const uint64_t add = p.add();
	const auto end = Clock::now() + 60s;

	while (!stuck || !p.a.awake(FMAD)) {
		assert_true(Clock::now() < end);
		release = true;
		other.awaken(PUT8);
		p.process.awaken(add);
		stuck = release = false;
		/* No such operation. */
		if (!other.ring(uint64_t(99) << 32))
			eventually([&] { return stuck || other.over(); });
	}
	for (uint32_t n = 1; n <= aries::DoorbellPoll::LATE_MOST; n++) {
		assert_true(p.a.awake(FMAD));
		const uint64_t before = p.there();

		assert_false(p.process.ring(add));
		std::this_thread::sleep_for(1ms);
		assert_false(p.process.over());
		p.process.kick();
		assert_true(p.process.over());
		assert_int_equal(p.there(), before + 1);
	}
	assert_false(p.a.awake(FMAD));
	assert_true(p.process.ring(add));
	assert_true(p.process.over());
	release = true;
	assert_int_equal(other.wait(), ARIES_ST_BAD_OP);
	p.process.awaken(add);
}

} // namespace

TEST_MAIN("tests")
