/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many NICs at once, as fast as they can, while the host's clock stands still: how much time passes in the model is
 * then its own doing. NICs are the units that make time here, without memory or registers.
 */
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "link/timing.hpp"
#include "nic/time/traffic.hpp"
#include "tests/cmocka_cpp.hpp"
#include "tests/machine.hpp"

using namespace aries;

namespace
{

constexpr uint64_t HOST = 5'000'000'000;

uint64_t standing_clock()
{
	return HOST;
}

struct Sender {
	Faults faults;
	CounterBlock counters, shared;
	Orb orb;
	Traffic traffic;

	Sender(Network &net, uint32_t node) : traffic(node, net, faults, shared, orb, standing_clock) {}

	/* One operation; its times. */
	Passage send(PacketKind kind, uint32_t target, uint32_t bytes, uint16_t mode, uint64_t hash)
	{
		const Transaction transaction = Transaction::of(kind, mode, target, bytes, hash);
		Passage passage;

		assert_int_equal(traffic.send(transaction, traffic.at(HOST), counters, passage), ARIES_ST_OK);
		return passage;
	}

	/* An atomic that returns nothing. */
	void atomic(uint32_t target, bool hit, bool walked, uint64_t hash)
	{
		const Transaction transaction = Transaction::of(PacketKind::Amo, 0, target, 8, hash);
		const uint64_t now = traffic.at(HOST);
		Passage passage;

		assert_int_equal(traffic.request(transaction, now, counters, passage), ARIES_ST_OK);
		traffic.serve_atomic(target, hit, walked, false, passage);
		traffic.respond(transaction, now, counters, passage);
	}
};

class Senders
{
public:
	explicit Senders(const DragonflyShape &shape) : machine(shape), random_(1)
	{
		for (uint32_t node = 0; node < shape.nodes; node++)
			nic_.push_back(std::make_unique<Sender>(machine.net, node));
	}

	Sender &operator[](size_t node) { return *nic_[node]; }
	uint32_t size() const { return uint32_t(nic_.size()); }
	uint64_t now() { return machine.net.clock().at(HOST); }
	uint64_t random() { return random_ = mix64(random_); }

	Machine machine;

private:
	std::vector<std::unique_ptr<Sender>> nic_;
	uint64_t random_;
};

/*
 * Every NIC has something to send whenever it has room for it; when none has, modelled time passes by what is left of
 * the way of one packet in a thousand.
 * @send: an operation of a node, returns its bytes
 * Return: GB/s of a node, after a time in which the network fills up
 */
template <typename Send> double throughput(Senders &nics, uint64_t fill_ns, uint64_t measure_ns, Send &&send)
{
	const uint64_t start = nics.now();
	uint64_t bytes = 0, from = 0;

	while (nics.now() < start + fill_ns + measure_ns) {
		const uint64_t now = nics.now();
		bool sent = false;

		if (!from && now >= start + fill_ns) {
			from = now;
			bytes = 0;
		}
		for (uint32_t node = 0; node < nics.size(); node++) {
			if (nics[node].orb.used(now) < ARIES_ORB_ENTRIES) {
				const uint64_t before = bytes;

				bytes += send(node);
				sent = sent || bytes > before;
			}
		}
		if (!sent)
			nics.machine.net.clock().pass(now + 10, HOST);
	}
	return double(bytes) / double(nics.now() - from) / nics.size();
}

/*
 * T41: three groups with all links there are. Uniform traffic gets what a node's four tiles let through, 7.47 GB/s, and
 * so much that optical links would have to pass more than they do if no node talked to its own group. When all of it
 * goes to other groups they are the bound, 7.5 GB/s, of which non-minimal ways with two of them take a part.
 */
TEST(t41_global_bandwidth)
{
	constexpr uint32_t GROUP = 384;
	constexpr double BOUND = 7.5;
	const auto rate = [](bool others_only) {
		Senders nics({3 * GROUP, 16, 6});

		return throughput(nics, 12'000, 6'000, [&](uint32_t node) {
			const uint32_t random = uint32_t(nics.random() >> 8);
			const uint32_t target = others_only ? node / GROUP * GROUP + GROUP + random % (2 * GROUP)
							    : node + 1 + random % (3 * GROUP - 1);

			nics[node].send(PacketKind::Put, target % nics.size(), 64, DLV_ADAPTIVE3, nics.random());
			return 64;
		});
	};
	const double uniform = rate(false), others = rate(true);

	print_message("%.2f GB/s a node, %.2f to other groups only\n", uniform, others);
	assert_true(uniform > BOUND * 0.95 && uniform < BOUND);
	assert_true(others > BOUND * 0.85 && others < BOUND);
}

/* L08, L10: long puts one way, and both ways at once, between two NICs. */
TEST(l10_both_ways)
{
	const auto rate = [](uint32_t senders) {
		Senders nics(ONE_ROUTER);

		return 4 * throughput(nics, 100'000, 1'000'000, [&](uint32_t node) -> uint64_t {
			       if (node % 2 || node / 2 >= senders)
				       return 0;
			       nics[node].send(PacketKind::Put, 2 - node, 65536, 0, nics.random());
			       return 65536;
		       });
	};
	const double one = rate(1), both = rate(2);

