// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What does not change in a run: where each tile's link leads and how fast it is, which tiles serve a NIC, where a
 * node is. A place is a tile of a router of the machine: router * tiles + tile.
 */
#ifndef ARIES_SIM_LAYOUT_HPP
#define ARIES_SIM_LAYOUT_HPP

#include <cstdint>
#include <vector>

#include "chip/chip.hpp"
#include "parameters.hpp"
#include "topology/machine.hpp"

namespace aries::sim
{

inline constexpr uint32_t NO_PLACE = UINT32_MAX;
inline constexpr uint8_t PROCESSOR_CLASS = UINT8_MAX;
inline constexpr uint32_t MOST_FLIT_CYCLES = 64;

/** The output of a tile. */
struct Lane {
	uint32_t far = NO_PLACE;    ///< place at the other end; none for processor tiles and for those without a link
	uint32_t latency_ticks = 0; ///< from the end of a flit here to its place in the far buffer
	uint32_t loop_flits = 0;    ///< that are on the way, or their credits, when the link is full
	uint16_t flit_ticks = 0;
	uint8_t link_class = PROCESSOR_CLASS; ///< of the machine
	bool used = false;
};

/** Ticks from the begin of so many flits on a link until they can be sent again: these, there and back. */
constexpr uint32_t replay_ticks(const Lane &lane, uint32_t flits) noexcept
{
	return 2 * lane.latency_ticks + flits * lane.flit_ticks;
}

/** The chip of whose routers a machine is made. */
const chip::Chip &chip_of(const topology::Machine &machine) noexcept;

struct Layout {
	Layout(const topology::Machine &machine, const Parameters &parameters, uint32_t class_channels);

	const chip::Chip &chip;
	uint32_t routers;
	uint32_t tiles;
	uint32_t rows;
	uint32_t columns;
	uint32_t channels;       ///< of both classes
	uint32_t class_channels; ///< of one
	uint32_t nics;           ///< of a router
	uint32_t nodes;
	uint32_t groups;
	double clock_mhz;
	uint32_t packet_bytes;       ///< Parameters::packet_bytes
	std::vector<uint8_t> row_of; ///< of a tile
	std::vector<uint8_t> column_of;
	std::vector<Lane> lanes;             ///< by place
	std::vector<uint32_t> network_links; ///< of each router
	std::vector<std::vector<uint8_t>> nic_tiles;
	std::vector<uint8_t> processor_tiles;
	std::vector<uint64_t> nic_users; ///< of a processor tile: two bits for each NIC, requests and responses
	std::vector<uint32_t> node_router;
	std::vector<uint8_t> node_nic;  ///< at each of its routers
	uint32_t homes = 1;             ///< routers to which a node has links
	std::vector<uint32_t> further;  ///< of each node behind the other, those beside node_router
	std::vector<uint32_t> node_at;  ///< by router * nics + nic; NO_PLACE if there is none
	std::vector<uint32_t> group_of; ///< by router
	uint32_t horizon = 0;           ///< cycles that an event lies ahead, at most

	uint32_t place(uint32_t router, uint32_t tile) const noexcept { return router * tiles + tile; }
	uint32_t places() const noexcept { return routers * tiles; }
	uint32_t sub_words() const noexcept { return (columns * channels + 63) / 64; }
	uint32_t column_words() const noexcept { return (rows * channels + 63) / 64; }

	/** The routers of a node, from the first one on. */
	uint32_t home(uint32_t node, uint32_t nth) const noexcept
	{
		return nth ? further[size_t{node} * (homes - 1) + nth - 1] : node_router[node];
	}

	/** Cycles that so many nanoseconds are, rounded. */
	uint32_t cycles_of(uint64_t ns) const noexcept;

	/** The output of a place has another flit time from now on. */
	void set_flit_ticks(uint32_t place, uint32_t ticks, const Parameters &parameters);

	/** Flits in a hundred cycles that a node's part of the processor tiles takes, at all of its routers. */
	uint64_t inject_flits_per_100_cycles() const noexcept;
};

/** Ticks of a flit on a link, with what the link layer adds: that of Aries sends nine in the time of ten (P05). */
uint32_t flit_ticks(const chip::Chip &chip, double gbit_per_lane, unsigned lanes, double clock_mhz);

/** Empty if a machine can be simulated, else one line that names the broken rule. */
std::string check_machine(const topology::Machine &machine);

/** Bytes that a simulation of the machine needs, before anything of it is built; packets at a high load included. */
uint64_t estimate_bytes(const topology::Machine &machine, uint32_t class_channels);

} // namespace aries::sim

#endif
