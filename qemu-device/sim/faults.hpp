// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What fails and comes back in mid-run (R14, P17): links, routers, nodes, lanes of links.
 */
#ifndef ARIES_SIM_FAULTS_HPP
#define ARIES_SIM_FAULTS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"
#include "router/table_builder.hpp"

namespace aries::sim
{

enum class Victim : uint8_t { Links, NodeLink, Router, Node, Lanes };

/** One thing that happens before a cycle. */
struct Incident {
	uint32_t cycle = 0;
	Victim victim = Victim::Links;
	bool up = false;             ///< it comes back
	uint32_t number = 0;         ///< of the router or node; of a link to a node its place at the switch
	uint32_t lanes = 0;          ///< that the links have from now on
	std::vector<uint32_t> links; ///< of the machine
	std::string text;            ///< as it was said

	bool operator<(const Incident &other) const noexcept { return cycle < other.cycle; }
};

/** Route tables were made anew. */
struct Rebuild {
	uint32_t cycle;
	size_t cut_routers;
	size_t cut_groups; ///< pairs
};

enum class Change : uint8_t { Fail, Repair, Lanes };

/**
 * CYCLE:link:A-B for all links of two routers, CYCLE:link:A.TILE for one, of QsNetIII also to a node, CYCLE:router:R,
 * CYCLE:node:N; for lanes CYCLE:A-B:LANES or CYCLE:A.TILE:LANES.
 * @throws std::invalid_argument with one line if it is none of these, or about something that is not there
 */
Incident parse_incident(Change change, const std::string &text, const topology::Machine &machine);

/** Empty if these can happen in this order in a run of so many cycles, else one line that names the broken rule. */
std::string check_incidents(const std::vector<Incident> &incidents, const topology::Machine &machine,
			    const Layout &layout, const Parameters &parameters, uint32_t cycles);

/** What is out of use, by how many reasons: a link may have failed, and the routers at its ends. */
class FaultState
{
public:
	/** Both must stay. */
	FaultState(const topology::Machine &machine, const Layout &layout);

	/** What changes by an incident: links that go out of use or come back, places of links to nodes, nodes. */
	struct Changed {
		std::vector<uint32_t> links, ports, nodes;
	};

	/** A node is out of use as well if all of its links are. */
	Changed apply(const Incident &incident);
	routing::Failures failures() const;

	/** Places of nodes that are in use, to which no link works. */
	std::vector<topology::NodePlace> cut_places() const;

private:
	bool count(uint8_t &reasons, bool up) const noexcept;
	bool is_cut(uint32_t node, uint32_t router) const noexcept;
	bool is_cut(uint32_t node) const noexcept;
	void apply_to_ports(const Incident &incident, Changed &changed);
	void apply_to_nodes(const Incident &incident, Changed &changed);

	const topology::Machine &machine_;
	const Layout &layout_;
	std::vector<uint8_t> links_;
	std::vector<uint8_t> ports_; ///< by place
	std::vector<uint8_t> routers_;
	std::vector<uint8_t> nodes_;
	std::vector<bool> cut_; ///< by node
};

} // namespace aries::sim

#endif
