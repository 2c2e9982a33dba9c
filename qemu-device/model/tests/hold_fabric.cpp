/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fabric for tests of tools: two members at the ends of a machine of two groups, which go on until standard input
 * ends. Each line there is a put of 64 bytes, answered by its status.
 *
 * usage: hold_fabric PATH
 */
#include <cstdio>
#include <iostream>
#include <string>

#include <poll.h>

#include "tests/pair.hpp"

using namespace aries_test;

int main(int argc, char **argv)
try {
	if (argc != 2) {
		std::cerr << "usage: hold_fabric PATH\n";
		return 2;
	}
	const FakeHost::Options shape{
		.nodes = 3, .machine_nodes = 64, .routers_per_chassis = 4, .chassis_per_group = 2};
	FakeHost::Options far = shape;

	far.place = 64;
	FakeHost a(argv[1], 0, shape), b(argv[1], 1, far);

	/* Lines that poll() does not see would wait in a buffer. */
	setvbuf(stdin, nullptr, _IONBF, 0);
	aim_at_peer(a);
	b.set_key(PTAG_B, KEY);
	b.make_mdd(MDH, PTAG_B, b.alloc(BYTES), BYTES, BASE);
	std::cout << "ready" << std::endl;
	for (;;) {
		pollfd input = {STDIN_FILENO, POLLIN, 0};

		if (poll(&input, 1, ARIES_TICK_MS) == 0) {
			aries_nic_tick(a.nic());
			aries_nic_tick(b.nic());
			continue;
		}
		std::string line;

		if (!std::getline(std::cin, line))
			return 0;
		std::cout << a.ring(FMAD, ARIES_FMA_PUT_LINE, 64) << std::endl;
	}
} catch (const std::string &error) {
	std::cerr << "hold_fabric: " << error << "\n";
	return 1;
}
