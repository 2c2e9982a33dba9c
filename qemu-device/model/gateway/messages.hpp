/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between carriers. Little endian, fixed sizes; of one SEGMENT_VERSION, which the wire has compared. */
#ifndef ARIES_GATEWAY_MESSAGES_HPP
#define ARIES_GATEWAY_MESSAGES_HPP

#include <cstdint>

#include "fabric/carry_area.hpp"

namespace aries
{

enum class MessageKind : uint32_t {
	Request = 1, /* a CarriedRequest, then its payload */
	Response,    /* a CarriedResponse, then its data */
	Nodes,       /* NodeNews, one behind the other */
	Engines,     /* EngineNews */
	Instances,   /* InstanceNews */
	Network,     /* NetworkNews */
};

struct MessageHeader {
	uint32_t kind;     /* MessageKind */
	uint32_t reserved; /* 0 */
	uint64_t id;       /* of the request, chosen by its sender */
};

/** State of a node, for hosts that it does not live on. */
struct NodeNews {
	uint32_t node;
	uint32_t state; /* MemberState */
	uint32_t incarnation;
	uint32_t generation;
	uint32_t online; /* OnlineBit, without ONLINE_CARRIED */
	uint32_t place;

	bool operator==(const NodeNews &) const = default;
};

/** State of a collective engine, for the hosts of its neighbours: words of CeSlot. */
struct EngineNews {
	uint32_t node;
	uint32_t engine;
	uint32_t serial;
	uint32_t broken;
	uint64_t ctl;
	uint64_t parent;
	uint32_t parent_edge;
	uint32_t reserved;
	uint64_t child[ARIES_CE_CHILDREN];
	uint32_t child_edge[ARIES_CE_CHILDREN];

	bool operator==(const EngineNews &) const = default;
};

/** A process that collectives rely on, and the key of its domain. */
struct InstanceNews {
	uint32_t node;
	uint32_t index;
	uint64_t word; /* NodeSlot::ce_instance */
	uint64_t key;  /* NodeSlot::ptag_key that it names */

	bool operator==(const InstanceNews &) const = default;
};

enum class NetworkPart : uint32_t { Link = 1, Nic, Time, Quiesce };

/** A change of the network, which every host makes in its own copy of the network. */
struct NetworkNews {
	uint32_t part;   /* NetworkPart */
	uint32_t host;   /* where the change was made; of two changes with one number that of the higher host counts */
	uint64_t number; /* of the change: higher than all numbers that the host knew; 0 for a quiesce */
	uint32_t at;     /* Link: the router with the lower number, Nic: the node */
	uint32_t tile;   /* Link */
	/*
	 * 0 is the state of a new network. Link: down 0, dead lanes 15:8, bit error rate as a float 63:32. Nic: cut
	 * off 0. Time: rate of modelled time in 2^-32, less 1, signed, 62:0, completions are held 63. Quiesce: ns.
	 */
	uint64_t value;

	bool operator==(const NetworkNews &) const = default;
};

static_assert(sizeof(NetworkNews) == 32);
static_assert(sizeof(EngineNews) == 424 && sizeof(InstanceNews) == 24);
static_assert(sizeof(MessageHeader) == 16 && sizeof(NodeNews) == 24);

} // namespace aries

#endif
