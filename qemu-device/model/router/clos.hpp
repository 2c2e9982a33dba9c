// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Routing on a folded Clos: up by any of the links that lead to where the destination is below, then down. The strategy
 * of QsNetIII, as decide.hpp is that of Aries; it serves a Clos of any routers. Documentation/routing.md tells the
 * whole.
 *
 * Destinations are sites: nodes that are at the same routers. A site is one router, but for nodes that have links to
 * several; then a packet goes to any of them, and where it goes down decides to which.
 *
 * No packet goes up after it has gone down, so links wait for each other in no circle, with one channel a class.
 */
#ifndef ARIES_ROUTER_CLOS_HPP
#define ARIES_ROUTER_CLOS_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "router/decide.hpp"
#include "router/table_builder.hpp"

namespace aries::routing
{

inline constexpr uint16_t NO_SITE = UINT16_MAX;
inline constexpr size_t CLOS_MOST_BYTES = size_t{1} << 30; ///< of tables

/** Which of the links that are lightly loaded an adaptive packet takes (Q06). */
enum class ClosOrder : uint8_t {
	First,   ///< the lowest tile: "first free"
	Next,    ///< the next one behind that which the router took last: "next free"
	Random,  ///< any
	Lighter, ///< the lighter of two random ones, without a threshold, as routers of Aries choose among equal ports
};

/** How routers choose. A link is lightly loaded if fewer packets than @p threshold wait on it for an answer (Q06). */
struct ClosChoice {
	ClosOrder order = ClosOrder::Random;
	uint32_t threshold = 4;
};

/** How a packet takes one of several links. */
enum class ClosMode : uint8_t {
	Adaptive, ///< by load, as ClosChoice tells
	Hash,     ///< by its hash: equal ones take equal ways
	Static,   ///< by its destination alone, as route tables of other networks do (Q40)
};

/** What a packet carries for routers of a Clos. */
struct ClosHeader {
	uint16_t destination; ///< site
	uint32_t hash;        ///< of header fields
	uint8_t nic;          ///< of the destination's router
	uint8_t channel;      ///< that it came in; it keeps it
	ClosMode mode;
};

struct ClosDecision {
	uint8_t tile; ///< NO_OUTPUT if there is no way
	uint8_t channel;
	bool up;
};

/** Tiles that lead somewhere equally well: a bit for each from @p first on, which is the router's own for ways up. */
struct ClosWays {
	uint64_t bits = 0;
	uint8_t first = 0;
	bool up = false;

	bool has(uint32_t tile) const noexcept
	{
		return tile >= first && tile - first < 64 && bits >> (tile - first) & 1;
	}
	bool operator==(const ClosWays &) const = default;
};

/** The last tiles that a router took, upwards and down. What ClosOrder::Next wants in place of random bits. */
struct ClosTurns {
	uint8_t up = NO_OUTPUT, down = NO_OUTPUT;

	uint64_t word() const noexcept { return uint64_t{down} << 8 | up; }
	void took(const ClosDecision &decision) noexcept { (decision.up ? up : down) = decision.tile; }
};

/** What all routers of a machine share. */
struct ClosCommon {
	ClosChoice choice;
	uint32_t nics = 0;           ///< of a router
	std::vector<ClosWays> eject; ///< processor tiles of each NIC
};

/** The tables of one router. */
struct ClosRouter {
	uint16_t here; ///< its site, NO_SITE if it has no nodes
	uint32_t router;
	const ClosCommon *common;
	const ClosWays *ways; ///< different ones of this router
	const uint16_t *way;  ///< of each site, one of these
	ClosWays up;          ///< links upwards, and to another router of the last stage, also those that have failed
	uint32_t up_step;     ///< destinations after which static routing takes the next link up
	uint32_t down_step;   ///< the same for parallel links down

	const ClosWays &to(uint16_t site) const noexcept { return ways[way[site]]; }
};

/**
 * The strategy: what a router does with a packet, first, between, last. @p load is a callable of a tile, as for
 * decide().
 * @p random bits, for this decision alone, are looked at only if the packet is adaptive; ClosOrder::Next wants
 * ClosTurns::word() in place of them.
 */
struct ClosRouting {
	template <typename Load>
	static ClosDecision first(const ClosRouter &at, const ClosHeader &header, const Load &load,
				  uint64_t random) noexcept
	{
		return take(at, at.to(header.destination), header, load, random);
	}

