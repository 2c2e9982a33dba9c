// SPDX-License-Identifier: GPL-2.0-or-later
/* NICs: messages become requests, requests become responses; Netlink spreads them over processor tiles (T05). */
#ifndef ARIES_SIM_TILED_NIC_HPP
#define ARIES_SIM_TILED_NIC_HPP

#include <algorithm>
#include <utility>

#include "tiled_part.hpp"

namespace aries::sim
{

/* A processor tile delivers one packet in a cycle, at most; which tile is first must not depend on events. */
template <typename Setup> void TiledPart<Setup>::receive(uint32_t packet, uint32_t place)
{
	const uint32_t router = by_tiles_.of(place);

	received_[place] = packet;
	list(nic_check_[router], list_nic_, router);
}

template <typename Setup> void TiledPart<Setup>::check_nics(uint32_t router)
{
	const uint32_t first = router * tiles_;
	uint32_t wake = UINT32_MAX;
	bool hungry = false;

	nic_check_[router].listed = false;
	for (const uint8_t tile : layout_.processor_tiles) {
		if (received_[first + tile] != NO_PACKET)
			finish(std::exchange(received_[first + tile], NO_PACKET), first + tile);
	}
	inject(router);
	for (uint32_t i = 0; i < layout_.nics; i++) {
		const Nic &nic = nics_[size_t{router} * layout_.nics + i];

		if (nic.node != NO_PLACE)
			wake = std::min(wake, wake_of(nic, hungry));
	}
	nic_hungry_[router] = hungry;
	if (wake != UINT32_MAX)
		wake_nics(router, wake);
}

template <typename Setup> void TiledPart<Setup>::wake_nics(uint32_t router, uint32_t cycle)
{
	const uint32_t at = std::min(cycle, now_ + wheel_.horizon());

	if (at < nic_wake_[router]) {
		nic_wake_[router] = at;
		wheel_.add(Kind::CheckNic, at, router);
	}
}

/* A packet has come to its NIC. */
template <typename Setup> void TiledPart<Setup>::finish(uint32_t number, uint32_t place)
{
	Packet &packet = pool_[number];
	const uint32_t slot = by_tiles_.of(place) * layout_.nics + packet.header.nic;
	Nic &nic = nics_[slot];
	const uint32_t initiator = packet.response ? packet.target : packet.source;

	if (faulty_ && dead_[slot]) [[unlikely]] {
		finish_dead(number, place, slot);
		return;
	}
	if constexpr (Setup::CHECKS_PACKETS) {
		if (packet.bad) [[unlikely]] {
			drop_bad(number, place);
			return;
		}
	}
	statistics_.received_packets++;
	statistics_.received_flits += packet.flits;
	if (parameters_.watch_order && !packet.response)
		watch_order(packet);
	count(packet, statistics_);
	if (!statistics_.jobs.empty())
		count(packet, statistics_.jobs[traffic_.job_of(initiator)]);
	if (packet.response) {
		nic.outstanding--;
		end_message(packet, initiator, slot);
	} else if (response_flits(CHIP.packets, packet.operation, packet.bytes)) {
		packet.sent = now_;
		packet.out = static_cast<uint8_t>(place - by_tiles_.of(place) * tiles_);
		if (nic.promised >= parameters_.response_queue)
			nic.waiting.push(pool_, number);
		else
			answer(number, nic);
		return;
	} else {
		end_message(packet, initiator, slot);
		if (is_collective(packet.operation)) [[unlikely]]
			reach_engine(packet, slot);
	}
	free_processor_buffer(packet, place);
	pool_.give(number);
}

/* Numbers of a source's requests go up, so those of a pair do (R12). */
template <typename Setup> void TiledPart<Setup>::watch_order(const Packet &packet)
{
	uint32_t &latest = latest_[uint64_t{packet.source} << 32 | packet.target];

	if (packet.sequence < latest)
		statistics_.overtaken++;
	else
		latest = packet.sequence;
}

template <typename Setup> void TiledPart<Setup>::count(const Packet &packet, Counts &counts)
{
	const bool window = now_ >= measure_from_ && now_ < measure_until_;

	if (packet.response) {
		if (window)
			counts.window_response_flits += packet.flits;
		if (packet.measured)
			counts.round_trip.add(now_ - packet.born);
		return;
	}
	if (window) {
		counts.window_request_flits += packet.flits;
		counts.window_bytes += packet.bytes;
	}
	if (packet.measured) {
		counts.latency.add(now_ - packet.born);
		counts.network.add(now_ - packet.sent);
		counts.hop_count[std::min<size_t>(packet.hops, MOST_HOPS)]++;
		counts.hop_cycles[std::min<size_t>(packet.hops, MOST_HOPS)] += now_ - packet.sent;
		counts.nonminimal += Setup::nonminimal(packet.header);
	}
}

/* The last packet that belongs to a request has come: its message may be done. */
template <typename Setup> void TiledPart<Setup>::end_message(const Packet &packet, uint32_t initiator, uint32_t slot)
{
	uint32_t last_byte = packet.operation == Operation::Put ? packet.sent : now_;

	if (!packet.alone)
		last_byte = open_[slot].close(packet.sequence, last_byte);
	if (!last_byte || !packet.measured)
		return;

	const auto add = [&](Counts &counts) {
		counts.message.add(last_byte - packet.born);
		if (packet.response)
			counts.message_round_trip.add(now_ - packet.born);
	};

	add(statistics_);
	if (!statistics_.jobs.empty())
		add(statistics_.jobs[traffic_.job_of(initiator)]);
}

/* A packet leaves the buffer between a processor tile and its NICs. */
template <typename Setup> void TiledPart<Setup>::free_processor_buffer(const Packet &packet, uint32_t place)
{
	wheel_.add(Kind::Credit, now_ + credit_cycles(lanes_[place]), place,
		   packet.header.channel << 16 | packet.flits);
}

/* A request is taken out of the NIC's buffer; its response will be ready some time later. */
template <typename Setup> void TiledPart<Setup>::answer(uint32_t number, Nic &nic)
{
	Packet &packet = pool_[number];
	const uint32_t place = nic.base + packet.out;

	free_processor_buffer(packet, place);
	std::swap(packet.source, packet.target);
	packet.response = true;
	packet.ready = now_ + parameters_.serve_cycles;
	packet.flits = static_cast<uint8_t>(response_flits(CHIP.packets, packet.operation, packet.bytes));
	packet.header.mode = traffic_.shape_of(packet.target).response_mode;
	nic.promised++;
	nic.responses.push(pool_, number);
}

/* The next response of a NIC brings what a get asked for. */
template <typename Setup> inline bool TiledPart<Setup>::answers_with_data(const Nic &nic) const noexcept
{
	if constexpr (Setup::PACES_HOSTS)
		return pool_[nic.responses.head].operation == Operation::Get;
	return false;
}

/* Data for the next packet of a NIC can be fetched from its host; what carries none needs not wait. */
template <typename Setup> inline bool TiledPart<Setup>::host_is_free(const Nic &nic, bool data) const noexcept
{
	if constexpr (Setup::PACES_HOSTS)
		return !data || !byte_time_ || host_cycle(nic) <= now_;
	return true;
}

template <typename Setup> inline uint32_t TiledPart<Setup>::host_cycle(const Nic &nic) const noexcept
{
	if constexpr (Setup::PACES_HOSTS)
		return static_cast<uint32_t>(host_free_[static_cast<size_t>(&nic - nics_.data())] >> Traffic::FRACTION);
	return 0;
}

/* The host interface of a NIC is busy for as long as the data of a packet take (G40, G41). */
template <typename Setup> inline void TiledPart<Setup>::use_host(const Nic &nic, const Packet &packet) noexcept
{
	const bool data = packet.operation == (packet.response ? Operation::Get : Operation::Put);
	uint64_t &free = host_free_[static_cast<size_t>(&nic - nics_.data())];

	if (data)
		free = std::max(free, uint64_t{now_} << Traffic::FRACTION) + packet.bytes * byte_time_;
}

/* The classes of a NIC that have a packet ready, from the lowest bit on: requests, responses. */
template <typename Setup> [[gnu::always_inline]] inline uint64_t TiledPart<Setup>::look_at(const Nic &nic) noexcept
{
	Wish *const wishes = wishes_.data() + size_t{nic.index} * routing::CLASSES;
	uint64_t ready = 0;

	if (nic.node == NO_PLACE)
		return 0;
	if (nic.due <= now_ && nic.due < last_due_ && nic.outstanding < parameters_.outstanding) {
		const uint32_t bytes = Traffic::bytes_with_left(nic.bytes, nic.left - 1);

		if (host_is_free(nic, nic.operation == Operation::Put)) {
			wishes[0] = {static_cast<uint8_t>(request_flits(CHIP.packets, nic.operation, bytes,
									traffic_.shape_of(nic.node).raw_flits)),
				     tile_in_order(nic, false)};
			ready |= 1;
		}
	}
	if (!nic.responses.empty() && pool_[nic.responses.head].ready <= now_ &&
	    host_is_free(nic, answers_with_data(nic))) {
		wishes[1] = {pool_[nic.responses.head].flits, tile_in_order(nic, true)};
		ready |= 2;
	}
	return ready << nic.index * routing::CLASSES;
}

/* Packets in order use one tile for each target, as packets in another tile's buffer could overtake them (R12). */
template <typename Setup> uint8_t TiledPart<Setup>::tile_in_order(const Nic &nic, bool response) const noexcept
{
	const std::vector<uint8_t> &tiles = layout_.nic_tiles[nic.index];
	const RoutingMode mode =
		response ? pool_[nic.responses.head].header.mode : traffic_.shape_of(nic.node).request_mode;

	if (mode.routing != Routing::InOrder)
		return ANY_TILE;

	const uint32_t target = response ? pool_[nic.responses.head].target : nic.target;

	return tiles[static_cast<uint32_t>(mix64(target)) % tiles.size()];
}

/* May a class of a NIC send its packet by a port into a processor tile? Those that ask the tile are @p users. */
template <typename Setup>
inline bool TiledPart<Setup>::may_enter(uint32_t number, uint32_t tile, uint32_t bit, uint64_t users) noexcept
{
	const Wish &wish = wishes_[bit];
	const uint32_t channel = bit % routing::CLASSES ? layout_.class_channels : 0;

	if (wish.tile != ANY_TILE && wish.tile != tile)
		return false;
	if (ports_[number].keeping) [[unlikely]] {
		const uint16_t kept = kept_[size_t{number} * channels_ + channel];

		/* A NIC whose node has failed, or that is held, asks no more. */
		if (kept && !(users >> (kept - 1) & 1))
			release(number, channel, kept - 1);
	}
	return may_take(number, channel, wish.flits, bit);
}

/* Which of the NICs and classes that wait for a port may send its packet by it into a processor tile now. */
template <typename Setup>
inline uint32_t TiledPart<Setup>::next_at(uint32_t number, uint32_t tile, uint64_t users) noexcept
{
	const uint32_t turn = ports_[number].turn;

	for (uint64_t left = std::rotr(users, static_cast<int>(turn)); left; left &= left - 1) {
		const uint32_t bit = (turn + static_cast<uint32_t>(std::countr_zero(left))) % 64;

		if (may_enter(number, tile, bit, users))
			return bit;
	}
	return NOBODY;
}

/*
 * The place of the tile with the least in its buffer, of those for which @p takes(tile) is true; it is called for each
 * tile of the NIC.
 */
template <typename Setup>
template <typename Takes>
inline uint32_t TiledPart<Setup>::choose_tile(const Nic &nic, Takes takes)
{
	const std::vector<uint8_t> &tiles = layout_.nic_tiles[nic.index];
	const auto count = static_cast<uint32_t>(tiles.size());
	uint32_t next = nic.sequence % count;
	uint32_t best = NO_PLACE;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t tile = tiles[next];
		const Port &port = ports_[places_ + nic.base + tile];

		if (++next == count)
			next = 0;
		if (takes(tile) && port.used < least) {
			best = nic.base + tile;
			least = port.used;
		}
	}
	return best;
}

