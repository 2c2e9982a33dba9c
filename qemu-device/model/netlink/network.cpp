// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/network.hpp"

#include "link/lcb_run.hpp"
#include "netlink/ways.hpp"
#include "packet/flits.hpp"

namespace aries
{

namespace
{

constexpr uint32_t EXACT_ABOVE = 1024; // flits whose booking must not be forgotten, whatever it costs
constexpr uint32_t LONGEST_FLITS = 14; // of a packet
constexpr uint32_t SPLIT_PARTS = 4;    // as many as a NIC has tiles
constexpr uint32_t OTHER_WAYS = 32;    // tried when a link of the chosen one is cut

constexpr uint8_t first_channel(PacketClass cls)
{
	return cls == PacketClass::Response ? REQUEST_CHANNELS : 0;
}

} // namespace

std::string Network::check(const DragonflyShape &shape)
{
	return Dragonfly::check(shape);
}

/*
 * One decision a router, as decide() makes them, from the first to the last. They are a chain, each of which waits for
 * the one before: what changes on the way is in variables of its own, for the compiler to keep in registers.
 *
 * Return: false if a router has no output for it, or there is no end to them
 */
bool Network::follow(const routing::Tables &tables, const RoutedPackets &routed, Routing mode, uint32_t hash,
		     uint64_t random, Way &way) noexcept
{
	const routing::Address destination = tables.address(routed.to);
	const routing::Header header{destination,
				     routing::NO_ROOT,
				     hash,
				     {mode, routed.mode.bias},
				     static_cast<uint8_t>(routed.dst % NICS_PER_ROUTER),
				     routed.first_channel,
				     routing::Phase::Down};
	const bool adaptive = mode == Routing::Adaptive;
	const uint32_t flow = routing::flow_of(header);
	const Background *const others = background();
	const auto loads = [&](uint32_t router, uint64_t at, uint64_t hinted) {
		return LoadView{tiles_.look_at(router), at, others, router, hinted};
	};
	uint32_t router = routed.from, hops = 0, ignored;
	uint64_t at = routed.at + CROSSING_TICKS;
	routing::Candidate chosen{routing::NO_OUTPUT, routing::NO_ROOT};

	if (router != routed.to)
		chosen = routing::choose_way(tables.router(router), header, loads(router, at, routed.hinted),
					     routing::choice_word(adaptive, random, router, flow));
	const routing::Address root = chosen.root;
	routing::Phase phase = routing::first_phase(root);
	uint8_t tile = chosen.tile, channel = routed.first_channel;

	while (router != routed.to) {
		if (tile == routing::NO_OUTPUT || hops == MAX_HOPS)
			return false;
		way.channel[hops] = channel;
		way.link[hops++] = link_id(router, tile);

		const topology::LinkEnd far = wiring_.far_ends(router)[tile];

		router = far.router;
		at += HOP_TICKS;
		random = mix64(random);
		if (router == routed.to)
			break;

		const routing::RouterTables &here = tables.router(router);
		const bool up = routing::goes_up(here, phase, root);
		const routing::Phase next = up ? routing::Phase::Up : routing::Phase::Down;

		channel =
			routing::next_channel(*here.common, far.tile, next != phase, channel) % ARIES_VIRTUAL_CHANNELS;
		phase = next;
		tile = routing::choose_port(
			here, up ? routing::minimal_entry(here, root) : routing::minimal_entry(here, destination),
			adaptive, routing::choice_word(adaptive, random, router, flow), loads(router, at, UINT64_MAX),
			ignored);
	}

	const routing::RouterTables &last = tables.router(router);
	const uint8_t out = routing::choose_port(last, last.eject[header.nic], adaptive,
						 routing::choice_word(adaptive, random, router, flow),
						 loads(router, at, hops ? UINT64_MAX : routed.hinted), ignored);

	way.hops = hops;
	way.nonminimal = root != routing::NO_ROOT;
	way.eject = link_id(router, out);
	return out != routing::NO_OUTPUT;
}

/*
 * A way for packets. Where links are down a router may find that it has no output for a packet that has come so far;
 * tables that know of them would not have led it there. Other choices are tried in its place, the same ones for the
 * same header.
 */
bool Network::choose(const RoutedPackets &routed, Way &way) noexcept
{
	const routing::Tables &tables = tables_.get();
	if (follow(tables, routed, routed.mode.routing, static_cast<uint32_t>(routed.random >> 16), routed.random, way))
		[[likely]]
		return true;
	for (uint32_t i = 0; i < OTHER_WAYS; i++) {
		const uint64_t other = mix64(routed.random + i);

		if (follow(tables, routed, i % 2 ? Routing::NonminimalHash : Routing::MinimalHash,
			   static_cast<uint32_t>(other), other, way))
			return true;
	}
	return false;
}

/* Link id of a tile. Packets stay on the tile of the last ones until it is booked and another is less so (T05). */
[[gnu::always_inline]] inline uint32_t Network::pick_inject(const RoutedPackets &routed, Transit &transit) noexcept
{
	const uint32_t first = quad_tile(routed.src, FIRST_INJECT);

	if (!tiles_.ready(routed.from))
		return first;
	if (!routed.adaptive())
		return first + routed.random % NIC_TILES;

	std::atomic<uint32_t> &last = netlink(routed.src).tile;
	const uint32_t stay = last.load(std::memory_order_relaxed) % NIC_TILES;
	uint64_t load = tiles_[first + stay].ahead(routed.at);
	uint32_t best = stay;

	for (uint32_t i = 1; load && i < NIC_TILES; i++) {
		const uint32_t next = (stay + i) % NIC_TILES;
		const uint64_t ahead = tiles_[first + next].ahead(routed.at);

		if (ahead < load) {
			load = ahead;
			best = next;
		}
	}
	if (best != stay) {
		last.store(best, std::memory_order_relaxed);
		transit.tile_changed = true;
	}
	return first + best;
}

/* Where no router decides: tiles in turn. */
uint32_t Network::pick_eject(const RoutedPackets &routed) noexcept
{
	return quad_tile(routed.dst, FIRST_PROCESSOR) + ((routed.random >> 8) + routed.part) % NIC_TILES;
}

[[gnu::always_inline]] inline bool Network::book_packets(const RoutedPackets &routed, Transit &transit) noexcept
{
	Way way;

	if (choose(routed, way)) [[likely]] {
		/* Packet by packet, many end up on all tiles alike. */
		if (routed.part)
			way.eject = pick_eject(routed);
		book_way(routed, {way.link.data(), way.hops}, way.channel.data(), way.eject, transit);
		transit.nonminimal += way.nonminimal ? routed.packets : 0;
		return true;
	}
	if (!detours_.find(routed.from, routed.to, static_cast<uint32_t>(routed.random),
			   [&](std::span<const uint32_t> links) {
				   book_way(routed, links, nullptr, pick_eject(routed), transit);
			   }))
		return false;
	transit.nonminimal += routed.packets;
	return true;
}

/*
 * The effect of bit errors on flits that get to a link at @tick, by the rules of its LCB: sets that are sent again, and
 * rarely a set whose errors its CRC does not show. Return: ticks for which the link is busy with sets sent again
 */
uint64_t Network::disturb(TileState &tile, uint32_t link, uint64_t flits, uint64_t tick, Transit &transit) noexcept
{
	const float rate = link_error_rate(tile);

	if (!(rate > 0))
		return 0;
	const LcbLine line{tile_medium(link_tile(link)), link_lanes(tile), ns_to_ticks(HOP_NS - ROUTER_NS)};
	BitErrors errors = lcb_errors(rate, link, tick);
	const LcbRun run = lcb_run(line, flits, errors, [&transit](const LcbDamage &) { transit.damaged = true; });

	if (run.replays)
		tile.events[TileState::REPLAYS].fetch_add(run.replays, std::memory_order_relaxed);
	if (run.undetected)
		tile.events[TileState::MISSED].fetch_add(run.undetected, std::memory_order_relaxed);
	return run.extra_ticks;
}

/* Whoever books a tile brings it up to date. */
void Network::hear_news(TileState &tile, uint32_t link, uint64_t now) noexcept
{
	if (has_stream(tile))
		settle(tile, tiles_.stream(link), now);
	if (tile.state.load(std::memory_order_relaxed) & LINK_TOLD)
		forget_told(tile, now);
}

/*
 * Over all tiles of a way. Requests that must stay in order close a tile to all that come after them until they have
 * passed it (R12); responses may come in any order.
 */
void Network::book_way(const RoutedPackets &routed, std::span<const uint32_t> links, const uint8_t *channels,
		       uint32_t eject, Transit &transit) noexcept
{
	const uint64_t processor_ticks = flit_ticks(routed.flits, LINK_FACTORS[2][0]);
	const Background *const others = background();
	const bool disturbed = others || noisy();
	/* Packets in order book a tile from their arrival on, which closes the time before it to later ones. */
	const bool in_order = !routed.adaptive() && routed.first_channel == 0;
	const uint32_t inject = pick_inject(routed, transit);
	Tally tally(tiles_, routed.flits, routed.tiles != Store::Exact);
	CutThrough packets{in_order ? UINT64_MAX : routed.now, routed.at, routed.at};
	uint64_t random = routed.random;
	TileState &in = tiles_.take(inject);

	tally.pass_nic(in, link_tile(inject), routed.first_channel, routed.at,
		       packets.pass(in, processor_ticks, routed.tiles, CROSSING_TICKS));
	for (size_t hop = 0; hop < links.size(); hop++) {
		const uint32_t link = links[hop], router = link_router(link), tile = link_tile(link);
		const uint8_t channel = channels ? channels[hop] : routed.first_channel;
		TileState &next = tiles_.take(link);
		const uint64_t ready = packets.head;

		if (has_news(next)) [[unlikely]]
			hear_news(next, link, routed.now);
		uint64_t ticks = link_ticks(next, tile_medium(tile), routed.flits);
		uint64_t delay = 0;

		if (disturbed) [[unlikely]] {
			ticks += disturb(next, link, routed.flits, ready, transit);
			if (others) {
				random = mix64(random + routed.at);
				delay = others->wait(router, tile, random);
				ticks = others->share(router, tile, ticks);
			}
		}
		const uint64_t start = packets.pass(next, ticks, Store::Exact, HOP_TICKS, delay);

		tally.pass_link(next, tile, channel, ready, start);
		packets.tell(next, ready, start);
	}
	TileState &out = tiles_.take(eject);
	const uint64_t ready = packets.head;

	if (has_news(out)) [[unlikely]]
		hear_news(out, eject, routed.now);

	const uint64_t start = packets.pass(out, processor_ticks, routed.tiles, CROSSING_TICKS);
	const auto hops = static_cast<uint32_t>(links.size());

	tally.pass_nic(out, link_tile(eject), routed.first_channel, ready, start);
	packets.tell(out, ready, start);
	transit.head_ns = std::min(transit.reachable ? transit.head_ns : UINT64_MAX, ticks_to_ns(packets.head));
	transit.arrive_ns = std::max(transit.arrive_ns, ticks_to_ns(packets.tail));
	if (!transit.reachable)
		transit.hops = hops;
	transit.all_hops += hops * routed.packets;
	transit.reachable = true;
}

/*
 * Few packets over tiles that are booked, but not any more when it gets there: the response to a request from the same
 * quad meets its own request on them. Nothing if it would have to wait.
 */
Network::Transit Network::cross_later(TileState &in, TileState &out, PacketClass cls, uint32_t flits, uint64_t now,
				      uint64_t at) noexcept
{
	const uint64_t ticks = flit_ticks(flits, LINK_FACTORS[2][0]);
	/* As the request that they answer. */
	const Store store = flits > MAX_PACKET_FLITS ? Store::Loose : Store::Quick;

	if (!in.free_at(at) || !out.free_at(at + CROSSING_TICKS))
		return {};
	const uint64_t ready = in.reserve(now, at, ticks, store) + CROSSING_TICKS;
	const uint64_t head = out.reserve(now, ready, ticks, store) + CROSSING_TICKS;

	count_quickly(in, static_cast<uint32_t>(cls), flits);
	count_quickly(out, static_cast<uint32_t>(cls), flits);
	return crossed(head, head + ticks);
}

/* Through the router of both in four parts, one on each tile. Books nothing if a tile is booked already. */
inline Network::Transit Network::cross_free(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
					    uint64_t at) noexcept
{
	TileState *const in = &tiles_[quad_tile(src, FIRST_INJECT)];
	TileState *const out = &tiles_[quad_tile(dst, FIRST_PROCESSOR)];
	uint64_t ticks = 0;
	bool free = true;

	for (uint32_t part = 0; part < NIC_TILES; part++)
		free = free && in[part].free_at(now) && out[part].free_at(now) && !has_stream(out[part]);
	if (!free) [[unlikely]]
		return {};
	/* The last part is the longest. */
	for (uint32_t part = 0; part < NIC_TILES; part++) {
		const uint64_t some = (flits + part) / NIC_TILES;

		ticks = flit_ticks(some, LINK_FACTORS[2][0]);
		pass_quickly(in[part], cls, some, now, ticks);
		pass_quickly(out[part], cls, some, now, ticks);
	}
	return crossed(at + 2 * CROSSING_TICKS, at + 2 * CROSSING_TICKS + ticks);
}

/* The same for tiles that may be booked. */
template <Store store>
Network::Transit Network::cross_parts(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
				      uint64_t at) noexcept
{
	const uint32_t in = quad_tile(src, FIRST_INJECT), out = quad_tile(dst, FIRST_PROCESSOR);
	const uint8_t channel = first_channel(cls);
	uint64_t first = UINT64_MAX, done = 0;

	for (uint32_t part = 0; part < NIC_TILES; part++) {
		const uint64_t some = (flits + part) / NIC_TILES;
		const uint64_t ticks = flit_ticks(some, LINK_FACTORS[2][0]);
		const uint64_t start = tiles_[in + part].reserve(now, at, ticks, store);
		const uint64_t ready = start + CROSSING_TICKS;

		if (has_stream(tiles_[out + part])) [[unlikely]]
			settle(tiles_[out + part], tiles_.stream(out + part), now);
		const uint64_t onward = tiles_[out + part].reserve(now, ready, ticks, store);
		const uint64_t head = onward + CROSSING_TICKS;

		count_quickly(tiles_[in + part], static_cast<uint32_t>(cls), some);
		count_quickly(tiles_[out + part], static_cast<uint32_t>(cls), some);
		if (start > at || onward > ready) [[unlikely]] {
			Tally tally(tiles_, 0, true);

			tally.pass(in + part, channel, at, start);
			tally.pass(out + part, channel, ready, onward);
		}
		first = std::min(first, head);
		done = std::max(done, head + ticks);
	}
	return crossed(first, done);
}

Network::Transit Network::cross_long(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
				     uint64_t at) noexcept
{
	if (flits > EXACT_ABOVE)
		return cross_parts<Store::Exact>(src, dst, cls, flits, now, at);
	const Transit transit = cross_free(src, dst, cls, flits, now, at);

	return transit.reachable ? transit : cross_parts<Store::Loose>(src, dst, cls, flits, now, at);
}

/* Of packets between places. */
[[gnu::always_inline]] inline Network::RoutedPackets Network::routed_packets(const Packets &packets, uint64_t now,
									     uint64_t at) noexcept
{
	const RoutingMode mode = routing_mode(packets.dlvr_mode, packets.cls == PacketClass::Response);
	uint64_t seed = uint64_t{packets.src} << 32 | packets.dst;

	if (mode.routing != Routing::InOrder)
		seed ^= packets.hash << 7 ^ packets.hash >> 57;
	if (mode.routing == Routing::Adaptive)
		seed += at / TICKS_PER_NS << 18;

	return {packets.src,
		packets.dst,
		packets.src / NICS_PER_ROUTER,
		packets.dst / NICS_PER_ROUTER,
		packets.flits,
		std::max(packets.packets ? packets.packets : packets.flits / LONGEST_FLITS, 1u),
		now,
		at,
		mix64(seed),
		mode,
		first_channel(packets.cls),
		UINT64_MAX,
		0,
		packets.flits <= SPLIT_ABOVE ? Store::Quick : Store::Exact};
}

/* From router to router, by member @src. */
Network::Transit Network::route(const Packets &packets, uint32_t src, uint64_t now_ns, uint64_t at_ns) noexcept
{
	const uint64_t at = ns_to_ticks(at_ns);
	Transit transit{at_ns, at_ns, 0, 0, 0, false, false, false};
	RoutedPackets routed = routed_packets(packets, ns_to_ticks(now_ns), at);

	if (packets.flits <= SPLIT_ABOVE || routed.mode.routing == Routing::InOrder) {
		book_packets(routed, transit);
		return transit;
	}
	/* What the NIC still has to send leaves first. */
	if (routed.adaptive() && routed.from != routed.to &&
	    book_run(routed, at + paces_[src].inject.ahead(at), transit))
		return transit;
	const uint32_t count = routed.packets;

	for (uint32_t part = 0; part < SPLIT_PARTS; part++) {
		routed.flits = (packets.flits + part) / SPLIT_PARTS;
		routed.packets = (count + part) / SPLIT_PARTS;
		/* Another way, the next processor tile on either side. */
		routed.random += 1 << 16 | 1;
		routed.part = part + 1;
		if (!book_packets(routed, transit)) {
			transit.reachable = false;
			return transit;
		}
	}
	return transit;
}

Network::WayView Network::way_view(uint32_t src, uint32_t dst, uint16_t dlvr_mode, uint64_t hash, uint64_t now_ns)
{
	WayView view{};
	Way way;

	if (src >= members_ || dst >= members_)
		return view;
	const uint64_t now = ns_to_ticks(now_ns);
	const Packets packets{place(src), place(dst), PacketClass::Request, dlvr_mode, 1, 0, hash};

	if (!choose(routed_packets(packets, now, now), way))
		return view;
	view.reachable = true;
	view.nonminimal = way.nonminimal;
	for (uint32_t i = 0; i < way.hops; i++)
		view.outputs.push_back({link_router(way.link[i]), link_tile(way.link[i])});
	view.outputs.push_back({link_router(way.eject), link_tile(way.eject)});
	return view;
}

} // namespace aries
