/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engines tell the packet trace about their operations. */
#include "nic/bte.hpp"
#include "nic/fma.hpp"
#include "nic/ssid.hpp"
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

/* What an FMA operation carries, the way put(), get(), atomic() and cq_write() hand it to send(). */
struct Payload {
	PacketKind kind;
	uint32_t bytes;
};

Payload payload_of(const FmaWork &work)
{
	AmoCommand command = {};

	switch (work.op) {
	case ARIES_FMA_GET_OP:
	case ARIES_FMA_GET_FLAG:
		return {PacketKind::Get, work.bytes};
	case ARIES_FMA_AMO_OP:
	case ARIES_FMA_AMO_FLAG:
		command.decode(work.amo);
		return {command.fetch ? PacketKind::FetchAmo : PacketKind::Amo, command.two_operands() ? 16u : 8u};
	case ARIES_FMA_CQWRITE:
		return {PacketKind::CqWrite, CQWRITE_BYTES};
	default:
		return {PacketKind::Put, work.bytes};
	}
}

} // namespace

void Fma::capture(const FmaWork &work, uint8_t status, const FmaRuns *got) noexcept
{
	/* Nothing left the NIC; packets of collectives have no form in a trace. */
	if (!work.passage.depart_ns || work.op == ARIES_FMA_CE)
		return;
	/* A get that went well has recorded itself: it knew where the data was. */
	if (work.is_get() && status == ARIES_ST_OK && !got)
		return;
	const Payload payload = payload_of(work);
	const TracedTrain train = {
		.request = {.kind = payload.kind,
			    .to = {work.node, uint16_t(work.desc.mdh & (ARIES_MDD_ENTRIES - 1)),
				   work.desc.offset & OFFSET_MASK},
			    .source = core_.node,
			    .key = work.rights.key,
			    .packet_id = 0,
			    .ssid = fma_ssid(work.index),
			    .vc = 0,
			    .routing = routing_bits(work.desc.dlvr_mode),
			    .bytes = 0,
			    .command = work.is_atomic() ? work.amo : uint16_t(0),
			    .data = {}},
		.bytes = payload.bytes,
		.result = payload.kind == PacketKind::FetchAmo ? 8u : 0,
		.index = 0,
		.packets = packet_count(payload.bytes),
		.engine = TraceEngine::Fma,
		.fmad = uint8_t(work.index),
		.status = status,
		.hops = work.passage.hops,
		.latency_ns = work.passage.latency_ns,
		.depart_ns = work.passage.depart_ns,
		.back_ns = work.passage.back_ns,
	};

	core_.trace.record(train, [&](bool response, uint64_t at, uint32_t bytes, uint8_t *to) {
		const void *from = work.data + at;

		if (work.is_atomic())
			from = response ? &work.fetched : work.desc.operand;
		else if (work.op == ARIES_FMA_CQWRITE)
			from = work.desc.operand;
		if (got)
			gather(got->run, got->count, at, bytes, to);
		else
			memcpy(to, from, bytes);
	});
}

void Bte::capture(const BteWork &work, uint64_t at, uint64_t bytes, uint8_t status, const Bursts &bursts,
		  const BteRuns &near) noexcept
{
	for (uint32_t i = 0; i < bursts.count; i++) {
		const uint64_t done = i * BTE_BURST;
		const uint64_t first = (at + done) / ARIES_PACKET_BYTES;
		const Passage &passage = bursts.passage[i];

		if (!passage.depart_ns || !core_.trace.wants(first))
			return;
		const TracedTrain train = {
			.request = {.kind = work.put() ? PacketKind::Put : PacketKind::Get,
				    .to = {work.node, uint16_t(work.desc.mdh & (ARIES_MDD_ENTRIES - 1)),
					   (work.desc.offset + at + done) & OFFSET_MASK},
				    .source = core_.node,
				    .key = work.rights.key,
				    .packet_id = 0,
				    .ssid = work.ssid,
				    .vc = 0,
				    .routing = routing_bits(work.desc.dlvr_mode),
				    .bytes = 0,
				    .command = 0,
				    .data = {}},
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

		core_.trace.record(train, [&](bool, uint64_t from, uint32_t size, uint8_t *to) {
			gather(near.run, near.count, done + from, size, to);
		});
	}
}

} // namespace aries
