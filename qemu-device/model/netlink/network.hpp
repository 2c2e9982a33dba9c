// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The network of all nodes, seen by a NIC: what book() is given leaves a NIC at one time and is at another NIC
 * some modelled nanoseconds later. Netlink, router slices and links of the way are booked on the path.
 *
 * State that all processes of a fabric share lies in a block of zero-filled memory: atomic words, no pointers, no
 * locks, and zero means quiet. A process that dies leaves nothing but bookings, and time releases them.
 */
#ifndef ARIES_NETLINK_NETWORK_HPP
#define ARIES_NETLINK_NETWORK_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "link/link.hpp"
#include "link/pace.hpp"
#include "netlink/background.hpp"
#include "netlink/current_tables.hpp"
#include "netlink/detours.hpp"
#include "netlink/fabric_clock.hpp"
#include "netlink/links.hpp"
#include "netlink/router_states.hpp"
#include "netlink/tile_counters.hpp"
#include "router/decide.hpp"
#include "router/routing_mode.hpp"
#include "router/tables_file.hpp"
#include "topology/dragonfly.hpp"
#include "topology/wiring.hpp"

namespace aries
{

/** Requests and responses have their own virtual channels and need not take the same way (P12, R13). */
enum class PacketClass : uint8_t { Request, Response };

/** What all members share beside routers and NICs. All zero: quiet. */
struct alignas(64) FabricState {
	std::atomic<uint32_t> noisy;           ///< a link has had an error rate
	std::atomic<uint32_t> quiesces;        ///< how often the network was quiesced
	std::atomic<uint64_t> quiet_until_ns;  ///< modelled time before which no NIC injects requests
	std::atomic<uint64_t> quiesce_last_ns; ///< length of the last quiesce, as it was asked for
	std::atomic<uint32_t> tables;          ///< generation of the route tables; 0: those of the whole machine
	std::atomic<uint32_t> manager;         ///< process that managed the network last, see Observer::Office
	ClockState clock;                      ///< see FabricClock; its word is in the same line as the rest
	std::atomic<uint32_t> link_changes;    ///< how often a link was changed; no packet looks at it
};

static_assert(offsetof(FabricState, clock) + offsetof(ClockState, changes) <= 64,
	      "what a packet looks at is in one line");

/** Packets that leave a NIC for another, back to back. */
struct Packets {
	uint32_t src; ///< node address of the sending NIC, also of a response (the target of the request)
	uint32_t dst; ///< of the receiving one
	PacketClass cls;
	uint16_t dlvr_mode; ///< GNI_DLVMODE_* bits (R06, R10, R12)
	uint32_t flits; ///< of all of them, see packet/flits.hpp; many are spread over tiles and ways unless the mode
			///< wants order
	uint32_t lane;  ///< small number of the calling thread: neighbours' packets of different ones take different
			///< tiles
	uint64_t hash;  ///< of the header fields; equal ones take equal ways in the hashed modes
	uint32_t packets = 0; ///< how many they are; 0: as few as so many flits can be
};

/**
 * One network. Every process has its own object over the same shared memory, with the same shape.
 *
 * Threads: everything but construction may be called from any number of threads and processes at once. Nothing sleeps,
 * allocates or locks but describe(), the search for a way around cut links, and who meets new route tables first.
 */
class Network
{
public:
	/** What became of packets that were carried: one direction of a transaction. */
	struct Transit {
		uint64_t arrive_ns;  ///< modelled time at which its last flit is at the target NIC
		uint64_t head_ns;    ///< and its first one
		uint32_t hops;       ///< router to router hops of the first packet
		uint32_t all_hops;   ///< and of all packets together
		uint32_t nonminimal; ///< packets that took a way through a root (R03, R04)
		bool reachable;      ///< false: no such node, a NIC cut off, or no way left; nothing was booked
		bool tile_changed;   ///< Netlink moved the source NIC to another processor tile (T05)
		bool damaged; ///< bit errors that no LCB has seen: the packet's CRC finds them at the target (P18)
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
	 * Book the way of @p packets.
	 *
	 * @param now_ns modelled time at which it is booked; one clock for the whole fabric
	 * @param at_ns at which the first flit is ready at the NIC, not before now_ns: later for what is booked
	 * together with packets that it answers
	 */
	Transit book(const Packets &packets, uint64_t now_ns, uint64_t at_ns) noexcept;

