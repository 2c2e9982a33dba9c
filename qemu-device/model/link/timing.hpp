// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Modelled times of the way from process to process, without load. Network::book() accounts for the part between
 * the NICs (ROUTER_NS, HOP_NS, serialisation, waiting); a NIC adds the rest with the constants here.
 *
 * Calibration, two NICs of one router: an 8-byte put takes 0.8 us (L01) and an 8-byte get 1.6 us (L02).
 *   put: SEND_NS + network + RECEIVE_NS
 *   get: SEND_NS + network + SERVE_GET_NS + network + RECEIVE_NS
 * Each hop adds HOP_NS, once for a put and twice for a get (L05).
 */
#ifndef ARIES_LINK_TIMING_HPP
#define ARIES_LINK_TIMING_HPP

#include <cstdint>

#include "link/rates.hpp"

namespace aries
{

inline constexpr uint32_t NIC_MHZ = chip::ARIES.times.nic_mhz;
inline constexpr uint32_t ROUTER_MHZ = chip::ARIES.times.router_mhz;

/** A posted write over PCIe, either way: processor to NIC, or NIC to memory (from L01). */
inline constexpr uint64_t HOST_CROSSING_NS = 250;

/** The NIC's pipeline, once on the way out and once on the way in: 96 cycles (from L01). */
inline constexpr uint64_t NIC_PIPELINE_NS = 120;

/** A read of host memory by the NIC, there and back: what makes a get dearer than a put (from L02). */
inline constexpr uint64_t HOST_READ_NS = 510;

/** Cycles in which a NIC takes 64 bytes: 10.24 GB/s (L08). */
inline constexpr uint64_t NIC_CYCLES_64B = chip::ARIES.times.nic_packet_cycles;

/** Time for which a NIC is busy with @p bytes of payload: 6.25 ns for each started 64 (L08). */
constexpr uint64_t nic_busy_ns(uint64_t bytes)
{
	return (((bytes + 63) / 64) * NIC_CYCLES_64B * 1000 + NIC_MHZ - 1) / NIC_MHZ;
}

/** Time from the store of a process to the moment at which the request is at Netlink, without data read by DMA. */
inline constexpr uint64_t SEND_NS = HOST_CROSSING_NS + NIC_PIPELINE_NS;

/** Time from the arrival of a packet at the NIC until its data is in memory. */
inline constexpr uint64_t RECEIVE_NS = NIC_PIPELINE_NS + HOST_CROSSING_NS;

/** Time from the arrival of a get at the target NIC until its response is at Netlink. */
inline constexpr uint64_t SERVE_GET_NS = NIC_PIPELINE_NS + HOST_READ_NS + NIC_PIPELINE_NS;

/** After this time a NIC no longer waits for the response to a packet: the operation ends with TIMEOUT (N27, P18). */
inline constexpr uint64_t RESPONSE_TIMEOUT_NS = 10'000'000;

} // namespace aries

#endif
