/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members anywhere on a machine: what two at a distance see, who may sit where, and what a large machine costs. */
#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/segment.hpp"
#include "tests/child.hpp"
#include "tests/machine.hpp"
#include "tests/pair.hpp"
#include "tests/scratch_mount.hpp"

using namespace aries_test;
using aries::DragonflyShape;
using aries::Network;
using aries::PacketClass;

namespace
{

constexpr uint32_t LARGEST = 92544; /* nodes (T12) */
constexpr uint32_t MEMBERS = 6;

/* A network of few members in zeroed memory. */
class FewMembers
{
public:
	explicit FewMembers(const DragonflyShape &shape, aries::RouterStates::Reserve reserve = {})
		: memory_(make(Network::shared_bytes(shape, MEMBERS)), std::free),
		  net(shape, memory_.get(), MEMBERS, std::move(reserve))
	{
	}

private:
	static void *make(size_t bytes)
	{
		void *memory = std::aligned_alloc(64, bytes);

		memset(memory, 0, bytes);
		return memory;
	}

	std::unique_ptr<void, void (*)(void *)> memory_;

public:
	Network net;
};

/* What two members get is what the nodes get at whose places they sit. */
TEST(test_members_and_nodes)
{
	const uint32_t place[MEMBERS] = {63, 0, 17, 16, 5, 40};

	for (const uint16_t mode : {aries::ADAPTIVE, uint16_t(aries::DLV_NMIN_HASH), uint16_t(aries::DLV_IN_ORDER)}) {
		FewMembers few(aries::GROUPS);
		aries::Machine all(aries::GROUPS);
		uint32_t hops = 0;

		for (uint32_t i = 0; i < MEMBERS; i++)
			assert_true(few.net.set_place(i, place[i]));
		for (uint32_t turn = 0; turn < 200; turn++) {
			const uint32_t src = turn % MEMBERS, dst = (turn / MEMBERS + turn) % MEMBERS;
			const uint64_t at = aries::NOW + uint64_t{turn} * 50;
			const auto get = [&](Network &net, uint32_t from, uint32_t to) {
				return aries::book(net, from, to, PacketClass::Request, 100, mode, turn, at);
			};
			const auto mine = get(few.net, src, dst), theirs = get(all.net, place[src], place[dst]);

			assert_true(mine.reachable);
			assert_int_equal(mine.arrive_ns, theirs.arrive_ns);
			assert_int_equal(mine.hops, theirs.hops);
			assert_int_equal(mine.nonminimal, theirs.nonminimal);
			hops = std::max(hops, mine.hops);
		}
		assert_in_range(hops, 3, 10);
	}
}

TEST(test_neighbours)
{
	FewMembers few(aries::GROUPS);
	Network &net = few.net;
	const auto hops = [&](uint32_t dst) {
		return aries::book(net, 0, dst, PacketClass::Request, 4, aries::ADAPTIVE, 0, aries::NOW).hops;
	};

	net.set_place(0, 8);
	net.set_place(1, 4);
	net.set_place(2, 11);
	assert_false(net.adjacent(0, 1));
	assert_int_equal(hops(1), 2);
	assert_true(net.adjacent(0, 2));
	assert_int_equal(hops(2), 0);
	/* Booked where they sit. */
	uint64_t load = 0;

	for (uint32_t tile = 4; tile < aries::PROCESSOR_TILES; tile++)
		load += net.load_ns(2, aries::FIRST_PROCESSOR + tile, aries::NOW);
	assert_true(load > 0);
	net.set_place(2, 12);
	assert_int_equal(hops(2), 1);
	assert_false(net.set_place(2, 64));
	assert_false(net.set_place(MEMBERS, 0));
	assert_int_equal(net.place(2), 12);
	/* A member is cut off, not the place that has its number. */
	net.set_nic_link(1, false);
	net.set_place(3, 1);
	assert_true(aries::book(net, 0, 3, PacketClass::Request, 4, 0, 0, aries::NOW).reachable);
	assert_false(aries::book(net, 0, 1, PacketClass::Request, 4, 0, 0, aries::NOW).reachable);
}

/* Routers are made when packets touch them, once, and looking at them does not make them. */
TEST(test_what_is_touched)
{
	std::vector<uint32_t> made;
	FewMembers few({LARGEST, 0, 0}, [&made](uint32_t router) {
		made.push_back(router);
		return true;
	});
	Network &net = few.net;

	net.set_place(1, LARGEST - 1);
	assert_true(net.describe(1, aries::NOW).find("router 23135") != std::string::npos);
	assert_int_equal(net.load_ns(77, 3, aries::NOW), 0);
	assert_true(made.empty());

	const auto transit = aries::book(net, 0, 1, PacketClass::Request, 4, aries::DLV_IN_ORDER, 0, aries::NOW);

	assert_true(transit.reachable);
	assert_int_equal(made.size(), transit.hops + 1);
	assert_int_equal(aries::book(net, 0, 1, PacketClass::Request, 4, aries::DLV_IN_ORDER, 0, aries::NOW).hops,
			 transit.hops);
	assert_int_equal(made.size(), transit.hops + 1);
	assert_true(std::find(made.begin(), made.end(), 0) != made.end());
	assert_true(std::find(made.begin(), made.end(), LARGEST / 4 - 1) != made.end());
}

/* Without room packets pass and nothing is booked; nobody asks twice for the same router. */
TEST(test_no_room_for_routers)
{
	uint32_t asked = 0;
	FewMembers few(aries::GROUPS, [&asked](uint32_t) {
		asked++;
		return false;
	});
	Network &net = few.net;

	net.set_place(1, 63);
	net.set_place(2, 3);

	const auto send = [&net](uint32_t dst) {
		return aries::book(net, 0, dst, PacketClass::Request, 4000, 0, 0, aries::NOW);
	};
	const auto first = send(1);
	const uint32_t once = asked;

	assert_true(first.reachable);
	assert_in_range(once, 2, 16);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(send(2).reachable);
		assert_int_equal(send(1).arrive_ns, first.arrive_ns);
	}
	assert_in_range(asked, once, 16);
	assert_false(net.set_link(0, 0, false));
}

