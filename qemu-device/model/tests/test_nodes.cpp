/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NODE: which nodes are there, and how their changes are told. */
#include <csignal>
#include <optional>

#include "tests/child.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int VECTOR = 3;
constexpr unsigned int BOUND_MS = 20000;

struct State {
	uint32_t state;
	uint32_t life;
};

State state_of(const FakeHost &host, unsigned int node)
{
	const uint64_t word = host.read(ARIES_NODE_STATE_N(uint64_t(node)), 8);

	return {uint32_t(word & ARIES_NODE_STATE_STATE_MASK), uint32_t(word >> 32)};
}

/** Nodes that have changed, of the first 64; acknowledged. */
uint64_t take_changed(const FakeHost &host)
{
	const uint64_t changed = host.read(ARIES_NODE_CHANGED_N(0), 8);

	host.write64(ARIES_NODE_CHANGED_N(0), changed);
	return changed;
}

void enable(const FakeHost &host)
{
	host.write32(ARIES_NODE_CTL, ARIES_NODE_CTL_ENABLE_MASK | VECTOR << 8);
}

unsigned int interrupts(FakeHost &host)
{
	return host.irqs[VECTOR].exchange(0);
}

/** One tick of the host, which is what the unit works by. */
void tick(FakeHost &host)
{
	aries_nic_tick(host.nic());
}

/** Ticks until the node is in that state; whether it came. */
bool reaches(FakeHost &host, unsigned int node, uint32_t state)
{
	for (unsigned int ms = 0; ms < BOUND_MS && state_of(host, node).state != state; ms++) {
		tick(host);
		usleep(1000);
	}
	return state_of(host, node).state == state;
}

/** A child process with a NIC at node 1, enabled. */
pid_t spawn(const std::string &path)
{
	return start_child([&](auto ready) {
		FakeHost host(path, 1);

		ready();
		for (;;)
			host.main_loop(20);
	});
}

TEST(test_life_of_a_node)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);
	std::optional<FakeHost> b;

	assert_int_equal(state_of(a, 0).state, ARIES_NODE_UP);
	assert_int_equal(state_of(a, 0).life, a.read(ARIES_CTL_GENERATION, 4));
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_NEVER);
	/* outside of the fabric */
	assert_int_equal(a.read(ARIES_NODE_STATE_N(2), 8), 0);
	assert_int_equal(a.read(ARIES_NODE_STATE_N(255), 8), 0);
	b.emplace(path, 1);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	const uint32_t life = state_of(a, 1).life;

	b->write32(ARIES_CTL_CONTROL, 0);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_OFF);
	b->write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
	aries_nic_set_bus_master(b->nic(), false);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_OFF);
	aries_nic_set_bus_master(b->nic(), true);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	assert_int_equal(state_of(a, 1).life, life);
	b->restart();
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	assert_int_equal(state_of(a, 1).life, life + 1);
	b.reset();
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_LEFT);
	b.emplace(path, 1);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	assert_true(state_of(a, 1).life > life + 1);
}

/* The interrupt is a level: it comes until somebody has acknowledged, and not without ENABLE. */
TEST(test_changes_are_told)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);

	tick(a);
	tick(a);
	assert_int_equal(interrupts(a), 0);
	/* what there is already */
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(0), 8), 1);
	enable(a);
	assert_int_equal(interrupts(a), 1);
	tick(a);
	tick(a);
	assert_int_equal(interrupts(a), 2);
	assert_int_equal(take_changed(a), 1);
	tick(a);
	assert_int_equal(interrupts(a), 0);
	FakeHost b(path, 1);

	tick(a);
	assert_int_equal(interrupts(a), 1);
	assert_int_equal(take_changed(a), 2);
	/* who acknowledges one node does not lose another */
	a.restart();
	b.restart();
	enable(a);
	tick(a);
	a.write64(ARIES_NODE_CHANGED_N(0), 1);
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(0), 8), 2);
	interrupts(a);
	tick(a);
	assert_int_equal(interrupts(a), 1);
	a.write32(ARIES_NODE_CTL, 0);
	tick(a);
	assert_int_equal(interrupts(a), 0);
	assert_int_equal(take_changed(a), 2);
}