	/**
	 * A packet that came down and finds no way down gets none (Q23): tables have changed since it was sent down, or
	 * a router above uses old ones.
	 * @param in network tile by which the packet came
	 */
	template <typename Load>
	static ClosDecision next(const ClosRouter &at, uint32_t in, const ClosHeader &header, const Load &load,
				 uint64_t random) noexcept
	{
		const ClosWays &ways = at.to(header.destination);

		if (ways.up && at.up.has(in)) [[unlikely]]
			return {NO_OUTPUT, header.channel, true};
		return take(at, ways, header, load, random);
	}

	/** Which of a node's links at this router (Q25). */
	template <typename Load>
	static ClosDecision eject(const ClosRouter &at, const ClosHeader &header, const Load &load,
				  uint64_t random) noexcept
	{
		return take(at, at.common->eject[header.nic], header, load, random);
	}

private:
	template <typename Load>
	static ClosDecision take(const ClosRouter &at, const ClosWays &ways, const ClosHeader &header, const Load &load,
				 uint64_t random) noexcept
	{
		return {header.mode == ClosMode::Adaptive ? by_load(at.common->choice, ways, load, random)
							  : by_name(at, ways, header, load),
			header.channel, ways.up};
	}

	static constexpr uint32_t lowest(uint64_t bits) noexcept
	{
		return static_cast<uint32_t>(std::countr_zero(bits));
	}

	static constexpr uint32_t nth_of(uint64_t bits, uint32_t nth) noexcept
	{
		while (nth--)
			bits &= bits - 1;
		return lowest(bits);
	}

	/* Those of a set from a place on, or, if there are none, all. */
	static constexpr uint64_t from_place(uint64_t bits, uint32_t place) noexcept
	{
		const uint64_t behind = place < 64 ? bits >> place << place : 0;

		return behind ? behind : bits;
	}

	/* First the lightly loaded links; if there is none, those with the least load. Then one of them (Q06). */
	template <typename Load>
	static uint8_t by_load(const ClosChoice &choice, const ClosWays &ways, const Load &load,
			       uint64_t random) noexcept
	{
		if (choice.order == ClosOrder::Lighter)
			return lighter(ways, load, random);

		uint64_t light = 0, lightest = 0;
		uint32_t least = LOAD_DOWN;

		for (uint64_t left = ways.bits; left; left &= left - 1) {
			const uint64_t bit = left & -left;
			const uint32_t of_link = load(ways.first + lowest(left));

			if (of_link == LOAD_DOWN)
				continue;
			light |= of_link < choice.threshold ? bit : 0;
			if (of_link < least)
				lightest = 0;
			least = of_link < least ? of_link : least;
			lightest |= of_link == least ? bit : 0;
		}

		const uint64_t bits = light ? light : lightest;

		if (!bits) [[unlikely]]
			return NO_OUTPUT;
		return static_cast<uint8_t>(ways.first + one_of(choice.order, ways, bits, random));
	}

	static uint32_t one_of(ClosOrder order, const ClosWays &ways, uint64_t bits, uint64_t random) noexcept
	{
		if (order == ClosOrder::First)
			return lowest(bits);
		if (order == ClosOrder::Random)
			return nth_of(bits, pick16(random, static_cast<uint32_t>(std::popcount(bits))));

		const auto last = static_cast<uint8_t>(ways.up ? random : random >> 8);

		return lowest(from_place(bits, last < ways.first ? 0 : last - ways.first + 1u));
	}

	template <typename Load>
	static uint8_t lighter(const ClosWays &ways, const Load &load, uint64_t random) noexcept
	{
		const auto count = static_cast<uint32_t>(std::popcount(ways.bits));

		if (!count) [[unlikely]]
			return NO_OUTPUT;

		const uint32_t nth = pick16(random, count);
		uint32_t place = nth_of(ways.bits, nth);
		uint32_t least = load(ways.first + place);

		if (least && count > 1) {
			const uint32_t other = nth_of(ways.bits, (nth + 1 + pick16(random >> 16, count - 1)) % count);
			const uint32_t of_other = load(ways.first + other);

			if (of_other < least) {
				least = of_other;
				place = other;
			}
		}
		return least == LOAD_DOWN ? any_up(ways, place, load) : static_cast<uint8_t>(ways.first + place);
	}

