// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The gateways' protocol without libfabric: two hubs over a link in memory that loses, doubles and cuts as told. Frames
 * of anybody, clocks and hosts files.
 */
#include <cmath>
#include <deque>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/segment.hpp"
#include "gateway/hub.hpp"
#include "tests/cmocka_cpp.hpp"

using namespace aries;
using namespace aries::gateway;

namespace
{

constexpr uint64_t MS = 1'000'000;

const char *const HOSTS = "alpha 10.0.0.1 0-3\nbeta 10.0.0.2:7000 4-7\n";

std::vector<Host> hosts_of(const std::string &text)
{
	std::istringstream in(text);

	return parse_hosts(in, "hosts");
}

FabricKey key_of(uint8_t byte)
{
	KeyBytes key;

	key.fill(std::byte(byte));
	return FabricKey(key);
}

/* Where frames of one host go. */
class Link : public Transport
{
public:
	bool transmit(uint32_t, Bytes frame) noexcept override
	{
		recorded.emplace_back(frame.begin(), frame.end());
		if (cut || (losing && random() % 100 < losing))
			return true;
		for (unsigned int i = 0; i <= (doubling && random() % 100 < doubling); i++)
			frames.emplace_back(frame.begin(), frame.end());
		return true;
	}
	void reconnect(uint32_t) noexcept override { reconnects++; }
	void transmit_to(const Host &, Bytes frame) noexcept override { transmit(0, frame); }

	std::deque<std::vector<std::byte>> frames, recorded;
	bool cut = false;
	unsigned int losing = 0, doubling = 0, reconnects = 0;
	std::mt19937 random{1};
};

struct End {
	End(const std::vector<Host> &hosts, uint32_t self, const FabricKey &key, const std::string &shape)
		: hub(hosts, self, shape, {}, key, {1000 * MS, 8}, link, 0)
	{
	}

	void note(Events &events)
	{
		for (const Notice &notice : events.notices) {
			ups += notice.kind == Notice::Kind::Up;
			downs += notice.kind == Notice::Kind::Down;
			lost += notice.kind == Notice::Kind::Down ? notice.lost->outstanding().messages : 0;
			if (notice.kind == Notice::Kind::Log)
				lines.push_back(notice.text);
		}
		for (const Bytes message : events.messages) {
			uint32_t number;

			std::memcpy(&number, message.data(), sizeof(number));
			came.push_back(number);
		}
		events.clear();
	}

	Link link;
	Hub hub;
	unsigned int ups = 0, downs = 0;
	uint64_t lost = 0;
	std::vector<std::string> lines;
	std::vector<uint32_t> came;
};

/* alpha and beta, and time in steps of 1 ms. */
struct Pair {
	explicit Pair(const FabricKey &other = key_of(1), const std::string &shape = "s",
		      const std::string &hosts = HOSTS)
		: a(hosts_of(HOSTS), 0, key_of(1), "s"), b(hosts_of(hosts), 1, other, shape)
	{
	}

	void deliver(End &from, End &to)
	{
		while (!from.link.frames.empty()) {
			Events events;
			const std::vector<std::byte> frame = std::move(from.link.frames.front());

			from.link.frames.pop_front();
			to.hub.receive(frame, now, events);
			to.note(events);
		}
	}

	void run(unsigned int ms)
	{
		for (; ms; ms--, now += MS) {
			for (End *end : {&a, &b}) {
				Events events;

				end->hub.service(now);
				end->hub.tick(now, events);
				end->note(events);
			}
			deliver(a, b);
			deliver(b, a);
		}
	}

	/* Sends numbers from alpha on; false when there is no room. */
	bool send(uint32_t number, size_t bytes)
	{
		std::vector<std::byte> message(bytes);

		std::memcpy(message.data(), &number, sizeof(number));
		return a.hub.send(1, Bytes(message).first(4), Bytes(message).subspan(4), now);
	}

