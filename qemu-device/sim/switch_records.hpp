// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What a SwitchPart keeps of packets, channels, links and adapters. A million channels are in use at a time in a large
 * machine: so what is kept of one is 16 bytes at the receiver and four at the sender.
 */
#ifndef ARIES_SIM_SWITCH_RECORDS_HPP
#define ARIES_SIM_SWITCH_RECORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "chip/elite5.hpp"
#include "packet.hpp"
#include "router/clos.hpp"
#include "traffic.hpp"
#include "wheel.hpp"

namespace aries::sim
{

inline constexpr uint32_t CHANNEL_BITS = 5; ///< of 32 channels (Q04)
inline constexpr uint32_t LINK_CHANNELS = 1 << CHANNEL_BITS;
inline constexpr uint32_t TILE_BITS = 6; ///< links of a switch are numbered below 64
inline constexpr uint32_t SWITCH_TILES = 1 << TILE_BITS;
inline constexpr uint32_t SEGMENT_WORDS = chip::ELITE5.packets.segment_bytes / 8;
inline constexpr uint32_t ROUTER_BITS = TILE_BITS + CHANNEL_BITS;
inline constexpr uint16_t NO_RECORD = UINT16_MAX;

/**
 * A packet in a channel of an input, from its first segment until its answer has gone back; at an adapter, a packet in
 * a channel of its link. None if it has no segments.
 */
struct Held {
	uint32_t packet;      ///< while its first segment has not gone on
	uint16_t site;        ///< destination
	uint16_t next;        ///< record of the same router, in the list of those that want a channel
	uint8_t hash;         ///< of source and destination, for routing by hash
	uint8_t nic : 4;      ///< of the destination's router; of a packet of a group SwitchGroups::mark()
	uint8_t hops : 4;     ///< links between routers that it came over
	uint8_t segments : 5; ///< of the packet
	uint8_t mode : 2;     ///< routing::ClosMode
	bool urgent : 1;      ///< overtakes others where their segments end (Q17)
	uint8_t last_words;   ///< of its last segment
	uint8_t arrived;      ///< segments
	uint8_t forwarded;    ///< segments
	uint8_t out;          ///< tile by which it leaves; NO_OUTPUT: none yet
	uint8_t channel : 5;  ///< of that link, if a segment has been forwarded
	bool bad : 1;         ///< a segment was damaged: the destination refuses the packet
	bool refused : 1;     ///< by this switch: its segments are dropped, and a NACK is the answer
	bool cut : 1;         ///< the link by which it came has failed: the answer is not sent

	bool done() const noexcept { return arrived == segments; }
};

static_assert(sizeof(Held) == 16 && std::is_trivially_copyable_v<Held>);

/** The sender's side of a channel. */
struct Sent {
	uint16_t from;    ///< record of the packet in this router
	uint8_t inflight; ///< segments that the far buffer has not given back
	uint8_t unused;
};

/** First and last of a list of records. */
struct RecordList {
	uint16_t head = NO_RECORD;
	uint16_t tail = NO_RECORD;

