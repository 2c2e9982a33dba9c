// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets from end to end over five links with bit errors, the longest minimal way of a machine: none is lost, doubled,
 * overtaken or wrong (P09, P18). A million packets, 100 million with OPENGNI_SLOW=1.
 */
#include "lcb_rig.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "packet/packet.hpp"

using namespace aries;

namespace
{

constexpr uint32_t LINKS = 5;
constexpr uint32_t KEY = 0x5eed;
constexpr uint64_t LATENCY = ns_to_ticks(60);
constexpr uint64_t STEP = 730; /* ticks; a set takes 731 */

/* Packet number n, of any length: all of it follows from the number. */
Request packet_of(uint64_t n)
{
	BitRandom random(n);
	const uint64_t bits = random.next();
	Request r{};

	r.kind = bits & 1 ? PacketKind::Put : PacketKind::Get;
	r.to = {static_cast<uint32_t>(bits >> 1 & 0x3ffff), static_cast<uint16_t>(bits >> 19 & 0xfff),
		n & 0xffffffffff};
	r.source = static_cast<uint32_t>(bits >> 31 & 0x3ffff);
	r.key = KEY;
	r.packet_id = static_cast<uint16_t>(n & 0x3ff);
	r.bytes = static_cast<uint8_t>(1 + (bits >> 49) % 64);
	if (r.kind == PacketKind::Get)
		return r;
	for (uint32_t i = 0; i < r.bytes; i += 8) {
		const uint64_t data = random.next();

		for (uint32_t b = i; b < i + 8 && b < r.bytes; b++)
			r.data[b] = static_cast<uint8_t>(data >> (b - i) * 8);
	}
	return r;
}

bool same(const Request &a, const Request &b)
{
	return a.kind == b.kind && a.to.pe == b.to.pe && a.to.mdh == b.to.mdh && a.to.offset == b.to.offset &&
	       a.source == b.source && a.packet_id == b.packet_id && a.bytes == b.bytes && a.data == b.data;
}

/* What has come over one link and waits for the next: a router's buffer. */
class Queue
{
public:
	bool empty() const { return head_ == tail_; }
	bool full() const { return tail_ - head_ == SIZE; }
	uint64_t front() const { return flits_[head_ % SIZE]; }
	void pop() { head_++; }

	void push(uint64_t flit)
	{
		assert_false(full());
		flits_[tail_++ % SIZE] = flit;
	}

private:
	static constexpr uint64_t SIZE = 1u << 20;

	std::array<uint64_t, SIZE> flits_;
	uint64_t head_ = 0, tail_ = 0;
};

/* The end of the way: puts flits together, checks what has become a packet. */
class Sink
{
public:
	void take(uint64_t flit)
	{
		assert_true(count_ < MAX_PACKET_FLITS);
		flits_[count_++] = flit & LCB_FLIT;
		if (flit & LCB_END)
			finish();
	}

	uint64_t packets = 0;

private:
	void finish()
	{
		const std::span<const uint64_t> flits(flits_.data(), count_);
		Request request;

		if (decode(flits, request) != DecodeResult::Ok || check(flits, KEY) != DecodeResult::Ok)
			fail_msg("packet %lu is damaged", packets);
		if (!same(request, packet_of(packets)))
			fail_msg("not packet %lu, but %lu", packets, static_cast<unsigned long>(request.to.offset));
		packets++;
		count_ = 0;
	}

	std::array<uint64_t, MAX_PACKET_FLITS> flits_;
	uint32_t count_ = 0;
};

/* The beginning: makes packets as fast as the first link takes them. */
class Source
{
public:
	explicit Source(uint64_t packets) : packets_(packets) {}

	void fill(LcbEnd &end)
	{
		while (next_ < packets_ || at_ < packet_.count) {
			if (at_ == packet_.count) {
				assert_true(encode(packet_of(next_++), packet_));
				at_ = 0;
			}

			const uint64_t last = at_ + 1 == packet_.count ? LCB_END : 0;

			if (!end.push(packet_.flit[at_] | last))
				return;
			at_++;
		}
	}

private:
	uint64_t packets_;
	uint64_t next_ = 0;
	FlitPacket packet_{};
	uint32_t at_ = 0;
};

struct Path {
	explicit Path(double rate)
	{
		for (uint32_t i = 0; i < LINKS; i++) {
			links[i] = std::make_unique<LcbLink>(
				LcbLinkShape{.latency = LATENCY, .error_rate = {rate, rate}, .seed = 100 + i});
		}
	}

	void run(Source &source, Sink &sink, uint64_t until)
	{
		LcbArrival arrival;

		source.fill(links[0]->end(0));
		for (uint32_t i = 0; i < LINKS; i++) {
			Queue &before = queues[i];

			while (!before.empty() && links[i]->end(0).push(before.front()))
				before.pop();
			while (links[i]->advance(until, arrival)) {
				assert_int_equal(arrival.side, 1);
				for (const uint64_t flit : arrival.flits) {
					if (i + 1 == LINKS)
						sink.take(flit);
					else
						queues[i + 1].push(flit);
				}
			}
		}
	}

	std::array<std::unique_ptr<LcbLink>, LINKS> links;
	std::array<Queue, LINKS> queues; /* before each link */
};

void send(uint64_t packets, double rate)
{
	const auto path = std::make_unique<Path>(rate);
	Source source(packets);
	Sink sink;
	uint64_t replays = 0;
	double expected = 0;
	uint64_t now = 0;

	for (; sink.packets < packets; now += STEP) {
		/* A packet of 14 flits takes 2 sets, and no line is that bad. */
		assert_true(now < STEP * (packets * 20 + 10000));
		path->run(source, sink, now);
	}
	path->run(source, sink, now + 100 * STEP);
	assert_int_equal(sink.packets, packets);
	for (const auto &link : path->links) {
		const auto &sent = link->end(0).counters();

		replays += sent.replays;
		/* Sets that are damaged, of those that are not skipped because of one before. */
		expected += double(sent.sets + sent.empty - link->end(1).counters().skipped) *
			    (1 - std::pow(1 - rate, SET_BITS));
		assert_int_equal(link->undetected(0) + link->undetected(1), 0);
	}
	print_message("rate %g: %lu packets in %lu us over %u links, %lu replays, %.0f expected\n", rate, packets,
		      ticks_to_ns(now) / 1000, LINKS, replays, expected);
	/* Errors in what is skipped anyway cost nothing: with many of them replays are fewer. */
	assert_true(std::abs(double(replays) - expected) < std::max(0.05 * expected, 4 * std::sqrt(expected)) ||
		    (rate > 1e-5 && replays > 0.9 * expected && replays < expected));
}

TEST(packets_pass_five_links_P09_P18)
{
	const uint64_t packets = slow_lcb_tests() ? 100'000'000 : 1'000'000;

	send(packets, 1e-5);
	send(packets / 10, 1e-6);
	send(packets / 10, 1e-4);
}

} // namespace

TEST_MAIN("lcb_path")
