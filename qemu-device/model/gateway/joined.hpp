// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file A segment of this host, joined to those of other hosts by a wire: what aries-gateway runs with --fabric. */
#ifndef ARIES_GATEWAY_JOINED_HPP
#define ARIES_GATEWAY_JOINED_HPP

#include "gateway/wire.hpp"

namespace aries::gateway
{

/** The fabric that nodes of all hosts are in; the same on each of them but for the path. */
struct FabricOptions {
	std::string path;           ///< of this host's segment, which is made if it is not there; empty: no fabric
	uint32_t nodes = 0;         ///< addresses, 1 to 256: as `nodes` of aries-nic
	uint32_t machine_nodes = 0; ///< as of aries-nic; 0: @p nodes
	uint32_t routers_per_chassis = 16, chassis_per_group = 6; ///< the same
	static constexpr uint32_t LAST = UINT32_MAX;
	uint32_t address = LAST; ///< of the gateway itself, of no node on any host; LAST: the last of the fabric
	uint32_t place = LAST;   ///< where in the machine it sits; LAST: the number @ref address

	/** Without what is left to be found: for values as they were given. */
	void complete();
	/** What gateways compare before they talk to each other. */
	std::string shape() const;
};

/** What the carrier has done since it began. */
struct CarrierCounts {
	uint64_t requests;  ///< that nodes of this host had for others
	uint64_t responses; ///< that have come to them
	uint64_t timeouts;  ///< that ended because a host is away
	uint64_t served;    ///< for other hosts
	uint64_t refused;   ///< messages that make no sense
	uint64_t open;      ///< requests without a response yet
};

/**
 * A carrier, and the wire that it sends by. What its nodes have for others goes out once it is connected.
 *
 * Threads: one calls all of this; what callbacks() returns is called by the wire's.
 */
class Joined
{
public:
	/**
	 * Joins the segment and holds the addresses of all nodes of other hosts.
	 * @param log gets lines, on any thread
	 * @throws Error: the segment is of another shape, addresses are in use or no address of the fabric
	 */
	Joined(const FabricOptions &fabric, const WireOptions &wire, std::function<void(const std::string &)> log);
	/** What is under way ends with TIMEOUT; the wire must have ended, or know of us no more. */
	~Joined();
	Joined(const Joined &) = delete;
	Joined &operator=(const Joined &) = delete;

	/** What the wire is to call: @p callbacks are told of up and down behind the carrier. */
	WireCallbacks callbacks(WireCallbacks callbacks);
	/** Where to send, from now on; nullptr: nowhere. The wire that was given before is not used any more then. */
	void connect(Wire *wire);

	CarrierCounts counts() const;
	/** Nodes of other hosts that serve requests, as far as this host knows. */
	std::vector<uint32_t> reachable() const;

private:
	class Way; // from carrier to wire

	std::unique_ptr<Way> way_;
};

} // namespace aries::gateway

#endif
