/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of the fabric's segment file. Plain words and atomics, no pointers;
 * all zero is a valid state. A node's slot is written by its owner unless the
 * comment of a word says otherwise. A change of meaning changes SEGMENT_VERSION.
 */
#ifndef ARIES_FABRIC_LAYOUT_HPP
#define ARIES_FABRIC_LAYOUT_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "aries_hw.h"
#include "aries_model.h"
#include "aries_regs.h"

namespace aries
{

inline constexpr uint64_t SEGMENT_MAGIC = 0x3153454952415347ull;
inline constexpr uint64_t SEGMENT_BEING_MADE = 0x3053454952415347ull; /* until the header is complete */
inline constexpr uint32_t SEGMENT_VERSION = 28;
inline constexpr uint32_t MEMBERS_MAX = ARIES_NODES_MAX;
inline constexpr uint32_t ERROR_RING = 64;
inline constexpr uint32_t FLIGHT_LANES = 4;
inline constexpr uint32_t AMO_CACHE_SETS = 16;
inline constexpr uint32_t AMO_CACHE_WAYS = 4;
inline constexpr uint32_t PTE_CACHE_SETS = 32;
inline constexpr uint32_t PTE_CACHE_WAYS = 4;
inline constexpr uint32_t PTE_CACHE_LANES = 8;

/** Low half of NodeSlot::member; the upper half counts joins ("incarnation"). */
enum MemberState : uint32_t {
	MEMBER_NEVER = 0,
	MEMBER_JOINING = 1,
	MEMBER_ALIVE = 2,
	MEMBER_DEAD = 3,
	MEMBER_LEFT = 4,
};

/** NodeSlot::online: requests are served while all of them are set. */
enum OnlineBit : uint32_t {
	ONLINE_ENABLED = 1, /* CTL_CONTROL.ENABLE */
	ONLINE_MASTER = 2,  /* PCI bus mastering */
	ONLINE_ALL = 3,
	ONLINE_CARRIED = 4, /* the node is on another host: MemberBlock::carrier has its requests */
};

struct SegmentHeader {
	std::atomic<uint64_t> magic; /* SEGMENT_BEING_MADE first, SEGMENT_MAGIC last */
	uint32_t version;
	uint32_t layout; /* layout_hash() */
	uint32_t nodes;
	uint32_t routers_per_chassis;
	uint32_t chassis_per_group;
	uint32_t machine_nodes;
	uint64_t node_stride;
	uint64_t network_bytes;
	uint64_t total_bytes;
	uint64_t origin_ns; /* now_ns() when the fabric was made: where the global clock starts */
	std::atomic<uint64_t>
		joined[MEMBERS_MAX / 64]; /* node addresses that were ever used; slots of other addresses are zero */
};

inline constexpr uint64_t SEGMENT_NODES_OFFSET = 4096;

/** A memory domain descriptor; the store to ctl publishes it. */
struct alignas(64) MddSlot {
	std::atomic<uint64_t> ctl;
	std::atomic<uint64_t> base;
	std::atomic<uint64_t> length;
	std::atomic<uint64_t> table;
	std::atomic<uint64_t> serial;    /* changes with ctl and when page entries were changed in place */
	std::atomic<uint32_t> cq_serial; /* of the queue that ctl names: cq_serial_of() when it was published */
	std::atomic<uint32_t> life;      /* counts how often it was published: another life is another domain */
};

/**
 * A completion queue. Counts change under the lock only, which any node may take; the owner writes ctl and base, and
 * members that do not get the lock add to the lower half of life.
 */
struct alignas(64) CqSlot {
	std::atomic<uint32_t> lock;
	std::atomic<uint32_t> armed; /* 0: not; each CQI_ARM has another number */
	std::atomic<uint64_t> ctl;
	std::atomic<uint64_t> base;
	std::atomic<uint64_t> produced; /* since CQ_CTL.VALID was set */
	std::atomic<uint64_t> dropped;  /* since CQ_CTL.VALID was set */
	std::atomic<uint64_t> events;   /* since the reset */
	std::atomic<uint64_t> lost;     /* since the reset */
	std::atomic<uint64_t> life;     /* upper half counts VALID being set, lower half events that are owed */
};

/** Distinguishes queues that have the same number one after the other; never 0 for an existing queue. */
inline uint32_t cq_serial_of(const CqSlot &cq) noexcept
{
	return uint32_t(cq.life.load(std::memory_order_acquire) >> 32);
}

/**
 * Accesses of some threads of one initiator at one target; written by these threads, read by the target. A pair of
 * nodes has FLIGHT_LANES of these structures, so that processors of one machine do not share a cache line in each
 * operation.
 */
struct alignas(64) Flight {
	std::atomic<uint32_t> inflight[2]; /* accesses in flight, by the low bit of the epoch in which they began */
	std::atomic<uint64_t> requests;
	std::atomic<uint64_t> refused;
	std::atomic<uint64_t> walks;
	std::atomic<uint64_t> pte_hits;
	std::atomic<uint64_t> pte_misses;
	std::atomic<uint64_t> pte_evictions;
	std::atomic<uint64_t> duplicates;
};

/** A piece of guest memory, and the file that contains it among the files that the node passes. */
struct RamSection {
	uint64_t gpa;
	uint64_t size;
	uint64_t dev;
	uint64_t ino;
	uint64_t fd_offset;
};

struct ErrorRecord {
	uint64_t event; /* as ERR_EVENT */
	uint64_t time_ns;
	uint64_t info[4];
};

/**
 * Error events of a node. Any member adds an event under the lock, by moving tail; the owner takes events out without
 * the lock. A member that does not get the lock, or finds no room, increments lost.
 */
struct alignas(64) ErrorRing {
	std::atomic<uint32_t> lock;
	std::atomic<uint32_t> head;
	std::atomic<uint32_t> tail;
	std::atomic<uint32_t> serial; /* of events, including lost ones */
	std::atomic<uint32_t> lost;
	ErrorRecord record[ERROR_RING];
};

/**
 * A word in the AMO cache of a node (N12). With lazy updates it has contents, which change under the set's lock only.
 * All zero is empty. A holder that dies leaves a line that is valid, or that is recognised as invalid.
 */
struct AmoLine {
	std::atomic<uint64_t> tag;    /* memory domain and offset; AMO_TAG_* */
	std::atomic<uint64_t> place;  /* bus address of the word and AMO_PLACE_*; 0: no contents */
	std::atomic<uint64_t> value;  /* newer than memory if the two differ */
	std::atomic<uint64_t> memory; /* the value in host memory when it was read last */
};

/** Bits of AmoLine::place. Error bits are on lines with contents only. */
inline constexpr uint64_t AMO_NARROW = 1; /* the halves are separate words */
inline constexpr uint64_t AMO_PRESENT = 2;
inline constexpr uint64_t AMO_HIT = 4;                       /* an error has hit the line */
inline constexpr uint64_t AMO_TWICE = uint64_t(1) << 63;     /* of two bits */
inline constexpr uint64_t AMO_LOST_TOLD = uint64_t(1) << 62; /* its result is lost, and the driver knows */
/** Error bits of AmoLine::tag, for a line without contents. */
inline constexpr uint64_t AMO_NAME_HIT = uint64_t(1) << 62;
inline constexpr uint64_t AMO_NAME_TWICE = uint64_t(1) << 61;

/** The AMO cache of a node; nic/tables/amo_cache.hpp. Every initiator changes it. */
struct alignas(64) AmoCacheSlot {
	AmoLine line[AMO_CACHE_SETS][AMO_CACHE_WAYS];
	std::atomic<uint32_t> next[AMO_CACHE_SETS]; /* way to be given away next */
	std::atomic<uint32_t> lock[AMO_CACHE_SETS]; /* for contents */
	std::atomic<uint64_t> hits;
	std::atomic<uint64_t> misses;
	std::atomic<uint64_t> evictions;
	std::atomic<uint64_t> updates;
};

/** One set of the PTE cache of a node (N03); nic/tables/pte_cache.hpp. Every visitor of the node changes it. */
struct alignas(64) PteCacheSet {
	std::atomic<uint64_t> tag[PTE_CACHE_WAYS]; /* 0: empty */
	std::atomic<uint64_t>
		state[PTE_CACHE_WAYS]; /* upper half: count of fills; lower half: lock word of the member that fills */
	std::atomic<uint64_t> pte[PTE_CACHE_WAYS][PTE_CACHE_LANES];
};

struct PteCacheSlot {
	PteCacheSet set[PTE_CACHE_SETS];
	std::atomic<uint32_t> next[PTE_CACHE_SETS]; /* way to be given away next */
	std::atomic<uint64_t> invalidations;        /* lines that left with their memory domain */
	std::atomic<uint32_t> hit;                  /* lines were hit by errors since the reset */
	std::atomic<uint64_t> twice[PTE_CACHE_SETS * PTE_CACHE_WAYS / 64]; /* lines that were hit by two wrong bits */
};

/** Contribution of one child to a collective, and where the result goes. */
struct CeContribution {
	uint64_t operand[2];
	uint64_t arrive_ns; /* modelled */
	uint64_t start_ns;  /* of an endpoint's doorbell */
	uint64_t offset;    /* of the result, 40 bits */
	uint64_t serial;    /* of the packet; grows with each packet of a source */
	uint64_t token; /* value of the result block's control word until the result arrives; of @carried: the gateway's
			 */
	uint32_t cq_serial; /* cq_serial_of() the queue when its owner was checked; 0: no events */
	uint32_t key;
	uint32_t red_id;
	uint32_t local_event;
	uint16_t mdh;
	uint16_t cq;
	uint16_t tid;
	uint16_t dlvr_mode;
	uint16_t command;
	uint16_t source; /* FMA descriptor or child engine that counts serial */
	uint8_t ce_mode; /* ARIES_CEMODE_TWO_OP or 0 */
	uint8_t fpe;
	uint8_t status;  /* of a partial result */
	uint8_t events;  /* ARIES_EV_* */
	uint8_t level;   /* engines below */
	uint8_t carried; /* comes from another host; the gateway finds it by token */
	uint32_t node;   /* sender of the contribution and receiver of the outcome */
};

/** Outcome of a collective on its way down. */
struct CeOutcome {
	uint64_t result[2];
	uint64_t at_ns; /* modelled time at which the outcome is at this engine */
	uint32_t red_id;
	uint8_t status;
	uint8_t fpe;
};

/** CeSlot::delivering while the engine's own event is on its way. */
inline constexpr uint32_t CE_OWN_EVENT = ARIES_CE_CHILDREN + 1;

/**
 * A virtual collective engine. All words after lock change under the lock only,
 * which any node may take. A child's bit is in at most one of arrived and owed.
 */
struct alignas(64) CeSlot {
	std::atomic<uint32_t> lock;
	std::atomic<uint32_t> arrived;    /* children that have contributed */
	std::atomic<uint32_t> owed;       /* children that wait for their result to be delivered */
	std::atomic<uint32_t> delivering; /* child whose delivery is under way, plus 1; then CE_OWN_EVENT */
	std::atomic<uint32_t> sent;       /* the partial result is at the parent, or on its way */
	std::atomic<uint32_t> mover;      /* lock word of the member that moves the operation on */
	std::atomic<uint32_t> broken;     /* serial of the configuration that has lost a neighbour */
	std::atomic<uint32_t> serial;     /* counts configurations, twice each: enabled, not enabled */
	std::atomic<uint64_t> ctl;        /* as CE_CTL */
	std::atomic<uint64_t> parent;     /* as CE_PARENT */
	std::atomic<uint64_t> sequence;   /* of outcomes, and of members that deliver them */
	uint64_t sent_serial;             /* CeContribution::serial of the last partial result */
	std::atomic<uint32_t> cq_serial;  /* of the queue that ctl names */
	CeOutcome outcome;
	std::atomic<uint32_t> parent_generation;
	std::atomic<uint32_t> child_generation[ARIES_CE_CHILDREN]; /* NodeSlot::generation when the tree was made */
	std::atomic<uint64_t> child[ARIES_CE_CHILDREN];            /* as CE_CHILD */
	std::atomic<uint64_t> enabled_ns;
	std::atomic<uint64_t> tokens;  /* number of tokens given out */
	std::atomic<uint32_t> resumed; /* as delivering: delivery that a dead member may have made in part */
	std::atomic<uint32_t> posted; /* of its events: two for each in the queue, one for an event that may be there */
	std::atomic<uint64_t> posting_at;                  /* CqSlot::produced before that last event */
	std::atomic<uint64_t> instance[ARIES_CE_CHILDREN]; /* NodeSlot::ce_instance of the child, once known */
	std::atomic<uint32_t> place[ARIES_CE_CHILDREN];    /* index of that instance */
	/* Serials of parent and child engines when the edge was made, 0 without an edge: see CeEdges::make(). */
	std::atomic<uint32_t> parent_edge;
	std::atomic<uint32_t> child_edge[ARIES_CE_CHILDREN];
	std::atomic<uint32_t> ecc_hit;   /* children whose contribution has wrong bits */
	std::atomic<uint32_t> ecc_twice; /* children whose contribution has two wrong bits */
	CeContribution given[ARIES_CE_CHILDREN];
};

/** State of a posted receive, in RmtSlot::state. */
enum RmtState : uint32_t {
	RMT_FREE = 0,
	RMT_POSTED = 1,
	RMT_TAKEN = 2,   /* by a sender */
	RMT_TELLING = 3, /* the message has arrived, its event is not posted yet */
	RMT_DONE = 4,
};

/** A receive for channel sends. The owner posts it; a sender takes it, and owns the memory until the send is done. */
struct alignas(64) RmtSlot {
	std::atomic<uint64_t> state; /* serial << 35 | RmtState << 32 | lock word of the taker, the sender */
	std::atomic<uint64_t> ctl;   /* as RMT_CTL */
	std::atomic<uint64_t> offset;
	std::atomic<uint64_t> length;
	std::atomic<uint64_t> event;
	std::atomic<uint64_t> message; /* serial of state << 35 | length */
	std::atomic<uint64_t> order;   /* counts postings */
	std::atomic<uint32_t> ecc;     /* wrong bits of the posting: EccHit */
};

/*
 * The blocks of a node's slot. nic/registers/blocks.cpp defines for each block what happens when the node's address
 * gets another owner, when the NIC is reset, when a member dies, and regularly.
 */

struct alignas(64) MemberBlock {
	static constexpr std::string_view NAME = "member";