/*
 * The NICs of a router send what is ready. Each processor tile that is free asks those it serves by turns; a packet
 * that several would take goes to the one with the least in its buffer (T05).
 */
template <typename Setup> void TiledPart<Setup>::inject(uint32_t router)
{
	const uint32_t first = places_ + router * tiles_;
	Nic *const nics = nics_.data() + size_t{router} * layout_.nics;
	uint64_t ready = 0;

	for (uint32_t i = 0; i < layout_.nics; i++)
		ready |= look_at(nics[i]);
	for (uint64_t changed = ready; ready;) {
		if (!(ready & (ready - 1))) { // one bit
			changed = ready = inject_alone(nics, ready);
			continue;
		}

		uint64_t granted = grant(first, ready, changed);

		changed = 0;
		if (!granted)
			return;
		for (; granted; granted &= granted - 1) {
			const auto bit = static_cast<uint32_t>(std::countr_zero(granted));
			Nic &nic = nics[bit / routing::CLASSES];

			changed |= uint64_t{3} << nic.index * routing::CLASSES;
			ready &= ~(uint64_t{3} << nic.index * routing::CLASSES);
			ready |= inject_at(
				nic, bit, choose_tile(nic, [this, bit](uint8_t tile) { return grants_[tile] == bit; }));
		}
	}
}

