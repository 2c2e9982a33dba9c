// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/network.hpp"

namespace aries
{

namespace
{

constexpr uint64_t HOP_TICKS = ns_to_ticks(HOP_NS);
constexpr uint64_t CROSSING_TICKS = ns_to_ticks(ROUTER_NS / 2); // NIC to router output, and router input to NIC

constexpr uint32_t NIC_TILES = 4;      // processor tiles that a NIC shares with its neighbour (T04)
constexpr uint32_t NICS_PER_QUAD = 2;  // NICs that share them
constexpr uint32_t SPLIT_ABOVE = 112;  // flits that stay together: 8 of the longest packets
constexpr uint32_t EXACT_ABOVE = 1024; // flits whose booking must not be forgotten, whatever it costs
constexpr uint32_t SPLIT_PARTS = 4;    // as many as a NIC has tiles
constexpr uint32_t MAX_ROOTS = 32;     // roots tried when the chosen ways are cut

/* What asks for more than the quickest way. */
constexpr uint16_t FIXED = DLV_NO_ADAPT | DLV_NO_RADAPT | DLV_MIN_HASH | DLV_NMIN_HASH;

constexpr uint64_t CUT = UINT64_MAX; // load of a way with a link that is down

/* The tile for responses of the lane whose requests take @which, see Network::lane_tile(). */
constexpr uint32_t other_class(uint32_t which)
{
	return (which + NIC_TILES / 2) % NIC_TILES;
}

} // namespace

/* Packets that go the same way, one after the other. */
struct Network::Train {
	uint32_t src;
	uint32_t dst;
	uint32_t from; // router of src
	uint32_t to;   // router of dst
	uint64_t flits;
	uint64_t now; // tick at which it is booked
	uint64_t at;  // and at which it leaves
	uint64_t random;
	RoutingMode mode;
	bool few;       // a single one of few flits
	uint64_t limit; // ticks that a tile may be booked ahead

	bool adaptive() const { return mode.routing == Routing::Adaptive; }
};

std::string Network::check(const DragonflyShape &shape)
{
	return Dragonfly::check(shape);
}

/* The highest load of a way: how long its worst tile is booked when the head would get there (R08). */
uint64_t Network::path_load(const Path &path, uint64_t at) const noexcept
{
	uint64_t load = 0;

	for (uint32_t i = 0; i < path.hops; i++, at += HOP_TICKS) {
		const TileState &next = tiles_.look(path.link[i]);

		if (!link_up(next))
			return CUT;
		load = std::max(load, booked_ahead(next, at));
	}
	return load;
}

uint64_t Network::minimal(const Train &train, uint32_t way, Path &path) noexcept
{
	cache_.get(tables_, train.from, train.to, way, path);
	return path_load(path, train.at + CROSSING_TICKS);
}

/* Valiant: minimally to a root and minimally on (R03, R04). */
uint64_t Network::through_root(const Train &train, uint32_t pick, Path &path) noexcept
{
	const uint32_t root = tables_.root(train.from, train.to, pick);
	Path down;

	if (root == train.from || root == train.to)
		return CUT;
	cache_.get(tables_, train.from, root, pick, path);
	cache_.get(tables_, root, train.to, pick >> 2, down);
	for (uint32_t i = 0; i < down.hops; i++)
		path.link[path.hops++] = down.link[i];
	return path_load(path, train.at + CROSSING_TICKS);
}

/* A way of the tables that is not cut: the minimal ones in turn, then roots in turn. */
bool Network::choose_detour(const Train &train, Path &path, bool &nonminimal) noexcept
{
	const uint32_t pick = static_cast<uint32_t>(train.random);
	const bool inside = topo_.group_of(train.from) == topo_.group_of(train.to);
	const uint32_t roots = inside ? topo_.group_routers() : topo_.routers();

	nonminimal = false;
	for (uint32_t way = 0; way < CACHED_WAYS; way++) {
		if (minimal(train, pick + way, path) != CUT)
			return true;
	}
	nonminimal = true;
	for (uint32_t i = 0; i < std::min(roots, MAX_ROOTS); i++) {
		if (through_root(train, pick + i * (UINT32_MAX / roots), path) != CUT)
			return true;
	}
	return false;
}

/*
 * Two minimal candidates and two through roots (R06). A quiet minimal way is taken at once (R11), so the others cost
 * nothing until there is load.
 */
bool Network::choose_adaptive(const Train &train, Path &path, bool &nonminimal) noexcept
{
	const uint64_t bias = ns_to_ticks(BIAS_NS[train.mode.bias]);
	const uint32_t way = static_cast<uint32_t>(train.random >> 8);
	uint64_t best = minimal(train, way, path);
	Path other;

	if (best == 0)
		return true;

	const uint64_t second = minimal(train, way + 1, other);

	if (second < best) {
		best = second;
		path = other;
	}
	if (best <= bias)
		return true;

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t pick = static_cast<uint32_t>(mix64(train.random + i));
		const uint64_t load = through_root(train, pick, other);

		/* Against the minimal ways with the bias, against the first root without. */
		if (load != CUT && load + (nonminimal ? 0 : bias) < best) {
			best = load;
			path = other;
			nonminimal = true;
		}
	}
	return best != CUT || choose_detour(train, path, nonminimal);
}

