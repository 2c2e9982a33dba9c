// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A part of a machine, as a network of parts sees it: it goes on for a window of cycles, and has mail. What routers do
 * inside is that of a chip, and is in tiled_part.hpp. A part may be the whole machine.
 */
#ifndef ARIES_SIM_PART_HPP
#define ARIES_SIM_PART_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "division.hpp"
#include "layout.hpp"
#include "packet.hpp"
#include "router/clos.hpp"
#include "router/tables.hpp"
#include "router/torus.hpp"
#include "statistics.hpp"
#include "traffic.hpp"

namespace aries::sim
{

/** Counts a packet in a turn, which is @p turn flits on average: the longest packet. @return the turn is over */
constexpr bool take_turn(uint16_t &taken, uint32_t flits, uint32_t turn) noexcept
{
	const uint32_t sum = taken + flits;
	const bool over = sum >= turn;

	taken = static_cast<uint16_t>(over ? sum - turn : sum);
	return over;
}

/** Something that serves one packet at a time. */
struct Resource {
	uint32_t free = 1;   ///< cycle from which it can move a packet; 0: it is free, but there is no room behind it
	uint16_t turn = 0;   ///< the queue that is asked first
	uint8_t keeping = 0; ///< of a column bus: channels whose room is kept for one queue
	bool armed : 1 = false;  ///< there is an event to look at it again
	bool listed : 1 = false; ///< to be looked at in this cycle

	bool stuck() const noexcept { return free == 0; }
};

/** A queue, and what it may still send before the turn goes on: shares are of flits, whatever packets have. */
struct Buffer {
	Queue queue;
	uint16_t used = 0;  ///< flits
	uint16_t taken = 0; ///< flits in its turn; what is more than one counts for the next

	/** It sends a packet; a turn is as long as the longest one. @return its turn is over */
	bool take(uint32_t flits, uint32_t longest) noexcept { return take_turn(taken, flits, longest); }
};

/** A sender's view of the buffer behind a link; of an output, or of a NIC's way into a processor tile. */
struct Port {
	uint64_t free_tick = 0;
	uint64_t flits = 0;            ///< sent
	uint32_t used = 0;             ///< flits sent and not given back
	uint16_t shared = 0;           ///< of them beyond the reserves of their channels
	uint8_t keeping = 0;           ///< channels whose room is kept for one queue
	uint8_t turn = 0;              ///< of a NIC's port: the NIC and class that are asked first
	uint32_t blocked = UINT32_MAX; ///< cycle since which a packet waits only for room
	uint32_t stalled = 0;          ///< cycles of such waits
};

/** Cycles in which a bus could have moved a packet that found no room, up to now. */
struct Stall {
	uint32_t since = 0; ///< if Resource::stuck()
	uint32_t cycles = 0;
};

/** Routers of this part with links to another part, and routers of that part with links to this one. */
struct Border {
	std::vector<uint32_t> here;
	std::vector<uint32_t> there;
};

/** The router whose messages about loads come over a link. */
struct Teller {
	uint32_t router; ///< of the machine
	uint32_t lag;    ///< messages that the newest known one is old
};

struct Nic {
	uint64_t clock = 0;   ///< when the message was ready, with fraction
	uint32_t due = 0;     ///< the same in cycles
	uint32_t message = 0; ///< its number
	uint32_t target = 0;
	uint32_t bytes = 0;
	uint32_t packets = 0;
	uint32_t left = 0;     ///< of them
	uint32_t sequence = 0; ///< of the next request
	uint16_t outstanding = 0;
	uint8_t index = 0;     ///< in its router
	Operation operation{}; ///< of the message
	uint32_t promised = 0; ///< responses that wait or are being made
	Queue responses;
	Queue waiting;            ///< requests that find no room for a response
	uint32_t node = NO_PLACE; ///< none if there is no node
	uint32_t base = 0;        ///< first place of its router
};

/** The next packet of a NIC's class, if it is ready. */
struct Wish {
	uint8_t flits;
	uint8_t tile; ///< that it must go through, or ANY_TILE
};

inline constexpr uint8_t ANY_TILE = UINT8_MAX;
inline constexpr uint32_t NOBODY = UINT32_MAX;

/** A node of a job's tree: the host's part in operations and, if the node has children, the collective engine's. */
struct Engine {
	uint32_t operation = 0; ///< number of the host's present or next operation
	uint32_t began = 0;     ///< cycle in which the host began it
	uint32_t free = 0;      ///< cycle in which all operands that have come are added
	uint32_t ready = 0;     ///< cycle in which the packets to be sent were ready
	uint8_t arrived = 0;    ///< operands of the operation under way
	uint8_t owed = 0;       ///< children to which the result has not been sent
	bool up = false;        ///< something is to be sent to the parent
	bool gone = false;      ///< the node has failed
};

/** What hosts and engines do some time later. */
enum class Step : uint8_t {
	Begin,    ///< the host begins its next operation
	Operand,  ///< its operand is in the NIC
	Combined, ///< all operands are
	Result,   ///< the result is
	End,      ///< the host has the result and its event
};

struct Plan {
	uint32_t cycle, slot;
	Step step;

