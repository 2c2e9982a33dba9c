// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Packets of large transfers that are still to come over a link. Booked all at once they would close it to others from
 * now on; they come one by one, at the pace of the NICs that send them, and others pass in between.
 */
#ifndef ARIES_LINK_STREAM_HPP
#define ARIES_LINK_STREAM_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "link/link.hpp"

namespace aries
{

/** Set in TileState::state while packets are to come. A hint: it may stay set for longer. */
inline constexpr uint32_t LINK_STREAM = 0x8;

/**
 * Work that comes to a tile evenly from one tick to another. All zero: none. That of several transfers is one stream,
 * with the sum of their work over the time of all.
 *
 * What has come by a time is work like any other: whoever looks at the tile next adds it to Timeline::busy. Of threads
 * that change a stream in the same nanoseconds one may be forgotten.
 */
struct alignas(32) Stream {
	std::atomic<uint64_t> from;   ///< tick up to which all that has come was added to the tile
	std::atomic<uint64_t> until;  ///< tick at which the last of it has come
	std::atomic<uint64_t> rate;   ///< ticks of work in a tick, RATE_SHIFT binary places
	std::atomic<uint64_t> behind; ///< ticks that the last of it waits behind the link, as told_load()

	static constexpr uint32_t RATE_SHIFT = 16;
	static constexpr uint64_t RATE_ONE = uint64_t{1} << RATE_SHIFT;
	static constexpr uint64_t RATE_MAX = RATE_ONE << 6; ///< what is more is damage, and so are times beyond
							    ///< BOOKING_LIMIT

	/** Work that comes up to tick @p to. */
	uint64_t work(uint64_t to) const noexcept
	{
		const uint64_t begin = from.load(std::memory_order_relaxed);
		const uint64_t end = std::min(to, until.load(std::memory_order_relaxed));

		if (end <= begin || end - begin > BOOKING_LIMIT / 2)
			return 0;
		return std::min(((end - begin) * std::min(rate.load(std::memory_order_relaxed), RATE_MAX)) >>
					RATE_SHIFT,
				BOOKING_LIMIT);
	}

	/** What waits behind the link at tick @p at: it has grown evenly, and gets less when no more comes. */
	uint64_t waits(uint64_t at) const noexcept
	{
		const uint64_t most = std::min(behind.load(std::memory_order_relaxed), BOOKING_LIMIT >> 1);
		const uint64_t begin = from.load(std::memory_order_relaxed);
		const uint64_t end = until.load(std::memory_order_relaxed);

		if (!most || at <= begin || end <= begin)
			return 0;
		if (at >= end)
			return most > at - end ? most - (at - end) : 0;
		return static_cast<uint64_t>(static_cast<double>(most) * static_cast<double>(at - begin) /
					     static_cast<double>(end - begin));
	}

	/** Share of the tile's time that it takes at tick @p at, in RATE_ONE. */
	uint64_t share(uint64_t at) const noexcept
	{
		return at >= from.load(std::memory_order_relaxed) && at <= until.load(std::memory_order_relaxed)
			       ? std::min(rate.load(std::memory_order_relaxed), RATE_ONE)
			       : 0;
	}
};

/**
 * Until when a tile is booked as it will be seen at tick @p at: a time not after @p at means that it is quiet then.
 * Work that comes evenly waits only as far as it is more than the tile does meanwhile.
 */
inline uint64_t busy_until(const Timeline &tile, const Stream &stream, uint64_t at) noexcept
{
	const uint64_t busy = tile.busy.load(std::memory_order_relaxed);
	const uint64_t work = stream.work(at);

	return work ? std::max(busy, stream.from.load(std::memory_order_relaxed)) + work : busy;
}

/**
 * The load of an output as its router knows it (R08), with what is to come over it by tick @p at. Of two that are quiet
 * at all other times the one is lighter over which less is to come: less than a nanosecond tells them apart.
 */
[[gnu::noinline]] inline uint64_t known_load(const TileState &tile, const Stream &stream, uint64_t at,
					     bool hint) noexcept
{
	const uint64_t load =
		ticks_ahead(busy_until(tile, stream, at), at) + std::max(told_load(tile, at), stream.waits(at));

	return load || !hint ? load : (stream.share(at) * (TICKS_PER_NS - 1)) >> Stream::RATE_SHIFT;
}

/** Whether anything may be to come over a tile. In the word that tells whether the link is up. */
inline bool has_stream(const TileState &tile) noexcept
{
	return tile.state.load(std::memory_order_relaxed) & LINK_STREAM;
}

/** Whether there is more to know of a tile than until when it is booked: one word of it tells. */
inline bool has_news(const TileState &tile) noexcept
{
	return tile.state.load(std::memory_order_relaxed) & (LINK_DOWN | LINK_STREAM | LINK_TOLD);
}

/** Adds to the tile what has come by tick @p now. */
[[gnu::noinline]] inline void settle(TileState &tile, Stream &stream, uint64_t now) noexcept
{
	uint64_t from = stream.from.load(std::memory_order_relaxed);
	const uint64_t work = stream.work(now);

	if (now >= stream.until.load(std::memory_order_relaxed))
		tile.state.fetch_and(~LINK_STREAM, std::memory_order_relaxed);
	/* Who moves the time on adds the work, nobody else. */
	if (from >= now || !stream.from.compare_exchange_strong(from, now, std::memory_order_relaxed) || !work)
		return;

	uint64_t busy = tile.busy.load(std::memory_order_relaxed);
	const uint64_t end = std::min(now, stream.until.load(std::memory_order_relaxed));

	while (std::max(busy, from) + work > end &&
	       !tile.busy.compare_exchange_weak(busy, std::max(busy, from) + work, std::memory_order_relaxed)) {
	}
}

/** Adds @p work ticks that come evenly from tick @p from on for @p length ticks, seen at @p now. */
inline void add_stream(TileState &tile, Stream &stream, uint64_t now, uint64_t from, uint64_t length,
		       uint64_t work) noexcept
{
	uint64_t until = from + std::max<uint64_t>(length, 1);

	work = std::min(work, BOOKING_LIMIT);

	if (has_stream(tile))
		settle(tile, stream, now);
	if (const uint64_t last = stream.until.load(std::memory_order_relaxed); ticks_ahead(last, now)) {
		work += stream.work(last);
		from = std::min(from, std::max(now, stream.from.load(std::memory_order_relaxed)));
		until = std::max(until, last);
	}
	if (until <= from) /* damage, or the end of time */
		until = from + 1;
	stream.from.store(from, std::memory_order_relaxed);
	stream.until.store(until, std::memory_order_relaxed);
	stream.rate.store(
		std::min(((work << Stream::RATE_SHIFT) + (until - from) / 2) / (until - from), Stream::RATE_MAX),
		std::memory_order_relaxed);
	if (!has_stream(tile))
		tile.state.fetch_or(LINK_STREAM, std::memory_order_relaxed);
}

} // namespace aries

#endif
