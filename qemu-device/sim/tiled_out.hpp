// SPDX-License-Identifier: GPL-2.0-or-later
/* Sub-switches with their column buses, column buffers, and outputs with credits for the far buffer. */
#ifndef ARIES_SIM_TILED_OUT_HPP
#define ARIES_SIM_TILED_OUT_HPP

#include <algorithm>

#include "tiled_part.hpp"

namespace aries::sim
{

template <typename Setup> void TiledPart<Setup>::reach_sub(uint32_t number, uint32_t base)
{
	Packet &packet = pool_[number];
	const uint32_t row = row_of_[packet.in];
	const uint32_t out = base + packet.out;
	const uint32_t sub = base + row * columns_ + column_of_[packet.out];
	const uint32_t bit = column_of_[packet.in] * channels_ + packet.in_channel;
	Queue &queue = sub_[size_t{sub} * columns_ * channels_ + bit].queue;

	packet.ready = now_;
	near_[out] += packet.flits;
	if (lanes_[out].far != NO_PLACE)
		near_sum_[by_tiles_.of(base)] += packet.flits;
	if (queue.empty()) {
		const uint32_t bus = bus_of(out, row);

		set_bit(sub_mask_.data() + size_t{bus} * sub_words_, bit);
		list(column_bus_[bus], list_sub_, bus);
	}
	queue.push(pool_, number);
}

/* What check_sub() will look at first is fetched some buses ahead: each piece of it says where the next one is. */
template <typename Setup>
template <typename Function>
inline void TiledPart<Setup>::at_first_of_sub(uint32_t number, Function function)
{
	in_turn(sub_mask_.data() + size_t{number} * sub_words_, sub_words_, column_bus_[number].turn,
		[this, number, &function](uint32_t bit) {
			function(waiting_at(number, bit));
			return true;
		});
}

template <typename Setup> void TiledPart<Setup>::check_subs()
{
	ahead(
		list_sub_.size(),
		[this](size_t i) {
			__builtin_prefetch(&column_bus_[list_sub_[i]], 1);
			__builtin_prefetch(&sub_mask_[size_t{list_sub_[i]} * sub_words_], 1);
		},
		[this](size_t i) {
			at_first_of_sub(list_sub_[i], [this](const Buffer &buffer) {
				__builtin_prefetch(&pool_[buffer.queue.head], 1);
			});
		},
		[this](size_t i) {
			const uint32_t number = list_sub_[i];

			at_first_of_sub(number, [this, number](const Buffer &buffer) {
				const uint32_t channel = pool_[buffer.queue.head].header.channel;

				__builtin_prefetch(&column_[size_t{number} * channels_ + channel], 1);
			});
		},
		[this](size_t i) { check_sub(list_sub_[i]); });
}

template <typename Setup> void TiledPart<Setup>::check_sub(uint32_t number)
{
	Resource &bus = column_bus_[number];
	const uint32_t words = sub_words_;
	const uint64_t *mask = sub_mask_.data() + size_t{number} * words;

	bus.listed = false;
	if (bus.free > now_) {
		if (any_bit(mask, words))
			arm(bus, Kind::CheckSub, number, bus.free);
		return;
	}

	bool full = false;
	const bool served = in_turn(mask, words, bus.turn,
				    [this, number, &full](uint32_t bit) { return cross_column(number, bit, full); });

	if (served)
		return;
	if (full)
		begin_stall(bus, column_stalls_[number]);
	else
		end_stall(bus, column_stalls_[number]);
}

/* The packet at the head of a sub-switch's queue goes to the column buffer of its output, if there is room. */
template <typename Setup> bool TiledPart<Setup>::cross_column(uint32_t number, uint32_t bit, bool &full)
{
	Resource &bus = column_bus_[number];
	const uint32_t out = by_rows_.of(number);
	const uint32_t row = number - out * rows_;
	const uint32_t base = by_tiles_.of(out) * tiles_;
	Buffer &from = waiting_at(number, bit);
	Packet &packet = pool_[from.queue.head];

	if (packet.ready > now_) {
		arm(bus, Kind::CheckSub, number, packet.ready);
		return false;
	}

	Buffer &to = column_[size_t{number} * channels_ + packet.header.channel];

	const bool room = to.used + packet.flits <= parameters_.column_buffer;

	if (!room || bus.keeping) {
		uint16_t &kept = kept_sub_[size_t{number} * channels_ + packet.header.channel];

		if (!take_or_keep(bus.keeping, kept, bit, room)) {
			full = true;
			return false;
		}
	}

	const uint32_t last = std::max(now_ + packet.flits - 1, packet.tail);
	const uint32_t words = sub_words_;
	const uint32_t in = base + packet.in;

	to.used = static_cast<uint16_t>(to.used + packet.flits);
	from.used = static_cast<uint16_t>(from.used - packet.flits);
	if (in_mask_[in])
		list(row_bus_[in], list_in_, in);
	end_stall(bus, column_stalls_[number]);
	bus.free = last + 1;
	bus.turn = static_cast<uint16_t>(bit + from.take(packet.flits, LONGEST));
	packet.tail = last + parameters_.column_cycles;
	wheel_.add(Kind::ToColumn, now_ + parameters_.column_cycles, from.queue.pop(pool_), base);
	clear_bit(sub_mask_.data() + size_t{number} * words, bit);
	if (!from.queue.empty()) {
		/* The next one asks in the next cycle, whichever bus it wants. */
		Packet &next = pool_[from.queue.head];
		const uint32_t its_bus = bus_of(base + next.out, row);

		next.ready = now_ + 1;
		set_bit(sub_mask_.data() + size_t{its_bus} * words, bit);
		if (its_bus != number)
			arm(column_bus_[its_bus], Kind::CheckSub, its_bus,
			    std::max(column_bus_[its_bus].free, now_ + 1));
	}
	if (any_bit(sub_mask_.data() + size_t{number} * words, words))
		arm(bus, Kind::CheckSub, number, bus.free);
	return true;
}

template <typename Setup> void TiledPart<Setup>::reach_column(uint32_t number, uint32_t base)
{
	Packet &packet = pool_[number];
	const uint32_t out = base + packet.out;
	const uint32_t bit = row_of_[packet.in] * channels_ + packet.header.channel;

	column_[size_t{out} * rows_ * channels_ + bit].queue.push(pool_, number);
	set_bit(column_mask_.data() + size_t{out} * column_words_, bit);
	list(output_[out], list_out_, out);
}

template <typename Setup> void TiledPart<Setup>::spend(uint32_t number, uint32_t channel, uint32_t flits) noexcept
{
	uint16_t &used = spent_[size_t{number} * channels_ + channel];
	const uint32_t reserve = parameters_.channel_reserve;
	const uint32_t before = used > reserve ? used - reserve : 0;

	used = static_cast<uint16_t>(used + flits);
	ports_[number].used += flits;
	ports_[number].shared =
		static_cast<uint16_t>(ports_[number].shared + (used > reserve ? used - reserve : 0) - before);
}

template <typename Setup> void TiledPart<Setup>::take_credit(uint32_t number, uint32_t what)
{
	const uint32_t flits = what & 0xffff;
	uint16_t &used = spent_[size_t{number} * channels_ + (what >> 16)];
	const uint32_t reserve = parameters_.channel_reserve;
	const uint32_t before = used > reserve ? used - reserve : 0;

	used = static_cast<uint16_t>(used - flits);
	ports_[number].used -= flits;
	ports_[number].shared =
		static_cast<uint16_t>(ports_[number].shared - before + (used > reserve ? used - reserve : 0));
	if (number >= places_) {
		const uint32_t router = by_tiles_.of(number - places_);

		if (nic_hungry_[router])
			list(nic_check_[router], list_nic_, router);
	} else if (any_bit(column_mask_.data() + size_t{number} * column_words_, column_words_)) {
		list(output_[number], list_out_, number);
	}
}

/* Room behind a port is there for the packet at the head of a queue; if not, it may be kept for it from now on. */
template <typename Setup>
bool TiledPart<Setup>::may_take(uint32_t number, uint32_t channel, uint32_t flits, uint32_t bit) noexcept
{
	Port &port = ports_[number];
	const bool room = fits(number, channel, flits);

	if (room && !port.keeping) [[likely]]
		return true;
	return take_or_keep(port.keeping, kept_[size_t{number} * channels_ + channel], bit,
			    room && leaves_room(number, channel, flits));
}

/*
 * The packet at the head of a queue of a column buffer may leave by a link. Bubble flow control, if there is one
 * channel of a class: to stay on a ring of links takes room for one of the longest packets behind the link, to enter it
 * room for more, so that some is left. Short packets take as much room as the longest: pieces of room in
 * several buffers would be of no use to any packet. A packet that stays on the ring never waits for one that enters.
 */
template <typename Setup>
inline bool TiledPart<Setup>::may_leave(uint32_t place, const Packet &packet, uint32_t bit) noexcept
{
	const uint32_t channel = packet.header.channel;

	if constexpr (Setup::RINGS) {
		if (bubbles_ && lanes_[place].far != NO_PLACE) {
			const uint32_t packets = Setup::stays(packet.in, packet.out) ? 1 : parameters_.bubble;

			return spent_[size_t{place} * channels_ + channel] + packets * LONGEST <= ring_room_;
		}
	}
	return may_take(place, channel, packet.flits, bit);
}

/*
 * A channel takes no shared room while another channel waits that has less of it. A channel that stands still has most
 * of the shared room, so no other waits for it; and each channel has its reserve, whichever others wait.
 */
template <typename Setup>
bool TiledPart<Setup>::leaves_room(uint32_t number, uint32_t channel, uint32_t flits) const noexcept
{
	const uint16_t *spent = spent_.data() + size_t{number} * channels_;
	const uint16_t *kept = kept_.data() + size_t{number} * channels_;

	if (spent[channel] + flits <= parameters_.channel_reserve)
		return true;
	for (uint32_t other = 0; other < channels_; other++) {
		if (kept[other] && spent[other] < spent[channel])
			return false;
	}
	return true;
}

/* Room that was kept for a queue is not needed any more. */
template <typename Setup> void TiledPart<Setup>::release(uint32_t number, uint32_t channel, uint32_t bit) noexcept
{
	uint16_t &kept = kept_[size_t{number} * channels_ + channel];

	if (kept == bit + 1) {
		kept = 0;
		ports_[number].keeping--;
	}
}

/* As for check_sub(): what check_out() will look at first. */
template <typename Setup>
template <typename Function>
inline void TiledPart<Setup>::at_first_of_column(uint32_t place, Function function)
{
	in_turn(column_mask_.data() + size_t{place} * column_words_, column_words_, output_[place].turn,
		[this, place, &function](uint32_t bit) {
			function(column_[size_t{place} * rows_ * channels_ + bit]);
			return true;
		});
}

template <typename Setup> void TiledPart<Setup>::check_outs()
{
	ahead(
		list_out_.size(),
		[this](size_t i) {
			const uint32_t place = list_out_[i];

			__builtin_prefetch(&output_[place], 1);
			__builtin_prefetch(&column_mask_[size_t{place} * column_words_], 1);
			__builtin_prefetch(&ports_[place], 1);
		},
		[this](size_t i) {
			at_first_of_column(list_out_[i], [](const Buffer &buffer) { __builtin_prefetch(&buffer, 1); });
		},
		[this](size_t i) {
			const uint32_t place = list_out_[i];

			at_first_of_column(place, [this, place](const Buffer &buffer) {
				__builtin_prefetch(&pool_[buffer.queue.head], 1);
				__builtin_prefetch(&spent_[size_t{place} * channels_], 1);
				__builtin_prefetch(&kept_[size_t{place} * channels_]);
				__builtin_prefetch(&lanes_[place]);
			});
		},
		[this](size_t i) { check_out(list_out_[i]); });
}

template <typename Setup> void TiledPart<Setup>::check_out(uint32_t place)
{
	Resource &output = output_[place];
	Port &port = ports_[place];
	const uint32_t words = column_words_;
	const uint64_t *mask = column_mask_.data() + size_t{place} * words;

	output.listed = false;
	if (!any_bit(mask, words))
		return;

	const bool down = faulty_ && down_[place];

	/* A link need not be free at the beginning of a cycle, only in it. */
	if (!down && port.free_tick >= (now_ + uint64_t{1}) * TICKS) {
		arm(output, Kind::CheckOut, place, static_cast<uint32_t>(port.free_tick / TICKS));
		return;
	}

	const Buffer *buffers = column_.data() + size_t{place} * rows_ * channels_;
	const bool sent = in_turn(mask, words, output.turn, [this, place, buffers, down](uint32_t bit) {
		if (down) [[unlikely]] {
			discard(place, bit);
			return true;
		}

		const Packet &packet = pool_[buffers[bit].queue.head];

		if (!may_leave(place, packet, bit))
			return false;
		send(place, bit);
		return true;
	});

	if (!sent) {
		port.blocked = std::min(port.blocked, now_);
	} else if (port.blocked != UINT32_MAX) {
		port.stalled += now_ - port.blocked;
		port.blocked = UINT32_MAX;
	}
}

/* Takes the packet at the head of a column buffer's queue. */
template <typename Setup> inline uint32_t TiledPart<Setup>::leave_column(uint32_t place, uint32_t bit)
{
	Buffer &buffer = column_[size_t{place} * rows_ * channels_ + bit];
	const uint32_t number = buffer.queue.pop(pool_);
	const Packet &packet = pool_[number];
	const uint32_t bus = bus_of(place, row_of_[packet.in]);

	buffer.used = static_cast<uint16_t>(buffer.used - packet.flits);
	if (buffer.queue.empty())
		clear_bit(column_mask_.data() + size_t{place} * column_words_, bit);
	/* Only somebody who waits has something of the room. */
	if (column_bus_[bus].stuck() || any_bit(sub_mask_.data() + size_t{bus} * sub_words_, sub_words_))
		list(column_bus_[bus], list_sub_, bus);
	near_[place] -= packet.flits;
	return number;
}

/* It goes out. */
template <typename Setup> void TiledPart<Setup>::send(uint32_t place, uint32_t bit)
{
	const Lane &lane = lanes_[place];
	Resource &output = output_[place];
	Port &port = ports_[place];
	const uint32_t words = column_words_;
	const uint64_t *mask = column_mask_.data() + size_t{place} * words;
	const uint32_t number = leave_column(place, bit);
	Packet &packet = pool_[number];
	uint64_t start = std::max(uint64_t{now_} * TICKS, port.free_tick);

	if (flit_error_ && lane.far != NO_PLACE) [[unlikely]]
		start += replay(lane, place, packet.flits);

	const uint64_t end = std::max(start + uint64_t{packet.flits} * lane.flit_ticks,
				      uint64_t{packet.tail} * TICKS + lane.flit_ticks);
	const auto cycle_of = [&lane](uint64_t tick) {
		return static_cast<uint32_t>((tick + lane.latency_ticks + TICKS - 1) / TICKS);
	};

	spend(place, packet.header.channel, room_of(place, packet.flits));
	port.flits += packet.flits;
	port.free_tick = end;
	output.turn = static_cast<uint16_t>(
		bit + column_[size_t{place} * rows_ * channels_ + bit].take(packet.flits, LONGEST));
	if (any_bit(mask, words))
		arm(output, Kind::CheckOut, place, std::max(static_cast<uint32_t>(end / TICKS), now_ + 1));
	statistics_.hops++;
	if (lane.far == NO_PLACE) {
		wheel_.add(Kind::Receive, cycle_of(end), number, place);
		return;
	}
	near_sum_[by_tiles_.of(place)] -= packet.flits;
	statistics_.channel_packets[packet.header.channel]++;
	packet.hops++;
	packet.decided = false;
	packet.tail = cycle_of(end) + parameters_.input_cycles;

	const uint32_t arrival = cycle_of(start + lane.flit_ticks) + parameters_.input_cycles;
	const uint32_t far = lane.far - first_place_;

	if (far < places_)
		wheel_.add(Kind::Arrive, arrival, number, far);
	else
		post(number, arrival, lane.far);
}

/* The packet at the head of a column buffer's queue has an output that is down. */
template <typename Setup> void TiledPart<Setup>::discard(uint32_t place, uint32_t bit)
{
	const uint32_t number = leave_column(place, bit);

	if (lanes_[place].far != NO_PLACE)
		near_sum_[by_tiles_.of(place)] -= pool_[number].flits;
	if (any_bit(column_mask_.data() + size_t{place} * column_words_, column_words_))
		arm(output_[place], Kind::CheckOut, place, now_ + 1);
	release(place, pool_[number].header.channel, bit);
	statistics_.lost_on_links++;
	forget(number);
}

/*
 * Ticks that are lost by a bit error: the receiver drops the set and the sets behind it, and reports the error back;
 * then the sender sends again from that set on (P09). A second error in the sets sent again is not modelled: at the
 * highest rate it would hit one packet in 18,000.
 */
template <typename Setup> uint64_t TiledPart<Setup>::replay(const Lane &lane, uint32_t place, uint32_t flits)
{
	const uint64_t random = random_of(seed_ + BIT_ERRORS, uint64_t{first_place_} + place, ports_[place].flits);

	if (random >= flit_error_ * flits)
		return 0;
	replays_[place]++;
	/* Of packets with a check of their own all is sent again (G16, G17). */
	return replay_ticks(lane, Setup::CHECKS_PACKETS ? flits : CHIP.line.set_units);
}

/* To another part. */
template <typename Setup> void TiledPart<Setup>::post(uint32_t number, uint32_t arrival, uint32_t place)
{
	Packet &packet = pool_[number];

	packet.ready = arrival;
	packet.next = place;
	out_[division_.part_of[by_tiles_.of(place)]].packets.push_back(PostedPacket::of(packet));
	pool_.give(number);
}

} // namespace aries::sim

#endif