	bool operator>(const Plan &other) const noexcept
	{
		return std::tie(cycle, slot, step) > std::tie(other.cycle, other.slot, other.step);
	}
};

/** A node gives up a request in this cycle: the request or its response was lost. */
struct Expiry {
	uint32_t cycle, node, sequence;
	bool alone; ///< as the packet's

	bool operator>(const Expiry &other) const noexcept { return cycle > other.cycle; }
};

/** What has left a tile up to now, and how long packets waited for room. */
struct LinkCount {
	uint64_t flits = 0;
	uint64_t replays = 0; ///< times that the LCB sent again (P09)
	/* Cycles. */
	uint64_t row_stalled = 0;    ///< its input's row bus: no room in a sub-switch
	uint64_t column_stalled = 0; ///< column buses to its output, all rows: no room in the column buffer
	uint64_t stalled = 0;        ///< its output: no room behind the link
};

/** Packets, credits and loads that one part sends to another in a window of time; places are numbers in the machine. */
struct Mail {
	struct Credit {
		uint32_t cycle, port, what;
	};

	std::vector<PostedPacket> packets; ///< PacketOf::ready is the cycle of arrival, PacketOf::next the place
	std::vector<Credit> credits;
	std::vector<uint32_t> loads; ///< of the routers at the border, message by message
	std::vector<Expiry> expiries;

	void clear()
	{
		packets.clear();
		credits.clear();
		loads.clear();
		expiries.clear();
	}
};

/** Route tables of a machine, by the strategy of its chip. They must stay. */
using TablesOf = std::variant<const routing::Tables *, const routing::TorusTables *, const routing::ClosTables *>;

class SwitchGroups;

/** Called once for a window of time, or less often: nothing here is called for a packet. */
class Part
{
public:
	Part() = default;
	Part(const Part &) = delete;
	Part &operator=(const Part &) = delete;
	virtual ~Part() = default;

	/**
	 * Go on up to the beginning of this cycle, with one mail for each part in @p out. Nothing in them is for a
	 * cycle before that, if no more than Division::window cycles are run.
	 */
	virtual void run(uint32_t until, Mail *out) = 0;
	virtual void receive_mail(uint32_t from, const Mail &mail) = 0;

	/** No message is ready in this cycle or later. */
	virtual void stop_traffic(uint32_t cycle) = 0;

	/** Messages that are ready from the first of these cycles up to the second are measured. */
	virtual void measure(uint32_t from, uint32_t until) = 0;

	/** Take the events of a cycle in another order, which must not matter. */
	virtual void reverse_events() noexcept = 0;

	/*
	 * Failures, between two cycles. Places and nodes are those of the machine; they may be in other parts. What is
	 * lost may concern another part, so there must be mails to write into.
	 */
	virtual void expect_faults() = 0;
	virtual void use_mail(Mail *out) = 0;
	virtual void set_down(uint32_t place, bool down) = 0;
	virtual void set_dead(uint32_t node, bool dead) = 0;
	virtual void wait_for_tables() = 0;
	virtual void hold_requests(bool hold) = 0;
	virtual void use_tables(TablesOf tables) = 0;

	/** Of QsNetIII: null if no job has broadcasts. They must stay. */
	virtual void use_groups(const SwitchGroups *) {}

	virtual size_t live() const noexcept = 0; ///< packets
	virtual bool idle() const noexcept = 0;
	virtual const Statistics &statistics() const noexcept = 0;
	virtual const Port &port(uint32_t place) const noexcept = 0;
	virtual LinkCount count_of(uint32_t place) const noexcept = 0;
	virtual const Port &nic_port(uint32_t place) const noexcept = 0;

	/** Empty if no packet, no flit in a buffer, no missing credit is left; else what is. */
	virtual std::string leftover() const = 0;
};

/** What a part is made from; all of it must stay. */
struct PartPlan {
	const Layout &layout;
	const Division &division;
	const Parameters &parameters;
	const Traffic &traffic;
	uint64_t seed;
};

/** The part of this number, of the chip and strategy that the tables are for. */
std::unique_ptr<Part> make_part(const PartPlan &plan, uint32_t number, TablesOf tables);

/* One for each setup, in a file of its own. */
std::unique_ptr<Part> make_aries_part(const PartPlan &plan, uint32_t number, const routing::Tables &tables);
std::unique_ptr<Part> make_gemini_part(const PartPlan &plan, uint32_t number, const routing::TorusTables &tables);
std::unique_ptr<Part> make_clos_part(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables);
std::unique_ptr<Part> make_switch_part(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables);

} // namespace aries::sim

#endif