	/**
	 * As two calls of book(), for a request of one packet and its response between two NICs of one router whose
	 * tiles are free: the case of nearly all small operations. Books both or, returning false, nothing.
	 *
	 * @param request of one packet
	 * @param response flits of the response
	 * @param now_ns modelled time at which the request leaves and both are booked
	 * @param turn_ns from its arrival until the response leaves
	 * @param there_ns when the request is at the target NIC
	 * @param back_ns when the response is at the initiator's
	 */
	bool exchange(const Packets &request, uint32_t response, uint64_t now_ns, uint64_t turn_ns, uint64_t &there_ns,
		      uint64_t &back_ns) noexcept;

	/** Modelled time, the same for all members. */
	FabricClock &clock() noexcept { return clock_; }
	const FabricClock &clock() const noexcept { return clock_; }

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

	/** How often a link was taken down or up or its lanes or error rate were set, by any process. */
	uint32_t link_changes() const noexcept { return state_.link_changes.load(std::memory_order_acquire); }

	/** Both on one router and connected: nothing lies between them that could be cut. Loads two words, or four. */
	bool adjacent(uint32_t src, uint32_t dst) const noexcept
	{
		return nic_link(src) && nic_link(dst) && router_of(src) == router_of(dst);
	}

	/**
	 * Give both directions of a network link bit errors at a rate per bit, or none with 0 (P11). False as
	 * set_link(), or if the rate is not from 0 to MAX_ERROR_RATE.
	 */
	bool set_error_rate(uint32_t router, uint32_t tile, float rate) noexcept;

	/** A link that is worse than this is none: not one set in a hundred gets through. */
	static constexpr float MAX_ERROR_RATE = 1e-2F;

	/** A link of the fabric has bit errors. */
	bool noisy() const noexcept { return state_.noisy.load(std::memory_order_relaxed); }

	/**
	 * Sets the background load for packets that this process books; other members need calls of their own. Other
	 * threads may be booking meanwhile, so the object before is kept. One caller at a time.
	 * @param what as Background::of() takes it; empty: nothing
	 * @throws std::runtime_error as Background::of() does
	 */
	void set_background(const std::string &what);
	/** Null: there is none. */
	const Background *background() const noexcept { return background_.load(std::memory_order_acquire); }

	/**
	 * No NIC injects requests from @p now_ns on for so long; responses to what is on its way still pass (R14). A
	 * pause under way may be prolonged, never shortened. It is a time and not a lock: modelled time ends it, even
	 * if the process that asked for it has died.
	 * @return false if the length is 0 or more than MAX_QUIESCE_NS
	 */
	bool quiesce(uint64_t now_ns, uint64_t length_ns) noexcept;

	/** Operators do not hold a machine for longer than this at a time. */
	static constexpr uint64_t MAX_QUIESCE_NS = 60'000'000'000;

	/** Modelled time at which a request may leave that is ready at @p ready_ns. Loads one word. */
	uint64_t injects_at(uint64_t ready_ns) const noexcept
	{
		const uint64_t until = state_.quiet_until_ns.load(std::memory_order_relaxed);

		/* A time that is further away than a quiesce may be long is damage, or from before a leap back. */
		return until > ready_ns && until - ready_ns <= MAX_QUIESCE_NS ? until : ready_ns;
	}