bool Network::choose(const Train &train, Path &path, bool &nonminimal) noexcept
{
	switch (train.mode.routing) {
	case Routing::Adaptive:
		return choose_adaptive(train, path, nonminimal);
	case Routing::NonminimalHash:
		nonminimal = true;
		if (through_root(train, static_cast<uint32_t>(train.random >> 16), path) != CUT)
			return true;
		break;
	default:
		if (minimal(train, static_cast<uint32_t>(train.random >> 8), path) != CUT)
			return true;
		break;
	}
	return choose_detour(train, path, nonminimal);
}

/* Link id of the first of the processor tiles of @node: FIRST_INJECT towards the router, FIRST_PROCESSOR back. */
inline uint32_t Network::quad_tile(uint32_t node, uint32_t first) noexcept
{
	return link_id(node / NICS_PER_ROUTER, first + node % NICS_PER_ROUTER / NICS_PER_QUAD * NIC_TILES);
}

/* Packets stay on the tile of the last ones until it is booked and another is less so (T05). */
TileState &Network::pick_inject(const Train &train, Transit &transit) noexcept
{
	const uint32_t first = quad_tile(train.src, FIRST_INJECT);

	if (!tiles_.ready(train.from))
		return RouterStates::nowhere();
	if (!train.adaptive())
		return tiles_[first + train.random % NIC_TILES];

	std::atomic<uint32_t> &last = netlink(train.src).tile;
	const uint32_t stay = last.load(std::memory_order_relaxed) % NIC_TILES;
	uint64_t load = booked_ahead(tiles_[first + stay], train.at);
	uint32_t best = stay;

	for (uint32_t i = 1; load && i < NIC_TILES; i++) {
		const uint32_t next = (stay + i) % NIC_TILES;
		const uint64_t ahead = booked_ahead(tiles_[first + next], train.at);

		if (ahead < load) {
			load = ahead;
			best = next;
		}
	}
	if (best != stay) {
		last.store(best, std::memory_order_relaxed);
		transit.tile_changed = true;
	}
	return tiles_[first + best];
}

TileState &Network::pick_eject(const Train &train) noexcept
{
	const uint32_t first = quad_tile(train.dst, FIRST_PROCESSOR);
	uint32_t best = train.random / NIC_TILES % NIC_TILES;

	if (!tiles_.ready(train.to))
		return RouterStates::nowhere();
	if (!train.adaptive())
		return tiles_[first + best];

	uint64_t load = booked_ahead(tiles_[first + best], train.at);

	for (uint32_t i = 0; load && i < NIC_TILES; i++) {
		const uint64_t ahead = booked_ahead(tiles_[first + i], train.at);

		if (ahead < load) {
			load = ahead;
			best = i;
		}
	}
	return tiles_[first + best];
}

bool Network::book_train(const Train &train, Transit &transit) noexcept
{
	bool nonminimal = false;
	Path path;

	path.hops = 0;
	if (train.from == train.to || choose(train, path, nonminimal)) [[likely]] {
		book_way(train, {path.link.data(), path.hops}, transit);
	} else {
		nonminimal = true;
		if (!detours_.find(train.from, train.to, static_cast<uint32_t>(train.random),
				   [&](std::span<const uint32_t> links) { book_way(train, links, transit); }))
			return false;
	}
	transit.nonminimal |= nonminimal;
	return true;
}

/*
 * Packets cut through: the head of the train goes on as soon as a tile is free for it, the tile stays booked for
 * the whole train, and the slowest tile decides how long the tail lags behind.
 */
