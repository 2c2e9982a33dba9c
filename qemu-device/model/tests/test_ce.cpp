/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collective engines: trees, results, events, refusals (N21 to N24). Lost members: test_ce_members.cpp. */
#include <algorithm>
#include <random>
#include <sched.h>
#include <thread>

#include "nic/engines/ce_math.hpp"
#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int NEAR = 2;
constexpr uint16_t COMMANDS[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x18,
				 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b};
constexpr uint16_t IADD = 0x15, FPADD = 0x1d, IMIN = 0x11;

using Members = std::vector<std::unique_ptr<Member>>;

Members make(unsigned int nodes)
{
	const std::string path = fabric_path();
	Members all;

	for (unsigned int n = 0; n < nodes; n++)
		all.push_back(std::make_unique<Member>(path, n, nodes));
	return all;
}

unsigned int first_below(unsigned int n, unsigned int fan)
{
	return n * fan + 1;
}

/* Each node's engine has its own endpoint as child 0, then the engines of up to @fan nodes. */
void grow(Members &all, unsigned int fan, unsigned int engine = 0, uint64_t extra = 0)
{
	for (unsigned int n = 0; n < all.size(); n++) {
		std::vector<Child> children = {{ENDPOINT, n}};

		for (unsigned int c = first_below(n, fan); c < first_below(n, fan) + fan && c < all.size(); c++)
			children.push_back({ENGINE, c, engine});
		assert_true(all[n]->engine(engine, children,
					   {n != 0, n ? (n - 1) / fan : 0, engine, n ? 1 + (n - 1) % fan : 0}, NEAR,
					   extra));
	}
}

/* What the tree of grow() makes of the contributions. */
aries::CeValue expected(const aries::CeCommand &command, bool two, const std::vector<aries::CeValue> &in,
			unsigned int n, unsigned int fan)
{
	std::vector<aries::CeValue> parts = {in[n]};

	for (unsigned int c = first_below(n, fan); c < first_below(n, fan) + fan && c < in.size(); c++)
		parts.push_back(expected(command, two, in, c, fan));
	return aries::ce_reduce(command, two, NEAR, parts.data(), parts.size());
}

/* Every command over trees of depth 1 to 3, contributions in any order. */
TEST(test_commands_and_shapes)
{
	std::mt19937_64 random(21);

	for (const auto &[nodes, fan] : {std::pair{1u, 1u}, {2u, 1u}, {4u, 3u}, {7u, 2u}}) {
		Members all = make(nodes);

		grow(all, fan);
		for (unsigned int round = 0; round < 40; round++) {
			for (const uint16_t code : COMMANDS) {
				aries::CeCommand command;
				std::vector<aries::CeValue> in(nodes);
				std::vector<unsigned int> order(nodes);

				assert_true(command.decode(code));
				const bool two = !command.indexed() && round % 2;

				for (unsigned int n = 0; n < nodes; n++) {
					const double value = double(int64_t(random() % 2000) - 1000) / 7;
					const float small = float(value);

					order[n] = n;
					in[n] = {{random(), random() % 3}, 0};
					if (command.floating() && command.wide)
						memcpy(&in[n].operand[0], &value, 8);
					else if (command.floating())
						memcpy(&in[n].operand[0], &small, 4);
				}
				for (auto &member : all)
					member->result() = {};
				std::shuffle(order.begin(), order.end(), random);
				for (const unsigned int n : order) {
					aries_fma_desc &d = all[n]->prepare(n, 0, 0);

					d.operand[0] = in[n].operand[0];
					d.operand[1] = in[n].operand[1];
					d.sync_value = round;
					d.offset |= uint64_t(two) << 16;
					assert_false(all[0]->done());
					assert_int_equal(all[n]->ring(code), ARIES_ST_OK);
				}
				const aries::CeValue want = expected(command, two, in, 0, fan);

				for (auto &member : all) {
					assert_int_equal(member->control(), ARIES_CER_DONE | uint64_t(round) << 32 |
										    uint64_t(want.fpe) << 16);
					assert_int_equal(member->result().result[0], want.operand[0]);
					assert_int_equal(member->result().result[1], want.operand[1]);
				}
			}
		}
	}
}

