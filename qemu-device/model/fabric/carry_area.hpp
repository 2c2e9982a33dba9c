/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Format of requests for nodes of other hosts, in the segment and between hosts. Words have fixed sizes and are little
 * endian. A change of their meaning changes SEGMENT_VERSION, on which gateways must agree, too.
 */
#ifndef ARIES_FABRIC_CARRY_AREA_HPP
#define ARIES_FABRIC_CARRY_AREA_HPP

#include "fabric/layout.hpp"

namespace aries
{

/** Kinds of carried requests. */
enum class CarriedKind : uint8_t {
	Put = 1,
	Get,
	Amo,
	FetchAmo,
	CqWrite,
	BlockPut, /* a piece of a block transfer, or of a send that has found a receive */
	BlockGet,
	BlockEvent, /* the remote event after the last piece */
	Match,      /* a send looks for a receive */
	Finish,     /* the message of the send has arrived */
	Return,     /* the send has failed: the receive is posted again */
	Contribute, /* to a collective engine; the response is the outcome */
	Partial, /* contribution of a child engine; its gateway answers the sender at once and delivers the outcome */
	Outcome, /* of a contribution, for the gateway of the parent engine, which sends the response */
};

enum CarriedFlag : uint8_t {
	CARRIED_FLAGGED = 1, /* of a put: the flag is stored after the data */
	CARRIED_EVENT = 2,   /* the memory domain's queue gets an event */
};

/** A posted receive that a send has taken. */
struct CarriedClaim {
	uint64_t state; /* 0: none */
	uint64_t offset;
	uint32_t index;
	uint32_t event;
	uint32_t ecc;
	uint16_t mdh;
	uint16_t reserved;
};

struct CarriedRequest {
	uint8_t kind;  /* CarriedKind */
	uint8_t flags; /* CarriedFlag */
	uint8_t type;  /* of events, 2 bits */
	uint8_t op;    /* of the descriptor, for error events */
	uint16_t mdh;
	uint16_t amo;    /* command of an atomic */
	uint32_t source; /* node that gets the response */
	uint32_t target;
	uint32_t key;
	uint32_t event; /* data of the remote event */
	uint32_t index; /* FMA descriptor of the source */
	uint32_t bytes; /* of the range; of the word of an atomic */
	uint32_t at;    /* where in the range this piece begins */
	uint32_t part;  /* bytes of the piece: carried by puts, asked for by gets; at most CARRY_PAYLOAD */
	uint32_t hash;  /* of the header fields, by which hashed modes choose ways */
	uint16_t dlvr_mode;
	uint16_t reserved;
	uint64_t offset;
	uint64_t flag_offset;
	uint64_t flag_value;
	uint64_t operand[2];
	uint64_t depart_ns; /* modelled time of departure; between hosts: the age, signed */
	CarriedClaim claim; /* of sends */
};

enum ServedFlag : uint8_t {
	SERVED_OVERRUN = 1,  /* the remote event has found no room */
	SERVED_HIT = 2,      /* the word was in the AMO cache */
	SERVED_WALKED = 4,   /* a translation was not in the PTE cache */
	SERVED_RAN = 8,      /* an atomic has kept the unit of the target busy */
	SERVED_OUTCOME = 16, /* has the outcome of a collective; otherwise the contribution is refused */
};

struct CarriedResponse {
	uint8_t status; /* ARIES_ST_* */
	uint8_t flags;  /* ServedFlag */
	uint16_t reserved;
	uint32_t bytes;   /* of data behind the response */
	uint32_t turn_ns; /* modelled time from the request's departure until its last response leaves the target, */
	uint32_t back_ns; /* and until it is back, as the target's host has booked them; 0: no packets */
	uint64_t fetched;
	CarriedClaim claim; /* of a match */
};

static_assert(sizeof(CarriedClaim) == 32 && sizeof(CarriedRequest) == 128 && sizeof(CarriedResponse) == 56);

inline constexpr uint32_t CARRY_PAYLOAD = 65536;
inline constexpr uint32_t CARRY_SLOTS = 2048; /* a NIC has 1,024 packets outstanding, and one operation a processor */
inline constexpr uint32_t CARRY_SMALL = 64;   /* payload that needs no heap */
inline constexpr uint32_t CARRY_UNIT = 1024;  /* of the heap */
inline constexpr uint32_t CARRY_UNITS = 1024;

/**
 * A request, and later its response. The initiator fills the slot and issues the slot's number; then the slot belongs
 * to the gateway until the gateway answers the number.
 */
struct alignas(64) CarrySlot {
	CarriedRequest request;
	CarriedResponse response;
	uint32_t payload;           /* offset in the heap of data that are not small, in both directions */
	uint32_t room;              /* bytes there */
	uint8_t small[CARRY_SMALL]; /* small data: first of the request, then of the response */
};

/**
 * Requests of a node to other hosts. Only the initiator issues and only the gateway answers, so there is no lock that a
 * dead process could keep. Either end may die: @key names the lives of both for which the contents are valid. A gateway
 * that reads its own @key within a flight at the initiator may use the area until the end of the flight.
 */
struct alignas(4096) CarryArea {
	std::atomic<uint64_t> key;      /* incarnation of the gateway << 32 | CarryBlock::carry_life; 0: not in use */
	std::atomic<uint32_t> issued;   /* requests issued in this incarnation */
	std::atomic<uint32_t> answered; /* requests answered in this incarnation */
	std::atomic<uint32_t> bell;     /* futex of the initiator: counts answers */
	std::atomic<uint32_t> sleeping; /* the initiator waits for the bell */
	std::atomic<uint16_t> issue[CARRY_SLOTS];
	std::atomic<uint16_t> answer[CARRY_SLOTS];
	CarrySlot slot[CARRY_SLOTS];
	uint8_t heap[CARRY_UNIT * CARRY_UNITS];
};

constexpr uint64_t carry_key(uint64_t gateway_member, uint32_t life) noexcept
{
	return gateway_member >> 32 << 32 | life;
}

} // namespace aries

#endif
