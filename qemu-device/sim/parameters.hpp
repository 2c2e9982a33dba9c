// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What can be chosen about the simulated hardware. Claims of the sources are named by their ids; where no source
 * speaks, the comment says so. Documentation/simulator.md tells why each is as it is.
 */
#ifndef ARIES_SIM_PARAMETERS_HPP
#define ARIES_SIM_PARAMETERS_HPP

#include <cstdint>
#include <span>
#include <string>

#include "chip/chip.hpp"

namespace aries::sim
{

/** Times are in cycles of the router (P02), sizes in flits. */
struct Parameters {
	/* Buffers. */
	uint32_t input_buffer = 640;     ///< of a network tile, all channels; 306 is the least for 35 m of cable (T18)
	uint32_t channel_reserve = 28;   ///< of it for each channel alone; the rest is for any (P14): one has 444 then
	uint32_t processor_buffer = 256; ///< the same of a processor tile, in both directions; no source
	uint32_t subswitch_buffer = 28;  ///< of each input and channel in a sub-switch (P15); two packets, no source
	uint32_t column_buffer = 28;     ///< of each row and channel in a column buffer (P15); two packets, no source

	/* Pipeline. 44 cycles are the 50 ns of a router; with a link's 28, and cables, five hops take 500 ns (L06). */
	uint32_t input_cycles = 20;  ///< synchroniser, CRC of the set, route tables
	uint32_t row_cycles = 12;    ///< row bus, and the sub-switch's arbiter
	uint32_t column_cycles = 12; ///< column bus, and the column buffer
	uint32_t link_cycles = 28;   ///< SerDes and LCB of both ends
	uint32_t credit_cycles = 4;  ///< of the far end, besides the link; no source
	uint32_t ps_per_m = 5000;    ///< of a cable

	/* NIC. */
	uint32_t netlink_cycles = 8;  ///< between NIC and processor tile, either way; no source
	uint32_t serve_cycles = 100;  ///< from a request's last flit to its response; no source
	uint32_t response_queue = 64; ///< responses that a NIC holds; then requests wait in its buffers. No source
	uint32_t outstanding = 1024;  ///< requests without response (N20)

	/* Collective engines. The first two are those of the device, from the latency of a put (L01). */
	uint32_t ce_host_cycles = 219;  ///< over the host interface, either way: 250 ns
	uint32_t ce_nic_cycles = 105;   ///< through a NIC or its engine: 120 ns
	uint32_t ce_operand_cycles = 3; ///< of an engine for each operand: two of the NIC's, as an atomic (L15)
	uint32_t ce_process_ns = 100;   ///< of a host for each further process whose operand it adds; no source

	/* Failures (R14). Real machines take seconds for these. */
	uint32_t rebuild_cycles = 5000;  ///< from a failure to the quiet time in which tables change
	uint32_t timeout_cycles = 20000; ///< after which a node gives up a request that was lost (P18)

	uint32_t bit_errors = 0; ///< in 10^12 bits of a link (P08 to P11); a good link has less than one

	/* Of Gemini alone; else 0. */
	uint32_t bubble = 0; ///< room, in longest packets, for a packet to enter a ring; 1: no bubble is left
	uint32_t router_errors =
		0;                ///< in 10^12 bits through a router; the packet is marked and dropped at its end (G16)
	uint32_t host_mbytes = 0; ///< of data that a host gives its NIC in a microsecond; 0: what the tiles take

	/* Of Elite5 alone; else 0. */
	uint32_t packet_bytes = 0;    ///< of data, at most, that a transfer is cut into (Q12)
	uint32_t urgent_bytes = 0;    ///< on a link: packets up to this long overtake where segments end (Q17); 0: none
	uint32_t pool_buffers = 0;    ///< of a link, for any channel that needs a second one (Q16)
	uint32_t order = 0;           ///< of ClosOrder: by which a lightly loaded link is taken (Q06)
	uint32_t threshold = 0;       ///< packets below which a link is lightly loaded (Q06)
	uint32_t write_least = 0;     ///< cycles from a packet's last word to its data in memory (Q09)
	uint32_t write_most = 0;      ///< the time of a packet is random between the two
	uint32_t early_answers = 0;   ///< packets but the last of a message are answered before they are written (Q10)
	uint32_t retry_cycles = 0;    ///< from a NACK to when the packet may leave again; no source
	uint32_t bring_up_cycles = 0; ///< of each of the three steps in which a link comes into use (Q41); no source

	uint32_t watch_order = 0; ///< count requests that are overtaken by later ones of the same pair of nodes (R12)

	/* Loads (R08, R09). */
	uint32_t load_interval = 10; ///< cycles between two messages to a neighbour (R09)
	uint32_t load_delay = 0;     ///< cycles that these are older than the link makes them
	uint32_t near_weight = 1;    ///< flits in this router for the tile
	uint32_t far_weight = 1;     ///< flits that the far end has not given back, beyond those on the way
	uint32_t down_weight = 1;    ///< mean of the first over the neighbour's links
};

/** The defaults for a chip. */
Parameters parameters_of(const chip::Chip &chip);

struct ParameterInfo {
	const char *name;
	uint32_t Parameters::*value;
	const char *meaning;
};

/** All of them. */
std::span<const ParameterInfo> parameter_table() noexcept;

/** Sets what NAME=VALUE says. @return empty, or one line that names the broken rule */
std::string set_parameter(Parameters &parameters, const std::string &text);

/** Empty if a chip's routers can be so, with so many channels, else one line that names the broken rule. */
std::string check_parameters(const Parameters &parameters, const chip::Chip &chip, uint32_t channels);

} // namespace aries::sim

#endif