/* 32 children, some of them engines with 32 children; a 33rd is refused (N22). */
TEST(test_full_branching)
{
	Members all = make(3);
	std::vector<Child> root, leaf;

	for (unsigned int i = 0; i < 32; i++) {
		root.push_back(i < 2 ? Child{ENGINE, i + 1, 3} : Child{ENDPOINT, i % 3});
		leaf.push_back({ENDPOINT, 1 + i % 2});
	}
	assert_true(all[0]->engine(3, root));
	assert_true(all[1]->engine(3, leaf, {true, 0, 3, 0}));
	assert_true(all[2]->engine(3, leaf, {true, 0, 3, 1}));
	uint64_t want = 0;
	auto give = [&](unsigned int engine_node, unsigned int index, unsigned int who, unsigned int block) {
		aries_fma_desc &d = all[who]->prepare(engine_node, 3, index, block);

		d.operand[0] = 1000 * engine_node + index;
		want += d.operand[0];
		assert_int_equal(all[who]->ring(IADD), ARIES_ST_OK);
	};

	for (unsigned int i = 0; i < 32; i++) {
		give(1, i, 1 + i % 2, i);
		give(2, i, 1 + i % 2, 32 + i);
	}
	for (unsigned int i = 2; i < 32; i++)
		give(0, i, i % 3, 64 + i);
	for (unsigned int i = 0; i < 32; i++) {
		assert_true(i < 2 || all[i % 3]->done(64 + i));
		assert_int_equal(all[1 + i % 2]->result(i).result[0], want);
		assert_int_equal(all[1 + i % 2]->result(32 + i).result[0], want);
	}
	root.resize(33, {ENDPOINT, 0});
	const unsigned int errors = all[0]->host.guest_errors;

	assert_false(all[0]->engine(2, root));
	assert_int_equal(all[0]->host.guest_errors, errors + 1);
	assert_false(all[0]->engine(2, {}));
}

/* Four trees at a time on one NIC, each with one operation pending (N21). */
TEST(test_four_engines)
{
	Members all = make(2);

	for (unsigned int e = 0; e < 4; e++)
		grow(all, 1, e);
	for (unsigned int e = 0; e < 4; e++) {
		all[0]->prepare(0, e, 0, e).operand[0] = e;
		assert_int_equal(all[0]->ring(IADD), ARIES_ST_OK);
		/* One operation of a child is pending: the next has to wait for it. */
		assert_int_equal(all[0]->ring(IADD), ARIES_ST_CE_BUSY);
		assert_int_equal(all[0]->host.read(ARIES_CE_STATUS_N(uint64_t(e)), 8), 1);
	}
	for (unsigned int e = 4; e-- > 0;) {
		all[1]->prepare(1, e, 0, e).operand[0] = 10;
		assert_int_equal(all[1]->ring(IADD), ARIES_ST_OK);
		for (unsigned int other = 0; other < 4; other++)
			assert_int_equal(all[0]->done(other), other >= e);
		assert_int_equal(all[0]->result(e).result[0], 10 + e);
	}
	all[0]->prepare(0, 0, 0).offset |= 4 << 8;
	assert_int_equal(all[0]->ring(IADD), ARIES_ST_RESERVED);
}

TEST(test_rounding_mode_and_exceptions)
{
	Members all = make(1);

	for (unsigned int round = 0; round < 4; round++) {
		const double one = 1, tiny = 1e-30;
		double got;

		assert_true(all[0]->engine(0, {{ENDPOINT, 0}, {ENDPOINT, 0}}, {}, round));
		memcpy(&all[0]->prepare(0, 0, 0).operand[0], &one, 8);
		assert_int_equal(all[0]->ring(FPADD), ARIES_ST_OK);
		aries_fma_desc &d = all[0]->prepare(0, 0, 1, 1);

		memcpy(&d.operand[0], &tiny, 8);
		d.offset |= uint64_t(ARIES_CE_FPE_OVERFLOW << ARIES_CEMODE_FPE_SHIFT) << ARIES_CE_MODE_SHIFT;
		assert_int_equal(all[0]->ring(FPADD), ARIES_ST_OK);
		memcpy(&got, &all[0]->result().result[0], 8);
		assert_true(round == 0 ? got > 1 : got == 1);
		assert_int_equal(all[0]->fpe(), ARIES_CE_FPE_INEXACT | ARIES_CE_FPE_OVERFLOW);
		assert_int_equal(all[0]->status(1), ARIES_ST_OK);
		all[0]->disable(0);
	}
}