/* The only class that has a packet ready sends it, if a tile has room. @return what the NIC has ready then */
template <typename Setup> uint64_t TiledPart<Setup>::inject_alone(Nic *nics, uint64_t ready)
{
	const auto bit = static_cast<uint32_t>(std::countr_zero(ready));
	Nic &nic = nics[bit / routing::CLASSES];
	const uint32_t place = choose_tile(nic, [this, &nic, bit, ready](uint8_t tile) {
		const uint32_t number = places_ + nic.base + tile;

		return ports_[number].free_tick <= now_ && may_enter(number, tile, bit, ready);
	});

	return place == NO_PLACE ? 0 : inject_at(nic, bit, place);
}

/*
 * Each processor tile chooses whose packet it would take, into grants_. One that serves none of the NICs that have
 * changed takes nothing: it took nothing before, or it is busy now.
 * @return those chosen
 */
template <typename Setup> uint64_t TiledPart<Setup>::grant(uint32_t first, uint64_t ready, uint64_t changed) noexcept
{
	uint64_t granted = 0;

	for (const uint8_t tile : layout_.processor_tiles) {
		const uint64_t users = layout_.nic_users[tile];
		uint32_t bit = NOBODY;

		if ((users & changed) && (users & ready) && ports_[first + tile].free_tick <= now_)
			bit = next_at(first + tile, tile, users & ready);
		grants_[tile] = bit;
		if (bit != NOBODY)
			granted |= uint64_t{1} << bit;
	}
	return granted;
}