std::string failure(const std::string &path, uint32_t node, const FakeHost::Options &options)
{
	try {
		FakeHost host(path, node, options);
	} catch (const std::string &text) {
		return text;
	}
	return "";
}

bool has(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return true;
	print_error("\"%s\" does not say \"%s\"\n", text.c_str(), part.c_str());
	return false;
}

std::string description(const FakeHost &host)
{
	std::string text(16384, 0);

	text.resize(aries_nic_describe(host.nic(), text.data(), text.size()));
	return text;
}

FakeHost::Options at(uint32_t place, uint32_t machine = 100, uint32_t nodes = 4)
{
	return {.nodes = nodes, .machine_nodes = machine, .place = place + 1};
}

TEST(test_who_sits_where)
{
	const std::string path = fabric_path();
	const FakeHost a(path, 0, at(1));

	assert_true(has(description(a), "node 0: place 1, NIC 1 of router 0"));
	assert_true(has(failure(path, 2, at(1)), "place 1 of fabric " + path + " is taken by node 0"));
	/* Without a place it is the node's number. */
	assert_true(has(failure(path, 1, {.nodes = 4, .machine_nodes = 100}), "is taken by node 0"));
	assert_string_equal(failure(path, 1, at(0)).c_str(), "");
	assert_true(has(failure(path, 1, at(100)), "place 100 is none: the machine has places 0 to 99"));
	assert_true(has(failure(path, 1, at(1, 3)), "a machine of 3 nodes has no places for a fabric of 4"));
	assert_true(has(failure(path, 1, at(1, 92545)), "92545 nodes"));
	assert_true(has(failure(path, 1, at(2, 104)), "machine nodes 100, this program wants 104"));
	assert_true(has(failure(path, 1, {.nodes = 4}), "machine nodes 100, this program wants 4"));
}

