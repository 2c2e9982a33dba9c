/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Messages between carriers. Little endian, fixed sizes; of one SEGMENT_VERSION, which the wire has compared. */
#ifndef ARIES_GATEWAY_MESSAGES_HPP
#define ARIES_GATEWAY_MESSAGES_HPP

#include <cstdint>

#include "fabric/carry_area.hpp"

namespace aries
{

enum class MessageKind : uint32_t {
	Request = 1, /* a CarriedRequest, then what it carries */
	Response,    /* a CarriedResponse, then what it brings */
	Nodes,       /* NodeNews, one behind the other */
};

struct MessageHeader {
	uint32_t kind;     /* MessageKind */
	uint32_t reserved; /* 0 */
	uint64_t id;       /* of the request, of who has sent that */
};

/** What a node is like, for the hosts that it does not live on. */
struct NodeNews {
	uint32_t node;
	uint32_t state; /* MemberState */
	uint32_t incarnation;
	uint32_t generation;
	uint32_t online; /* OnlineBit, without ONLINE_CARRIED */
	uint32_t place;

	bool operator==(const NodeNews &) const = default;
};

static_assert(sizeof(MessageHeader) == 16 && sizeof(NodeNews) == 24);

inline constexpr size_t CARRIED_MESSAGE_MAX = sizeof(MessageHeader) + sizeof(CarriedRequest) + CARRY_PAYLOAD;

} // namespace aries

#endif
