/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of collectives that come twice: contributions count once, results arrive once (N19). */
#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int NODES = 5;
constexpr uint16_t IADD = 0x15;

using Members = std::vector<std::unique_ptr<Member>>;

/* 0 has 1 and 2 below, 1 has 3 and 4; each with its own endpoint as child 0. */
Members tree()
{
	const std::string path = fabric_path();
	Members all;

	for (unsigned int n = 0; n < NODES; n++)
		all.push_back(std::make_unique<Member>(path, n, NODES));
	for (unsigned int n = 0; n < NODES; n++) {
		std::vector<Child> children = {{ENDPOINT, n}};

		for (unsigned int c = 2 * n + 1; c <= 2 * n + 2 && c < NODES; c++)
			children.push_back({ENGINE, c, 0});
		assert_true(all[n]->engine(0, children, {n != 0, n ? (n - 1) / 2 : 0, 0, n ? 1 + (n - 1) % 2 : 0}));
	}
	return all;
}

void fault(Members &all, const char *name, uint64_t value)
{
	char err[64];

	for (auto &member : all)
		assert_int_equal(aries_nic_set_fault(member->host.nic(), name, value, err, sizeof(err)), 0);
}

uint64_t copies(Members &all)
{
	uint64_t sum = 0;

	for (auto &member : all)
		sum += member->host.counter(ARIES_CNT_RX_DUPLICATES);
	return sum;
}

/* Everybody's contribution of this round; the outcome at all of them, told once. */
void run_round(Members &all, unsigned int round, unsigned int first)
{
	uint64_t want = 0;

	for (unsigned int i = 0; i < NODES; i++) {
		const unsigned int n = (first + i) % NODES;
		aries_fma_desc &d = all[n]->prepare(n, 0, 0);

		d.operand[0] = 1000 * round + n;
		d.sync_value = round;
		want += d.operand[0];
		assert_int_equal(all[n]->ring(IADD, ARIES_EV_LOCAL, round & 0xffff), ARIES_ST_OK);
	}
	for (auto &member : all) {
		assert_int_equal(member->control(), ARIES_CER_DONE | uint64_t(round) << 32);
		assert_int_equal(member->result().result[0], want);
		const Event event = member->host.next_event(ENDPOINT_CQ);

		assert_int_equal(event.source(), ARIES_SRC_CE);
		assert_int_equal(event.status(), 0);
		assert_false(bool(member->host.next_event(ENDPOINT_CQ)));
	}
}

/* 5 contributions, 4 partial sums up, 5 results, 4 outcomes down: sums stay right, round after round. */
TEST(test_every_packet_twice)
{
	Members all = tree();

	for (unsigned int round = 1; round <= 50; round++) {
		const uint64_t before = copies(all);

		fault(all, "duplicate", 1000);
		run_round(all, round, round);
		assert_int_equal(copies(all) - before, 18);
	}
	fault(all, "duplicate", 0);
	run_round(all, 51, 0);
}

/* Copies of contributions when the operation is over, of outcomes when the next one is on its way. */
TEST(test_copies_that_come_late)
{
	Members all = tree();

	fault(all, "reorder", 1);
	for (unsigned int round = 1; round <= 50; round++) {
		const uint64_t before = copies(all);

		fault(all, "duplicate", 1000);
		/* Two rounds are ended by the same node, so that its copies of one meet the other. */
		run_round(all, round, round / 2);
		assert_in_range(copies(all) - before, round % 2 && round > 2 ? 18 : 14, 30);
	}
}

/* A result that comes again does not touch the block, whatever the process uses it for by then. */
TEST(test_contribution_is_taken_once)
{
	Members all = tree();

	fault(all, "duplicate", 1);
	aries_fma_desc &d = all[4]->prepare(4, 0, 0);

	d.operand[0] = 7;
	assert_int_equal(all[4]->ring(IADD), ARIES_ST_OK);
	/* A copy is no second contribution, and no error; a real second one waits its turn. */
	assert_int_equal(copies(all), 1);
	assert_int_equal(all[4]->ring(IADD), ARIES_ST_CE_BUSY);
	assert_int_equal(all[4]->host.read(ARIES_ERR_COUNT, 4), 0);
}

/* An engine that is made anew knows nothing of before: the numbers of a tree start with it. */
TEST(test_new_tree_takes_all)
{
	Members all = tree();

	for (unsigned int round = 1; round <= 3; round++)
		run_round(all, round, 0);
	for (unsigned int n = 0; n < NODES; n++)
		all[n]->disable(0);
	for (unsigned int n = 0; n < NODES; n++)
		assert_true(all[n]->engine(0, {{ENDPOINT, n}}));
	for (unsigned int n = 0; n < NODES; n++) {
		all[n]->prepare(n, 0, 0).operand[0] = n;
		assert_int_equal(all[n]->ring(IADD), ARIES_ST_OK);
		assert_int_equal(all[n]->result().result[0], n);
	}
}

/* The numbers of a node that comes back begin anew; so does the tree. */
TEST(test_node_comes_back)
{
	const std::string path = fabric_path();
	Member root(path, 0, 2);
	auto other = std::make_unique<Member>(path, 1, 2);
	auto give = [&](Member &who, unsigned int index, unsigned int times) {
		for (unsigned int i = 0; i < times; i++) {
			root.prepare(0, 0, 0).operand[0] = 1;
			who.prepare(0, 0, index).operand[0] = 10;
			assert_int_equal(root.ring(IADD), ARIES_ST_OK);
			assert_int_equal(who.ring(IADD), ARIES_ST_OK);
			assert_true(root.done());
			assert_int_equal(who.result().result[0], 11);
		}
	};

	assert_true(root.engine(0, {{ENDPOINT, 0}, {ENDPOINT, 1}}));
	give(*other, 1, 5);
	other.reset();
	other = std::make_unique<Member>(path, 1, 2);
	root.disable(0);
	assert_true(root.engine(0, {{ENDPOINT, 0}, {ENDPOINT, 1}}));
	give(*other, 1, 5);
}

} // namespace

TEST_MAIN("tests")
