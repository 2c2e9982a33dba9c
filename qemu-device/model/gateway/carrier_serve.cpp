/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages from other hosts: requests for our nodes, responses to requests of our nodes, news of nodes. */
#include "gateway/carrier.hpp"

#include <algorithm>

#include "fabric/flight.hpp"
#include "gateway/take_front.hpp"
#include "nic/remote/serve_carried.hpp"
#include "nic/target/copy.hpp"

namespace aries
{

void Carrier::enqueue(uint32_t host, Happened what, std::span<const std::byte> message) noexcept
try {
	const std::lock_guard guard(serve_mutex_);

	if (host >= hosts_.size() || host == config_.host)
		return;
	incoming_.push_back({host, what, {message.begin(), message.end()}});
	arrived_.notify_one();
} catch (const std::bad_alloc &) {
	say("no memory for a message of host " + std::to_string(host));
}

void Carrier::received(uint32_t host, std::span<const std::byte> message) noexcept
{
	enqueue(host, Happened::Message, message);
}

void Carrier::up(uint32_t host) noexcept
{
	enqueue(host, Happened::Up, {});
}

void Carrier::down(uint32_t host, const std::string &why) noexcept
{
	enqueue(host, Happened::Down, std::as_bytes(std::span(why)));
}

void Carrier::serve_all() noexcept
{
	std::unique_lock guard(serve_mutex_);

	while (!stop_serving_) {
		if (incoming_.empty()) {
			arrived_.wait(guard);
			continue;
		}
		const Incoming incoming = std::move(incoming_.front());

		incoming_.pop_front();
		guard.unlock();
		handle(incoming);
		guard.lock();
	}
}

void Carrier::handle(const Incoming &incoming) noexcept
{
	switch (incoming.what) {
	case Happened::Message:
		handle_message(incoming.host, incoming.message);
		break;
	case Happened::Up:
		handle_up(incoming.host);
		break;
	case Happened::Down:
		handle_down(incoming.host,
			    {reinterpret_cast<const char *>(incoming.message.data()), incoming.message.size()});
		break;
	case Happened::Forsaken: {
		std::span<const std::byte> message = incoming.message;
		Forsaken forsaken;

		if (take_front(message, forsaken))
			nic_.ce().give_up(forsaken.engine, forsaken.serial, ARIES_ST_TIMEOUT);
		break;
	}
	}
}

/* The host is told about our nodes before any of their requests. */
void Carrier::handle_up(uint32_t host) noexcept
try {
	{
		const std::lock_guard guard(mutex_);

		hosts_[host].up = true;
		hosts_[host].told = false;
		hosts_[host].out.clear();
		tell_nodes();
	}
	say("host " + std::to_string(host) + " is there");
} catch (const std::bad_alloc &) {
	/* The next tick tries again. */
}

/*
 * It cannot be known whether requests under way to the host have been executed. So its nodes are dead before these
 * requests end: an initiator that gets TIMEOUT sees the target dead, and sees the target's next incarnation only after
 * that has begun.
 */
void Carrier::handle_down(uint32_t host, const std::string &why) noexcept
{
	unsigned int lost = 0;

	for (const uint32_t node : config_.hosts[host])
		mirror_.lose(node);
	{
		const std::lock_guard guard(mutex_);

		hosts_[host].up = false;
		hosts_[host].out.clear();
		for (auto open = open_.begin(); open != open_.end();) {
			if (open->second.host != host) {
				++open;
				continue;
			}
			answer(open->second, {.status = ARIES_ST_TIMEOUT}, {});
			open = open_.erase(open);
			lost++;
		}
		drop_collectives(host);
		figures_.timeouts += lost;
		/* The nodes of that host release receives that a dead sender had taken. */
		for (std::vector<Taken> &taken : taken_)
			std::erase_if(taken, [&](const Taken &one) { return host_of_[one.target] == host; });
	}
	say("host " + std::to_string(host) + " is away: " + why + "; " + std::to_string(lost) +
	    " requests end with TIMEOUT");
}

void Carrier::refuse(uint32_t host, const char *what) noexcept
{
	{
		const std::lock_guard guard(mutex_);

		figures_.refused++;
	}
	say("message of host " + std::to_string(host) + " refused: " + what);
}

void Carrier::handle_message(uint32_t host, std::span<const std::byte> message) noexcept
{
	MessageHeader header;
	std::span<const std::byte> rest = message;

	if (!take_front(rest, header) || header.reserved) {
		refuse(host, "no header");
		return;
	}
	switch (MessageKind(header.kind)) {
	case MessageKind::Request:
		serve(host, message);
		break;
	case MessageKind::Response:
		settle(host, message);
		break;
	case MessageKind::Nodes:
		learn(host, rest);
		break;
	case MessageKind::Engines:
		learn_engines(host, rest);
		break;
	case MessageKind::Instances:
		learn_instances(host, rest);
		break;
	case MessageKind::Network:
		learn_network(host, rest);
		break;
	default:
		refuse(host, "of no known kind");
	}
}

/* A request from another host. */
void Carrier::serve(uint32_t host, std::span<const std::byte> message) noexcept
try {
	MessageHeader header = {};
	CarriedResponse response = {};
	CarriedRequest request = {};
	std::vector<uint8_t> data;
	std::span<const std::byte> rest = message;

	take_front(rest, header);
	if (!take_front(rest, request) || !carried_sound(request, rest.size(), config_.nodes) ||
	    !ce_sound(request, config_.nodes) || host_of_[request.source] != host ||
	    host_of_[request.target] != config_.host || CarriedKind(request.kind) == CarriedKind::Outcome ||
	    (CarriedKind(request.kind) == CarriedKind::Partial && host_of_[request.at] != host)) {
		refuse(host, "a request that makes no sense");
		response.status = ARIES_ST_RESERVED;
	} else {
		request.depart_ns = since(request.depart_ns);
		if (CarriedKind(request.kind) >= CarriedKind::Contribute) {
			serve_collective(host, header.id, request);
			return;
		}
		response = serve_carried(core_, inbound_, request,
					 {reinterpret_cast<const uint8_t *>(rest.data()), rest.size()}, data);
	}
	const std::lock_guard guard(mutex_);

	respond(host, header.id, response, std::as_bytes(std::span(data)));
} catch (const std::bad_alloc &) {
	refuse(host, "there is no memory to serve it");
}

/* A response to one of our requests. */
void Carrier::settle(uint32_t host, std::span<const std::byte> message) noexcept
{
	MessageHeader header;
	CarriedResponse response = {};

	take_front(message, header);
	if (!take_front(message, response) || response.bytes != message.size()) {
		refuse(host, "a response that makes no sense");
		return;
	}
	if (response.flags & SERVED_OUTCOME)
		response.claim.offset = since(response.claim.offset);
	std::unique_lock guard(mutex_);
	const auto found = open_.find(header.id);

	if (found == open_.end() || found->second.host != host) {
		figures_.refused++;
		return;
	}
	const Open open = found->second;

	open_.erase(found);
	figures_.responses++;
	if (open.kind == CarriedKind::Partial) {
		guard.unlock();
		come_down(open, response);
		return;
	}
	note_claim(open, response, answer(open, response, message));
}

/*
 * Mutex held. Writes within a flight at the source: a node waits for flights before its area gets another life.
 * Return: whether the area still has the life in which the request was made
 */
bool Carrier::answer(const Open &open, CarriedResponse response, std::span<const std::byte> data) noexcept
{
	if (open.answered)
		return false;
	const FlightGuard flight(core_.segment, open.source, core_.node);
	CarryArea &area = core_.segment.carry(open.source);
	Source &source = sources_[open.source];

	if (open.key != key_of(open.source) || source.key != open.key || area.key.load() != open.key)
		return false;
	CarrySlot &slot = area.slot[open.slot];
	/* The node is not trusted and may change both words at any time, so they are loaded once. */
	const auto at = copy_once<uint32_t>(&slot.payload), room = copy_once<uint32_t>(&slot.room);
	const bool heap = room && at <= sizeof(area.heap) && room <= sizeof(area.heap) - at;

	if (data.size() > (heap ? room : CARRY_SMALL)) {
		response = {.status = ARIES_ST_TIMEOUT};
		data = {};
	}
	if (!data.empty())
		memcpy(heap ? area.heap + at : slot.small, data.data(), data.size());
	slot.response = response;
	area.answer[source.answered % CARRY_SLOTS].store(open.slot, std::memory_order_relaxed);
	area.answered.store(++source.answered, std::memory_order_release);
	Bell(area.bell, area.sleeping).ring();
	return true;
}

/* Mutex held. Notes a receive that a send of our node has taken, or forgets one that was finished or returned. */
void Carrier::note_claim(const Open &open, const CarriedResponse &response, bool delivered) noexcept
try {
	std::vector<Taken> &taken = taken_[open.source];

	if (open.kind == CarriedKind::Match && response.status == ARIES_ST_OK) {
		const Taken one = {open.target, response.claim};

		if (delivered)
			taken.push_back(one);
		else
			give_back(open.source, one);
	} else if (open.kind == CarriedKind::Return ||
		   (open.kind == CarriedKind::Finish && response.status == ARIES_ST_OK)) {
		std::erase_if(taken, [&](const Taken &one) {
			return one.target == open.target && one.claim.index == open.claim.index &&
			       one.claim.state == open.claim.state;
		});
	}
} catch (const std::bad_alloc &) {
	say("no memory to note a receive that node " + std::to_string(open.source) + " has taken");
}

/* Mutex held. */
void Carrier::give_back(uint32_t source, const Taken &taken) noexcept
try {
	CarriedRequest request = {};

	request.kind = uint8_t(CarriedKind::Return);
	request.source = source;
	request.target = taken.target;
	request.claim = taken.claim;
	if (hosts_[host_of_[taken.target]].up)
		issue({host_of_[taken.target], source, 0, 0, true, CarriedKind::Return, taken.target, taken.claim},
		      request, {});
} catch (const std::bad_alloc &) {
	say("no memory to give back a receive that node " + std::to_string(source) + " had taken");
}

/* Mutex held. The node has died, or was reset. */
void Carrier::drop_claims(uint32_t source) noexcept
{
	for (const Taken &taken : std::exchange(taken_[source], {}))
		give_back(source, taken);
}

void Carrier::learn(uint32_t host, std::span<const std::byte> message) noexcept
{
	NodeNews news;

	while (take_front(message, news)) {
		if (news.node >= config_.nodes || host_of_[news.node] != host || news.state > MEMBER_LEFT ||
		    news.place >= core_.network.topology().nodes()) {
			refuse(host, "news of a node that makes no sense");
			return;
		}
		mirror_.show(news);
	}
	if (!message.empty())
		refuse(host, "news of nodes with a rest");
}

void Carrier::learn_network(uint32_t host, std::span<const std::byte> message) noexcept
try {
	NetworkNews news;

	while (take_front(message, news)) {
		if (const char *trouble = shared_.take(news, now_ns())) {
			refuse(host, trouble);
			return;
		}
	}
	shared_.keep();
	if (!message.empty())
		refuse(host, "news of the network with a rest");
} catch (const std::bad_alloc &) {
	refuse(host, "there is no memory for news of the network");
}

} // namespace aries