	std::atomic<uint64_t> member; /* incarnation << 32 | MemberState; peers turn ALIVE into DEAD */
	std::atomic<uint64_t> lease_ns;
	std::atomic<uint32_t> pid;
	std::atomic<uint32_t> generation; /* attaches and resets */
	std::atomic<uint32_t> online;  /* OnlineBit; peers that find wrong bits may clear it: EccBlock::ecc_stopped */
	std::atomic<uint32_t> carrier; /* 0, or 1 + address of the gateway that writes this slot */
};

struct alignas(64) RamBlock {
	static constexpr std::string_view NAME = "memory";

	std::atomic<uint64_t> epoch;       /* counts invalidations */
	std::atomic<uint64_t> ram_version; /* odd while the sections change */
	uint32_t ram_count;
	RamSection ram[ARIES_RAM_MAX];
};

struct alignas(64) InterruptBlock {
	static constexpr std::string_view NAME = "interrupts";

	std::atomic<uint32_t> irq_vectors; /* peers set bits, the owner clears them */
	std::atomic<uint32_t> wake_sent;
};

struct alignas(64) ErrorBlock {
	static constexpr std::string_view NAME = "errors";

	ErrorRing errors;
};

/** Errors that the ECC of one of the NIC's memories has found; nic/core/ecc.hpp. */
struct alignas(64) EccSlot {
	std::atomic<uint64_t> corrected;
	std::atomic<uint64_t> damaged;
	std::atomic<uint64_t> first;    /* as RAS_FIRST */
	std::atomic<uint64_t> first_at; /* as RAS_FIRST_TIME */
	std::atomic<uint64_t> window; /* errors since the first one of a series << 40 | time of that one, ms; 0: none */
	std::atomic<uint32_t> threshold; /* as RAS_THRESHOLD */
	std::atomic<uint32_t> limit;     /* as RAS_LIMIT */
};

/** Effect of an injected error on an entry that has no ECC bits of its own. */
enum EccHit : uint32_t { ECC_WHOLE = 0, ECC_ONE_BIT = 1, ECC_TWO_BITS = 2 };

inline constexpr uint32_t ECC_SIGNALLED = uint32_t(1)
					  << 31; /* the owner's host has been told that the NIC has stopped */

struct alignas(64) EccBlock {
	static constexpr std::string_view NAME = "ECC";

