/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is changed in the network of one host is changed on the others. */
#include "tests/network_sides.hpp"
#include "tests/operator.hpp"
#include "tests/two_hosts.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace aries_test;
using aries::Network;
using aries::NetworkNews;
using aries::NetworkPart;
using aries::SharedNetwork;
using namespace std::chrono_literals;

namespace
{

TEST(links)
{
	Sides s;

	for (const uint32_t router : {0U, 5U}) {
		const uint32_t tile = linked_tile(s.a.net, router, router == 0);
		const aries::LinkEnd far = s.a.link(router, tile).far;

		assert_true(s.a.net.set_link(router, tile, false));
		s.exchange();
		assert_false(s.b.link(router, tile).up);
		assert_false(s.b.link(far.router, far.tile).up);
		assert_true(s.b.net.set_lanes(router, tile, 2));
		assert_true(s.b.net.set_error_rate(router, tile, 1e-5F));
		s.exchange();
		assert_int_equal(s.a.link(router, tile).lanes, 2);
		assert_true(s.a.link(router, tile).error_rate == 1e-5F && s.a.net.noisy());
		assert_false(s.a.link(router, tile).up);
		assert_true(s.b.net.set_link(router, tile, true));
		s.exchange();
		assert_true(s.a.link(router, tile).up);
		assert_int_equal(s.a.link(far.router, far.tile).lanes, 2);
	}
}

/* Of many changes on one host and a few on the other. */
TEST(the_next_change_counts)
{
	Sides s;
	const uint32_t tile = linked_tile(s.a.net, 0, true);

	for (unsigned int n = 0; n < 9; n++) {
		assert_true(s.b.net.set_link(0, tile, n % 2));
		s.exchange();
	}
	assert_true(s.a.net.set_link(0, tile, true));
	s.exchange();
	assert_true(s.a.link(0, tile).up && s.b.link(0, tile).up);
}

TEST(nics_and_time)
{
	Sides s;

	s.a.net.set_nic_link(3, false);
	s.exchange();
	assert_false(s.b.net.nic_link(3));
	s.b.net.set_nic_link(3, true);
	s.exchange();
	assert_true(s.a.net.nic_link(3));
	for (const double rate : {0.25, 1e-6, 1e3, 0.1, 1.0}) {
		assert_true(s.a.net.clock().set_rate(rate, SECOND));
		s.a.net.clock().set_holds(rate < 1);
		s.exchange();
		assert_true(s.b.net.clock().rate() == s.a.net.clock().rate());
		assert_true(s.b.net.clock().holds() == (rate < 1));
	}
}

TEST(quiesces)
{
	Sides s;

	assert_true(s.a.net.quiesce(SECOND, 5000000));
	s.exchange();
	assert_int_equal(s.b.net.quiesce_view(SECOND).count, 1);
	assert_int_equal(s.b.net.quiesce_view(SECOND).left_ns, 5000000);
	/* It is over: another one is another event. */
	assert_true(s.b.net.quiesce(SECOND, 7000000));
	s.exchange();
	assert_int_equal(s.a.net.quiesce_view(SECOND).count, 2);
	assert_int_equal(s.a.net.quiesce_view(SECOND).left_ns, 7000000);
	assert_int_equal(s.b.net.quiesce_view(SECOND).count, 2);
}

/* The later change counts, on both hosts; one at the same time on both is the same on both afterwards. */
TEST(parted_and_met_again)
{
	Sides s;
	const uint32_t tile = linked_tile(s.a.net, 0, true);

	assert_true(s.a.net.set_link(0, tile, false));
	s.exchange();
	(void)s.a.look();
	assert_true(s.b.net.set_link(0, tile, true));
	s.meet();
	assert_true(s.a.link(0, tile).up);
	assert_true(s.a.net.set_lanes(0, tile, 1));
	assert_true(s.b.net.set_lanes(0, tile, 2));
	s.meet();
	assert_int_equal(s.a.link(0, tile).lanes, s.b.link(0, tile).lanes);
	assert_true(s.a.net.set_lanes(0, tile, 3));
	s.meet();
	assert_int_equal(s.b.link(0, tile).lanes, 3);
}

TEST(random_changes_agree_in_the_end)
{
	Sides s;
	std::mt19937 random{7};

	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int n = 0; n < 6; n++) {
			Side &side = random() % 2 ? s.a : s.b;
			const auto router = uint32_t(random() % 4);
			const uint32_t tile = linked_tile(side.net, router, router == 0);

			if (random() % 3)
				assert_true(side.net.set_link(router, tile, random() % 2));
			else
				side.net.set_nic_link(uint32_t(random() % NODES), random() % 2);
			if (random() % 2)
				(void)side.look();
		}
		s.meet();
		for (uint32_t router = 0; router < 4; router++)
			for (uint32_t tile = 0; tile < aries::NETWORK_TILES; tile++)
				assert_int_equal(s.a.link(router, tile).up, s.b.link(router, tile).up);
		for (uint32_t node = 0; node < NODES; node++)
			assert_int_equal(s.a.net.nic_link(node), s.b.net.nic_link(node));
	}
}

