// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a network of Elite5 switches can be asked for, before there is one.
 */
#ifndef ARIES_SIM_SWITCH_CHECKS_HPP
#define ARIES_SIM_SWITCH_CHECKS_HPP

#include <cstdint>
#include <string>

#include "parameters.hpp"
#include "switch_records.hpp"
#include "topology/machine.hpp"
#include "traffic.hpp"

namespace aries::sim
{

inline constexpr uint32_t MOST_ADAPTERS = 16; ///< of a switch: bits of Held::nic

/** Those of QsNetIII. What is only other chips' stays as it is. */
void set_switch_parameters(Parameters &parameters) noexcept;

/** Empty if there can be switches with such links, else one line that names the broken rule. */
std::string check_switch_parameters(const Parameters &parameters, uint32_t channels);

/** How long an adapter remembers the packets that it has served: longer than a source sends a packet again. */
constexpr uint32_t remembered_cycles(const Parameters &parameters) noexcept
{
	return 2 * parameters.timeout_cycles;
}

/** As estimate_bytes(). */
uint64_t estimate_switch_bytes(const topology::Machine &machine);

/** Bytes for what adapters know that they have done, if packets may be refused, in a run of so many cycles. */
uint64_t estimate_remembered_bytes(const topology::Machine &machine, const Workload &workload,
				   const Parameters &parameters, uint64_t cycles);

} // namespace aries::sim

#endif