void Network::book_way(const Train &train, std::span<const uint32_t> links, Transit &transit) noexcept
{
	const uint64_t processor_ticks = flit_ticks(train.flits, LINK_FACTORS[2][0]);
	uint64_t slowest = processor_ticks;
	const auto take = train.few ? book_short : book_later;
	TileState &in = pick_inject(train, transit);
	uint64_t head = take(in, train.now, train.at, processor_ticks, train.limit) + CROSSING_TICKS;

	for (const uint32_t link : links) {
		TileState &out = tiles_.take(link);
		const uint64_t ticks = link_ticks(out, tile_medium(link_tile(link)), train.flits);

		head = book_later(out, train.now, head, ticks, train.limit) + HOP_TICKS;
		slowest = std::max(slowest, ticks);
	}
	head = take(pick_eject(train), train.now, head, processor_ticks, train.limit) + CROSSING_TICKS;

	transit.arrive_ns = std::max(transit.arrive_ns, ticks_to_ns(head + slowest));
	if (!transit.reachable)
		transit.hops = static_cast<uint32_t>(links.size());
	transit.reachable = true;
}

/*
 * Tile of its quad that short trains of @node take. A response is booked ahead of its time, and no request should wait
 * for one: of the four tiles two are for either class. Both NICs of a quad keep to the same two, whatever tiles Netlink
 * has moved them to, and lanes that follow one another take different ones.
 */
inline uint32_t Network::lane_tile(uint32_t node, uint32_t lane, PacketClass cls) const noexcept
{
	const uint32_t stay = netlink(node - node % NICS_PER_QUAD).tile.load(std::memory_order_relaxed);

	return (stay + lane % (NIC_TILES / 2) + (cls == PacketClass::Response ? NIC_TILES / 2 : 0)) % NIC_TILES;
}

/* Short trains to a neighbour and back; false if a tile of the way is booked. */
inline bool Network::cross_free(uint32_t src, uint32_t dst, uint64_t request_ticks, uint64_t response_ticks,
				uint32_t lane, uint64_t depart_ns, uint64_t turn_ns, Exchange &out) noexcept
{
	const uint32_t at_src = lane_tile(src, lane, PacketClass::Request);
	const uint32_t at_dst = lane_tile(dst, lane, PacketClass::Request);
	TileState &request_in = tiles_[quad_tile(src, FIRST_INJECT) + at_src];
	TileState &request_out = tiles_[quad_tile(dst, FIRST_PROCESSOR) + at_dst];
	TileState &response_in = tiles_[quad_tile(dst, FIRST_INJECT) + other_class(at_dst)];
	TileState &response_out = tiles_[quad_tile(src, FIRST_PROCESSOR) + other_class(at_src)];
	const uint64_t at = ns_to_ticks(depart_ns);

	out.arrive_ns = ticks_to_ns(at + 2 * CROSSING_TICKS + request_ticks);
	const uint64_t turn = ns_to_ticks(out.arrive_ns + turn_ns);

	if (!free_at(request_in, at) || !free_at(request_out, at + CROSSING_TICKS) || !free_at(response_in, turn) ||
	    !free_at(response_out, turn + CROSSING_TICKS))
		return false;
	out.back_ns = ticks_to_ns(turn + 2 * CROSSING_TICKS + response_ticks);
	take_free(request_in, at, request_ticks);
	take_free(request_out, at + CROSSING_TICKS, request_ticks);
	take_free(response_in, turn, response_ticks);
	take_free(response_out, turn + CROSSING_TICKS, response_ticks);
	return true;
}

/*
 * A long train through the router of both, in as many parts as there are tiles. Booked at tick @now for tick @at;
 * answers the tick at which it is there.
 */
template <auto take>
uint64_t Network::cross(uint32_t src, uint32_t dst, uint64_t flits, uint64_t now, uint64_t at) noexcept
{
	const uint32_t in = quad_tile(src, FIRST_INJECT), out = quad_tile(dst, FIRST_PROCESSOR);
	uint64_t last = 0;

	for (uint32_t part = 0; part < NIC_TILES; part++) {
		const uint64_t ticks = flit_ticks((flits + part) / NIC_TILES, LINK_FACTORS[2][0]);
		uint64_t head = take(tiles_[in + part], now, at, ticks) + CROSSING_TICKS;

		head = take(tiles_[out + part], now, head, ticks) + CROSSING_TICKS;
		last = std::max(last, head + ticks);
	}
	return last;
}

