/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One teardown for all that a peer may touch: revoked, drained, only then anybody else's. The peer is stopped anywhere
 * in its access, as by SIGSTOP, the freezer or a debugger, and goes on or is killed later.
 */
#include <array>
#include <atomic>
#include <thread>

#include "tests/peer_process.hpp"
#include "tests/stepped_peer.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int CQ = 21, CHANNEL = 4, RECEIVE = 3;
constexpr uint8_t MARK = 0x5a;
constexpr uint16_t IADD = 0x15;
const FakeHost::Options OPTIONS = {.nodes = 3, .lease_ms = 50};

/** Node 0, whose memory and queue node 1 writes to. */
struct Target {
	const std::string path = fabric_path();
	FakeHost host{path, 0, OPTIONS};
	RawSegment raw{path};
	uint64_t region;
	uint64_t slots;

	Target()
	{
		host.set_key(PTAG_A, KEY);
		host.make_cq(CQ, 6, OWNER);
		region = host.alloc(BYTES);
		host.make_mdd(MDH, PTAG_A, region, BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(CQ) << 24);
		slots = host.read(ARIES_CQ_BASE_N(uint64_t(CQ)), 8) + ARIES_CQ_HEADER_BYTES;
	}
	bool done() const { return !host.read(ARIES_INV_STATUS, 4); }
	bool waits() const
	{
		for (unsigned int i = 0; i < 20; i++) {
			host.main_loop();
			if (done())
				return false;
		}
		return true;
	}
	/** Generous: only what never ends is meant. */
	void wait_done(const char *what) const
	{
		for (unsigned int i = 0; i < 20000 && !done(); i++) {
			host.main_loop();
			usleep(1000);
		}
		if (!done())
			fail_msg("%s: the drain does not end, though nobody is stopped", what);
	}
};

void aim(FakeHost &host)
{
	host.set_key(PTAG_B, KEY);
	host.enable_fmad(FMAD, PTAG_B, OWNER);
	host.desc(FMAD) = {};
	host.desc(FMAD).mdh = MDH;
	host.desc(FMAD).offset = BASE;
	host.desc(FMAD).remote_event = 0x7777;
}

void put(FakeHost &host)
{
	memset(host.line(FMAD), 0x77, 8);
	host.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_REMOTE);
}

/**
 * Stops a peer in each @stride-th instruction of @operation for which @inside holds, takes @revoke()d memory at @place
 * away, and lets the peer go on, or kills it every third time. Nobody writes there once the drain says that it is free.
 */
template <typename Revoke, typename Inside>
void check_teardown(const char *what, void (*operation)(FakeHost &), unsigned int stride, Inside &&inside,
		    Revoke &&revoke)
{
	unsigned int stops = 0;

	for (unsigned int skip = 0;; skip += stride) {
		Target t;
		SteppedPeer peer(t.path, OPTIONS, aim, operation);
		unsigned int behind = 0;
		bool there = false;

		while (!there && peer.step())
			there = inside(t);
		for (; behind < skip && there && peer.step(); behind++)
			there = inside(t);
		if (!there)
			break;
		stops++;
		const uint64_t place = revoke(t);

		if (!t.waits())
			fail_msg("%s: memory is called free while a peer is stopped %u instructions into its access",
				 what, behind);
		if (stops % 3 == 0)
			peer.kill_now();
		else
			peer.go_on();
		t.wait_done(what);
		memset(t.host.ram(place), MARK, 512);
		for (unsigned int i = 0; i < 20; i++)
			t.host.main_loop(1);
		for (unsigned int i = 0; i < 512; i++) {
			if (t.host.ram(place)[i] != MARK)
				fail_msg("%s: written to at byte %u after it was free (stopped after %u instructions)",
					 what, i, behind);
		}
	}
	assert_true(stops >= 3);
}

bool in_visit(Target &t)
{
	return visiting(t.raw, 0, 1);
}

bool in_queue_lock(Target &t)
{
	return t.raw.node(0).cq[CQ].lock.load() != 0;
}

TEST(test_memory_domain)
{
	check_teardown("memory domain", put, 97, in_visit, [](Target &t) {
		t.host.write32(ARIES_INV_MDD, MDH);
		return t.region;
	});
}

/* The lock cannot be had: its holder does not run. */
TEST(test_queue)
{
	check_teardown("queue", put, 11, in_queue_lock, [](Target &t) {
		t.host.write64(ARIES_CQ_CTL_N(uint64_t(CQ)), 0);
		assert_int_equal(t.host.read(ARIES_CQ_CTL_N(uint64_t(CQ)), 8), 0);
		return t.slots;
	});
}

TEST(test_reset)
{
	check_teardown("reset", put, 151, in_visit, [](Target &t) {
		aries_nic_set_bus_master(t.host.nic(), false);
		aries_nic_reset(t.host.nic());
		assert_false(aries_nic_drained(t.host.nic()));
		assert_true(t.host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_BUSY_MASK);
		/* Nothing of a new life mixes with the old one. */
		t.host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		assert_false(t.host.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_ENABLED_MASK);
		t.host.set_key(PTAG_A, KEY);
		assert_int_equal(t.host.read(ARIES_PTAG_KEY_N(uint64_t(PTAG_A)), 8), 0);
		return t.region;
	});
}

