/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collectives between hosts. A contribution stays open like any request until its response, which is the outcome; so
 * the contributor learns of any end that the operation has. Partial results and outcomes come from the member that
 * moves the operation on, a NIC of this host or the carrier itself. The sender is not involved any further: the carrier
 * delivers them, or has the engine give up.
 */
#include <algorithm>

#include "gateway/carrier.hpp"
#include "gateway/take_front.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

namespace
{

constexpr uint64_t OWED_NS = 1'000'000'000;
constexpr int64_t AGE_MOST = 1'000'000'000; /* times of other hosts are limited to this, because they are not trusted */

} // namespace

/* Hosts have no common modelled time, so times are sent as ages: nanoseconds ago, negative for the future. */
int64_t Carrier::age(uint64_t at_ns) const noexcept
{
	return int64_t(core_.at(now_ns()) - at_ns);
}

uint64_t Carrier::since(uint64_t age) const noexcept
{
	return core_.at(now_ns()) - uint64_t(std::clamp(int64_t(age), -AGE_MOST, AGE_MOST));
}

/* Called by our own engine work, on the threads of the carrier, without the mutex. */
uint8_t Carrier::carry(const CarriedRequest &request) noexcept
try {
	const std::lock_guard guard(mutex_);

	if (CarriedKind(request.kind) == CarriedKind::Partial)
		return issue_partial(request);
	end_owed(request);
	return ARIES_ST_OK;
} catch (const std::bad_alloc &) {
	return ARIES_ST_TIMEOUT;
}

/*
 * Mutex held. The parent engine must know of the child engine before it gets the child's result, so nodes are told
 * first. The engine counts as the source of the result, whichever member sends it.
 */
uint8_t Carrier::issue_partial(const CarriedRequest &request)
{
	const uint32_t host = host_of_[request.target];

	if (!hosts_[host].up)
		return ARIES_ST_TIMEOUT;
	tell_nodes();
	CarriedRequest from_engine = request;

	from_engine.source = request.at;
	issue({.host = host,
	       .source = request.at,
	       .key = 0,
	       .slot = 0,
	       .answered = true,
	       .kind = CarriedKind::Partial,
	       .target = request.target,
	       .claim = {},
	       .engine = {request.at, request.index & ~uint32_t(CE_SOURCE_ENGINE)},
	       .serial = request.bytes,
	       .sent = request.flag_offset},
	      from_engine, {});
	return ARIES_ST_OK;
}

/* Mutex held. A contribution that is not in owed_ has got its outcome already. */
void Carrier::end_owed(const CarriedRequest &outcome)
{
	const auto found = owed_.find(outcome.flag_offset);

	if (found == owed_.end() || found->second.host != host_of_[outcome.target])
		return;
	CarriedResponse response = ce_response(outcome);

	response.claim.offset = uint64_t(age(response.claim.offset));
	respond(found->second.host, found->second.id, response, {});
	owed_.erase(found);
}

/* Mutex held. */
void Carrier::respond(uint32_t host, uint64_t id, CarriedResponse response, std::span<const std::byte> data)
{
	const struct {
		MessageHeader header;
		CarriedResponse response;
	} head = {{uint32_t(MessageKind::Response), 0, id}, response};

	figures_.served++;
	post(host, std::as_bytes(std::span(&head, 1)), data);
}

/* Mutex held, within a flight at the source. */
void Carrier::take_collective(const Open &open, const CarriedRequest &request)
{
	if (open.kind == CarriedKind::Outcome) {
		end_owed(request);
	} else if (host_of_[request.at] != config_.host) {
		answer(open, {.status = ARIES_ST_RESERVED}, {});
		return;
	} else if (issue_partial(request) != ARIES_ST_OK) {
		forsake({request.at, request.index & ~uint32_t(CE_SOURCE_ENGINE)}, request.bytes);
	}
	answer(open, {.status = ARIES_ST_OK}, {});
}

/*
 * Lets an engine give up. The mutex is held, and giving up drives the engine's neighbours, which may call carry() and
 * take the mutex: so the serving thread does it.
 */
void Carrier::forsake(CePlace engine, uint32_t serial) noexcept
try {
	const Forsaken forsaken = {engine, serial};
	const auto bytes = std::as_bytes(std::span(&forsaken, 1));
	const std::lock_guard guard(serve_mutex_);

	incoming_.push_back({config_.host, Happened::Forsaken, {bytes.begin(), bytes.end()}});
	arrived_.notify_one();
} catch (const std::bad_alloc &) {
	CeEdges::mark(core_.segment.node(engine.node).ce[engine.engine], serial);
}

