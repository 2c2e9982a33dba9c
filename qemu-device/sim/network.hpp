// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * All routers, links and NICs of a machine, cycle by cycle.
 *
 * A packet goes through an input queue, over a row bus to a sub-switch, over a column bus to a column buffer (P15),
 * and over the link. Each of the three moves needs a resource (row bus of the input, column bus of the sub-switch,
 * output) and room behind it for the whole packet; the first flit moves on before the last has come. State is in
 * arrays by tile.
 *
 * In a cycle all that arrives is put into its queue first, then outputs, column buses, row buses and NICs are looked
 * at, in this order, where something has changed. What is looked at in one step changes nothing that the same step
 * looks at elsewhere: so the order of events in a cycle does not matter, and a machine may be cut into parts.
 */
#ifndef ARIES_SIM_NETWORK_HPP
#define ARIES_SIM_NETWORK_HPP

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"
#include "messages.hpp"
#include "packet.hpp"
#include "router/table_builder.hpp"
#include "statistics.hpp"
#include "traffic.hpp"
#include "wheel.hpp"

namespace aries::sim
{

/** Something that serves one packet at a time. */
struct Resource {
	uint32_t free = 0;   ///< cycle from which it can take one
	uint16_t turn = 0;   ///< who is asked first
	bool armed = false;  ///< there is an event to look at it again
	bool listed = false; ///< to be looked at in this cycle
};

struct Buffer {
	Queue queue;
	uint32_t used = 0; ///< flits
};

/** A sender's view of the buffer behind a link; of an output, or of a NIC's way into a processor tile. */
struct Port {
	uint64_t free_tick = 0;
	uint64_t flits = 0;            ///< sent
	uint32_t used = 0;             ///< flits sent and not given back
	uint32_t shared = 0;           ///< of them beyond the reserves of their channels
	uint32_t blocked = UINT32_MAX; ///< cycle since which only room is missing
	uint32_t stalled = 0;          ///< cycles that it was so
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
	bool response_last = false; ///< the last packet was one
	uint32_t promised = 0;      ///< responses that wait or are being made
	Queue responses;
	Queue waiting; ///< requests that find no room for a response
};

class Network
{
public:
	/** The machine passes check_machine(). @p tables must stay. */
	Network(const topology::Machine &machine, const routing::Tables &tables, uint32_t class_channels,
		const Parameters &parameters, const Workload &workload, uint64_t seed);

	/** Go on up to the beginning of this cycle. */
	void run(uint32_t until);

	/** No message is ready in this cycle or later. */
	void stop_traffic(uint32_t cycle) { last_due_ = cycle; }

	/** Messages that are ready from the first of these cycles up to the second are measured. */
	void measure(uint32_t from, uint32_t until);

	/** Take the events of a cycle in another order, which must not matter. */
	void reverse_events() noexcept { wheel_.reverse(); }

	uint32_t now() const noexcept { return now_; }
	size_t live() const noexcept { return pool_.live(); }
	size_t most_packets() const noexcept { return pool_.most(); }
	bool idle() const noexcept;
	const Layout &layout() const noexcept { return layout_; }
	const Traffic &traffic() const noexcept { return traffic_; }
	const Statistics &statistics() const noexcept { return statistics_; }
	const Port &port(uint32_t place) const noexcept { return ports_[place]; }
	const Port &nic_port(uint32_t place) const noexcept { return ports_[layout_.places() + place]; }

	/** Empty if no packet, no flit in a buffer, no missing credit is left; else what is. */
	std::string leftover() const;

private:
	friend struct LoadView;

	void step();
	void deliver();
	void look_again(Kind kind, std::vector<Resource> &resources, std::vector<uint32_t> &to);
	void publish_loads();

	/* Input: network_in.cpp */
	void arrive(uint32_t packet, uint32_t place);
	void check_in(uint32_t place);
	void route(Packet &packet, uint32_t place);
	void cross_row(uint32_t place, uint32_t channel);
	void give_credit(uint32_t port, const Lane &lane, uint32_t channel, uint32_t flits);

	/* Sub-switch, column buffer, output: network_out.cpp */
	void reach_sub(uint32_t packet, uint32_t base);
	void check_sub(uint32_t bus);
	bool cross_column(uint32_t bus, uint32_t bit);
	void reach_column(uint32_t packet, uint32_t base);
	void check_out(uint32_t place);
	void send(uint32_t place, uint32_t bit);
	void take_credit(uint32_t port, uint32_t what);
	bool fits(uint32_t port, uint32_t channel, uint32_t flits) const noexcept;
	void spend(uint32_t port, uint32_t channel, uint32_t flits) noexcept;

