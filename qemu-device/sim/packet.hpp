// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A packet in the network, one cache line; the pool of all of them; queues of packets, linked through them. What a
 * packet carries for routers is its chip's.
 */
#ifndef ARIES_SIM_PACKET_HPP
#define ARIES_SIM_PACKET_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "traffic.hpp"

namespace aries::sim
{

inline constexpr uint32_t NO_PACKET = UINT32_MAX;

inline constexpr size_t CACHE_LINE = 64;

template <typename RoutingHeader> struct alignas(CACHE_LINE) PacketOf {
	using Header = RoutingHeader;

	Header header;
	uint32_t next;     ///< in its queue
	uint32_t tail;     ///< cycle in which the last flit is in the present stage
	uint32_t ready;    ///< cycle from which it may be served
	uint32_t source;   ///< node
	uint32_t target;   ///< node
	uint32_t sequence; ///< of the request at its source; with that its name for random numbers
	uint32_t born;     ///< cycle in which its message was ready at the source
	uint32_t sent;     ///< cycle in which its first flit left the NIC
	uint8_t in;        ///< tile of the present router
	uint8_t out;
	uint8_t in_channel;
	uint8_t flits;
	uint8_t bytes; ///< of data
	uint8_t hops;
	bool response;
	bool decided;
	bool measured;
	bool alone; ///< all of its message
	bool bad;   ///< a router has marked it; of chips whose routers check packets
	Operation operation;

	/** The same for a request and its response, and for nothing else. */
	uint64_t name() const noexcept { return uint64_t{response ? target : source} << 32 | sequence; }
};

/** A packet on its way from one part to another, of any chip. */
struct alignas(CACHE_LINE) PostedPacket {
	std::array<std::byte, CACHE_LINE> bytes;

	template <typename Packet> static PostedPacket of(const Packet &packet) noexcept
	{
		return std::bit_cast<PostedPacket>(packet);
	}
	template <typename Packet> Packet as() const noexcept { return std::bit_cast<Packet>(*this); }
};

/** All packets of a part of the network. Numbers stay; references do not when it grows. */
template <typename Packet> class Pool
{
	static_assert(sizeof(Packet) == CACHE_LINE && std::is_trivially_copyable_v<Packet>);

public:
	uint32_t take()
	{
		if (free_.empty()) {
			packets_.emplace_back();
			return static_cast<uint32_t>(packets_.size() - 1);
		}

		const uint32_t index = free_.back();

		free_.pop_back();
		return index;
	}

	void give(uint32_t index) { free_.push_back(index); }

	Packet &operator[](uint32_t index) noexcept { return packets_[index]; }
	const Packet &operator[](uint32_t index) const noexcept { return packets_[index]; }

	size_t live() const noexcept { return packets_.size() - free_.size(); }

private:
	std::vector<Packet> packets_;
	std::vector<uint32_t> free_;
};

struct Queue {
	uint32_t head = NO_PACKET;
	uint32_t tail = NO_PACKET;

	bool empty() const noexcept { return head == NO_PACKET; }

	template <typename Packet> void push(Pool<Packet> &pool, uint32_t packet) noexcept
	{
		pool[packet].next = NO_PACKET;
		if (empty())
			head = packet;
		else
			pool[tail].next = packet;
		tail = packet;
	}

	template <typename Packet> uint32_t pop(Pool<Packet> &pool) noexcept
	{
		const uint32_t packet = head;

		head = pool[packet].next;
		return packet;
	}
};

} // namespace aries::sim

#endif
