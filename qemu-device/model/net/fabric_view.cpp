// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/fabric_view.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "fabric/membership.hpp"
#include "fabric/tables_store.hpp"
#include "router/routing_mode.hpp"

namespace aries::net
{

namespace
{

constexpr uint32_t HASHES = 64; // tried for the ways of a mode

DragonflyShape shape_of(const SegmentShape &shape)
{
	return {shape.machine_nodes, shape.routers_per_chassis, shape.chassis_per_group};
}

/* Checked before a network is built in it. */
const SegmentShape &checked(const Observer &observer, const std::string &path)
{
	const SegmentShape &shape = observer.shape();
	const std::string reason = Network::check(shape_of(shape));

	if (!reason.empty() || Network::shared_bytes(shape_of(shape), shape.nodes) != shape.network_bytes)
		throw Error("fabric " + path +
			    " is damaged: " + (reason.empty() ? "its network has another size" : reason));
	return shape;
}

const char *member_name(uint32_t state, bool locked)
{
	static constexpr const char *NAMES[] = {"never", "joining", "alive", "dead", "left"};

	if (state > MEMBER_LEFT)
		return "damaged";
	return (state == MEMBER_ALIVE || state == MEMBER_JOINING) && !locked ? "gone" : NAMES[state];
}

std::string rate_text(float rate)
{
	char text[32];

	std::snprintf(text, sizeof(text), "%g", static_cast<double>(rate));
	return text;
}

} // namespace

uint32_t number_of(const std::string &text, const std::string &what)
{
	uint32_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	if (text.empty() || error != std::errc() || end != text.data() + text.size())
		throw Error("'" + text + "' is no number of a " + what);
	return value;
}

const char *state_name(const Network::LinkView &link)
{
	if (!link.up)
		return "down";
	return link.lanes < LANES ? "degraded" : "up";
}

bool is_wrong(const Network::LinkView &link)
{
	return !link.up || link.lanes < LANES || link.error_rate > 0;
}

const std::map<std::string, uint16_t> &delivery_modes()
{
	static const std::map<std::string, uint16_t> modes{
		{"adaptive", 0}, {"minimal", DLV_MIN_HASH}, {"nonminimal", DLV_NMIN_HASH}, {"ordered", DLV_IN_ORDER}};

	return modes;
}

LinkName link_name(const std::string &text)
{
	const size_t colon = text.find(':');

	if (colon == std::string::npos)
		throw Error("'" + text + "' is no link: give ROUTER:TILE, as 12:30");
	return {number_of(text.substr(0, colon), "router"), number_of(text.substr(colon + 1), "tile")};
}

Part part_of(const std::string &kind, const std::string &name)
{
	if (kind == "link")
		return {Part::Kind::Link, link_name(name), 0};
	if (kind == "router")
		return {Part::Kind::Router, {number_of(name, "router"), 0}, 0};
	if (kind == "node")
		return {Part::Kind::Node, {0, 0}, number_of(name, "node")};
	throw Error("'" + kind + "' is no part of a network: link, router or node");
}

FabricView::FabricView(const std::string &path, Observer::Access access)
	: observer_(path, access),
	  network_(shape_of(checked(observer_, path)), observer_.network(), observer_.shape().nodes,
		   [this](uint32_t router) {
			   return observer_.reserve_network(uint64_t{router} * ROUTER_BYTES, ROUTER_BYTES);
		   })
{
	network_.follow_tables([path](uint32_t generation) { return TablesStore(path).read(generation); },
			       Network::NO_MEMBER);
}

std::vector<uint32_t> FabricView::alive() const
{
	std::vector<uint32_t> nodes;

	for (uint32_t n = 0; n < observer_.shape().nodes; n++) {
		if (uint32_t(observer_.node(n).member.load()) == MEMBER_ALIVE && observer_.member_locked(n))
			nodes.push_back(n);
	}
	return nodes;
}

uint64_t FabricView::now() const
{
	return network_.clock().at(now_ns());
}

std::string FabricView::place_name(uint32_t router) const
{
	const Place place = network_.topology().router_place(router);

	return "c" + std::to_string(place.group) + "-" + std::to_string(place.chassis) + "s" +
	       std::to_string(place.slot);
}

std::string FabricView::nic_name(uint32_t node) const
{
	return place_name(network_.router_of(node)) + "a0n" + std::to_string(network_.place(node) % NICS_PER_ROUTER);
}

std::string FabricView::member_state(uint32_t node) const
{
	const auto state = uint32_t(observer_.node(node).member.load());

	return state == MEMBER_NEVER ? "" : member_name(state, observer_.member_locked(node));
}

/* Empty if there never was one. */
std::string FabricView::member_text(uint32_t node) const
{
	const std::string state = member_state(node);

	return state.empty() || network_.nic_link(node) ? state : state + ", cut off";
}

void FabricView::check_router(uint32_t router) const
{
	const uint32_t routers = network_.topology().routers();

	if (router >= routers)
		throw Error("router " + std::to_string(router) + " is none: there are 0 to " +
			    std::to_string(routers - 1));
}

void FabricView::check_link(const LinkName &link) const
{
	check_router(link.router);
	if (network_.link_view(link.router, link.tile, 0).far.tile == NO_TILE)
		throw Error("no link is at router " + std::to_string(link.router) + " tile " +
			    std::to_string(link.tile));
}

void FabricView::check_member(uint32_t node) const
{
	if (node >= observer_.shape().nodes)
		throw Error("node " + std::to_string(node) + " is none: there are 0 to " +
			    std::to_string(observer_.shape().nodes - 1));
}

Json FabricView::show() const
{
	const Dragonfly &machine = network_.topology();
	Json members = Json::array();

	for (uint32_t n = 0; n < observer_.shape().nodes; n++) {
		const NodeSlot &slot = observer_.node(n);
		const auto state = uint32_t(slot.member.load());

		if (state == MEMBER_NEVER)
			continue;
		const uint32_t place = network_.place(n), router = place / NICS_PER_ROUTER;

		members.push_back({{"node", n},
				   {"state", member_name(state, observer_.member_locked(n))},
				   {"pid", slot.pid.load()},
				   {"place", place},
				   {"router", router},
				   {"cname", nic_name(n)},
				   {"network", network_.nic_link(n) ? "connected" : "cut off"},
				   {"route tables", network_.tables_taken(n)}});
	}
	const Network::QuiesceView quiet = network_.quiesce_view(now());

	return {{"nodes", machine.nodes()},
		{"routers", machine.routers()},
		{"groups", machine.groups()},
		{"links between groups", machine.links_between_groups()},
		{"bit errors", network_.noisy()},
		{"modelled time ahead of the host, ns", network_.clock().ahead()},
		{"modelled ns in a ns of the host", network_.clock().rate()},
		{"completions are held", network_.clock().holds()},
		{"generation of the route tables", network_.tables_generation()},
		{"quiesces", quiet.count},
		{"length of the last quiesce, ns", quiet.last_ns},
		{"quiet for another ns", quiet.left_ns},
		{"members", members}};
}

Json FabricView::link_line(uint32_t router, uint32_t tile) const
{
	const Network::LinkView link = network_.link_view(router, tile, now());

	return {{"link", std::to_string(router) + ":" + std::to_string(tile)},
		{"from", place_name(router)},
		{"kind", tile_kind_name(tile_kind(tile))},
		{"to", std::to_string(link.far.router) + ":" + std::to_string(link.far.tile)},
		{"state", state_name(link)},
		{"lanes", link.lanes},
		{"error rate", link.error_rate},
		{"replays", link.replays},
		{"missed", link.missed},
		{"load ns", link.load_ns}};
}

template <typename Visit> uint32_t FabricView::for_each_link(bool touched, Visit &&visit) const
{
	uint32_t count = 0;

	for (uint32_t router = 0; router < network_.topology().routers(); router++) {
		if (touched && !network_.touched(router))
			continue;
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const Network::LinkView link = network_.link_view(router, tile, 0);

			if (link.far.tile == NO_TILE ||
			    std::pair(link.far.router, link.far.tile) < std::pair(router, tile))
				continue;
			count++;
			visit(router, tile, link);
		}
	}
	return count;
}