/* A class of a NIC sends its next packet to a processor tile. @return what the NIC has ready then */
template <typename Setup> uint64_t TiledPart<Setup>::inject_at(Nic &nic, uint32_t bit, uint32_t place)
{
	const bool response = bit % routing::CLASSES;
	const uint32_t channel = response ? layout_.class_channels : 0;
	uint32_t number;

	if (response) {
		number = nic.responses.pop(pool_);
		nic.promised--;
		if (!nic.waiting.empty())
			answer(nic.waiting.pop(pool_), nic);
	} else {
		number = make_request(nic);
	}
	pool_[number].header.channel = static_cast<uint8_t>(channel);
	if constexpr (Setup::PACES_HOSTS)
		use_host(nic, pool_[number]);
	ports_[places_ + place].turn =
		static_cast<uint8_t>(bit + take_turn(taken_[size_t{place} * layout_.nics * routing::CLASSES + bit],
						     pool_[number].flits, LONGEST));
	enter(number, place);

	const uint64_t ready = look_at(nic);

	for (const uint8_t tile : layout_.nic_tiles[nic.index]) {
		if (ports_[places_ + nic.base + tile].keeping) [[unlikely]]
			keep_for_next(nic, bit, tile, ready);
	}
	return ready;
}

/*
 * When a packet of a class has left by another tile, a tile that keeps room for the class keeps the room for the
 * class's next packet: the class has not had its turn at this tile, and with several tiles it would lose its turn at
 * each.
 */
template <typename Setup>
void TiledPart<Setup>::keep_for_next(const Nic &nic, uint32_t bit, uint32_t tile, uint64_t ready) noexcept
{
	const uint32_t channel = bit % routing::CLASSES ? layout_.class_channels : 0;
	const uint8_t next = wishes_[bit].tile;

	if (!(ready >> bit & 1) || (next != ANY_TILE && next != tile))
		release(places_ + nic.base + tile, channel, bit);
}