	EccSlot ecc[ARIES_RAS_MEMORY_COUNT];
	std::atomic<uint32_t> ecc_signal; /* as RAS_SIGNAL */
	std::atomic<uint32_t>
		ecc_stopped; /* as RAS_STOPPED, and ECC_SIGNALLED; set by any member that finds an error */
};

struct alignas(64) KeyBlock {
	static constexpr std::string_view NAME = "keys";

	std::atomic<uint64_t> ptag_key[ARIES_PTAG_ENTRIES]; /* as PTAG_KEY */
};

struct alignas(64) VmdhBlock {
	static constexpr std::string_view NAME = "virtual handles";

	std::atomic<uint64_t> vmdh[ARIES_VMDH_ENTRIES]; /* as VMDH_CTL; nic/tables/vmdh.hpp */
	std::atomic<uint64_t> vmdh_hits;
	std::atomic<uint64_t> vmdh_misses;
};

struct alignas(64) CollectiveBlock {
	static constexpr std::string_view NAME = "collectives";

	CeSlot ce[ARIES_CE_CHANNELS];
	std::atomic<uint64_t> ce_instance[ARIES_CE_INSTANCES]; /* as CE_INST; bits 62:40 count its changes */
};

struct alignas(64) ReceiveBlock {
	static constexpr std::string_view NAME = "receives";