Json FabricView::links(bool all) const
{
	Json lines = Json::array();
	const uint32_t count = for_each_link(false, [&](uint32_t router, uint32_t tile, const Network::LinkView &link) {
		if (all || is_wrong(link) || link.replays)
			lines.push_back(link_line(router, tile));
	});

	return {{"count", count}, {"shown", lines.size()}, {"links", lines}};
}

FabricView::States FabricView::states() const
{
	States states;

	/* A fault needs state at both ends, so a link whose first end has none is as good as new. */
	for_each_link(true, [&](uint32_t router, uint32_t tile, const Network::LinkView &link) {
		std::string text = link.up ? "" : "down";
		const auto add = [&text](const std::string &more) { text += (text.empty() ? "" : ", ") + more; };

		if (link.lanes < LANES)
			add(std::to_string(link.lanes) + " lanes");
		if (link.error_rate > 0)
			add("bit error rate " + rate_text(link.error_rate));
		if (link.missed)
			add(std::to_string(link.missed) + " errors missed");
		if (!text.empty())
			states["link " + std::to_string(router) + ":" + std::to_string(tile)] = {place_name(router),
												 text};
	});
	for (uint32_t n = 0; n < observer_.shape().nodes; n++) {
		const std::string text = member_text(n);

		if (!text.empty())
			states["node " + std::to_string(n)] = {nic_name(n), text};
	}
	return states;
}

