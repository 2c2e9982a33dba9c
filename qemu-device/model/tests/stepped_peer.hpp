/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node 1 of a fabric in a process that is stopped after any number of instructions of one operation. */
#ifndef ARIES_TESTS_STEPPED_PEER_HPP
#define ARIES_TESTS_STEPPED_PEER_HPP

#include <algorithm>
#include <random>
#include <vector>

#include <sys/ptrace.h>

#include "tests/child.hpp"
#include "tests/pair.hpp"
#include "tests/raw_segment.hpp"

namespace aries_test
{

class SteppedPeer
{
public:
	/**
	 * @prepare: called in the child before it is looked at, with its host
	 * @operation: called once there so that everything is mapped, then a second time to be stepped through
	 */
	template <typename Prepare, typename Operation>
	SteppedPeer(const std::string &path, const FakeHost::Options &options, Prepare &&prepare, Operation &&operation)
		: SteppedPeer([&] { return FakeHost(path, 1, options); }, prepare, operation,
			      [](FakeHost &host) { host.main_loop(20); })
	{
	}
	/**
	 * @make: called in the child, returns its node
	 * @serve: called there over and over when the operation is done
	 */
	template <typename Make, typename Prepare, typename Operation, typename Serve>
	SteppedPeer(Make &&make, Prepare &&prepare, Operation &&operation, Serve &&serve)
	{
		pid_ = quiet_fork();
		assert_true(pid_ >= 0);
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			auto node = make();

			prepare(node);
			operation(node);
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			operation(node);
			raise(SIGSTOP);
			for (;;)
				serve(node);
		}
		int status;

		assert_int_equal(waitpid(pid_, &status, 0), pid_);
		assert_true(WIFSTOPPED(status));
	}
	~SteppedPeer()
	{
		if (pid_)
			kill_now();
	}
	SteppedPeer(const SteppedPeer &) = delete;
	SteppedPeer &operator=(const SteppedPeer &) = delete;

	/** One instruction. False: the operation is over. */
	bool step()
	{
		int status;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid_, 0, 0), 0);
		assert_int_equal(waitpid(pid_, &status, 0), pid_);
		return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	}
	/** It runs on by itself. */
	void go_on() const { ptrace(PTRACE_DETACH, pid_, 0, 0); }
	/** Whether it has stopped at the end of its operation, which it went on with; true once. */
	bool ended() const
	{
		int status;

		return waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_ && WIFSTOPPED(status);
	}
	/** Goes on to serve. */
	void serve() const { kill(pid_, SIGCONT); }
	void kill_now()
	{
		kill_child(pid_);
		pid_ = 0;
	}
	pid_t pid() const { return pid_; }

private:
	pid_t pid_;
};

/** Whether this process may look at its children so. */
inline bool can_trace()
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/** ARIES_FUZZ_SEED, or any. */
inline uint64_t seed()
{
	static const char *const text = getenv("ARIES_FUZZ_SEED");
	static const uint64_t value = text ? strtoull(text, nullptr, 0) : std::random_device{}();

	return value;
}

/**
 * Counts of instructions out of @all where to stop: @points of them, at the same distance from each other and beginning
 * anywhere, or every one with OPENGNI_SLOW.
 */
inline std::vector<unsigned int> stops(std::mt19937_64 &random, unsigned int all, unsigned int points)
{
	const unsigned int stride = getenv("OPENGNI_SLOW") ? 1 : std::max(1u, all / points);
	std::vector<unsigned int> counts;

	for (unsigned int count = unsigned(random() % stride); count < all; count += stride)
		counts.push_back(count);
	return counts;
}

/**
 * main() of a program with one test for each of @all, or for those of the names that are its arguments. @test gets it
 * as its state.
 */
template <typename Operation>
int run_stepped(const char *group, std::initializer_list<const Operation *> all, CMUnitTestFunction test, int argc,
		char **argv)
{
	std::vector<CMUnitTest> tests;

	if (!can_trace()) {
		printf("ptrace is not permitted here: skipped\n");
		return 77;
	}
	for (const Operation *operation : all) {
		if (argc < 2 || std::any_of(argv + 1, argv + argc,
					    [operation](const char *name) { return !strcmp(name, operation->name); }))
			tests.push_back({operation->name, test, nullptr, nullptr, const_cast<Operation *>(operation)});
	}
	return _cmocka_run_group_tests(group, tests.data(), tests.size(), nullptr, nullptr);
}

/** Whether node @initiator is in a visit to @target. */
inline bool visiting(RawSegment &raw, uint32_t target, uint32_t initiator)
{
	for (uint32_t lane = 0; lane < aries::FLIGHT_LANES; lane++) {
		for (const auto &visits : raw.flight(target, initiator, lane).inflight) {
			if (visits.load())
				return true;
		}
	}
	return false;
}

} // namespace aries_test

#endif