	/** What was quiesced so far. */
	struct QuiesceView {
		uint32_t count;   ///< since the fabric was made
		uint64_t last_ns; ///< length of the last one
		uint64_t left_ns; ///< of the one under way, 0 if there is none
	};
	QuiesceView quiesce_view(uint64_t now_ns) const noexcept;

	/** The bytes of a generation of route tables. Throws std::exception with one line if there are none. */
	using ReadTables = std::function<std::vector<std::byte>(uint32_t generation)>;

	/** Who looks at a network and is no member of it. */
	static constexpr uint32_t NO_MEMBER = UINT32_MAX;

	/**
	 * Use the tables that a manager of the network loads (R14), from the next packet on after it has told; else
	 * those of the whole machine stay. Before other threads call book().
	 * @param member that tells in shared memory which ones it uses, or NO_MEMBER
	 */
	void follow_tables(ReadTables read, uint32_t member);

	/**
	 * Takes new tables now, without waiting for a packet.
	 * @return once for each generation that cannot be had: why; the tables before stay in use
	 */
	std::optional<std::string> refresh_tables() noexcept;

	/** Tables that this process decides with; they stay until this thread's next call of anything that decides. */
	const routing::Tables &tables() const noexcept { return tables_.get(); }

	/** Generation of the tables that all members are to use, later members included. */
	uint32_t tables_generation() const noexcept { return state_.tables.load(std::memory_order_acquire); }
	/** Called when all members can read the tables of that generation. */
	void set_tables_generation(uint32_t generation) noexcept
	{
		state_.tables.store(generation, std::memory_order_release);
	}
	/** Generation that a member uses. */
	uint32_t tables_taken(uint32_t member) const noexcept
	{
		return nics_[member].taken.load(std::memory_order_acquire);
	}

	/** The contents of a file of tables. @throws std::invalid_argument if it is not for this network */
	routing::DecodedTables decode_tables(std::span<const std::byte> bytes) const;
	std::array<uint32_t, 3> tables_shape() const noexcept;

	/** With which route tables of this network are made: biases in its unit of load. */
	static routing::Policy policy();

	/** Process that managed the network last; 0: none did. */
	uint32_t manager() const noexcept { return state_.manager.load(std::memory_order_relaxed); }
	void set_manager(uint32_t pid) noexcept { state_.manager.store(pid, std::memory_order_relaxed); }

	/** Modelled time for which packets are still on links and in routers, in ns: all that is booked ahead. */
	uint64_t in_flight_ns(uint64_t now_ns) const noexcept;

	/** One direction of a network link, as it is now. */
	struct LinkView {
		LinkEnd far; ///< where it leads to; tile is NO_TILE if nothing is connected, and all else zero
		bool up;
		uint32_t lanes;   ///< that work, 1 to 3
		float error_rate; ///< of a bit
		uint64_t replays; ///< of its LCB (P09)
		uint64_t missed;  ///< sets whose errors the LCB's CRC has not seen (P10)
		uint64_t load_ns; ///< that it is booked ahead of now_ns
	};
	/** Whether a router has state: nothing was ever changed, booked or counted at one that has none. */
	bool touched(uint32_t router) const noexcept { return tiles_.there(router); }
	LinkView link_view(uint32_t router, uint32_t tile, uint64_t now_ns) const noexcept;

	/** The way of a packet between the places of two members. */
	struct WayView {
		bool reachable;               ///< by the tables; else there may be a detour, which is not looked for
		bool nonminimal;              ///< through a root (R03, R04)
		std::vector<LinkEnd> outputs; ///< router and output tile, one after the other
	};
	/** As routers would decide now for a packet with these header fields. Books nothing. */
	WayView way_view(uint32_t src, uint32_t dst, uint16_t dlvr_mode, uint64_t hash, uint64_t now_ns);

	/** The load of an output tile: nanoseconds that it is booked ahead of now_ns. */
	uint64_t load_ns(uint32_t router, uint32_t tile, uint64_t now_ns) const noexcept;

