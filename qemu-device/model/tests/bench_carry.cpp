// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/*
 * What Network::carry() costs the host: it is on the way of every packet that a guest sends. Prints the median of
 * several rounds for each case; ends with 1 if one is above its limit.
 */
#include <algorithm>
#include <array>
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
	double limit_ns;
};

constexpr Case CASES[] = {
	{"one router, adaptive", {4, 0, 0}, 0, 0, 80},   {"one router, in order", {4, 0, 0}, 0, DLV_IN_ORDER, 80},
	{"one hop, adaptive", {64, 0, 0}, 1, 0, 110},    {"two hops, adaptive", {256, 0, 0}, 2, 0, 140},
	{"five hops, adaptive", {256, 3, 2}, 5, 0, 200}, {"five hops, minimal hash", {256, 3, 2}, 5, DLV_MIN_HASH, 200},
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

} // namespace

int main()
{
	int result = 0;

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

			std::printf("%-26s %6.1f ns (limit %.0f)\n", c.name, ns, c.limit_ns);
			if (ns > c.limit_ns)
				result = 1;
		}
		std::free(memory);
	}
	return result;
}