	/* NICs: network_nic.cpp */
	void receive(uint32_t packet, uint32_t place);
	void check_nics(uint32_t router);
	void finish(uint32_t packet, uint32_t place);
	void count(const Packet &packet, Counts &counts);
	void end_message(const Packet &packet, uint32_t initiator);
	void answer(uint32_t packet, Nic &nic);
	bool inject(uint32_t node);
	bool inject_class(uint32_t node, bool response);
	uint32_t choose_tile(uint32_t node, uint32_t channel, uint32_t flits) const noexcept;
	uint32_t make_request(uint32_t node);
	void enter(uint32_t packet, uint32_t place);
	void next_message(uint32_t node);
	uint32_t wake_of(uint32_t node, bool &hungry) const noexcept;
	void wake_nics(uint32_t router, uint32_t cycle);

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

	/* Queue of a packet in the sub-switch of its input's row and its output's column. */
	size_t sub_queue(const Packet &packet, uint32_t base) const noexcept
	{
		const uint32_t row = layout_.row_of[packet.in];
		const uint32_t sub = base + row * layout_.columns + layout_.column_of[packet.out];

		return (size_t{sub} * layout_.columns + layout_.column_of[packet.in]) * layout_.channels +
		       packet.in_channel;
	}

	/* Column bus that leads to an output, from a row's sub-switch. */
	uint32_t bus_of(uint32_t output, uint32_t row) const noexcept { return output * layout_.rows + row; }

	const Parameters parameters_;
	const Layout layout_;
	const routing::Tables &tables_;
	const Traffic traffic_;
	const uint64_t seed_;
	uint32_t now_ = 0;
	uint32_t last_due_ = UINT32_MAX;
	uint32_t measure_from_ = 0;
	uint32_t measure_until_ = UINT32_MAX;

	Pool pool_;
	Wheel wheel_;
	std::vector<uint32_t> list_in_, list_sub_, list_out_, list_nic_;

	/* By place. */
	std::vector<Resource> row_bus_;
	std::vector<uint16_t> in_mask_;    // channels that have packets
	std::vector<Queue> input_;         // by channel
	std::vector<Buffer> sub_;          // by sub-switch, input column, input channel
	std::vector<Resource> column_bus_; // by output, source row
	std::vector<uint64_t> sub_mask_;   // by the same: inputs and channels whose first packet goes there
	std::vector<Buffer> column_;       // by output, source row, channel
	std::vector<uint64_t> column_mask_;
	std::vector<Resource> output_;
	std::vector<Port> ports_;        // of outputs, then of NICs into processor tiles
	std::vector<uint16_t> spent_;    // by port, channel
	std::vector<uint32_t> near_;     // flits in the router for this output
	std::vector<uint32_t> received_; // packet that has just come to the NICs

	/* By router. */
	std::vector<uint32_t> near_sum_; // of network tiles
	std::vector<uint32_t> told_;     // what routers told their neighbours: by time, router
	std::vector<uint16_t> told_lag_; // by place: messages that the newest known one is old
	uint32_t told_slots_ = 1;
	uint32_t told_now_ = 0; // number of the newest message
	std::vector<Resource> nic_check_;
	std::vector<uint8_t> nic_hungry_; // a NIC waits for room in a processor tile
	std::vector<uint32_t> nic_wake_;

	std::vector<Nic> nics_; // by node
	std::vector<OpenMessages> open_;
	Statistics statistics_;
};

inline bool Network::fits(uint32_t number, uint32_t channel, uint32_t flits) const noexcept
{
	const bool network = number < layout_.places() && layout_.lanes[number].far != NO_PLACE;
	const uint32_t size = network ? parameters_.input_buffer : parameters_.processor_buffer;
	const uint32_t reserve = parameters_.channel_reserve;
	const uint32_t used = spent_[size_t{number} * layout_.channels + channel];
	const uint32_t before = used > reserve ? used - reserve : 0;
	const uint32_t after = used + flits > reserve ? used + flits - reserve : 0;

	return ports_[number].shared + after - before <= size - reserve * layout_.channels;
}

/** The next bit of some words from a place on, and UINT32_MAX if there is none. */
inline uint32_t next_bit(const uint64_t *words, uint32_t count, uint32_t from) noexcept
{
	uint32_t word = from / 64;

	if (word >= count)
		return UINT32_MAX;

	uint64_t bits = words[word] & ~uint64_t{0} << from % 64;

	while (!bits) {
		if (++word == count)
			return UINT32_MAX;
		bits = words[word];
	}
	return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
}

/** Calls @p serve(bit) for the bits in turn, from @p turn on and around, until it returns true; was there one? */
template <typename Serve> bool in_turn(const uint64_t *words, uint32_t count, uint32_t turn, Serve serve)
{
	for (uint32_t bit = next_bit(words, count, turn); bit != UINT32_MAX; bit = next_bit(words, count, bit + 1)) {
		if (serve(bit))
			return true;
	}
	for (uint32_t bit = next_bit(words, count, 0); bit < turn; bit = next_bit(words, count, bit + 1)) {
		if (serve(bit))
			return true;
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

} // namespace aries::sim

#endif