	/**
	 * What tile @p tile of @p router has counted since the fabric was made, in both directions. Zeros of one that
	 * is not there, or that no packet has passed.
	 */
	TileCounters tile_counters(uint32_t router, uint32_t tile) const noexcept;

	/** Router of the place where a member sits. */
	uint32_t router_of(uint32_t member) const noexcept { return place(member) / NICS_PER_ROUTER; }

	/** Text: shape, place of a node, and one line for each link of its router with load, lanes and state. */
	std::string describe(uint32_t node, uint64_t now_ns) const;

	const Dragonfly &topology() const noexcept { return topo_; }
	const topology::Wiring &wiring() const noexcept { return wiring_; }

private:
	Network(const Dragonfly &topo, const topology::Machine &machine, void *shared, uint32_t members,
		RouterStates::Reserve reserve);

	struct RoutedPackets;
	struct Way;
	struct LoadView;
	struct CutThrough;
	class Tally;

	bool book_packets(const RoutedPackets &routed, Transit &transit) noexcept;
	void book_way(const RoutedPackets &routed, std::span<const uint32_t> links, const uint8_t *channels,
		      uint32_t eject, Transit &transit) noexcept;
	static constexpr uint64_t CROSSING_TICKS = ns_to_ticks(ROUTER_NS / 2); // NIC to router output, and back
	static constexpr uint32_t NIC_TILES =
		chip::ARIES.tiles.share_tiles; // that a NIC shares with its neighbour (T04)
	static constexpr uint32_t NICS_PER_QUAD = chip::ARIES.tiles.share_nics;
	static constexpr uint32_t SPLIT_ABOVE = 8 * chip::most_units(chip::ARIES.packets); // flits that stay together
	static constexpr uint32_t MAX_HOPS = 16; // of a way by the tables, also one around what is missing
	// What asks for more than the quickest way.
	static constexpr uint16_t FIXED = DLV_NO_ADAPT | DLV_NO_RADAPT | DLV_MIN_HASH | DLV_NMIN_HASH;

	class RunBooking;
	/* Many adaptive packets, from tick @start on; false: there is no way, or no room, and nothing is booked. */
	bool book_run(const RoutedPackets &routed, uint64_t start, Transit &transit) noexcept;

	/* One of these for packets that need not be routed; not reachable: not on this way, and nothing is booked. */
	Transit cross(const Packets &packets, uint32_t src, uint32_t dst, uint64_t now, uint64_t at) noexcept;
	template <Store store>
	Transit cross_parts(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
			    uint64_t at) noexcept;
	Transit cross_free(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
			   uint64_t at) noexcept;
	static Transit cross_later(TileState &in, TileState &out, PacketClass cls, uint32_t flits, uint64_t now,
				   uint64_t at) noexcept;
	Transit cross_long(uint32_t src, uint32_t dst, PacketClass cls, uint32_t flits, uint64_t now,
			   uint64_t at) noexcept;
	/* Head and tail are at the other NIC at these ticks. */
	static Transit crossed(uint64_t head, uint64_t tail) noexcept
	{
		return {ticks_to_ns(tail), ticks_to_ns(head), 0, 0, 0, true, false, false};
	}
	static RoutedPackets routed_packets(const Packets &packets, uint64_t now, uint64_t at) noexcept;
	Transit route(const Packets &packets, uint32_t src, uint64_t now_ns, uint64_t at_ns) noexcept;
	static void pass_quickly(TileState &tile, PacketClass cls, uint64_t flits, uint64_t now,
				 uint64_t ticks) noexcept;
	uint32_t lane_tile(uint32_t node, uint32_t lane, PacketClass cls) const noexcept;
	// Link id of the first of the processor tiles of @node: FIRST_INJECT towards the router, FIRST_PROCESSOR back.
	static uint32_t quad_tile(uint32_t node, uint32_t first) noexcept
	{
		return link_id(node / NICS_PER_ROUTER, first + node % NICS_PER_ROUTER / NICS_PER_QUAD * NIC_TILES);
	}
	uint64_t disturb(TileState &tile, uint32_t link, uint64_t flits, uint64_t tick, Transit &transit) noexcept;
	void hear_news(TileState &tile, uint32_t link, uint64_t now) noexcept;
	uint64_t booked_ahead(uint32_t link, uint64_t now) const noexcept;
	uint32_t pick_inject(const RoutedPackets &routed, Transit &transit) noexcept;
	bool choose(const RoutedPackets &routed, Way &way) noexcept;
	bool follow(const routing::Tables &tables, const RoutedPackets &routed, Routing mode, uint32_t hash,
		    uint64_t random, Way &way) noexcept;
	uint32_t pick_eject(const RoutedPackets &routed) noexcept;
	template <typename Change> bool change_link(uint32_t router, uint32_t tile, Change &&change) noexcept;
	NetlinkState &netlink(uint32_t place) const noexcept
	{
		const uint32_t slot = FIRST_NETLINK + place % NICS_PER_ROUTER;

		return reinterpret_cast<NetlinkState &>(tiles_[link_id(place / NICS_PER_ROUTER, slot)]);
	}

