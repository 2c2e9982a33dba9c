/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node in a process of its own, which may be killed, and in whose name locks can be held. */
#ifndef ARIES_TESTS_PEER_PROCESS_HPP
#define ARIES_TESTS_PEER_PROCESS_HPP

#include "tests/child.hpp"
#include "tests/fake_host.hpp"
#include "tests/raw_segment.hpp"

namespace aries_test
{

/**
 * Starts a process with node @node, which serves until it is killed.
 * @prepare: called there with the node's FakeHost before the node counts as ready
 */
template <typename Prepare>
pid_t start_node(const std::string &path, uint32_t node, const FakeHost::Options &options, Prepare &&prepare)
{
	return start_child([&](auto ready) {
		FakeHost host(path, node, options);

		prepare(host);
		ready();
		for (;;)
			host.main_loop(20);
	});
}

class PeerProcess
{
public:
	PeerProcess(const std::string &path, uint32_t node)
		: node_(node), pid_(start_node(path, node, {}, [](FakeHost &) {}))
	{
	}
	~PeerProcess() { kill(); }
	PeerProcess(const PeerProcess &) = delete;
	PeerProcess &operator=(const PeerProcess &) = delete;

	/** What says in a lock that this process has it. */
	uint32_t lock_word(RawSegment &raw) const
	{
		return (node_ + 1) | uint32_t(raw.node(node_).member.load() >> 32) << 16;
	}
	void kill()
	{
		if (pid_)
			kill_child(pid_);
		pid_ = 0;
	}
	/** Kills it, and waits until @finder knows: until the lease has run out a dead member counts as silent. */
	void bury(FakeHost &finder, RawSegment &raw)
	{
		kill();
		for (unsigned int i = 0; uint32_t(raw.node(node_).member.load()) == aries::MEMBER_ALIVE; i++) {
			assert_true(i < 1000);
			usleep(10000);
			finder.main_loop();
		}
	}

private:
	uint32_t node_;
	pid_t pid_;
};

} // namespace aries_test

#endif
