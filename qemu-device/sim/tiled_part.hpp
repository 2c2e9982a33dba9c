// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The routers, links and NICs of a part of a machine, cycle by cycle, for a chip whose routers are made of tiles.
 *
 * A packet goes through an input queue, over a row bus to a sub-switch, over a column bus to a column buffer (P15),
 * and over the link. Each of the three moves needs a resource (row bus of the input, column bus of the sub-switch,
 * output) and room behind it for the whole packet; the first flit moves on before the last has come. State is in
 * arrays by tile.
 *
 * In a cycle all that arrives is put into its queue first, then outputs, column buses, row buses and NICs are looked
 * at, in this order, where something has changed. What is looked at in one step changes nothing that the same step
 * looks at elsewhere: so the order of events in a cycle does not matter, and a machine may be cut into parts. What
 * leaves a part by a link goes into a mail: packets, credits, loads. Numbers of places and routers in here count from
 * the first of the part.
 *
 * @p Setup names the chip and its routing strategy (setup_aries.hpp tells what it has): the class is compiled once for
 * each, in a file of its own (part_*.cpp), with the chip's numbers as constants. A flit is what the chip calls its
 * unit.
 */
#ifndef ARIES_SIM_TILED_PART_HPP
#define ARIES_SIM_TILED_PART_HPP

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "lengths.hpp"
#include "messages.hpp"
#include "part.hpp"
#include "wheel.hpp"

namespace aries::sim
{

/*
 * Room that is too small for the packet whose turn it is is kept until there is enough: by turns alone, short packets
 * would take each piece that becomes free, and a long packet would wait for ever. @p kept is the queue for which the
 * room is kept, from 1; no other queue gets any of it.
 */
inline bool take_or_keep(uint8_t &keeping, uint16_t &kept, uint32_t bit, bool room) noexcept
{
	if (kept && kept != bit + 1)
		return false;
	if (room == !kept)
		return room;
	kept = static_cast<uint16_t>(room ? 0 : bit + 1);
	keeping = static_cast<uint8_t>(room ? keeping - 1 : keeping + 1);
	return room;
}

/** Divides by what is not known when it is compiled, and does not change. */
class Divider
{
public:
	explicit Divider(uint32_t by) noexcept : factor_((uint64_t{1} << SHIFT) / by + 1) {}

	/* The factor is too large by less than 2^-SHIFT, which the least fraction that a quotient lacks is above. */
	uint32_t of(uint32_t number) const noexcept { return static_cast<uint32_t>(Wide{number} * factor_ >> SHIFT); }

private:
	__extension__ using Wide = unsigned __int128;
	static constexpr uint32_t SHIFT = 63;

