// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch_checks.hpp"

#include <algorithm>
#include <iterator>

#include "elite5_line.hpp"
#include "part.hpp"
#include "recent.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t MOST_LATENCY = 1 << 14;
constexpr uint32_t MOST_PS_PER_M = 100000;
constexpr uint32_t MOST_BIT_ERRORS = 10'000'000;
constexpr uint32_t MOST_REBUILD = 40000;
constexpr uint32_t LEAST_TIMEOUT = 1000;
constexpr uint32_t MOST_TIMEOUT = 1 << 16;
constexpr uint32_t MOST_POOL = 255;
constexpr uint32_t MOST_DATA = chip::ELITE5.packets.most_payload - chip::ELITE5.packets.address_bytes;
constexpr uint32_t EVENT_BYTES = 64; ///< of a packet under way

/* The others are of routers that are made of tiles. */
constexpr uint32_t Parameters::*KNOWN[] = {
	&Parameters::input_cycles,  &Parameters::link_cycles,     &Parameters::credit_cycles,
	&Parameters::ps_per_m,      &Parameters::netlink_cycles,  &Parameters::serve_cycles,
	&Parameters::outstanding,   &Parameters::rebuild_cycles,  &Parameters::timeout_cycles,
	&Parameters::bit_errors,    &Parameters::packet_bytes,    &Parameters::urgent_bytes,
	&Parameters::pool_buffers,  &Parameters::order,           &Parameters::threshold,
	&Parameters::write_least,   &Parameters::write_most,      &Parameters::early_answers,
	&Parameters::retry_cycles,  &Parameters::bring_up_cycles, &Parameters::ce_host_cycles,
	&Parameters::ce_nic_cycles, &Parameters::watch_order,
};

/* Links of all nodes. */
uint64_t node_links(const topology::Machine &machine)
{
	const auto &tiles = machine.router_type.tiles;
	const auto of_router = std::count_if(tiles.begin(), tiles.end(), [](const topology::Tile &tile) {
		return tile.role == topology::TileRole::Processor;
	});

	return (machine.nodes.size() + machine.further.size()) * static_cast<uint64_t>(of_router) /
	       std::max(machine.router_type.nics, 1u);
}

std::string number(uint64_t value)
{
	return std::to_string(value);
}

std::string check_times(const Parameters &p)
{
	for (const uint32_t cycles :
	     {p.input_cycles, p.link_cycles, p.credit_cycles, p.netlink_cycles, p.serve_cycles, p.write_least,
	      p.write_most, p.retry_cycles, p.bring_up_cycles, p.ce_host_cycles, p.ce_nic_cycles}) {
		if (!cycles || cycles > MOST_LATENCY)
			return "a latency of " + number(cycles) + " cycles: 1 to " + number(MOST_LATENCY);
	}
	if (p.credit_cycles > p.input_cycles)
		return "a credit takes " + number(p.credit_cycles) + " cycles: at most those of an input, " +
		       number(p.input_cycles) + ", for the answer to its packet comes no sooner";
	if (p.write_least > p.write_most)
		return "data are in memory after " + number(p.write_least) + " to " + number(p.write_most) +
		       " cycles: the first is not above the second";
	if (p.ps_per_m > MOST_PS_PER_M)
		return number(p.ps_per_m) + " ps for a metre of cable: at most " + number(MOST_PS_PER_M);
	if (!p.rebuild_cycles || p.rebuild_cycles > MOST_REBUILD)
		return "tables change " + number(p.rebuild_cycles) + " cycles after a failure: 1 to " +
		       number(MOST_REBUILD);
	if (p.timeout_cycles < LEAST_TIMEOUT || p.timeout_cycles > MOST_TIMEOUT)
		return "a packet is given up after " + number(p.timeout_cycles) + " cycles: " + number(LEAST_TIMEOUT) +
		       " to " + number(MOST_TIMEOUT);
	return {};
}

} // namespace

/*
 * A switch is crossed in 12 cycles, 38.5 of at most 40 ns (Q07), half of them in its input and half in the SerDes of
 * its links; an adapter has the other half of a link's. 94 and 125 cycles are 300 and 400 ns (Q09). Hosts and adapters
 * take 250 and 120 ns for a step of a barrier, as those of Aries.
 */
void set_switch_parameters(Parameters &parameters) noexcept
{
	parameters.input_cycles = 6;
	parameters.link_cycles = 6;
	parameters.netlink_cycles = 3;
	parameters.serve_cycles = 109;
	parameters.packet_bytes = chip::ELITE5.packets.usual_payload;
	parameters.urgent_bytes = chip::ELITE5.packets.segment_bytes;
	parameters.pool_buffers = chip::ELITE5.channels.pool_buffers;
	parameters.order = static_cast<uint32_t>(routing::ClosOrder::Random);
	parameters.threshold = routing::ClosChoice{}.threshold;
	parameters.write_least = 94;
	parameters.write_most = 125;
	parameters.early_answers = 1;
	parameters.retry_cycles = 100;
	parameters.bring_up_cycles = 1000;
	parameters.ce_host_cycles = 78;
	parameters.ce_nic_cycles = 37;
}

