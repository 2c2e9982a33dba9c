/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives whose members live on two hosts: Documentation/gateway.md */
#include <algorithm>
#include <atomic>
#include <random>

#include "nic/engines/ce_math.hpp"
#include "tests/tree.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;
using namespace std::chrono_literals;

namespace
{

constexpr unsigned int NEAR = 2;
constexpr uint16_t COMMANDS[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x18,
				 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b};
constexpr uint16_t IADD = 0x15;

/* One contribution to the tree of Team, and where its result goes. */
struct Part {
	unsigned int node, engine_node, index, block;
};

/*
 * Nodes 0 and 2 on one host, 1 and 3 on the other. Edges and contributions go over the border in both directions, and
 * the gateway makes the last contribution of some engines:
 *
 *   engine of 0: endpoint 0, engine of 1, engine of 2, endpoint 3
 *   engine of 1: endpoint 1, endpoint 2
 *   engine of 2: endpoint 2, engine of 3
 *   engine of 3: endpoint 1
 */
struct Team {
	static constexpr uint32_t NODES = 6, GATEWAY = 5, MEMBERS = 4;
	static constexpr Part PARTS[] = {{0, 0, 0, 0}, {3, 0, 3, 0}, {1, 1, 0, 0},
					 {2, 1, 1, 0}, {2, 2, 0, 1}, {1, 3, 0, 1}};
	static constexpr size_t COUNT = std::size(PARTS);

	std::string path[2] = {fabric_path(), fabric_path()};
	MemoryWire wire;
	std::unique_ptr<aries::Carrier> carrier[2];
	std::vector<std::unique_ptr<Member>> all;
	std::atomic<unsigned int> there[2] = {}; /* how often that host has found the other one to be there */