std::map<uint32_t, std::string> FabricView::members_by_router() const
{
	std::map<uint32_t, std::string> routers;

	for (uint32_t n = 0; n < observer_.shape().nodes; n++) {
		const std::string text = member_text(n);

		if (text.empty())
			continue;
		std::string &line = routers[network_.router_of(n)];

		line += (line.empty() ? "node " : "; node ") + std::to_string(n) + " " + text;
	}
	return routers;
}

Json FabricView::tiles(uint32_t router) const
{
	Json lines = Json::array();

	check_router(router);
	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
		if (network_.link_view(router, tile, 0).far.tile != NO_TILE)
			lines.push_back(link_line(router, tile));
	}
	return {{"router", router}, {"cname", place_name(router)}, {"tiles", lines}};
}

Json FabricView::counters(uint32_t router, std::optional<uint32_t> tile) const
{
	Json values;

	check_router(router);
	if (tile && *tile >= TILES)
		throw Error("tile " + std::to_string(*tile) + " is none: a router has 0 to " +
			    std::to_string(TILES - 1));
	for (uint32_t nr = tile.value_or(0); nr < (tile ? *tile + 1 : TILES); nr++) {
		const TileCounters counters = network_.tile_counters(router, nr);

		for (const NamedCounter &counter : named_counters(nr))
			values[counter_prefix(nr) + counter.name] = named_value(counter, counters);
	}
	return values;
}

Json FabricView::route(uint32_t from, uint32_t to, uint16_t dlvr_mode)
{
	std::set<std::string> seen;
	Json ways = Json::array();

	check_member(from);
	check_member(to);
	if (const std::optional<std::string> trouble = network_.refresh_tables())
		throw Error(*trouble);
	for (uint32_t i = 0; i < HASHES; i++) {
		const Network::WayView way = network_.way_view(from, to, dlvr_mode, mix64(i), now());
		std::string text;

		if (!way.reachable)
			continue;
		for (const LinkEnd &output : way.outputs)
			text += (text.empty() ? "" : " ") + std::to_string(output.router) + ":" +
				std::to_string(output.tile);
		if (seen.insert(text).second)
			ways.push_back({{"hops", way.outputs.size() - 1},
					{"minimal", way.nonminimal ? "no" : "yes"},
					{"outputs", text}});
	}
	return {{"from", from},
		{"to", to},
		{"reachable", !ways.empty() && network_.nic_link(from) && network_.nic_link(to)},
		{"ways", ways}};
}

void FabricView::changed(bool done, const LinkName &link) const
{
	if (!done)
		throw Error("no space for the state of the routers of link " + std::to_string(link.router) + ":" +
			    std::to_string(link.tile));
}

void FabricView::set_up(const Part &part, bool up)
{
	switch (part.kind) {
	case Part::Kind::Link:
		check_link(part.link);
		changed(network_.set_link(part.link.router, part.link.tile, up), part.link);
		return;
	case Part::Kind::Router:
		check_router(part.link.router);
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const LinkName link{part.link.router, tile};

			if (network_.link_view(link.router, tile, 0).far.tile != NO_TILE)
				changed(network_.set_link(link.router, tile, up), link);
		}
		for (uint32_t n = 0; n < observer_.shape().nodes; n++) {
			if (network_.router_of(n) == part.link.router)
				network_.set_nic_link(n, up);
		}
		return;
	case Part::Kind::Node:
		check_member(part.node);
		network_.set_nic_link(part.node, up);
		return;
	}
}

void FabricView::set_time(std::optional<double> rate, std::optional<bool> hold)
{
	if (rate && !network_.clock().set_rate(*rate, now_ns()))
		throw Error("modelled time goes at a rate from 1e-6 to 1000");
	if (hold)
		network_.clock().set_holds(*hold);
}

void FabricView::quiesce(double ms)
{
	const double longest = static_cast<double>(Network::MAX_QUIESCE_NS) / 1e6;

	if (!(ms > 0 && ms <= longest) || !network_.quiesce(now(), static_cast<uint64_t>(std::ceil(ms * 1e6))))
		throw Error("a quiesce takes more than 0 and at most " + std::to_string(std::lround(longest)) + " ms");
}

void FabricView::set_lanes(const LinkName &link, uint32_t lanes)
{
	check_link(link);
	if (lanes < 1 || lanes > LANES)
		throw Error("a link has 1 to 3 lanes, not " + std::to_string(lanes));
	changed(network_.set_lanes(link.router, link.tile, lanes), link);
}

void FabricView::set_error_rate(const LinkName &link, float rate)
{
	check_link(link);
	if (!(rate >= 0 && rate <= Network::MAX_ERROR_RATE))
		throw Error("bit errors are a rate from 0 to " + std::to_string(Network::MAX_ERROR_RATE));
	changed(network_.set_error_rate(link.router, link.tile, rate), link);
}

} // namespace aries::net