	print_message("one way %.2f, both ways %.2f GB/s\n", one, both);
	assert_true(one > 10.24 * 0.95 && one < 10.24 * 1.01);
	assert_true(both > 15 * 0.95 && both < 15 * 1.01);
}

/*
 * Short packets over the one link between two routers, of one NIC and of four: as many as it passes, and no more. Of
 * its 5.25 GB/s requests make 0.686 payload, and 0.64 when responses to the other side take their part (P06).
 */
TEST(no_link_is_passed_faster_than_it_is_P06)
{
	constexpr uint32_t FLITS = request_flits(PacketKind::Put, 64);
	const double link = double(TICKS_PER_NS) * 1e6 / double(flit_ticks(1'000'000, LINK_FACTORS[0][0]));
	/* Flits a ns of @senders NICs at each of @sides routers, each to a node of its own at the other one. */
	const auto rate = [](uint32_t senders, uint32_t sides, uint16_t mode) {
		Senders nics({8, 0, 0});

		return 8 * throughput(nics, 50'000, 200'000, [&](uint32_t node) -> uint64_t {
			       if (node % 4 >= senders || node / 4 >= sides)
				       return 0;
			       nics[node].send(PacketKind::Put, (4 + node) % 8, 64, mode, 7);
			       return FLITS;
		       });
	};
	const double one = rate(1, 1, DLV_IN_ORDER), all = rate(4, 1, ADAPTIVE), both = rate(4, 2, ADAPTIVE) / 2;
	const auto share = [](double flits) { return flits / FLITS * 64 / 5.25; };

	print_message("%.3f and %.3f flits a ns, a link passes %.3f; payload %.3f, %.3f both ways\n", one, all, link,
		      share(one), share(both));
	assert_true(one > 0.98 * link && one < 1.005 * link);
	assert_true(all > 0.98 * link && all < 1.005 * link);
	assert_true(std::abs(share(one) - 0.686) < 0.01);
	assert_true(std::abs(share(both) - 0.64) < 0.01);
}

/* L01, L02: a put of 8 bytes takes 0.8 us, a get of as many 1.6. */
TEST(l01_l02_quiet_latencies)
{
	Senders nics(ONE_ROUTER);
	const uint64_t put = nics[0].send(PacketKind::Put, 1, 8, 0, 0).latency_ns;
	const uint64_t get = nics[2].send(PacketKind::Get, 3, 8, 0, 0).latency_ns;

	print_message("put %lu ns, get %lu ns\n", put, get);
	assert_in_range(put, 790, 810);
	assert_in_range(get, 1580, 1620);
}

