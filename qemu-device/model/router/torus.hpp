// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Routing on a torus: dimension by dimension, in each the shorter way round its ring. The strategy of Gemini, as
 * decide.hpp is that of Aries; Documentation/routing.md tells the whole.
 *
 * Tables are the sum of the axes. A router has one entry for each coordinate of each axis, not one for each router:
 * which way round the ring leads there. Between neighbours there are parallel links; one of those that work is taken.
 *
 * With one channel a class each ring is a circle of waits, which only a rule about room can keep open (bubble flow
 * control: a packet enters a ring where two fit). With two there is none: a packet changes to the second where the ring
 * closes (the dateline), and begins with the first in each dimension. No source tells how Gemini does it.
 *
 * Dimension order has one way for two routers, or both halves of a ring; it turns at a corner, which may be dead. Where
 * failures leave two routers without a way, tables are by directions instead: all six have an order, "early" ones of
 * each axis and then the opposite, "late" ones, and every packet goes by directions that ascend. So it meets a router,
 * "via", at which early directions end and late ones begin. The first router names it, in the header.
 */
#ifndef ARIES_ROUTER_TORUS_HPP
#define ARIES_ROUTER_TORUS_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chip/gemini.hpp"
#include "router/decide.hpp"
#include "router/table_builder.hpp"

namespace aries::routing
{

inline constexpr size_t TORUS_AXES = chip::GEMINI_LINKS.size();
inline constexpr uint32_t TORUS_DATELINE_CHANNELS = 2; ///< of a class

using TorusAddress = std::array<uint16_t, TORUS_AXES>;

/** Which way round a ring. */
enum class Turn : uint8_t {
	Up,     ///< to the next higher coordinate, or from the last to the first
	Down,   ///< the other way
	Either, ///< both are as long; a packet chooses
	Here,   ///< there is nothing to go in this axis
	Cut,    ///< neither way round works
};

/** What a packet carries for routers of a torus. */
struct TorusHeader {
	TorusAddress destination;
	uint16_t via;    ///< place of a router; written by the first one, of use to tables by directions
	uint32_t hash;   ///< of header fields; equal ones take equal links if the packet is not adaptive (G29)
	uint8_t nic;     ///< of the destination's router
	uint8_t channel; ///< of its class, that it came in
	bool adaptive;   ///< any of the parallel links, by load (G29)
};

struct TorusDecision {
	uint8_t tile; ///< NO_OUTPUT if there is no way
	uint8_t channel;
	uint16_t via;
};

/** The header as the packet leaves. */
constexpr void apply(const TorusDecision &decision, TorusHeader &header) noexcept
{
	header.channel = decision.channel;
	header.via = decision.via;
}

/** To a router that the usual way does not reach. Routers are told by their places, see TorusRouter::place(). */
struct TorusDetour {
	uint16_t to;
	uint16_t via;
};

/** The tables of one router. */
struct TorusRouter {
	TorusAddress here;
	uint32_t router;
	const Turn *turns; ///< of all axes, one behind the other
	std::array<uint32_t, TORUS_AXES> first;
	std::array<std::array<uint8_t, 2>, TORUS_AXES> links; ///< that work, by axis and Turn: a bit for each tile
	std::array<uint16_t, TORUS_AXES> last;                ///< highest coordinate
	uint8_t channels;                                     ///< of a class: 1, or TORUS_DATELINE_CHANNELS
	bool directions;                                      ///< ways are by directions, not by dimensions
	uint8_t early_down;                                   ///< axes whose early direction is down: a bit for each
	uint32_t detour_count;
	uint32_t lost_count;
	const TorusDetour *detours; ///< by where they lead; all other ways are as turns have them
	const uint16_t *lost;       ///< places to which there is no way, in order

	Turn turn(size_t axis, uint32_t to) const noexcept { return turns[first[axis] + to]; }

	/** The early direction of an axis, or the late one. */
	Turn direction(size_t axis, bool early) const noexcept
	{
		return (early_down >> axis & 1) == early ? Turn::Down : Turn::Up;
	}

	/** The number of a place: coordinates, z the fastest. */
	uint16_t place(const TorusAddress &at) const noexcept
	{
		return static_cast<uint16_t>((at[0] * (last[1] + 1u) + at[1]) * (last[2] + 1u) + at[2]);
	}

