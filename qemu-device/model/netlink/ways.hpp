// SPDX-License-Identifier: GPL-2.0-or-later
/* What network.cpp and runs.cpp share: packets that are routed, their ways, loads and counters. */
#ifndef ARIES_NETLINK_WAYS_HPP
#define ARIES_NETLINK_WAYS_HPP

#include "netlink/network.hpp"

namespace aries
{

inline constexpr uint64_t HOP_TICKS = ns_to_ticks(HOP_NS);
inline constexpr uint8_t REQUEST_CHANNELS = chip::ARIES.channels.requests; // responses' come behind them (P12)

/* Packets between places that go the same way, one after the other, and how they are to be routed. */
struct Network::RoutedPackets {
	uint32_t src;
	uint32_t dst;
	uint32_t from; // router of src
	uint32_t to;   // router of dst
	uint64_t flits;
	uint32_t packets;
	uint64_t now; // tick at which it is booked
	uint64_t at;  // and at which it leaves
	uint64_t random;
	RoutingMode mode;
	uint8_t first_channel;
	uint64_t hinted; // tiles of the first router, see LoadView
	uint32_t part;   // 1 to SPLIT_PARTS of many, 0: they stay together
	Store tiles;     // how it books processor tiles

	bool adaptive() const { return mode.routing == Routing::Adaptive; }
};

/* Loads of a router's outputs, as it knows them when a packet gets there (R08). */
struct Network::LoadView {
	const TileState *tiles; // of the router
	uint64_t at;
	const Background *others;
	uint32_t router;
	uint64_t hinted = UINT64_MAX; // tiles of which the one with less to come is better though both are quiet

	/* Most outputs are quiet and up. */
	[[gnu::always_inline]] uint32_t operator()(uint32_t tile) const noexcept
	{
		const TileState &state = tiles[tile];

		if (!others && !has_news(state) && state.free_at(at)) [[likely]]
			return 0;
		return look(*this, tile);
	}

private:
	[[gnu::noinline]] static uint32_t look(LoadView view, uint32_t tile) noexcept
	{
		const TileState &state = view.tiles[tile];
		const uint64_t more = view.others && tile < NETWORK_TILES ? view.others->queue(view.router, tile) : 0;

		if (!link_up(state))
			return routing::LOAD_DOWN;
		const uint64_t load = has_stream(state) ? known_load(state, RouterStates::stream_of(view.tiles, tile),
								     view.at, view.hinted >> tile & 1)
							: known_load(state, view.at);

		return static_cast<uint32_t>(std::min<uint64_t>(load + more, routing::LOAD_DOWN - 1));
	}
};

/* Output tiles from router to router, and the processor tile at the end. */
struct Network::Way {
	uint32_t hops;
	bool nonminimal;
	uint32_t eject; // link id
	std::array<uint32_t, MAX_HOPS> link;
	std::array<uint8_t, MAX_HOPS> channel; // of each link
};

/*
 * Packets cut through: the first flit, their head, goes on as soon as a tile is free for it, and the tail follows as
 * fast as the tiles let it. Where the head waits the link before is told.
 */
struct Network::CutThrough {
	uint64_t since;      // they book tiles from this tick on, or from when they get there if that is before
	uint64_t head, tail; // ticks at which they are ready for the next tile
	TileState *before = nullptr;

	/* Over @tile in @ticks, then @latency to the next; others hold the head up for @delay. Return: it begins */
	[[gnu::always_inline]] uint64_t pass(TileState &tile, uint64_t ticks, Store store, uint64_t latency,
					     uint64_t delay = 0) noexcept
	{
		const uint64_t ready = head + delay;
		const uint64_t start = tile.reserve(std::min(ready, since), ready, ticks, store);

		head = start + latency;
		tail = std::max(tail, start + ticks) + latency;
		return start;
	}

	/* The head was at the output @next at @ready and went over it at @start. */
	[[gnu::always_inline]] void tell(TileState &next, uint64_t ready, uint64_t start) noexcept
	{
		if (before) {
			const uint64_t beyond = told_far(next, ready);

			if (start > ready || beyond > ready) [[unlikely]]
				tell_load(*before, ready, start, beyond);
		}
		before = &next;
	}
};

/* Counts what packets do, stage by stage: NIC to router, links, router to NIC. */
class Network::Tally
{
public:
	Tally(RouterStates &tiles, uint64_t flits, bool quick) noexcept : tiles_(tiles), flits_(flits), quick_(quick) {}

	/* The head was at @link, on its virtual channel @channel, at @ready and went over it at @start. */
	void pass(uint32_t link, uint8_t channel, uint64_t ready, uint64_t start) noexcept
	{
		if (!tiles_.there(link_router(link))) [[unlikely]]
			return;
		if (link_tile(link) >= NETWORK_TILES)
			pass_nic(tiles_[link], link_tile(link), channel, ready, start);
		else
			pass_link(tiles_[link], link_tile(link), channel, ready, start);
	}

	/* The same of @state, the tile @tile of its router, where it is known to be one or the other. */
	[[gnu::always_inline]] void pass_nic(TileState &state, uint32_t tile, uint8_t channel, uint64_t ready,
					     uint64_t start) noexcept
	{
		add(state.events[channel >= REQUEST_CHANNELS], flits_, quick_);
		wait(RouterStates::counters_of(state, tile), channel, ready, start, quick_);
	}

	[[gnu::always_inline]] void pass_link(TileState &state, uint32_t tile, uint8_t channel, uint64_t ready,
					      uint64_t start) noexcept
	{
		LinkCounters &next = RouterStates::counters_of(state, tile);

		add(next.flits[channel], flits_, false);
		wait(next, channel, ready, start, false);
	}

private:
	static void add(std::atomic<uint64_t> &word, uint64_t value, bool quick) noexcept
	{
		if (quick)
			word.store(word.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
		else
			word.fetch_add(value, std::memory_order_relaxed);
	}

	[[gnu::always_inline]] void wait(LinkCounters &next, uint8_t channel, uint64_t ready, uint64_t start,
					 bool quick) noexcept
	{
		if (start > ready) [[unlikely]] {
			add(next.waited[channel], start - ready, quick);
			if (before_)
				add(*before_, start - ready, false);
		}
		before_ = &next.held[channel];
	}

	RouterStates &tiles_;
	uint64_t flits_;
	bool quick_;                              // processor tiles by a load and a store, as they are booked
	std::atomic<uint64_t> *before_ = nullptr; // of the link before this one: the time that heads wait behind it
};

} // namespace aries

#endif
