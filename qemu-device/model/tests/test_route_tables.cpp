// SPDX-License-Identifier: GPL-2.0-or-later
/* Route tables that change while a fabric runs (R14): who takes them when, what stays when they are bad, who frees
 * them. */
#include <map>
#include <thread>

#include "fabric/membership.hpp"
#include "fabric/observer.hpp"
#include "fabric/tables_store.hpp"
#include "netlink/network.hpp"
#include "tests/machine.hpp"
#include "tests/pair.hpp"
#include "tests/peer_process.hpp"
#include "topology/dragonfly_machine.hpp"

using namespace aries_test;
using aries::CurrentTables;
using aries::DragonflyShape;
using aries::Network;
using aries::Observer;
using aries::TablesStore;
using aries::routing::Failures;

namespace
{

constexpr DragonflyShape SHAPE{64, 4, 2};
const FakeHost::Options OPTIONS{.nodes = 3, .machine_nodes = 64, .routers_per_chassis = 4, .chassis_per_group = 2};

FakeHost::Options at_place(uint32_t place)
{
	FakeHost::Options options = OPTIONS;

	options.place = place + 1;
	return options;
}

std::vector<std::byte> make(const Network &network, uint32_t generation, const Failures &without)
{
	const aries::topology::Machine machine = aries::topology::machine_of(network.topology());

	return encode_tables(build_tables(machine, Network::policy(), without).tables,
			     {generation, network.tables_shape(), 1, without});
}

/* Every link of a router of some colour. */
Failures without_links(const Network &network, uint32_t router, uint32_t first_tile, uint32_t end_tile)
{
	Failures failures;

	for (uint32_t tile = first_tile; tile < end_tile; tile++) {
		if (network.wiring().link_of(router, tile) != aries::topology::NO_LINK)
			failures.links.push_back(network.wiring().link_of(router, tile));
	}
	std::sort(failures.links.begin(), failures.links.end());
	return failures;
}

/** Who loads tables into a fabric, from outside. */
class Operator
{
public:
	explicit Operator(const std::string &path)
		: store(path), observer_(path, Observer::Access::Change),
		  network(SHAPE, observer_.network(), observer_.shape().nodes, [this](uint32_t router) {
			  return observer_.reserve_network(uint64_t{router} * aries::ROUTER_BYTES, aries::ROUTER_BYTES);
		  })
	{
	}

	void load(uint32_t generation, const Failures &without = {})
	{
		store.write(generation, make(network, generation, without));
		network.set_tables_generation(generation);
	}

	uint32_t taken(uint32_t node) const { return network.tables_taken(node); }

	TablesStore store;

private:
	Observer observer_;

public:
	Network network;
};

/** Two members at the ends of a machine of two groups. */
struct Ends {
	std::string path = fabric_path();
	FakeHost a{path, 0, OPTIONS};
	FakeHost b{path, 1, at_place(63)};
	Operator op{path};

	Ends()
	{
		aim_at_peer(a);
		b.set_key(PTAG_B, KEY);
		b.make_mdd(MDH, PTAG_B, b.alloc(BYTES), BYTES, BASE);
	}
	uint32_t put() { return a.ring(FMAD, ARIES_FMA_PUT_LINE, 64); }
};

TEST(the_next_packet_or_tick_takes_them)
{
	Ends ends;

	assert_int_equal(ends.put(), ARIES_ST_OK);
	ends.op.load(1);
	assert_int_equal(ends.op.taken(0), 0);
	assert_int_equal(ends.put(), ARIES_ST_OK);
	assert_int_equal(ends.op.taken(0), 1);
	assert_int_equal(ends.op.taken(1), 0);
	aries_nic_tick(ends.b.nic());
	assert_int_equal(ends.op.taken(1), 1);
	/* Who comes later has them from the beginning. */
	FakeHost c(ends.path, 2, at_place(30));

	assert_int_equal(ends.op.taken(2), 1);
	assert_int_equal(ends.a.warnings + ends.b.warnings + c.warnings, 0);
}

TEST(another_process_takes_them)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0, OPTIONS);
	const pid_t child = start_node(path, 1, at_place(63), [](FakeHost &) {});
	Operator op(path);

	op.load(1);
	for (unsigned int i = 0; op.taken(1) != 1; i++) {
		assert_true(i < 1000);
		usleep(10000);
	}
	kill_child(child);
	/* The address gets another owner, and its word is not that of the one before. */
	op.network.set_tables_generation(2);
	const pid_t next = start_node(path, 1, at_place(63), [](FakeHost &) {});

	assert_int_equal(op.taken(1), 0);
	kill_child(next);
}