	TorusAddress address(uint16_t place) const noexcept
	{
		const uint32_t line = place / (last[2] + 1u), size = last[1] + 1u;

		return {static_cast<uint16_t>(line / size), static_cast<uint16_t>(line % size),
			static_cast<uint16_t>(place % (last[2] + 1u))};
	}
};

/** First tile towards a neighbour. */
constexpr uint32_t torus_tile(size_t axis, Turn turn)
{
	const chip::LinkForm &form = chip::GEMINI_LINKS[axis];

	return form.first_tile + (turn == Turn::Down ? form.tiles / 2 : 0);
}

/** Dimension of a network tile. */
constexpr size_t torus_axis(uint32_t tile)
{
	size_t axis = TORUS_AXES - 1;

	while (axis && tile < chip::GEMINI_LINKS[axis].first_tile)
		axis--;
	return axis;
}

/** The tile opposite of @p in: its link is the next one of the ring of single links that the one at @p in is of. */
constexpr uint32_t torus_onward(uint32_t in)
{
	const chip::LinkForm &form = chip::GEMINI_LINKS[torus_axis(in)];
	const uint32_t half = form.tiles / 2;

	return in < form.first_tile + half ? in + half : in - half;
}

/** The @p nth bit of those that are set. */
constexpr uint32_t nth_bit(uint32_t bits, uint32_t nth)
{
	while (nth--)
		bits &= bits - 1;
	return static_cast<uint32_t>(std::countr_zero(bits));
}

/**
 * The strategy: what a router does with a packet, first, between, last. @p load is a callable of a tile as for
 * decide();
 * @p random bits are looked at only if the packet is adaptive.
 */
struct TorusRouting {
	/** The axis to go in, TORUS_AXES if the packet is there. */
	static size_t axis_of(const TorusRouter &at, const TorusAddress &to) noexcept
	{
		size_t axis = 0;

		while (axis < TORUS_AXES && to[axis] == at.here[axis])
			axis++;
		return axis;
	}

	template <typename Load>
	static TorusDecision first(const TorusRouter &at, const TorusHeader &header, const Load &load,
				   uint64_t random) noexcept
	{
		if (at.directions) [[unlikely]]
			return begin(at, header, load, random);
		return go(at, axis_of(at, header.destination), false, header, load, random);
	}

	/**
	 * With one channel a packet keeps to the ring of links by which it came, as long as these work: room that is
	 * left in each of the parallel rings helps only packets of that one.
	 *
	 * @param in network tile by which the packet came
	 */
	template <typename Load>
	static TorusDecision next(const TorusRouter &at, uint32_t in, const TorusHeader &header, const Load &load,
				  uint64_t random) noexcept
	{
		const size_t came = torus_axis(in);
		TorusDecision decision;

		if (at.directions) [[unlikely]] {
			decision = go_on(at, in, header, load, random);
		} else {
			const size_t axis = axis_of(at, header.destination);

			decision = go(at, axis, axis == came && header.channel, header, load, random);
		}
		if (at.channels == 1 && decision.tile != NO_OUTPUT && torus_axis(decision.tile) == came)
			decision.tile = stay(at, came, torus_onward(in), decision.tile, load);
		return decision;
	}

	/** Processor tiles serve both NICs (G03): any, by hash or by load. */
	template <typename Load>
	static TorusDecision eject(const TorusRouter &at, const TorusHeader &header, const Load &load,
				   uint64_t random) noexcept
	{
		constexpr uint32_t TILES = (1u << chip::GEMINI.tiles.processor) - 1;

		return {choose(chip::GEMINI.tiles.network, TILES, header.adaptive, load, word_of(at, header, random)),
			header.channel, header.via};
	}

private:
	static constexpr uint32_t EITHER_BIT = 48; ///< and the next two, of the word to choose by; 32 choose tiles

