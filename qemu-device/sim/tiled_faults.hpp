// SPDX-License-Identifier: GPL-2.0-or-later
/* Failures and returns of links, routers and nodes, and the packets that are lost with them. */
#ifndef ARIES_SIM_TILED_FAULTS_HPP
#define ARIES_SIM_TILED_FAULTS_HPP

#include <algorithm>

#include "tiled_part.hpp"

namespace aries::sim
{

/* Before the first cycle; until then nothing is asked about failures. */
template <typename Setup> void TiledPart<Setup>::expect_faults()
{
	faulty_ = true;
	down_.assign(places_, 0);
	dead_.assign(nics_.size(), 0);
}

/* Packets that have chosen an output that is down are lost; packets that have not chosen yet choose another output. */
template <typename Setup> void TiledPart<Setup>::set_down(uint32_t of_machine, bool down)
{
	const uint32_t place = of_machine - first_place_;

	if (place >= places_)
		return;
	down_[place] = down;
	if (down)
		arm(output_[place], Kind::CheckOut, place, now_);
	else
		decide_again();
}

/* Packets that found no output. */
template <typename Setup> void TiledPart<Setup>::decide_again()
{
	for (uint32_t place = 0; place < places_; place++) {
		if (!in_mask_[place])
			continue;
		for (uint32_t channel = 0; channel < channels_; channel++) {
			const Queue &queue = input_[size_t{place} * channels_ + channel];

			if (in_mask_[place] >> channel & 1 && pool_[queue.head].out == routing::NO_OUTPUT)
				pool_[queue.head].decided = false;
		}
		arm(row_bus_[place], Kind::CheckIn, place, now_);
	}
}

template <typename Setup> void TiledPart<Setup>::set_dead(uint32_t node, bool dead)
{
	const uint32_t slot =
		layout_.node_router[node] * layout_.nics + layout_.node_nic[node] - first_router_ * layout_.nics;

	if (slot >= nics_.size())
		return;

	Nic &nic = nics_[slot];

	dead_[slot] = dead;
	if (!dead) {
		/* Messages that were due while the node was down are not sent. */
		nic.due = static_cast<uint32_t>(std::min(nic.clock, Traffic::NEVER) >> Traffic::FRACTION);
		while (nic.due < now_)
			next_message(nic);
		wake_nics(slot / layout_.nics, std::max(nic.due, now_));
		return;
	}
	while (!nic.responses.empty()) {
		const uint32_t number = nic.responses.pop(pool_);

		statistics_.unanswered++;
		forget(number);
	}
	while (!nic.waiting.empty()) {
		const uint32_t number = nic.waiting.pop(pool_);

		statistics_.unanswered++;
		free_processor_buffer(pool_[number], nic.base + pool_[number].out);
		forget(number);
	}
	nic.promised = 0;
	if (nic.left < nic.packets)
		open_[slot].fail(nic.sequence - 1, nic.left);
	if (!engines_.empty() && traffic_.collective_of(node))
		leave_tree(slot);
	nic.left = nic.packets;
	nic.due = UINT32_MAX - 1;
}

/* A packet arrives at a node that has failed. A response ends its request, which the node gives up. */
template <typename Setup> void TiledPart<Setup>::finish_dead(uint32_t number, uint32_t place, uint32_t slot)
{
	const Packet &packet = pool_[number];

	statistics_.lost_at_nodes++;
	free_processor_buffer(packet, place);
	if (!packet.response) {
		forget(number);
		return;
	}
	give_up({0, packet.target, packet.sequence, packet.alone}, slot);
	pool_.give(number);
}

/* No new requests, or again some. Nobody waits for tables any more: packets without an output are dropped. */
template <typename Setup> void TiledPart<Setup>::hold_requests(bool hold)
{
	held_ = hold;
	last_due_ = hold ? 0 : end_due_;
	wait_for_tables_ = false;
	decide_again();
	for (uint32_t router = 0; router < routers_; router++)
		wake_nics(router, now_);
}

/* The packet at the head of an input queue has no way. */
template <typename Setup> void TiledPart<Setup>::drop_head(uint32_t place, uint32_t channel)
{
	Queue &queue = input_[size_t{place} * channels_ + channel];
	const uint32_t number = queue.pop(pool_);

	if (queue.empty())
		in_mask_[place] &= static_cast<uint16_t>(~(1u << channel));
	else
		arm(row_bus_[place], Kind::CheckIn, place, now_ + 1);
	give_back(place, channel, pool_[number].flits);
	statistics_.lost_without_way++;
	forget(number);
}

/* A packet on a link that failed meanwhile. The room that it would have taken is free. */
template <typename Setup> void TiledPart<Setup>::lose_arrival(uint32_t number, uint32_t place)
{
	give_back(place, pool_[number].header.channel, pool_[number].flits);
	statistics_.lost_on_links++;
	forget(number);
}

/* What a router does to a packet is found behind it, and the packet marked; it goes on all the same (G16). */
template <typename Setup> void TiledPart<Setup>::damage(Packet &packet, uint32_t place)
{
	const uint64_t random =
		random_of(seed_ + ROUTER_ERRORS, packet.name() * 2 + packet.response, uint64_t{first_place_} + place);

	if (random < router_error_ * packet.flits)
		packet.bad = true;
}

/* A packet that was marked on its way ends at its NIC. */
template <typename Setup> void TiledPart<Setup>::drop_bad(uint32_t number, uint32_t place)
{
	statistics_.lost_bad++;
	free_processor_buffer(pool_[number], place);
	forget(number);
}

/* The packet is gone; who waits for a response gives up after some time. */
template <typename Setup> void TiledPart<Setup>::forget(uint32_t number)
{
	const Packet &packet = pool_[number];
	const uint32_t initiator = packet.response ? packet.target : packet.source;
	const Expiry expiry{now_ + parameters_.timeout_cycles, initiator, packet.sequence, packet.alone};
	const uint32_t part = division_.part_of[layout_.node_router[initiator]];

	if (is_collective(packet.operation))
		collective_counts(initiator).lost++;
	if (response_flits(CHIP.packets, packet.operation, packet.bytes)) {
		if (part == number_)
			expiries_.push(expiry);
		else
			out_[part].expiries.push_back(expiry);
	}
	pool_.give(number);
}

template <typename Setup> void TiledPart<Setup>::expire()
{
	while (!expiries_.empty() && expiries_.top().cycle <= now_) {
		const Expiry expiry = expiries_.top();
		const uint32_t router = layout_.node_router[expiry.node] - first_router_;

		expiries_.pop();
		give_up(expiry, router * layout_.nics + layout_.node_nic[expiry.node]);
		list(nic_check_[router], list_nic_, router);
	}
}

template <typename Setup> void TiledPart<Setup>::give_up(const Expiry &expiry, uint32_t slot)
{
	statistics_.given_up++;
	nics_[slot].outstanding--;
	if (!expiry.alone)
		open_[slot].fail(expiry.sequence, 1);
}

} // namespace aries::sim

#endif