TEST(test_bus_master)
{
	check_teardown("bus mastering", put, 173, in_visit, [](Target &t) {
		aries_nic_set_bus_master(t.host.nic(), false);
		assert_false(aries_nic_drained(t.host.nic()));
		return t.region;
	});
}

/* A number that is still being drained is not given anew; others are. */
TEST(test_numbers)
{
	Target t;
	SteppedPeer peer(t.path, OPTIONS, aim, put);

	while (!in_queue_lock(t))
		assert_true(peer.step());
	const uint64_t ctl = t.host.read(ARIES_CQ_CTL_N(uint64_t(CQ)), 8);
	const uint64_t domain = t.host.read(ARIES_MDD_CTL_N(uint64_t(MDH)), 8);
	const uint64_t before = t.host.read(ARIES_INV_SEQ, 8);

	assert_int_equal(t.host.read(ARIES_INV_DONE, 8), before);
	t.host.write64(ARIES_CQ_CTL_N(uint64_t(CQ)), 0);
	assert_int_equal(t.host.read(ARIES_INV_SEQ, 8), before + 1);
	t.host.write32(ARIES_INV_MDD, MDH);
	assert_int_equal(t.host.read(ARIES_INV_SEQ, 8), before + 2);
	assert_int_equal(t.host.read(ARIES_INV_DONE, 8), before);

	t.host.write64(ARIES_CQ_CTL_N(uint64_t(CQ)), ctl);
	assert_int_equal(t.host.read(ARIES_CQ_CTL_N(uint64_t(CQ)), 8), 0);
	t.host.write64(ARIES_MDD_CTL_N(uint64_t(MDH)), domain);
	assert_int_equal(t.host.read(ARIES_MDD_CTL_N(uint64_t(MDH)), 8), 0);
	t.host.make_cq(CQ + 1, 6, OWNER);
	t.host.make_mdd(MDH + 1, PTAG_A, t.host.alloc(BYTES), BYTES, BASE);

	peer.go_on();
	t.wait_done("two at once");
	assert_int_equal(t.host.read(ARIES_INV_DONE, 8), before + 2);
	t.host.write64(ARIES_CQ_CTL_N(uint64_t(CQ)), ctl);
	assert_int_equal(t.host.read(ARIES_CQ_CTL_N(uint64_t(CQ)), 8), ctl);
	t.host.write64(ARIES_MDD_CTL_N(uint64_t(MDH)), domain);
	assert_int_equal(t.host.read(ARIES_MDD_CTL_N(uint64_t(MDH)), 8), domain);
}

void contribute(FakeHost &host)
{
	aries_fma_desc &desc = host.desc(FMAD);

	desc.offset = 0; /* child 0 of engine 0 */
	desc.local_mdh = LOCAL_MDH;
	desc.local_offset = BASE;
	host.ring(FMAD, ARIES_FMA_CE, 0, 0, 0, IADD);
}

/* An engine is stopped at once, whoever has its lock, and begins again only when that one has left. */
TEST(test_engine)
{
	Target t;
	SteppedPeer peer(
		t.path, OPTIONS,
		[](FakeHost &host) {
			aim(host);
			host.make_mdd(LOCAL_MDH, PTAG_B, host.alloc(BYTES), BYTES, BASE);
		},
		contribute);
	const uint64_t ctl = ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_A) << 8 | uint64_t(OWNER) << 16 |
			     uint64_t(1) << __builtin_ctzll(ARIES_CE_CTL_CHILDREN_MASK);
	bool met = false;

	t.host.write64(ARIES_CE_CHILD_N(0), uint64_t(1) << __builtin_ctzll(ARIES_CE_CHILD_PE_MASK) |
						    uint64_t(2) << __builtin_ctzll(ARIES_CE_CHILD_KIND_MASK));
	t.host.write64(ARIES_CE_CTL_N(0), ctl);
	assert_int_equal(t.host.read(ARIES_CE_CTL_N(0), 8), ctl);
	while (!met && peer.step())
		met = t.raw.node(0).ce[0].lock.load() != 0;
	assert_true(met);
	t.host.write64(ARIES_CE_CTL_N(0), 0);
	assert_int_equal(t.host.read(ARIES_CE_CTL_N(0), 8), 0);
	assert_true(t.waits());
	t.host.write64(ARIES_CE_CTL_N(0), ctl);
	assert_int_equal(t.host.read(ARIES_CE_CTL_N(0), 8), 0);
	peer.go_on();
	t.wait_done("engine");
	t.host.write64(ARIES_CE_CTL_N(0), ctl);
	assert_int_equal(t.host.read(ARIES_CE_CTL_N(0), 8), ctl);
	assert_int_equal(t.host.read(ARIES_CE_STATUS_N(0), 8), 0);
}

