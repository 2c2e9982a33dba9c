// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/*
 * What Network::carry() costs the host: it is on the way of every packet that a guest sends. Prints the median of
 * several rounds for each case, in ns and in locked instructions as the same run has measured them; ends with 1 if one
 * is above its limit.
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "netlink/network.hpp"

using namespace aries;

namespace
{

struct Case {
	const char *name;
	DragonflyShape shape;
	uint32_t hops;
	uint16_t mode;
	double limit; // locked instructions
};

constexpr Case CASES[] = {
	{"one router, adaptive", {4, 0, 0}, 0, 0, 12},  {"one router, in order", {4, 0, 0}, 0, DLV_IN_ORDER, 12},
	{"one hop, adaptive", {64, 0, 0}, 1, 0, 20},    {"two hops, adaptive", {256, 0, 0}, 2, 0, 26},
	{"five hops, adaptive", {256, 3, 2}, 5, 0, 45}, {"five hops, minimal hash", {256, 3, 2}, 5, DLV_MIN_HASH, 45},
};

/* A pair of nodes so many hops apart. */
bool find_pair(Network &net, const Case &c, uint32_t &src, uint32_t &dst)
{
	for (src = 0; src < c.shape.nodes; src++) {
		for (dst = 0; dst < c.shape.nodes; dst++) {
			bool all = src != dst;

			for (uint64_t hash = 0; all && hash < 16; hash++) {
				const auto t =
					net.carry({src, dst, PacketClass::Request, DLV_MIN_HASH, 1, 0, hash}, 0, 0);

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

double measure(Network &net, uint32_t src, uint32_t dst, uint16_t mode)
{
	constexpr int rounds = 11;
	constexpr int packets = 200000;
	std::array<double, rounds> ns{};
	uint64_t now = 1000000;
	volatile uint64_t sink = 0;

	for (double &round : ns) {
		const double start = thread_ns();

		for (int i = 0; i < packets; i++, now += 2000)
			sink = net.carry({src, dst, PacketClass::Request, mode, 5, 0, static_cast<uint64_t>(i)}, now,
					 now)
				       .arrive_ns;

		round = (thread_ns() - start) / packets;
	}
	(void)sink;
	std::sort(ns.begin(), ns.end());
	return ns[rounds / 2];
}

/*
 * A link costs two of them whatever is done beside it: one books it, since others book it too, one counts what it
 * carries, since no flit of theirs may be forgotten.
 */
double locked_ns()
{
	constexpr int links = 5, rounds = 200000;
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

} // namespace

int main()
{
	const double locked = locked_ns();
	int result = 0;

	std::printf("%-26s %6.1f ns\n", "a locked instruction", locked);

	for (const Case &c : CASES) {
		const size_t bytes = Network::shared_bytes(c.shape);
		void *memory = std::aligned_alloc(64, bytes);
		uint32_t src = 0;
		uint32_t dst = 0;

		std::memset(memory, 0, bytes);
		Network net(c.shape, memory);

		if (!find_pair(net, c, src, dst)) {
			std::printf("%-26s no such pair\n", c.name);
			result = 1;
		} else {
			const double ns = measure(net, src, dst, c.mode);

			std::printf("%-26s %6.1f ns, %4.1f locked instructions (limit %.0f)\n", c.name, ns, ns / locked,
				    c.limit);
			if (ns > c.limit * locked)
				result = 1;
		}
		std::free(memory);
	}
	return result;
}
