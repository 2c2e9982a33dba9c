// SPDX-License-Identifier: GPL-2.0-or-later
/* Adapters: messages become packets, which are sent again when they are refused; what comes is written and answered. */
#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "switch_part.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t ASK_WORDS = put_words(8); ///< two addresses, of 64 bits each

/* The order in which packets of a queue are ready; the same however events come. */
bool before(const SwitchPacket &a, const SwitchPacket &b)
{
	return std::tuple(a.ready, a.target, a.sequence, a.asked) < std::tuple(b.ready, b.target, b.sequence, b.asked);
}

} // namespace

void SwitchPart::make_adapters()
{
	adapters_.resize(size_t{routers_} * layout_.nics);
	open_.resize(adapters_.size());
	outstanding_.resize(size_t{places_} << CHANNEL_BITS);
	for (const uint8_t tile : layout_.processor_tiles) {
		for (uint32_t nic = 0; nic < layout_.nics; nic++) {
			if (layout_.nic_users[tile] >> 2 * nic & 1)
				nics_of_[tile] |= 1u << nic;
		}
	}
	lay_ports();
	for (uint32_t slot = 0; slot < adapters_.size(); slot++) {
		Adapter &adapter = adapters_[slot];

		adapter.node = layout_.node_at[size_t{first_router_} * layout_.nics + slot];
		if (adapter.node == NO_PLACE)
			continue;
		next_message(adapter);
		wake(slot, std::max(adapter.due, 1u));
	}
}

/*
 * An adapter has all links of its node, to one switch or to several, whether the source has one adapter for them or two
 * (Q25). Packets that come over any of the links are for the adapter at the first link.
 */
void SwitchPart::lay_ports()
{
	home_.resize(adapters_.size());
	std::iota(home_.begin(), home_.end(), 0);
	first_port_.push_back(0);
	for (uint32_t slot = 0; slot < adapters_.size(); slot++) {
		const uint32_t nic = slot % layout_.nics;
		const uint32_t node = layout_.node_at[size_t{first_router_} * layout_.nics + slot];

		for (uint32_t nth = 0; node != NO_PLACE && nth < layout_.homes; nth++) {
			const uint32_t router = layout_.home(node, nth) - first_router_;

			home_[router * layout_.nics + nic] = slot;
			for (const uint8_t tile : layout_.nic_tiles[nic])
				ports_.push_back(places_ + (router << TILE_BITS | tile));
		}
		first_port_.push_back(static_cast<uint32_t>(ports_.size()));
	}
}

void SwitchPart::next_message(Adapter &adapter)
{
	const Message message = traffic_.message(adapter.node, adapter.message, adapter.clock);

	adapter.clock = message.clock;
	adapter.due = static_cast<uint32_t>(std::min(message.clock, Traffic::NEVER) >> Traffic::FRACTION);
	adapter.target = message.target;
	adapter.bytes = message.bytes;
	adapter.operation = message.operation;
	adapter.packets = std::max((message.bytes + parameters_.packet_bytes - 1) / parameters_.packet_bytes, 1u);
	adapter.left = adapter.packets;
	adapter.message++;
}

/* Bytes that the next packet of a message is about. */
uint32_t SwitchPart::data_of(const Adapter &adapter) const noexcept
{
	return adapter.left > 1 ? parameters_.packet_bytes
				: adapter.bytes - (adapter.packets - 1) * parameters_.packet_bytes;
}

uint32_t SwitchPart::words_of(const Adapter &adapter) const noexcept
{
	return adapter.operation == Operation::Get ? ASK_WORDS : put_words(data_of(adapter));
}

/*
 * The next packet of an adapter: refused packets first, then data of other nodes' gets and messages of the node itself
 * in turn. An adapter that sent all data first would issue no get of its own while many nodes ask it for data, and
 * nodes from which it gets data would be idle.
 */