/* A file that is not there, damaged, of another generation or version: one line, and the tables before stay. */
TEST(what_is_no_table_is_told_once)
{
	Ends ends;
	unsigned int told = 0;
	const auto refused = [&](uint32_t generation, const char *word) {
		ends.op.network.set_tables_generation(generation);
		assert_int_equal(ends.put(), ARIES_ST_OK);
		for (int i = 0; i < 3; i++)
			aries_nic_tick(ends.a.nic());
		assert_int_equal(ends.a.warnings, ++told);
		if (ends.a.warning.find(word) == std::string::npos)
			fail_msg("'%s' has no '%s'", ends.a.warning.c_str(), word);
		assert_int_equal(ends.op.taken(0), 1);
	};
	std::vector<std::byte> bytes = make(ends.op.network, 3, {});

	ends.op.load(1);
	aries_nic_tick(ends.a.nic());
	refused(2, "No such file");
	ends.op.store.write(3, std::span(bytes).first(100));
	refused(3, "another length");
	ends.op.store.write(4, bytes);
	refused(4, "they are of generation 3");
	assert_int_equal(symlink("/dev/null", ends.op.store.path(5).c_str()), 0);
	refused(5, "cannot open");
	ends.op.store.write(6, make(ends.op.network, 6, {}));
	ends.op.network.set_tables_generation(6);
	assert_int_equal(ends.put(), ARIES_ST_OK);
	assert_int_equal(ends.op.taken(0), 6);
	assert_int_equal(ends.a.warnings, told);
}

TEST(the_last_member_takes_all_files_away)
{
	std::string file, unfinished;

	{
		Ends ends;

		ends.op.load(1);
		ends.op.load(2);
		file = ends.op.store.path(2);
		unfinished = ends.path + ".tables.new";
		close(open(unfinished.c_str(), O_CREAT | O_WRONLY, 0600));
		ends.op.store.keep_only(2, 1);
		assert_int_equal(access(unfinished.c_str(), F_OK), -1);
		assert_int_equal(access(ends.op.store.path(1).c_str(), F_OK), 0);
		ends.op.store.keep_only(2, 2);
		assert_int_equal(access(ends.op.store.path(1).c_str(), F_OK), -1);
		assert_int_equal(access(file.c_str(), F_OK), 0);
	}
	assert_int_equal(access(file.c_str(), F_OK), -1);
}

/* Pairs of routers between which packets that want a minimal way do not get one. */
uint32_t detours(Network &network)
{
	uint32_t count = 0;

	for (uint32_t from = 0; from < network.topology().nodes(); from += 4) {
		for (uint32_t to = 0; to < network.topology().nodes(); to += 4) {
			const Network::WayView way = network.way_view(from, to, aries::DLV_MIN_HASH, from, aries::NOW);

			count += from != to && (!way.reachable || way.nonminimal);
		}
	}
	return count;
}

