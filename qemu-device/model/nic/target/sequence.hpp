/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequence identification at the receiving end: the packets of one transaction
 * are committed in the order in which they arrive, each of them once (N19).
 *
 * Without injected faults packets arrive in order and once, and nothing here
 * is on the way.
 */
#ifndef ARIES_NIC_SEQUENCE_HPP
#define ARIES_NIC_SEQUENCE_HPP

#include <array>
#include <bitset>
#include <utility>

#include "nic/target/visit.hpp"

namespace aries
{

/** Packets of 64 bytes that carry @bytes; a packet without data is one, too. */
constexpr uint32_t packets_of(uint64_t bytes)
{
	return bytes ? uint32_t((bytes + ARIES_PACKET_BYTES - 1) / ARIES_PACKET_BYTES) : 1;
}

/** What a receive message table knows of one sequence of at most @MAX packets: which of them have come. */
template <uint32_t MAX> class Sequence
{
public:
	/** False for a packet that has come before: it must have no effect. */
	bool accept(uint32_t packet) noexcept
	{
		if (seen_[packet])
			return false;
		seen_[packet] = true;
		return true;
	}

private:
	std::bitset<MAX> seen_;
};

/** The order in which the network brings the packets of a sequence, some of them twice. */
template <uint32_t MAX> class Arrivals
{
public:
	/** @copies: how many of the @packets come twice; behind all others unless @shuffled. */
	Arrivals(Faults &faults, uint32_t packets, uint32_t copies, bool shuffled) noexcept
	{
		for (uint32_t i = 0; i < packets; i++)
			order_[count_++] = uint16_t(i);
		for (uint32_t i = 0; i < packets && copies; i++) {
			if (faults.random() % (packets - i) < copies) {
				order_[count_++] = uint16_t(i);
				copies--;
			}
		}
		for (uint32_t i = count_; shuffled && i > 1; i--)
			std::swap(order_[i - 1], order_[faults.random() % i]);
	}
	const uint16_t *begin() const noexcept { return order_.data(); }
	const uint16_t *end() const noexcept { return order_.data() + count_; }

private:
	static_assert(MAX <= UINT16_MAX);
	std::array<uint16_t, 2 * size_t(MAX)> order_;
	uint32_t count_ = 0;
};

/**
 * Calls @commit(packet) for the packets of a transaction as they arrive under
 * the faults that are injected. Copies are counted at @target and dropped.
 */
template <uint32_t MAX, typename F>
[[gnu::cold, gnu::noinline]] void arrive(Faults &faults, Visit &target, uint32_t packets, F &&commit) noexcept
{
	const Arrivals<MAX> arrivals(faults, packets, faults.take_duplicates(packets), faults.reorder());
	Sequence<MAX> sequence;

	for (uint32_t packet : arrivals) {
		if (sequence.accept(packet))
			commit(packet);
		else
			target.count_duplicate();
	}
}

} // namespace aries

#endif
