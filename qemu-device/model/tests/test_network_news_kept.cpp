/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is changed in a network while no gateway runs there is not undone by the next one. */
#include "tests/network_sides.hpp"
#include "tests/operator.hpp"
#include "tests/two_hosts.hpp"

#include <fstream>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

using namespace aries_test;
using aries::NewsFile;

namespace
{

constexpr uint64_t ORIGIN = 12345;

/** The files of two hosts, beside what stands for their segments. */
struct Files {
	const std::string segment[2] = {fabric_path(), fabric_path()};
	const NewsFile a{segment[0], ORIGIN}, b{segment[1], ORIGIN};

	Files()
	{
		for (const std::string &path : segment)
			std::ofstream(path).put('x');
	}
	~Files()
	{
		for (const std::string &path : segment) {
			aries::remove_beside(path, aries::NEWS_BESIDE);
			aries::remove_beside(path, aries::UNFINISHED_NEWS_BESIDE);
			unlink(path.c_str());
		}
	}
};

/* Both directions, and both gateways at once. */
TEST(changed_while_no_gateway_ran)
{
	const Files f;
	Sides s(&f.a, &f.b);
	const uint32_t tile = linked_tile(s.a.net, 0, true);

	for (unsigned int round = 0; round < 6; round++) {
		Side &one = round % 2 ? s.a : s.b;

		one.net.set_nic_link(3, false);
		assert_true(one.net.set_link(0, tile, false));
		s.exchange();
		assert_false(s.a.net.nic_link(3) || s.b.net.nic_link(3) || s.a.link(0, tile).up ||
			     s.b.link(0, tile).up);
		s.a.net.set_nic_link(3, true);
		assert_true(s.b.net.set_link(0, tile, true));
		if (round != 0)
			s.a.begin();
		if (round != 1)
			s.b.begin();
		s.meet();
		assert_true(s.a.net.nic_link(3) && s.b.net.nic_link(3));
		assert_true(s.a.link(0, tile).up && s.b.link(0, tile).up);
	}
	assert_string_equal((s.a.said + s.b.said).c_str(), "");
}

/* What a gateway was told of and has died right after is no change of its own that would win over a later one. */
TEST(told_and_died)
{
	const Files f;
	Sides s(&f.a, &f.b);

	s.a.net.set_nic_link(1, false);
	s.b.take(s.a.look());
	s.b.begin();
	s.a.net.set_nic_link(1, true);
	s.meet();
	assert_true(s.a.net.nic_link(1) && s.b.net.nic_link(1));
}

/* Each part is changed by one host between two meetings: that change is what both have then. */
TEST(random_changes_and_deaths)
{
	const Files f;
	Sides s(&f.a, &f.b);
	std::mt19937 random{11};
	bool wanted[NODES];

	std::fill(std::begin(wanted), std::end(wanted), true);
	for (unsigned int round = 0; round < 400; round++) {
		const auto owners = uint32_t(random());

		for (unsigned int n = random() % 12; n; n--) {
			const auto node = uint32_t(random() % NODES);
			Side &side = owners >> node & 1 ? s.a : s.b;

			wanted[node] = random() % 2;
			side.net.set_nic_link(node, wanted[node]);
			if (random() % 3 == 0)
				(void)side.look();
			if (random() % 3 == 0)
				(random() % 2 ? s.a : s.b).begin();
		}
		s.meet();
		for (uint32_t node = 0; node < NODES; node++) {
			assert_int_equal(s.a.net.nic_link(node), wanted[node]);
			assert_int_equal(s.b.net.nic_link(node), wanted[node]);
		}
	}
	assert_string_equal((s.a.said + s.b.said).c_str(), "");
}

TEST(files_that_are_none)
{
	const Files f;
	const std::string path = f.segment[0] + aries::NEWS_BESIDE;
	const aries::NetworkNews news[2] = {{uint32_t(aries::NetworkPart::Nic), 0, 1, 5, 0, 1}, {}};
	const NewsFile other(f.segment[0], ORIGIN + 1);

	assert_true(f.a.load().empty());
	f.a.save(std::span(news, 1));
	assert_true(f.a.load().size() == 1 && f.a.load()[0] == news[0]);
	/* Of an earlier fabric with this name. */
	assert_true(other.load().empty());
	f.a.save(news);
	{
		Side side(0, &f.a);

		assert_false(side.said.empty());
		assert_true(side.shared().all().empty()); /* nothing of the part that makes sense either */
	}
	for (const int size : {55, 40, 24, 8, 0}) {
		assert_int_equal(truncate(path.c_str(), size), 0);
		Side side(0, &f.a);

		assert_true(side.said.find("news of the network") != std::string::npos);
		/* It goes on, with a file of its own. */
		side.net.set_nic_link(2, false);
		assert_int_equal(side.look().size(), 1);
		assert_int_equal(f.a.load().size(), 1);
		f.a.save(news);
	}
	unlink(path.c_str());
	assert_int_equal(mkdir(path.c_str(), 0700), 0);
	Side side(0, &f.a);

	side.net.set_nic_link(2, false);
	assert_int_equal(side.look().size(), 1);
	assert_true(side.said.find("not of the owner") != std::string::npos);
	assert_true(side.said.find("cannot write") != std::string::npos);
	assert_int_equal(rmdir(path.c_str()), 0);
	(void)side.look();
	assert_int_equal(f.a.load().size(), 1);
}

/* A cut that ends while the gateway of its host is dead. */
TEST(a_cut_ends_without_a_gateway)
{
	TwoHosts p;
	char err[200];

	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(aries_nic_set_fault(p.b.nic(), "link", 0, err, sizeof(err)), 0);
		p.wait([&] { return p.send(1, 0) == ARIES_ST_NO_NODE; });
		p.wire.attach(1, nullptr);
		p.carrier[1].reset();
		p.wire.part();
		assert_int_equal(aries_nic_set_fault(p.b.nic(), "link", 1, err, sizeof(err)), 0);
		p.start(1);
		p.wire.join();
		p.wait([&] { return p.send(1, 0) == ARIES_ST_OK; });
	}
}

/* Nothing is left of it when the last member goes. */
TEST(gone_with_the_fabric)
{
	std::string left;

	{
		TwoHosts p;

		left = p.path[0] + aries::NEWS_BESIDE;
		Operator(p.path[0]).net.set_nic_link(2, false);
		p.wait([&] { return access(left.c_str(), F_OK) == 0; });
	}
	assert_int_equal(access(left.c_str(), F_OK), -1);
}

} // namespace

TEST_MAIN("network news that are kept")