/* Events of the endpoint when the outcome is there; those of the engine as configured. */
TEST(test_events)
{
	for (const bool only_errors : {false, true}) {
		Members all = make(2);

		grow(all, 1, 2,
		     ARIES_CE_CTL_CQ_VALID_MASK | uint64_t(ENGINE_CQ) << 40 |
			     (only_errors ? ARIES_CE_CTL_CQ_ONERR_MASK : 0));
		for (const bool fails : {false, true}) {
			for (unsigned int n = 0; n < 2; n++) {
				all[n]->prepare(n, 2, 0).sync_value = 0xabcd + (fails && n);
				assert_false(bool(all[0]->host.next_event(ENDPOINT_CQ)));
				assert_int_equal(all[n]->ring(IADD, ARIES_EV_LOCAL | ARIES_EV_GLOBAL | 2 << 4, 77 + n),
						 ARIES_ST_OK);
			}
			const unsigned int status = fails ? ARIES_ST_CE_MISMATCH : ARIES_ST_OK;

			for (unsigned int n = 0; n < 2; n++) {
				const Event local = all[n]->host.next_event(ENDPOINT_CQ);
				const Event global = all[n]->host.next_event(ENDPOINT_CQ);
				const Event engine = all[n]->host.next_event(ENGINE_CQ);

				assert_int_equal(local.data(), 0x1111);
				assert_int_equal(local.info(), ARIES_INFO_LOCAL);
				assert_int_equal(global.data(), 0x1111);
				assert_int_equal(global.info(), ARIES_INFO_GLOBAL);
				for (const Event &e : {local, global}) {
					assert_int_equal(e.source(), ARIES_SRC_CE);
					assert_int_equal(e.tid(), 77 + n);
					assert_int_equal(e.status(), status);
					assert_int_equal(e.type(), 2);
				}
				assert_int_equal(all[n]->status(), status);
				assert_int_equal(bool(engine), fails || !only_errors);
				if (engine) {
					assert_int_equal(engine.tid(), 2);
					assert_int_equal(engine.status(), status);
					assert_int_equal(engine.source(), ARIES_SRC_CE);
					assert_int_equal(engine.data(), 0xabcd);
				}
				assert_false(bool(all[n]->host.next_event(ENDPOINT_CQ)));
			}
		}
	}
}

/* The queue was made anew meanwhile: whoever has it now gets nothing. */
TEST(test_event_for_old_queue)
{
	Members all = make(2);

	grow(all, 1);
	all[0]->prepare(0, 0, 0);
	assert_int_equal(all[0]->ring(IADD, ARIES_EV_LOCAL), ARIES_ST_OK);
	all[0]->host.write64(ARIES_CQ_CTL_N(uint64_t(ENDPOINT_CQ)), 0);
	all[0]->host.make_cq(ENDPOINT_CQ, 6, OWNER);
	all[1]->prepare(1, 0, 0);
	assert_int_equal(all[1]->ring(IADD), ARIES_ST_OK);
	assert_true(all[0]->done());
	assert_false(bool(all[0]->host.next_event(ENDPOINT_CQ)));
}

/* The result block is gone: nothing is written, the endpoint and the error queue know, the others have a result. */
TEST(test_result_block_gone)
{
	Members all = make(2);

	grow(all, 1);
	all[0]->prepare(0, 0, 0);
	assert_int_equal(all[0]->ring(IADD, ARIES_EV_LOCAL), ARIES_ST_OK);
	assert_true(all[0]->host.invalidate(LOCAL_MDH));
	all[1]->prepare(1, 0, 0);
	assert_int_equal(all[1]->ring(IADD), ARIES_ST_OK);
	assert_false(all[0]->done());
	assert_int_equal(all[0]->host.next_event(ENDPOINT_CQ).status(), ARIES_ST_MDD);
	assert_int_equal(all[0]->host.read(ARIES_ERR_COUNT, 4), 1);
	assert_int_equal(all[1]->control(), ARIES_CER_DONE);
}

