/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees that are made anew while a peer is killed, or stopped for a while, after any instruction of its part in them:
 * nobody waits for ever, no result is made of what was given to another tree, and what is made anew works. Some
 * instructions, all of them with OPENGNI_SLOW=1; ARIES_FUZZ_SEED repeats a run.
 */
#include <sys/mman.h>

#include "tests/stepped_peer.hpp"
#include "tests/tree.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int IADD = 0x15, NODES = 3, PEER = 1;
constexpr unsigned int POINTS = 8;          // places of a stop by default
constexpr unsigned int LOOKS = 4;           /* for a drain that ends, if it is not for the peer that is stopped */
constexpr unsigned int PATIENCE_MS = 20000; /* nothing here takes a hundredth of that */
constexpr uint64_t LEASE_MS = 50;

/** What is being tried, for messages. */
struct {
	const char *operation;
	unsigned int count;
	bool kill;
} where;

/** What the peer is asked to do when it serves, and its answer. */
struct Orders {
	enum What { CONFIGURE, GIVE, LOOK } what;
	uint64_t value;
	std::atomic<uint32_t> asked, done;
	uint32_t status; /* of CONFIGURE: 1, of GIVE: the doorbell's */
	uint64_t control, result;
};

/** Where an endpoint contributes. */
struct Place {
	unsigned int engine, index;
};

/** A tree of the three nodes, and what the peer does under our eyes. */
struct Tree {
	const char *name;
	Place places[NODES];
	bool (*enable)(Member &, unsigned int n); /* engine 0 of node @n, if it has one */
	void (*operation)(Member &);
	bool peer_gives; /* the operation is a contribution: the last one */
};

uint64_t value(unsigned int round, unsigned int n)
{
	return uint64_t(round) * 1000 + n * 10 + 1;
}
uint64_t sum(unsigned int round)
{
	return value(round, 0) + value(round, 1) + value(round, 2);
}

uint32_t give(Member &member, Place place, uint64_t what)
{
	member.prepare(place.engine, 0, place.index).operand[0] = what;
	return member.ring(IADD);
}

/* One below the other, the peer in the middle. */
bool enable_chain(Member &member, unsigned int n)
{
	std::vector<Child> children = {{ENDPOINT, n}};

	if (n + 1 < NODES)
		children.push_back({ENGINE, n + 1, 0});
	return member.engine(0, children, {n != 0, n ? n - 1 : 0, 0, 1});
}
void make_middle(Member &member)
{
	member.disable(0);
	while (!enable_chain(member, PEER))
		member.host.main_loop();
}

/* The peer is but an endpoint. It contributes last, so that it carries the partial result up and the outcome down. */
bool enable_pair(Member &member, unsigned int n)
{
	if (n == PEER)
		return true;
	return n == 0 ? member.engine(0, {{ENDPOINT, 0}, {ENGINE, 2, 0}})
		      : member.engine(0, {{ENDPOINT, 2}, {ENDPOINT, PEER}}, {true, 0, 0, 1});
}
void carry(Member &member)
{
	static unsigned int round = 0;

	give(member, {2, 1}, value(++round, PEER));
}

constexpr Tree MIDDLE = {"configuring", {{0, 0}, {1, 0}, {2, 0}}, enable_chain, make_middle, false};
constexpr Tree CARRIER = {"carrying", {{0, 0}, {2, 1}, {2, 0}}, enable_pair, carry, true};

