// SPDX-License-Identifier: GPL-2.0-or-later
/* A network with memory of its own, and shapes for it. */
#ifndef ARIES_TESTS_MACHINE_HPP
#define ARIES_TESTS_MACHINE_HPP

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "netlink/network.hpp"
#include "packet/flits.hpp"

namespace aries
{

inline constexpr DragonflyShape ONE_ROUTER{4, 0, 0};
inline constexpr DragonflyShape CHASSIS{64, 0, 0};
inline constexpr DragonflyShape GROUPS{64, 2, 2};
inline constexpr uint64_t NOW = 1000000;
inline constexpr uint16_t ADAPTIVE = 0;

/* Packets that leave @src at @at, booked @early before. */
inline Network::Transit book(Network &net, uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint16_t mode,
			     uint64_t hash, uint64_t at, uint64_t early = 0, uint32_t lane = 0)
{
	return net.book({src, dst, cls, mode, flits, lane, hash}, at - early, at);
}

/* A network with memory of its own. */
class Machine
{
public:
	explicit Machine(const DragonflyShape &shape)
		: bytes_(Network::shared_bytes(shape)), memory_(std::aligned_alloc(64, bytes_)), zeroed_(zero()),
		  net(shape, memory_)
	{
	}

	~Machine() { std::free(memory_); }

	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;

	void *memory() { return memory_; }

	void book_until(uint32_t router, uint32_t tile, uint64_t ns)
	{
		static_cast<TileState *>(memory_)[link_id(router, tile)].busy = ns_to_ticks(ns);
	}

	bool quiet() const
	{
		const auto *byte = static_cast<const unsigned char *>(memory_);

		return std::all_of(byte, byte + bytes_, [](unsigned char b) { return b == 0; });
	}

	Network::Transit put8(uint32_t src, uint32_t dst, uint16_t mode = ADAPTIVE, uint64_t hash = 0,
			      uint64_t at = NOW)
	{
		return book(net, src, dst, PacketClass::Request, request_flits(PacketKind::Put, 8), mode, hash, at);
	}

private:
	bool zero()
	{
		std::memset(memory_, 0, bytes_);
		return true;
	}

	size_t bytes_;
	void *memory_;
	bool zeroed_;

public:
	Network net;
};

} // namespace aries

#endif