std::string check_switch_parameters(const Parameters &p, uint32_t channels)
{
	const Parameters usual = parameters_of(ELITE5_LINE);

	for (const ParameterInfo &info : parameter_table()) {
		if (std::find(std::begin(KNOWN), std::end(KNOWN), info.value) == std::end(KNOWN) &&
		    p.*info.value != usual.*info.value)
			return std::string(info.name) + " is none of QsNetIII's parameters";
	}

	std::string broken = check_times(p);

	if (!broken.empty())
		return broken;
	if (p.packet_bytes < WORD_BYTES || p.packet_bytes > MOST_DATA)
		return "packets of " + number(p.packet_bytes) + " bytes of data: " + number(WORD_BYTES) + " to " +
		       number(MOST_DATA) + " (Q12)";
	if (p.urgent_bytes > chip::ELITE5.packets.segment_bytes)
		return "packets of " + number(p.urgent_bytes) + " bytes overtake: at most " +
		       number(chip::ELITE5.packets.segment_bytes) + ", a segment";
	if (p.pool_buffers > MOST_POOL)
		return "a pool of " + number(p.pool_buffers) + " buffers: at most " + number(MOST_POOL);
	if (p.order > static_cast<uint32_t>(routing::ClosOrder::Lighter))
		return "order is 0 (first), 1 (next), 2 (random) or 3 (the lighter of two)";
	if (!p.threshold || p.threshold > channels)
		return "a threshold of " + number(p.threshold) + " packets: 1 to " + number(channels) +
		       ", the channels of a link";
	if (p.early_answers > 1 || p.watch_order > 1)
		return "early_answers and watch_order are 0 or 1";
	if (p.bit_errors > MOST_BIT_ERRORS)
		return number(p.bit_errors) + " errors in 10^12 bits: at most " + number(MOST_BIT_ERRORS);
	if (!p.outstanding)
		return "an adapter has at least one get without data";
	return {};
}

/* Records of channels take memory where channels are in use; the records of neighbouring links share pages. */
uint64_t estimate_switch_bytes(const topology::Machine &machine)
{
	const uint64_t links = 2 * (machine.links.size() + node_links(machine));
	const uint64_t places = 2 * (machine.routers.size() << TILE_BITS);
	const uint64_t channel = sizeof(Held) + sizeof(Sent);
	/* Packets as they were sent, packets under way with room to grow, and pending events. */
	const uint64_t port = LINK_CHANNELS * (4 * sizeof(SwitchPacket) + EVENT_BYTES);
	const uint64_t tables = machine.routers.size() * (machine.nodes.size() / 16 * sizeof(uint16_t) + 1024);

	return links * LINK_CHANNELS * channel + places * (sizeof(Sender) + 16) +
	       machine.nodes.size() * sizeof(Adapter) + node_links(machine) * port + tables;
}

/* Of a put the last packet, of a get all, and their data: at the load that is offered, or the whole of a trace. */
uint64_t estimate_remembered_bytes(const topology::Machine &machine, const Workload &workload,
				   const Parameters &parameters, uint64_t cycles)
{
	const auto numbers_of = [&parameters](Operation operation, uint32_t bytes) -> uint64_t {
		return operation == Operation::Get
			       ? 2 * ((bytes + parameters.packet_bytes - 1) / parameters.packet_bytes)
			       : 1;
	};
	const double known = std::min<double>(2.0 * remembered_cycles(parameters), static_cast<double>(cycles));
	const double links = static_cast<double>(node_links(machine)) / static_cast<double>(machine.nodes.size());
	double numbers = 0;

	for (const Job &job : workload.jobs) {
		const TrafficShape &shape = job.traffic;

		for (const TracedMessage &message : job.trace.messages)
			numbers += static_cast<double>(numbers_of(message.operation, message.bytes));
		if (!job.trace.messages.empty() || is_group(job))
			continue;
		numbers += static_cast<double>(job.nodes.size()) * known * links * shape.load_ppm / 1e6 *
			   static_cast<double>(numbers_of(shape.operation, shape.bytes)) /
			   static_cast<double>(words_of_message(shape.bytes, parameters.packet_bytes));
	}
	return static_cast<uint64_t>(numbers) * Recent::NUMBER_BYTES;
}

} // namespace aries::sim
