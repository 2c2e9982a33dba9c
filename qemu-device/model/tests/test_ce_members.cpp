/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives and their members: stopped ones are not needed, lost ones end in an error for all (N24). */
#include "tests/child.hpp"
#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int IADD = 0x15;
constexpr unsigned int LOST_MS = 1000; /* lease 100 ms, and ticks for the way through the tree */

/*
 * Three nodes, one below the other: the root on 0, an engine on 1, one on 2;
 * each has its own endpoint as child 0 and the next engine as child 1.
 */
void set_up(Member &member, unsigned int n)
{
	std::vector<Child> children = {{ENDPOINT, n}};

	if (n < 2)
		children.push_back({ENGINE, n + 1, 0});
	assert_true(member.engine(0, children, {n != 0, n ? n - 1 : 0, 0, 1}));
}

uint64_t clock_ns()
{
	timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return uint64_t(ts.tv_sec) * 1000000000 + uint64_t(ts.tv_nsec);
}

uint32_t give(Member &member, unsigned int n, uint64_t value)
{
	member.prepare(n, 0, 0).operand[0] = value;
	return member.ring(IADD, ARIES_EV_LOCAL);
}

/** A process with node @n of the three; contributes if @give_value, then serves until it is killed. */
pid_t spawn(const std::string &path, unsigned int n, bool give_value)
{
	return start_child([&](auto ready) {
		Member member(path, n, 3);

		set_up(member, n);
		if (give_value && give(member, n, 100) != ARIES_ST_OK)
			_exit(1);
		ready();
		for (;;)
			member.host.main_loop(20);
	});
}

/** Turns the main loops of all until @done; milliseconds. */
template <typename F> unsigned int until(std::initializer_list<Member *> members, F &&done)
{
	for (unsigned int ms = 0; ms < 5000; ms++) {
		if (done())
			return ms;
		for (Member *member : members)
			member->host.main_loop();
		usleep(1000);
	}
	return UINT32_MAX;
}

/* The process in the middle, its engine and all, is stopped after its contribution. */
TEST(test_stopped_in_the_middle)
{
	const std::string path = fabric_path();
	Member root(path, 0, 3), leaf(path, 2, 3);
	int status;

	set_up(root, 0);
	set_up(leaf, 2);
	const pid_t middle = spawn(path, 1, true);

	kill(middle, SIGSTOP);
	assert_int_equal(waitpid(middle, &status, WUNTRACED), middle);
	assert_int_equal(give(root, 0, 1), ARIES_ST_OK);
	assert_false(root.done());
	assert_int_equal(give(leaf, 2, 10), ARIES_ST_OK);
	for (Member *member : {&root, &leaf}) {
		assert_int_equal(member->control(), ARIES_CER_DONE);
		assert_int_equal(member->result().result[0], 111);
		assert_int_equal(member->host.next_event(ENDPOINT_CQ).status(), ARIES_ST_OK);
	}
	kill_child(middle);
}

/* Whoever dies, before or after its contribution: the others have an error in bounded time, and keep having it. */
TEST(test_death)
{
	for (unsigned int victim = 0; victim < 3; victim++) {
		for (const bool contributes : {false, true}) {
			const std::string path = fabric_path();
			const pid_t child = spawn(path, victim, contributes);
			const unsigned int one = victim == 0, two = victim == 2 ? 1 : 2;
			Member a(path, one, 3), b(path, two, 3);

			set_up(a, one);
			set_up(b, two);
			if (!contributes) {
				assert_int_equal(give(a, one, 1), ARIES_ST_OK);
				assert_int_equal(give(b, two, 2), ARIES_ST_OK);
				kill_child(child);
				const unsigned int ms = until({&a, &b}, [&] { return a.done() && b.done(); });

				assert_true(ms < LOST_MS);
				for (Member *member : {&a, &b}) {
					assert_int_equal(member->status(), ARIES_ST_TIMEOUT);
					assert_int_equal(member->result().result[0], 0);
					assert_int_equal(member->host.next_event(ENDPOINT_CQ).status(),
							 ARIES_ST_TIMEOUT);
				}
			} else {
				/* Only one waits: the other learns it when it comes. */
				assert_int_equal(give(a, one, 1), ARIES_ST_OK);
				kill_child(child);
				assert_true(until({&a, &b}, [&] { return a.done(); }) < LOST_MS);
				assert_int_equal(a.status(), ARIES_ST_TIMEOUT);
			}
			usleep(1000);
			assert_true(until({&a, &b}, [&] {
					    return (a.host.read(ARIES_CE_STATUS_N(0), 8) &
						    b.host.read(ARIES_CE_STATUS_N(0), 8) & ARIES_CE_STATUS_BROKEN_MASK);
				    }) < LOST_MS);
			assert_int_equal(give(a, one, 1), ARIES_ST_TIMEOUT);
			assert_int_equal(give(b, two, 1), ARIES_ST_TIMEOUT);
			/* Made anew, without the dead, the engine works. */
			a.disable(0);
			assert_true(a.engine(0, {{ENDPOINT, one}}));
			assert_int_equal(give(a, one, 5), ARIES_ST_OK);
			assert_int_equal(a.result().result[0], 5);
		}
	}
}