SwitchPart::Next SwitchPart::next_of(const Adapter &adapter, bool &urgent) const noexcept
{
	const auto is_ready = [this](const Queue &queue) { return !queue.empty() && pool_[queue.head].ready <= now_; };
	const bool message = adapter.due <= now_ && adapter.due < last_due_ &&
			     (adapter.operation != Operation::Get || adapter.asked < parameters_.outstanding);
	Next next = message ? Next::Message : Next::Nothing;

	if (is_ready(adapter.resend))
		next = Next::Resend;
	else if (is_ready(adapter.replies) && !(message && adapter.replied))
		next = Next::Reply;
	if (next != Next::Nothing)
		urgent = is_urgent(next == Next::Message  ? words_of(adapter)
				   : next == Next::Resend ? pool_[adapter.resend.head].words
							  : pool_[adapter.replies.head].words);
	return next;
}

uint32_t SwitchPart::make_packet(Adapter &adapter)
{
	const uint32_t number = pool_.take();
	SwitchPacket &packet = pool_[number];
	const bool get = adapter.operation == Operation::Get;

	packet = {};
	packet.source = adapter.node;
	packet.target = adapter.target;
	packet.sequence = adapter.sequence++;
	packet.born = adapter.due;
	packet.sent = now_;
	packet.bytes = static_cast<uint16_t>(data_of(adapter));
	packet.words = static_cast<uint16_t>(words_of(adapter));
	packet.carried = get ? Carried::Ask : Carried::Put;
	packet.measured = adapter.due >= measure_from_ && adapter.due < measure_until_;
	packet.alone = adapter.packets == 1;
	packet.once = get || adapter.left == 1;
	adapter.asked += get;
	if (!packet.alone && adapter.left == adapter.packets)
		open_[static_cast<size_t>(&adapter - adapters_.data())].open(packet.sequence, adapter.packets);
	if (!--adapter.left)
		next_message(adapter);
	return number;
}

uint32_t SwitchPart::take_packet(Adapter &adapter, Next next)
{
	adapter.replied = next == Next::Reply;
	if (next == Next::Message)
		return make_packet(adapter);

	const uint32_t number = take_out(next == Next::Resend ? adapter.resend : adapter.replies);
	SwitchPacket &packet = pool_[number];

	/* Numbers are given here, where packets have an order. */
	if (next == Next::Reply) {
		packet.sent = now_;
		packet.sequence = adapter.sequence++;
	} else {
		statistics_.sent_again++;
	}
	return number;
}

/*
 * Run when the adapter has a new packet to send, or one of its wires becomes free. The search for a free link begins at
 * another link each time, so packets are striped over all links (Q25), and a packet that is sent again takes another.
 */
void SwitchPart::look_at_adapter(uint32_t slot)
{
	Adapter &adapter = adapters_[slot];
	const uint32_t first = first_port_[slot], ports = first_port_[slot + 1] - first;
	const uint32_t turn = adapter.turn;

	if (adapter.node == NO_PLACE)
		return;
	for (uint32_t i = 0; i < ports; i++)
		serve_port(adapter, ports_[first + (i + turn) % ports]);

	const uint32_t at = wake_of(adapter);

	if (at != UINT32_MAX)
		wake(slot, at);
}

/* As serve(), but packets that want a channel are those that the adapter makes. */
void SwitchPart::serve_port(Adapter &adapter, uint32_t place)
{
	Sender &sender = senders_[place];
	bool urgent = false;
	const Next next = next_of(adapter, urgent);
	const bool channel = (~sender.held & channels_) != 0;

	if (sender.down || (next == Next::Nothing && !sender.ready && !sender.blocked))
		return;
	if (sender.free > now_) {
		arm(place);
		return;
	}
	if (next != Next::Nothing && urgent && channel)
		launch(adapter, place, next);
	else if (!sender.ready || !serve_held(place)) {
		if (next == Next::Nothing || !channel) {
			stall(sender);
			return;
		}
		launch(adapter, place, next);
	}
	go_on(sender, now_);
	arm(place);
}

/*
 * How switches choose the packet's way. A static way leads to one link of a node. If that link has failed, a packet
 * that is sent again has to take another link, so its way is chosen by its hash.
 */