/* Of two processes over the same memory one loads; both have ways by their tables again, where there were none. */
TEST(new_tables_spare_detours_R14)
{
	aries::Machine first(SHAPE);
	Network second(SHAPE, first.memory());
	std::map<uint32_t, std::vector<std::byte>> files;
	const auto read = [&](uint32_t generation) { return files.at(generation); };
	/* Router 0 keeps its green links. */
	const Failures out = without_links(first.net, 0, aries::FIRST_BLACK, aries::NETWORK_TILES);

	first.net.follow_tables(read, 0);
	second.follow_tables(read, 1);
	assert_int_equal(detours(second), 0);
	for (uint32_t tile = aries::FIRST_BLACK; tile < aries::NETWORK_TILES; tile++)
		first.net.set_link(0, tile, false);
	const uint32_t before = detours(second);

	files[1] = make(first.net, 1, out);
	first.net.set_tables_generation(1);
	assert_true(before > 0);
	assert_int_equal(detours(second), 0);
	assert_int_equal(detours(first.net), 0);
	assert_int_equal(second.tables_taken(0), 1);
	assert_int_equal(second.tables_taken(1), 1);
	first.net.set_tables_generation(0);
	assert_int_equal(detours(second), before);
}

/* Threads that decide while tables change; nothing is used that is freed, and nothing is kept for long. */
TEST(threads_that_decide_meanwhile)
{
	constexpr uint32_t GENERATIONS = 60;
	aries::Machine machine(SHAPE);
	std::vector<std::byte> bytes[2];
	std::atomic<uint32_t> reads{0};
	std::atomic<bool> end{false};
	std::vector<std::thread> threads;

	const Failures without[2] = {{}, without_links(machine.net, 0, aries::FIRST_BLACK, aries::NETWORK_TILES)};
	const auto read = [&](uint32_t generation) {
		reads.fetch_add(1);
		return make(machine.net, generation, without[generation % 2]);
	};

	machine.net.follow_tables(read, 0);
	for (uint32_t t = 0; t < 4; t++) {
		threads.emplace_back([&, t] {
			for (uint32_t i = 0; !end.load(); i++) {
				const uint32_t src = (i * 7 + t) % 64, dst = (i * 13 + 5) % 64;
				const auto transit = aries::book(machine.net, src, dst, aries::PacketClass::Request, 5,
								 i % 2 ? aries::DLV_MIN_HASH : aries::ADAPTIVE, i,
								 aries::NOW + i * 100);

				if (!transit.reachable)
					abort();
			}
		});
	}
	for (uint32_t generation = 1; generation <= GENERATIONS; generation++) {
		machine.net.set_tables_generation(generation);
		while (machine.net.tables_taken(0) != generation)
			std::this_thread::yield();
	}
	end = true;
	for (std::thread &thread : threads)
		thread.join();
	/* Each was read once, not once by each thread. */
	assert_int_equal(reads.load(), GENERATIONS);
}

/* Every thread keeps the tables that it used last, and no others stay. */
TEST(tables_are_freed_with_their_last_user)
{
	std::atomic<uint32_t> generation{0}, alive{0}, turn{0};
	const auto tables = [] {
		return aries::routing::build_tables(aries::topology::machine_of(aries::Dragonfly(SHAPE))).tables;
	};
	CurrentTables current(tables(), generation);
	const auto wait_for = [&turn](uint32_t number) {
		while (turn.load() < number)
			std::this_thread::yield();
	};

	current.follow(
		[&](uint32_t) {
			alive++;
			return CurrentTables::Reference(new aries::routing::Tables(tables()),
							[&](const aries::routing::Tables *t) {
								delete t;
								alive--;
							});
		},
		nullptr);
	generation = 1;
	std::thread other([&] {
		assert_int_equal(current.get().routers(), 16);
		turn = 1;
		wait_for(2);
		assert_int_equal(current.get().routers(), 16);
		turn = 3;
		wait_for(4);
	});

	wait_for(1);
	assert_int_equal(current.get().routers(), 16);
	assert_int_equal(alive, 1);
	generation = 2;
	current.get();
	assert_int_equal(alive, 2); /* the other thread has not moved on */
	turn = 2;
	wait_for(3);
	assert_int_equal(alive, 1);
	for (uint32_t i = 3; i < 20; i++) {
		generation = i;
		current.get();
		assert_int_equal(alive, 2);
	}
	turn = 4;
	other.join(); /* with its thread the reference goes */
	assert_int_equal(alive, 1);
	generation = 0;
	current.get();
	assert_int_equal(alive, 0);
}

} // namespace

TEST_MAIN("tests")
