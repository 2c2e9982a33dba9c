/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request at its target: what it does there, whoever has brought it. */
#ifndef ARIES_NIC_SERVE_HPP
#define ARIES_NIC_SERVE_HPP

#include <concepts>
#include <vector>

#include "nic/core/ecc.hpp"
#include "nic/tables/amo.hpp"
#include "nic/tables/amo_cache.hpp"
#include "nic/tables/cq.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/receive.hpp"
#include "nic/target/sequence.hpp"
#include "nic/target/visit.hpp"
#include "packet/packet.hpp"

namespace aries
{

/** Longest payload of a get, which has the most packets of all FMA requests; bytes. */
inline constexpr uint32_t GET_MAX = 65532;

/**
 * A request as its target sees it: what travels, and nothing of who has sent it. The initiator's thread makes one of
 * its descriptor, the trace shows it, and one from another host is taken out of a message.
 */
struct TargetRequest {
	PacketKind kind;
	bool flagged;      /* of a put: the flag is stored behind the data */
	bool remote_event; /* the memory domain's queue gets an event */
	uint8_t type;      /* of events, 2 bits */
	uint16_t mdh;
	AmoCommand command; /* of atomics */
	uint32_t node;      /* target */
	uint32_t key;       /* of the communication domain */
	uint32_t bytes;     /* carried by a put, asked for by a get, of the word of an atomic */
	uint32_t event;     /* data of the remote event */
	uint64_t offset;    /* 40 bits */
	uint64_t flag_offset;
	uint64_t flag_value;
	uint64_t operand[2]; /* of atomics; the first is the entry of a queue write */
	const uint8_t *data; /* of a put: @bytes */