/* A node that is back before anybody looked: its old collectives do not wait for ever. */
TEST(test_death_and_return)
{
	const std::string path = fabric_path();
	Member root(path, 0, 3), leaf(path, 2, 3);

	set_up(root, 0);
	set_up(leaf, 2);
	for (unsigned int round = 0; round < 2; round++) {
		const pid_t middle = spawn(path, 1, false);

		if (round) {
			root.disable(0);
			leaf.disable(0);
			set_up(root, 0);
			set_up(leaf, 2);
		}
		assert_int_equal(give(root, 0, 1), ARIES_ST_OK);
		assert_int_equal(give(leaf, 2, 1), ARIES_ST_OK);
		kill_child(middle);
		const pid_t next = spawn(path, 1, false);

		assert_true(until({&root, &leaf}, [&] { return root.done() && leaf.done(); }) < LOST_MS);
		assert_int_equal(root.status(), ARIES_ST_TIMEOUT);
		assert_int_equal(leaf.status(), ARIES_ST_TIMEOUT);
		kill_child(next);
		usleep(250000);
		until({&root, &leaf}, [n = 0]() mutable { return n++ > 3; });
	}
}

/* A reset, or an engine that its owner takes down, does the same to the others. */
TEST(test_reset_and_disable)
{
	for (unsigned int victim = 0; victim < 3; victim++) {
		for (const bool reset : {false, true}) {
			const std::string path = fabric_path();
			Member zero(path, 0, 3), one(path, 1, 3), two(path, 2, 3);
			Member *all[] = {&zero, &one, &two};

			for (unsigned int n = 0; n < 3; n++)
				set_up(*all[n], n);
			for (unsigned int n = 0; n < 3; n++) {
				if (n != (victim + 1) % 3)
					assert_int_equal(give(*all[n], n, 1), ARIES_ST_OK);
			}
			if (reset)
				all[victim]->host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
			else
				all[victim]->disable(0);
			Member *other = all[(victim + 2) % 3];

			assert_true(until({&zero, &one, &two}, [&] { return other->done(); }) < LOST_MS);
			assert_int_not_equal(other->status(), ARIES_ST_OK);
			if (!reset) {
				assert_true(all[victim]->done());
				assert_int_equal(all[victim]->status(), ARIES_ST_FLUSHED);
			}
			until({&zero, &one, &two}, [n = 0]() mutable { return n++ > 3; });
			assert_int_not_equal(give(*all[(victim + 1) % 3], (victim + 1) % 3, 1), ARIES_ST_OK);
		}
	}
}

/* The link of a member is cut: it and the others have an error, nobody waits. */
TEST(test_link_down)
{
	const std::string path = fabric_path();
	Member zero(path, 0, 3), one(path, 1, 3), two(path, 2, 3);
	Member *all[] = {&zero, &one, &two};
	char err[256];

	for (unsigned int n = 0; n < 3; n++)
		set_up(*all[n], n);
	assert_int_equal(give(zero, 0, 1), ARIES_ST_OK);
	assert_int_equal(give(one, 1, 1), ARIES_ST_OK);
	assert_int_equal(aries_nic_set_fault(two.host.nic(), "link", 0, err, sizeof(err)), 0);
	assert_int_equal(give(two, 2, 1), ARIES_ST_OK);
	assert_true(until({&zero, &one, &two}, [&] { return zero.done() && one.done() && two.done(); }) < LOST_MS);
	for (Member *member : all)
		assert_int_not_equal(member->status(), ARIES_ST_OK);
}