/* While a place is compared and taken nobody else joins. */
TEST(test_one_after_the_other)
{
	const std::string path = fabric_path();
	aries::Segment segment(path, {2, 16, 6, 2, 4096, 0}, 0);
	const int fd = open(path.c_str(), O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	segment.let_others_in();
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
}

/* A member comes back to another place; the one that it had is free then. */
TEST(test_another_place)
{
	const std::string path = fabric_path();
	const FakeHost a(path, 0, at(0));

	{
		const FakeHost b(path, 1, at(70));

		assert_true(has(failure(path, 2, at(70)), "taken by node 1"));
	}
	const FakeHost b(path, 1, at(50));
	const FakeHost c(path, 2, at(70));

	assert_true(has(description(b), "node 1: place 50"));
	assert_true(has(description(c), "node 2: place 70"));
}

/* Node 0 has a descriptor for the memory of node 1, in the largest machine, one at either end of it. */
struct FarPair {
	explicit FarPair(const std::string &path)
		: a(path, 0, at(0, LARGEST, 2)), b(path, 1, at(LARGEST - 1, LARGEST, 2))
	{
		b.set_key(PTAG_B, KEY);
		target = b.alloc(BYTES);
		b.make_mdd(MDH, PTAG_B, target, BYTES, BASE);
		aim_at_peer(a);
	}

	/* Puts that arrive, with their data. */
	bool puts(unsigned int count)
	{
		for (unsigned int i = 0; i < count; i++) {
			uint8_t *const there = b.ram(target + i % 16 * 256);

			for (unsigned int k = 0; k < 256; k++)
				a.line(FMAD)[k] = uint8_t(i * 7 + k);
			a.desc(FMAD).offset = BASE + i % 16 * 256;
			if (a.ring(FMAD, ARIES_FMA_PUT_LINE, 256) != 0 || memcmp(there, a.line(FMAD), 256) != 0)
				return false;
		}
		return true;
	}

	FakeHost a, b;
	uint64_t target;
};

uint64_t disk_bytes(const std::string &path)
{
	struct stat st;

	assert_int_equal(stat(path.c_str(), &st), 0);
	assert_true(uint64_t(st.st_size) > 90 << 20);
	return uint64_t(st.st_blocks) * 512;
}

/* The whole machine of 241 groups costs a few pages for each pair of places between which packets go. */
TEST(test_cost_of_the_largest_machine)
{
	const std::string path = fabric_path();
	FarPair pair(path);
	const uint64_t empty = disk_bytes(path);

	assert_in_range(empty, 1, 2 << 20);
	assert_true(pair.puts(500));
	assert_in_range(pair.a.counter(ARIES_CNT_HOPS), 500 * 4, 500 * 4 * 5);
	assert_int_equal(pair.a.counter(ARIES_CNT_NONMINIMAL), 0);

	const uint64_t touched = disk_bytes(path) - empty;

	/* Its bundles are one cable of four links, so the ways are few. */
	assert_in_range(touched, 4 * aries::ROUTER_BYTES, 128 * aries::ROUTER_BYTES);
	description(pair.b);
	pair.a.main_loop();
	assert_int_equal(disk_bytes(path) - empty, touched);
	assert_int_equal(pair.a.warnings, 0);
}

Outcome on_a_full_disk()
{
	const std::string path = "/dev/shm/fabric";

	if (!own_namespaces() || !scratch_mount("tmpfs", "/dev/shm", "size=4m"))
		return NO_MOUNT;
	try {
		FarPair pair(path);
		const std::string rest(4096, 'x');
		const int fd = open("/dev/shm/rest", O_RDWR | O_CREAT, 0600);

		while (write(fd, rest.data(), rest.size()) > 0)
			;
		if (!pair.puts(100))
			return WRONG;
		for (unsigned int i = 0; i < 3; i++)
			aries_nic_tick(pair.a.nic());
		const bool told = pair.a.warnings == 1 && has(pair.a.warning, "no space for routers of fabric " + path);

		description(pair.a);
		return told && disk_bytes(path) < 4 << 20 ? PASSED : WRONG;
	} catch (const std::string &text) {
		print_error("%s\n", text.c_str());
		return WRONG;
	}
}

/* No room for the routers on the way: packets pass, one line tells, nobody meets a SIGBUS. */
TEST(test_full_disk)
{
	pass_in_child(on_a_full_disk);
}

/* A link between routers is cut at one NIC and gone for all. */
TEST(test_cut_link)
{
	const std::string path = fabric_path();
	const FakeHost a(path, 0, at(0)), b(path, 1, at(4));
	char err[256] = "";
	uint64_t value = 0;
	const auto set = [&](const FakeHost &host, const char *name, uint64_t link) {
		return aries_nic_set_fault(host.nic(), name, link, err, sizeof(err));
	};

	assert_int_equal(set(a, "cut-link", 0), 0); /* router 0 to 1, green */
	assert_true(has(description(b), "tile 0 green to router 0 (group 0 chassis 0 slot 0) tile 0: down"));
	assert_int_equal(aries_nic_get_fault(a.nic(), "cut-link", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(set(b, "mend-link", 64), 0);
	assert_true(has(description(a), "tile 0 green to router 1 (group 0 chassis 0 slot 1) tile 0: up"));
	assert_int_equal(set(a, "cut-link", 40), -1);
	assert_true(has(err, "no link is at router 0 tile 40"));
	assert_int_equal(set(a, "cut-link", ARIES_LINK_NONE), -1);
}

} // namespace

TEST_MAIN("tests")
