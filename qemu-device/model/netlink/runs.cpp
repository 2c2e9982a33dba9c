// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/runs.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace aries
{

namespace
{

/*
 * Parts of a run at most so long that what they do by chance evens out: a minimal way is one of few, all of which the
 * run fills alike, other ways are many.
 */
constexpr uint64_t MINIMAL_PARTS = 4;
constexpr uint64_t OTHER_PARTS = 12;
constexpr uint64_t CHANCE_PARTS = 64; // while both ways are taken, by what a packet draws
constexpr uint64_t SLICE_CHANCES = 8;
constexpr uint64_t SLICES = 8;       // of a run that meets others, in each of which it decides anew
constexpr uint64_t SLICE_PARTS = 2;  // of a slice
constexpr uint32_t EXACT_PARTS = 64; // after which the rest goes one way

constexpr uint64_t parts_of(uint64_t count, uint64_t parts)
{
	return (count + parts - 1) / parts;
}

/* The inverse of an odd number, modulo 2^64. */
constexpr uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* The word of which mix64() makes this one. */
constexpr uint64_t unmix64(uint64_t x)
{
	constexpr uint64_t BACK = inverse(0xd6e8feb86659fd93ull);

	x ^= x >> 32;
	x *= BACK;
	x ^= x >> 32;
	x *= BACK;
	return x ^ x >> 32;
}

static_assert(unmix64(mix64(0x123456789abcdef)) == 0x123456789abcdef);

/*
 * Random bits for the nth part, of which pick_roots() makes a first root that is far from those of the @roots parts
 * before that went by one: a few parts then take ways as evenly as many packets do.
 */
constexpr uint64_t spread_word(uint64_t random, uint64_t n, uint64_t roots)
{
	constexpr uint32_t GOLDEN = 0x9e3779b9; // 2^32 by the golden ratio
	const uint64_t word = mix64(random + n);
	const auto root = static_cast<uint32_t>(random) + static_cast<uint32_t>(roots) * GOLDEN;

	return unmix64((word & ~uint64_t{UINT32_MAX}) | root) - 1;
}

} // namespace

Network::RunBooking::RunBooking(Network &network, const RoutedPackets &routed, uint64_t start,
				Transit &transit) noexcept
	: net_(network), routed_(routed), transit_(transit), packets_(routed.packets),
	  each_(std::max<uint64_t>(routed.flits / packets_, 1)), start_(start),
	  tables_(network.tables_.get().router(routed.from)), to_(network.tables_.get().address(routed.to))
{
	const routing::Ports &entry = routing::minimal_entry(tables_, to_);

	ports_ = entry.count;
	for (uint32_t i = 0; i < entry.count; i++)
		minimal_ |= uint64_t{1} << tables_.ports[entry.first + i];
}

bool Network::book_run(const RoutedPackets &routed, uint64_t start, Transit &transit) noexcept
{
	return RunBooking(*this, routed, start, transit).book_all();
}

bool Network::RunBooking::book_all() noexcept
{
	if (!ports_ || !net_.tiles_.ready(routed_.from) || !net_.tiles_.ready(routed_.to))
		return false;
	uint64_t behind = 0; // packets that leave before minimal ways are the better ones again
	const uint64_t slices = meets_others(behind) ? SLICES : 1;
	uint64_t first = 0, left = routed_.flits;

	const uint64_t before = behind ? slices / 2 : 0;

	for (uint64_t i = 0; i < slices; i++) {
		const uint64_t ends = i < before ? behind * (i + 1) / before
						 : behind + (packets_ - behind) * (i + 1 - before) / (slices - before);
		const uint64_t flits = ends < packets_ ? std::min((ends - first) * each_, left) : left;

		if (flits && !take(start_ + first * INJECT_TICKS, ends - first, flits, slices > 1))
			return false;
		left -= flits;
		first = ends;
	}
	inject();
	eject();
	transit_.reachable = true;
	transit_.tile_changed = true;
	transit_.all_hops = static_cast<uint32_t>(hop_flits_ * packets_ / routed_.flits);
	transit_.nonminimal = static_cast<uint32_t>(root_flits_ * packets_ / routed_.flits);
	return true;
}

/*
 * Whether the first packet meets such a load that another candidate may be better. The loads for the last packet
 * differ, and a run that decides by them only would not see that.
 */
bool Network::RunBooking::meets_others(uint64_t &behind) const noexcept
{
	const LoadView load = view(start_ + CROSSING_TICKS);
	const routing::PortPair pair = routing::pick_two(tables_, routing::minimal_entry(tables_, to_), routed_.random);

	const auto [less, more] = std::minmax({load(pair.first), load(pair.second)});

	if (less > bias() && less != routing::LOAD_DOWN)
		behind = std::min((less - bias()) / INJECT_TICKS + 1, packets_);
	return behind || (more > bias() && more != routing::LOAD_DOWN);
}

Network::LoadView Network::RunBooking::view(uint64_t at) const noexcept
{
	return {&net_.tiles_[link_id(routed_.from, 0)], at, net_.background(), routed_.from, minimal_};
}

int64_t Network::RunBooking::bias() const noexcept
{
	return tables_.common->bias[to_.group != tables_.here.group][routed_.mode.bias];
}

/* A packet that draws the right ports goes minimally. */
bool Network::RunBooking::has_room(uint64_t at) const noexcept
{
	const LoadView load = view(at);

	for (uint64_t tiles = ports_ > 2 ? minimal_ : 0; tiles; tiles &= tiles - 1) {
		if (load(static_cast<uint32_t>(std::countr_zero(tiles))) <= bias())
			return true;
	}
	return false;
}

/*
 * Packets that leave from tick @from on. Each part decides with the loads that its last packet would meet, so that it
 * goes where packets have gone by then.
 */
bool Network::RunBooking::take(uint64_t from, uint64_t packets, uint64_t flits, bool slice) noexcept
{
	const uint64_t minimal = parts_of(flits, slice ? 1 : std::clamp<uint64_t>(ports_, 1, MINIMAL_PARTS));
	const uint64_t other = parts_of(flits, slice ? SLICE_PARTS : OTHER_PARTS);
	const uint64_t length = packets * INJECT_TICKS;
	RoutedPackets part = routed_;
	bool full = false; // nothing goes minimally any more, whatever packets draw

	part.hinted = minimal_;
	for (uint64_t left = flits; left;) {
		Way way;

		part.random = spread_word(routed_.random, parts_++, roots_);
		part.at = from + length - INJECT_TICKS;
		part.flits = left;
		if (net_.choose(part, way))
			way_ = way;
		else if (parts_ == 1)
			return false;
		if (parts_ == 1)
			approach();
		if (parts_ <= EXACT_PARTS) {
			if (way_.nonminimal && !full && !(full = !has_room(part.at + CROSSING_TICKS)))
				part.flits = std::min(left, parts_of(flits, CHANCE_PARTS));
			else
				part.flits = std::min(left, way_.nonminimal ? other : minimal);
			part.flits = fitting(part, from, parts_of(flits, slice ? SLICE_CHANCES : OTHER_PARTS));
		}
		part.at = from;
		left -= part.flits;
		book_part(part, length);
	}
	return true;
}

/*
 * Flits that the first link of a way takes before another candidate of the same packet is the better one. A minimal
 * link is given no more than it passes, as long as that is less; then what waits before it grows to the bias, and
 * further only with packets whose other candidates have their load, too.
 */
uint64_t Network::RunBooking::fitting(const RoutedPackets &part, uint64_t from, uint64_t few) const noexcept
{
	const uint64_t end = part.at + CROSSING_TICKS;
	const LoadView load = view(end);
	const uint32_t link = link_tile(way_.link[0]);
	const TileState &tile = load.tiles[link];
	const int64_t level = level_at(tile, RouterStates::stream_of(load.tiles, link), from, end);

	if (level + static_cast<int64_t>(link_ticks(tile, tile_medium(link), part.flits)) <= 0)
		return part.flits;

	const routing::PortPair pair = routing::pick_two(tables_, routing::minimal_entry(tables_, to_), part.random);
	const routing::RootPair roots = routing::pick_roots(tables_, to_, part.random);
	const auto packet = static_cast<int64_t>(std::max<uint64_t>(link_ticks(tile, tile_medium(link), each_), 1));
	int64_t limit = routing::LOAD_DOWN;

	for (const routing::Candidate &by : {roots.first, roots.second}) {
		if (by.root != routing::NO_ROOT)
			limit = std::min<int64_t>(limit, load(by.tile));
	}
	limit = way_.nonminimal ? std::min(load(pair.first), load(pair.second)) - bias() : limit + bias();
	if (level + packet < 0 && ports_ > 1)
		limit = std::min<int64_t>(limit, 0);
	else if (!way_.nonminimal && level <= bias())
		limit = std::min(limit, bias());

	const uint64_t fits = limit < level ? each_ : (static_cast<uint64_t>(limit - level) / packet + 1) * each_;

	return std::min(part.flits, level > (way_.nonminimal ? 0 : bias()) ? std::min(fits, few) : fits);
}

/* How far a link is behind at @end with what it has to do, below zero if it has time left from @from on. */
int64_t Network::RunBooking::level_at(const TileState &tile, const Stream &stream, uint64_t from, uint64_t end) noexcept
{
	uint64_t busy = tile.busy.load(std::memory_order_relaxed);
	uint64_t behind = told_load(tile, end);

	if (has_stream(tile)) {
		busy = busy_until(tile, stream, from);
		behind = std::max(behind, stream.waits(end));
		busy = std::max(busy, from) + stream.work(end) - stream.work(from);
	}
	return static_cast<int64_t>(std::max(busy, from)) - static_cast<int64_t>(end) + static_cast<int64_t>(behind);
}

/* The packets of a part come to each link of their way evenly, as long as those they are among do. */
void Network::RunBooking::book_part(const RoutedPackets &part, uint64_t length) noexcept
{
	const uint64_t end = part.at + length;
	const Background *const others = net_.background();
	Tally tally(net_.tiles_, part.flits, false);
	uint64_t head = part.at + CROSSING_TICKS, tail = head + length;
	std::array<uint64_t, MAX_HOPS + 1> waits{}; // of its last packet, at each link and at the target's tiles
	TileState *before = nullptr;

	for (uint32_t hop = 0; hop < way_.hops; hop++) {
		const uint32_t link = way_.link[hop];
		TileState &next = net_.tiles_.take(link);
		uint64_t ticks = link_ticks(next, tile_medium(link_tile(link)), part.flits);
		uint64_t start = head;

		if (net_.noisy()) [[unlikely]]
			ticks += net_.disturb(next, link, part.flits, head, transit_);
		if (others) [[unlikely]] {
			start += others->wait(link_router(link), link_tile(link), mix64(part.random + head));
			ticks = others->share(link_router(link), link_tile(link), ticks);
		}
		if (net_.tiles_.ready(link_router(link))) [[likely]] {
			Stream &stream = net_.tiles_.stream(link);

			start = std::max(start, busy_until(next, stream, part.at));
			add_stream(next, stream, part.now, part.at, length, ticks);
			const uint64_t until = busy_until(next, stream, end);

			waits[hop] = until > end + (head - part.at) ? until - end : 0;
			tail = std::max(tail, until);
		}
		tail = std::max(tail, start + ticks);
		tally.pass(link, way_.channel[hop], head, start);
		if (before) {
			const uint64_t beyond = told_far(next, head);

			if (start > head || beyond > head)
				tell_load(*before, head, start, beyond);
		}
		before = &next;
		head = start + HOP_TICKS;
		tail += HOP_TICKS;
	}

	const uint32_t out = net_.quad_tile(part.dst, FIRST_PROCESSOR);

	const uint64_t until = busy_until(net_.tiles_[out], net_.tiles_.stream(out), end);

	waits[way_.hops] = until > end + (head - part.at) ? until - end : 0;
	for (uint32_t hop = 0; hop < way_.hops; hop++) {
		if (net_.tiles_.ready(link_router(way_.link[hop])))
			net_.tiles_.stream(way_.link[hop])
				.behind.store(waits[hop + 1] + (hop + 2 <= way_.hops ? waits[hop + 2] : 0),
					      std::memory_order_relaxed);
	}
	if (head_ == UINT64_MAX)
		transit_.hops = way_.hops;
	head_ = std::min(head_, head);
	tail_ = std::max(tail_, tail);
	hop_flits_ += part.flits * way_.hops;
	root_flits_ += way_.nonminimal ? part.flits : 0;
	roots_ += way_.nonminimal;
}

/* All tiles of the NIC alike (T04): a packet takes another tile when the tile it used last is booked. */
void Network::RunBooking::inject() noexcept
{
	const uint32_t first = quad_tile(routed_.src, FIRST_INJECT);

	for (uint32_t i = 0; i < NIC_TILES; i++) {
		const uint64_t flits = (routed_.flits + i) / NIC_TILES;
		const uint64_t ticks = flit_ticks(flits, LINK_FACTORS[2][0]);
		const uint64_t start = net_.tiles_[first + i].reserve(routed_.now, start_, ticks, Store::Exact);

		Tally(net_.tiles_, flits, false).pass(first + i, routed_.first_channel, start_, start);
		tail_ = std::max(tail_, start + ticks + CROSSING_TICKS);
	}
}

/* What will wait at the target's tiles is known while ways are chosen. */
void Network::RunBooking::approach() noexcept
{
	const uint32_t first = quad_tile(routed_.dst, FIRST_PROCESSOR);

	for (uint32_t i = 0; i < NIC_TILES; i++) {
		TileState &out = net_.tiles_[first + i];
		Stream &stream = net_.tiles_.stream(first + i);

		free_[i] = busy_until(out, stream, start_);
		add_stream(out, stream, routed_.now, start_, packets_ * INJECT_TICKS,
			   flit_ticks((routed_.flits + i) / NIC_TILES, LINK_FACTORS[2][0]));
	}
}

void Network::RunBooking::eject() noexcept
{
	const uint32_t first = quad_tile(routed_.dst, FIRST_PROCESSOR);
	const uint64_t length = packets_ * INJECT_TICKS;
	uint64_t head = UINT64_MAX;

	for (uint32_t i = 0; i < NIC_TILES; i++) {
		const uint64_t flits = (routed_.flits + i) / NIC_TILES;
		const uint64_t ticks = flit_ticks(flits, LINK_FACTORS[2][0]);
		TileState &out = net_.tiles_[first + i];
		Stream &stream = net_.tiles_.stream(first + i);
		const uint64_t start = std::max(head_, free_[i]);

		Tally(net_.tiles_, flits, false).pass(first + i, routed_.first_channel, head_, start);
		head = std::min(head, start);
		tail_ = std::max({tail_, start + ticks, busy_until(out, stream, start_ + length)});
	}
	transit_.head_ns = ticks_to_ns(head + CROSSING_TICKS);
	transit_.arrive_ns = ticks_to_ns(tail_ + CROSSING_TICKS);
}

} // namespace aries