/* Contributions that differ end in an error for all, and the next operation works. */
TEST(test_mismatch)
{
	Members all = make(4);

	grow(all, 1);
	for (unsigned int what = 0; what < 4; what++) {
		for (unsigned int n = 0; n < 4; n++) {
			aries_fma_desc &d = all[n]->prepare(n, 0, 0);

			if (what == 0 && n == 3)
				d.sync_value = 1;
			if (what == 1 && n == 2)
				d.offset |= ARIES_CEMODE_TWO_OP << ARIES_CE_MODE_SHIFT;
			assert_int_equal(all[n]->ring(what == 2 && n == 1 ? IMIN : IADD), ARIES_ST_OK);
		}
		for (auto &member : all) {
			assert_true(member->done());
			assert_int_equal(member->status(), what < 3 ? ARIES_ST_CE_MISMATCH : ARIES_ST_OK);
		}
	}
}

/* What a process writes gives it no right. */
TEST(test_refusals)
{
	Members all = make(2);
	Member &a = *all[0], &b = *all[1];

	assert_true(b.engine(1, {{ENDPOINT, 0}, {ENDPOINT, 1}, {ENGINE, 0, 2}}));
	auto refused = [&](uint32_t status, auto &&change, unsigned int command = IADD, unsigned int events = 0,
			   unsigned int bytes = 0) {
		change(a.prepare(1, 1, 0));
		const uint32_t got = a.host.ring(FMAD, ARIES_FMA_CE, bytes, events, 0, command);

		assert_int_equal(got, status);
		assert_int_equal(b.host.read(ARIES_CE_STATUS_N(1), 8), 0);
	};

	refused(ARIES_ST_CE_CHILD, [](auto &d) { d.offset = 1 | 1 << 8; }); /* the other node's */
	refused(ARIES_ST_CE_CHILD, [](auto &d) { d.offset = 2 | 1 << 8; }); /* an engine's */
	refused(ARIES_ST_CE_CHILD, [](auto &d) { d.offset = 3 | 1 << 8; }); /* unused */
	refused(ARIES_ST_DISABLED, [](auto &d) { d.offset = 0; });          /* engine not enabled */
	refused(ARIES_ST_NO_NODE, [](auto &d) { d.pe = 2; });
	refused(ARIES_ST_LOCAL_ALIGN, [](auto &d) { d.local_offset += 4; });
	refused(ARIES_ST_LOCAL_MDD, [](auto &d) { d.local_mdh++; });
	refused(ARIES_ST_LOCAL_BOUNDS, [](auto &d) { d.local_offset = BASE + RESULT_BYTES - 16; });
	refused(ARIES_ST_RESERVED, [](auto &d) { d.sync_value = uint64_t(1) << 32; });
	refused(ARIES_ST_RESERVED, [](auto &d) { d.reserved = 1; });
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (ARIES_CE_RSVD_MASK >> bit & 1)
			refused(ARIES_ST_RESERVED, [&](auto &d) { d.offset |= uint64_t(1) << bit; });
	}
	refused(
		ARIES_ST_RESERVED, [](auto &) {}, IADD, ARIES_EV_REMOTE);
	refused(
		ARIES_ST_LENGTH, [](auto &) {}, IADD, 0, 8);
	refused(
		ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = 500; }, IADD, ARIES_EV_LOCAL);
	refused(ARIES_ST_RESERVED, [](auto &d) { d.offset |= ARIES_CEMODE_FPE_MASK << ARIES_CE_MODE_SHIFT; });
	refused(
		ARIES_ST_BAD_OP, [](auto &d) { d.offset |= ARIES_CEMODE_TWO_OP << ARIES_CE_MODE_SHIFT; }, IMIN);
	refused(
		ARIES_ST_BAD_OP, [](auto &) {}, 0x16); /* where a product would be (N23) */
	refused(
		ARIES_ST_BAD_OP, [](auto &) {}, 0x3ff);
	/* A refusal has its event, and no result. */
	refused(
		ARIES_ST_CE_CHILD, [](auto &d) { d.offset = 1 | 1 << 8; }, IADD, ARIES_EV_LOCAL);
	assert_int_equal(a.host.next_event(ENDPOINT_CQ).status(), ARIES_ST_CE_CHILD);
	assert_false(a.done());
	a.host.set_key(PTAG_A, KEY + 1);
	refused(ARIES_ST_PTAG, [](auto &) {});
	a.host.set_key(PTAG_A, KEY);
	a.host.make_mdd(LOCAL_MDH + 1, PTAG_A + 1, a.results, PAGE, BASE);
	refused(ARIES_ST_LOCAL_PTAG, [](auto &d) { d.local_mdh++; });
}

