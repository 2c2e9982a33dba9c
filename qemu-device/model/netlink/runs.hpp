// SPDX-License-Identifier: GPL-2.0-or-later
/* Many adaptive packets, see "Modelled time" in Documentation/design/network.md. */
#ifndef ARIES_NETLINK_RUNS_HPP
#define ARIES_NETLINK_RUNS_HPP

#include <array>

#include "netlink/ways.hpp"

namespace aries
{

/*
 * Packets that leave a NIC one after the other at its pace, each of which would choose its own way. They are booked in
 * parts, of which each takes as many of the packets as the first link of its way is the best for, and all of which are
 * on the network during the same time.
 */
class Network::RunBooking
{
public:
	/* @start: tick at which the first one leaves */
	RunBooking(Network &network, const RoutedPackets &routed, uint64_t start, Transit &transit) noexcept;
	bool book_all() noexcept;

private:
	bool meets_others(uint64_t &behind) const noexcept;
	bool has_room(uint64_t at) const noexcept;
	LoadView view(uint64_t at) const noexcept;
	int64_t bias() const noexcept;
	bool take(uint64_t from, uint64_t packets, uint64_t flits, bool slice) noexcept;
	uint64_t fitting(const RoutedPackets &part, uint64_t from, uint64_t few) const noexcept;
	static int64_t level_at(const TileState &tile, const Stream &stream, uint64_t from, uint64_t end) noexcept;
	void book_part(const RoutedPackets &part, uint64_t length) noexcept;
	void inject() noexcept;
	void approach() noexcept;
	void eject() noexcept;

	Network &net_;
	const RoutedPackets &routed_;
	Transit &transit_;
	const uint64_t packets_;
	const uint64_t each_; // flits of a packet
	const uint64_t start_;
	const routing::RouterTables &tables_; // of the first router
	const routing::Address to_;
	uint64_t minimal_ = 0;                   // its tiles that lead on minimally
	uint32_t ports_ = 0;                     // how many they are
	uint64_t parts_ = 0;                     // chosen so far
	uint64_t roots_ = 0;                     // and of them by a root
	Way way_;                                // of the last one
	uint64_t head_ = UINT64_MAX, tail_ = 0;  // at the last router
	std::array<uint64_t, NIC_TILES> free_{}; // ticks until which the target's tiles have others' work
	uint64_t hop_flits_ = 0, root_flits_ = 0;
};

} // namespace aries

#endif