	Team()
	{
		for (unsigned int node = 0; node < MEMBERS; node++)
			all.push_back(std::make_unique<Member>(path[node % 2], node, NODES));
		start(0);
		start(1);
		join();
	}
	~Team()
	{
		wire.stop();
		carrier[0].reset();
		carrier[1].reset();
	}
	void start(uint32_t host)
	{
		aries::CarrierConfig config;

		config.fabric = path[host];
		config.nodes = NODES;
		config.lease_ms = 100;
		config.address = GATEWAY;
		config.host = host;
		config.hosts = {{0, 2}, {1, 3}};
		config.log = [this, host](const std::string &line) { there[host] += line.ends_with(" is there"); };
		carrier[host] = std::make_unique<aries::Carrier>(config, wire.end(host));
		wire.attach(host, carrier[host].get());
	}
	template <typename Done> void wait(Done &&done)
	{
		for (unsigned int i = 0; !done(); i++) {
			assert_true(i < TwoHosts::PATIENCE_MS);
			std::this_thread::sleep_for(1ms);
			for (unsigned int n = 0; i % 16 == 0 && n < all.size(); n++)
				all[n]->host.main_loop();
		}
	}
	/* All members see all of the other host in that state. */
	void wait_for(unsigned int wanted)
	{
		for (const unsigned int from : {0u, 1u})
			for (const unsigned int to : {1 - from, 3 - from})
				wait([&] {
					return unsigned(all[from]->host.read(ARIES_NODE_STATE_N(uint64_t{to}), 8) &
							ARIES_NODE_STATE_STATE_MASK) == wanted;
				});
	}
	/* The hosts see each other, and nodes as they are now: a tree with one that was reset since would be broken. */
	void join()
	{
		const unsigned int before[2] = {there[0], there[1]};

		wire.join();
		/* Until then they may not even have found that they were parted. */
		wait([&] { return there[0] > before[0] && there[1] > before[1]; });
		wait_for(ARIES_NODE_UP);
		wait_known();
	}
	void wait_known()
	{
		const auto life = [this](unsigned int from, unsigned int of) {
			return all[from]->host.read(ARIES_NODE_STATE_N(uint64_t{of}), 8);
		};

		for (unsigned int of = 0; of < MEMBERS; of++)
			wait([&] { return life(of, of) == life(1 - of % 2, of); });
	}
	/* Both gateways have something that the other one is to answer. */
	void wait_under_way()
	{
		wait([&] { return carrier[0]->figures().open && carrier[1]->figures().open; });
	}
	/* One that was disabled can be enabled again when nobody is at it any more. */
	void grow()
	{
		wait([&] {
			return all[0]->engine(0, {{ENDPOINT, 0}, {ENGINE, 1}, {ENGINE, 2}, {ENDPOINT, 3}}, {}, NEAR);
		});
		wait([&] { return all[1]->engine(0, {{ENDPOINT, 1}, {ENDPOINT, 2}}, {true, 0, 0, 1}, NEAR); });
		wait([&] { return all[2]->engine(0, {{ENDPOINT, 2}, {ENGINE, 3}}, {true, 0, 0, 2}, NEAR); });
		wait([&] { return all[3]->engine(0, {{ENDPOINT, 1}}, {true, 2, 0, 1}, NEAR); });
	}
	void fell()
	{
		for (const auto &member : all)
			member->disable(0);
	}
	/* Contributes @part of an operation @red_id. */
	uint32_t give(const Part &part, uint16_t command, const aries::CeValue &value, bool two = false,
		      unsigned int events = 0, unsigned int red_id = 0)
	{
		aries_fma_desc &d = all[part.node]->prepare(part.engine_node, 0, part.index, part.block);

		d.operand[0] = value.operand[0];
		d.operand[1] = value.operand[1];
		d.sync_value = red_id;
		if (two)
			d.offset |= uint64_t{ARIES_CEMODE_TWO_OP} << ARIES_CE_MODE_SHIFT;
		return all[part.node]->ring(command, events);
	}
	void wait_done(const Part &part)
	{
		wait([&] { return all[part.node]->done(part.block); });
	}
	/* An operation that works. */
	void reduce(std::mt19937_64 &random, uint16_t code, bool two, unsigned int red_id)
	{
		std::vector<aries::CeValue> in(COUNT);
		unsigned int order[COUNT];
		aries::CeCommand command;

		assert_true(command.decode(code));
		for (size_t i = 0; i < COUNT; i++) {
			in[i] = {{random() % 1000, random() % 1000}, 0};
			order[i] = unsigned(i);
		}
		std::shuffle(std::begin(order), std::end(order), random);
		for (const unsigned int i : order)
			assert_int_equal(give(PARTS[i], code, in[i], two, 0, red_id), ARIES_ST_OK);
		const auto sum = [&](std::vector<aries::CeValue> values) {
			return aries::ce_reduce(command, two, NEAR, values.data(), values.size());
		};
		const aries::CeValue wanted = sum({in[0], sum({in[2], in[3]}), sum({in[4], sum({in[5]})}), in[1]});

		for (const Part &part : PARTS) {
			Member &member = *all[part.node];

			wait_done(part);
			assert_int_equal(member.status(part.block), ARIES_ST_OK);
			assert_int_equal(member.result(part.block).result[0], wanted.operand[0]);
			assert_int_equal(member.result(part.block).result[1], wanted.operand[1]);
			assert_int_equal(member.fpe(part.block), wanted.fpe);
			assert_int_equal((member.control(part.block) & ARIES_CER_RED_ID_MASK) >> 32, red_id);
		}
	}
	/* All but the part @missing, which never comes. */
	void give_but(size_t missing)
	{
		for (size_t i = 0; i < COUNT; i++) {
			if (i != missing)
				assert_int_equal(give(PARTS[i], IADD, {{1, 0}, 0}), ARIES_ST_OK);
		}
	}
	template <typename Fine> void all_end_but(size_t missing, Fine &&fine)
	{
		for (size_t i = 0; i < COUNT; i++) {
			if (i == missing)
				continue;
			wait_done(PARTS[i]);
			assert_true(fine(all[PARTS[i].node]->status(PARTS[i].block)));
		}
	}
};

TEST(all_commands)
{
	Team team;
	std::mt19937_64 random(7);
	unsigned int red_id = 0;

	team.grow();
	for (unsigned int round = 0; round < 3; round++) {
		for (const uint16_t code : COMMANDS) {
			aries::CeCommand command;

			assert_true(command.decode(code));
			team.reduce(random, code, !command.indexed() && round % 2, ++red_id);
		}
	}
	assert_int_equal(team.carrier[0]->figures().open + team.carrier[1]->figures().open, 0);
	assert_int_equal(team.carrier[0]->figures().refused + team.carrier[1]->figures().refused, 0);
}

TEST(events_come_once)
{
	Team team;

	team.grow();
	team.wire.set_delay(2ms);
	for (unsigned int round = 0; round < 10; round++) {
		for (const Part &part : Team::PARTS)
			assert_int_equal(team.give(part, IADD, {{1, 0}, 0}, false, ARIES_EV_LOCAL | ARIES_EV_GLOBAL),
					 ARIES_ST_OK);
		for (const Part &part : Team::PARTS) {
			for (unsigned int i = 0; i < 2; i++) {
				const Event event =
					team.all[part.node]->host.wait_event(ENDPOINT_CQ, TwoHosts::PATIENCE_MS);

				assert_int_equal(event.status(), ARIES_ST_OK);
				assert_int_equal(event.source(), ARIES_SRC_CE);
			}
		}
		for (const auto &member : team.all)
			assert_false(bool(member->host.next_event(ENDPOINT_CQ)));
		assert_int_equal(team.all[3]->result().result[0], Team::COUNT);
	}
}

/* What is wrong with a contribution is told where its result would be, and by its event. */
TEST(refusals)
{
	Team team;
	Member &three = *team.all[3];
	const auto told = [&](unsigned int status) {
		team.wait_done(Team::PARTS[1]);
		assert_int_equal(three.status(), status);
		assert_int_equal(three.host.wait_event(ENDPOINT_CQ, TwoHosts::PATIENCE_MS).status(), status);
	};
	const auto give = [&](unsigned int index) {
		three.prepare(0, 0, index);
		assert_int_equal(three.ring(IADD, ARIES_EV_GLOBAL), ARIES_ST_OK);
	};

	give(3);
	told(ARIES_ST_DISABLED);
	team.grow();
	give(2);
	told(ARIES_ST_CE_CHILD);
	three.host.set_key(PTAG_A, KEY + 1);
	give(3);
	told(ARIES_ST_PTAG);
	three.host.set_key(PTAG_A, KEY);
	/* One that is not for the same operation ends it for all. */
	for (const Part &part : Team::PARTS)
		assert_int_equal(team.give(part, part.node == 3 ? 0x02 : IADD, {{1, 0}, 0}), ARIES_ST_OK);
	team.all_end_but(Team::COUNT, [](unsigned int status) { return status == ARIES_ST_CE_MISMATCH; });
	/* The second one of the same child. */
	give(3);
	three.prepare(0, 0, 3, 1);
	assert_int_equal(three.ring(IADD), ARIES_ST_OK);
	team.wait([&] { return three.done(1); });
	assert_int_equal(three.status(1), ARIES_ST_CE_BUSY);
	assert_false(three.done());
}

bool timed_out(unsigned int status)
{
	return status == ARIES_ST_TIMEOUT;
}

/* Whatever is missing, and wherever the others wait. */
TEST(a_host_goes_and_comes)
{
	for (const size_t missing : {size_t{0}, size_t{1}, size_t{5}}) {
		Team team;
		std::mt19937_64 random(missing);

		team.grow();
		team.reduce(random, IADD, false, 1);
		team.give_but(missing);
		team.wire.part();
		team.wait_for(ARIES_NODE_DEAD);
		team.all_end_but(missing, timed_out);
		team.join();
		team.fell();
		team.grow();
		team.reduce(random, IADD, false, 2);
	}
}

/* So short that nobody sees a node dead. */
TEST(a_flap_loses_the_operation)
{
	Team team;
	std::mt19937_64 random(1);

	team.grow();
	team.wire.set_delay(20ms);
	team.give_but(0);
	team.wait_under_way();
	team.wire.part();
	team.wire.set_delay(0ms);
	team.join();
	team.all_end_but(0, timed_out);
	team.fell();
	team.grow();
	team.reduce(random, IADD, false, 2);
}

TEST(a_gateway_ends)
{
	Team team;
	std::mt19937_64 random(2);

	team.grow();
	team.give_but(0);
	team.wire.attach(1, nullptr);
	team.carrier[1].reset();
	team.wire.part();
	team.all_end_but(0, timed_out);
	team.start(1);
	team.join();
	team.fell();
	team.grow();
	team.reduce(random, IADD, false, 3);
}

TEST(a_node_is_reset)
{
	Team team;
	std::mt19937_64 random(3);

	team.grow();
	team.give_but(0);
	/* Node 3 has what nobody waits for any more. */
	aries_nic_reset(team.all[3]->host.nic());
	for (const size_t i : {size_t{2}, size_t{3}, size_t{4}, size_t{5}}) {
		team.wait_done(Team::PARTS[i]);
		assert_true(team.all[Team::PARTS[i].node]->status(Team::PARTS[i].block) != ARIES_ST_OK);
	}
	team.all[3]->host.restart();
	team.all[3]->ready();
	team.wait_known();
	team.fell();
	team.grow();
	team.reduce(random, IADD, false, 4);
}

/* An engine that leaves its tree takes all with it, over the border too. */
TEST(an_engine_leaves)
{
	for (const unsigned int leaver : {0u, 1u, 3u}) {
		Team team;

		team.grow();
		team.give_but(0);
		team.all[leaver]->disable(0);
		team.all_end_but(0, [](unsigned int status) {
			return timed_out(status) || status == ARIES_ST_FLUSHED || status == ARIES_ST_DISABLED;
		});
	}
}

/* A tree is made anew while news of the one before are on their way. */
TEST(teams_come_and_go)
{
	Team team;
	std::mt19937_64 random(4);

	for (unsigned int round = 0; round < 12; round++) {
		team.wire.set_delay(std::chrono::milliseconds(round % 3 * 5));
		team.grow();
		team.reduce(random, IADD, false, round);
		team.fell();
	}
}

template <typename Body>
std::vector<std::byte> message(aries::MessageKind kind, const Body &body, size_t bytes = sizeof(Body))
{
	const aries::MessageHeader header = {uint32_t(kind), 0, 4711};
	std::vector<std::byte> text(sizeof(header) + bytes);

	memcpy(text.data(), &header, sizeof(header));
	memcpy(text.data() + sizeof(header), &body, bytes);
	return text;
}

/* An engine below that breaks takes ours with it if its host knew of the edge, not if what we knew was old. */
TEST(news_of_a_tree_before)
{
	Team team;
	Member &above = *team.all[0];
	uint64_t count = 0;
	const auto told = [&](uint32_t serial, uint32_t broken, uint32_t parent_edge) {
		aries::EngineNews news = {};

		news.node = 1;
		news.serial = serial;
		news.broken = broken;
		news.ctl = ARIES_CE_CTL_ENABLE_MASK;
		news.parent = ARIES_CE_PARENT_VALID_MASK | 1 << 20;
		news.parent_edge = parent_edge;
		team.wire.inject(0, message(aries::MessageKind::Engines, news));
		team.wire.inject(0, std::vector<std::byte>(1));
		count++;
		team.wait([&] { return team.carrier[0]->figures().refused == count; });
		return bool(above.host.read(ARIES_CE_STATUS_N(uint64_t{0}), 8) & ARIES_CE_STATUS_BROKEN_MASK);
	};

	assert_true(above.engine(0, {{ENDPOINT, 0}, {ENGINE, 1}}));
	assert_false(told(5, 0, 0));
	assert_false(told(5, 5, 77));
	assert_false(told(7, 0, 0));
	assert_false(told(9, 0, 0));
	assert_false(told(9, 0, 1));
	assert_true(told(9, 9, 1));
	above.disable(0);
	team.wait([&] { return above.engine(0, {{ENDPOINT, 0}, {ENGINE, 1}}); });
	assert_false(told(11, 0, 3));
	assert_true(told(13, 0, 0));
}

/* An engine of ours is in the tree of the one above when that says so, and goes with it. */
TEST(news_of_the_engine_above)
{
	Team team;
	Member &below = *team.all[0];
	uint64_t count = 0;
	const auto told = [&](uint32_t serial, uint32_t broken, uint32_t child_edge) {
		aries::EngineNews news = {};

		news.node = 1;
		news.serial = serial;
		news.broken = broken;
		news.ctl = ARIES_CE_CTL_ENABLE_MASK | uint64_t(1) << 32;
		news.child[0] = uint64_t(ENGINE) << 24;
		news.child_edge[0] = child_edge;
		team.wire.inject(0, message(aries::MessageKind::Engines, news));
		team.wire.inject(0, std::vector<std::byte>(1));
		count++;
		team.wait([&] { return team.carrier[0]->figures().refused == count; });
		return bool(below.host.read(ARIES_CE_STATUS_N(uint64_t{0}), 8) & ARIES_CE_STATUS_BROKEN_MASK);
	};

	assert_true(below.engine(0, {{ENDPOINT, 0}}, {true, 1, 0, 0}));
	assert_false(told(5, 0, 0));
	assert_false(told(5, 5, 0));
	assert_false(told(7, 0, 1));
	assert_true(told(7, 7, 1));
}

TEST(messages_that_make_no_sense)
{
	Team team;
	std::mt19937_64 random(5);
	uint64_t count = 0;
	const auto bring = [&](const std::vector<std::byte> &text) {
		team.wire.inject(0, text);
		count++;
		team.wait([&] { return team.carrier[0]->figures().refused == count; });
	};
	const auto request = [&](auto &&change) {
		aries::CarriedRequest r = {};

		r.kind = uint8_t(aries::CarriedKind::Partial);
		r.op = ARIES_FMA_CE;
		r.amo = IADD;
		r.source = r.at = 1;
		r.index = aries::CE_SOURCE_ENGINE;
		r.offset = 1;
		r.flag_offset = 1;
		change(r);
		bring(message(aries::MessageKind::Request, r));
	};

	team.grow();
	request([](auto &r) { r.at = 2; });
	request([](auto &r) { r.at = Team::NODES; });
	request([](auto &r) { r.index = 0; });
	request([](auto &r) { r.index = aries::CE_SOURCE_ENGINE + ARIES_CE_CHANNELS; });
	request([](auto &r) { r.offset = ARIES_CE_CHILDREN; });
	request([](auto &r) { r.offset = uint64_t(ARIES_CE_CHANNELS) << 8; });
	request([](auto &r) { r.amo = 0x99; });
	request([](auto &r) { r.flag_value = uint64_t(aries::CE_LEVELS) << 24; });
	request([](auto &r) { r.flag_value = uint64_t(1) << 32; });
	request([](auto &r) { r.flag_offset = 0; });
	request([](auto &r) { r.kind = uint8_t(aries::CarriedKind::Contribute); });
	request([](auto &r) { r.kind = uint8_t(aries::CarriedKind::Outcome); });
	request([](auto &r) { r.kind = uint8_t(aries::CarriedKind::Outcome) + 1; });
	aries::EngineNews news = {};

	bring(message(aries::MessageKind::Engines, news)); /* node 0 is not theirs */
	news.node = 1;
	bring(message(aries::MessageKind::Engines, news, 17));
	news.engine = ARIES_CE_CHANNELS;
	bring(message(aries::MessageKind::Engines, news));
	news.engine = 0;
	news.child[5] = Team::NODES;
	bring(message(aries::MessageKind::Engines, news));
	const aries::InstanceNews instance = {1, ARIES_CE_INSTANCES, 0, 0};

	bring(message(aries::MessageKind::Instances, instance));
	bring(message(aries::MessageKind::Instances, instance, 5));
	team.reduce(random, IADD, false, 4);
}

} // namespace

TEST_MAIN("tests")
