// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Elite5 switches, links and adapters of a part of a QsNetIII machine, cycle by cycle.
 *
 * A packet takes a channel of each link on its way and holds it until its answer, an ACK or a NACK, has come back over
 * that link (Q04). It goes in segments: the first has a buffer of its own at the far end, for the channel was free;
 * each other one waits until that buffer is free again, or takes one of a pool (Q16). A segment goes on as soon as its
 * header is through the switch. Where a segment ends, another packet may have the wire (Q17). A link carries a word of
 * eight bytes in a cycle.
 *
 * In a cycle first all that comes is noted: segments, answers, credits; none of that depends on an order. Then each
 * router with something new looks at segments of new packets by the number of their tile, at links in the same order,
 * at adapters last. Routers see nothing of each other in the same cycle. So the result does not depend on the order of
 * events, and a machine may be cut into parts.
 *
 * Numbers: a place is router << 6 | tile, routers counted from the first of the part; behind all of them come the
 * places of adapters, which are those of the tiles that they send to. A record, or channel, is place << 5 | channel.
 */
#ifndef ARIES_SIM_SWITCH_PART_HPP
#define ARIES_SIM_SWITCH_PART_HPP

#include <array>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elite5_line.hpp"
#include "messages.hpp"
#include "part.hpp"
#include "recent.hpp"
#include "switch_groups.hpp"
#include "switch_records.hpp"

namespace aries::sim
{

class SwitchPart final : public Part
{
public:
	SwitchPart(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables);

	void run(uint32_t until, Mail *out) override;
	void receive_mail(uint32_t from, const Mail &mail) override;
	void stop_traffic(uint32_t cycle) override
	{
		end_due_ = cycle;
		last_due_ = held_ ? 0 : cycle;
	}
	void measure(uint32_t from, uint32_t until) override
	{
		measure_from_ = from;
		measure_until_ = until;
	}
	void reverse_events() noexcept override { wheel_.reverse(); }

	void expect_faults() override { lossy_ = true; }
	void use_mail(Mail *out) override { out_ = out; }
	void set_down(uint32_t place, bool down) override;
	void set_dead(uint32_t node, bool dead) override;
	void wait_for_tables() override {}
	void hold_requests(bool hold) override;
	void use_tables(TablesOf tables) override;
	void use_groups(const SwitchGroups *groups) override;

	size_t live() const noexcept override { return unanswered_ + queued_; }
	bool idle() const noexcept override;
	const Statistics &statistics() const noexcept override { return statistics_; }
	const Port &port(uint32_t) const noexcept override { return no_port_; }
	LinkCount count_of(uint32_t place) const noexcept override;
	const Port &nic_port(uint32_t) const noexcept override { return no_port_; }
	std::string leftover() const override;

private:
	static constexpr uint64_t BIT_ERRORS = 0x62697473; // what random words are for
	static constexpr uint64_t ANSWERS = 0x61636b73;
	static constexpr uint64_t WRITES = 0x77726974;
	static constexpr uint32_t ELSEWHERE = 1u << 31; // of a place in another part

	/* What a router has to look at. */
	struct Router {
		uint64_t arrivals = 0; ///< tiles with the first segment of a packet
		uint64_t links = 0;    ///< tiles
		uint32_t adapters = 0; ///< NICs
		bool listed = false;
	};

	/* Where a link leads, from its sender. */
	struct Line {
		uint32_t far = NO_PLACE; ///< place in this part, or ELSEWHERE and one of the machine
		uint32_t latency = 0;    ///< cycles
		bool to_node = false;
	};

	void step();
	void deliver();
	void work(uint32_t router);
	void list(uint32_t router);
	void look_at_link(uint32_t place);

	uint32_t first_record(uint32_t place) const noexcept
	{
		return (place < places_ ? place & ~(SWITCH_TILES - 1) : place) << CHANNEL_BITS;
	}
	uint32_t record_of(uint32_t place, uint32_t from) const noexcept
	{
		return from < FIRST_COPY ? first_record(place) + from
					 : copies_ + (router_of(place) << COPY_BITS) + from - FIRST_COPY;
	}
	bool is_copy(uint32_t record) const noexcept { return record >= copies_; }
	uint32_t router_of(uint32_t place) const noexcept
	{
		return (place < places_ ? place : place - places_) >> TILE_BITS;
	}

