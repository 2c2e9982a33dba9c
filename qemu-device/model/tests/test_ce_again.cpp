/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of several engines that are made anew, one engine after the other, in any order (N21). */
#include <algorithm>
#include <array>

#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int IADD = 0x15, NODES = 3;

/* Three nodes, one below the other; each has its own endpoint as child 0 and the next engine as child 1. */
class Chain
{
public:
	Chain() : path_(fabric_path()), zero_(path_, 0, NODES), one_(path_, 1, NODES), two_(path_, 2, NODES) {}

	Member &operator[](unsigned int n) { return *all_[n]; }

	/** As a driver configures an engine that may be in use, with time for all sweeps afterwards. */
	void configure(unsigned int n)
	{
		std::vector<Child> children = {{ENDPOINT, n}};

		if (n + 1 < NODES)
			children.push_back({ENGINE, n + 1, 0});
		all_[n]->disable(0);
		turn();
		assert_true(all_[n]->engine(0, children, {n != 0, n ? n - 1 : 0, 0, 1}));
		turn();
	}

	/** The main loops of all, often enough for news to get through the tree. */
	void turn()
	{
		for (unsigned int i = 0; i < 2 * NODES; i++) {
			for (Member *member : all_)
				member->host.main_loop();
		}
	}

	uint32_t give(unsigned int n, uint64_t value)
	{
		all_[n]->prepare(n, 0, 0).operand[0] = value;
		return all_[n]->ring(IADD);
	}

	bool done()
	{
		return std::all_of(all_.begin(), all_.end(), [](Member *member) { return member->done(); });
	}

	/** One collective of all. */
	void sum()
	{
		for (unsigned int n = 0; n < NODES; n++)
			assert_int_equal(give(n, uint64_t(n) * 10 + 1), ARIES_ST_OK);
		assert_true(done());
		for (Member *member : all_) {
			assert_int_equal(member->status(), ARIES_ST_OK);
			assert_int_equal(member->result().result[0], 33);
		}
	}

private:
	std::string path_;
	Member zero_, one_, two_;
	std::array<Member *, NODES> all_ = {&zero_, &one_, &two_};
};

/* Whatever the old tree was doing, and in whatever order: the new one works, and goes on to. */
TEST(test_any_order)
{
	enum { IDLE, WAITING, BROKEN, WAYS };

	for (unsigned int way = IDLE; way < WAYS; way++) {
		std::array<unsigned int, NODES> order = {0, 1, 2};
		Chain chain;

		for (const unsigned int n : order)
			chain.configure(n);
		chain.sum();
		do {
			if (way == WAITING) {
				for (unsigned int n = 0; n < NODES; n++) {
					if (n != order[1])
						assert_int_equal(chain.give(n, 1), ARIES_ST_OK);
				}
			} else if (way == BROKEN) {
				chain[order[1]].disable(0);
				chain.turn();
			}
			for (const unsigned int n : order)
				chain.configure(n);
			for (unsigned int n = 0; way == WAITING && n < NODES; n++) {
				if (n != order[1])
					assert_int_not_equal(chain[n].status(), ARIES_ST_OK);
			}
			chain.turn();
			chain.sum();
			chain.turn();
			for (unsigned int n = 0; n < NODES; n++)
				assert_int_equal(chain[n].host.read(ARIES_CE_STATUS_N(0), 8), 0);
			chain.sum();
		} while (std::next_permutation(order.begin(), order.end()));
	}
}

/*
 * An engine that nobody has contributed to is taken for one of the new tree, until it is configured once more. Whoever
 * waits in that tree has an error, and the next attempt works.
 */
TEST(test_left_over)
{
	for (const unsigned int left_over : {0U, 1U, 2U}) {
		Chain chain;

		chain.configure(left_over);
		for (unsigned int n = 0; n < NODES; n++)
			chain.configure(n);
		chain.turn();
		bool waits = false;

		for (unsigned int n = 0; n < NODES; n++) {
			if (chain.give(n, 1) == ARIES_ST_OK)
				waits = true;
			else
				chain[n].result().control = ARIES_CER_DONE;
		}
		chain.turn();
		assert_true(!waits || chain.done());
		for (unsigned int n = 0; n < NODES; n++)
			chain.configure(n);
		chain.sum();
	}
}

/* One that is broken breaks those that it has an edge with, in both directions, whoever came first. */
TEST(test_edges_hold)
{
	for (unsigned int victim = 0; victim < NODES; victim++) {
		std::array<unsigned int, NODES> order = {0, 1, 2};

		do {
			Chain chain;

			for (const unsigned int n : order)
				chain.configure(n);
			for (unsigned int n = 0; n < NODES; n++) {
				if (n != victim)
					assert_int_equal(chain.give(n, 1), ARIES_ST_OK);
			}
			chain[victim].disable(0);
			chain.turn();
			for (unsigned int n = 0; n < NODES; n++) {
				if (n != victim)
					assert_true(chain[n].done() && chain[n].status() != ARIES_ST_OK);
			}
		} while (std::next_permutation(order.begin(), order.end()));
	}
}

} // namespace

TEST_MAIN("tests")
