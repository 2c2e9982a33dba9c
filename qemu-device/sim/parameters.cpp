// SPDX-License-Identifier: GPL-2.0-or-later
#include "parameters.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t MOST_CYCLES = 1 << 16; // of any latency; the wheel has a place for each
constexpr uint32_t MOST_FLITS = 1 << 15;

std::string number(uint64_t value)
{
	return std::to_string(value);
}

} // namespace

std::string check_parameters(const Parameters &p, uint32_t channels)
{
	if (p.channel_reserve < MAX_PACKET_FLITS)
		return "a reserve of " + number(p.channel_reserve) + " flits: a channel needs room for a packet of " +
		       number(MAX_PACKET_FLITS);
	for (const uint32_t size : {p.input_buffer, p.processor_buffer}) {
		if (size < uint64_t{channels} * p.channel_reserve)
			return "a buffer of " + number(size) + " flits has no room for " + number(channels) +
			       " reserves of " + number(p.channel_reserve);
	}
	for (const uint32_t size : {p.subswitch_buffer, p.column_buffer}) {
		if (size < MAX_PACKET_FLITS)
			return "a buffer of " + number(size) +
			       " flits inside a router: it needs room for a packet of " + number(MAX_PACKET_FLITS);
	}
	for (const uint32_t size : {p.input_buffer, p.processor_buffer, p.subswitch_buffer, p.column_buffer}) {
		if (size > MOST_FLITS)
			return "a buffer of " + number(size) + " flits: at most " + number(MOST_FLITS);
	}
	for (const uint32_t cycles : {p.input_cycles, p.row_cycles, p.column_cycles, p.link_cycles, p.credit_cycles,
				      p.netlink_cycles, p.serve_cycles, p.load_delay}) {
		if (cycles > MOST_CYCLES)
			return "a latency of " + number(cycles) + " cycles: at most " + number(MOST_CYCLES);
	}
	if (!p.row_cycles || !p.column_cycles || !p.input_cycles)
		return "a stage of a router takes at least one cycle";
	if (!p.load_interval || !p.response_queue || !p.outstanding || p.outstanding > UINT16_MAX)
		return "load interval, response queue and outstanding requests are at least 1, the last at most 65,535";
	return {};
}

} // namespace aries::sim
