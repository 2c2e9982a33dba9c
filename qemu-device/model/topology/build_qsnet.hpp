// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Machines of QsNetIII: folded Clos networks of Elite5 switches of 32 links, in chassis (Q01 to Q03, Q33 to Q38).
 *
 * A node switch has M links down to nodes and M up. It is a chassis of two stages, eight cards of 16 links down and
 * eight of 16 links up, so that M is 128 (Q37); or one switch in a chassis of blades, so that M is 16 (Q38). N node
 * switches are joined by M top switches of N links each, uplink t of every one by top switch t (Q36). Two need none.
 * Up to 32 of them a top switch is a card, or a part of one that several share (Q24, Q35); up to 128 it is a chassis
 * of two stages, or a part of that.
 *
 * A node has one link, or two, or two adapters with two each (Q25): all at one router, or each at another chassis.
 */
#ifndef ARIES_TOPOLOGY_BUILD_QSNET_HPP
#define ARIES_TOPOLOGY_BUILD_QSNET_HPP

#include <cstdint>
#include <string>

#include "topology/machine.hpp"

namespace aries::topology
{

struct QsnetShape {
	uint32_t nodes = 128;
	uint32_t links = 1;  ///< of a node: 1, 2 or 4
	bool spread = false; ///< the links of a node are at as many chassis
	bool blades = false; ///< node switches of one switch each, beside 16 nodes in a chassis of blades
	uint32_t top_switches =
		0; ///< if there are fewer than M, for less than full bandwidth; each takes a link of all
};

/** How top switches are built. */
enum class QsnetTop : uint8_t {
	None,    ///< one node switch
	Direct,  ///< two, joined by cables
	Cards,   ///< Elite5 switches, eight in a chassis
	Chassis, ///< of two stages, as node switches are
};

/** What a machine is built of (Table I of the source, Q33), by its rules alone. */
struct QsnetParts {
	uint32_t node_switches = 0; ///< chassis
	uint32_t uplinks = 0;       ///< M: of a node switch, if it has all top switches
	QsnetTop top = QsnetTop::None;
	uint32_t top_switches = 0;
	uint32_t shared = 0;    ///< top switches that share a card or a chassis
	uint32_t top_units = 0; ///< cards or chassis with top switches
	uint32_t top_chassis = 0;
	uint32_t cables = 0; ///< those of nodes, which blades do not need, and those between switches
	uint32_t stages = 0; ///< of Elite5 switches
};

/** Empty if the shape can be built, else one line that names the broken rule. */
std::string check_qsnet(const QsnetShape &shape);

/** Of a shape that passes check_qsnet(). */
QsnetParts parts_of(const QsnetShape &shape);

/** @throws std::invalid_argument with the text of check_qsnet() */
Machine build_qsnet(const QsnetShape &shape);

} // namespace aries::topology

#endif