/* However often a node goes and comes while nobody looks: one bit, and another life. */
TEST(test_slow_reader)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);
	std::optional<FakeHost> b;

	b.emplace(path, 1);
	enable(a);
	tick(a);
	take_changed(a);
	const State before = state_of(a, 1);

	for (int i = 0; i < 3; i++) {
		b.reset();
		if (i == 1)
			tick(a);
		b.emplace(path, 1);
	}
	tick(a);
	assert_int_equal(take_changed(a), 2);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	assert_true(state_of(a, 1).life > before.life);
	tick(a);
	assert_int_equal(take_changed(a), 0);
	/* between two ticks, so nobody has seen it away */
	b->restart();
	tick(a);
	assert_int_equal(take_changed(a), 2);
}

TEST(test_killed_and_stopped)
{
	const std::string path = fabric_path();
	pid_t child = spawn(path);
	FakeHost a(path, 0);

	enable(a);
	assert_true(reaches(a, 1, ARIES_NODE_UP));
	tick(a);
	take_changed(a);
	/* much longer than a lease */
	kill(child, SIGSTOP);
	for (int i = 0; i < 60; i++) {
		tick(a);
		usleep(10000);
	}
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	assert_int_equal(take_changed(a), 0);
	kill(child, SIGCONT);
	const uint32_t life = state_of(a, 1).life;

	for (unsigned int round = 0; round < 3; round++) {
		interrupts(a);
		kill_child(child);
		assert_true(reaches(a, 1, ARIES_NODE_DEAD));
		tick(a);
		assert_true(interrupts(a) > 0);
		assert_int_equal(take_changed(a), 2);
		child = spawn(path);
		assert_true(reaches(a, 1, ARIES_NODE_UP));
		tick(a);
		assert_int_equal(take_changed(a), 2);
		assert_true(state_of(a, 1).life > life + round);
	}
	/* killed while it was stopped is killed */
	kill(child, SIGSTOP);
	kill_child(child);
	assert_true(reaches(a, 1, ARIES_NODE_DEAD));
}

/* After a reset of one's own NIC every node there ever was has changed, and nothing is told before it is asked for. */
TEST(test_own_reset)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0), b(path, 1);

	enable(a);
	tick(a);
	take_changed(a);
	aries_nic_reset(a.nic());
	assert_int_equal(a.read(ARIES_NODE_CTL, 4), 0);
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(0), 8), 0);
	assert_int_equal(state_of(a, 0).state, ARIES_NODE_OFF);
	assert_int_equal(state_of(a, 1).state, ARIES_NODE_UP);
	interrupts(a);
	tick(a);
	assert_int_equal(interrupts(a), 0);
	enable(a);
	assert_int_equal(interrupts(a), 1);
	assert_int_equal(take_changed(a), 3);
}

TEST(test_large_fabric)
{
	const std::string path = fabric_path();
	const FakeHost::Options options = {.nodes = 256};
	FakeHost a(path, 0, options), b(path, 255, options);

	enable(a);
	tick(a);
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(0), 8), 1);
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(1), 8), 0);
	assert_int_equal(a.read(ARIES_NODE_CHANGED_N(3), 8), uint64_t(1) << 63);
	assert_int_equal(state_of(a, 255).state, ARIES_NODE_UP);
	assert_int_equal(state_of(a, 254).state, ARIES_NODE_NEVER);
	take_changed(a);
	interrupts(a);
	tick(a);
	assert_int_equal(interrupts(a), 1);
	a.write64(ARIES_NODE_CHANGED_N(3), uint64_t(1) << 63);
	tick(a);
	assert_int_equal(interrupts(a), 0);
}

TEST(test_bad_input)
{
	FakeHost a(fabric_path(), 0);

	a.write32(ARIES_NODE_CTL, ARIES_MSIX_VECTORS << 8);
	assert_int_equal(a.guest_errors, 1);
	assert_int_equal(a.read(ARIES_NODE_CTL, 4), 0);
	a.write32(ARIES_NODE_CTL, (ARIES_MSIX_VECTORS - 1) << 8);
	assert_int_equal(a.guest_errors, 1);
	assert_int_equal(a.read(ARIES_NODE_CTL, 4), (ARIES_MSIX_VECTORS - 1) << 8);
	a.write64(ARIES_NODE_STATE_N(0), 0);
	assert_int_equal(a.guest_errors, 2);
}

} // namespace

TEST_MAIN("tests")
