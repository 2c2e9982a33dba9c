/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/nic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "fabric/tables_store.hpp"

namespace aries
{

namespace
{

constexpr uint32_t LEASE_DEFAULT_MS = 500;
constexpr uint32_t LEASE_MIN_MS = 50;
constexpr uint32_t LEASE_MAX_MS = 60000;
constexpr unsigned int LINES_OF_A_TICK = 2; /* of the log: a host limits them */

DragonflyShape shape_of(const aries_config &cfg)
{
	DragonflyShape shape = {};

	shape.nodes = cfg.machine_nodes ? cfg.machine_nodes : cfg.nodes;
	shape.routers_per_chassis = cfg.routers_per_chassis ? cfg.routers_per_chassis : 16;
	shape.chassis_per_group = cfg.chassis_per_group ? cfg.chassis_per_group : 6;
	return shape;
}

uint32_t place_of(const aries_config &cfg)
{
	return cfg.place ? cfg.place - 1 : cfg.node;
}

/* Checked before anything is touched. */
SegmentShape checked(const aries_config &cfg)
{
	if (cfg.api_version != ARIES_MODEL_API_VERSION)
		throw Error("the host was built for version " + std::to_string(cfg.api_version) +
			    " of the model, this is " + std::to_string(ARIES_MODEL_API_VERSION) + ": rebuild it");
	if (cfg.nodes < 1 || cfg.nodes > MEMBERS_MAX)
		throw Error("a fabric has 1 to " + std::to_string(MEMBERS_MAX) + " nodes, not " +
			    std::to_string(cfg.nodes));
	if (cfg.node >= cfg.nodes)
		throw Error("node address " + std::to_string(cfg.node) + " is not below the number of nodes, " +
			    std::to_string(cfg.nodes));
	if (cfg.lease_ms && (cfg.lease_ms < LEASE_MIN_MS || cfg.lease_ms > LEASE_MAX_MS))
		throw Error("a lease lasts 50 to 60000 ms, not " + std::to_string(cfg.lease_ms));
	if (!cfg.fabric || !*cfg.fabric)
		throw Error("no fabric given: name the path of its segment file, as /dev/shm/fabric");
	if (!cfg.desc_area)
		throw Error("the host gave no memory for the descriptor BAR");
	const DragonflyShape shape = shape_of(cfg);
	const std::string why = Network::check(shape);

	if (!why.empty())
		throw Error(why);
	if (shape.nodes < cfg.nodes)
		throw Error("a machine of " + std::to_string(shape.nodes) + " nodes has no places for a fabric of " +
			    std::to_string(cfg.nodes));
	if (place_of(cfg) >= shape.nodes)
		throw Error("place " + std::to_string(place_of(cfg)) + " is none: the machine has places 0 to " +
			    std::to_string(shape.nodes - 1));
	return {cfg.nodes,
		shape.routers_per_chassis,
		shape.chassis_per_group,
		shape.nodes,
		Network::shared_bytes(shape, cfg.nodes),
		Network::router_bytes(shape)};
}

} // namespace

Nic::Nic(const aries_config &cfg, const aries_host_ops &ops, void *opaque)
	: host_(ops, opaque), segment_(cfg.fabric ? cfg.fabric : "", checked(cfg), cfg.node),
	  members_(segment_, cfg.node, cfg.lease_ms ? cfg.lease_ms : LEASE_DEFAULT_MS), wake_(segment_, cfg.node),
	  maps_(segment_, members_, wake_),
	  network_(shape_of(cfg), segment_.network(), cfg.nodes, [this](uint32_t router) { return reserve(router); }),
	  errors_(segment_, members_, wake_),
	  trace_(cfg.node), core_{host_,    cfg.node, segment_, members_, maps_,           wake_,
				  network_, errors_,  faults_,  trace_,   shared_counters_},
	  fmads_(std::make_unique<Fmad[]>(ARIES_FMA_DESCRIPTORS)), ntt_(core_),
	  traffic_(cfg.node, network_, faults_, shared_counters_, orb_), hold_(core_), carry_(core_),
	  ce_beyond_(carry_), ce_(core_),
	  fma_(core_, fmads_.get(), ntt_, traffic_, ce_, hold_, carry_, static_cast<uint8_t *>(cfg.desc_area)),
	  bte_(core_, fmads_.get(), ntt_, traffic_, hold_, carry_, static_cast<uint8_t *>(cfg.desc_area)),
	  poll_(core_, fmads_.get(), fma_, traffic_, hold_, static_cast<uint8_t *>(cfg.desc_area), cfg.polled),
	  timer_(core_), registers_(core_, fmads_.get(), ntt_, traffic_, bte_, hold_, carry_, ce_, timer_, poll_)
{
	ce_.set_beyond(ce_beyond_);
	traffic_.on_orb_error(
		[this](uint32_t index, bool twice) { ecc_found(core_, core_.node, ARIES_RAS_ORB, index, twice); });
	take_place(place_of(cfg));
	segment_.let_others_in();
	members_.join();
	maps_.withdraw();
	network_.set_nic_link(cfg.node, true);
	network_.follow_tables([this](uint32_t generation) { return TablesStore(segment_.path()).read(generation); },
			       cfg.node);
	refresh_tables();
	maps_.files().serve();
	members_.activate();
	try {
		registers_.adopt();
	} catch (...) {
		members_.leave();
		throw;
	}
	maps_.files().introduce();
}

Nic::~Nic()
{
	registers_.reset();
	poll_.stop();
	carry_.stop();
	hold_.stop();
	maps_.withdraw();
	members_.leave();
}

/* Whether a node is where its place says. One of another host is from when its gateway has told of it: mirror.cpp. */
bool Nic::sits(uint32_t node) const noexcept
{
	const NodeSlot &slot = segment_.node(node);

	return segment_.member_locked(node) && (!slot.carrier.load() || uint32_t(slot.member.load()) == MEMBER_ALIVE);
}

/* Before the fabric lets anybody else in: so of two that want one place the second finds the first one there. */
void Nic::take_place(uint32_t place)
{
	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		if (n != core_.node && network_.place(n) == place && sits(n))
			throw Error("place " + std::to_string(place) + " of fabric " + segment_.path() +
				    " is taken by node " + std::to_string(n) + ": give this NIC another place");
	}
	network_.set_place(core_.node, place);
}