uint8_t SwitchPart::mode_of(const SwitchPacket &packet) const noexcept
{
	const TrafficShape &shape = traffic_.shape_of(packet.source);
	const Routing routing = (packet.carried == Carried::Data ? shape.response_mode : shape.request_mode).routing;
	routing::ClosMode mode = routing::ClosMode::Static;

	if (for_group(packet.carried))
		return TO_GROUP;
	if (routing == Routing::Adaptive)
		mode = routing::ClosMode::Adaptive;
	else if (routing == Routing::MinimalHash || (packet.again && layout_.homes > 1))
		mode = routing::ClosMode::Hash;
	return static_cast<uint8_t>(mode);
}

/* A packet of an adapter takes a channel. */
void SwitchPart::launch(Adapter &adapter, uint32_t place, Next next)
{
	Sender &sender = senders_[place];
	const uint32_t number = take_packet(adapter, next);
	SwitchPacket &packet = pool_[number];
	const auto channel = static_cast<uint32_t>(std::countr_zero(~sender.held & channels_));
	const uint32_t record = place << CHANNEL_BITS | channel;
	const uint32_t bytes = packet.words * WORD_BYTES;
	const uint64_t pair = uint64_t{packet.source} << 32 | packet.target;
	Held &held = held_in_[record];

	held = {};
	held.packet = number;
	held.site = for_group(packet.carried) ? static_cast<uint16_t>(traffic_.job_of(packet.source))
					      : site_of_[layout_.node_router[packet.target]];
	held.hash = static_cast<uint8_t>(packet.again ? mix64(pair + now_) : mix64(pair));
	held.nic = (for_group(packet.carried) && groups_ ? groups_->mark() : layout_.node_nic[packet.target]) & 15;
	held.segments = (bytes + chip::ELITE5.packets.segment_bytes - 1) / chip::ELITE5.packets.segment_bytes & 31;
	held.last_words = static_cast<uint8_t>(packet.words - (held.segments - 1) * SEGMENT_WORDS);
	held.mode = mode_of(packet) & 3;
	held.urgent = is_urgent(packet.words);
	held.arrived = held.segments;
	outstanding_[record - (places_ << CHANNEL_BITS)] = packet;
	statistics_.injected_packets++;
	statistics_.injected_flits += packet.words;
	unanswered_++;
	sender.held |= 1u << channel;
	sent_[record] = {static_cast<uint16_t>(channel), 0, 0};
	adapter.turn++;
	send(place, channel);
}

/* The cycle in which an adapter can send something that no event will tell it of. */
uint32_t SwitchPart::wake_of(const Adapter &adapter) const noexcept
{
	uint32_t at = UINT32_MAX;

	for (const Queue *queue : {&adapter.resend, &adapter.replies}) {
		if (!queue->empty() && pool_[queue->head].ready > now_)
			at = std::min(at, pool_[queue->head].ready);
	}
	return adapter.due < last_due_ && adapter.due > now_ ? std::min(at, adapter.due) : at;
}

void SwitchPart::wake(uint32_t slot, uint32_t cycle)
{
	const uint32_t at = std::min(cycle, now_ + wheel_.horizon());

	if (at < adapters_[slot].wake) {
		adapters_[slot].wake = at;
		wheel_.add(SwitchKind::Wake, at, slot);
	}
}

/* Somewhere between the least and the most (Q09). */
uint32_t SwitchPart::write_cycles(const SwitchPacket &packet, uint32_t slot) const noexcept
{
	const uint64_t name = uint64_t{packet.source} << 32 | packet.sequence;
	const uint32_t spread = parameters_.write_most - parameters_.write_least + 1;

	return parameters_.write_least +
	       static_cast<uint32_t>(random_of(seed_ + WRITES, name, adapters_[slot].node) % spread);
}

/*
 * All of a packet is at its adapter. What is damaged is refused. Of a message only the last packet is answered when it
 * is in memory, the others at once (Q10).
 */