	uint64_t now = 1;
	End a, b;
};

void in_order(const std::vector<uint32_t> &came, uint32_t count)
{
	assert_int_equal(came.size(), count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(came[i], i);
}

TEST(test_once_and_in_order)
{
	Pair pair;

	pair.run(10);
	assert_int_equal(pair.a.ups, 1);
	assert_int_equal(pair.b.ups, 1);
	pair.a.link.losing = pair.b.link.losing = 20;
	pair.a.link.doubling = pair.b.link.doubling = 20;
	for (uint32_t i = 0; i < 3000;) {
		if (pair.send(i, i % 7 ? 40 : 20000))
			i++;
		else
			pair.run(1);
	}
	pair.a.link.losing = pair.b.link.losing = 0;
	pair.run(1000);
	in_order(pair.b.came, 3000);
	assert_true(pair.a.hub.idle());
	assert_int_equal(pair.a.downs + pair.b.downs, 0);
	assert_true(pair.a.hub.status(pair.now)[0].counters.replays > 0);
}

TEST(test_flap)
{
	Pair pair;

	pair.run(10);
	for (uint32_t i = 0; i < 20; i++)
		assert_true(pair.send(i, 100));
	pair.a.link.cut = pair.b.link.cut = true;
	for (uint32_t i = 20; i < 40; i++)
		assert_true(pair.send(i, 100));
	pair.run(600);
	assert_true(pair.a.link.reconnects > 0);
	pair.a.link.cut = pair.b.link.cut = false;
	pair.run(600);
	in_order(pair.b.came, 40);
	assert_int_equal(pair.a.downs + pair.b.downs, 0);
}

/* Alpha hears beta all the time, but is not heard: it has to leave its connection, too. */
TEST(test_flap_of_one_direction)
{
	Pair pair;

	pair.run(10);
	pair.a.link.cut = true;
	for (uint32_t i = 0; i < 20; i++)
		assert_true(pair.send(i, 100));
	pair.run(600);
	assert_true(pair.a.link.reconnects > 0);
	assert_int_equal(pair.a.lines.size(), 1);
	assert_non_null(strstr(pair.a.lines[0].c_str(), "has not answered for"));
	pair.a.link.cut = false;
	pair.run(600);
	in_order(pair.b.came, 20);
	assert_int_equal(pair.a.downs + pair.b.downs, 0);

	/* No more than a beat in vain is missing now. */
	const unsigned int before = pair.a.link.reconnects;

	pair.run(2000);
	assert_int_equal(pair.a.link.reconnects, before);
}

TEST(test_long_cut)
{
	Pair pair;

	pair.run(10);
	pair.a.link.cut = pair.b.link.cut = true;
	for (uint32_t i = 0; i < 5; i++)
		assert_true(pair.send(i, 100));
	pair.run(1500);
	assert_int_equal(pair.a.downs, 1);
	assert_int_equal(pair.b.downs, 1);
	assert_int_equal(pair.a.lost, 5);
	assert_false(pair.send(5, 100));
	pair.a.link.cut = pair.b.link.cut = false;

	/* What was recorded of the old session does not come through in the new one. */
	const std::deque<std::vector<std::byte>> old = pair.a.link.recorded;

	pair.run(1500);
	assert_int_equal(pair.a.ups, 2);
	pair.a.link.frames.insert(pair.a.link.frames.end(), old.begin(), old.end());
	pair.run(50);
	assert_int_equal(pair.b.came.size(), 0);
	assert_int_equal(pair.a.downs + pair.b.downs, 2);
}

TEST(test_replayed_and_forged)
{
	Pair pair;

	pair.run(10);
	for (uint32_t i = 0; i < 50; i++) {
		assert_true(pair.send(i, 100));
		pair.run(1);
	}
	pair.run(100);
	const std::deque<std::vector<std::byte>> old = pair.a.link.recorded;

	for (std::vector<std::byte> frame : old) {
		pair.a.link.frames.push_back(frame);
		frame[pair.a.link.random() % frame.size()] ^= std::byte(1 << pair.a.link.random() % 8);
		pair.a.link.frames.push_back(frame);
	}
	pair.run(200);
	in_order(pair.b.came, 50);
	assert_int_equal(pair.a.downs + pair.b.downs, 0);
	assert_true(pair.b.hub.status(pair.now)[0].counters.rejected > 0);

	/* Nor are they a sign of life, the last one included. */
	pair.a.link.cut = true;
	const std::deque<std::vector<std::byte>> all = pair.a.link.recorded;

	for (unsigned int i = 0; i < 15; i++) {
		pair.a.link.frames.insert(pair.a.link.frames.end(), all.begin(), all.end());
		pair.run(100);
	}
	assert_int_equal(pair.b.downs, 1);
}

TEST(test_anything_may_come)
{
	Pair pair;
	std::mt19937 random(7);

	pair.run(10);
	for (unsigned int i = 0; i < 20000; i++) {
		std::vector<std::byte> frame = i % 2 ? pair.a.link.recorded[random() % pair.a.link.recorded.size()]
						     : std::vector<std::byte>(random() % 300);

		for (unsigned int n = i % 2 ? random() % 4 : frame.size(); n && !frame.empty(); n--)
			frame[random() % frame.size()] = std::byte(random());
		if (i % 3 == 0 && frame.size() >= FRAME_HEADER) {
			FrameHeader header;

			header.type = FrameType(random() % 9);
			header.body = uint32_t(frame.size() - FRAME_HEADER - (random() % 2 ? FRAME_TAG : HELLO_TAG));
			std::memcpy(frame.data(), &header, sizeof(header));
		}
		Events events;

		pair.b.hub.receive(frame, pair.now, events);
		pair.b.note(events);
		parse_hello(frame);
		parse_refuse(frame);
		for_each_message(frame, [&frame](Bytes message) {
			assert_true(message.data() + message.size() <= frame.data() + frame.size());
		});
	}
	pair.b.link.frames.clear();
	assert_true(pair.send(0, 100));
	pair.run(50);
	in_order(pair.b.came, 1);
	assert_int_equal(pair.b.downs, 0);
}

/* Somebody with alpha's keys of its session with beta, who does with them what no gateway does. */
class Mad
{
public:
	explicit Mad(Pair &pair) : pair_(pair)
	{
		for (const auto &bytes : pair.a.link.recorded) {
			const auto frame = parse_frame(bytes, HELLO_TAG);
			const auto hello = frame ? parse_hello(frame->body) : std::nullopt;
			const SessionKeys keys =
				hello ? SessionKeys(key_of(1).session_key(), "alpha", hello->nonce, "beta", hello->echo)
				      : SessionKeys();

			if (hello && keys.id() == session())
				keys_ = keys;
		}
		assert_int_equal(keys_.id(), session());
	}

	/* Sends a frame as if it were alpha's next one. */
	void send(FrameHeader header, Bytes body)
	{
		std::vector<std::byte> frame(FRAME_HEADER + body.size() + FRAME_TAG);
		Events events;

		header.session = keys_.id();
		header.number = number_++;
		header.body = uint32_t(body.size());
		std::memcpy(frame.data(), &header, sizeof(header));
		std::copy(body.begin(), body.end(), frame.begin() + FRAME_HEADER);
		keys_.seal(frame);
		pair_.b.hub.receive(frame, pair_.now, events);
		pair_.b.note(events);
	}

private:
	uint64_t session() const { return peek(pair_.a.link.recorded.back()).session; }

	Pair &pair_;
	SessionKeys keys_;
	uint64_t number_ = 1000;
};

/* The messages before the place where a frame stops making sense are not told either: they would come after the end. */
TEST(test_frame_with_nonsense)
{
	Pair pair;

	pair.run(100);
	Mad mad(pair);
	const uint32_t records[] = {4, 0, 1, 0, 1000, 0, 2, 0};
	FrameHeader header;

	header.sequence = header.acknowledged = 1;
	mad.send(header, std::as_bytes(std::span(records).first(4)));
	assert_int_equal(pair.b.came.size(), 1);
	header.sequence++;
	mad.send(header, std::as_bytes(std::span(records)));
	assert_int_equal(pair.b.downs, 1);
	assert_int_equal(pair.b.came.size(), 1);
	assert_string_equal(pair.b.hub.status(pair.now)[0].reason.c_str(), "it sends what are no messages");
	pair.run(5000);
	assert_true(pair.send(7, 100));
	pair.run(50);
	assert_int_equal(pair.b.came.back(), 7);
}

/* Nothing has been sent to the peer, so there is nothing that it could have got. */
TEST(test_acknowledged_before_it_was_sent)
{
	Pair pair;

	pair.run(100);
	Mad mad(pair);
	FrameHeader header;

	header.type = FrameType::Ack;
	header.sequence = header.acknowledged = 1;
	mad.send(header, {});
	assert_int_equal(pair.b.downs, 0);
	header.acknowledged = 2;
	mad.send(header, {});
	assert_int_equal(pair.b.downs, 1);
	assert_string_equal(pair.b.hub.status(pair.now)[0].reason.c_str(), "it acknowledges what was not sent");
}

/* Whatever somebody with the key sends ends his own session at most; another one can be had afterwards. */
TEST(test_mad_with_the_key)
{
	std::mt19937 random(11);
	unsigned int ends = 0;

	for (unsigned int session = 0; session < 200; session++) {
		Pair pair;

		pair.run(100);
		Mad mad(pair);

		for (unsigned int i = 0; i < 50 && !pair.b.downs; i++) {
			std::vector<std::byte> body(random() % 200);
			FrameHeader header;

			for (std::byte &byte : body)
				byte = std::byte(random() % 4 ? 0 : random());
			header.type = FrameType(3 + random() % 4);
			header.flags = uint16_t(random() % 2);
			header.sequence = random() % 8 ? i : random();
			header.acknowledged = random() % 32 ? 0 : random();
			mad.send(header, body);
		}
		ends += pair.b.downs;
		pair.run(5000);
		const size_t before = pair.b.came.size();

		assert_true(pair.send(session, 100));
		pair.run(50);
		assert_int_equal(pair.b.came.size(), before + 1);
		assert_int_equal(pair.b.came.back(), session);
	}
	assert_true(ends > 50);
}

void refused(Pair &pair, const std::string &cause)
{
	pair.run(3000);
	for (const End *end : {&pair.a, &pair.b}) {
		assert_int_equal(end->ups, 0);
		assert_int_equal(end->lines.size(), 1);
		assert_non_null(strstr(end->lines[0].c_str(), cause.c_str()));
	}
}

TEST(test_refused)
{
	Pair key(key_of(2)), shape(key_of(1), "t"), nodes(key_of(1), "s", "alpha 10.0.0.1 9\nbeta 10.0.0.2:7000 2-4\n");

	refused(key, "has another key");
	refused(shape, "is of the fabric '");
	refused(nodes, "nodes 2-3 are at");
}

TEST(test_other_version)
{
	Pair pair;
	Events events;

	pair.a.hub.tick(pair.now, events);
	assert_int_equal(pair.a.link.frames.size(), 1);
	pair.a.link.frames[0][4] = std::byte(2);
	pair.deliver(pair.a, pair.b);
	assert_int_equal(pair.b.lines.size(), 1);
	assert_non_null(strstr(pair.b.lines[0].c_str(), "beta speaks version 1, alpha version 2"));
	assert_int_equal(pair.b.link.frames.size(), 1); // a refusal, in our version
	assert_true(peek(pair.b.link.frames[0]).type == FrameType::Refuse);
}

TEST(test_clock)
{
	Clock clock(1000 * MS);
	std::mt19937 random(3);
	constexpr int64_t AHEAD = 77'000'000'000;

	/* 50 ppm faster, 1 ms there and 1 ms back, and up to 20 ms more on either way. */
	for (uint64_t now = 0; now < 60'000 * MS; now += 100 * MS) {
		const uint64_t there = MS + random() % (20 * MS), back = MS + random() % (20 * MS);
		const auto theirs = [](uint64_t ours) { return uint64_t(int64_t(ours) + AHEAD) + ours / 20'000; };

		clock.add(now, theirs(now + there), theirs(now + there + 1000), now + there + 1000 + back);
	}
	const ClockEstimate estimate = clock.estimate(60'000 * MS);

	assert_true(estimate.known && estimate.drift_known);
	assert_true(estimate.drift_ppm > 0 && estimate.drift_ppm < 150);
	assert_true(std::abs(estimate.offset_ns - AHEAD - 3'000'000) < int64_t(estimate.uncertainty_ns) + 1'000'000);
}

void bad(const char *text, const char *cause)
{
	try {
		hosts_of(text);
	} catch (const Error &error) {
		if (!strstr(error.what(), cause))
			fail_msg("'%s' instead of '%s'", error.what(), cause);
		return;
	}
	fail_msg("taken: %s", text);
}

TEST(test_hosts)
{
	const std::vector<Host> hosts = hosts_of("# c\n\na 10.0.0.1 5 # c\nb [fd00::1]:80 6-9\nc fd00:0::2 10\n");

	assert_int_equal(hosts.size(), 3);
	assert_string_equal(hosts[0].where().c_str(), "10.0.0.1:7741");
	assert_string_equal(hosts[1].where().c_str(), "[fd00::1]:80");
	assert_string_equal(hosts[2].where().c_str(), "[fd00::2]:7741");
	assert_true(hosts[1].nodes == (NodeRange{6, 9}));
	bad("", "names no host");
	bad("a 10.0.0.1\n", "hosts:1: a host has");
	bad("\na 10.0.0 1\n", "hosts:2: '10.0.0' is no address");
	bad("a 0.0.0.0 1\n", "every address");
	bad("a 10.0.0.1:0 1\n", "'0' is no port");
	bad("a 10.0.0.1:x 1\n", "'x' is no port");
	bad("a [fd00::1 1\n", "is no address");
	bad("a 10.0.0.1 4-3\n", "ends before it begins");
	bad("a 10.0.0.1 -1\n", "are no nodes");
	bad("a 10.0.0.1 0-262144\n", "are no nodes");
	bad("/a 10.0.0.1 1\n", "is no name");
	bad("a 10.0.0.1 1\na 10.0.0.2 2\n", "hosts:2: host a is there twice");
	bad("a 10.0.0.1 1\nb 10.0.0.1 2\n", "is the address of a, too");
	bad("a 10.0.0.1 1-5\nb 10.0.0.2 4-9\n", "hosts:2: nodes 4-5 are at a, too");
}

std::string why_no_key(const std::string &file)
{
	try {
		(void)FabricKey::load(file);
	} catch (const Error &error) {
		return error.what();
	}
	return {};
}

/* A key is its owner's alone, and a whole one. */
TEST(test_key_files)
{
	char folder[] = "/tmp/aries-keys-XXXXXX";

	assert_non_null(mkdtemp(folder));
	const std::string file = std::string(folder) + "/key";

	FabricKey::make(file);
	assert_string_equal(why_no_key(file).c_str(), "");
	for (mode_t more : {S_IRGRP, S_IWGRP, S_IXGRP, S_IROTH, S_IWOTH, S_IXOTH}) {
		assert_int_equal(chmod(file.c_str(), S_IRUSR | S_IWUSR | more), 0);
		assert_non_null(strstr(why_no_key(file).c_str(), "others may read or change the key file"));
	}
	assert_int_equal(chmod(file.c_str(), S_IRUSR | S_IWUSR), 0);
	assert_string_equal(why_no_key(file).c_str(), "");
	assert_int_equal(truncate(file.c_str(), 63), 0);
	assert_non_null(strstr(why_no_key(file).c_str(), "holds no key"));
	assert_non_null(strstr(why_no_key(folder).c_str(), "is no file"));
	assert_int_equal(unlink(file.c_str()), 0);
	assert_non_null(strstr(why_no_key(file).c_str(), "cannot read the key file"));
	assert_int_equal(rmdir(folder), 0);
}

} // namespace

TEST_MAIN("tests")