bool Nic::reserve(uint32_t router) noexcept
{
	if (segment_.reserve_network(router * ROUTER_BYTES, ROUTER_BYTES))
		return true;
	no_room_.store(true, std::memory_order_relaxed);
	return false;
}

/* Also of a NIC that sends nothing: who manages the network waits for all. */
void Nic::refresh_tables() noexcept
{
	if (const std::optional<std::string> trouble = network_.refresh_tables())
		host_.log(ARIES_LOG_WARN, "fabric %s: %s", segment_.path().c_str(), trouble->c_str());
}

/*
 * Of routers once: what is not booked is not wrong, but quicker than it should be. Without an area nothing goes to
 * other hosts; that may be over, and begin again.
 */
void Nic::tell_no_room() noexcept
{
	if (!no_room_told_ && no_room_.load(std::memory_order_relaxed)) {
		no_room_told_ = true;
		host_.log(ARIES_LOG_WARN,
			  "no space for routers of fabric %s: some are modelled as if they were always free",
			  segment_.path().c_str());
	}
	if (carry_.no_room() != no_area_told_) {
		no_area_told_ = !no_area_told_;
		host_.log(ARIES_LOG_WARN,
			  no_area_told_ ? "no space in fabric %s for requests to other hosts: they are refused"
					: "there is space in fabric %s for requests to other hosts",
			  segment_.path().c_str());
	}
}

uint64_t Nic::read(unsigned int bar, uint64_t offset, unsigned int size) noexcept
{
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return ~uint64_t(0);
	if (bar == ARIES_BAR_REGS)
		return registers_.read(offset, size);
	/* Windows and doorbells read as zero. */
	return bar == ARIES_BAR_FMA && offset < ARIES_BAR_FMA_SIZE ? 0 : ~uint64_t(0) >> (64 - 8 * size);
}

void Nic::write(unsigned int bar, uint64_t offset, unsigned int size, uint64_t value) noexcept
{
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return;
	if (bar == ARIES_BAR_FMA && offset < ARIES_BAR_FMA_SIZE) [[likely]] {
		fma_store(offset, size, value);
	} else if (bar == ARIES_BAR_REGS) {
		registers_.write(offset, size, value);
	}
	core_.deliver_irqs();
}

