/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a gateway is told by hosts and nodes that break the rules: Documentation/gateway.md */
#include "tests/raw_segment.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;
using namespace std::chrono_literals;

namespace
{

constexpr uint64_t VALUE = 0x1122334455667788;

std::vector<std::byte> message(uint32_t kind, const void *body, size_t bytes, uint64_t id = 4711)
{
	const aries::MessageHeader header = {kind, 0, id};
	std::vector<std::byte> text(sizeof(header) + bytes);

	memcpy(text.data(), &header, sizeof(header));
	if (bytes)
		memcpy(text.data() + sizeof(header), body, bytes);
	return text;
}

/* Whatever another host says, it is told from what makes sense. */
TEST(messages_that_make_no_sense)
{
	TwoHosts p;
	aries::CarriedRequest request = {};
	const auto refused = [&] { return p.carrier[1]->figures().refused; };
	uint64_t count = 0;
	const auto bring = [&](const std::vector<std::byte> &text) {
		p.wire.inject(1, text);
		count++;
		p.wait([&] { return refused() == count; });
	};

	bring({});
	bring(message(0, nullptr, 0));
	bring(message(77, nullptr, 0));
	bring(message(1, &request, sizeof(request)));
	bring(message(1, &request, 5));
	bring(message(2, &request, 5));
	/* Of a node that is not on that host, and for one that is not on this. */
	request.kind = uint8_t(aries::CarriedKind::Get);
	request.bytes = request.part = 8;
	request.source = 1;
	request.target = 1;
	bring(message(1, &request, sizeof(request)));
	request.source = 0;
	request.target = 2;
	bring(message(1, &request, sizeof(request)));
	request.target = 1;
	request.part = 70000;
	bring(message(1, &request, sizeof(request)));
	const aries::NodeNews news = {1, 2, 0, 0, 0, 0};

	bring(message(3, &news, sizeof(news)));
	bring(message(3, &news, 3));
	/* A response to nothing. */
	const aries::CarriedResponse response = {};

	bring(message(2, &response, sizeof(response)));
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

/* Only the host that was asked answers. */
TEST(an_answer_of_another_host)
{
	TwoHosts p;
	constexpr uint64_t FIRST = 1; /* gateways count their requests */
	aries::CarriedResponse response = {};

	p.wire.set_delay(10s);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	p.wait([&] { return p.carrier[0]->figures().open == 1; });
	response.status = ARIES_ST_BOUNDS;
	p.wire.inject(0, message(2, &response, sizeof(response), FIRST), 2);
	p.wait([&] { return p.carrier[0]->figures().refused == 1; });
	assert_int_equal(p.carrier[0]->figures().open, 1);
	response.status = ARIES_ST_ACCESS;
	p.wire.inject(0, message(2, &response, sizeof(response), FIRST));
	assert_int_equal(p.event().status(), ARIES_ST_ACCESS);
	assert_int_equal(p.carrier[0]->figures().open, 0);
}

/* Node 2, whose requests the test writes into the memory that the node shares with its gateway. */
class Forger
{
public:
	explicit Forger(TwoHosts &hosts) : hosts_(hosts), node_(hosts.path[0], 2, {.nodes = TwoHosts::NODES})
	{
		node_.set_key(PTAG_A, KEY);
		node_.enable_fmad(FMAD, PTAG_A, OWNER);
		node_.desc(FMAD) = hosts.desc();
		/* With its first request the node and the gateway agree on the memory. */
		assert_int_equal(node_.ring(FMAD, ARIES_FMA_PUT_LINE, BYTES), ARIES_ST_OK);
		wait_for(1);
		sound = area().slot[0].request;
	}

	/** Status of a request with its payload at a byte of the heap, where there are @room bytes for the answer. */
	uint8_t ask(const aries::CarriedRequest &request, uint32_t payload, uint32_t room = 0)
	{
		constexpr uint16_t SLOT = 7;
		aries::NodeSlot &gateway = raw_.node(TwoHosts::GATEWAY);
		const uint32_t issued = area().issued.load();

		area().slot[SLOT].request = request;
		area().slot[SLOT].payload = payload;
		area().slot[SLOT].room = room;
		area().issue[issued % aries::CARRY_SLOTS].store(SLOT);
		area().issued.store(issued + 1);
		gateway.carry_pending[0].fetch_or(1 << 2);
		aries::Bell(gateway.carry_bell, gateway.carry_sleeping).ring();
		wait_for(issued + 1);
		return area().slot[SLOT].response.status;
	}

	static constexpr uint32_t BYTES = 2048; /* of the request that is sound, which needs the heap */
	static constexpr uint32_t HEAP = sizeof(aries::CarryArea::heap);
	aries::CarriedRequest sound;

private:
	aries::CarryArea &area() { return raw_.carry(2); }
	void wait_for(uint32_t answers)
	{
		hosts_.wait([&] {
			node_.main_loop();
			return area().answered.load() == answers;
		});
	}

	TwoHosts &hosts_;
	FakeHost node_;
	RawSegment raw_{hosts_.path[0]};
};

/* A gateway reads and writes nothing outside of what a node shares with it, and asks in nobody else's name. */
TEST(a_node_that_breaks_the_rules)
{
	TwoHosts p;
	Forger node(p);
	constexpr uint32_t BYTES = Forger::BYTES, HEAP = Forger::HEAP;
	const uint64_t served = p.carrier[1]->figures().served;
	aries::CarriedRequest request = node.sound;

	assert_int_equal(node.ask(request, 0), ARIES_ST_OK);
	assert_int_equal(node.ask(request, HEAP - BYTES), ARIES_ST_OK);
	for (const uint32_t at : {HEAP - BYTES + 1, HEAP, HEAP + 1, UINT32_MAX})
		assert_int_equal(node.ask(request, at), ARIES_ST_RESERVED);
	/* Of another node; for a node of this host, for one that is on none, and for one that is not in the fabric. */
	request.source = 0;
	assert_int_equal(node.ask(request, 0), ARIES_ST_RESERVED);
	request = node.sound;
	for (const uint32_t target : {0u, TwoHosts::GATEWAY, TwoHosts::NODES, UINT32_MAX}) {
		request.target = target;
		assert_int_equal(node.ask(request, 0), ARIES_ST_RESERVED);
	}
	assert_int_equal(p.carrier[1]->figures().served, served + 2);
	/* An answer has no room there. */
	request = node.sound;
	request.kind = uint8_t(aries::CarriedKind::Get);
	assert_int_equal(node.ask(request, HEAP - BYTES, BYTES), ARIES_ST_OK);
	for (const uint32_t at : {HEAP - BYTES + 1, HEAP, UINT32_MAX})
		assert_int_equal(node.ask(request, at, BYTES), ARIES_ST_TIMEOUT);
	assert_int_equal(p.send(VALUE, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
}

} // namespace

TEST_MAIN("tests")
