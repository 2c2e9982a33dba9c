// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A machine as data: routers, their tiles, the links between them, the places of nodes. Nothing here is a constant of
 * one chip; builders (build_*.hpp) and files (topology-yaml) make machines, Wiring answers questions about them.
 */
#ifndef ARIES_TOPOLOGY_MACHINE_HPP
#define ARIES_TOPOLOGY_MACHINE_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace aries::topology
{

inline constexpr uint32_t NO_CABLE = UINT32_MAX;
inline constexpr size_t MAX_AXES = 3;
inline constexpr uint32_t MAX_NICS = 32;       ///< bits of Tile::nic_mask
inline constexpr uint32_t MAX_TILES = 1024;    ///< of a router
inline constexpr uint64_t MAX_LINKS = 1 << 24; ///< of a machine that a builder makes: 540 MB

enum class TileRole : uint8_t { Network, Processor, Unused };

/** Whether the links of a class stay inside a group. */
enum class Scope : uint8_t { Local, Global };

enum class Medium : uint8_t { Backplane, Copper, Optical };

/** What the links of one colour or dimension have in common. */
struct LinkClass {
	std::string name;
	Scope scope = Scope::Local;
	Medium medium = Medium::Backplane;
	unsigned lanes = 1;          ///< of each direction
	double gbit_per_lane = 0;    ///< raw
	double default_length_m = 0; ///< of a link whose length nobody gave

	/** Raw GB/s of one direction with @p of_lanes lanes. */
	double gbyte_per_s(unsigned of_lanes) const { return of_lanes * gbit_per_lane / 8; }

	bool operator==(const LinkClass &) const = default;
};

struct Tile {
	TileRole role = TileRole::Unused;
	uint8_t link_class = 0; ///< of a network tile
	uint32_t nic_mask = 0;  ///< NICs that a processor tile serves (T04)

	bool operator==(const Tile &) const = default;
};

struct RouterType {
	std::string name;
	unsigned rows = 0;
	unsigned columns = 0;
	std::vector<Tile> tiles; ///< row by row
	unsigned nics = 0;       ///< of each router
	unsigned request_channels = 0;
	unsigned response_channels = 0;
	double clock_mhz = 0;

	bool operator==(const RouterType &) const = default;
};

/** Where a router is: its group, and coordinates in the order of Machine::axes. */
struct RouterPlace {
	uint32_t group = 0;
	std::array<uint16_t, MAX_AXES> at{};

	bool operator==(const RouterPlace &) const = default;
	bool operator<(const RouterPlace &other) const
	{
		return group != other.group ? group < other.group : at < other.at;
	}
};

struct LinkEnd {
	uint32_t router = 0;
	uint32_t tile = 0;

	bool operator==(const LinkEnd &) const = default;
};

/** A link of both directions. */
struct Link {
	LinkEnd end[2];
	uint8_t link_class = 0;
	uint8_t lanes = 0; ///< of each direction; fewer than those of the class if the link is degraded
	float length_m = 0;
	uint32_t cable = NO_CABLE; ///< links with the same number share a cable; NO_CABLE on a backplane
	float gbit_per_lane = 0;   ///< raw, of a link whose lanes are not as fast as those of its class; else 0

	bool operator==(const Link &) const = default;
};

struct NodePlace {
	uint32_t router = 0;
	uint32_t nic = 0;

	bool operator==(const NodePlace &) const = default;
};

/** Another place of a node that has links to several routers. */
struct FurtherPlace {
	uint32_t node = 0;
	NodePlace at;

	bool operator==(const FurtherPlace &) const = default;
};

struct Machine {
	std::string name;
	std::string family; ///< "aries", "dragonfly", "torus", ...: what a route table builder looks at
	RouterType router_type;
	std::vector<LinkClass> classes;
	std::vector<std::string> axes; ///< names of the coordinates of a router inside its group
	std::vector<RouterPlace> routers;
	std::vector<std::string> names; ///< of routers, as they are called there; none if nobody names them
	std::vector<Link> links;
	std::vector<NodePlace> nodes;
	std::vector<FurtherPlace> further; ///< of nodes, besides those above; none in most machines
	uint32_t groups = 0;

	/** Raw Gbit/s of each lane of one of its links. */
	double gbit_of(const Link &link) const
	{
		return link.gbit_per_lane > 0 ? double{link.gbit_per_lane} : classes[link.link_class].gbit_per_lane;
	}

	/** Raw GB/s of one direction of one of its links. */
	double gbyte_per_s(const Link &link) const { return link.lanes * gbit_of(link) / 8; }

	bool operator==(const Machine &) const = default;
};

/** What a fault is about; index counts in the list of that name, tiles in RouterType::tiles. */
enum class Part : uint8_t { Machine, Class, Tile, Router, Link, Node, Further };

struct Fault {
	Part part = Part::Machine;
	size_t index = 0;
	std::string rule; ///< one line; empty if there is no fault
};

/** The first broken rule, and where. */
Fault find_fault(const Machine &machine);

/** Empty if the machine can be used, else one line that names the broken rule. */
std::string validate(const Machine &machine);

} // namespace aries::topology

#endif