	/* By dimensions. */
	template <typename Load>
	static TorusDecision go(const TorusRouter &at, size_t axis, bool second, const TorusHeader &header,
				const Load &load, uint64_t random) noexcept
	{
		const uint64_t word = word_of(at, header, random);
		Turn turn = at.turn(axis, header.destination[axis]);

		/* One step further one half is shorter, so the packet keeps to it. */
		if (turn == Turn::Either)
			turn = word >> EITHER_BIT & 1 ? Turn::Up : Turn::Down;
		if (turn > Turn::Down) [[unlikely]]
			return {NO_OUTPUT, header.channel, 0};
		return leave(at, axis, turn, second, header, 0, load, word);
	}

	/* By directions, at the first router. */
	template <typename Load>
	static TorusDecision begin(const TorusRouter &at, const TorusHeader &header, const Load &load,
				   uint64_t random) noexcept
	{
		const uint64_t word = word_of(at, header, random);
		const uint16_t to = at.place(header.destination);

		if (std::binary_search(at.lost, at.lost + at.lost_count, to)) [[unlikely]]
			return {NO_OUTPUT, header.channel, header.via};

		const TorusDetour *const end = at.detours + at.detour_count;
		const TorusDetour *const detour = std::lower_bound(
			at.detours, end, to, [](const TorusDetour &a, uint16_t place) { return a.to < place; });
		const uint16_t via =
			detour != end && detour->to == to ? detour->via : usual_via(at, header.destination, word);

		return go_by(at, at.here != at.address(via), false, header, via, load, word);
	}

	/* By directions, at a later router: early ones until the packet is at via. */
	template <typename Load>
	static TorusDecision go_on(const TorusRouter &at, uint32_t in, const TorusHeader &header, const Load &load,
				   uint64_t random) noexcept
	{
		const size_t axis = torus_axis(in);
		const Turn came = in < torus_tile(axis, Turn::Down) ? Turn::Down : Turn::Up;
		const bool early = came == at.direction(axis, true) && at.here != at.address(header.via);

		return go_by(at, early, header.channel, header, header.via, load, word_of(at, header, random), axis);
	}

	/* Where the shorter half of each ring is an early direction the way to via is all of it, else none of it. */
	static uint16_t usual_via(const TorusRouter &at, const TorusAddress &to, uint64_t word) noexcept
	{
		TorusAddress via = at.here;

		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			Turn turn = at.turn(axis, to[axis]);

			if (turn == Turn::Either)
				turn = word >> (EITHER_BIT + axis) & 1 ? Turn::Up : Turn::Down;
			if (turn == at.direction(axis, true))
				via[axis] = to[axis];
		}
		return at.place(via);
	}

	/* To via, or from there, in the first axis that has steps left. @p in axis that the packet is in */
	template <typename Load>
	static TorusDecision go_by(const TorusRouter &at, bool early, bool second, const TorusHeader &header,
				   uint16_t via, const Load &load, uint64_t word, size_t in = TORUS_AXES) noexcept
	{
		const size_t axis = axis_of(at, early ? at.address(via) : header.destination);

		return leave(at, axis, at.direction(axis, early), second && axis == in, header, via, load, word);
	}

	/* Over the seam, and behind it in the same axis, packets are in the second channel. */
	template <typename Load>
	static TorusDecision leave(const TorusRouter &at, size_t axis, Turn turn, bool second,
				   const TorusHeader &header, uint16_t via, const Load &load, uint64_t word) noexcept
	{
		const bool seam = at.here[axis] == (turn == Turn::Up ? at.last[axis] : 0);
		const uint8_t links = at.links[axis][static_cast<size_t>(turn)];

		if (!links) [[unlikely]]
			return {NO_OUTPUT, header.channel, via};
		return {choose(torus_tile(axis, turn), links, header.adaptive, load, word),
			static_cast<uint8_t>(at.channels > 1 && (second || seam)), via};
	}

	static Turn turn_of(size_t axis, uint32_t tile) noexcept
	{
		return tile < torus_tile(axis, Turn::Down) ? Turn::Up : Turn::Down;
	}

	/* The tile opposite, if its link works and leads the same way as the one that was chosen, else this one. */
	template <typename Load>
	static uint8_t stay(const TorusRouter &at, size_t axis, uint32_t opposite, uint8_t chosen,
			    const Load &load) noexcept
	{
		const Turn turn = turn_of(axis, opposite);
		const uint32_t links = at.links[axis][static_cast<size_t>(turn)];
		const bool works = links >> (opposite - torus_tile(axis, turn)) & 1;

		return works && turn == turn_of(axis, chosen) && load(opposite) != LOAD_DOWN
			       ? static_cast<uint8_t>(opposite)
			       : chosen;
	}

