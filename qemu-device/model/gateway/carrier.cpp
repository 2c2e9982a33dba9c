/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of nodes of this host for other hosts: read from the nodes' areas and sent over the wire. */
#include "gateway/carrier.hpp"

#include <algorithm>

#include "fabric/flight.hpp"
#include "fabric/quiet_thread.hpp"
#include "nic/remote/serve_carried.hpp"
#include "nic/target/copy.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

namespace
{

constexpr uint64_t TICK_NS = 20'000'000;
constexpr uint64_t RETRY_NS = 1'000'000; /* when the wire has taken no more */
constexpr uint32_t NOBODY = UINT32_MAX;

void on_irq(void *, unsigned int) {}

void on_log(void *opaque, aries_log_level, const char *line)
{
	const auto *config = static_cast<const CarrierConfig *>(opaque);

	if (config->log)
		config->log(line);
}

aries_config nic_config(const CarrierConfig &config, void *desc_area)
{
	aries_config nic = {};

	nic.api_version = ARIES_MODEL_API_VERSION;
	nic.node = config.address;
	nic.nodes = config.nodes;
	nic.routers_per_chassis = config.routers_per_chassis;
	nic.chassis_per_group = config.chassis_per_group;
	nic.machine_nodes = config.machine_nodes;
	nic.place = config.place;
	nic.lease_ms = config.lease_ms;
	nic.fabric = config.fabric.c_str();
	nic.desc_area = desc_area;
	return nic;
}

aries_host_ops host_ops()
{
	aries_host_ops ops = {};

	ops.api_version = ARIES_MODEL_API_VERSION;
	ops.irq = on_irq;
	ops.log = on_log;
	return ops;
}

/* Throws Error if the hosts' addresses make no fabric. */
std::vector<uint32_t> addresses(const CarrierConfig &config)
{
	std::vector<uint32_t> host_of(config.nodes, NOBODY);

	if (config.host >= config.hosts.size())
		throw Error("host " + std::to_string(config.host) + " is none of the " +
			    std::to_string(config.hosts.size()) + " hosts of the fabric");
	for (uint32_t host = 0; host < config.hosts.size(); host++) {
		for (const uint32_t node : config.hosts[host]) {
			const std::string name = "node " + std::to_string(node) + " of host " + std::to_string(host);

			if (node >= config.nodes)
				throw Error(name + " is not below the number of nodes, " +
					    std::to_string(config.nodes));
			if (node == config.address)
				throw Error(name + " has the address of the gateway: give the gateway one of its own");
			if (host_of[node] != NOBODY)
				throw Error(name + " is on host " + std::to_string(host_of[node]) +
					    ", too: a node is on one host");
			host_of[node] = host;
		}
	}
	return host_of;
}

std::span<const std::byte> bytes_of(const auto &value)
{
	return std::as_bytes(std::span(&value, 1));
}

} // namespace

Carrier::Carrier(const CarrierConfig &config, CarrierWire &wire)
	: config_(config), wire_(wire), host_of_(addresses(config_)),
	  desc_area_(std::make_unique<uint8_t[]>(ARIES_BAR_DESC_SIZE)),
	  nic_(nic_config(config_, desc_area_.get()), host_ops(), const_cast<CarrierConfig *>(&config_)),
	  core_(nic_.core()), mirror_(core_), engines_(core_),
	  news_file_(core_.segment.path(), core_.segment.origin_ns()),
	  shared_(core_.network, config_.nodes, config_.host, &news_file_,
		  [this](const std::string &line) { say(line); }),
	  inbound_(core_), hosts_(config_.hosts.size()), sources_(config_.nodes), taken_(config_.nodes)
{
	nic_.ce().set_beyond(*this);
	/* Engines may still hold handles of earlier gateways of this host. */
	next_handle_ = (core_.own().member.load() >> 32) << 40;
	hold_addresses();
	server_ = quiet_thread([this] { serve_all(); });
	pump_ = quiet_thread([this] { pump(); });
}

Carrier::~Carrier()
{
	stop_ = true;
	ring();
	pump_.join();
	{
		const std::lock_guard guard(serve_mutex_);

		stop_serving_ = true;
		arrived_.notify_one();
	}
	server_.join();
	for (uint32_t node = 0; node < config_.nodes; node++) {
		if (host_of_[node] != NOBODY && host_of_[node] != config_.host)
			mirror_.end(node);
	}
}

/* No slot is marked before all locks are held, so a fabric that cannot be carried is left unchanged. */
void Carrier::hold_addresses()
{
	const auto each = [this](auto &&visit) {
		for (uint32_t node = 0; node < config_.nodes; node++) {
			if (host_of_[node] != NOBODY && host_of_[node] != config_.host)
				visit(node);
		}
	};

	each([this](uint32_t node) {
		if (!core_.segment.hold_address(node))
			throw Error("node address " + std::to_string(node) + " of fabric " + config_.fabric +
				    " is in use on this host: it is to be carried to host " +
				    std::to_string(host_of_[node]) + "; stop the member, or say that it lives here");
	});
	each([this](uint32_t node) { mirror_.begin(node); });
}

