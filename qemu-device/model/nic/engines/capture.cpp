/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engines tell the packet trace about their operations. */
#include "nic/engines/bte_transfer.hpp"
#include "nic/engines/fma_work.hpp"
#include "nic/tables/ssid.hpp"
#include "router/routing_mode.hpp"

namespace aries
{

namespace
{

/* The 3 bits of routing control: the mode, and how far an adaptive one leans to minimal ways. */
uint8_t routing_bits(uint16_t dlvr_mode)
{
	const RoutingMode mode = routing_mode(dlvr_mode, false);

	return uint8_t(uint8_t(mode.routing) + mode.bias);
}

void gather(const Run *run, size_t count, uint64_t at, uint32_t bytes, uint8_t *to)
{
	for (; count && bytes; run++, count--) {
		if (at >= run->bytes) {
			at -= run->bytes;
			continue;
		}
		const uint32_t part = uint32_t(std::min<uint64_t>(bytes, run->bytes - at));

		memcpy(to, run->host + at, part);
		to += part;
		bytes -= part;
		at = 0;
	}
}

uint32_t packet_count(uint64_t bytes)
{
	return bytes ? uint32_t((bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES) : 1;
}

/* The header of the packets that are one request. */
Request header(const TargetRequest &request, uint32_t source, uint16_t dlvr_mode, uint8_t ssid, uint16_t command = 0)
{
	return {.kind = request.kind,
		.to = {request.node, uint16_t(request.mdh & (ARIES_MDD_ENTRIES - 1)), request.offset & OFFSET_MASK},
		.source = source,
		.key = request.key,
		.packet_id = 0,
		.ssid = ssid,
		.vc = 0,
		.routing = routing_bits(dlvr_mode),
		.bytes = 0,
		.command = command,
		.data = {}};
}

} // namespace

void capture_fma(Core &core, const FmaWork &work, uint8_t status, const FmaRuns *got) noexcept
{
	/* Nothing left the NIC; packets of collectives have no form in a trace. */
	if (!work.passage.depart_ns || work.op == ARIES_FMA_CE)
		return;
	/* A get that went well has told already: it knew where the data was. */
	if (work.is_get() && status == ARIES_ST_OK && !got)
		return;
	AmoCommand command = {};

	if (work.is_atomic())
		command.decode(work.amo);
	const TargetRequest request = work.request(work.kind(command), command);
	const uint32_t payload = work.wire_bytes(request.kind, command);
	const TracedTransaction traced = {
		.request = header(request, core.node, work.desc.dlvr_mode, fma_ssid(work.index),
				  work.is_atomic() ? work.amo : uint16_t(0)),
		.bytes = payload,
		.result = request.kind == PacketKind::FetchAmo ? AMO_WIRE_WORD : 0,
		.index = 0,
		.packets = packet_count(payload),
		.engine = TraceEngine::Fma,
		.fmad = uint8_t(work.index),
		.status = status,
		.hops = work.passage.hops,
		.latency_ns = work.passage.latency_ns,
		.depart_ns = work.passage.depart_ns,
		.back_ns = work.passage.back_ns,
	};

	core.trace.record(traced, [&](bool response, uint64_t at, uint32_t bytes, uint8_t *to) {
		const void *from = request.data + at;

		if (work.is_atomic())
			from = response ? &work.fetched : request.operand;
		else if (request.kind == PacketKind::CqWrite)
			from = request.operand;
		if (got)
			gather(got->run, got->count, at, bytes, to);
		else
			memcpy(to, from, bytes);
	});
}

void capture_bte(Core &core, const BteWork &work, uint64_t at, uint64_t bytes, uint8_t status, const Bursts &bursts,
		 const BteRuns &near) noexcept
{
	for (uint32_t i = 0; i < bursts.count; i++) {
		const uint64_t done = i * BTE_BURST;
		const uint64_t first = (at + done) / ARIES_PACKET_BYTES;
		const Passage &passage = bursts.passage[i];

		if (!passage.depart_ns || !core.trace.wants(first))
			return;
		const TracedTransaction traced = {
			.request = header(work.request(at + done), core.node, work.desc.dlvr_mode, work.ssid),
			.bytes = uint32_t(std::min(bytes - done, BTE_BURST)),
			.result = 0,
			.index = uint32_t(first),
			.packets = packet_count(work.desc.length),
			.engine = TraceEngine::Bte,
			.fmad = uint8_t(work.index),
			.status = status,
			.hops = passage.hops,
			.latency_ns = passage.latency_ns,
			.depart_ns = passage.depart_ns,
			/* A chunk is served as a whole: a lost packet leaves all of it without response. */
			.back_ns = bursts.passage[bursts.count - 1].back_ns ? passage.back_ns : 0,
		};

		core.trace.record(traced, [&](bool, uint64_t from, uint32_t size, uint8_t *to) {
			gather(near.run, near.count, done + from, size, to);
		});
	}
}

} // namespace aries