/** The other two nodes, and the peer's orders. */
class Family
{
public:
	explicit Family(const Tree &which)
		: tree(which), orders_(static_cast<Orders *>(mmap(nullptr, sizeof(Orders), PROT_READ | PROT_WRITE,
								  MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
	{
		assert_true(orders_ != MAP_FAILED);
	}
	~Family() { munmap(orders_, sizeof(Orders)); }
	Family(const Family &) = delete;
	Family &operator=(const Family &) = delete;

	template <typename F> void until(const char *what, F &&done)
	{
		for (unsigned int ms = 0; !done(); ms++) {
			if (ms > PATIENCE_MS)
				fail_msg("never: %s (%s, %s after instruction %u)", what, where.operation,
					 where.kill ? "killed" : "stopped", where.count);
			usleep(1000);
			turn();
		}
	}
	void turn()
	{
		for (const unsigned int n : {0, 2})
			at(n).host.main_loop();
	}
	Member &at(unsigned int n) { return n ? two_ : zero_; }

	/** Node PEER, in the child. */
	void serve(Member &member) const
	{
		member.host.main_loop(1);
		const uint32_t asked = orders_->asked.load();

		if (orders_->done.load() == asked)
			return;
		if (orders_->what == Orders::CONFIGURE) {
			member.disable(0);
			while (!tree.enable(member, PEER))
				member.host.main_loop(1);
		} else if (orders_->what == Orders::GIVE) {
			orders_->status = give(member, tree.places[PEER], orders_->value);
		}
		orders_->control = member.control();
		orders_->result = member.result().result[0];
		orders_->done.store(asked);
	}
	const Orders &order(Orders::What what, uint64_t value = 0)
	{
		orders_->what = what;
		orders_->value = value;
		const uint32_t asked = orders_->asked.fetch_add(1) + 1;

		until("the peer answers", [&] { return orders_->done.load() == asked; });
		return *orders_;
	}

	/** As a driver does it. False: not yet, for somebody is in a visit. */
	bool configure(unsigned int n)
	{
		at(n).disable(0);
		for (unsigned int i = 0; i < LOOKS; i++) {
			if (tree.enable(at(n), n))
				return true;
			turn();
		}
		return false;
	}
	/** Of our nodes alone. */
	bool done(unsigned int n) { return at(n).done(); }
	/** What node @n waits for in the tree of now; @given: whether it was taken. */
	bool give_new(unsigned int n, unsigned int round)
	{
		return give(at(n), tree.places[n], value(round, n)) == ARIES_ST_OK;
	}
	/** Whether the collective has ended; if without an error, then with what was given to this tree. */
	bool ended(unsigned int n, unsigned int round, uint64_t expected)
	{
		const uint64_t result = at(n).result().result[0];

		if (!done(n))
			return false;
		if (at(n).status() == ARIES_ST_OK && result != expected)
			fail_msg("node %u has %llu in round %u instead of %llu (%s, %s after instruction %u)", n,
				 (unsigned long long)result, round, (unsigned long long)expected, where.operation,
				 where.kill ? "killed" : "stopped", where.count);
		return true;
	}
	bool ended(unsigned int n, unsigned int round) { return ended(n, round, sum(round)); }

	const std::string path = fabric_path();
	const Tree &tree;

private:
	Orders *orders_;
	Member zero_{path, 0, NODES, LEASE_MS}, two_{path, 2, NODES, LEASE_MS};
};

SteppedPeer start(Family &family)
{
	return SteppedPeer([&] { return Member(family.path, PEER, NODES, LEASE_MS); }, [](Member &) {},
			   family.tree.operation, [&](Member &member) { family.serve(member); });
}

/** A tree in which we wait for the peer. */
void first_tree(Family &family, unsigned int round)
{
	for (const unsigned int n : {0, 2}) {
		if (round == 1 || !family.tree.peer_gives)
			assert_true(family.configure(n));
	}
	for (const unsigned int n : {0, 2})
		assert_true(family.give_new(n, round));
}

/** All configure anew, and the new tree works. */
void check_new(Family &family, unsigned int &round)
{
	for (const unsigned int n : {2, 0})
		family.until("an engine is enabled", [&] { return family.configure(n); });
	family.order(Orders::CONFIGURE);
	family.turn();
	for (unsigned int i = 0; i < 2; i++) {
		round++;
		for (const unsigned int n : {0, 2})
			assert_true(family.give_new(n, round));
		assert_int_equal(family.order(Orders::GIVE, value(round, PEER)).status, ARIES_ST_OK);
		for (const unsigned int n : {0, 2}) {
			family.until("the new tree's result", [&] { return family.ended(n, round); });
			assert_int_equal(family.at(n).status(), ARIES_ST_OK);
		}
		assert_int_equal(family.order(Orders::LOOK).result, sum(round));
	}
}

struct Ours {
	bool configured = false, gave = false;
};

/* As far as it can be done while the peer stands. */
void make_ours(Family &family, Ours (&ours)[NODES], unsigned int old_round, unsigned int round)
{
	for (const unsigned int n : {0, 2}) {
		if (!ours[n].configured)
			ours[n].configured = family.configure(n);
	}
	for (const unsigned int n : {0, 2}) {
		if (!ours[n].configured || ours[n].gave || !family.ended(n, old_round))
			continue;
		ours[n].gave = true;
		if (!family.give_new(n, round))
			family.at(n).result().control = ARIES_CER_DONE | uint64_t(ARIES_ST_TIMEOUT) << 8;
	}
}

/* The tree that was made while the peer stood. */
void check_ours(Family &family, unsigned int round)
{
	/* Its contribution may have come late, whole, to the new tree. */
	const bool late = family.tree.peer_gives && family.done(0) && family.at(0).status() == ARIES_ST_OK;
	const uint64_t expected = sum(round) - (late ? value(round, PEER) - value(round - 1, PEER) : 0);
	const bool waits = !late && family.order(Orders::GIVE, value(round, PEER)).status == ARIES_ST_OK;

	for (const unsigned int n : {0, 2})
		family.until("a collective ends", [&] { return family.ended(n, round, expected); });
	if (waits)
		family.until("the peer's collective ends",
			     [&] { return (family.order(Orders::LOOK).control & ARIES_CER_DONE) != 0; });
}

void once(const Tree &tree, unsigned int count, bool kill)
{
	Family family(tree);
	unsigned int round = 1;
	Ours ours[NODES];

	if (tree.peer_gives)
		first_tree(family, round++);
	{
		SteppedPeer peer = start(family);

		first_tree(family, round);
		for (unsigned int i = 0; i < count; i++) {
			if (!peer.step())
				return;
		}
		if (kill) {
			peer.kill_now();
			for (const unsigned int n : {0, 2})
				family.until("the dead one's partners have an error", [&] { return family.done(n); });
		} else {
			make_ours(family, ours, round, round + 1);
			peer.go_on();
			family.until("the peer's operation ends", [&] { return peer.ended(); });
			peer.serve();
			family.until("ours are made anew", [&] {
				make_ours(family, ours, round, round + 1);
				return ours[0].gave && ours[2].gave;
			});
			check_ours(family, ++round);
			check_new(family, round);
			return;
		}
	}
	const pid_t next = start_child([&](auto ready) {
		Member member(family.path, PEER, NODES, LEASE_MS);

		ready();
		for (;;)
			family.serve(member);
	});

	check_new(family, round);
	kill_child(next);
}

unsigned int instructions(const Tree &tree)
{
	Family family(tree);
	unsigned int count = 0;

	if (tree.peer_gives)
		first_tree(family, 1);
	SteppedPeer peer = start(family);

	first_tree(family, 2);
	while (peer.step())
		count++;
	return count;
}

void test_tree(void **state)
{
	const Tree &tree = *static_cast<const Tree *>(*state);
	const unsigned int all = instructions(tree);
	std::mt19937_64 random(seed());

	print_message("%s: %u instructions, ARIES_FUZZ_SEED=%llu\n", tree.name, all,
		      static_cast<unsigned long long>(seed()));
	for (const bool kill : {true, false}) {
		for (const unsigned int count : stops(random, all, POINTS)) {
			where = {tree.name, count, kill};
			once(tree, count, kill);
		}
	}
}

} // namespace

/* Arguments: names of trees, none for all. */
int main(int argc, char **argv)
{
	return run_stepped("ce_steps", {&MIDDLE, &CARRIER}, test_tree, argc, argv);
}