void SwitchPart::receive(uint32_t channel)
{
	const uint32_t place = channel >> CHANNEL_BITS;

	if (senders_[place].down) [[unlikely]]
		return;

	Held &held = held_in_[record_of(place, sent_[channel].from)];
	const SwitchPacket packet = pool_[held.packet];
	const uint32_t slot = home_[(place >> TILE_BITS) * layout_.nics + held.nic];
	const uint32_t in_memory = now_ + write_cycles(packet, slot);
	const bool late = !parameters_.early_answers || (packet.once && packet.carried == Carried::Put);
	uint32_t what = REFUSED;

	pool_.give(std::exchange(held.packet, NO_PACKET));
	if (held.bad || adapters_[slot].dead) [[unlikely]] {
		statistics_.refused++;
	} else {
		what = accept(packet, slot, held.hops, in_memory);
		if (damage(places_ + place, 1, false)) [[unlikely]]
			what = REFUSED;
	}
	wheel_.add(SwitchKind::Answer, (late && what > UNEQUAL ? in_memory : now_) + lines_[place].latency, channel,
		   what);
}

/*
 * Data may be written twice, for that does no harm. What counts once is known by its number (Q21).
 * @return the answer
 */
uint32_t SwitchPart::accept(const SwitchPacket &packet, uint32_t slot, uint32_t hops, uint32_t in_memory)
{
	const uint32_t initiator = packet.carried == Carried::Data ? packet.target : packet.source;

	statistics_.received_packets++;
	statistics_.received_flits += packet.words;
	if (is_too_late(packet)) [[unlikely]] {
		statistics_.refused++;
		return REFUSED;
	}
	if (lossy_ && packet.once && !done_.insert(uint64_t{packet.source} << 32 | packet.sequence, now_)) {
		statistics_.came_twice++;
		return in_memory;
	}
	if (for_group(packet.carried) || packet.carried == Carried::Up)
		return reach_member(packet, slot, in_memory);
	if (parameters_.watch_order)
		watch_order(packet);
	count(packet, statistics_, hops);
	if (!statistics_.jobs.empty())
		count(packet, statistics_.jobs[traffic_.job_of(initiator)], hops);
	if (packet.carried == Carried::Ask) {
		reply(packet, slot);
	} else if (packet.carried == Carried::Data) {
		adapters_[slot].asked--;
		count_answer(packet);
		end_message(slot, packet, packet.asked, in_memory);
		wake(slot, now_ + 1);
	}
	return in_memory;
}

/* It may be forgotten by now whether the packet was served. Its source gives the packet up after half that time. */
bool SwitchPart::is_too_late(const SwitchPacket &packet) const noexcept
{
	return packet.again && packet.once && now_ - packet.sent > done_.cycles();
}

/* The numbers of a source's packets grow, so the numbers of a pair's packets do. */
void SwitchPart::watch_order(const SwitchPacket &packet)
{
	uint32_t &latest = latest_[uint64_t{packet.source} << 32 | packet.target];

	if (packet.sequence < latest)
		statistics_.overtaken++;
	else
		latest = packet.sequence;
}

void SwitchPart::count(const SwitchPacket &packet, Counts &counts, uint32_t hops) const
{
	const bool window = now_ >= measure_from_ && now_ < measure_until_;

	if (window) {
		(packet.carried == Carried::Data ? counts.window_response_flits : counts.window_request_flits) +=
			packet.words;
		counts.window_bytes += packet.carried == Carried::Ask ? 0 : packet.bytes;
	}
	if (!packet.measured || packet.carried == Carried::Data)
		return;
	counts.latency.add(now_ - packet.born);
	counts.network.add(now_ - packet.sent);
	counts.hop_count[std::min<size_t>(hops, MOST_HOPS)]++;
	counts.hop_cycles[std::min<size_t>(hops, MOST_HOPS)] += now_ - packet.sent;
}

/* What a get asks for is read, and goes back as a packet with an answer of its own. */
void SwitchPart::reply(const SwitchPacket &asked, uint32_t slot)
{
	const uint32_t number = pool_.take();
	SwitchPacket &packet = pool_[number];

	packet = asked;
	packet.source = asked.target;
	packet.target = asked.source;
	packet.asked = asked.sequence;
	packet.sequence = 0;
	packet.carried = Carried::Data;
	packet.words = static_cast<uint16_t>(put_words(asked.bytes));
	packet.ready = now_ + parameters_.serve_cycles;
	packet.again = false;
	put_in(adapters_[slot].replies, number);
	wake(slot, std::max(packet.ready, now_ + 1));
}