	uint64_t factor_;
};

inline bool any_bit(const uint64_t *words, uint32_t count) noexcept
{
	for (uint32_t word = 0; word < count; word++) {
		if (words[word])
			return true;
	}
	return false;
}

/**
 * Calls @p serve(bit) for the bits in turn, from @p turn on and around, until it returns true. @p serve
 * changes no bit unless it returns true. @return whether it did
 */
template <typename Serve>
[[gnu::always_inline]] inline bool in_turn(const uint64_t *words, uint32_t count, uint32_t turn, Serve serve)
{
	const uint32_t first = turn < count * 64 ? turn / 64 : 0;
	const uint64_t upper = turn < count * 64 ? ~uint64_t{0} << turn % 64 : ~uint64_t{0};

	for (uint32_t i = 0, word = first; i <= count; i++) {
		uint64_t bits = words[word];

		if (i == 0)
			bits &= upper;
		else if (i == count)
			bits &= ~upper;
		for (; bits; bits &= bits - 1) {
			if (serve(word * 64 + static_cast<uint32_t>(std::countr_zero(bits))))
				return true;
		}
		if (++word == count)
			word = 0;
	}
	return false;
}

inline void set_bit(uint64_t *words, uint32_t bit) noexcept
{
	words[bit / 64] |= uint64_t{1} << bit % 64;
}

inline void clear_bit(uint64_t *words, uint32_t bit) noexcept
{
	words[bit / 64] &= ~(uint64_t{1} << bit % 64);
}

template <typename Setup> class TiledPart final : public Part
{
public:
	TiledPart(const PartPlan &plan, uint32_t number, const typename Setup::Tables &tables);

	void run(uint32_t until, Mail *out) override;
	void receive_mail(uint32_t from, const Mail &mail) override;
	void stop_traffic(uint32_t cycle) override
	{
		end_due_ = cycle;
		last_due_ = held_ ? 0 : cycle;
	}
	void measure(uint32_t from, uint32_t until) override;
	void reverse_events() noexcept override { wheel_.reverse(); }

	void expect_faults() override;
	void use_mail(Mail *out) override { out_ = out; }
	void set_down(uint32_t place, bool down) override;
	void set_dead(uint32_t node, bool dead) override;
	void wait_for_tables() override { wait_for_tables_ = true; }
	void hold_requests(bool hold) override;
	void use_tables(TablesOf tables) override { tables_ = std::get<const typename Setup::Tables *>(tables); }

	size_t live() const noexcept override { return pool_.live(); }
	bool idle() const noexcept override;
	const Statistics &statistics() const noexcept override { return statistics_; }
	const Port &port(uint32_t place) const noexcept override { return ports_[place - first_place_]; }
	LinkCount count_of(uint32_t place) const noexcept override;
	const Port &nic_port(uint32_t place) const noexcept override { return ports_[places_ + place - first_place_]; }
	std::string leftover() const override;

private:
	using Packet = PacketOf<typename Setup::Header>;

	static constexpr const chip::Chip &CHIP = Setup::CHIP;
	static constexpr uint32_t TICKS = CHIP.times.cycle_ticks;
	static constexpr uint32_t LONGEST = chip::most_units(CHIP.packets); ///< packet, in flits

	static constexpr size_t AHEAD = 6; ///< resources between two steps towards one, see ahead()

	struct LoadView;

	void step();
	void deliver();
	void look_again(Kind kind, std::vector<Resource> &resources, std::vector<uint32_t> &to);
	void list_borders();
	void publish_loads();

	/*
	 * Calls @p last for each of so many in a list, and before that the others, each AHEAD places sooner than the
	 * next: what one fetches from memory is there for the next.
	 */
	template <typename First, typename Second, typename Third, typename Last>
	[[gnu::always_inline]] static inline void ahead(size_t count, First first, Second second, Third third,
							Last last)
	{
		for (size_t i = 0; i < count + 3 * AHEAD; i++) {
			if (i < count)
				first(i);
			if (i >= AHEAD && i - AHEAD < count)
				second(i - AHEAD);
			if (i >= 2 * AHEAD && i - 2 * AHEAD < count)
				third(i - 2 * AHEAD);
			if (i >= 3 * AHEAD)
				last(i - 3 * AHEAD);
		}
	}

	/* Input: tiled_in.hpp */
	void arrive(uint32_t packet, uint32_t place);
	void fetch_input(uint32_t place) noexcept;
	void decide_soon(uint32_t place);
	void check_inputs();
	void check_in(uint32_t place);
	void route(Packet &packet, uint32_t place);
	void cross_row(uint32_t place, uint32_t channel);
	uint32_t credit_cycles(const Lane &lane) const noexcept;
	void give_back(uint32_t place, uint32_t channel, uint32_t flits);

	/* Sub-switch, column buffer, output: tiled_out.hpp */
	void reach_sub(uint32_t packet, uint32_t base);
	template <typename Function> void at_first_of_sub(uint32_t bus, Function function);
	void check_subs();
	void check_sub(uint32_t bus);
	bool cross_column(uint32_t bus, uint32_t bit, bool &full);
	uint64_t replay(const Lane &lane, uint32_t place, uint32_t flits);
	void reach_column(uint32_t packet, uint32_t base);
	template <typename Function> void at_first_of_column(uint32_t place, Function function);
	void check_outs();
	void check_out(uint32_t place);
	uint32_t leave_column(uint32_t place, uint32_t bit);
	void send(uint32_t place, uint32_t bit);
	void post(uint32_t packet, uint32_t arrival, uint32_t place);
	void take_credit(uint32_t port, uint32_t what);
	bool fits(uint32_t port, uint32_t channel, uint32_t flits) const noexcept;
	bool may_leave(uint32_t place, const Packet &packet, uint32_t bit) noexcept;
	bool may_take(uint32_t port, uint32_t channel, uint32_t flits, uint32_t bit) noexcept;
	bool leaves_room(uint32_t port, uint32_t channel, uint32_t flits) const noexcept;
	void release(uint32_t port, uint32_t channel, uint32_t bit) noexcept;
	void spend(uint32_t port, uint32_t channel, uint32_t flits) noexcept;

	/* NICs: tiled_nic.hpp */
	void receive(uint32_t packet, uint32_t place);
	void check_nics(uint32_t router);
	void finish(uint32_t packet, uint32_t place);
	void count(const Packet &packet, Counts &counts);
	void end_message(const Packet &packet, uint32_t initiator, uint32_t slot);
	void answer(uint32_t packet, Nic &nic);
	void free_processor_buffer(const Packet &packet, uint32_t place);
	void inject(uint32_t router);
	bool answers_with_data(const Nic &nic) const noexcept;
	bool host_is_free(const Nic &nic, bool data) const noexcept;
	uint32_t host_cycle(const Nic &nic) const noexcept;
	void use_host(const Nic &nic, const Packet &packet) noexcept;
	uint64_t look_at(const Nic &nic) noexcept;
	uint8_t tile_in_order(const Nic &nic, bool response) const noexcept;
	uint64_t inject_alone(Nic *nics, uint64_t ready);
	uint64_t grant(uint32_t first, uint64_t ready, uint64_t changed) noexcept;
	bool may_enter(uint32_t number, uint32_t tile, uint32_t bit, uint64_t users) noexcept;
	uint32_t next_at(uint32_t number, uint32_t tile, uint64_t users) noexcept;
	template <typename Takes> uint32_t choose_tile(const Nic &nic, Takes takes);
	uint64_t inject_at(Nic &nic, uint32_t bit, uint32_t place);
	void keep_for_next(const Nic &nic, uint32_t bit, uint32_t tile, uint64_t ready) noexcept;
	void watch_order(const Packet &packet);
	uint32_t make_request(Nic &nic);
	void enter(uint32_t packet, uint32_t place);
	void next_message(Nic &nic);
	uint32_t wake_of(const Nic &nic, bool &hungry) const noexcept;
	void wake_nics(uint32_t router, uint32_t cycle);

	/* Collective engines: tiled_ce.hpp */
	void begin_collectives();
	CollectiveCounts &collective_counts(uint32_t node);
	void plan(uint32_t slot, Step step, uint32_t cycles);
	void plan_operation(uint32_t slot);
	void take_plans();
	void carry_out(const Plan &plan);
	void take_operand(uint32_t slot);
	void send_up(uint32_t slot);
	void send_down(uint32_t slot);
	void send_of_engine(uint32_t slot);
	void reach_engine(const Packet &packet, uint32_t slot);
	bool next_of_engine(Nic &nic);
	void leave_tree(uint32_t slot);
	bool engines_idle() const noexcept;

	/* Failures: tiled_faults.hpp */
	void decide_again();
	void drop_head(uint32_t place, uint32_t channel);
	void discard(uint32_t place, uint32_t bit);
	void lose_arrival(uint32_t packet, uint32_t place);
	void finish_dead(uint32_t packet, uint32_t place, uint32_t slot);
	void damage(Packet &packet, uint32_t place);
	void drop_bad(uint32_t packet, uint32_t place);
	void forget(uint32_t packet);
	void expire();
	void give_up(const Expiry &expiry, uint32_t slot);

	/* A resource that can serve is kept from it, or no more. Who serves sets Resource::free afterwards. */
	void begin_stall(Resource &resource, Stall &stall) const noexcept
	{
		if (resource.stuck())
			return;
		resource.free = 0;
		stall.since = now_;
	}

	void end_stall(Resource &resource, Stall &stall) const noexcept
	{
		if (!resource.stuck()) [[likely]]
			return;
		resource.free = 1;
		stall.cycles += now_ - stall.since;
	}

	void list(Resource &resource, std::vector<uint32_t> &to, uint32_t number)
	{
		if (!resource.listed) {
			resource.listed = true;
			to.push_back(number);
		}
	}

	void arm(Resource &resource, Kind kind, uint32_t number, uint32_t cycle)
	{
		if (!resource.armed) {
			resource.armed = true;
			wheel_.add(kind, cycle, number);
		}
	}

	static constexpr uint64_t BIT_ERRORS = 0x62697473; // what random words are for
	static constexpr uint64_t ROUTER_ERRORS = 0x6d61726b;

	/* What a packet takes of the buffer behind a place: with bubbles, behind a link, as much as the longest. */
	uint32_t room_of(uint32_t place, uint32_t flits) const noexcept
	{
		if constexpr (Setup::RINGS) {
			if (bubbles_ && lanes_[place].far != NO_PLACE)
				return LONGEST;
		}
		return flits;
	}

	/* Queue of a packet in the sub-switch of its input's row and its output's column. */
	size_t sub_queue(const Packet &packet, uint32_t base) const noexcept
	{
		const uint32_t row = row_of_[packet.in];
		const uint32_t sub = base + row * columns_ + column_of_[packet.out];

		return (size_t{sub} * columns_ + column_of_[packet.in]) * channels_ + packet.in_channel;
	}

	/* The same for a packet in the input of a place. */
	Buffer &sub_buffer(uint32_t place, const Packet &packet, uint32_t channel) noexcept
	{
		const uint32_t column = column_of_[packet.in];
		const uint32_t sub = place - column + column_of_[packet.out];

		return sub_[(size_t{sub} * columns_ + column) * channels_ + channel];
	}

	/* The queue of a sub-switch from which a column bus takes by this bit of its mask. */
	Buffer &waiting_at(uint32_t bus, uint32_t bit) noexcept
	{
		const uint32_t out = by_rows_.of(bus);
		const uint32_t row = bus - out * rows_;
		const uint32_t base = by_tiles_.of(out) * tiles_;
		const uint32_t sub = base + row * columns_ + column_of_[out - base];

		return sub_[size_t{sub} * columns_ * channels_ + bit];
	}

	/* Column bus that leads to an output, from a row's sub-switch. */
	uint32_t bus_of(uint32_t output, uint32_t row) const noexcept { return output * rows_ + row; }

	const Parameters parameters_;
	const Layout &layout_;
	/* Of the layout, as they are asked for at every step. */
	const uint32_t tiles_, rows_, columns_, channels_;
	const uint32_t sub_words_, column_words_;
	const Divider by_tiles_, by_rows_;
	std::array<uint8_t, UINT8_MAX + 1> row_of_{}, column_of_{};

	const Division &division_;
	const uint32_t number_;
	const uint32_t first_router_;
	const uint32_t routers_;
	const uint32_t first_place_;
	const uint32_t places_;
	const Lane *lanes_; ///< by place
	const typename Setup::Tables *tables_;
	const Traffic &traffic_;
	const uint64_t seed_;
	const uint64_t flit_error_; ///< probability of an error in a flit, in units of 2^-64

	/* Of setups that have them. */
	const bool bubbles_;          ///< rings are kept open by room, not by channels
	const uint32_t ring_room_;    ///< of a channel behind a link, with bubbles
	const uint64_t router_error_; ///< probability of an error in a flit in a router, in units of 2^-64
	const uint64_t byte_time_;    ///< of a byte over the host interface, in cycles << Traffic::FRACTION; 0: none

	uint32_t now_ = 0;
	uint32_t end_due_ = UINT32_MAX;
	uint32_t last_due_ = UINT32_MAX; // the same, or 0 while requests are held
	bool held_ = false;
	bool wait_for_tables_ = false; // packets without an output stay where they are
	bool faulty_ = false;          // something may fail
	uint32_t measure_from_ = 0;
	uint32_t measure_until_ = UINT32_MAX;

	Pool<Packet> pool_;
	Wheel wheel_;
	std::vector<uint32_t> list_in_, list_sub_, list_out_, list_nic_;

	std::vector<Border> borders_;                   ///< by part
	std::unordered_map<uint64_t, uint32_t> latest_; // sequence received, by source and target; if order is watched

	/* By place in the part. */
	std::vector<Resource> row_bus_;
	std::vector<uint16_t> in_mask_;    // channels that have packets
	std::vector<Queue> input_;         // by channel
	std::vector<Buffer> sub_;          // by sub-switch, input column, input channel
	std::vector<Resource> column_bus_; // by output, source row
	std::vector<uint64_t> sub_mask_;   // by the same: inputs and channels whose first packet goes there
	std::vector<Buffer> column_;       // by output, source row, channel
	std::vector<uint64_t> column_mask_;
	std::vector<Resource> output_;
	std::vector<Stall> row_stalls_;
	std::vector<Stall> column_stalls_; // by output, source row
	std::vector<uint32_t> replays_;    // of outputs; none without bit errors
	std::vector<Port> ports_;          // of outputs, then of NICs into processor tiles
	std::vector<uint16_t> spent_;      // by port, channel
	std::vector<uint16_t> kept_sub_;   // by column bus, channel: queue for which its room is kept, from 1; 0: none
	std::vector<uint16_t> kept_;       // the same by port, channel
	std::vector<uint32_t> near_;       // flits in the router for this output
	std::vector<uint32_t> received_;   // packet that has just come to the NICs
	std::vector<uint16_t> taken_;      // as Buffer::taken, by processor tile, NIC, class

	/* By router in the part; told_ by router of the machine. */
	std::vector<uint32_t> near_sum_; // of network tiles
	std::vector<uint32_t> told_;     // loads that routers sent to their neighbours: by time, router
	std::vector<Teller> tellers_;    // by place: the router that reports loads over its link
	uint32_t told_slots_ = 1;
	std::vector<size_t> told_first_; // in told_, of messages that are so many messages old
	uint32_t told_now_ = 0;          // number of the newest message
	std::vector<Resource> nic_check_;
	std::vector<uint8_t> nic_hungry_; // a NIC waits for room in a processor tile
	std::vector<uint32_t> nic_wake_;

	/* Of the router whose NICs are looked at, by NIC and class, and by tile. */
	std::array<Wish, topology::MAX_NICS * routing::CLASSES> wishes_;
	std::vector<uint32_t> grants_; // who may send

	/* By router, NIC. */
	std::vector<Nic> nics_;
	std::vector<OpenMessages> open_;
	std::vector<uint64_t> host_free_; // when the host interface is, in cycles << Traffic::FRACTION; if it is paced
	Mail *out_ = nullptr;
	Statistics statistics_;

	/* Only if a job has collectives. */
	std::vector<Engine> engines_; // by router, NIC
	std::priority_queue<Plan, std::vector<Plan>, std::greater<>> plans_;
	size_t unfinished_plans_ = 0; // but for those to begin

	/* Only if something may fail. */
	std::vector<uint8_t> down_; // by place: its output
	std::vector<uint8_t> dead_; // by router, NIC
	std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_;
};

template <typename Setup>
inline bool TiledPart<Setup>::fits(uint32_t number, uint32_t channel, uint32_t flits) const noexcept
{
	const bool network = number < places_ && lanes_[number].far != NO_PLACE;
	const uint32_t size = network ? parameters_.input_buffer : parameters_.processor_buffer;
	const uint32_t reserve = parameters_.channel_reserve;
	const uint32_t used = spent_[size_t{number} * channels_ + channel];
	const uint32_t before = used > reserve ? used - reserve : 0;
	const uint32_t after = used + flits > reserve ? used + flits - reserve : 0;

	return ports_[number].shared + after - before <= size - reserve * channels_;
}

} // namespace aries::sim

#endif