/* L15, L16: what the unit of a NIC does in a second for all others together, by where it finds word and translation. */
TEST(l15_l16_rates_of_atomics)
{
	const auto rate = [](bool hit, bool walked) {
		Senders nics(ONE_ROUTER);

		return 4e3 * throughput(nics, 20'000, 50'000, [&](uint32_t node) -> uint64_t {
			       if (!node)
				       return 0;
			       nics[node].atomic(0, hit, walked, nics.random());
			       return 1;
		       });
	};
	const double hits = rate(true, false), misses = rate(false, false), walks = rate(false, true);

	print_message("%.0f, %.0f and %.0f million a second\n", hits, misses, walks);
	assert_true(hits > 400 * 0.95 && hits < 400 * 1.01);
	assert_true(misses > 120 * 0.95 && misses < 120 * 1.01);
	assert_true(walks > 50 * 0.95 && walks < 50 * 1.01);
}

/* N20: the packet that finds the buffer full leaves when a response is back, and modelled time goes on to there. */
TEST(n20_blocks_in_modelled_time)
{
	Senders nics({8, 0, 0});
	const uint64_t start = nics.now();
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < ARIES_ORB_ENTRIES; i++) {
		const Passage passage = nics[0].send(PacketKind::Put, 4, 64, 0, i);

		assert_int_equal(passage.depart_ns, start + SEND_NS);
		assert_int_equal(nics.now(), start);
		first = std::min(first, passage.back_ns);
	}
	assert_int_equal(nics[0].counters.get(ARIES_CNT_ORB_STALLS), 0);

	const Passage next = nics[0].send(PacketKind::Put, 4, 64, 0, 0);

	assert_int_equal(next.depart_ns, first + SEND_NS);
	assert_int_equal(nics.now(), first);
	assert_int_equal(nics[0].counters.get(ARIES_CNT_ORB_STALLS), 1);
	/* Another NIC has room, and what it sends then is at that time. */
	assert_int_equal(nics[1].send(PacketKind::Put, 2, 8, 0, 0).depart_ns, first + SEND_NS);
	assert_int_equal(nics[1].counters.get(ARIES_CNT_ORB_STALLS), 0);
}

/* R14: nobody injects while the network is quiet, modelled time goes on to its end, and then everything is as before.
 */
TEST(r14_quiesce_holds_injection)
{
	constexpr uint64_t QUIET_NS = 30'000'000, LONGEST = Network::MAX_QUIESCE_NS;
	Senders nics({8, 0, 0});
	Network &network = nics.machine.net;
	const uint64_t start = nics.now();

	assert_false(network.quiesce(start, 0));
	assert_false(network.quiesce(start, LONGEST + 1));
	assert_int_equal(network.quiesce_view(start).count, 0);
	assert_true(network.quiesce(start, QUIET_NS));
	assert_true(network.quiesce(start, QUIET_NS / 2)); /* does not shorten the first one */
	assert_int_equal(network.quiesce_view(start).count, 2);
	assert_int_equal(network.quiesce_view(start).last_ns, QUIET_NS / 2);
	assert_int_equal(network.quiesce_view(start + 1).left_ns, QUIET_NS - 1);

	const Passage held = nics[0].send(PacketKind::Put, 4, 64, 0, 0);

	assert_int_equal(held.depart_ns, start + QUIET_NS + SEND_NS);
	assert_true(held.latency_ns > QUIET_NS);
	assert_int_equal(nics.now(), start + QUIET_NS);
	assert_int_equal(nics[0].counters.get(ARIES_CNT_QUIESCE_STALLS), 1);
	assert_int_equal(nics[0].counters.get(ARIES_CNT_ORB_STALLS), 0);
	assert_int_equal(network.quiesce_view(nics.now()).left_ns, 0);
	assert_int_equal(nics[1].send(PacketKind::Put, 2, 8, 0, 0).depart_ns, start + QUIET_NS + SEND_NS);
	assert_int_equal(nics[1].counters.get(ARIES_CNT_QUIESCE_STALLS), 0);
}

