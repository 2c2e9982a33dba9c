// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What carriers say to each other, from a host that keeps to no rule: any requests, responses, and news of nodes,
 * engines and processes, nearly sound ones above all. The nodes here have a tree with members there. Each request is
 * answered at most once, nothing else is answered, and every input is got over.
 */
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "fuzz/input.hpp"
#include "gateway/carrier.hpp"
#include "tests/tree.hpp"

using namespace aries;
using aries_fuzz::Input;

namespace
{

constexpr uint32_t NODES = 6, GATEWAY = 5, THEM = 1;
constexpr std::chrono::seconds PATIENCE{60};

class World : public CarrierWire
{
public:
	World() : zero_(path_, 0, NODES), two_(path_, 2, NODES), carrier_(config(), *this)
	{
		using namespace aries_test;

		carrier_.up(THEM);
		FUZZ_CHECK(zero_.engine(0, {{ENDPOINT, 0}, {ENGINE, 1}, {ENGINE, 2}, {ENDPOINT, 3}}));
		FUZZ_CHECK(two_.engine(0, {{ENDPOINT, 1}, {ENGINE, 3}}, {true, 0, 0, 2}));
		FUZZ_CHECK(two_.engine(1, {{ENDPOINT, 2}}, {true, 1, 0, 1}));
	}

	/* Any thread of the carrier. */
	bool send(uint32_t host, std::span<const std::byte> header, std::span<const std::byte>) override
	{
		MessageHeader head;

		FUZZ_CHECK(host == THEM && header.size() >= sizeof(head));
		memcpy(&head, header.data(), sizeof(head));
		FUZZ_CHECK(!head.reserved && head.kind >= uint32_t(MessageKind::Request) &&
			   head.kind <= uint32_t(MessageKind::Network));
		const std::lock_guard guard(mutex_);

		if (MessageKind(head.kind) == MessageKind::Response)
			FUZZ_CHECK(asked_.erase(head.id) == 1);
		else if (MessageKind(head.kind) == MessageKind::Request)
			theirs_ = head.id;
		return true;
	}
	void bring(MessageKind kind, uint64_t id, std::span<const std::byte> body)
	{
		const MessageHeader head = {uint32_t(kind), 0, id};
		std::vector<std::byte> text(sizeof(head) + body.size());

		memcpy(text.data(), &head, sizeof(head));
		if (!body.empty())
			memcpy(text.data() + sizeof(head), body.data(), body.size());
		carrier_.received(THEM, text);
	}
	uint64_t ask()
	{
		const std::lock_guard guard(mutex_);

		asked_.insert(++last_);
		return last_;
	}
	uint64_t asked_of_us() const
	{
		const std::lock_guard guard(mutex_);

		return theirs_;
	}
	void flap()
	{
		carrier_.down(THEM, "a flap");
		carrier_.up(THEM);
	}
	/* A node here has something for them, which responses may be for. */
	void contribute()
	{
		(void)two_.prepare(1, 0, 1);
		(void)two_.ring(0x15);
	}
	/* Until all that was brought is handled: what comes last is told. */
	void settle()
	{
		const std::byte one{};
		std::unique_lock guard(mutex_);

		carrier_.received(THEM, {&one, 1});
		marks_++;
		FUZZ_CHECK(changed_.wait_for(guard, PATIENCE, [this] { return seen_ == marks_; }));
	}

private:
	CarrierConfig config()
	{
		CarrierConfig config;

		config.fabric = path_;
		config.nodes = NODES;
		config.lease_ms = 100;
		config.address = GATEWAY;
		config.host = 0;
		config.hosts = {{0, 2}, {1, 3}};
		config.log = [this](const std::string &line) {
			const std::lock_guard guard(mutex_);

			seen_ += line.ends_with("no header");
			changed_.notify_all();
		};
		return config;
	}

