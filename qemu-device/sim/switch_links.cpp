// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets in switches: their way, their channels, segments over links, answers on the way back. */
#include <algorithm>
#include <bit>

#include "switch_part.hpp"

namespace aries::sim
{

namespace
{

/* Urgent packets in a row for which others wait. Without an end to it these might wait for ever; no source has it. */
constexpr uint32_t MOST_OVERTAKERS = 4;

constexpr uint32_t bit_of(uint32_t channel)
{
	return 1u << channel;
}

} // namespace

/* A segment is behind the input stage. Only the first one of a packet has a way to be found. */
void SwitchPart::arrive(uint32_t record, uint32_t damage)
{
	const uint32_t place = record >> CHANNEL_BITS;
	Held &held = held_in_[record];

	if (senders_[place].down) [[unlikely]]
		return;
	held.arrived++;
	held.bad |= damage != 0;
	if (held.arrived == 1) {
		held.refused |= (damage & NO_HEADER) != 0;
		head_[place] = static_cast<uint8_t>(record % LINK_CHANNELS);
		work_[place >> TILE_BITS].arrivals |= uint64_t{1} << place % SWITCH_TILES;
		list(place >> TILE_BITS);
		return;
	}
	if (held.out == MANY) [[unlikely]] {
		more_for_copies(record);
		return;
	}
	if (held.refused) [[unlikely]] {
		held.forwarded = held.arrived;
		if (held.done())
			answer(record, REFUSED);
		else
			give_back(record);
		return;
	}
	if (!held.forwarded)
		return;

	const uint32_t out = (place & ~(SWITCH_TILES - 1)) | held.out;
	Sender &sender = senders_[out];

	if (sender.blocked & bit_of(held.channel))
		return;
	sender.ready |= bit_of(held.channel);
	look_at_link(out);
}

void SwitchPart::route(uint32_t place)
{
	const uint32_t record = place << CHANNEL_BITS | head_[place];
	Held &held = held_in_[record];

	statistics_.hops++;
	if (held.mode == TO_GROUP) [[unlikely]] {
		if (held.refused || !route_group(record)) {
			statistics_.traps += !held.refused;
			refuse(record);
		}
		return;
	}
	held.out = held.refused ? routing::NO_OUTPUT : decide(place, held);
	if (held.out == routing::NO_OUTPUT) [[unlikely]] {
		if (!held.refused)
			statistics_.traps++;
		refuse(record);
		return;
	}

	const uint32_t out = (place & ~(SWITCH_TILES - 1)) | held.out;

	load_[out]++;
	want(out, static_cast<uint16_t>(record % (1u << ROUTER_BITS)), held.urgent);
	work_[place >> TILE_BITS].links |= uint64_t{1} << held.out;
}

/* Links are loaded by the packets that hold a channel or want one (Q06). */
uint8_t SwitchPart::decide(uint32_t place, const Held &held)
{
	const uint32_t router = place >> TILE_BITS;
	const routing::ClosRouter &at = tables_[router];
	const uint16_t *const loads = &load_[router << TILE_BITS];
	const routing::ClosHeader header{held.site, held.hash, held.nic, 0, static_cast<routing::ClosMode>(held.mode)};
	const auto load = [loads](uint32_t tile) -> uint32_t {
		return loads[tile] & DOWN_LOAD ? routing::LOAD_DOWN : loads[tile];
	};
	const bool by_turn = common_.choice.order == routing::ClosOrder::Next;
	const uint64_t random = by_turn ? turns_[router].word()
					: random_of(seed_, (first_router_ << TILE_BITS) + uint64_t{place}, now_);
	routing::ClosDecision decision{};

	if (at.here == held.site)
		decision = routing::ClosRouting::eject(at, header, load, random);
	else if (lines_[place].to_node)
		decision = routing::ClosRouting::first(at, header, load, random);
	else
		decision = routing::ClosRouting::next(at, place % SWITCH_TILES, header, load, random);
	if (decision.tile != routing::NO_OUTPUT)
		turns_[router].took(decision);
	return decision.tile;
}

/* A switch swallows a packet that it cannot send on, and answers it when all of it has come (Q23). */
void SwitchPart::refuse(uint32_t record)
{
	Held &held = held_in_[record];

	if (!held.forwarded) {
		statistics_.refused++;
		pool_.give(held.packet);
	}
	held.refused = true;
	held.out = routing::NO_OUTPUT;
	for (; held.forwarded < held.arrived; held.forwarded++) {
		if (held.forwarded + 1u < held.segments)
			give_back(record);
	}
	if (held.done())
		answer(record, REFUSED);
}

/* The answer goes on to where the packet came from; nothing is left of it here. */
void SwitchPart::answer(uint32_t record, uint32_t what)
{
	if (is_copy(record)) [[unlikely]] {
		answer_copy(record, what);
		return;
	}

	const uint32_t place = record >> CHANNEL_BITS;
	const Line &line = lines_[place];
	Held &held = held_in_[record];

	if (!held.cut)
		tell(SwitchKind::Answer, now_ + parameters_.input_cycles + line.latency, line.far,
		     record % LINK_CHANNELS, damage(places_ + place, 1, false) ? REFUSED : what);
	held = {};
}

void SwitchPart::want(uint32_t place, uint16_t from, bool urgent)
{
	Sender &sender = senders_[place];
	RecordList &list = urgent ? sender.urgent : sender.waiting;

	held_in_[record_of(place, from)].next = NO_RECORD;
	if (list.empty())
		list.head = from;
	else
		held_in_[record_of(place, list.tail)].next = from;
	list.tail = from;
}

uint16_t SwitchPart::take_first(uint32_t place, RecordList &list)
{
	const uint16_t first = list.head;

	list.head = held_in_[record_of(place, first)].next;
	return first;
}

/* The wire is looked at when it has become free, or something for it has come. */
void SwitchPart::serve(uint32_t place)
{
	Sender &sender = senders_[place];

	if (sender.free > now_) {
		arm(place);
		return;
	}

	const bool channel = (~sender.held & channels_) != 0;
	const bool others = sender.ready || (!sender.waiting.empty() && channel);

	if (!sender.urgent.empty() && channel && (sender.overtakers < MOST_OVERTAKERS || !others)) {
		sender.overtakers = static_cast<uint8_t>(others ? sender.overtakers + 1 : 0);
		begin(place, take_first(place, sender.urgent));
	} else if (sender.ready && serve_held(place)) {
		sender.overtakers = 0;
	} else if (!sender.waiting.empty() && channel) {
		sender.overtakers = 0;
		begin(place, take_first(place, sender.waiting));
	} else if (!sender.urgent.empty() && channel) {
		begin(place, take_first(place, sender.urgent));
	} else {
		if (sender.blocked || !sender.urgent.empty() || !sender.waiting.empty())
			stall(sender);
		return;
	}
	go_on(sender, now_);
	if (sender.ready || !sender.urgent.empty() || !sender.waiting.empty())
		arm(place);
}

/* Sends the next segment of a packet that holds a channel: of the packet served last, if it has one. */
bool SwitchPart::serve_held(uint32_t place)
{
	Sender &sender = senders_[place];

	while (sender.ready) {
		const uint32_t from = sender.ready >> sender.last << sender.last;
		const auto channel = static_cast<uint32_t>(std::countr_zero(from ? from : sender.ready));

		if (!sent_[place << CHANNEL_BITS | channel].inflight || sender.pool < parameters_.pool_buffers) {
			send(place, channel);
			return true;
		}
		sender.ready &= ~bit_of(channel);
		sender.blocked |= bit_of(channel);
	}
	return false;
}

/* A packet gets a channel, the lowest one that is free, so that the others are not looked at. */
void SwitchPart::begin(uint32_t place, uint16_t from)
{
	Sender &sender = senders_[place];
	const auto channel = static_cast<uint32_t>(std::countr_zero(~sender.held & channels_));

	sender.held |= bit_of(channel);
	sent_[place << CHANNEL_BITS | channel] = {from, 0, 0};
	held_in_[record_of(place, from)].channel = channel & (LINK_CHANNELS - 1);
	send(place, channel);
}

/* A segment leaves. */
void SwitchPart::send(uint32_t place, uint32_t channel)
{
	Sender &sender = senders_[place];
	Sent &sent = sent_[place << CHANNEL_BITS | channel];
	const uint32_t record = record_of(place, sent.from);
	Held &held = held_in_[record];
	const bool first = !held.forwarded;
	const bool last = ++held.forwarded == held.segments;
	const uint32_t words = last ? held.last_words : SEGMENT_WORDS;
	uint32_t of_segment = held.bad ? DAMAGED : 0;

	if (word_error_) [[unlikely]] {
		of_segment |= damage(place, words, first);
		held.bad |= of_segment != 0;
	}
	sender.free = now_ + words;
	sender.words += words;
	sender.last = static_cast<uint8_t>(channel);
	if (held.arrived > held.forwarded)
		sender.ready |= bit_of(channel);
	else
		sender.ready &= ~bit_of(channel);
	if (!last && place < places_)
		give_back(record);
	if (lines_[place].to_node) {
		if (last)
			wheel_.add(SwitchKind::Receive, now_ + words + lines_[place].latency,
				   place << CHANNEL_BITS | channel);
		return;
	}
	if (held.segments > 1 && sent.inflight++)
		sender.pool++;
	forward(place, channel, held, of_segment);
}

/* It comes to the next switch, where the first one makes the packet known. */
void SwitchPart::forward(uint32_t place, uint32_t channel, Held &held, uint32_t damage)
{
	const Line &line = lines_[place];
	const uint32_t cycle = now_ + line.latency + parameters_.input_cycles;
	const uint32_t between = place < places_ ? 1 : 0;

	if (held.forwarded == 1) {
		Held next = held;

		next.hops = (held.hops + between) & 15;
		next.arrived = next.forwarded = 0;
		next.out = routing::NO_OUTPUT;
		next.bad = next.refused = next.cut = false;
		if (!(line.far & ELSEWHERE)) [[likely]] {
			held_in_[line.far << CHANNEL_BITS | channel] = next;
		} else {
			SwitchPacket &packet = pool_[held.packet];
			const uint32_t of_machine = line.far & ~ELSEWHERE;

			packet.held = next;
			packet.place = of_machine << CHANNEL_BITS | channel;
			out_[division_.part_of[of_machine >> TILE_BITS]].packets.push_back(PostedPacket::of(packet));
			pool_.give(held.packet);
		}
	}
	tell(SwitchKind::Segment, cycle, line.far, channel, damage);
}

/* The buffer of a segment is free when the segment has begun to leave: the next one comes no faster than it goes. */
void SwitchPart::give_back(uint32_t record)
{
	if (is_copy(record)) [[unlikely]] {
		copy_went_on(record);
		return;
	}

	const Line &line = lines_[record >> CHANNEL_BITS];

	tell(SwitchKind::Credit, now_ + line.latency + parameters_.credit_cycles, line.far, record % LINK_CHANNELS, 0);
}

void SwitchPart::take_credit(uint32_t channel)
{
	const uint32_t place = channel >> CHANNEL_BITS, bit = bit_of(channel % LINK_CHANNELS);
	Sender &sender = senders_[place];
	Sent &sent = sent_[channel];

	if (!(sender.held & bit)) [[unlikely]]
		return;
	if (--sent.inflight)
		sender.pool--;
	if (!sender.blocked)
		return;
	/* Room of the pool is for any of them. */
	sender.ready |= sender.blocked;
	sender.blocked = 0;
	look_at_link(place);
}

void SwitchPart::take_answer(uint32_t channel, uint32_t what)
{
	const uint32_t place = channel >> CHANNEL_BITS, bit = bit_of(channel % LINK_CHANNELS);
	Sender &sender = senders_[place];

	if (!(sender.held & bit)) [[unlikely]]
		return;
	if (sent_[channel].inflight > 1)
		sender.pool = static_cast<uint8_t>(sender.pool - (sent_[channel].inflight - 1));
	sender.held &= ~bit;
	sender.ready &= ~bit;
	sender.blocked &= ~bit;
	if (place >= places_) {
		held_in_[channel] = {};
		answered(channel, what);
		look_at_link(place);
		return;
	}
	load_[place]--;
	if (!sender.urgent.empty() || !sender.waiting.empty())
		look_at_link(place);
	answer(record_of(place, sent_[channel].from), what);
}

void SwitchPart::arm(uint32_t place)
{
	Sender &sender = senders_[place];

	if (!sender.armed) {
		sender.armed = true;
		wheel_.add(SwitchKind::Free, sender.free, place);
	}
}

/* What a link does to a segment, or to an answer on its way back. */
uint32_t SwitchPart::damage(uint32_t place, uint32_t words, bool header) const noexcept
{
	if (!word_error_)
		return 0;

	const uint64_t number = place < places_ ? (uint64_t{first_router_} << TILE_BITS) + place
						: ~((uint64_t{first_router_} << TILE_BITS) + place - places_);
	const uint64_t random = random_of(seed_ + (words == 1 ? ANSWERS : BIT_ERRORS), number, now_);

	if (random >= word_error_ * words)
		return 0;
	/* The header of a first segment is its first word. */
	return header && random < word_error_ ? DAMAGED | NO_HEADER : DAMAGED;
}

} // namespace aries::sim