/* However long a NIC has been at it, a neighbour's packet waits for what can be outstanding, not for all of that. */
TEST(nobody_waits_for_more_than_is_outstanding)
{
	Senders nics({4, 0, 0});

	for (uint32_t i = 0; i < 200; i++)
		nics[0].send(PacketKind::Put, 1, 65536, 0, i);
	assert_true(nics.now() > HOST + 199 * 6000);
	const uint64_t now = nics.now();
	const Passage other = nics[2].send(PacketKind::Put, 1, 8, 0, 0);

	/* 1,024 packets at 10.24 GB/s are 6.4 us (N20). */
	print_message("%lu ns\n", other.latency_ns);
	assert_true(other.latency_ns > 500);
	assert_true(other.latency_ns < 2 * 6400 + 2000);
	assert_int_equal(nics.now(), now);
}

/*
 * Responses that are to come when a NIC has sent what it has before do not keep others off their way until then: a put
 * against them waits for what is there, and no tile has anybody wait for it.
 */
TEST(responses_close_no_tile_ahead_of_their_time)
{
	constexpr uint64_t TRAIN_NS = 400; /* of 64 packets at 10.24 GB/s */

	for (uint32_t target : {1u, 2u, 60u}) {
		Senders nics({64, 0, 0});
		uint64_t waited = 0;

		const uint64_t quiet = nics[target].send(PacketKind::Put, 0, 8, DLV_IN_ORDER, 0).latency_ns;

		for (uint32_t i = 0; i < 200; i++)
			nics[0].send(PacketKind::Put, target, 4096, 0, i);
		assert_true(nics.now() > HOST + 180 * TRAIN_NS);
		for (uint32_t i = 0; i < 8; i++) {
			const Passage against = nics[target].send(PacketKind::Put, 0, 8, DLV_IN_ORDER, i);

			assert_true(against.latency_ns <= quiet + TRAIN_NS);
		}
		for (uint32_t tile = NETWORK_TILES; tile < TILES; tile++) {
			const TileCounters counters = nics.machine.net.tile_counters(0, tile);

			waited += std::accumulate(&counters[ARIES_RTR_OUT_STALL], &counters[ARIES_RTR_OUT_STALL] + 4,
						  uint64_t{0});
		}
		print_message("to %u: %lu cycles\n", target, waited);
		assert_true(waited < 8 * TRAIN_NS);
	}
}

/* R12: with one header packets get there in the order in which they left, short ones behind long ones, whoever else is
 * there. */
TEST(r12_ordered_packets_never_overtake)
{
	Machine machine(GROUPS);
	uint64_t random = 3, last = 0, waited = 0, at = NOW;

	for (uint32_t tile = 0; tile < TILE_SLOTS; tile++)
		machine.net.set_lanes(tile % 16, tile / 2, 1 + tile % 3);
	for (uint64_t i = 0; i < 20'000; i++) {
		random = mix64(random);

		/* In groups close together, behind others or on a quiet way. */
		at += random >> 50 & 3 ? 30 : i / 1000 % 2 ? 20 : 3000;
		const auto flits = uint32_t(random >> 7 & 1 ? 24 : 3);
		const auto transit = book(machine.net, 0, 50, PacketClass::Request, flits, DLV_IN_ORDER, 1, at);

		assert_true(transit.reachable);
		if (transit.arrive_ns < last)
			fail_msg("packet %lu of %u flits is there at %lu, one before it at %lu", i, flits,
				 transit.arrive_ns, last);
		waited += transit.arrive_ns - at > 2000;
		last = transit.arrive_ns;
		/* Others on parts of the way. */
		if (i / 1000 % 2)
			book(machine.net, uint32_t(random >> 20) % 16, 48 + uint32_t(random >> 30) % 8,
			     PacketClass::Request, 24, random >> 40 & 1 ? ADAPTIVE : DLV_MIN_HASH, random, at);
	}
	assert_true(waited > 0);
}

} // namespace

TEST_MAIN("tests")
