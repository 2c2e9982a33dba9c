// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Network::book() costs the host: it is on the way of every packet that a guest sends. Prints the median of
 * several rounds for each case, in ns, in loads from the nearest cache as the same run has measured them, and how much
 * is added to the way to a neighbour; ends with 1 if one is above its limit.
 *
 * The unit is a load since a hop is a chain of them: which router is next tells where its tables are, these where the
 * entry is, this where its tiles are, and the tile which router is next. Locked instructions, two a link, are shown to
 * say that they are not what a hop costs.
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "netlink/network.hpp"

using namespace aries;

namespace
{

struct Case {
	const char *name;
	DragonflyShape shape;
	uint32_t hops;
	uint16_t mode;
	double limit; // loads
};

constexpr Case CASES[] = {
	{"one router, adaptive", {4, 0, 0}, 0, 0, 8},    {"one router, in order", {4, 0, 0}, 0, DLV_IN_ORDER, 45},
	{"one hop, adaptive", {64, 0, 0}, 1, 0, 75},     {"two hops, adaptive", {256, 0, 0}, 2, 0, 90},
	{"five hops, adaptive", {256, 3, 2}, 5, 0, 130}, {"five hops, minimal hash", {256, 3, 2}, 5, DLV_MIN_HASH, 130},
};

/* A pair of nodes so many hops apart. */
bool find_pair(Network &net, const Case &c, uint32_t &src, uint32_t &dst)
{
	for (src = 0; src < c.shape.nodes; src++) {
		for (dst = 0; dst < c.shape.nodes; dst++) {
			bool all = src != dst;

			for (uint64_t hash = 0; all && hash < 16; hash++) {
				const auto t =
					net.book({src, dst, PacketClass::Request, DLV_MIN_HASH, 1, 0, hash}, 0, 0);

				all = t.hops == c.hops;
			}
			if (all)
				return true;
		}
	}
	return false;
}

/* Time of the processor, so that other work on the machine counts less. */
double thread_ns()
{
	timespec now{};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double carry_ns(Network &net, uint32_t src, uint32_t dst, uint16_t mode)
{
	constexpr int packets = 50000;
	static uint64_t now = 1000000;
	volatile uint64_t sink = 0;
	const double start = thread_ns();

	for (int i = 0; i < packets; i++, now += 2000)
		sink = net.book({src, dst, PacketClass::Request, mode, 5, 0, static_cast<uint64_t>(i)}, now, now)
			       .arrive_ns;
	(void)sink;
	return (thread_ns() - start) / packets;
}

/* A locked instruction, of which a link takes two: others book and count at it, too. */
double locked_ns()
{
	constexpr int links = 5, rounds = 20000;
	struct alignas(64) Line {
		std::atomic<uint64_t> word{0};
	};
	static std::array<Line, links> busy, flits;
	const double start = thread_ns();

	for (int i = 0; i < rounds; i++) {
		for (int link = 0; link < links; link++) {
			uint64_t seen = busy[link].word.load(std::memory_order_relaxed);

			busy[link].word.compare_exchange_strong(seen, seen + 5, std::memory_order_relaxed);
			flits[link].word.fetch_add(5, std::memory_order_relaxed);
		}
	}
	return (thread_ns() - start) / rounds / (2 * links);
}

/* A load that waits for the one before. */
double load_ns()
{
	constexpr uint32_t places = 64, rounds = 200000;
	std::array<std::atomic<const void *>, places> ring{};
	const std::atomic<const void *> *at = ring.data();

	for (uint32_t i = 0; i < places; i++)
		ring[i] = &ring[(i + 7) % places];
	const double start = thread_ns();

	for (uint32_t i = 0; i < rounds; i++)
		at = static_cast<const std::atomic<const void *> *>(at->load(std::memory_order_relaxed));
	const double end = thread_ns();

	return at ? (end - start) / rounds : 0;
}

/* A network, and what carrying a packet over it took, round by round. */
struct Measured {
	explicit Measured(const Case &what)
		: memory(std::aligned_alloc(64, Network::shared_bytes(what.shape)), std::free)
	{
		std::memset(memory.get(), 0, Network::shared_bytes(what.shape));
		net = std::make_unique<Network>(what.shape, memory.get());
		found = find_pair(*net, what, src, dst);
	}

	std::unique_ptr<void, decltype(&std::free)> memory;
	std::unique_ptr<Network> net;
	uint32_t src = 0, dst = 0;
	bool found = false;
	std::vector<double> rounds;
};

double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

} // namespace

/* All in turn, round by round: when the machine has other things to do, all of them suffer. */
int main()
{
	constexpr int rounds = 25;
	std::vector<Measured> measured;
	std::vector<double> loads, locked;
	int result = 0;

	for (const Case &c : CASES) {
		measured.emplace_back(c);
		if (!measured.back().found) {
			std::printf("%-26s no such pair\n", c.name);
			return 1;
		}
	}
	for (int round = 0; round < rounds; round++) {
		loads.push_back(load_ns());
		locked.push_back(locked_ns());
		for (size_t i = 0; i < measured.size(); i++) {
			Measured &m = measured[i];

			m.rounds.push_back(carry_ns(*m.net, m.src, m.dst, CASES[i].mode));
		}
	}

	const double load = median(loads), neighbour = median(measured[0].rounds);

	std::printf("%-26s %6.1f ns\n%-26s %6.1f ns\n", "a load", load, "a locked instruction", median(locked));
	for (size_t i = 0; i < measured.size(); i++) {
		const double ns = median(measured[i].rounds);

		std::printf("%-26s %6.1f ns, adds %5.1f, %5.1f loads (limit %.0f)\n", CASES[i].name, ns, ns - neighbour,
			    ns / load, CASES[i].limit);
		if (ns > CASES[i].limit * load)
			result = 1;
	}
	return result;
}
