// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links, routers and nodes that fail and come back. Both ends of a link see at once that it is out. The sender answers
 * all that it has on the link with a NACK, for no other answer can come; the receiver ends packets of which something
 * is missing, so that their destinations refuse them. What was received whole goes on, and arrives; but its answer does
 * not, so it is sent again, and comes twice (Q20, Q21).
 */
#include <bit>

#include "switch_part.hpp"

namespace aries::sim
{

void SwitchPart::set_down(uint32_t of_machine, bool down)
{
	const uint32_t router = of_machine / layout_.tiles - first_router_;
	const uint32_t place = router << TILE_BITS | of_machine % layout_.tiles;

	if (router >= routers_ || senders_[place].down == down)
		return;
	senders_[place].down = down;
	load_[place] = static_cast<uint16_t>(down ? load_[place] | DOWN_LOAD : load_[place] & ~DOWN_LOAD);
	if (lines_[place].to_node)
		senders_[places_ + place].down = down;
	if (!down) {
		look_at_link(lines_[place].to_node ? places_ + place : place);
		return;
	}
	fail_sender(place);
	fail_receiver(place);
	if (lines_[place].to_node)
		fail_sender(places_ + place);
}

/* Packets that hold a channel of a link that has failed are refused; packets that wait for one choose another link. */
void SwitchPart::fail_sender(uint32_t place)
{
	Sender &sender = senders_[place];
	const RecordList urgent = std::exchange(sender.urgent, {}), waiting = std::exchange(sender.waiting, {});

	for (uint32_t left = std::exchange(sender.held, 0); left; left &= left - 1) {
		const uint32_t channel = place << CHANNEL_BITS | static_cast<uint32_t>(std::countr_zero(left));

		if (place >= places_) {
			held_in_[channel] = {};
			answered(channel, REFUSED);
			continue;
		}
		load_[place]--;
		lose(place, record_of(place, sent_[channel].from));
	}
	sender.ready = sender.blocked = 0;
	sender.pool = 0;
	go_on(sender, now_);
	choose_again(place, urgent);
	choose_again(place, waiting);
}

/* Of a packet on a link to a node the whole record is here, even if the end of the packet has not come yet. */
void SwitchPart::lose(uint32_t place, uint32_t record)
{
	Held &held = held_in_[record];

	if (lines_[place].to_node && held.packet != NO_PACKET) {
		statistics_.lost_on_links++;
		pool_.give(held.packet);
	}
	held.refused = true;
	for (; held.forwarded < held.arrived; held.forwarded++) {
		if (held.forwarded + 1u < held.segments)
			give_back(record);
	}
	if (held.done())
		answer(record, REFUSED);
}

void SwitchPart::choose_again(uint32_t place, RecordList list)
{
	for (uint16_t from = list.head; from != NO_RECORD;) {
		const uint32_t record = record_of(place, from);
		Held &held = held_in_[record];
		const uint16_t next = from == list.tail ? NO_RECORD : held.next;

		load_[place]--;
		held.out = held.mode == TO_GROUP ? routing::NO_OUTPUT : decide(record >> CHANNEL_BITS, held);
		if (held.out == routing::NO_OUTPUT) {
			statistics_.traps++;
			refuse(record);
		} else {
			const uint32_t out = (place & ~(SWITCH_TILES - 1)) | held.out;

			load_[out]++;
			want(out, from, held.urgent);
			look_at_link(out);
		}
		from = next;
	}
}

/* Packets that came over a link that has failed. */
void SwitchPart::fail_receiver(uint32_t place)
{
	for (uint32_t channel = 0; channel < LINK_CHANNELS; channel++) {
		const uint32_t record = place << CHANNEL_BITS | channel;
		Held &held = held_in_[record];

		if (!held.segments)
			continue;
		if (!held.arrived) {
			statistics_.lost_on_links++;
			pool_.give(held.packet);
			held = {};
			continue;
		}
		held.cut = true;
		if (held.done())
			continue;
		held.arrived = held.segments;
		held.bad = true;
		if (held.out == MANY) {
			more_for_copies(record);
		} else if (held.refused) {
			answer(record, REFUSED);
		} else if (held.forwarded) {
			const uint32_t out = (place & ~(SWITCH_TILES - 1)) | held.out;

			senders_[out].ready |= 1u << held.channel & ~senders_[out].blocked;
			look_at_link(out);
		}
	}
}

/* An adapter that has failed sends nothing and refuses all that comes. */
void SwitchPart::set_dead(uint32_t node, bool dead)
{
	const uint32_t router = layout_.node_router[node] - first_router_;

	if (router >= routers_)
		return;

	const uint32_t slot = slot_of(node);
	Adapter &adapter = adapters_[slot];

	adapter.dead = dead;
	if (!dead) {
		/* Messages that were due while the node was down are not sent. */
		adapter.due = static_cast<uint32_t>(std::min(adapter.clock, Traffic::NEVER) >> Traffic::FRACTION);
		while (adapter.due < now_)
			next_message(adapter);
		wake(slot, std::max(adapter.due, now_));
		return;
	}
	leave_group(slot);
	empty_queues(adapter, slot);
	if (adapter.left < adapter.packets)
		open_[slot].fail(adapter.sequence - 1, adapter.left);
	adapter.left = adapter.packets;
	adapter.due = UINT32_MAX - 1;
}

void SwitchPart::empty_queues(Adapter &adapter, uint32_t slot)
{
	for (Queue *queue : {&adapter.resend, &adapter.replies}) {
		while (!queue->empty()) {
			const uint32_t number = take_out(*queue);
			const SwitchPacket packet = pool_[number];

			pool_.give(number);
			give_up(packet, slot);
		}
	}
}

void SwitchPart::hold_requests(bool hold)
{
	held_ = hold;
	last_due_ = hold ? 0 : end_due_;
	for (uint32_t slot = 0; slot < adapters_.size() && !hold; slot++)
		wake(slot, now_);
}

} // namespace aries::sim
