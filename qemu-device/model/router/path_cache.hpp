// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Minimal ways that have been looked up before. One atomic word each, so that threads need no lock: two that fill
 * the same entry write the same value.
 */
#ifndef ARIES_ROUTER_PATH_CACHE_HPP
#define ARIES_ROUTER_PATH_CACHE_HPP

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "router/route_tables.hpp"

namespace aries
{

inline constexpr uint32_t CACHED_WAYS = 4; ///< entries for each pair of routers

/**
 * Cache for a machine of up to 128 routers, which covers every fabric of 256 nodes. Larger ones are not cached.
 * A word holds hops (bits 60 to 62), the first output tile (bits 52 to 57) and up to four more links of 13 bits.
 */
class PathCache
{
public:
	static constexpr uint32_t MAX_ROUTERS = 128;

	explicit PathCache(uint32_t routers)
		: shift_(std::bit_width(routers - 1)),
		  words_(routers <= MAX_ROUTERS ? std::make_unique<std::atomic<uint64_t>[]>(entries(routers)) : nullptr)
	{
	}

	/** The minimal way of two different routers; looked up in the tables the first time. */
	void get(const RouteTables &tables, uint32_t from, uint32_t to, uint32_t way, Path &path) noexcept
	{
		way %= CACHED_WAYS;
		path.hops = 0;
		if (!words_) {
			tables.append_minimal(from, to, way, path);
			return;
		}

		std::atomic<uint64_t> &word = words_[((uint64_t{from} << shift_ | to) * CACHED_WAYS) + way];
		const uint64_t packed = word.load(std::memory_order_relaxed);

		if (packed) {
			unpack(packed, from, path);
			return;
		}
		tables.append_minimal(from, to, way, path);
		word.store(pack(path), std::memory_order_relaxed);
	}

private:
	static constexpr uint32_t LINK_BITS = 13;
	static constexpr uint64_t LINK_MASK = (1u << LINK_BITS) - 1;

	static_assert(MAX_ROUTERS * TILE_SLOTS == 1u << LINK_BITS, "a link fits in its bits");
	static_assert(4 * LINK_BITS <= 52 && MAX_MINIMAL_HOPS <= 5, "a way fits in a word");

	static size_t entries(uint32_t routers)
	{
		return (size_t{routers} << std::bit_width(routers - 1)) * CACHED_WAYS;
	}

	static uint64_t pack(const Path &path) noexcept
	{
		uint64_t word = uint64_t{path.hops} << 60 | uint64_t{link_tile(path.link[0])} << 52;

		for (uint32_t i = 1; i < path.hops; i++)
			word |= uint64_t{path.link[i]} << (i - 1) * LINK_BITS;
		return word;
	}

	static void unpack(uint64_t word, uint32_t from, Path &path) noexcept
	{
		path.hops = word >> 60;
		path.link[0] = link_id(from, word >> 52 & 0x3f);
		for (uint32_t i = 1; i < MAX_MINIMAL_HOPS; i++, word >>= LINK_BITS)
			path.link[i] = word & LINK_MASK;
	}

	uint32_t shift_;
	std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

} // namespace aries

#endif