void Nic::fma_store(uint64_t offset, unsigned int size, uint64_t value) noexcept
{
	const uint32_t index = uint32_t(offset / ARIES_FMA_STRIDE);
	const uint32_t at = uint32_t(offset % ARIES_FMA_STRIDE);
	Fmad &fmad = fmads_[index];
	{
		std::lock_guard guard(fmad.lock);

		fmad.counters.add(ARIES_CNT_FMA_TRAPS);
		fmad.traps.store(fmad.traps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
		if (at >= ARIES_FMA_DOORBELL)
			doorbell(index, at - ARIES_FMA_DOORBELL, size, value);
		else if (at < ARIES_FMA_GET)
			fma_.put_window(index, at - ARIES_FMA_PUT, size, value);
		else if (size == 8 && at % 8 == 0)
			fma_.get_window(index, at - ARIES_FMA_GET, value);
		else
			core_.guest_error();
	}
	if (fmad.held.load(std::memory_order_relaxed)) [[unlikely]] {
		hold_.throttle(traffic_.room());
		fma_.await(index);
	}
}

void Nic::doorbell(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept
{
	if (size == 8 && at == ARIES_DB_FMA) [[likely]] {
		fma_.doorbell(index, value);
	} else if (size == 8 && at == ARIES_DB_BTE) {
		fma_.publish_status(index, bte_.doorbell(index, value));
	} else if (size == 8 && at == ARIES_DB_LAUNCH) {
		fmads_[index].launch_low = value;
	} else if (size == 8 && at == ARIES_DB_LAUNCH + 8) {
		fma_.launch_store(index, value);
	} else if (size == 8 && at == ARIES_DB_POLL && poll_.offered()) {
		poll_.kick(index);
	} else if (size != 8 || at != ARIES_DB_NULL) {
		core_.guest_error();
		host_.log(ARIES_LOG_GUEST_ERROR, "doorbell page of descriptor %u: %u bytes at %#x", index, size, at);
	}
}

void Nic::set_ram(const aries_ram *ram, size_t count)
{
	maps_.set_own(ram, count);
	registers_.begin_drain();
}

void Nic::set_bus_master(bool on) noexcept
{
	std::atomic<uint32_t> &online = core_.own().online;

	if (on)
		online.fetch_or(ONLINE_MASTER);
	else
		online.fetch_and(~uint32_t(ONLINE_MASTER));
	if (!on)
		registers_.begin_drain();
}

void Nic::reset() noexcept
{
	registers_.reset();
}

void Nic::wake() noexcept
{
	core_.raise_all(wake_.take());
	signal();
}

void Nic::timer() noexcept
{
	timer_.expire();
	core_.deliver_irqs();
}

void Nic::tick() noexcept
{
	const uint64_t now = now_ns();

	members_.heartbeat(now);
	const Membership::Losses losses = members_.sweep(now);

	if (losses.died)
		host_.log(ARIES_LOG_WARN, "%u member%s of fabric %s died", losses.died, losses.died == 1 ? "" : "s",
			  segment_.path().c_str());
	ce_.sweep(now);
	registers_.sweep(losses.gone);
	poll_.sweep();
	maps_.reap();
	maps_.files().tick(now);
	timer_.expire();
	char line[512];

	if (trace_.poll(line, sizeof(line)))
		host_.log(ARIES_LOG_WARN, "%s", line);
	tell_no_room();
	refresh_tables();
	for (unsigned int i = 0; i < LINES_OF_A_TICK && maps_.files().poll(line, sizeof(line)); i++)
		host_.log(ARIES_LOG_WARN, "%s", line);
	wake();
}

void Nic::set_time_rate(double rate)
{
	char text[128];

	if (clock().set_rate(rate, now_ns()))
		return;
	snprintf(text, sizeof(text), "modelled time goes at a rate from %g to %g, not %g", FabricClock::RATE_MIN,
		 FabricClock::RATE_MAX, rate);
	throw Error(text);
}

void Nic::set_trace(const char *path, uint64_t limit, uint32_t packets)
{
	if (!path) {
		trace_.stop();
		return;
	}
	if (limit < ARIES_TRACE_LIMIT_MIN || limit > ARIES_TRACE_LIMIT_MAX)
		throw Error("a trace may have " + std::to_string(ARIES_TRACE_LIMIT_MIN) + " to " +
			    std::to_string(ARIES_TRACE_LIMIT_MAX) + " bytes, not " + std::to_string(limit));
	if (!packets || packets > ARIES_TRACE_PACKETS_MAX)
		throw Error("1 to " + std::to_string(ARIES_TRACE_PACKETS_MAX) +
			    " packets of an operation may be traced, not " + std::to_string(packets));
	trace_.start(path, limit, packets);
}

/* One link between routers, at either end. False if there is none, or no space for the state of its routers. */
bool Nic::set_cable(CableFault fault, uint32_t router, uint32_t tile, uint32_t more)
{
	if (router >= network_.topology().routers())
		return false;
	switch (fault) {
	case CableFault::Noisy:
		if (more == 1 || more > NOISE_MAX)
			throw Error("bit errors are one in 10^2 to 10^" + std::to_string(NOISE_MAX) +
				    " bits, or none with 0, not one in 10^" + std::to_string(more));
		return network_.set_error_rate(router, tile, more ? std::pow(10.0F, -float(more)) : 0);
	case CableFault::Lanes:
		if (more < 1 || more > LANES)
			throw Error("a link has 1 to 3 lanes, not " + std::to_string(more));
		return network_.set_lanes(router, tile, more);
	default:
		return !more && network_.set_link(router, tile, fault == CableFault::Mend);
	}
}

/*
 * For all members: the lower half of the value is router * LINK_TILES + tile, the upper one what the fault has besides.
 * False if this is no such fault.
 */
bool Nic::set_cable(std::string_view name, uint64_t value)
{
	const auto fault = std::find(CABLE_FAULTS.begin(), CABLE_FAULTS.end(), name) - CABLE_FAULTS.begin();
	const uint32_t router = uint32_t(value) / LINK_TILES, tile = uint32_t(value) % LINK_TILES;

	if (size_t(fault) == CABLE_FAULTS.size())
		return false;
	if (!set_cable(CableFault(fault), router, tile, uint32_t(value >> 32)))
		throw Error("no link is at router " + std::to_string(router) + " tile " + std::to_string(tile) +
			    ", or there is no space for its state");
	cable_[size_t(fault)].store(value);
	return true;
}

bool Nic::get_fault(std::string_view name, uint64_t &value) const noexcept
{
	const auto fault = std::find(CABLE_FAULTS.begin(), CABLE_FAULTS.end(), name);

	if (name == "ecc-single" || name == "ecc-double") {
		value = ecc_[name == "ecc-double"].load();
		return true;
	}
	if (fault == CABLE_FAULTS.end())
		return faults_.get(name, value);
	value = cable_[size_t(fault - CABLE_FAULTS.begin())];
	return true;
}

void Nic::set_fault(const char *name, uint64_t value)
{
	if (name && (set_cable(name, value) || set_ecc(name, value)))
		return;
	if (!name || !faults_.set(name, value))
		throw Error(std::string("unknown fault ") + (name ? name : "") +
			    ": there are drop, drop-response, corrupt, delay-ns, link, reorder, duplicate, cut-link, "
			    "mend-link, noisy-link, link-lanes, ecc-single, ecc-double and carrier");
	network_.set_nic_link(core_.node, faults_.link_up());
}

std::string Nic::describe()
{
	static const char *const states[] = {"never", "joining", "alive", "dead", "left"};
	std::string text;
	const uint64_t now = now_ns();

	auto line = [&text](const char *format, auto... args) {
		char buf[384];

		snprintf(buf, sizeof(buf), format, args...);
		text += buf;
	};
	uint32_t mdds = 0, cqs = 0, fmads = 0;

	for (const auto &mdd : core_.own().mdd)
		mdds += mdd.ctl.load() & ARIES_MDD_CTL_VALID_MASK ? 1 : 0;
	for (const auto &cq : core_.own().cq)
		cqs += cq.ctl.load() & ARIES_CQ_CTL_VALID_MASK ? 1 : 0;
	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++)
		fmads += fmads_[i].ctl.load() & ARIES_FMAD_CTL_ENABLE_MASK ? 1 : 0;
	line("fabric %s node %u of %u\n", segment_.path().c_str(), core_.node, segment_.nodes());
	line("online %#x generation %u\n", core_.own().online.load(), core_.own().generation.load());
	line("clock %llu ns\n", static_cast<unsigned long long>(global_clock(segment_)));
	line("modelled time %g ns a ns of the host%s\n", clock().rate(),
	     clock().holds() ? ", completions are held" : "");
	if (const Background *others = network_.background())
		line("background %s\n", others->name().c_str());
	line("memory domains %u queues %u descriptors %u transfers %u\n", mdds, cqs, fmads, bte_.backlog());
	segment_.for_each_joined([&](uint32_t n) {
		const NodeSlot &slot = segment_.node(n);
		const uint64_t member = slot.member.load();

		if (uint32_t(member) == MEMBER_NEVER || uint32_t(member) > MEMBER_LEFT)
			return;
		char memory[160];

		maps_.files().describe(n, memory, sizeof(memory));
		line("member %u %s pid %u incarnation %u lease %lld ms ago, %s\n", n, states[uint32_t(member)],
		     slot.pid.load(), uint32_t(member >> 32), (long long)(now - slot.lease_ns.load()) / 1000000,
		     memory);
	});
	return text + trace_.describe() + network_.describe(core_.node, core_.at(now));
}

} // namespace aries