constexpr uint64_t INSTANCE = 77;
constexpr Child LEAF = {ENDPOINT, 1, 0, INSTANCE << 32 | ARIES_CE_CHILD_INST_VALID_MASK};
constexpr uint64_t PRESENT = INSTANCE | uint64_t(PTAG_A) << 32 | ARIES_CE_INST_VALID_MASK;

/* A process that ends, on another node than the engine, takes the tree with it; its node lives on. */
TEST(test_leaf_process_ends)
{
	for (const bool returns : {false, true}) {
		const std::string path = fabric_path();
		Member root(path, 0, 2), leaf(path, 1, 2);

		leaf.host.write64(ARIES_CE_INST_N(9), PRESENT);
		assert_int_equal(leaf.host.read(ARIES_CE_INST_N(9), 8), PRESENT);
		assert_true(root.engine(0, {{ENDPOINT, 0}, LEAF}));
		for (unsigned int round = 0; round < 3; round++) {
			assert_int_equal(give(root, 0, 1), ARIES_ST_OK);
			leaf.prepare(0, 0, 1).operand[0] = 2;
			assert_int_equal(leaf.ring(IADD), ARIES_ST_OK);
			assert_int_equal(root.control(), ARIES_CER_DONE);
			assert_int_equal(root.host.next_event(ENDPOINT_CQ).status(), ARIES_ST_OK);
			until({&root, &leaf}, [n = 0]() mutable { return n++ > 30; });
		}
		assert_int_equal(give(root, 0, 1), ARIES_ST_OK);
		leaf.host.write64(ARIES_CE_INST_N(9), 0);
		/* Another one of that name is not the one that was there. */
		if (returns)
			leaf.host.write64(ARIES_CE_INST_N(9), PRESENT);
		assert_true(until({&root, &leaf}, [&] { return root.done(); }) < LOST_MS);
		assert_int_equal(root.status(), ARIES_ST_TIMEOUT);
		assert_int_equal(root.host.next_event(ENDPOINT_CQ).status(), ARIES_ST_TIMEOUT);
		leaf.prepare(0, 0, 1);
		assert_int_equal(leaf.ring(IADD), ARIES_ST_TIMEOUT);
		/* Made anew, with the process that is there now. */
		leaf.host.write64(ARIES_CE_INST_N(9), PRESENT);
		root.disable(0);
		assert_true(root.engine(0, {{ENDPOINT, 0}, LEAF}));
		until({&root, &leaf}, [n = 0]() mutable { return n++ > 30; });
		assert_int_equal(root.host.read(ARIES_CE_STATUS_N(0), 8), 0);
	}
}

/* One that never comes is waited for, then given up; a namesake in another domain does not stand in for it. */
TEST(test_leaf_process_never_comes)
{
	for (const bool comes : {false, true}) {
		const std::string path = fabric_path();
		Member root(path, 0, 2), leaf(path, 1, 2);

		leaf.host.set_key(PTAG_A + 1, KEY + 1);
		leaf.host.write64(ARIES_CE_INST_N(0), PRESENT + (uint64_t(1) << 32));
		leaf.host.write64(ARIES_CE_INST_N(1), PRESENT & ~ARIES_CE_INST_VALID_MASK);
		assert_true(root.engine(0, {{ENDPOINT, 0}, LEAF}));
		assert_int_equal(give(root, 0, 1), ARIES_ST_OK);
		const uint64_t start = clock_ns();
		auto until_ms = [&](uint64_t ms) {
			until({&root, &leaf}, [&] { return root.done() || clock_ns() > start + ms * 1000000; });
		};

		until_ms(500);
		assert_false(root.done());
		if (comes)
			leaf.host.write64(ARIES_CE_INST_N(255), PRESENT);
		until_ms(4000);
		assert_int_equal(root.done(), !comes);
		if (comes)
			continue;
		assert_int_equal(root.status(), ARIES_ST_TIMEOUT);
	}
}

