// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The network of all nodes, seen by a NIC: what carry() is given leaves a NIC at one time and is at another NIC
 * some modelled nanoseconds later. Netlink, router slices and links of the way are booked on the path.
 *
 * The machine may have more nodes than the fabric has members: each member has a place in it. Calls take addresses of
 * members, and routers where they say so.
 *
 * State that all processes of a fabric share lies in a block of zero-filled memory: atomic words, no pointers, no
 * locks, and zero means quiet. A process that dies leaves nothing but bookings, and time releases them.
 */
#ifndef ARIES_NETLINK_NETWORK_HPP
#define ARIES_NETLINK_NETWORK_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "link/link.hpp"
#include "link/pace.hpp"
#include "netlink/detours.hpp"
#include "netlink/router_states.hpp"
#include "router/path_cache.hpp"
#include "router/route_tables.hpp"
#include "router/routing_mode.hpp"
#include "topology/dragonfly.hpp"

namespace aries
{

/** Requests and responses have their own virtual channels and need not take the same way (P12, R13). */
enum class PacketClass : uint8_t { Request, Response };

/**
 * One network. Every process has its own object over the same shared memory, with the same shape.
 *
 * Threads: everything but construction may be called from any number of threads and processes at once; nothing
 * sleeps or allocates except describe(), and nothing locks but the search for a way around cut links.
 */
class Network
{
public:
	/** What became of a train of packets. */
	struct Transit {
		uint64_t arrive_ns; ///< modelled time at which its last flit is at the target NIC
		uint32_t hops;      ///< router to router hops of the first packet
		bool nonminimal;    ///< a packet took a way through a root (R03, R04)
		bool reachable;     ///< false: no such node, a NIC cut off, or no way left; nothing was booked
		bool tile_changed;  ///< Netlink moved the source NIC to another processor tile (T05)
	};

	/** Empty if a network of this shape can be built, else one line that names the cause (T07, T11). */
	static std::string check(const DragonflyShape &shape);

	/**
	 * Bytes of shared memory that a network of a valid shape needs. A multiple of 64.
	 * @param members addresses in the fabric; 0: as many as the machine has nodes
	 */
	static size_t shared_bytes(const DragonflyShape &shape, uint32_t members = 0) noexcept;

	/** How many of them, the first ones, are pages of routers, router by router, ROUTER_BYTES each. */
	static size_t router_bytes(const DragonflyShape &shape) noexcept;

	/**
	 * @param shape must pass check(); throws std::invalid_argument with its text if it does not
	 * @param shared shared_bytes() bytes, aligned to 64, zero when the fabric was created
	 * @param members as given to shared_bytes()
	 * @param reserve makes room for a page of router_bytes(); empty: it is all there
	 */
	Network(const DragonflyShape &shape, void *shared, uint32_t members = 0, RouterStates::Reserve reserve = {});

	Network(const Network &) = delete;
	Network &operator=(const Network &) = delete;

	/** Number of the machine's node where a member sits, or sat last. */
	uint32_t place(uint32_t member) const noexcept
	{
		const uint32_t word = nics_[member].place.load(std::memory_order_relaxed);
		const uint32_t at = word ? word - 1 : member;

		return at < topo_.nodes() ? at : 0; /* other values are damage */
	}

	/** Puts a member at a place. False if there is no such member or place. */
	bool set_place(uint32_t member, uint32_t place) noexcept;

	/**
	 * Book the way of packets that leave a NIC back to back.
	 *
	 * @param src node address of the sending NIC, also of a response (the target of the request)
	 * @param dst node address of the receiving NIC
	 * @param flits_total flits of all the packets, see packet/flits.hpp; many are spread over tiles and ways unless
	 * the mode wants order
	 * @param dlvr_mode GNI_DLVMODE_* bits (R06, R10, R12)
	 * @param hash hash of the header fields; equal ones take equal ways in the hashed modes
	 * @param depart_ns modelled time at which the first flit is ready at the NIC; one clock for the whole fabric
	 * @param early_ns by how much the booking is early, for packets that are issued when others have arrived
	 */
	Transit carry(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits_total, uint16_t dlvr_mode,
		      uint64_t hash, uint64_t depart_ns, uint64_t early_ns = 0) noexcept;

	/** When a request is at its target, and when its response is back. */
	struct Exchange {
		uint64_t arrive_ns;
		uint64_t back_ns;
	};

	/**
	 * carry() of a train of requests and of its responses at once, for the commonest case: adaptive routing between
	 * neighbours, and for a short train all four tiles of the way free.
	 *
	 * @param lane small number of the calling thread: those with different ones book different tiles
	 * @param turn_ns time from the arrival of the requests to the departure of the responses
	 * @return false if this is another case: nothing is booked, carry() both
	 */
	bool exchange(uint32_t src, uint32_t dst, uint32_t request_flits, uint32_t response_flits, uint16_t dlvr_mode,
		      uint32_t lane, uint64_t depart_ns, uint64_t turn_ns, Exchange &out) noexcept;

