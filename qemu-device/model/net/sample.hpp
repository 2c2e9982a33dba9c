// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What is counted and known of a fabric at one time, as numbers. Monitors and terminals read a fabric in this form,
 * each in its own way; a sample takes no lock of the fabric, and costs members nothing but the cache lines that it
 * reads.
 */
#ifndef ARIES_NET_SAMPLE_HPP
#define ARIES_NET_SAMPLE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "net/fabric_view.hpp"
#include "netlink/tile_counters.hpp"

namespace aries::net
{

/** A tile of a router: one end of a link, or the way to and from NICs. */
struct TileSample {
	LinkName name;
	std::string router;     ///< cname
	const char *kind;       ///< of the link: "green", "black" or "blue"; "processor"
	bool connected;         ///< a link is there; false for tiles of NICs, whose @ref link says nothing
	Network::LinkView link; ///< as the router at this end has it
	TileCounters counters;  ///< since the fabric was made
};

/** Whoever is or was a member. */
struct NodeSample {
	uint32_t node;
	std::string cname;
	uint32_t place;    ///< of the machine's nodes
	std::string state; ///< "joining", "alive", "gone", "dead", "left", "damaged"
	bool connected;    ///< the link between NIC and router is up
};

struct Sample {
	double modelled_ahead_s; ///< modelled time ahead of the host's clock
	double modelled_rate;    ///< modelled seconds in a second of the host
	Network::QuiesceView quiesce;
	uint32_t tables; ///< generation of the route tables
	uint32_t nodes, routers, groups;
	std::vector<NodeSample> members;
	std::vector<TileSample> tiles; ///< connected ones, and those of NICs, of routers that have state
};

/** Now. Routers at which nothing was ever booked, counted or changed have no tiles here. */
Sample sample_of(const FabricView &view);

/** In whose cycles stalls are counted (P02). */
inline constexpr double ROUTER_HZ = 875e6;

/** Sum over the virtual channels, from an element of enum aries_rtr_counter on. */
uint64_t sum_of(const TileCounters &counters, uint32_t first) noexcept;

/** Bytes of one flit of a tile: six, and on a link, where nine flits go as ten, a ninth more (P02, P07). */
double flit_bytes(const TileSample &tile) noexcept;

} // namespace aries::net

#endif
