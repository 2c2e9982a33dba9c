/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers, windows, doorbells, descriptors and guest memory of two NICs, driven by an input. Its first byte tells who
 * acts: even, processes only, which must leave all that is not theirs as it is; odd, a kernel gone mad too.
 */
#include "fuzz/machine.hpp"

namespace
{

constexpr unsigned int CHECK_EVERY = 16; /* inputs; a reset costs as much as many accesses */

/* One for the whole run: a NIC is as dear to make as thousands of accesses. */
aries_fuzz::Machine &machine()
{
	static aries_fuzz::Machine one;

	return one;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned int inputs;
	aries_fuzz::Machine &m = machine();
	aries_fuzz::Input input(data, size);
	const bool mad = input.byte() & 1;

	m.restart();
	while (input.more()) {
		if (mad)
			m.kernel(input);
		else
			m.process(input);
	}
	if (!mad)
		m.check_untouched();
	if (++inputs % CHECK_EVERY == 0)
		m.check_alive();
	return 0;
}