	bool empty() const noexcept { return head == NO_RECORD; }
};

/** One direction of a link, at its sender: a switch, or an adapter. */
struct Sender {
	uint32_t free = 0;          ///< cycle from which the wire is
	uint32_t held = 0;          ///< channels, a bit for each
	uint32_t ready = 0;         ///< held channels that have a segment to send
	uint32_t blocked = 0;       ///< held channels with a segment for which there is no room
	RecordList urgent, waiting; ///< for a channel
	uint8_t pool = 0;           ///< buffers that are used of the far end's pool
	uint8_t last = 0;           ///< channel that was served last
	uint8_t overtakers = 0;     ///< urgent packets in a row that went before others
	bool armed : 1 = false;     ///< there is an event to look again when the wire is free
	bool down : 1 = false;      ///< the link has failed
	uint32_t words = 0;         ///< sent
	uint32_t since = 0;         ///< cycle in which a channel or room was missing first; 0: none is
	uint32_t stalled = 0;       ///< cycles that it was so
};

enum class Carried : uint8_t {
	Put,  ///< data
	Ask,  ///< for the data of a get
	Data, ///< of a get
	Up,   ///< that all below a node are ready, to its parent
	/* For all nodes of a job. */
	Broadcast, ///< data
	Test,      ///< a conditional: are you ready? (Q28)
	Done,      ///< all are
};

constexpr bool for_group(Carried carried) noexcept
{
	return carried >= Carried::Broadcast;
}

/** A packet whose first segment is in this part, or that waits in an adapter. */
struct alignas(CACHE_LINE) SwitchPacket {
	Held held;         ///< the record at the next router, while the packet goes to another part
	uint32_t next;     ///< in a queue of an adapter
	uint32_t source;   ///< node
	uint32_t target;   ///< node
	uint32_t sequence; ///< number among the packets of its source
	uint32_t asked;    ///< of Data: the sequence of the request for them
	uint32_t born;     ///< cycle in which its message was ready
	uint32_t sent;     ///< cycle in which its first word left first
	uint32_t ready;    ///< cycle from which it may leave
	uint32_t place;    ///< of the posted one: record that it comes to; else channel and link
	uint16_t bytes;    ///< of data
	uint16_t words;    ///< on a link
	Carried carried;
	bool measured : 1;
	bool alone : 1; ///< all of its message
	bool once : 1;  ///< it must not be done twice: the last of a message, and all of a get (Q21)
	bool again : 1; ///< it was sent before
};

static_assert(sizeof(SwitchPacket) == CACHE_LINE);

/** The adapter of a node. */
struct Adapter {
	uint64_t clock = 0;   ///< when the message was ready, with fraction
	uint32_t due = 0;     ///< the same in cycles
	uint32_t message = 0; ///< its number
	uint32_t target = 0;
	uint32_t bytes = 0;
	uint32_t packets = 0;
	uint32_t left = 0;          ///< of them
	uint32_t sequence = 0;      ///< of the next packet
	uint32_t asked = 0;         ///< gets without their data
	uint32_t wake = UINT32_MAX; ///< cycle in which there is an event to look at it
	uint32_t node = NO_PLACE;   ///< none if there is no node
	Queue resend;               ///< refused packets, by the cycle from which they may leave
	Queue replies;              ///< data of gets
	Operation operation{};
	uint8_t turn = 0;     ///< link that is tried first, counted from the adapter's first
	bool replied = false; ///< its last packet carried data of another node's get
	bool dead = false;
};

/** What happens in a cycle. Records are those of the part. */
enum class SwitchKind : uint8_t {
	Answer,  ///< to the packet in channel a of a link; b is the cycle in which its data were there, REFUSED a NACK
	Credit,  ///< a segment of the packet in channel a has left the far buffer
	Segment, ///< in record a; b: damage
	Receive, ///< the last word of the packet in channel a is at the adapter
	Free,    ///< the wire of link a is
	Wake,    ///< look at adapter a
};

inline constexpr size_t SWITCH_KINDS = 6;
inline constexpr uint32_t REFUSED = 0;
/** A NACK, too: of a conditional that is false. Only statistics tell it from other NACKs; no data come this early. */
inline constexpr uint32_t UNEQUAL = 1;
inline constexpr uint16_t DOWN_LOAD = 1 << 15; ///< of a link that has failed, beside its packets

/** Of a segment. */
inline constexpr uint32_t DAMAGED = 1;   ///< somewhere
inline constexpr uint32_t NO_HEADER = 2; ///< in the header of the first segment: the destination is unknown

using SwitchWheel = WheelOf<SwitchKind, SWITCH_KINDS>;

inline constexpr uint8_t TO_GROUP = 3; ///< Held::mode of a packet whose site is the number of a job
inline constexpr uint8_t MANY = 254;   ///< Held::out of a packet with copies
inline constexpr uint32_t COPY_BITS = 13;
inline constexpr uint32_t COPIES = 1 << COPY_BITS; ///< of packets of groups, in a router
inline constexpr uint32_t FIRST_COPY = 1 << ROUTER_BITS;

static_assert(static_cast<uint8_t>(routing::ClosMode::Static) < TO_GROUP && MANY != routing::NO_OUTPUT);

/** A packet that leaves a router by several outputs. */
struct Fan {
	std::vector<uint32_t> copies; ///< records
	uint32_t left = 0;            ///< without an answer
	uint32_t given = 0;           ///< segments that have left by all outputs
	uint32_t what = 0;            ///< latest cycle in which data were there
	bool refused = false;         ///< by one
	bool unequal = false;         ///< at one
};

/** Records for copies, of a router. */
struct Copies {
	std::vector<uint32_t> free;
	uint32_t used = 0; ///< records from the first one on that have been used

	size_t left() const noexcept { return free.size() + COPIES - used; }
};

/** A node of a job with broadcasts or barriers. Operations are counted from 1. */
struct Member {
	uint32_t begun = 0;      ///< operations of the host
	uint32_t ended = 0;      ///< that it knows of
	uint32_t ready = 0;      ///< the host's last operation that its adapter knows of
	uint32_t told = 0;       ///< the last operation that the adapter knows all have begun, or was asked for
	uint32_t due = 0;        ///< cycle from which its word is equal; only of a conditional of its own
	uint32_t counted = 0;    ///< hosts and children that are ready; of a broadcast packets
	uint32_t unanswered = 0; ///< packets of a broadcast
	bool gone = false;       ///< its node has failed, and takes no part any more
	/* If packets may be refused. */
	uint32_t operation = 0;     ///< the last broadcast of which a packet has come
	std::vector<uint32_t> came; ///< numbers of its packets, in their order
};

/** An array of zeros, of which memory is taken where it is written. */
template <typename T> class Zeros
{
	static_assert(std::is_trivially_destructible_v<T>);

public:
	void resize(size_t count)
	{
		constexpr size_t MORE = alignof(T) > alignof(std::max_align_t) ? 1 : 0;
		size_t room = (count + 1 + MORE) * sizeof(T);

		memory_.reset(std::calloc(room, 1));
		if (!memory_)
			throw std::bad_alloc();

		void *first = memory_.get();

		values_ = static_cast<T *>(std::align(alignof(T), count * sizeof(T), first, room));
		count_ = count;
	}

	T &operator[](size_t at) noexcept { return values_[at]; }
	const T &operator[](size_t at) const noexcept { return values_[at]; }
	size_t size() const noexcept { return count_; }

private:
	struct Free {
		void operator()(void *memory) const noexcept { std::free(memory); }
	};

	std::unique_ptr<void, Free> memory_;
	T *values_ = nullptr;
	size_t count_ = 0;
};

} // namespace aries::sim

#endif