/* A queue of packets that wait, in the order in which they are ready. */
void SwitchPart::put_in(Queue &queue, uint32_t number)
{
	queued_++;
	if (queue.empty() || !before(pool_[number], pool_[queue.tail])) {
		queue.push(pool_, number);
		return;
	}

	uint32_t *at = &queue.head;

	while (!before(pool_[number], pool_[*at]))
		at = &pool_[*at].next;
	pool_[number].next = *at;
	*at = number;
}

uint32_t SwitchPart::take_out(Queue &queue)
{
	queued_--;
	return queue.pop(pool_);
}

/* The answer has come back to the adapter. */
void SwitchPart::answered(uint32_t channel, uint32_t what)
{
	const SwitchPacket &packet = outstanding_[channel - (places_ << CHANNEL_BITS)];
	const uint32_t slot = slot_of(packet.source);

	unanswered_--;
	if (for_group(packet.carried)) {
		group_answered(SwitchPacket(packet), slot, what);
		return;
	}
	if (what == REFUSED) [[unlikely]] {
		send_again(SwitchPacket(packet), slot);
		return;
	}
	if (packet.carried != Carried::Put)
		return;
	count_answer(packet);
	end_message(slot, packet, packet.sequence, what);
}

void SwitchPart::count_answer(const SwitchPacket &packet)
{
	const uint32_t initiator = packet.carried == Carried::Data ? packet.target : packet.source;

	if (!packet.measured)
		return;
	statistics_.round_trip.add(now_ - packet.born);
	if (!statistics_.jobs.empty())
		statistics_.jobs[traffic_.job_of(initiator)].round_trip.add(now_ - packet.born);
}

/* The last packet of a message has been answered, or the last data of a get are there. */
void SwitchPart::end_message(uint32_t slot, const SwitchPacket &packet, uint32_t sequence, uint32_t in_memory)
{
	const uint32_t last_byte = packet.alone ? in_memory : open_[slot].close(sequence, in_memory);

	if (!last_byte || !packet.measured)
		return;

	const auto add = [&](Counts &counts) {
		counts.message.add(last_byte - packet.born);
		counts.message_round_trip.add(std::max(now_, last_byte) - packet.born);
	};

	add(statistics_);
	if (!statistics_.jobs.empty())
		add(statistics_.jobs[traffic_.job_of(adapters_[slot].node)]);
}

/* Some time later, for what was in its way may still be so; perhaps by other links (Q20). */
void SwitchPart::send_again(const SwitchPacket &packet, uint32_t slot)
{
	if (adapters_[slot].dead || now_ - packet.sent >= parameters_.timeout_cycles) {
		give_up(packet, slot);
		return;
	}

	const uint32_t number = pool_.take();
	SwitchPacket &again = pool_[number];

	again = packet;
	again.again = true;
	again.ready = now_ + parameters_.retry_cycles;
	put_in(adapters_[slot].resend, number);
	wake(slot, again.ready);
}

void SwitchPart::give_up(const SwitchPacket &packet, uint32_t slot)
{
	if (packet.carried != Carried::Data) {
		statistics_.given_up++;
		if (packet.carried == Carried::Up)
			statistics_.collectives[traffic_.job_of(packet.source)].lost++;
		adapters_[slot].asked -= packet.carried == Carried::Ask;
		if (!packet.alone)
			open_[slot].fail(packet.sequence, 1);
		return;
	}

	/* The node that asked for these data gives its request up after the timeout. */
	const Expiry expiry{now_ + parameters_.timeout_cycles, packet.target, packet.asked, packet.alone};
	const uint32_t part = division_.part_of[layout_.node_router[packet.target]];

	if (part == number_)
		expiries_.push(expiry);
	else
		out_[part].expiries.push_back(expiry);
}

void SwitchPart::expire()
{
	while (!expiries_.empty() && expiries_.top().cycle <= now_) {
		const Expiry expiry = expiries_.top();
		const uint32_t slot = slot_of(expiry.node);

		expiries_.pop();
		statistics_.given_up++;
		adapters_[slot].asked--;
		if (!expiry.alone)
			open_[slot].fail(expiry.sequence, 1);
		wake(slot, now_ + 1);
	}
}

} // namespace aries::sim