/* A contribution from another host. It is either refused at once, or its response is the outcome. */
void Carrier::serve_collective(uint32_t host, uint64_t id, const CarriedRequest &request)
{
	const CePlace engine = {request.target, ce_arrived(request, 0).to.engine};
	uint64_t handle;
	{
		const std::lock_guard guard(mutex_);

		handle = ++next_handle_;
		owed_.emplace(handle, Owed{host, id, engine, ce_arrived(request, 0).index});
	}
	const CeArrived arrived = ce_arrived(request, handle);
	Ce::Step step;
	uint8_t status = target_state(core_, engine.node, now_ns());

	if (status == ARIES_ST_OK)
		status = nic_.ce().give(arrived.to, arrived.index, arrived.sender, arrived.what, step);
	/* The wire delivers nothing twice, so a repeated contribution is refused. */
	if (status == ARIES_ST_OK && !step.stored)
		status = ARIES_ST_CE_BUSY;
	if (status != ARIES_ST_OK) {
		const std::lock_guard guard(mutex_);

		owed_.erase(handle);
		respond(host, id, {.status = status}, {});
	}
	nic_.ce().drive(step);
}

/* The outcome for one of our partial results, or the reason why there is none. */
void Carrier::come_down(const Open &open, const CarriedResponse &response) noexcept
{
	if (response.flags & SERVED_OUTCOME)
		nic_.ce().came_down(open.engine, open.serial, open.sent, ce_outcome(response, 0, 0));
	else
		nic_.ce().give_up(open.engine, open.serial,
				  response.status == ARIES_ST_OK ? uint8_t(ARIES_ST_TIMEOUT) : response.status);
}

/*
 * Mutex held, from time to time. The member that moves an outcome on may die, or find no room for it: a contribution
 * that no engine knows any more ends with TIMEOUT.
 */
void Carrier::look_at_owed(uint64_t now)
{
	if (now < owed_due_)
		return;
	owed_due_ = now + OWED_NS;
	engines_.sweep(now);
	for (auto it = owed_.begin(); it != owed_.end();) {
		Owed &owed = it->second;
		const bool known = nic_.ce().owes(owed.engine, owed.index, it->first);

		if (!known && owed.gone) {
			respond(owed.host, owed.id, {.status = ARIES_ST_TIMEOUT}, {});
			it = owed_.erase(it);
			continue;
		}
		owed.gone = !known;
		++it;
	}
}

/*
 * Mutex held. The host is away: no contributor there waits any more, and messages on their way are lost. So all trees
 * with members on that host are broken, also if the host is back before a node here has seen its nodes dead.
 */
void Carrier::drop_collectives(uint32_t host) noexcept
{
	const auto there = [&](CePlace at) { return at.node < config_.nodes && host_of_[at.node] == host; };

	std::erase_if(owed_, [&](const auto &owed) { return owed.second.host == host; });
	for (const uint32_t node : config_.hosts[config_.host]) {
		for (uint32_t engine = 0; engine < ARIES_CE_CHANNELS; engine++) {
			const CeSlot &ce = core_.segment.node(node).ce[engine];
			const uint32_t serial = ce.serial.load();

			if (ce_enabled(ce) && ce_has_neighbour(ce, there))
				forsake({node, engine}, serial);
		}
	}
}

void Carrier::learn_engines(uint32_t host, std::span<const std::byte> message) noexcept
{
	EngineNews news;

	while (take_front(message, news)) {
		if (news.node >= config_.nodes || host_of_[news.node] != host || !engines_.sound(news)) {
			refuse(host, "news of an engine that makes no sense");
			return;
		}
		engines_.show(news);
	}
	if (!message.empty())
		refuse(host, "news of engines with a rest");
}

void Carrier::learn_instances(uint32_t host, std::span<const std::byte> message) noexcept
{
	InstanceNews news;

	while (take_front(message, news)) {
		if (news.node >= config_.nodes || host_of_[news.node] != host || !Engines::sound(news)) {
			refuse(host, "news of a process that makes no sense");
			return;
		}
		engines_.show(news);
	}
	if (!message.empty())
		refuse(host, "news of processes with a rest");
}

} // namespace aries
