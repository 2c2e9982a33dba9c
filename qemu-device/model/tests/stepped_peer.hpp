/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node 1 of a fabric in a process that is stopped after any number of instructions of one operation. */
#ifndef ARIES_TESTS_STEPPED_PEER_HPP
#define ARIES_TESTS_STEPPED_PEER_HPP

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
	{
		pid_ = quiet_fork();
		assert_true(pid_ >= 0);
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			FakeHost host(path, 1, options);

			prepare(host);
			operation(host);
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			operation(host);
			raise(SIGSTOP);
			for (;;)
				host.main_loop(20);
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
	void kill_now()
	{
		kill_child(pid_);
		pid_ = 0;
	}
	pid_t pid() const { return pid_; }

private:
	pid_t pid_;
};

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
