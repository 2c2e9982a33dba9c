/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four nodes on one word: no update is lost in a million. Once with a process for each node, as virtual machines are,
 * once with a thread for each.
 */
#include <algorithm>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/child.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int NODES = 4;
constexpr uint64_t ADDS = 250000;
constexpr unsigned int FADD = 0x008, FADD_C = 0x018;

/** Which commands the nodes use, and whether the word's node updates its memory lazily. */
struct Mode {
	unsigned int even, odd; /* of the nodes with these numbers */
	bool lazy;
};

constexpr Mode MODES[] = {
	{FADD, FADD, false},
	{FADD_C, FADD_C, false},
	{FADD_C, FADD_C, true},
	{FADD_C, FADD, true}, /* both commands at once */
};

/** Its adds of node @n to the word at node 0; false if one failed or the values did not grow. */
bool add(FakeHost &host, unsigned int n, unsigned int code)
{
	const uint64_t local = host.alloc(PAGE);
	auto *value = reinterpret_cast<uint64_t *>(host.ram(local));
	aries_fma_desc &desc = host.desc(FMAD);
	uint64_t last = 0;

	host.set_key(PTAG_A, KEY);
	host.make_mdd(LOCAL_MDH, PTAG_A, local, PAGE, BASE);
	host.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	desc = {};
	desc.pe = 0;
	desc.mdh = MDH;
	desc.offset = BASE;
	desc.local_mdh = LOCAL_MDH;
	desc.local_offset = BASE;
	desc.operand[0] = 1;
	for (uint64_t i = 0; i < ADDS; i++) {
		if (host.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, code) != ARIES_ST_OK || (i && *value <= last))
			return false;
		last = *value;
		if (i % 4096 == 0 && n)
			host.main_loop();
	}
	return true;
}

/** Node 0 with the word. */
struct Owner {
	FakeHost host;
	uint64_t word;

	Owner(const std::string &path, bool lazy) : host(path, 0, {.nodes = NODES, .lease_ms = 2000})
	{
		if (lazy) {
			host.write32(ARIES_CTL_CONTROL, 0);
			host.write32(ARIES_AMO_CTL, 1);
			host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		}
		word = host.alloc(PAGE);
		host.set_key(PTAG_A, KEY);
		host.make_mdd(MDH, PTAG_A, word, PAGE, BASE);
	}
	uint64_t sum()
	{
		host.write32(ARIES_AMO_FLUSH, 1);
		return *reinterpret_cast<uint64_t *>(host.ram(word));
	}
};

TEST(test_processes)
{
	for (const Mode &mode : MODES) {
		const std::string path = fabric_path();
		pid_t child[NODES] = {};
		int ready[2];
		char byte;

		assert_int_equal(pipe(ready), 0);
		for (unsigned int n = 1; n < NODES; n++) {
			child[n] = quiet_fork();
			if (child[n] == 0) {
				/* The word is there when the pipe is closed. */
				close(ready[1]);
				if (read(ready[0], &byte, 1) < 0)
					_exit(2);
				FakeHost host(path, n, {.nodes = NODES, .lease_ms = 2000});

				_exit(!add(host, n, n & 1 ? mode.odd : mode.even));
			}
		}
		Owner owner(path, mode.lazy);

		close(ready[0]);
		close(ready[1]);
		bool right = add(owner.host, 0, mode.even);

		for (unsigned int n = 1; n < NODES; n++) {
			int status = -1;

			assert_int_equal(waitpid(child[n], &status, 0), child[n]);
			right = right && status == 0;
		}
		assert_true(right);
		assert_int_equal(owner.sum(), NODES * ADDS);
	}
}

TEST(test_threads)
{
	for (const Mode &mode : MODES) {
		const std::string path = fabric_path();
		Owner owner(path, mode.lazy);
		std::vector<std::unique_ptr<FakeHost>> hosts;
		std::vector<std::thread> threads;
		std::atomic<unsigned int> right{0};

		for (unsigned int n = 1; n < NODES; n++)
			hosts.push_back(std::make_unique<FakeHost>(
				path, n, FakeHost::Options{.nodes = NODES, .lease_ms = 2000}));
		for (unsigned int n = 0; n < NODES; n++)
			threads.emplace_back([&, n] {
				right += add(n ? *hosts[n - 1] : owner.host, n, n & 1 ? mode.odd : mode.even);
			});
		for (std::thread &thread : threads)
			thread.join();
		assert_int_equal(right, NODES);
		assert_int_equal(owner.sum(), NODES * ADDS);
		/* A command that is not cached puts the word out of the cache: how often one hits then is chance. */
		if (mode.lazy && mode.even == mode.odd)
			assert_true(owner.host.counter(ARIES_CNT_AMO_CACHE_HITS) > ADDS);
	}
}

} // namespace

TEST_MAIN("four nodes on a word")