	/* Switches: switch_part.cpp */
	void arrive(uint32_t record, uint32_t damage);
	void take_credit(uint32_t channel);
	void take_answer(uint32_t channel, uint32_t what);
	void route(uint32_t place);
	uint8_t decide(uint32_t place, const Held &held);
	void refuse(uint32_t record);
	void answer(uint32_t record, uint32_t what);
	void want(uint32_t place, uint16_t from, bool urgent);
	uint16_t take_first(uint32_t place, RecordList &list);
	void serve(uint32_t place);
	bool serve_held(uint32_t place);
	void begin(uint32_t place, uint16_t from);
	void send(uint32_t place, uint32_t channel);
	void forward(uint32_t place, uint32_t channel, Held &held, uint32_t damage);
	void give_back(uint32_t record);
	uint32_t damage(uint32_t place, uint32_t words, bool header) const noexcept;
	void arm(uint32_t place);
	void stall(Sender &sender) const noexcept
	{
		if (!sender.since)
			sender.since = now_;
	}
	static void go_on(Sender &sender, uint32_t now) noexcept
	{
		if (sender.since) {
			sender.stalled += now - sender.since;
			sender.since = 0;
		}
	}
	void tell(SwitchKind kind, uint32_t cycle, uint32_t place, uint32_t channel, uint32_t what);

	/* Adapters: switch_adapter.cpp */
	void make_adapters();
	void lay_ports();
	void next_message(Adapter &adapter);
	enum class Next : uint8_t { Nothing, Resend, Reply, Message };

	uint32_t words_of(const Adapter &adapter) const noexcept;
	uint32_t data_of(const Adapter &adapter) const noexcept;
	Next next_of(const Adapter &adapter, bool &urgent) const noexcept;
	uint32_t take_packet(Adapter &adapter, Next next);
	uint32_t make_packet(Adapter &adapter);
	void look_at_adapter(uint32_t slot);
	void serve_port(Adapter &adapter, uint32_t place);
	void launch(Adapter &adapter, uint32_t place, Next next);
	uint8_t mode_of(const SwitchPacket &packet) const noexcept;
	bool is_urgent(uint32_t words) const noexcept { return words * WORD_BYTES <= parameters_.urgent_bytes; }
	void wake(uint32_t slot, uint32_t cycle);
	uint32_t wake_of(const Adapter &adapter) const noexcept;
	void receive(uint32_t channel);
	uint32_t accept(const SwitchPacket &packet, uint32_t slot, uint32_t hops, uint32_t in_memory);
	bool is_too_late(const SwitchPacket &packet) const noexcept;
	void watch_order(const SwitchPacket &packet);
	void count(const SwitchPacket &packet, Counts &counts, uint32_t hops) const;
	void reply(const SwitchPacket &asked, uint32_t slot);
	void answered(uint32_t channel, uint32_t what);
	void count_answer(const SwitchPacket &packet);
	void end_message(uint32_t slot, const SwitchPacket &packet, uint32_t sequence, uint32_t in_memory);
	void send_again(const SwitchPacket &packet, uint32_t slot);
	void give_up(const SwitchPacket &packet, uint32_t slot);
	void expire();
	void put_in(Queue &queue, uint32_t packet);
	uint32_t take_out(Queue &queue);
	uint32_t slot_of(uint32_t node) const noexcept
	{
		return (layout_.node_router[node] - first_router_) * layout_.nics + layout_.node_nic[node];
	}
	uint32_t write_cycles(const SwitchPacket &packet, uint32_t slot) const noexcept;

	/* Packets of groups: switch_fan.cpp */
	struct Output {
		uint8_t tile, nic;
	};

	bool route_group(uint32_t record);
	uint8_t tile_to(uint32_t router, uint8_t nic, uint32_t hash) const noexcept;
	bool fan_out(uint32_t record, const std::vector<Output> &outputs);
	uint32_t take_copy(uint32_t router);
	void more_for_copies(uint32_t record);
	void copy_went_on(uint32_t copy);
	void answer_copy(uint32_t copy, uint32_t what);

