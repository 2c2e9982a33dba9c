// SPDX-License-Identifier: GPL-2.0-or-later
#include "parameters.hpp"

#include <algorithm>
#include <charconv>

#include "chip/gemini.hpp"
#include "elite5_line.hpp"
#include "router/tables.hpp"
#include "switch_checks.hpp"

namespace aries::sim
{

namespace
{

constexpr ParameterInfo TABLE[] = {
	{"input_buffer", &Parameters::input_buffer, "flits of a network tile, all channels"},
	{"channel_reserve", &Parameters::channel_reserve, "flits of it for each channel alone"},
	{"processor_buffer", &Parameters::processor_buffer, "flits of a processor tile, either way"},
	{"subswitch_buffer", &Parameters::subswitch_buffer, "flits of an input and channel in a sub-switch"},
	{"column_buffer", &Parameters::column_buffer, "flits of a row and channel in a column buffer"},
	{"input_cycles", &Parameters::input_cycles, "cycles of an input"},
	{"row_cycles", &Parameters::row_cycles, "cycles of a row bus"},
	{"column_cycles", &Parameters::column_cycles, "cycles of a column bus"},
	{"link_cycles", &Parameters::link_cycles, "cycles of SerDes and LCB, both ends"},
	{"credit_cycles", &Parameters::credit_cycles, "cycles of a credit besides the link"},
	{"ps_per_m", &Parameters::ps_per_m, "picoseconds of a metre of cable"},
	{"netlink_cycles", &Parameters::netlink_cycles, "cycles between NIC and processor tile"},
	{"serve_cycles", &Parameters::serve_cycles, "cycles from a request to its response"},
	{"response_queue", &Parameters::response_queue, "responses that a NIC holds"},
	{"outstanding", &Parameters::outstanding, "requests of a NIC without response"},
	{"ce_host_cycles", &Parameters::ce_host_cycles, "cycles of an operand or result over the host interface"},
	{"ce_nic_cycles", &Parameters::ce_nic_cycles, "cycles of it through a NIC, or its collective engine"},
	{"ce_operand_cycles", &Parameters::ce_operand_cycles, "cycles of a collective engine for each operand"},
	{"ce_process_ns", &Parameters::ce_process_ns, "nanoseconds of a host for each further process"},
	{"rebuild_cycles", &Parameters::rebuild_cycles,
	 "cycles from a failure to the quiet time in which tables change"},
	{"timeout_cycles", &Parameters::timeout_cycles, "cycles after which a lost request is given up"},
	{"watch_order", &Parameters::watch_order, "1: count requests that are overtaken"},
	{"bit_errors", &Parameters::bit_errors, "in 10^12 bits of a link, each sent again"},
	{"bubble", &Parameters::bubble, "Gemini: longest packets of room to enter a ring; 1: no bubble is left"},
	{"router_errors", &Parameters::router_errors,
	 "Gemini: in 10^12 bits through a router; packets are dropped at their end"},
	{"host_mbytes", &Parameters::host_mbytes, "Gemini: MB/s of data that a host gives; 0: what the tiles take"},
	{"packet_bytes", &Parameters::packet_bytes, "QsNetIII: bytes of data of a packet, at most"},
	{"urgent_bytes", &Parameters::urgent_bytes, "QsNetIII: packets up to this long on a link overtake; 0: none"},
	{"pool_buffers", &Parameters::pool_buffers, "QsNetIII: buffers of a link for any channel"},
	{"order", &Parameters::order, "QsNetIII: of light links 0 the first, 1 the next, 2 any; 3: the lighter of two"},
	{"threshold", &Parameters::threshold, "QsNetIII: packets below which a link is light"},
	{"write_least", &Parameters::write_least, "QsNetIII: cycles to memory, at least"},
	{"write_most", &Parameters::write_most, "QsNetIII: cycles to memory, at most"},
	{"early_answers", &Parameters::early_answers,
	 "QsNetIII: 1: packets but the last of a message are answered before they are written"},
	{"retry_cycles", &Parameters::retry_cycles, "QsNetIII: cycles until a refused packet is sent again"},
	{"bring_up_cycles", &Parameters::bring_up_cycles,
	 "QsNetIII: cycles of each step in which a link is brought up"},
	{"load_interval", &Parameters::load_interval, "cycles between two messages about load"},
	{"load_delay", &Parameters::load_delay, "cycles that these are older than they must be"},
	{"near_weight", &Parameters::near_weight, "weight of flits in this router"},
	{"far_weight", &Parameters::far_weight, "weight of flits that the far end has"},
	{"down_weight", &Parameters::down_weight, "weight of what the neighbour says"},
};

static_assert(sizeof(TABLE) / sizeof(TABLE[0]) == sizeof(Parameters) / sizeof(uint32_t), "all parameters");

constexpr uint32_t MOST_CYCLES = 1 << 16; // of any latency; the wheel has a place for each
constexpr uint32_t MOST_REBUILD = 40000;
constexpr uint32_t MOST_BIT_ERRORS = 10'000'000;
constexpr uint32_t MOST_FLITS = 1 << 15;
constexpr uint32_t MOST_BUBBLE = 8;
constexpr uint32_t LEAST_MBYTES = 100;
constexpr uint32_t MOST_MBYTES = 100000;
constexpr uint32_t MOST_WEIGHT = 1 << 10;
constexpr uint32_t MOST_PS_PER_M = 100000;
constexpr uint32_t MOST_PROCESS_NS = 100000;

std::string number(uint64_t value)
{
	return std::to_string(value);
}

} // namespace

/*
 * Buffers of Gemini are ours: no source has a size. The pipeline has as many cycles as that of Aries: 90 ns with the
 * link's, of the 105 of a hop (G44), to which a cable adds. Routers tell their neighbours nothing. A host gives 6,980
 * MB/s, which is for block transfers (G41); to its windows of puts it is 8,080 (G40), the NIC takes 8,320 (G38).
 */
Parameters parameters_of(const chip::Chip &chip)
{
	Parameters parameters;

	if (&chip == &chip::GEMINI) {
		const uint32_t longest = chip::most_units(chip.packets);

		parameters.input_buffer = 32 * longest;
		parameters.channel_reserve = 2 * longest;
		parameters.processor_buffer = 16 * longest;
		parameters.subswitch_buffer = parameters.column_buffer = 2 * longest;
		parameters.bubble = 2;
		parameters.host_mbytes = 6980;
		parameters.down_weight = 0;
	}
	if (&chip == &ELITE5_LINE)
		set_switch_parameters(parameters);
	return parameters;
}

std::span<const ParameterInfo> parameter_table() noexcept
{
	return TABLE;
}

std::string set_parameter(Parameters &parameters, const std::string &text)
{
	const size_t equals = text.find('=');
	const std::string name = text.substr(0, equals);

	if (equals == std::string::npos)
		return "'" + text + "' is not a parameter with its value: NAME=VALUE";
	for (const ParameterInfo &info : TABLE) {
		if (name != info.name)
			continue;

		const auto [end, error] =
			std::from_chars(text.data() + equals + 1, text.data() + text.size(), parameters.*info.value);

		if (error != std::errc{} || end != text.data() + text.size())
			return name + ": '" + text.substr(equals + 1) + "' is no whole number from 0 to 4,294,967,295";
		return {};
	}
	return "there is no parameter '" + name + "': --parameters lists them";
}

namespace
{

constexpr uint32_t Parameters::*ONLY_QSNET[] = {
	&Parameters::packet_bytes, &Parameters::urgent_bytes,    &Parameters::pool_buffers, &Parameters::order,
	&Parameters::threshold,    &Parameters::write_least,     &Parameters::write_most,   &Parameters::early_answers,
	&Parameters::retry_cycles, &Parameters::bring_up_cycles,
};

/* Another chip has none of what only QsNetIII has. */
std::string check_not_qsnet(const Parameters &p, const chip::Chip &chip)
{
	for (const ParameterInfo &info : TABLE) {
		if (p.*info.value &&
		    std::find(std::begin(ONLY_QSNET), std::end(ONLY_QSNET), info.value) != std::end(ONLY_QSNET))
			return std::string(info.name) + " is QsNetIII's: " + chip.name + " has none";
	}
	return {};
}

/* What only Gemini has. */
std::string check_gemini(const Parameters &p, const chip::Chip &chip, uint32_t channels)
{
	const uint32_t longest = chip::most_units(chip.packets);

	if (&chip != &chip::GEMINI)
		return p.bubble || p.router_errors || p.host_mbytes
			       ? std::string("bubble, router_errors and host_mbytes are Gemini's: ") + chip.name +
					 " has none"
			       : std::string();
	if (!p.bubble || p.bubble > MOST_BUBBLE)
		return "room for " + number(p.bubble) + " packets to enter a ring: 1 to " + number(MOST_BUBBLE);
	if (channels == routing::CLASSES && p.input_buffer / channels < p.bubble * longest)
		return "a buffer of " + number(p.input_buffer) + " phits has no room for " + number(p.bubble) +
		       " packets of " + number(longest) + " in each of " + number(channels) + " channels";
	if (p.router_errors > MOST_BIT_ERRORS)
		return number(p.router_errors) + " errors in 10^12 bits: at most " + number(MOST_BIT_ERRORS);
	if (p.host_mbytes && (p.host_mbytes < LEAST_MBYTES || p.host_mbytes > MOST_MBYTES))
		return "a host that gives " + number(p.host_mbytes) + " MB/s: " + number(LEAST_MBYTES) + " to " +
		       number(MOST_MBYTES) + ", or 0 for no limit";
	return {};
}

} // namespace

std::string check_parameters(const Parameters &p, const chip::Chip &chip, uint32_t channels)
{
	const uint32_t longest = chip::most_units(chip.packets);

	if (&chip == &ELITE5_LINE)
		return check_switch_parameters(p, channels / routing::CLASSES);
	if (p.channel_reserve < longest)
		return "a reserve of " + number(p.channel_reserve) + " flits: a channel needs room for a packet of " +
		       number(longest);
	for (const uint32_t size : {p.input_buffer, p.processor_buffer}) {
		if (size < uint64_t{channels} * p.channel_reserve)
			return "a buffer of " + number(size) + " flits has no room for " + number(channels) +
			       " reserves of " + number(p.channel_reserve);
	}
	for (const uint32_t size : {p.subswitch_buffer, p.column_buffer}) {
		if (size < longest)
			return "a buffer of " + number(size) +
			       " flits inside a router: it needs room for a packet of " + number(longest);
	}
	for (const uint32_t size : {p.input_buffer, p.processor_buffer, p.subswitch_buffer, p.column_buffer}) {
		if (size > MOST_FLITS)
			return "a buffer of " + number(size) + " flits: at most " + number(MOST_FLITS);
	}
	for (const uint32_t cycles :
	     {p.input_cycles, p.row_cycles, p.column_cycles, p.link_cycles, p.credit_cycles, p.netlink_cycles,
	      p.serve_cycles, p.ce_host_cycles, p.ce_nic_cycles, p.ce_operand_cycles, p.load_delay, p.timeout_cycles}) {
		if (cycles > MOST_CYCLES)
			return "a latency of " + number(cycles) + " cycles: at most " + number(MOST_CYCLES);
	}
	for (const uint32_t weight : {p.near_weight, p.far_weight, p.down_weight}) {
		if (weight > MOST_WEIGHT)
			return "a weight of " + number(weight) + ": at most " + number(MOST_WEIGHT);
	}
	if (p.ps_per_m > MOST_PS_PER_M)
		return number(p.ps_per_m) + " ps for a metre of cable: at most " + number(MOST_PS_PER_M);
	if (p.ce_process_ns > MOST_PROCESS_NS)
		return number(p.ce_process_ns) + " ns for a process: at most " + number(MOST_PROCESS_NS);
	if (!p.ce_nic_cycles)
		return "an engine takes at least one cycle";
	if (p.load_interval > MOST_CYCLES)
		return "a message about load every " + number(p.load_interval) + " cycles: at most " +
		       number(MOST_CYCLES);
	if (!p.row_cycles || !p.column_cycles || !p.input_cycles)
		return "a stage of a router takes at least one cycle";
	/* A run that waits longer counts as stuck. */
	if (!p.rebuild_cycles || p.rebuild_cycles > MOST_REBUILD)
		return "tables change " + number(p.rebuild_cycles) + " cycles after a failure: 1 to " +
		       number(MOST_REBUILD);
	if (p.watch_order > 1)
		return "watch_order is 0 or 1";
	if (p.bit_errors > MOST_BIT_ERRORS)
		return number(p.bit_errors) + " errors in 10^12 bits: at most " + number(MOST_BIT_ERRORS);
	if (!p.load_interval || !p.response_queue || !p.outstanding || p.outstanding > UINT16_MAX)
		return "load interval, response queue and outstanding requests are at least 1, the last at most 65,535";
	const std::string foreign = check_not_qsnet(p, chip);

	return foreign.empty() ? check_gemini(p, chip, channels) : foreign;
}

} // namespace aries::sim