/* Of a gateway that was started again. */
TEST(faults_from_before)
{
	Side a(0);
	const uint32_t tile = linked_tile(a.net, 0, true);

	assert_true(a.net.set_link(0, tile, false));
	a.net.set_nic_link(2, false);
	SharedNetwork again(a.net, NODES, 0);
	Side b(1);

	b.take(again.all());
	assert_false(b.link(0, tile).up);
	assert_false(b.net.nic_link(2));
	assert_int_equal(again.all().size(), 2);
}

TEST(news_that_make_no_sense)
{
	Sides s;
	const uint32_t tile = linked_tile(s.a.net, 0, true), other = linked_tile(s.a.net, 5, false);
	const auto link = [](uint32_t router, uint32_t at, uint64_t value) {
		return NetworkNews{uint32_t(NetworkPart::Link), 1, 1, router, at, value};
	};
	const auto part = [](NetworkPart kind, uint32_t at, uint32_t at_tile, uint64_t value) {
		return NetworkNews{uint32_t(kind), 1, 1, at, at_tile, value};
	};
	const auto noise = [](float rate) { return uint64_t{std::bit_cast<uint32_t>(rate)} << 32; };
	NetworkNews late = link(0, tile, 1);

	late.number = UINT64_MAX;
	for (const NetworkNews &news : {part(NetworkPart(0), 0, 0, 0),
					part(NetworkPart(5), 0, 0, 0),
					link(1 << 30, 0, 1),
					link(0, 99, 1),
					link(5, other, 1),
					link(0, tile, 2),
					link(0, tile, 3 << 8),
					link(0, tile, 0xff00),
					link(0, tile, noise(2)),
					link(0, tile, noise(-1)),
					link(0, tile, noise(std::numeric_limits<float>::quiet_NaN())),
					late,
					part(NetworkPart::Nic, NODES, 0, 1),
					part(NetworkPart::Nic, 0, 1, 1),
					part(NetworkPart::Nic, 0, 0, 2),
					part(NetworkPart::Time, 1, 0, 1),
					part(NetworkPart::Time, 0, 0, uint64_t{1} << 62),
					part(NetworkPart::Time, 0, 0, uint64_t(-(int64_t{1} << 32)) << 1 >> 1),
					part(NetworkPart::Quiesce, 0, 0, 0),
					part(NetworkPart::Quiesce, 0, 0, Network::MAX_QUIESCE_NS + 1),
					part(NetworkPart::Quiesce, 0, 1, 1)})
		assert_non_null(s.a.shared().take(news, SECOND));
	assert_true(s.a.machine.quiet());
	assert_true(s.a.look().empty());
}

/* ---- Through carriers ---- */

TEST(a_node_that_is_cut_off_elsewhere)
{
	TwoHosts p;
	char err[200];

	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(aries_nic_set_fault(p.b.nic(), "link", 0, err, sizeof(err)), 0);
		p.wait([&] { return p.send(1, 0) == ARIES_ST_NO_NODE; });
		assert_int_equal(aries_nic_set_fault(p.b.nic(), "link", 1, err, sizeof(err)), 0);
		p.wait([&] { return p.send(1, 0) == ARIES_ST_OK; });
	}
}

/* It stays cut off while its host is away and when it is back. */
TEST(a_cut_outlasts_a_parting)
{
	TwoHosts p;
	const Operator op_a(p.path[0]);
	Operator op_b(p.path[1]);

	op_b.net.set_nic_link(1, false);
	p.wait([&] { return !op_a.net.nic_link(1); });
	for (unsigned int round = 0; round < 3; round++) {
		p.wire.part();
		p.wait_for(ARIES_NODE_DEAD);
		p.wire.join();
		p.wait_for(ARIES_NODE_UP);
		assert_false(op_a.net.nic_link(1));
		assert_false(op_b.net.nic_link(1));
	}
	/* Changed while nobody could tell. */
	p.wire.part();
	p.wait_for(ARIES_NODE_DEAD);
	op_b.net.set_nic_link(1, true);
	std::this_thread::sleep_for(200ms); /* its gateway has noticed */
	p.wire.join();
	p.wait([&] { return op_a.net.nic_link(1); });
	p.wait_for(ARIES_NODE_UP);
	assert_true(op_b.net.nic_link(1));
}

TEST(a_quiesce_is_one_of_all_hosts)
{
	TwoHosts p;
	Operator op_a(p.path[0]);
	const Operator op_b(p.path[1]);

	op_a.quiesce(20 * SECOND);
	p.wait([&] { return op_b.net.quiesce_view(op_b.now()).count == 1; });
	assert_int_equal(op_b.net.quiesce_view(op_b.now()).last_ns, 20 * SECOND);
	assert_true(op_b.net.quiesce_view(op_b.now()).left_ns > 0);
	assert_int_equal(op_a.net.quiesce_view(op_a.now()).count, 1);
}

TEST(refused_by_a_carrier)
{
	TwoHosts p;
	struct {
		aries::MessageHeader header;
		NetworkNews news;
	} text = {{uint32_t(aries::MessageKind::Network), 0, 0}, {uint32_t(NetworkPart::Nic), 0, 1, 99, 0, 1}};
	const auto *bytes = reinterpret_cast<const std::byte *>(&text);
	uint64_t count = 0;

	for (const size_t size : {sizeof(text), sizeof(text) - 1}) {
		p.wire.inject(1, {bytes, bytes + size});
		count++;
		p.wait([&] { return p.carrier[1]->figures().refused == count; });
	}
}

} // namespace

TEST_MAIN("network news")
