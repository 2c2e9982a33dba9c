// SPDX-License-Identifier: GPL-2.0-or-later
/* Input queues: one for each channel of a tile, in a buffer that they share. The routing decision; the row bus. */
#ifndef ARIES_SIM_TILED_IN_HPP
#define ARIES_SIM_TILED_IN_HPP

#include <algorithm>

#include "tiled_part.hpp"

namespace aries::sim
{

/** What a router knows of the load of its outputs: three metrics, combined to one number of flits (R08). */
template <typename Setup> struct TiledPart<Setup>::LoadView {
	const TiledPart &net;
	uint32_t base; ///< first place of the router

	uint32_t operator()(uint32_t tile) const noexcept
	{
		const uint32_t place = base + tile;
		const Parameters &weigh = net.parameters_;
		const Lane &lane = net.lanes_[place];
		const uint32_t used = net.ports_[place].used;
		uint32_t load = net.near_[place] * weigh.near_weight;

		if (net.faulty_ && net.down_[place])
			return routing::LOAD_DOWN;
		if (used > lane.loop_flits)
			load += (used - lane.loop_flits) * weigh.far_weight;
		if (lane.far != NO_PLACE) {
			const Teller teller = net.tellers_[place];

			load += net.told_[net.told_first_[teller.lag] + teller.router] * weigh.down_weight;
		}
		return load;
	}
};

template <typename Setup> void TiledPart<Setup>::arrive(uint32_t packet, uint32_t place)
{
	const uint32_t channel = pool_[packet].header.channel;

	if (faulty_ && down_[place]) [[unlikely]] {
		lose_arrival(packet, place);
		return;
	}
	input_[size_t{place} * channels_ + channel].push(pool_, packet);
	in_mask_[place] |= static_cast<uint16_t>(1u << channel);
	list(row_bus_[place], list_in_, place);
}

template <typename Setup> void TiledPart<Setup>::route(Packet &packet, uint32_t place)
{
	const uint32_t router = by_tiles_.of(place);
	const uint32_t tile = place - router * tiles_;
	const uint64_t random = random_of(seed_, packet.name(), packet.hops * uint64_t{2} + packet.response);

	packet.in = static_cast<uint8_t>(tile);
	packet.in_channel = packet.header.channel;
	packet.out = Setup::decide(*tables_, first_router_ + router, tile, packet.header,
				   LoadView{*this, router * tiles_}, random);
	packet.decided = true;
	if constexpr (Setup::CHECKS_PACKETS) {
		if (router_error_) [[unlikely]]
			damage(packet, place);
	}
}

/* An input's channels that have packets, in the order in which the input serves them. */
template <typename Function>
[[gnu::always_inline]] inline void in_order(uint32_t channels, uint32_t turn, Function function)
{
	uint32_t upper = channels >> turn << turn;

	for (uint32_t lower = channels ^ upper; upper || lower;) {
		uint32_t &of = upper ? upper : lower;

		if (function(static_cast<uint32_t>(std::countr_zero(of))))
			return;
		of &= of - 1;
	}
}

/*
 * What check_in() will ask first in this cycle: the decision, and the room in the sub-switch. That is begun some inputs
 * ahead, for it waits for memory; nothing that another input does in between changes it.
 */
template <typename Setup> inline void TiledPart<Setup>::decide_soon(uint32_t place)
{
	const uint32_t waiting = in_mask_[place];

	if (!waiting || row_bus_[place].free > now_)
		return;
	in_order(waiting, row_bus_[place].turn, [this, place](uint32_t channel) {
		Packet &packet = pool_[input_[size_t{place} * channels_ + channel].head];

		if (!packet.decided)
			route(packet, place);
		if (packet.out != routing::NO_OUTPUT) [[likely]]
			__builtin_prefetch(&sub_buffer(place, packet, channel), 1);
		return true;
	});
}

/* What decide_soon() will look at first is fetched before that: the packet, where its queue is here already. */
template <typename Setup> inline void TiledPart<Setup>::fetch_input(uint32_t place) noexcept
{
	in_order(in_mask_[place], row_bus_[place].turn, [this, place](uint32_t channel) {
		__builtin_prefetch(&pool_[input_[size_t{place} * channels_ + channel].head], 1);
		return true;
	});
}

template <typename Setup> void TiledPart<Setup>::check_inputs()
{
	const size_t count = list_in_.size();

	ahead(
		count,
		[this](size_t i) {
			const uint32_t place = list_in_[i];

			__builtin_prefetch(&row_bus_[place], 1);
			__builtin_prefetch(&input_[size_t{place} * channels_], 1);
		},
		[this](size_t i) { fetch_input(list_in_[i]); }, [this](size_t i) { decide_soon(list_in_[i]); },
		[this](size_t i) { check_in(list_in_[i]); });
}

template <typename Setup> void TiledPart<Setup>::check_in(uint32_t place)
{
	Resource &bus = row_bus_[place];
	const uint32_t waiting = in_mask_[place];

	bus.listed = false;
	if (!waiting)
		return;
	if (bus.free > now_) {
		arm(bus, Kind::CheckIn, place, bus.free);
		return;
	}
	bool full = false;
	bool crossed = false;

	in_order(waiting, bus.turn, [this, place, &full, &crossed](uint32_t channel) {
		Packet &packet = pool_[input_[size_t{place} * channels_ + channel].head];

		if (!packet.decided)
			route(packet, place);
		if (packet.out == routing::NO_OUTPUT) [[unlikely]] {
			if (!wait_for_tables_ || down_[place])
				drop_head(place, channel);
			return false;
		}
		if (sub_buffer(place, packet, channel).used + packet.flits > parameters_.subswitch_buffer) {
			full = true;
			return false;
		}
		cross_row(place, channel);
		return crossed = true;
	});
	if (crossed)
		return;
	if (full)
		begin_stall(bus, row_stalls_[place]);
	else
		end_stall(bus, row_stalls_[place]);
}

/* The packet at the head of a channel goes to the sub-switch of its output's column. */
template <typename Setup> void TiledPart<Setup>::cross_row(uint32_t place, uint32_t channel)
{
	Queue &queue = input_[size_t{place} * channels_ + channel];
	Resource &bus = row_bus_[place];
	const uint32_t number = queue.pop(pool_);
	Packet &packet = pool_[number];
	const uint32_t last = std::max(now_ + packet.flits - 1, packet.tail);

	sub_buffer(place, packet, channel).used += packet.flits;
	if (queue.empty())
		in_mask_[place] &= static_cast<uint16_t>(~(1u << channel));
	end_stall(bus, row_stalls_[place]);
	bus.free = last + 1;
	bus.turn = static_cast<uint16_t>(channel + 1 == channels_ ? 0 : channel + 1);
	if (in_mask_[place])
		arm(bus, Kind::CheckIn, place, bus.free);
	give_back(place, channel, packet.flits);
	packet.tail = last + parameters_.row_cycles;
	wheel_.add(Kind::ToSub, now_ + parameters_.row_cycles, number, place - packet.in);
}

/* A packet leaves no slower than the next one can come. */
template <typename Setup> uint32_t TiledPart<Setup>::credit_cycles(const Lane &lane) const noexcept
{
	return (lane.latency_ticks + TICKS - 1) / TICKS + parameters_.credit_cycles + 1;
}

/* The room of a packet that leaves an input buffer, to whoever sent it: a router, or a NIC. */
template <typename Setup> void TiledPart<Setup>::give_back(uint32_t place, uint32_t channel, uint32_t flits)
{
	const Lane &lane = lanes_[place];
	const uint32_t far = lane.far - first_place_;
	const uint32_t cycle = now_ + credit_cycles(lane);
	const uint32_t what = channel << 16 | room_of(place, flits);

	if (far < places_)
		wheel_.add(Kind::Credit, cycle, far, what);
	else if (lane.far == NO_PLACE)
		wheel_.add(Kind::Credit, cycle, places_ + place, what);
	else
		out_[division_.part_of[by_tiles_.of(lane.far)]].credits.push_back({cycle, lane.far, what});
}

} // namespace aries::sim

#endif