	bool writes() const noexcept { return kind != PacketKind::Get; }
	Access access() const noexcept { return {node, mdh, key, offset, bytes, writes(), remote_event}; }
};

/** What the response tells, beside data of a get. */
struct Served {
	uint64_t fetched = 0; /* by an atomic */
	bool overrun = false; /* the remote event, or the entry, has found no room */
	bool hit = false;     /* the word was in the AMO cache */
	bool walked = false;  /* a translation was not in the PTE cache */
	bool ran = false;     /* an atomic has kept the unit of the target busy */
};

/**
 * Calls of this unit are made within a visit to the request's node, which lasts until they are over. They return
 * ARIES_ST_*; what is refused is counted at the target. Any thread.
 *
 * Ask is a callable that gives the request. It is asked wherever a field is needed: a request that is made of a
 * descriptor then never is in memory as a whole, which would cost an 8-byte put a fiftieth of its time.
 */
template <typename Ask>
concept AskRequest = requires(Ask ask)
{
	{
		ask()
		} -> std::convertible_to<TargetRequest>;
};

/** A request as it is, for the same calls. */
inline auto as_it_is(const TargetRequest &request) noexcept
{
	return [&request]() -> const TargetRequest & { return request; };
}

/** Its event, if it wants one. */
template <AskRequest Ask>
[[gnu::always_inline]] inline void serve_event(Ask &&request, Visit &target, bool &overrun) noexcept
{
	if (!request().remote_event)
		return;
	const CqEntry entry = {.data = request().event,
			       .tid = 0,
			       .status = ARIES_ST_OK,
			       .info = ARIES_INFO_REMOTE,
			       .source = ARIES_SRC_REMOTE,
			       .type = request().type,
			       .remote_overrun = false};

	overrun = target.post(entry.word()) == CqResult::OVERRUN || target.lost();
}

/** Whether the flag of a put may be stored at @offset. */
inline uint8_t serve_check_flag(uint64_t offset, const Visit &target) noexcept
{
	if (offset & 7)
		return ARIES_ST_ALIGN;
	if (offset >> ARIES_OFFSET_BITS || !target.mdd().contains(offset, 8))
		return ARIES_ST_BOUNDS;
	return ARIES_ST_OK;
}

/** Any range of a put in an admitted visit, and the flag behind it. */
[[gnu::cold, gnu::noinline]] uint8_t serve_range(Core &core, const TargetRequest &request, Visit &target) noexcept;

/** Data within a page, and the flag: short messages. Both or none of @place and @flag; none for any other range. */
template <AskRequest Ask>
[[gnu::always_inline]] inline uint8_t serve_spots(Ask &&request, Visit &target, uint8_t *&place,
						  uint8_t *&flag) noexcept
{
	uint8_t status = serve_check_flag(request().flag_offset, target);

	if (status == ARIES_ST_OK)
		status = target.spot(request().offset, request().bytes, true, place);
	if (place)
		status = target.spot(request().flag_offset, 8, true, flag);
	if (!flag)
		place = nullptr;
	return status;
}

/** A put: its data, its flag, its event. */
template <AskRequest Ask>
[[gnu::always_inline]] inline uint8_t serve_put(Core &core, Ask &&request, Visit &target, bool &overrun) noexcept
{
	uint8_t *place = nullptr;
	uint8_t *flag = nullptr;
	uint8_t status = target.admit(request().access());

	if (status == ARIES_ST_OK && !core.faults.any() && !target.lazy()) [[likely]] {
		if (!request().flagged) [[likely]]
			status = target.spot(request().offset, request().bytes, true, place);
		else
			status = serve_spots(request, target, place, flag);
	}
	if (place) [[likely]] {
		store_bytes(place, request().data, request().bytes);
		if (flag) {
			const uint64_t value = request().flag_value;

			store_bytes(flag, reinterpret_cast<const uint8_t *>(&value), 8);
		}
	} else if (status == ARIES_ST_OK) {
		status = serve_range(core, request(), target);
	}
	if (status == ARIES_ST_OK && target.lost()) [[unlikely]]
		status = ARIES_ST_TRANSLATION;
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	serve_event(request, target, overrun);
	target.count_requests((request().bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	return ARIES_ST_OK;
}

/** A get, up to where its data is: @from. The event is the caller's, when it has read and target.settled() says OK. */
template <AskRequest Ask>
[[gnu::always_inline]] inline uint8_t serve_get(Ask &&request, Visit &target, FmaRuns &from) noexcept
{
	uint8_t status = target.admit(request().access());

	if (status == ARIES_ST_OK)
		status = target.runs(request().offset, request().bytes, false, from);
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests((request().bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES);
	return ARIES_ST_OK;
}

/** An atomic whose result may stay in the target's cache (N12). */
[[gnu::cold, gnu::noinline]] uint8_t serve_lazily(Core &core, const TargetRequest &request, Visit &target,
						  uint8_t *word, Served &served) noexcept;

/** An atomic without its event. @served: fetched, hit, walked, ran */
template <AskRequest Ask>
[[gnu::always_inline]] inline uint8_t serve_atomic(Core &core, Ask &&request, Visit &target, Served &served) noexcept
{
	const AmoCommand command = request().command;
	FmaRuns word;
	uint8_t status = target.admit(request().access());

	if (status == ARIES_ST_OK)
		status = target.find(request().offset, command.bytes, true, word);
	/* The region's start decides whether an aligned offset is an aligned address. */
	if (status == ARIES_ST_OK &&
	    (word.count != 1 || (reinterpret_cast<uintptr_t>(word.run[0].host) & (command.bytes - 1u))))
		status = ARIES_ST_ALIGN;
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	target.count_requests(1);
	const bool lazy = target.lazy();
	uint8_t *const at = word.run[0].host;
	const auto run = [&](uint32_t) {
		if (lazy) [[unlikely]]
			status = serve_lazily(core, request(), target, at, served);
		else
			served.fetched = amo_run(command, at, request().operand[0], request().operand[1]);
	};

	if (command.cached && !lazy)
		served.hit = AmoCache(core, target.node()).use(target.mdh(), request().offset);
	if (core.faults.any()) [[unlikely]]
		arrive<1>(core.faults, target, 1, run);
	else
		run(0);
	served.walked = target.walked();
	served.ran = true;
	return status == ARIES_ST_OK ? target.settled() : status;
}

/** What a queue write asks for: an event in the queue of the memory domain, wherever that begins. */
Access serve_queue_access(Core &core, const TargetRequest &request) noexcept;

/** A write to the queue of the memory domain: the payload is the event. */
uint8_t serve_queue(Core &core, const TargetRequest &request, Visit &target, bool &overrun) noexcept;

/**
 * A request of any kind, with its event. @bring takes what a get has found to where the response leaves from, and says
 * what has become of it.
 */
template <AskRequest Ask, typename Bring>
[[gnu::always_inline]] inline uint8_t serve_request(Core &core, Ask &&request, Visit &target, Served &served,
						    Bring &&bring) noexcept
{
	FmaRuns from;
	uint8_t status;

	switch (request().kind) {
	case PacketKind::Put:
		return serve_put(core, request, target, served.overrun);
	case PacketKind::CqWrite:
		return serve_queue(core, request(), target, served.overrun);
	case PacketKind::Get:
		status = serve_get(request, target, from);
		if (status == ARIES_ST_OK)
			status = bring(from);
		break;
	default:
		status = serve_atomic(core, request, target, served);
	}
	if (status == ARIES_ST_OK)
		serve_event(request, target, served.overrun);
	return status;
}

/** The same for a response that leaves later: @data gets what it brings back. */
uint8_t serve_request(Core &core, const TargetRequest &request, Visit &target, Served &served,
		      std::vector<uint8_t> &data) noexcept;

/** Takes out @bytes that were found. Return: ARIES_ST_OK, or why they are not to be used */
uint8_t serve_bytes(Visit &target, const FmaRuns &from, uint32_t bytes, std::vector<uint8_t> &data) noexcept;

/**
 * A send looks for a receive: the offset of @request is its channel, its bytes are those of the message.
 * @taker: lock word of who sends
 */
uint8_t serve_match(Core &core, const TargetRequest &request, uint32_t taker, Visit &target, RmtClaim &claim) noexcept;

/** The message is in the place that the claim names, and @request, too: its receive is told. */
uint8_t serve_message(Core &core, const TargetRequest &request, RmtClaim &claim, Visit &target, bool &overrun) noexcept;

/** Error event for the owner of the target, of a request with @status that @source has sent from descriptor @index. */
void report_at_target(Core &core, const TargetRequest &request, uint32_t source, uint8_t status, uint32_t index,
		      uint8_t op) noexcept;

} // namespace aries

#endif
