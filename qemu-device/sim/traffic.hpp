// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What nodes send: to whom, when, how much. Everything is a function of seed, node and number of the message, so it
 * is the same however the work is divided.
 */
#ifndef ARIES_SIM_TRAFFIC_HPP
#define ARIES_SIM_TRAFFIC_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"
#include "router/routing_mode.hpp"

namespace aries::sim
{

enum class Pattern : uint8_t {
	Uniform,     ///< any other node
	Group,       ///< any node of the group that is @p shift further (R15)
	Permutation, ///< one other node each, at random
	Shift,       ///< the k th message to the node k further on (L26)
};

enum class Operation : uint8_t {
	Put, ///< packets of 14 flits at most, responses of one (P03)
	Get, ///< packets of three flits, responses of 12 at most (P04)
	Raw, ///< packets of a given number of flits, without responses: what other simulators send
};

struct TrafficShape {
	Pattern pattern = Pattern::Uniform;
	Operation operation = Operation::Put;
	uint32_t bytes = 64;        ///< of a message: 8 B to 256 KiB, not of Raw
	uint32_t raw_flits = 1;     ///< of a packet, only of Raw
	uint32_t shift = 1;         ///< groups, for Pattern::Group
	uint32_t load_ppm = 200000; ///< of what the processor tiles take; flits of requests, for gets of responses
	RoutingMode request_mode{Routing::Adaptive, 0};
	RoutingMode response_mode{Routing::Adaptive, 0};
};

/** Empty if there can be such traffic on the machine, else one line that names the broken rule. */
std::string check_traffic(const TrafficShape &shape, const Layout &layout);

/** Random bits by what they are for. */
inline uint64_t random_of(uint64_t seed, uint64_t what, uint64_t number) noexcept
{
	return mix64(mix64(seed + what * 0x9e3779b97f4a7c15) ^ (number * 0xd1342543de82ef95 + 1));
}

/** @p mean times -ln(u) for a u between 0 and 1 by 64 random bits, in whole numbers; @p mean below 2^40. */
uint64_t exponential(uint64_t random, uint64_t mean) noexcept;

class Traffic
{
public:
	static constexpr uint32_t FRACTION = 16; ///< bits of a gap behind the point

	Traffic(const TrafficShape &shape, const Layout &layout, uint64_t seed);

	/** Node to which the message of this number goes. */
	uint32_t target(uint32_t node, uint32_t number) const noexcept;

	/** Cycles, with fraction, from the message before to this one. */
	uint64_t gap(uint32_t node, uint32_t number) const noexcept
	{
		return exponential(random_of(seed_ + GAPS, node, number), mean_gap_);
	}

	uint32_t packets() const noexcept { return packets_; } ///< of a message
	uint32_t request_flits(uint32_t bytes) const noexcept;
	uint32_t response_flits(uint32_t bytes) const noexcept; ///< 0 if there is no response

	/** Bytes of the packet with so many packets of its message behind it. */
	uint32_t bytes_with_left(uint32_t left) const noexcept { return left ? PACKET_BYTES : last_bytes_; }

	const TrafficShape &shape() const noexcept { return shape_; }
	uint64_t mean_gap() const noexcept { return mean_gap_; }

private:
	static constexpr uint64_t GAPS = 0x67617073;
	static constexpr uint64_t TARGETS = 0x74617267;

	void permute();

	TrafficShape shape_;
	const Layout &layout_;
	uint64_t seed_;
	uint64_t mean_gap_ = 0;
	uint32_t packets_ = 1;
	uint32_t last_bytes_ = 0;
	std::vector<uint32_t> partner_;     // of a permutation
	std::vector<uint32_t> by_group_;    // nodes
	std::vector<uint32_t> group_first_; // in by_group_
	std::vector<uint32_t> group_of_;    // of a node
};

} // namespace aries::sim

#endif