TEST(test_registers)
{
	Members all = make(2);
	FakeHost &host = all[0]->host;
	auto refused = [&](uint64_t offset, uint64_t value) {
		const unsigned int errors = host.guest_errors;
		const uint64_t before = host.read(offset, 8);

		host.write64(offset, value);
		assert_int_equal(host.guest_errors, errors + 1);
		assert_int_equal(host.read(offset, 8), before);
	};

	assert_true(host.read(ARIES_ID_CAPS, 8) & ARIES_ID_CAPS_CE_MASK);
	refused(ARIES_CE_CHILD_N(0), uint64_t(3) << 24);
	refused(ARIES_CE_CHILD_N(0), uint64_t(2) << 24 | 2);
	refused(ARIES_CE_PARENT_N(0), ARIES_CE_PARENT_VALID_MASK | 2);
	refused(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK | uint64_t(1) << 32); /* child 0 is not given */
	refused(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK);
	refused(ARIES_CE_STATUS_N(0), 0);
	assert_false(all[0]->engine(0, {{ENDPOINT, 0}}, {}, NEAR, ARIES_CE_CTL_CQ_VALID_MASK | uint64_t(900) << 40));
	host.make_cq(30, 6, OWNER + 1);
	assert_false(all[0]->engine(0, {{ENDPOINT, 0}}, {}, NEAR, ARIES_CE_CTL_CQ_VALID_MASK | uint64_t(30) << 40));
	assert_true(all[0]->engine(0, {{ENDPOINT, 0}}));
	refused(ARIES_CE_CTL_N(0), host.read(ARIES_CE_CTL_N(0), 8));
	refused(ARIES_CE_CHILD_N(0), uint64_t(2) << 24);
	refused(ARIES_CE_PARENT_N(0), 0);
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(host.read(ARIES_CE_CTL_N(0), 8), 0);
	assert_int_equal(host.read(ARIES_CE_CHILD_N(0), 8), 0);
}

/* Nobody gets ahead of a barrier, all threads at once; and a barrier of 8 takes 8 traps. */
TEST(test_barrier)
{
	constexpr unsigned int NODES = 8, ROUNDS = 300;
	Members all = make(NODES);
	std::atomic<unsigned int> entered[NODES] = {};
	std::atomic<unsigned int> wrong{0};
	std::vector<std::thread> threads;

	grow(all, 2);
	for (unsigned int n = 0; n < NODES; n++) {
		threads.emplace_back([&, n] {
			for (unsigned int round = 1; round <= ROUNDS; round++) {
				all[n]->prepare(n, 0, 0).sync_value = round;
				entered[n] = round;
				if (all[n]->ring(0x00) != ARIES_ST_OK)
					wrong++;
				while (!all[n]->done() && !wrong)
					sched_yield();
				for (const auto &other : entered)
					wrong += other < round;
				wrong += all[n]->control() != (ARIES_CER_DONE | uint64_t(round) << 32);
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(wrong, 0);
	uint64_t traps = 0, latency = 0;

	for (auto &member : all) {
		traps += member->host.counter(ARIES_CNT_FMA_TRAPS);
		assert_int_equal(member->host.counter(ARIES_CNT_IRQS), 0);
		assert_int_equal(member->host.counter(ARIES_CNT_CE_OPS), ROUNDS);
		latency += member->host.counter(ARIES_CNT_LATENCY_NS);
	}
	assert_int_equal(traps, NODES * ROUNDS);
	/* Of one member it may be 0: who always comes last finds the results modelled as there already. */
	assert_true(latency > 0);
}

} // namespace

TEST_MAIN("tests")
