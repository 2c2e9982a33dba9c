// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* What network.cpp and runs.cpp share: packets that are routed, their ways, loads and counters. */
#ifndef ARIES_NETLINK_WAYS_HPP
#define ARIES_NETLINK_WAYS_HPP

#include "netlink/network.hpp"

namespace aries
{

inline constexpr uint64_t HOP_TICKS = ns_to_ticks(HOP_NS);
inline constexpr uint8_t REQUEST_CHANNELS = 4; // the first of a response comes behind them (P12)

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
	const TileState *tiles; // of the router; null: it has no state yet
	uint64_t at;
	const Background *others;
	uint32_t router;
	uint64_t hinted = UINT64_MAX; // tiles of which the one with less to come is better though both are quiet

	[[gnu::always_inline]] uint32_t operator()(uint32_t tile) const noexcept
	{
		const uint64_t more = others && tile < NETWORK_TILES ? others->queue(router, tile) : 0;

		if (!tiles)
			return capped(more);
		if (!link_up(tiles[tile]))
			return routing::LOAD_DOWN;
		if (has_stream(tiles[tile])) [[unlikely]]
			return capped(
				known_load(tiles[tile], RouterStates::stream_of(tiles, tile), at, hinted >> tile & 1) +
				more);
		return capped(known_load(tiles[tile], at) + more);
	}

	static uint32_t capped(uint64_t load) noexcept
	{
		return static_cast<uint32_t>(std::min<uint64_t>(load, routing::LOAD_DOWN - 1));
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

/* Counts what packets do, stage by stage: NIC to router, links, router to NIC. */
class Network::Tally
{
public:
	Tally(RouterStates &tiles, uint64_t flits, bool quick) noexcept : tiles_(tiles), flits_(flits), quick_(quick) {}

	/* The head was at @link, on its virtual channel @channel, at @ready and went over it at @start. */
	void pass(uint32_t link, uint8_t channel, uint64_t ready, uint64_t start) noexcept
	{
		if (tiles_.there(link_router(link))) [[likely]]
			pass_there(link, channel, ready, start);
	}

	/* The same, where the router has state. */
	[[gnu::always_inline]] void pass_there(uint32_t link, uint8_t channel, uint64_t ready, uint64_t start) noexcept
	{
		const bool processor = link_tile(link) >= NETWORK_TILES;
		LinkCounters &next = tiles_.counters(link);

		if (processor)
			add(tiles_[link].events[channel >= REQUEST_CHANNELS], flits_, quick_);
		else
			add(next.flits[channel], flits_, false);
		if (start > ready) {
			add(next.waited[channel], start - ready, processor && quick_);
			if (before_)
				add(*before_, start - ready, false);
		}
		before_ = &next.held[channel];
	}

private:
	static void add(std::atomic<uint64_t> &word, uint64_t value, bool quick) noexcept
	{
		if (quick)
			word.store(word.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
		else
			word.fetch_add(value, std::memory_order_relaxed);
	}

	RouterStates &tiles_;
	uint64_t flits_;
	bool quick_;                              // processor tiles by a load and a store, as they are booked
	std::atomic<uint64_t> *before_ = nullptr; // of the link before this one: the time that heads wait behind it
};

} // namespace aries

#endif