/** Nodes that put to node 0 without a pause; what each thread has done is counted. */
struct Traffic {
	static constexpr unsigned int PEERS = 3, THREADS = 4;
	static constexpr uint64_t LENGTH = 1 << 18;
	std::vector<std::unique_ptr<FakeHost>> peers;
	std::vector<std::thread> threads;
	std::array<std::atomic<uint64_t>, PEERS * THREADS> finished{};
	std::atomic<bool> stop{false};

	Traffic(const std::string &path, const FakeHost::Options &options)
	{
		for (unsigned int n = 0; n < PEERS; n++) {
			peers.push_back(std::make_unique<FakeHost>(path, n + 1, options));
			FakeHost &peer = *peers.back();

			peer.set_key(PTAG_A, KEY);
			peer.make_mdd(LOCAL_MDH, PTAG_A, peer.alloc(LENGTH), LENGTH, BASE);
			for (unsigned int i = 0; i < THREADS; i++)
				threads.emplace_back(
					[this, &peer, n, i] { run(peer, i + 1, finished[n * THREADS + i]); });
		}
	}
	~Traffic()
	{
		stop = true;
		for (std::thread &thread : threads)
			thread.join();
	}
	void run(const FakeHost &peer, unsigned int fmad, std::atomic<uint64_t> &count) const
	{
		peer.enable_fmad(fmad, PTAG_A, OWNER);
		while (!stop) {
			peer.slot(fmad, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, LENGTH, 0);
			peer.slot(fmad, 0).pe = 0;
			peer.ring_bte(fmad, 0);
			while (peer.read(ARIES_FMAD_STATUS_N(uint64_t(fmad)), 8) & ARIES_FMAD_STATUS_BUSY_MASK)
				sched_yield();
			count++;
		}
	}
	/** Until each thread has begun and ended a transfer: what was under way has ended by then. */
	void pass() const
	{
		for (const auto &count : finished) {
			for (const uint64_t from = count; count < from + 2;)
				sched_yield();
		}
	}
};

/* Drains that overlap end, whatever goes on: counted in transfers, not in time. */
TEST(test_overlap)
{
	constexpr unsigned int ROUNDS = 3, LOOKS = 20;
	const FakeHost::Options options = {.nodes = Traffic::PEERS + 1};
	const std::string path = fabric_path();
	FakeHost target(path, 0, options);
	unsigned int worst = 0;

	target.set_key(PTAG_B, KEY);
	target.make_mdd(MDH, PTAG_B, target.alloc(Traffic::LENGTH), Traffic::LENGTH, BASE);
	{
		const Traffic traffic(path, options);

		for (unsigned int round = 0; round < ROUNDS && worst < LOOKS; round++) {
			target.write64(ARIES_VMDH_CTL_N(0), ARIES_VMDH_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 |
								    uint64_t(100) << 16 | uint64_t(1) << 32);
			target.write32(ARIES_INV_MDD, 77);
			target.write64(ARIES_VMDH_CTL_N(0), 0);
			unsigned int looks = 0;

			for (; target.read(ARIES_INV_STATUS, 4) && looks < LOOKS; looks++)
				traffic.pass();
			worst = std::max(worst, looks);
		}
	}
	if (worst >= LOOKS)
		fail_msg("two drains at once have not ended though all that was under way has, %u times over", LOOKS);
}

/* One line says who is waited for. */
TEST(test_told)
{
	Target t;
	SteppedPeer peer(t.path, OPTIONS, aim, put);
	const std::string who = "node 1 (pid " + std::to_string(peer.pid()) + ")";

	while (!in_visit(t))
		assert_true(peer.step());
	t.host.write32(ARIES_INV_MDD, MDH);
	for (unsigned int i = 0; i < 1000 && !t.host.warnings; i++)
		t.host.main_loop(10);
	for (unsigned int i = 0; i < 50; i++)
		t.host.main_loop(10);
	assert_int_equal(t.host.warnings, 1);
	if (t.host.warning.find(who) == std::string::npos)
		fail_msg("the warning does not name %s: %s", who.c_str(), t.host.warning.c_str());
}

/* A node address is not given anew while an access to its former owner's memory may go on. */
TEST(test_join)
{
	const std::string path = fabric_path();
	const pid_t owner = start_node(path, 0, OPTIONS, [](FakeHost &host) {
		host.set_key(PTAG_A, KEY);
		host.make_mdd(MDH, PTAG_A, host.alloc(BYTES), BYTES, BASE);
	});
	RawSegment raw(path);
	SteppedPeer peer(path, OPTIONS, aim, [](FakeHost &host) { host.ring(FMAD, ARIES_FMA_PUT_LINE, 8); });
	const std::string who = "node 1 (pid " + std::to_string(peer.pid()) + ")";

	while (!visiting(raw, 0, 1))
		assert_true(peer.step());
	kill_child(owner);
	std::string why;

	try {
		FakeHost host(path, 0, OPTIONS);
	} catch (const std::string &error) {
		why = error;
	}
	if (why.find(who) == std::string::npos)
		fail_msg("the error does not name %s: %s", who.c_str(), why.c_str());
	peer.kill_now();
	FakeHost host(path, 0, OPTIONS);
}

} // namespace

TEST_MAIN("drain")