	const std::string path_ = aries_test::fabric_path();
	mutable std::mutex mutex_;
	std::condition_variable changed_;
	std::set<uint64_t> asked_; /* requests of ours that have no answer */
	uint64_t last_ = 0, theirs_ = 0, marks_ = 0, seen_ = 0;
	aries_test::Member zero_, two_;
	Carrier carrier_;
};

template <typename Body> void change(Input &input, Body &body)
{
	const uint64_t word = input.word();
	const size_t at = input.below(sizeof(body)), bytes = std::min<size_t>(1 + input.below(8), sizeof(body) - at);

	memcpy(reinterpret_cast<std::byte *>(&body) + at, &word, bytes);
}

/* With so many fields changed; now and then with too few or too many bytes. */
template <typename Body> void bring(World &world, Input &input, MessageKind kind, uint64_t id, Body body)
{
	std::byte text[sizeof(body) + 16] = {};
	size_t bytes = sizeof(body);

	for (uint64_t changes = input.below(4); changes; changes--)
		change(input, body);
	if (!input.below(16))
		bytes = input.below(sizeof(text));
	memcpy(text, &body, sizeof(body));
	world.bring(kind, id, {text, bytes});
}

void any_request(World &world, Input &input)
{
	CarriedRequest request = {};

	request.kind = uint8_t(1 + input.below(uint8_t(CarriedKind::Outcome)));
	request.target = input.byte() & 2;
	request.source = 1 + (input.byte() & 2);
	request.at = request.source;
	request.key = aries_test::KEY;
	if (CarriedKind(request.kind) >= CarriedKind::Contribute) {
		const bool engine = CarriedKind(request.kind) == CarriedKind::Partial;

		request.op = ARIES_FMA_CE;
		request.amo = 0x15;
		request.index = engine ? CE_SOURCE_ENGINE : 0;
		request.bytes = uint32_t(input.below(4));
		request.offset = input.below(4) | input.below(2) << 8;
		request.flag_offset = 1 + input.below(200);
	}
	bring(world, input, MessageKind::Request, world.ask(), request);
}

void any_news(World &world, Input &input)
{
	EngineNews news = {};

	news.node = 1 + (input.byte() & 2);
	news.engine = uint32_t(input.below(2));
	news.serial = uint32_t(input.below(8));
	news.broken = uint32_t(input.below(8));
	news.ctl = input.byte() & 1 ? ARIES_CE_CTL_ENABLE_MASK | input.below(4) << 32 : 0;
	news.parent = input.below(4) | input.below(4) << 20 | (input.byte() & 1 ? ARIES_CE_PARENT_VALID_MASK : 0);
	news.parent_edge = uint32_t(input.below(4));
	for (uint32_t i = 0; i < 3; i++) {
		news.child[i] = input.below(4) | input.below(3) << 24;
		news.child_edge[i] = uint32_t(input.below(4));
	}
	bring(world, input, MessageKind::Engines, 0, news);
}

void any_response(World &world, Input &input)
{
	CarriedResponse response = {};

	response.status = uint8_t(input.below(32));
	response.flags = input.byte() & 1 ? SERVED_OUTCOME : 0;
	response.claim.offset = input.word();
	bring(world, input, MessageKind::Response, input.byte() & 7 ? world.asked_of_us() : input.word(), response);
}

void any_message(World &world, Input &input)
{
	switch (input.below(9)) {
	case 0:
	case 1:
		any_news(world, input);
		break;
	case 2:
		bring(world, input, MessageKind::Nodes, 0,
		      NodeNews{1 + (input.byte() & 2u), MEMBER_ALIVE, uint32_t(input.below(3)),
			       uint32_t(input.below(3)), ONLINE_ALL, uint32_t(input.below(4))});
		break;
	case 3:
		bring(world, input, MessageKind::Instances, 0,
		      InstanceNews{1 + (input.byte() & 2u), uint32_t(input.below(4)),
				   input.byte() & 1 ? input.word() | ARIES_CE_INST_VALID_MASK : 0, input.word()});
		break;
	case 4:
		world.contribute();
		break;
	case 5:
		any_response(world, input);
		break;
	case 6:
		bring(world, input, MessageKind::Network, 0,
		      NetworkNews{uint32_t(input.below(5)), uint32_t(input.below(3)), input.below(9),
				  uint32_t(input.below(4)), uint32_t(input.below(2)), input.below(2)});
		break;
	default:
		any_request(world, input);
	}
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static World world;
	Input input(data, size);

	while (input.more())
		any_message(world, input);
	if (size % 4 == 0)
		world.flap();
	world.settle();
	return 0;
}
