// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The routing decision of one router for one packet: output tile, virtual channel, and what changes in the header.
 * A pure function of tables, input tile, header, loads and random bits; it knows nothing of queues. The device and
 * the simulator call it once for every hop. Documentation/routing.md tells the whole.
 */
#ifndef ARIES_ROUTER_DECIDE_HPP
#define ARIES_ROUTER_DECIDE_HPP

#include <cstdint>
#include <limits>

#include "router/routing_mode.hpp"
#include "router/tables.hpp"

namespace aries::routing
{

/** Load of an output tile that must not be used: its link is down (R14). */
inline constexpr uint32_t LOAD_DOWN = UINT32_MAX;

enum class Phase : uint8_t {
	Down, ///< towards the destination: minimal, or behind the root
	Up,   ///< towards the root
};

/** What a packet carries for routers. @p root and @p phase are written by the first router. */
struct Header {
	Address destination;
	Address root;
	uint32_t hash; ///< of header fields; equal ones take equal ways in the hashed modes (R12)
	RoutingMode mode;
	uint8_t nic;     ///< of the destination router
	uint8_t channel; ///< that the packet came in; at its first router the lowest of its class
	Phase phase;
};

/** What to do with a packet. */
struct Decision {
	Address root;
	uint8_t tile;    ///< to leave by; NO_OUTPUT if there is no way
	uint8_t channel; ///< of the link, and of the input queue behind it
	Phase phase;
};

/** The header as the packet leaves. */
constexpr void apply(const Decision &decision, Header &header) noexcept
{
	header.root = decision.root;
	header.channel = decision.channel;
	header.phase = decision.phase;
}

/** Loads in an array, one number for each tile. Any callable of a tile does as well. */
template <typename T> struct LoadArray {
	const T *load;

	uint32_t operator()(uint32_t tile) const noexcept { return load[tile]; }
};

/** A way to begin with: a tile, by the root unless that is NO_ROOT. */
struct Candidate {
	uint8_t tile;
	Address root;
};

/** One of @p count values from the low 16 bits of a random word. */
constexpr uint32_t pick16(uint64_t random, uint32_t count) noexcept
{
	return (static_cast<uint32_t>(random & 0xffff) * count) >> 16;
}

/** Two different ones of the ports of an entry, in random order; twice the same if there is but one. */
struct PortPair {
	uint8_t first, second;
};

inline PortPair pick_two(const RouterTables &at, Ports entry, uint64_t random) noexcept
{
	const uint8_t *list = at.ports + entry.first;
	const uint32_t i = pick16(random, entry.count);

	if (entry.count == 1)
		return {list[0], list[0]};

	const uint32_t j = pick16(random >> 16, entry.count - 1u);

	return {list[i], list[j + (j >= i)]};
}

/** The minimal entry for a router or for ANY_ROUTER of a group; @p to is not the router itself. */
inline const Ports &minimal_entry(const RouterTables &at, Address to) noexcept
{
	return to.group == at.here.group ? at.local[to.index] : at.global[to.group];
}

/** A tile of the entry that is not down, from a place in its list on, or NO_OUTPUT. For when the chosen ones are. */
template <typename Load>
[[gnu::noinline]] uint8_t any_up(const RouterTables &at, Ports entry, uint32_t from, Load load) noexcept
{
	for (uint32_t i = 0; i < entry.count; i++) {
		const uint8_t tile = at.ports[entry.first + (from + i) % entry.count];

		if (load(tile) != LOAD_DOWN)
			return tile;
	}
	return NO_OUTPUT;
}

/** The tile of an entry to take: the lighter of two if @p adaptive, else the one that @p word names. */
template <typename Load>
[[gnu::always_inline]] inline uint8_t choose_port(const RouterTables &at, Ports entry, bool adaptive, uint64_t word,
						  const Load &load, uint32_t &lightest) noexcept
{
	lightest = LOAD_DOWN;
	if (!entry.count) [[unlikely]]
		return NO_OUTPUT;

	const uint8_t *const list = at.ports + entry.first;
	uint8_t tile = list[pick16(word, entry.count)];

	lightest = load(tile);
	/* Nothing is lighter than a quiet one. */
	if (adaptive && lightest) {
		const uint8_t second = pick_two(at, entry, word).second;
		const uint32_t other = load(second);

		if (other < lightest) {
			lightest = other;
			tile = second;
		}
	}
	if (lightest != LOAD_DOWN) [[likely]]
		return tile;
	tile = any_up(at, entry, pick16(word, entry.count), load);
	if (tile != NO_OUTPUT)
		lightest = load(tile);
	return tile;
}

/** Can a packet from @p at to @p to go by this root? Both halves of the way must exist and lead elsewhere. */
bool root_serves(const RouterTables &at, Address to, Address root) noexcept;

/** A root by @p random bits, uniform over all that serve but @p other; NO_ROOT if there is none (R03, R04). */
Address search_root(const RouterTables &at, Address to, Address other, uint32_t random) noexcept;

inline Address pick_root(const RouterTables &at, Address to, Address other, uint32_t random) noexcept
{
	const Common &net = *at.common;

	/* The case of nearly all packets: the machine is whole, the root is neither end. */
	if (to.group == at.here.group) {
		if (at.root_count > 3) [[likely]] {
			const Address root{to.group, at.roots[pick_of(random, at.root_count)]};

			if (root != at.here && root != to && root != other) [[likely]]
				return root;
		}
	} else if (net.all_linked && net.root_rule == RootRule::Router) [[likely]] {
		const Address root = net.roots[pick_of(random, static_cast<uint32_t>(net.roots.size()))];

		if (root != at.here && root != to && root != other) [[likely]]
			return root;
	}
	return search_root(at, to, other, random);
}

/** The two non-minimal candidates of a packet at its first router, by different roots if there are two (R06). */
struct RootPair {
	Candidate first, second;
};

inline RootPair pick_roots(const RouterTables &at, Address to, uint64_t word) noexcept
{
	const uint64_t random = mix64(word + 1);
	RootPair pair{{NO_OUTPUT, NO_ROOT}, {NO_OUTPUT, NO_ROOT}};

	pair.first.root = pick_root(at, to, NO_ROOT, static_cast<uint32_t>(random));
	if (pair.first.root == NO_ROOT) [[unlikely]]
		return pair;
	/* A router that is cut off has no way to any. */
	if (!minimal_entry(at, pair.first.root).count) [[unlikely]]
		return {{NO_OUTPUT, NO_ROOT}, {NO_OUTPUT, NO_ROOT}};
	pair.first.tile = pick_two(at, minimal_entry(at, pair.first.root), word >> 32).first;
	pair.second.root = pick_root(at, to, pair.first.root, static_cast<uint32_t>(random >> 32));
	if (pair.second.root != NO_ROOT) [[likely]]
		pair.second.tile = pick_two(at, minimal_entry(at, pair.second.root), word >> 48).first;
	return pair;
}

/**
 * The lighter of the two non-minimal candidates, if it is lighter than @p limit with the bias; else @p best.
 * Between equal ones the first is taken, which is as random as the other.
 */
template <typename Load>
Candidate lighter_root(const RouterTables &at, Address to, uint64_t word, Load load, int64_t limit,
		       Candidate best) noexcept
{
	const RootPair roots = pick_roots(at, to, word);

	for (const Candidate &by : {roots.first, roots.second}) {
		if (by.root == NO_ROOT)
			continue;

		const uint32_t weight = load(by.tile);

		if (weight != LOAD_DOWN && weight < limit) {
			limit = weight;
			best = by;
		}
	}
	return best;
}

/**
 * The way by the root that @p word names, whatever the load. For the modes that are not adaptive, and when no minimal
 * way is left.
 */
template <typename Load> Candidate fixed_root(const RouterTables &at, Address to, uint64_t word, Load load) noexcept
{
	const RootPair roots = pick_roots(at, to, word);

	for (const Candidate &by : {roots.first, roots.second}) {
		uint32_t weight;

		if (by.root == NO_ROOT)
			continue;

		const uint8_t tile = choose_port(at, minimal_entry(at, by.root), false, word >> 32, load, weight);

		if (tile != NO_OUTPUT)
			return {tile, by.root};
	}
	return {NO_OUTPUT, NO_ROOT};
}

/** What packets have in common that take equal ways: their destination in the ordered mode, else their hash (R12). */
constexpr uint32_t flow_of(const Header &header) noexcept
{
	const Address to = header.destination;

	return header.mode.routing == Routing::InOrder ? (uint32_t{to.group} << 16 | to.index) * 8 + header.nic
						       : header.hash;
}

/**
 * The word of bits to choose by: random ones in the adaptive modes. In the others a word that is the same for all
 * packets of a flow, and differs from router to router, so that equal choices do not meet again further on (R12).
 */
constexpr uint64_t choice_word(bool adaptive, uint64_t random, uint32_t router, uint32_t flow) noexcept
{
	return adaptive ? random : mix64(uint64_t{router} << 32 | flow);
}

/** The choice at the first router: minimal or by a root, once for the whole way (P13). */
template <typename Load>
Candidate choose_way(const RouterTables &at, const Header &header, Load load, uint64_t word) noexcept
{
	const Address to = header.destination;
	const bool adaptive = header.mode.routing == Routing::Adaptive;

	if (header.mode.routing == Routing::NonminimalHash) {
		const Candidate by = fixed_root(at, to, word, load);

		if (by.tile != NO_OUTPUT)
			return by;
	}

	uint32_t lightest;
	const uint8_t tile = choose_port(at, minimal_entry(at, to), adaptive, word, load, lightest);

	if (tile == NO_OUTPUT) [[unlikely]] {
		const Candidate by = adaptive ? lighter_root(at, to, word, load, std::numeric_limits<int64_t>::max(),
							     {NO_OUTPUT, NO_ROOT})
					      : Candidate{NO_OUTPUT, NO_ROOT};

		return by.tile != NO_OUTPUT ? by : fixed_root(at, to, word, load);
	}

	/* Nothing is lighter than a quiet way, whatever the bias (R11). */
	if (!adaptive || lightest == 0)
		return {tile, NO_ROOT};

	const int64_t limit = int64_t{lightest} - at.common->bias[to.group != at.here.group][header.mode.bias];

	/* No load is below zero: spare the random numbers. */
	if (limit <= 0)
		return {tile, NO_ROOT};
	return lighter_root(at, to, word, load, limit, {tile, NO_ROOT});
}

/** Is this router the root of the packet? */
constexpr bool is_root(Address here, Address root) noexcept
{
	return here.group == root.group && (root.index == here.index || root.index == ANY_ROUTER);
}

/** The phase in which a packet begins, by the root that its first router has chosen. */
constexpr Phase first_phase(Address root) noexcept
{
	return root == NO_ROOT ? Phase::Down : Phase::Up;
}

/**
 * Whether a packet goes on towards its root from a router that is neither its first nor its last. A root that can no
 * more be reached is given up: tables have changed on the way.
 */
inline bool goes_up(const RouterTables &at, Phase phase, Address root) noexcept
{
	return phase == Phase::Up && !is_root(at.here, root) && minimal_entry(at, root).count;
}

/**
 * The virtual channel in which it leaves such a router (P13, R16).
 *
 * @param in tile by which the packet came, in @p channel
 * @param turns its phase changes
 */
inline uint8_t next_channel(const Common &net, uint32_t in, bool turns, uint8_t channel) noexcept
{
	return net.next_channel[net.kind[in] == PortKind::Global][turns][channel];
}

/** In the destination's router: a processor tile of the NIC. */
template <typename Load>
[[gnu::always_inline]] inline Decision decide_eject(const RouterTables &at, const Header &header, const Load &load,
						    bool adaptive, uint64_t word) noexcept
{
	uint32_t ignored;

	return {header.root, choose_port(at, at.eject[header.nic], adaptive, word, load, ignored), header.channel,
		Phase::Down};
}

/** In the first router, for another one. */
template <typename Load>
[[gnu::always_inline]] inline Decision decide_first(const RouterTables &at, const Header &header, const Load &load,
						    uint64_t word) noexcept
{
	const Candidate way = choose_way(at, header, load, word);

	return {way.root, way.tile, header.channel, first_phase(way.root)};
}

/** In each router between these, where the packet came by tile @p in. */
template <typename Load>
[[gnu::always_inline]] inline Decision decide_next(const RouterTables &at, uint32_t in, const Header &header,
						   const Load &load, bool adaptive, uint64_t word) noexcept
{
	const bool up = goes_up(at, header.phase, header.root);
	const Phase phase = up ? Phase::Up : Phase::Down;
	const Ports &entry = minimal_entry(at, up ? header.root : header.destination);
	uint32_t ignored;

	return {header.root, choose_port(at, entry, adaptive, word, load, ignored),
		next_channel(*at.common, in, phase != header.phase, header.channel), phase};
}

/**
 * Decide about one packet in one router.
 *
 * @param at tables of the router
 * @param in tile by which the packet came: a processor tile if this is its first router
 * @param header of the packet, to a router and NIC that exist; apply() the decision to it
 * @param load callable: load of an output tile as the router knows it, LOAD_DOWN for one not to be used
 * @param random bits for this decision alone; the modes that are not adaptive do not look at them
 */
template <typename Load>
[[gnu::always_inline]] inline Decision decide(const RouterTables &at, uint32_t in, const Header &header,
					      const Load &load, uint64_t random) noexcept
{
	const bool adaptive = header.mode.routing == Routing::Adaptive;
	const uint64_t word = choice_word(adaptive, random, at.router, flow_of(header));

	if (header.destination == at.here)
		return decide_eject(at, header, load, adaptive, word);
	if (at.common->kind[in] == PortKind::Processor)
		return decide_first(at, header, load, word);
	return decide_next(at, in, header, load, adaptive, word);
}

} // namespace aries::routing

#endif