void Carrier::say(const std::string &line) const
{
	if (config_.log)
		config_.log(line);
}

/* The key of an area that belongs to this gateway and to the node's current incarnation. Call within a flight at the
 * node. */
uint64_t Carrier::key_of(uint32_t node) const noexcept
{
	return carry_key(core_.own().member.load(), core_.segment.node(node).carry_life.load());
}

bool Carrier::anything_pending() const noexcept
{
	return std::any_of(std::begin(core_.own().carry_pending), std::end(core_.own().carry_pending),
			   [](const std::atomic<uint64_t> &word) { return word.load() != 0; });
}

void Carrier::pump() noexcept
{
	uint64_t due = 0;

	while (!stop_) {
		const uint64_t now = now_ns();

		if (now >= due) {
			look_after(now);
			due = now + TICK_NS;
		}
		take_pending();
		const bool backlog = !flush();

		bell().wait(backlog ? RETRY_NS : TICK_NS, [this] { return stop_ || anything_pending(); });
	}
}

void Carrier::take_pending() noexcept
{
	for (uint32_t word = 0; word < MEMBERS_MAX / 64; word++) {
		for (uint64_t left = core_.own().carry_pending[word].exchange(0); left; left &= left - 1) {
			const uint32_t node = word * 64 + uint32_t(std::countr_zero(left));

			if (node < config_.nodes && host_of_[node] == config_.host)
				take(node);
		}
	}
}

void Carrier::take(uint32_t node) noexcept
try {
	const std::lock_guard guard(mutex_);
	const FlightGuard flight(core_.segment, node, core_.node);
	CarryArea &area = core_.segment.carry(node);
	Source &source = sources_[node];
	const uint64_t key = key_of(node);

	if (area.key.load() != key)
		return;
	if (source.key != key) {
		drop_claims(node);
		source = {.key = key};
		tell_nodes(); /* before the first request of a node that may just have come up */
	}
	const uint32_t issued = area.issued.load(std::memory_order_acquire);

	/* An impossible count comes from a node that breaks the rules; it only harms that node. */
	if (issued - source.taken > CARRY_SLOTS)
		source.taken = issued;
	while (source.taken != issued) {
		const uint16_t slot = area.issue[source.taken++ % CARRY_SLOTS].load(std::memory_order_relaxed);

		if (slot < CARRY_SLOTS)
			take_one(node, source, area, slot);
	}
} catch (const std::bad_alloc &) {
	say("no memory for a request of node " + std::to_string(node));
}

/* Mutex held, within a flight. The node is not trusted: the slot is copied and then checked. */
void Carrier::take_one(uint32_t node, const Source &source, CarryArea &area, uint16_t index)
{
	const CarrySlot &slot = area.slot[index];
	const auto request = copy_once<CarriedRequest>(&slot.request);
	const bool put =
		CarriedKind(request.kind) == CarriedKind::Put || CarriedKind(request.kind) == CarriedKind::BlockPut;
	const uint32_t bytes = put ? request.part : 0, at = copy_once<uint32_t>(&slot.payload);
	const uint32_t host = request.target < config_.nodes ? host_of_[request.target] : NOBODY;
	const Open open = {.host = host,
			   .source = node,
			   .key = source.key,
			   .slot = index,
			   .answered = false,
			   .kind = CarriedKind(request.kind),
			   .target = request.target,
			   .claim = request.claim};

	figures_.requests++;
	if (!carried_sound(request, bytes, config_.nodes) || !ce_sound(request, config_.nodes) ||
	    request.source != node || host == config_.host || host == NOBODY ||
	    (bytes > CARRY_SMALL && (at > sizeof(area.heap) || bytes > sizeof(area.heap) - at)))
		answer(open, {.status = ARIES_ST_RESERVED}, {});
	else if (open.kind == CarriedKind::Partial || open.kind == CarriedKind::Outcome)
		take_collective(open, request);
	else if (!hosts_[host].up)
		answer(open, {.status = ARIES_ST_TIMEOUT}, {});
	else
		issue(open, request, {bytes > CARRY_SMALL ? area.heap + at : slot.small, bytes});
}

/* Mutex held. */
void Carrier::issue(const Open &open, const CarriedRequest &request, std::span<const uint8_t> payload)
{
	struct {
		MessageHeader header;
		CarriedRequest request;
	} head = {{uint32_t(MessageKind::Request), 0, next_id_++}, request};

	head.request.depart_ns = uint64_t(age(request.depart_ns));
	open_.emplace(head.header.id, open);
	post(open.host, bytes_of(head), std::as_bytes(payload));
}