	Dragonfly topo_;
	topology::Wiring wiring_;
	uint32_t members_;
	RouterStates tiles_; // shared: TILE_SLOTS per router
	FabricState &state_; // shared
	CurrentTables tables_;
	FabricClock clock_;
	NicPace *paces_; // shared: one per member
	NicState *nics_; // shared: one per member
	Detours detours_;
	std::atomic<const Background *> background_{nullptr};
	std::vector<std::unique_ptr<const Background>> backgrounds_; // that were ever used
};

/*
 * Tile of its quad that few packets of @node take. A response is booked ahead of its time, and no request should wait
 * for one: of the four tiles two are for either class. Both NICs of a quad keep to the same two, whatever tiles Netlink
 * has moved them to, and lanes that follow one another take different ones.
 */
inline uint32_t Network::lane_tile(uint32_t node, uint32_t lane, PacketClass cls) const noexcept
{
	const uint32_t stay = netlink(node - node % NICS_PER_QUAD).tile.load(std::memory_order_relaxed);

	return (stay + lane % (NIC_TILES / 2) + (cls == PacketClass::Response ? NIC_TILES / 2 : 0)) % NIC_TILES;
}

/* Few packets over a processor tile that is free. */
inline void Network::pass_quickly(TileState &tile, PacketClass cls, uint64_t flits, uint64_t now,
				  uint64_t ticks) noexcept
{
	tile.take(now, ticks);
	count_quickly(tile, static_cast<uint32_t>(cls), flits);
}

/*
 * Through the router of both, where nothing is to be decided: few packets on one tile, more of them on all four.
 * Nothing if the tile is booked and another is to be looked for.
 */
[[gnu::always_inline]] inline Network::Transit Network::cross(const Packets &packets, uint32_t src, uint32_t dst,
							      uint64_t now, uint64_t at) noexcept
{
	if (packets.flits > SPLIT_ABOVE) [[unlikely]]
		return cross_long(src, dst, packets.cls, packets.flits, now, at);
	TileState &in = tiles_[quad_tile(src, FIRST_INJECT) + lane_tile(src, packets.lane, packets.cls)];
	TileState &out = tiles_[quad_tile(dst, FIRST_PROCESSOR) + lane_tile(dst, packets.lane, packets.cls)];

	if (has_stream(out)) [[unlikely]]
		return {};
	if (!in.free_at(now) || !out.free_at(now)) [[unlikely]]
		return cross_later(in, out, packets.cls, packets.flits, now, at);
	const uint64_t ticks = flit_ticks(packets.flits, LINK_FACTORS[2][0]);

	pass_quickly(in, packets.cls, packets.flits, now, ticks);
	pass_quickly(out, packets.cls, packets.flits, now, ticks);
	return crossed(at + 2 * CROSSING_TICKS, at + 2 * CROSSING_TICKS + ticks);
}

[[gnu::always_inline]] inline bool Network::exchange(const Packets &request, uint32_t response, uint64_t now_ns,
						     uint64_t turn_ns, uint64_t &there_ns, uint64_t &back_ns) noexcept
{
	if (!nic_link(request.src) || !nic_link(request.dst) || (request.dlvr_mode & FIXED)) [[unlikely]]
		return false;
	const uint32_t src = place(request.src), dst = place(request.dst), router = src / NICS_PER_ROUTER;

	if (dst / NICS_PER_ROUTER != router || !tiles_.ready(router)) [[unlikely]]
		return false;
	const uint32_t lane = request.lane % (NIC_TILES / 2), other = NIC_TILES / 2;
	const uint32_t near = netlink(src - src % NICS_PER_QUAD).tile.load(std::memory_order_relaxed) + lane;
	const uint32_t far = netlink(dst - dst % NICS_PER_QUAD).tile.load(std::memory_order_relaxed) + lane;
	TileState &out = tiles_[quad_tile(src, FIRST_INJECT) + near % NIC_TILES];
	TileState &there = tiles_[quad_tile(dst, FIRST_PROCESSOR) + far % NIC_TILES];
	TileState &turn = tiles_[quad_tile(dst, FIRST_INJECT) + (far + other) % NIC_TILES];
	TileState &back = tiles_[quad_tile(src, FIRST_PROCESSOR) + (near + other) % NIC_TILES];
	const uint64_t now = ns_to_ticks(now_ns);

	if (!out.free_at(now) || !there.free_at(now) || !turn.free_at(now) || !back.free_at(now) || has_stream(there) ||
	    has_stream(back)) [[unlikely]]
		return false;
	static_assert(2 * CROSSING_TICKS == ns_to_ticks(ROUTER_NS), "a crossing takes whole nanoseconds");
	const uint64_t request_ticks = flit_ticks(request.flits, LINK_FACTORS[2][0]);
	const uint64_t response_ticks = flit_ticks(response, LINK_FACTORS[2][0]);

	pass_quickly(out, PacketClass::Request, request.flits, now, request_ticks);
	pass_quickly(there, PacketClass::Request, request.flits, now, request_ticks);
	pass_quickly(turn, PacketClass::Response, response, now, response_ticks);
	pass_quickly(back, PacketClass::Response, response, now, response_ticks);
	there_ns = now_ns + ROUTER_NS + ticks_to_ns(request_ticks);
	back_ns = there_ns + turn_ns + ROUTER_NS + ticks_to_ns(response_ticks);
	return true;
}

[[gnu::always_inline]] inline Network::Transit Network::book(const Packets &packets, uint64_t now_ns,
							     uint64_t at_ns) noexcept
{
	if (!nic_link(packets.src) || !nic_link(packets.dst)) [[unlikely]]
		return {at_ns, at_ns, 0, 0, 0, false, false, false};
	const uint32_t src = place(packets.src), dst = place(packets.dst);

	if (src / NICS_PER_ROUTER == dst / NICS_PER_ROUTER && !(packets.dlvr_mode & FIXED) &&
	    tiles_.ready(src / NICS_PER_ROUTER)) [[likely]] {
		const Transit transit = cross(packets, src, dst, ns_to_ticks(now_ns), ns_to_ticks(at_ns));

		if (transit.reachable) [[likely]]
			return transit;
	}
	/*
	 * Routing needs places in place of members. Each field is copied separately: a copy of the whole block right
	 * after its fields were written would wait for the stores.
	 */
	const Packets placed{src,           dst,          packets.cls,  packets.dlvr_mode,
			     packets.flits, packets.lane, packets.hash, packets.packets};

	return route(placed, packets.src, now_ns, at_ns);
}

} // namespace aries

#endif