	/**
	 * The same for small packets that one thread issues one after the other, as many as it likes: they keep to the
	 * tiles of its lane, which pass more of them than a NIC launches (L12), and wait there for those before them.
	 * @return false if they do not go to a neighbour, or not adaptively
	 */
	bool exchange_launched(uint32_t src, uint32_t dst, uint32_t request_flits, uint32_t response_flits,
			       uint16_t dlvr_mode, uint32_t lane, uint64_t depart_ns, uint64_t turn_ns,
			       Exchange &out) noexcept;

	/** What the NIC at @p node has to do; see book_stream() and book_atomic(). */
	NicPace &pace(uint32_t node) const noexcept { return paces_[node]; }

	/** Cut a NIC off from Netlink, or connect it again. Unknown nodes are ignored. */
	void set_nic_link(uint32_t node, bool up) noexcept;
	bool nic_link(uint32_t node) const noexcept
	{
		return node < members_ && !(nics_[node].state.load(std::memory_order_relaxed) & LINK_DOWN);
	}

	/**
	 * Take both directions of a network link down or up (R14).
	 * @return false if there is no link at that tile, or no room for the state of its routers
	 */
	bool set_link(uint32_t router, uint32_t tile, bool up) noexcept;

	/** Set the working lanes, 1 to 3, of both directions of a network link (P17). False as set_link(). */
	bool set_lanes(uint32_t router, uint32_t tile, uint32_t lanes) noexcept;

	/** Both on one router and connected: nothing lies between them that could be cut. Loads two words, or four. */
	bool adjacent(uint32_t src, uint32_t dst) const noexcept
	{
		return nic_link(src) && nic_link(dst) && router_of(src) == router_of(dst);
	}

	/** The load of an output tile: nanoseconds that it is booked ahead of now_ns. */
	uint64_t load_ns(uint32_t router, uint32_t tile, uint64_t now_ns) const noexcept;

	/** Text: shape, place of a node, and one line for each link of its router with load, lanes and state. */
	std::string describe(uint32_t node, uint64_t now_ns) const;

	const Dragonfly &topology() const noexcept { return topo_; }

private:
	struct Train;

	bool book_train(const Train &train, Transit &transit) noexcept;
	void book_way(const Train &train, std::span<const uint32_t> links, Transit &transit) noexcept;
	bool cross_free(uint32_t src, uint32_t dst, uint64_t request_ticks, uint64_t response_ticks, uint32_t lane,
			uint64_t depart_ns, uint64_t turn_ns, Exchange &out) noexcept;
	uint64_t cross_together(uint32_t src, uint32_t dst, PacketClass cls, uint64_t flits, uint64_t now, uint64_t at,
				uint32_t lane) noexcept;
	uint32_t lane_tile(uint32_t node, uint32_t lane, PacketClass cls) const noexcept;
	template <auto take>
	uint64_t cross(uint32_t src, uint32_t dst, uint64_t flits, uint64_t now, uint64_t at) noexcept;
	static uint32_t quad_tile(uint32_t node, uint32_t first) noexcept;
	TileState &pick_inject(const Train &train, Transit &transit) noexcept;
	TileState &pick_eject(const Train &train) noexcept;
	bool choose(const Train &train, Path &path, bool &nonminimal) noexcept;
	bool choose_adaptive(const Train &train, Path &path, bool &nonminimal) noexcept;
	bool choose_detour(const Train &train, Path &path, bool &nonminimal) noexcept;
	uint64_t minimal(const Train &train, uint32_t way, Path &path) noexcept;
	uint64_t through_root(const Train &train, uint32_t pick, Path &path) noexcept;
	uint64_t path_load(const Path &path, uint64_t at) const noexcept;
	template <typename Change> bool change_link(uint32_t router, uint32_t tile, Change &&change) noexcept;
	uint32_t router_of(uint32_t member) const noexcept { return place(member) / NICS_PER_ROUTER; }
	NetlinkState &netlink(uint32_t place) const noexcept
	{
		const uint32_t slot = FIRST_NETLINK + place % NICS_PER_ROUTER;

		return reinterpret_cast<NetlinkState &>(tiles_[link_id(place / NICS_PER_ROUTER, slot)]);
	}

	Dragonfly topo_;
	RouteTables tables_;
	PathCache cache_;
	uint32_t members_;
	RouterStates tiles_; // shared: TILE_SLOTS per router
	NicPace *paces_;     // shared: one per member
	NicState *nics_;     // shared: one per member
	Detours detours_;
};

} // namespace aries

#endif