	/* Broadcasts and barriers at nodes: switch_members.cpp */
	void make_members();
	void plan(uint32_t slot, Step step, uint32_t cycles);
	void plan_operation(uint32_t slot);
	void take_plans();
	void carry_out(const Plan &of);
	void count_ready(uint32_t slot);
	void send_word(uint32_t slot, Carried carried, uint32_t target);
	void broadcast_data(uint32_t slot);
	void queue_for_group(uint32_t slot, Carried carried, uint32_t target, uint32_t bytes, uint32_t words,
			     uint32_t operation);
	uint32_t reach_member(const SwitchPacket &packet, uint32_t slot, uint32_t in_memory);
	bool is_equal(Member &member, uint32_t node, uint32_t asked) const noexcept;
	void take_data(const SwitchPacket &packet, uint32_t slot, uint32_t in_memory);
	void group_answered(const SwitchPacket &packet, uint32_t slot, uint32_t what);
	void leave_group(uint32_t slot);
	bool members_idle() const noexcept;

	/* Failures: switch_faults.cpp */
	void fail_sender(uint32_t place);
	void fail_receiver(uint32_t place);
	void lose(uint32_t place, uint32_t record);
	void choose_again(uint32_t place, RecordList list);
	void empty_queues(Adapter &adapter, uint32_t slot);

	const Parameters parameters_;
	const Layout &layout_;
	const Division &division_;
	const uint32_t number_;
	const uint32_t first_router_;
	const uint32_t routers_;
	const uint32_t places_;   ///< of switches
	const uint32_t copies_;   ///< first record of copies
	const uint32_t channels_; ///< a bit for each that a link has
	const Traffic &traffic_;
	const uint64_t seed_;
	const uint64_t word_error_; ///< probability of an error in a word, in units of 2^-64

	uint32_t now_ = 0;
	uint32_t end_due_ = UINT32_MAX;
	uint32_t last_due_ = UINT32_MAX; // the same, or 0 while messages are held
	bool held_ = false;
	bool lossy_ = false; // packets may be refused
	uint32_t measure_from_ = 0;
	uint32_t measure_until_ = UINT32_MAX;

	SwitchWheel wheel_;
	Pool<SwitchPacket> pool_;
	std::vector<uint32_t> list_; // routers

	/* By router. */
	std::vector<Router> work_;
	routing::ClosCommon common_;
	std::vector<routing::ClosRouter> tables_;
	std::vector<routing::ClosTurns> turns_;

	/* By place. */
	std::vector<Line> lines_;     // also of adapters
	std::vector<Sender> senders_; // also of adapters
	std::vector<uint16_t> load_;  // packets that hold a channel or want one
	std::vector<uint8_t> head_;   // channel of the packet that has just come
	std::vector<uint32_t> link_errors_;

	/* By channel. */
	Zeros<Held> held_in_; // also of adapters
	Zeros<Sent> sent_;    // also of adapters

	/* By router, NIC; packets of adapters by their channels. */
	std::vector<Adapter> adapters_;                // of a node with links to several switches at the first of them
	std::vector<uint32_t> home_;                   // where the adapter of a router's NIC is
	std::vector<uint32_t> first_port_;             // in ports_, of each adapter
	std::vector<uint32_t> ports_;                  // places of links of adapters
	std::array<uint32_t, SWITCH_TILES> nics_of_{}; // a bit for each that a tile is a link to
	std::vector<uint16_t> site_of_;                // by router of the machine
	size_t unanswered_ = 0;                        // packets of adapters here
	size_t queued_ = 0;                            // packets that wait in adapters
	std::vector<OpenMessages> open_;
	Zeros<SwitchPacket> outstanding_;
	std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_;
	std::unordered_map<uint64_t, uint32_t> latest_; // sequence received, by source and target; if order is watched
	Recent done_;                                   // what counts once and is done, if packets may be refused

	/* Only if a job has broadcasts or barriers. */
	const SwitchGroups *groups_ = nullptr;
	Zeros<uint32_t> copy_of_; // by copy: the record of its packet
	std::vector<Copies> free_copies_;
	std::unordered_map<uint32_t, Fan> fans_; // by record
	std::vector<Member> members_;            // by router, NIC
	std::priority_queue<Plan, std::vector<Plan>, std::greater<>> plans_;
	size_t unfinished_plans_ = 0; // but for those to begin

	Mail *out_ = nullptr;
	Statistics statistics_;
	const Port no_port_{};
};

} // namespace aries::sim

#endif
