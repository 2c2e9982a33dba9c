// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets of groups in switches (Q26, Q27): up the tree as any packet, and from where all members are below by a copy
 * for each output. Each copy has a record of its own and goes on as its link allows; a segment's buffer is free when
 * all copies of it have begun to leave. The packet is answered when all copies are: with an ACK if all of them were.
 */
#include <algorithm>
#include <bit>

#include "switch_part.hpp"

namespace aries::sim
{

void SwitchPart::use_groups(const SwitchGroups *groups)
{
	groups_ = groups;
	if (copy_of_.size() || !groups)
		return;
	copy_of_.resize(size_t{routers_} << COPY_BITS);
	free_copies_.resize(routers_);
}

/* @return false if there is no way */
bool SwitchPart::route_group(uint32_t record)
{
	const uint32_t place = record >> CHANNEL_BITS, router = place >> TILE_BITS;
	const uint32_t of_machine = first_router_ + router;
	Held &held = held_in_[record];
	const routing::ClosGroup *group = groups_ ? groups_->of(held.site) : nullptr;

	if (!group || held.nic != groups_->mark())
		return false;

	const routing::GroupWays &ways = group->ways(of_machine);
	const bool from_above = !lines_[place].to_node && tables_[router].up.has(place % SWITCH_TILES);

	if (!ways.spans && !from_above) {
		held.out = groups_->tree().place(of_machine).up;
		if (held.out == routing::NO_OUTPUT || senders_[router << TILE_BITS | held.out].down)
			return false;

		const uint32_t out = router << TILE_BITS | held.out;

		load_[out]++;
		want(out, static_cast<uint16_t>(record % (1u << ROUTER_BITS)), held.urgent);
		work_[router].links |= uint64_t{1} << held.out;
		return true;
	}

	std::vector<Output> outputs;

	for (const uint8_t tile : ways.tiles)
		outputs.push_back({tile, held.nic});
	for (uint32_t left = ways.nics; left; left &= left - 1) {
		const auto nic = static_cast<uint8_t>(std::countr_zero(left));

		outputs.push_back({tile_to(router, nic, held.hash), nic});
	}
	return !outputs.empty() && fan_out(record, outputs);
}

/* One of a node's links at a router, if there is one that works. */
uint8_t SwitchPart::tile_to(uint32_t router, uint8_t nic, uint32_t hash) const noexcept
{
	const std::vector<uint8_t> &tiles = layout_.nic_tiles[nic];

	for (size_t i = 0; i < tiles.size(); i++) {
		const uint8_t tile = tiles[(hash + i) % tiles.size()];

		if (!senders_[router << TILE_BITS | tile].down)
			return tile;
	}
	return tiles[hash % tiles.size()];
}

/* All outputs get a copy, or none does. Where so many are that there is no record for more, a packet comes again. */
bool SwitchPart::fan_out(uint32_t record, const std::vector<Output> &outputs)
{
	const uint32_t router = record >> ROUTER_BITS;
	const auto is_down = [this, router](const Output &output) {
		return senders_[router << TILE_BITS | output.tile].down;
	};

	if (free_copies_[router].left() < outputs.size() || std::any_of(outputs.begin(), outputs.end(), is_down))
		return false;

	Fan &fan = fans_[record];

	for (const Output &output : outputs) {
		const uint32_t copy = take_copy(router);
		const uint32_t out = router << TILE_BITS | output.tile;
		const uint32_t number = pool_.take();
		Held &of = held_in_[copy];

		of = held_in_[record];
		of.nic = output.nic & 15;
		of.out = output.tile;
		of.packet = number;
		pool_[number] = pool_[held_in_[record].packet];
		copy_of_[copy - copies_] = record;
		fan.copies.push_back(copy);
		load_[out]++;
		want(out, static_cast<uint16_t>((copy - copies_) % COPIES + FIRST_COPY), of.urgent);
		work_[router].links |= uint64_t{1} << output.tile;
	}
	fan.left = static_cast<uint32_t>(outputs.size());
	pool_.give(std::exchange(held_in_[record].packet, NO_PACKET));
	held_in_[record].out = MANY;
	return true;
}

uint32_t SwitchPart::take_copy(uint32_t router)
{
	Copies &copies = free_copies_[router];

	if (copies.free.empty())
		return copies_ + (router << COPY_BITS) + copies.used++;

	const uint32_t copy = copies.free.back();

	copies.free.pop_back();
	return copy;
}

/* Another segment of a packet has come, or its missing segments never will: the same holds for the packet's copies. */
void SwitchPart::more_for_copies(uint32_t record)
{
	const Held &held = held_in_[record];
	/* The last copy that ends takes the list with it. */
	const std::vector<uint32_t> copies = fans_.at(record).copies;

	for (const uint32_t copy : copies) {
		Held &of = held_in_[copy];
		const uint32_t out = (record >> ROUTER_BITS) << TILE_BITS | of.out;

		of.arrived = held.arrived;
		of.bad |= held.bad;
		if (of.refused) {
			of.forwarded = of.arrived;
			if (of.done())
				answer_copy(copy, REFUSED);
			else
				copy_went_on(copy);
			continue;
		}
		if (!of.forwarded)
			continue;
		senders_[out].ready |= (1u << of.channel) & ~senders_[out].blocked;
		look_at_link(out);
	}
}

/* The buffer of a segment is free if it has left by all outputs. */
void SwitchPart::copy_went_on(uint32_t copy)
{
	const uint32_t record = copy_of_[copy - copies_];
	Fan &fan = fans_.at(record);
	uint32_t least = held_in_[record].segments;

	for (const uint32_t other : fan.copies)
		least = std::min<uint32_t>(least, held_in_[other].forwarded);
	for (; fan.given < least; fan.given++) {
		if (fan.given + 1 < held_in_[record].segments)
			give_back(record);
	}
}

/* A NACK of one is a NACK of all (Q27). */
void SwitchPart::answer_copy(uint32_t copy, uint32_t what)
{
	const uint32_t record = copy_of_[copy - copies_], router = record >> ROUTER_BITS;
	Fan &fan = fans_.at(record);

	fan.refused |= what == REFUSED;
	fan.unequal |= what == UNEQUAL;
	fan.what = std::max(fan.what, what);
	if (--fan.left)
		return;

	const uint32_t all = fan.refused ? REFUSED : fan.unequal ? UNEQUAL : fan.what;

	for (const uint32_t other : fan.copies) {
		held_in_[other] = {};
		free_copies_[router].free.push_back(other);
	}
	fans_.erase(record);
	answer(record, all);
}

} // namespace aries::sim