	RmtSlot rmt[ARIES_RMT_ENTRIES];
};

struct alignas(64) DomainBlock {
	static constexpr std::string_view NAME = "memory domains";

	MddSlot mdd[ARIES_MDD_ENTRIES];
};

struct alignas(64) QueueBlock {
	static constexpr std::string_view NAME = "queues";

	CqSlot cq[ARIES_CQ_ENTRIES];
	std::atomic<uint64_t> cqi_pending[ARIES_CQ_ENTRIES / 64];
};

struct alignas(64) AmoBlock {
	static constexpr std::string_view NAME = "AMO cache";

	AmoCacheSlot amo_cache;
	std::atomic<uint32_t> amo_lazy; /* as AMO_CTL; changes while there are no visits */
};

struct alignas(64) PteBlock {
	static constexpr std::string_view NAME = "PTE cache";

	PteCacheSlot pte_cache;
};

/** Requests between hosts: fabric/carry_area.hpp. */
struct alignas(64) CarryBlock {
	static constexpr std::string_view NAME = "carried";

	std::atomic<uint32_t> carry_life; /* requests that were under way before a change are dropped */
	/* If the node is a gateway: */
	std::atomic<uint32_t> carry_bell;                      /* futex */
	std::atomic<uint32_t> carry_sleeping;                  /* the gateway waits for the bell */
	std::atomic<uint64_t> carry_pending[MEMBERS_MAX / 64]; /* nodes that have issued requests */
};

/** A slot made of blocks, in the order of the list. */
template <typename... Block> struct alignas(4096) BlockList : Block... {
	/** Calls @f.operator()<Block>() for each block, in the order of the list. */
	template <typename F> static constexpr void each(F &&f) { (f.template operator()<Block>(), ...); }
};

/**
 * The only list of blocks. It defines their places, the hash by which builds with different layouts refuse each other,
 * and the order in which nic/blocks.cpp processes them. Flight[nodes][FLIGHT_LANES] follows, indexed by initiator.
 */
using NodeSlot = BlockList<MemberBlock, RamBlock, InterruptBlock, ErrorBlock, CollectiveBlock, ReceiveBlock,
			   DomainBlock, QueueBlock, KeyBlock, VmdhBlock, AmoBlock, PteBlock, EccBlock, CarryBlock>;

/** Hash of names, sizes and order of the blocks; SEGMENT_VERSION covers their meaning. */
constexpr uint32_t layout_hash() noexcept
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	const auto add = [&hash](uint8_t byte) { hash = (hash ^ byte) * 16777619u; };

	NodeSlot::each([&add]<typename Block>() {
		for (const char c : Block::NAME)
			add(uint8_t(c));
		for (size_t size = sizeof(Block); size; size >>= 8)
			add(uint8_t(size));
	});
	return hash;
}

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);
static_assert(sizeof(MddSlot) == 64 && sizeof(CqSlot) == 64 && sizeof(Flight) == 64);
static_assert(sizeof(std::atomic<uint64_t>) == 8 && sizeof(std::atomic<uint32_t>) == 4);

} // namespace aries

#endif
