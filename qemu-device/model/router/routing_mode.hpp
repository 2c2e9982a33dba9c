// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Routing control of a packet, from the GNI_DLVMODE_* bits of its operation (R06, R10, R12).
 */
#ifndef ARIES_ROUTER_ROUTING_MODE_HPP
#define ARIES_ROUTER_ROUTING_MODE_HPP

#include <array>
#include <cstdint>

namespace aries
{

/* GNI_DLVMODE_* values. */
inline constexpr uint16_t DLV_NO_ADAPT = 0x0001;
inline constexpr uint16_t DLV_NO_HASH = 0x0002;
inline constexpr uint16_t DLV_NO_RADAPT = 0x0004;
inline constexpr uint16_t DLV_IN_ORDER = 0x0003;
inline constexpr uint16_t DLV_NMIN_HASH = 0x0008;
inline constexpr uint16_t DLV_MIN_HASH = 0x0010;
inline constexpr uint16_t DLV_ADAPTIVE1 = 0x0020;
inline constexpr uint16_t DLV_ADAPTIVE2 = 0x0040;
inline constexpr uint16_t DLV_ADAPTIVE3 = 0x0080;

enum class Routing : uint8_t {
	InOrder,        ///< one way for each pair of nodes, whatever the address
	MinimalHash,    ///< minimal, way by the hash of the header
	NonminimalHash, ///< through a root, both by the hash of the header
	Adaptive,       ///< the lightest of 2 + 2 random candidates, with a bias
};

struct RoutingMode {
	Routing routing;
	uint8_t bias; ///< index of the bias, adaptive only
};

/**
 * Biases to minimal ways in nanoseconds of load, for the modes ADAPTIVE0 to ADAPTIVE3 (R10). A non-minimal
 * candidate must be lighter by that much.
 */
inline constexpr std::array<uint32_t, 4> BIAS_NS{200, 400, 800, 3200};

/** Bits that contradict each other: order first, then hashed, then adaptive. */
constexpr RoutingMode routing_mode(uint16_t dlvr_mode, bool response)
{
	if ((dlvr_mode & DLV_IN_ORDER) == DLV_IN_ORDER)
		return {Routing::InOrder, 0};
	if (dlvr_mode & DLV_NMIN_HASH)
		return {Routing::NonminimalHash, 0};
	if (dlvr_mode & DLV_MIN_HASH)
		return {Routing::MinimalHash, 0};
	if (dlvr_mode & (response ? DLV_NO_RADAPT : DLV_NO_ADAPT))
		return {dlvr_mode & DLV_NO_HASH ? Routing::InOrder : Routing::MinimalHash, 0};
	if (dlvr_mode & DLV_ADAPTIVE3)
		return {Routing::Adaptive, 3};
	if (dlvr_mode & DLV_ADAPTIVE2)
		return {Routing::Adaptive, 2};
	return {Routing::Adaptive, static_cast<uint8_t>(dlvr_mode & DLV_ADAPTIVE1 ? 1 : 0)};
}

/** Mixes all bits of a word into all bits of the result; a packet's random numbers come from it. */
constexpr uint64_t mix64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/** One of @p count values from 32 random bits, without a division. */
constexpr uint32_t pick_of(uint32_t random, uint32_t count)
{
	return static_cast<uint32_t>((uint64_t{random} * count) >> 32);
}

} // namespace aries

#endif
