// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
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

enum class Victim : uint8_t { Links, Router, Node, Lanes };

/** One thing that happens before a cycle. */
struct Incident {
	uint32_t cycle = 0;
	Victim victim = Victim::Links;
	bool up = false;             ///< it comes back
	uint32_t number = 0;         ///< of the router or node
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
 * CYCLE:link:A-B for all links of two routers, CYCLE:link:A.TILE for one, CYCLE:router:R, CYCLE:node:N; for lanes
 * CYCLE:A-B:LANES or CYCLE:A.TILE:LANES.
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
	explicit FaultState(const topology::Machine &machine);

	/** What changes by an incident: links that go out of use or come back, nodes likewise. */
	struct Changed {
		std::vector<uint32_t> links, nodes;
	};

	Changed apply(const Incident &incident);
	routing::Failures failures() const;

private:
	bool count(uint8_t &reasons, bool up) const noexcept;

	const topology::Machine &machine_;
	std::vector<uint8_t> links_;
	std::vector<uint8_t> routers_;
	std::vector<uint8_t> nodes_;
};

} // namespace aries::sim

#endif