	/*
	 * By hash one of those that are left. By destination one of all that were built, so that a destination keeps
	 * its way when others fail, and another one carries twice as much in place of the failed one, as static tables
	 * do.
	 */
	template <typename Load>
	static uint8_t by_name(const ClosRouter &at, const ClosWays &ways, const ClosHeader &header,
			       const Load &load) noexcept
	{
		if (!ways.bits) [[unlikely]]
			return NO_OUTPUT;
		if (header.mode == ClosMode::Hash) {
			const uint64_t word = choice_word(false, 0, at.router, header.hash);

			return any_up(ways,
				      nth_of(ways.bits, pick16(word, static_cast<uint32_t>(std::popcount(ways.bits)))),
				      load);
		}

		const uint32_t number = header.destination * at.common->nics + header.nic;
		const uint64_t built = ways.up ? at.up.bits : ways.bits;
		const auto count = static_cast<uint32_t>(std::popcount(built));
		const uint32_t nth = number / (ways.up ? at.up_step : at.down_step) % count;

		return any_up(ways, nth_of(built, nth), load);
	}

	/* The one at a place, or the next behind it that can be used. */
	template <typename Load> static uint8_t any_up(const ClosWays &ways, uint32_t place, const Load &load) noexcept
	{
		uint64_t left = ways.bits;

		while (left) {
			const uint32_t at = lowest(from_place(left, place));

			if (load(ways.first + at) != LOAD_DOWN)
				return static_cast<uint8_t>(ways.first + at);
			left &= ~(uint64_t{1} << at);
			place = at + 1;
		}
		return NO_OUTPUT;
	}
};

/** Which links of a machine are not out. @throws std::invalid_argument for a failure that it does not have */
std::vector<bool> links_left(const topology::Machine &machine, const Failures &failures);

/** The tables of all routers of a Clos. May be moved, not copied: routers point into it. */
class ClosTables
{
public:
	/**
	 * @param machine must pass check(), @p choice check_choice(); throws std::invalid_argument with the text if one
	 * does not
	 * @param failures links, and routers with all of theirs, that must not be used. Neither is a link to where all
	 * ways to a destination have failed
	 */
	explicit ClosTables(const topology::Machine &machine, const ClosChoice &choice = {},
			    const Failures &failures = {});
	ClosTables(ClosTables &&) = default;
	ClosTables &operator=(ClosTables &&) = default;
	ClosTables(const ClosTables &) = delete;
	ClosTables &operator=(const ClosTables &) = delete;

	/**
	 * Empty if a machine is a folded Clos, else one line that tells in what it is none. The first coordinate of a
	 * router is its stage: nodes are in stage 0, links lead from a stage to the next, or between routers of the
	 * last; and from everywhere a way up and then down leads to every node.
	 */
	static std::string check(const topology::Machine &machine);

	/** Empty if routers of a machine can choose so, else one line. */
	static std::string check_choice(const topology::Machine &machine, const ClosChoice &choice);

	const ClosRouter &router(uint32_t router) const noexcept { return routers_[router]; }
	uint32_t routers() const noexcept { return static_cast<uint32_t>(routers_.size()); }
	uint32_t sites() const noexcept { return sites_; }

	/** Can packets of a router get to a site by these tables? */
	bool reaches(uint32_t from, uint16_t site) const noexcept
	{
		return routers_[from].here == site || routers_[from].to(site).bits;
	}

	/** Memory of all the tables, without that of the allocator. */
	size_t bytes() const noexcept;

private:
	class Maker;

	uint32_t sites_ = 0;
	std::vector<ClosCommon> common_; ///< one: in a place that stays when tables are moved
	std::vector<ClosWays> ways_;     ///< of all routers, one behind the other
	std::vector<uint16_t> way_;      ///< router by router, site by site
	std::vector<ClosRouter> routers_;
};

} // namespace aries::routing

#endif