/* Mutex held. Messages to a host that cannot be reached are dropped. */
void Carrier::post(uint32_t host, std::span<const std::byte> header, std::span<const std::byte> payload)
{
	Host &to = hosts_[host];

	if (!to.up || (to.out.empty() && wire_.send(host, header, payload)))
		return;
	to.out.push_back({{header.begin(), header.end()}, {payload.begin(), payload.end()}});
	ring();
}

/* False if messages are left that the wire does not accept at the moment. */
bool Carrier::flush() noexcept
{
	const std::lock_guard guard(mutex_);
	bool done = true;

	for (uint32_t host = 0; host < hosts_.size(); host++) {
		std::deque<Outgoing> &out = hosts_[host].out;

		while (!out.empty() && wire_.send(host, out.front().header, out.front().payload))
			out.pop_front();
		done = done && out.empty();
	}
	return done;
}

/*
 * From time to time: our lease, and those of nodes whose hosts are there. Nodes that have died or were reset lose the
 * receives that they had taken elsewhere.
 */
void Carrier::look_after(uint64_t now) noexcept
try {
	nic_.tick();
	for (uint32_t node = 0; node < config_.nodes; node++) {
		if (host_of_[node] != NOBODY && host_of_[node] != config_.host)
			mirror_.renew(node, now);
	}
	const std::lock_guard guard(mutex_);

	for (const uint32_t node : config_.hosts[config_.host]) {
		Source &source = sources_[node];

		if (source.key &&
		    (source.key != key_of(node) || core_.members.presence(node, now) != Presence::ALIVE)) {
			drop_claims(node);
			source = {};
		}
	}
	tell_network();
	tell_nodes();
	look_at_owed(now);
} catch (const std::bad_alloc &) {
	say("no memory to tell other hosts of our nodes");
}

/* Mutex held. Sends changes of the network; a host that has just come up gets them from tell_nodes(). */
void Carrier::tell_network()
{
	const std::vector<NetworkNews> changes = shared_.look();

	for (uint32_t host = 0; host < hosts_.size() && !changes.empty(); host++) {
		if (host != config_.host && hosts_[host].up && hosts_[host].told)
			post_news<NetworkNews>(host, MessageKind::Network, changes);
	}
}

/* Mutex held. As many messages as they need. */
template <typename News> void Carrier::post_news(uint32_t host, MessageKind kind, std::span<const News> news)
{
	constexpr size_t ROOM = CARRY_PAYLOAD / sizeof(News);
	const MessageHeader header = {uint32_t(kind), 0, 0};

	for (; !news.empty(); news = news.subspan(std::min(news.size(), ROOM)))
		post(host, bytes_of(header), std::as_bytes(news.first(std::min(news.size(), ROOM))));
}

/* Mutex held. Sends changes of our nodes and their engines; a host that has just come up gets the whole state. */
void Carrier::tell_nodes()
{
	std::vector<NodeNews> news;
	std::vector<EngineNews> engines;
	std::vector<InstanceNews> instances;

	for (const uint32_t node : config_.hosts[config_.host]) {
		news.push_back(mirror_.look(node));
		engines_.look(node, false, engines);
		engines_.look(node, false, instances);
	}
	const bool changed = news != told_;

	for (uint32_t host = 0; host < hosts_.size(); host++) {
		if (host == config_.host || !hosts_[host].up)
			continue;
		if (hosts_[host].told) {
			if (changed)
				post_news<NodeNews>(host, MessageKind::Nodes, news);
			post_news<EngineNews>(host, MessageKind::Engines, engines);
			post_news<InstanceNews>(host, MessageKind::Instances, instances);
			continue;
		}
		std::vector<EngineNews> all_engines;
		std::vector<InstanceNews> all_instances;

		for (const uint32_t node : config_.hosts[config_.host]) {
			engines_.look(node, true, all_engines);
			engines_.look(node, true, all_instances);
		}
		/* A host that sees a node come up builds trees with it, and for that needs the state of its engines. */
		post_news<EngineNews>(host, MessageKind::Engines, all_engines);
		post_news<InstanceNews>(host, MessageKind::Instances, all_instances);
		/* The host decides the paths of its own packets, so it needs the state of links before it sends to our
		 * nodes. */
		post_news<NetworkNews>(host, MessageKind::Network, shared_.all());
		post_news<NodeNews>(host, MessageKind::Nodes, news);
		hosts_[host].told = true;
	}
	told_ = std::move(news);
}

Carrier::Figures Carrier::figures() noexcept
{
	const std::lock_guard guard(mutex_);

	figures_.open = open_.size();
	return figures_;
}

std::vector<uint32_t> Carrier::reachable() const
{
	std::vector<uint32_t> nodes;

	for (uint32_t node = 0; node < config_.nodes; node++)
		if (is_carried(core_, node))
			nodes.push_back(node);
	return nodes;
}

} // namespace aries