/*
 * Node 2 contributes last and dies at a step of its way down: the others have
 * result and events once, and a block that was used for something else since is
 * left alone.
 */
TEST(test_carrier_dies)
{
	constexpr unsigned int STEPS = 16; /* 3 stores and 2 events for each of three, and the engine's event */

	for (unsigned int step = 1; step <= STEPS; step++) {
		const std::string path = fabric_path();
		Member zero(path, 0, 3), one(path, 1, 3);
		Member *both[] = {&zero, &one};
		bool reused[2] = {};
		int status;

		assert_true(zero.engine(0, {{ENDPOINT, 0}, {ENDPOINT, 1}, {ENDPOINT, 2}}, {}, 2,
					ARIES_CE_CTL_CQ_VALID_MASK | uint64_t(ENGINE_CQ) << 40));
		for (unsigned int n = 0; n < 2; n++) {
			both[n]->prepare(0, 0, n).operand[0] = 1 + n;
			assert_int_equal(both[n]->ring(IADD, ARIES_EV_LOCAL | ARIES_EV_GLOBAL), ARIES_ST_OK);
		}
		const pid_t pid = quiet_fork();

		if (pid == 0) {
			char err[256];
			Member carrier(path, 2, 3);

			aries_nic_set_fault(carrier.host.nic(), "carrier", step, err, sizeof(err));
			carrier.prepare(0, 0, 2).operand[0] = 10;
			carrier.ring(IADD, ARIES_EV_LOCAL | ARIES_EV_GLOBAL);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		for (unsigned int turn = 0; turn < 400; turn++) {
			for (unsigned int n = 0; n < 2; n++) {
				both[n]->host.main_loop();
				if (reused[n] || !both[n]->done())
					continue;
				assert_int_equal(both[n]->control(), ARIES_CER_DONE);
				assert_int_equal(both[n]->result().result[0], 13);
				both[n]->result() = {0x4242, {0x4343, 0x4444}};
				reused[n] = true;
			}
			usleep(1000);
		}
		for (unsigned int n = 0; n < 2; n++) {
			assert_true(reused[n]);
			assert_int_equal(both[n]->result().control, 0x4242);
			assert_int_equal(both[n]->result().result[0], 0x4343);
			for (const unsigned int info : {ARIES_INFO_LOCAL, ARIES_INFO_GLOBAL}) {
				const auto event = both[n]->host.next_event(ENDPOINT_CQ);

				assert_true(bool(event));
				assert_int_equal(event.status(), ARIES_ST_OK);
				assert_int_equal(event.data(), 0x1111);
				assert_int_equal(event.info(), info);
			}
			assert_false(bool(both[n]->host.next_event(ENDPOINT_CQ)));
		}
		assert_true(bool(zero.host.next_event(ENGINE_CQ)));
		assert_false(bool(zero.host.next_event(ENGINE_CQ)));
	}
}

/* Teardown of a tree whose last operation is over breaks nothing for anybody. */
TEST(test_orderly_end)
{
	const std::string path = fabric_path();
	Member zero(path, 0, 3), one(path, 1, 3), two(path, 2, 3);
	Member *all[] = {&zero, &one, &two};

	for (unsigned int round = 0; round < 5; round++) {
		for (unsigned int n = 0; n < 3; n++)
			set_up(*all[n], n);
		for (unsigned int n = 0; n < 3; n++)
			assert_int_equal(give(*all[(n + round) % 3], (n + round) % 3, 1), ARIES_ST_OK);
		for (unsigned int n = 0; n < 3; n++) {
			assert_int_equal(all[n]->control(), ARIES_CER_DONE);
			assert_int_equal(all[n]->result().result[0], 3);
			assert_int_equal(all[n]->host.next_event(ENDPOINT_CQ).status(), ARIES_ST_OK);
			all[n]->disable(0);
			assert_false(bool(all[n]->host.next_event(ENDPOINT_CQ)));
		}
		until({&zero, &one, &two}, [n = 0]() mutable { return n++ > 1; });
	}
}

} // namespace

TEST_MAIN("tests")