template <typename Setup> uint32_t TiledPart<Setup>::make_request(Nic &nic)
{
	const uint32_t number = pool_.take();
	const auto ready = static_cast<uint32_t>(nic.clock >> Traffic::FRACTION);
	Packet &packet = pool_[number];

	packet.source = nic.node;
	packet.target = nic.target;
	packet.sequence = nic.sequence++;
	packet.born = ready;
	packet.sent = now_;
	packet.bytes = static_cast<uint8_t>(Traffic::bytes_with_left(nic.bytes, nic.left - 1));
	packet.flits = static_cast<uint8_t>(
		request_flits(CHIP.packets, nic.operation, packet.bytes, traffic_.shape_of(nic.node).raw_flits));
	packet.response = false;
	packet.operation = nic.operation;
	if constexpr (Setup::CHECKS_PACKETS)
		packet.bad = false;
	packet.measured = ready >= measure_from_ && ready < measure_until_;
	packet.header.mode = traffic_.shape_of(nic.node).request_mode;
	packet.alone = nic.packets == 1;
	if (!packet.alone && nic.left == nic.packets)
		open_[static_cast<size_t>(&nic - nics_.data())].open(packet.sequence, nic.packets);
	if (response_flits(CHIP.packets, packet.operation, packet.bytes))
		nic.outstanding++;
	if (--nic.left == 0)
		next_message(nic);
	return number;
}

/* A packet leaves its NIC for a processor tile, one flit in a cycle. */
template <typename Setup> void TiledPart<Setup>::enter(uint32_t number, uint32_t place)
{
	Packet &packet = pool_[number];
	const uint32_t port = places_ + place;
	const uint32_t way = parameters_.netlink_cycles + parameters_.input_cycles;

	Setup::address(packet, *tables_, layout_.node_router[packet.target]);
	packet.header.nic = layout_.node_nic[packet.target];
	packet.hops = 0;
	packet.decided = false;
	packet.tail = now_ + packet.flits + way;
	spend(port, packet.header.channel, packet.flits);
	ports_[port].flits += packet.flits;
	ports_[port].free_tick = now_ + packet.flits;
	statistics_.injected_packets++;
	statistics_.injected_flits += packet.flits;
	wheel_.add(Kind::Arrive, now_ + 1 + way, number, place);
}

template <typename Setup> void TiledPart<Setup>::next_message(Nic &nic)
{
	if (!engines_.empty() && next_of_engine(nic)) [[unlikely]]
		return;

	const Message message = traffic_.message(nic.node, nic.message, nic.clock);

	nic.clock = message.clock;
	nic.due = static_cast<uint32_t>(std::min(message.clock, Traffic::NEVER) >> Traffic::FRACTION);
	nic.target = message.target;
	nic.bytes = message.bytes;
	nic.operation = message.operation;
	nic.left = nic.packets = Traffic::packets(message.bytes);
	nic.message++;
}

/* The cycle in which a NIC can do something that no event will tell it of, after now. */
template <typename Setup> uint32_t TiledPart<Setup>::wake_of(const Nic &nic, bool &hungry) const noexcept
{
	uint32_t wake = UINT32_MAX;
	bool ready = false;

	if (!nic.responses.empty()) {
		const uint32_t at = pool_[nic.responses.head].ready;

		if (at > now_)
			wake = at;
		else if (host_is_free(nic, answers_with_data(nic)))
			ready = true;
		else
			wake = host_cycle(nic);
	}
	if (nic.due < last_due_ && nic.due > now_)
		wake = std::min(wake, nic.due);
	else if (nic.due < last_due_ && nic.outstanding < parameters_.outstanding) {
		if (host_is_free(nic, nic.operation == Operation::Put))
			ready = true;
		else
			wake = std::min(wake, host_cycle(nic));
	}
	if (!ready)
		return wake;
	hungry = true;
	for (const uint8_t tile : layout_.nic_tiles[nic.index]) {
		const Port &port = ports_[places_ + nic.base + tile];

		if (port.free_tick > now_)
			wake = std::min(wake, static_cast<uint32_t>(port.free_tick));
	}
	return wake;
}

} // namespace aries::sim

#endif