/* The same for few flits, on one tile. */
uint64_t Network::cross_together(uint32_t src, uint32_t dst, PacketClass cls, uint64_t flits, uint64_t now, uint64_t at,
				 uint32_t lane) noexcept
{
	const uint64_t ticks = flit_ticks(flits, LINK_FACTORS[2][0]);
	TileState &in = tiles_[quad_tile(src, FIRST_INJECT) + lane_tile(src, lane, cls)];
	TileState &out = tiles_[quad_tile(dst, FIRST_PROCESSOR) + lane_tile(dst, lane, cls)];

	return book_part(out, now, book_part(in, now, at, ticks) + CROSSING_TICKS, ticks) + CROSSING_TICKS + ticks;
}

bool Network::exchange(uint32_t src, uint32_t dst, uint32_t request_flits, uint32_t response_flits, uint16_t dlvr_mode,
		       uint32_t lane, uint64_t depart_ns, uint64_t turn_ns, Exchange &out) noexcept
{
	if ((dlvr_mode & FIXED) || !adjacent(src, dst))
		return false;
	src = place(src);
	dst = place(dst);
	if (!tiles_.ready(src / NICS_PER_ROUTER))
		return false;
	if (std::max(request_flits, response_flits) <= SPLIT_ABOVE)
		return cross_free(src, dst, flit_ticks(request_flits, LINK_FACTORS[2][0]),
				  flit_ticks(response_flits, LINK_FACTORS[2][0]), lane, depart_ns, turn_ns, out);
	const uint64_t now = ns_to_ticks(depart_ns);
	const auto way = [this, lane, now](uint32_t from, uint32_t to, PacketClass cls, uint32_t flits,
					   uint64_t at_ns) {
		const uint64_t at = ns_to_ticks(at_ns);

		return ticks_to_ns(flits <= SPLIT_ABOVE   ? cross_together(from, to, cls, flits, now, at, lane)
				   : flits <= EXACT_ABOVE ? cross<book_part>(from, to, flits, now, at)
							  : cross<book_exact>(from, to, flits, now, at));
	};

	out.arrive_ns = way(src, dst, PacketClass::Request, request_flits, depart_ns);
	out.back_ns = way(dst, src, PacketClass::Response, response_flits, out.arrive_ns + turn_ns);
	return true;
}

bool Network::exchange_launched(uint32_t src, uint32_t dst, uint32_t request_flits, uint32_t response_flits,
				uint16_t dlvr_mode, uint32_t lane, uint64_t depart_ns, uint64_t turn_ns,
				Exchange &out) noexcept
{
	if ((dlvr_mode & FIXED) || !adjacent(src, dst))
		return false;
	src = place(src);
	dst = place(dst);
	if (!tiles_.ready(src / NICS_PER_ROUTER))
		return false;
	const uint64_t now = ns_to_ticks(depart_ns);

	out.arrive_ns = ticks_to_ns(cross_together(src, dst, PacketClass::Request, request_flits, now, now, lane));
	out.back_ns = ticks_to_ns(cross_together(dst, src, PacketClass::Response, response_flits, now,
						 ns_to_ticks(out.arrive_ns + turn_ns), lane));
	return true;
}

Network::Transit Network::carry(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits_total, uint16_t dlvr_mode,
				uint64_t hash, uint64_t depart_ns, uint64_t early_ns) noexcept
{
	Transit transit{depart_ns, 0, false, false, false};

	if (!nic_link(src) || !nic_link(dst))
		return transit;
	src = place(src);
	dst = place(dst);

	const RoutingMode mode = routing_mode(dlvr_mode, cls == PacketClass::Response);
	uint64_t seed = uint64_t{src} << 32 | dst;

	if (mode.routing != Routing::InOrder)
		seed ^= hash << 7 ^ hash >> 57;
	if (mode.routing == Routing::Adaptive)
		seed += depart_ns << 18;

	Train train{src,
		    dst,
		    src / NICS_PER_ROUTER,
		    dst / NICS_PER_ROUTER,
		    flits_total,
		    ns_to_ticks(depart_ns - std::min(early_ns, depart_ns)),
		    ns_to_ticks(depart_ns),
		    mix64(seed),
		    mode,
		    flits_total <= SPLIT_ABOVE,
		    flits_total <= EXACT_ABOVE ? BACKLOG_LIMIT : BOOKING_LIMIT};

	if (flits_total <= SPLIT_ABOVE || mode.routing == Routing::InOrder) {
		book_train(train, transit);
		return transit;
	}
	for (uint32_t part = 0; part < SPLIT_PARTS; part++) {
		train.flits = (flits_total + part) / SPLIT_PARTS;
		/* Another way, the next processor tile on either side. */
		train.random += 0x100 | 0x5;
		if (!book_train(train, transit)) {
			transit.reachable = false;
			break;
		}
	}
	return transit;
}

} // namespace aries
