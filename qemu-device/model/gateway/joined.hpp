// SPDX-License-Identifier: GPL-2.0-or-later
/** @file A segment of this host, joined to segments of other hosts by a wire: aries-gateway with --fabric. */
#ifndef ARIES_GATEWAY_JOINED_HPP
#define ARIES_GATEWAY_JOINED_HPP

#include "gateway/wire.hpp"

namespace aries::gateway
{

/** A fabric over all hosts. All hosts give the same values, except for path. */
struct FabricOptions {
	std::string path;           ///< of this host's segment, which is made if it does not exist; empty: no fabric
	uint32_t nodes = 0;         ///< addresses, 1 to 256: as `nodes` of aries-nic
	uint32_t machine_nodes = 0; ///< as of aries-nic; 0: @p nodes
	uint32_t routers_per_chassis = 16, chassis_per_group = 6; ///< as of aries-nic
	static constexpr uint32_t LAST = UINT32_MAX;
	uint32_t address = LAST; ///< of the gateway itself, of no node on any host; LAST: the last of the fabric
	uint32_t place = LAST;   ///< of the gateway in the machine; LAST: the same as @ref address

	/** Replaces 0 and LAST by the values that they stand for. */
	void complete();
	/** Text that gateways compare before they make a session. */
	std::string shape() const;
};

/** Counters of the carrier since it was made. */
struct CarrierCounts {
	uint64_t requests;  ///< of nodes of this host to other hosts
	uint64_t responses; ///< to these requests
	uint64_t timeouts;  ///< requests that ended because a host is away
	uint64_t served;    ///< requests of other hosts
	uint64_t refused;   ///< invalid messages
	uint64_t open;      ///< requests without a response yet
};

/**
 * A carrier, and the wire that it sends by. Requests of its nodes are sent once a wire is connected.
 *
 * Threads: one thread calls these functions; the wire's thread calls the functions in callbacks().
 */
class Joined
{
public:
	/**
	 * Joins the segment and holds the addresses of all nodes of other hosts.
	 * @param log called with lines, on any thread
	 * @throws Error: the segment is of another shape, addresses are in use or no address of the fabric
	 */
	Joined(const FabricOptions &fabric, const WireOptions &wire, std::function<void(const std::string &)> log);
	/** Requests under way end with TIMEOUT. The wire must have ended, or must not call the callbacks any more. */
	~Joined();
	Joined(const Joined &) = delete;
	Joined &operator=(const Joined &) = delete;

	/** Callbacks for the wire: they call the carrier first, and then @p callbacks. */
	WireCallbacks callbacks(WireCallbacks callbacks);
	/** Sets the wire to send by; nullptr: none. When this returns the earlier wire is no longer used. */
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
