// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What is counted while a network runs. All of it are sums, so parts can be added in any order.
 */
#ifndef ARIES_SIM_STATISTICS_HPP
#define ARIES_SIM_STATISTICS_HPP

#include <array>
#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "router/tables.hpp"

namespace aries::sim
{

inline constexpr size_t MOST_HOPS = 16; ///< counted apart; longer ways are with the last

/** What is counted for all jobs together, and for each if there are several. */
struct Counts {
	/* While it is measured. */
	uint64_t window_request_flits = 0; ///< received
	uint64_t window_response_flits = 0;
	uint64_t window_bytes = 0; ///< data put or got

	/* Of what was ready while it was measured. */
	Histogram latency;    ///< of requests: from when the message was ready to the last flit at the target
	Histogram network;    ///< of requests: from the first flit out of the NIC
	Histogram round_trip; ///< from when the message was ready to the response's last flit
	Histogram message;    ///< of messages: from ready to the last byte where it shall be, for gets at the initiator
	Histogram message_round_trip;                    ///< from ready to the last flit of the last response
	std::array<uint64_t, MOST_HOPS + 1> hop_count{}; ///< requests by links
	uint64_t nonminimal = 0;                         ///< requests by a root
};

struct Statistics : Counts {
	/* From the beginning. */
	uint64_t injected_packets = 0;
	uint64_t injected_flits = 0;
	uint64_t received_packets = 0;
	uint64_t received_flits = 0;
	uint64_t hops = 0; ///< packets through routers
	uint64_t checks = 0;
	std::array<uint64_t, routing::MAX_CHANNELS> channel_packets{}; ///< sent over links

	std::vector<Counts> jobs; ///< empty if there is one
};

} // namespace aries::sim

#endif
