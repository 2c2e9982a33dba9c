/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives and their members: stopped ones are not needed, lost ones end in an error for all (N24). */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

uint32_t give(Member &member, unsigned int n, uint64_t value)
{
	member.prepare(n, 0, 0).operand[0] = value;
	return member.ring(IADD, ARIES_EV_LOCAL);
}

/** A process with node @n of the three; contributes if @give_value, then serves until it is killed. */
pid_t spawn(const std::string &path, unsigned int n, bool give_value)
{
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		Member member(path, n, 3);

		set_up(member, n);
		if (give_value && give(member, n, 100) != ARIES_ST_OK)
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			member.host.main_loop(20);
	}
	char byte;

	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
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
void test_stopped_in_the_middle(void **)
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
	end(middle);
}

/* Whoever dies, before or after its contribution: the others have an error in bounded time, and keep having it. */
void test_death(void **)
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
				end(child);
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
				end(child);
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
void test_death_and_return(void **)
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
		end(middle);
		const pid_t next = spawn(path, 1, false);

		assert_true(until({&root, &leaf}, [&] { return root.done() && leaf.done(); }) < LOST_MS);
		assert_int_equal(root.status(), ARIES_ST_TIMEOUT);
		assert_int_equal(leaf.status(), ARIES_ST_TIMEOUT);
		end(next);
		usleep(250000);
		until({&root, &leaf}, [n = 0]() mutable { return n++ > 3; });
	}
}

/* A reset, or an engine that its owner takes down, does the same to the others. */
void test_reset_and_disable(void **)
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
void test_link_down(void **)
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

/* Teardown of a tree whose last operation is over breaks nothing for anybody. */
void test_orderly_end(void **)
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

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_in_the_middle),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_death_and_return),
		cmocka_unit_test(test_reset_and_disable),
		cmocka_unit_test(test_link_down),
		cmocka_unit_test(test_orderly_end),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