	static uint64_t word_of(const TorusRouter &at, const TorusHeader &header, uint64_t random) noexcept
	{
		return choice_word(header.adaptive, random, at.router, header.hash);
	}

	/* One of the tiles whose bits are set: of two random ones the lighter, or by hash; never one that is down. */
	template <typename Load>
	static uint8_t choose(uint32_t tile, uint32_t bits, bool adaptive, const Load &load, uint64_t word) noexcept
	{
		const auto count = static_cast<uint32_t>(std::popcount(bits));
		const uint32_t nth = pick16(word, count);
		uint32_t best = tile + nth_bit(bits, nth);
		uint32_t lightest = load(best);

		if (adaptive && count > 1 && lightest) {
			const uint32_t shift = 1 + pick16(word >> 16, count - 1);
			const uint32_t second = tile + nth_bit(bits, (nth + shift) % count);
			const uint32_t other = load(second);

			if (other < lightest) {
				lightest = other;
				best = second;
			}
		}
		for (uint32_t i = 1; lightest == LOAD_DOWN && i < count; i++) {
			best = tile + nth_bit(bits, (nth + i) % count);
			lightest = load(best);
		}
		return lightest == LOAD_DOWN ? NO_OUTPUT : static_cast<uint8_t>(best);
	}
};

struct TorusDirections;

/** The tables of all routers of a torus. May be moved, not copied: routers point into it. */
class TorusTables
{
public:
	/**
	 * @param machine must pass check(); throws std::invalid_argument with its text if it does not
	 * @param channels of a class, 1 or TORUS_DATELINE_CHANNELS
	 * @param failures links, and routers with all of theirs, that must not be used. Parallel links are taken
	 * first, then the long way round; if that leaves two routers without a way, ways are by directions
	 */
	explicit TorusTables(const topology::Machine &machine, uint8_t channels = TORUS_DATELINE_CHANNELS,
			     const Failures &failures = {});
	TorusTables(TorusTables &&) = default;
	TorusTables &operator=(TorusTables &&) = default;
	TorusTables(const TorusTables &) = delete;
	TorusTables &operator=(const TorusTables &) = delete;

	/** Empty if a machine is a torus of Gemini routers, else one line that tells in what it is none. */
	static std::string check(const topology::Machine &machine);

	const TorusRouter &router(uint32_t router) const noexcept { return routers_[router]; }
	uint32_t routers() const noexcept { return static_cast<uint32_t>(routers_.size()); }
	uint32_t router_at(const TorusAddress &at) const noexcept
	{
		return number_[(size_t{at[0]} * sizes_[1] + at[1]) * sizes_[2] + at[2]];
	}

	/** Can packets of a router get to another one by these tables? */
	bool reaches(uint32_t from, uint32_t to) const noexcept;

	/** Ways are by directions, not by dimensions. */
	bool by_directions() const noexcept { return routers_[0].directions; }

	/** Pairs of routers that have links left, but no way from the first to the second. */
	uint64_t lost() const noexcept { return lost_pairs_; }

	/** Memory of all the tables, without that of the allocator. */
	size_t bytes() const noexcept;

private:
	void count_links(const topology::Machine &machine, const Failures &failures);
	void keep_rings();
	void keep_ring(size_t axis, const std::vector<uint32_t> &ring);
	std::vector<uint32_t> ring_of(size_t axis, TorusAddress at) const;
	void turn_all();
	void turn_line(size_t axis, const TorusAddress &line);
	bool has_links(uint32_t router) const noexcept;
	uint64_t count_lost() const noexcept;
	void go_by_directions(const topology::Machine &machine, const Failures &failures);
	void take(TorusDirections &&ways);

	std::array<uint32_t, TORUS_AXES> sizes_{};
	std::vector<uint32_t> number_; ///< of the router at a place
	std::vector<Turn> turns_;
	std::vector<TorusRouter> routers_;
	std::vector<TorusDetour> detours_;
	std::vector<uint16_t> lost_;
	uint64_t lost_pairs_ = 0;
};

} // namespace aries::routing

#endif
