// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Lengths of packets by what nodes do, in units of a chip. With a form that is a constant they are compiled to a few
 * instructions.
 */
#ifndef ARIES_SIM_LENGTHS_HPP
#define ARIES_SIM_LENGTHS_HPP

#include <cstdint>

#include "chip/chip.hpp"
#include "traffic.hpp"

namespace aries::sim
{

/** Flits of a request. @p raw_flits are those of what is neither a put nor a get. */
constexpr uint32_t request_flits(const chip::PacketForm &form, Operation operation, uint32_t bytes, uint32_t raw_flits)
{
	switch (operation) {
	case Operation::Put:
		return chip::request_units(form, true, bytes);
	case Operation::Get:
		return chip::request_units(form, false, bytes);
	default:
		return raw_flits;
	}
}

/** Flits of its response; 0 if there is none. */
constexpr uint32_t response_flits(const chip::PacketForm &form, Operation operation, uint32_t bytes)
{
	switch (operation) {
	case Operation::Put:
		return chip::response_units(form, false, 0);
	case Operation::Get:
		return chip::response_units(form, true, bytes);
	default:
		return 0;
	}
}

} // namespace aries::sim

#endif
