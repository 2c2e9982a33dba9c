// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch_part.hpp"

#include <algorithm>
#include <bit>

#include "switch_checks.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t HORIZON_BASE = 4 * SEGMENT_WORDS;

/* A posted answer, credit or segment: its kind is in bits that no record of a machine has. */
constexpr uint32_t KIND_SHIFT = 29;

uint32_t horizon_of(const Layout &layout, const Parameters &parameters)
{
	uint32_t latency = 0;

	for (const Lane &lane : layout.lanes)
		latency = std::max(latency, lane.latency_ticks);
	return latency + parameters.input_cycles + parameters.credit_cycles + 2 * parameters.netlink_cycles +
	       parameters.write_most + HORIZON_BASE;
}

/* Of a word of 64 bits, that the line code makes longer; in units of 2^-64. */
uint64_t error_of_word(const Parameters &parameters)
{
	const chip::SerialForm &line = chip::ELITE5.line;
	const double bits = 8.0 * WORD_BYTES * line.code_line / line.code_data;

	return static_cast<uint64_t>(parameters.bit_errors * 1e-12 * bits * 0x1p64);
}

} // namespace

std::unique_ptr<Part> make_switch_part(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables)
{
	return std::make_unique<SwitchPart>(plan, number, tables);
}

SwitchPart::SwitchPart(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables)
	: parameters_(plan.parameters), layout_(plan.layout), division_(plan.division), number_(number),
	  first_router_(division_.first[number]), routers_(division_.first[number + 1] - first_router_),
	  places_(routers_ << TILE_BITS), copies_(2 * places_ << CHANNEL_BITS),
	  channels_(layout_.class_channels >= LINK_CHANNELS ? UINT32_MAX : (1u << layout_.class_channels) - 1),
	  traffic_(plan.traffic), seed_(plan.seed), word_error_(error_of_word(parameters_)),
	  lossy_(parameters_.bit_errors != 0), wheel_(horizon_of(layout_, parameters_)), work_(routers_),
	  turns_(routers_), lines_(2 * size_t{places_}), senders_(2 * size_t{places_}), load_(places_), head_(places_),
	  done_(remembered_cycles(parameters_))
{
	held_in_.resize(copies_ + (plan.traffic.collectives() ? size_t{routers_} << COPY_BITS : 0));
	sent_.resize(size_t{places_} * 2 << CHANNEL_BITS);
	if (word_error_)
		link_errors_.resize(2 * size_t{places_});
	for (uint32_t router = 0; router < routers_; router++) {
		for (uint32_t tile = 0; tile < layout_.tiles; tile++) {
			const Lane &lane = layout_.lanes[layout_.place(first_router_ + router, tile)];
			const uint32_t place = router << TILE_BITS | tile;

			if (!lane.used)
				continue;
			lines_[place].latency = lane.latency_ticks;
			if (lane.far == NO_PLACE) {
				lines_[place].to_node = true;
				lines_[place].far = places_ + place;
				lines_[places_ + place] = {place, lines_[place].latency, false};
				continue;
			}

			const uint32_t far = lane.far / layout_.tiles, far_tile = lane.far % layout_.tiles;
			const bool here = far - first_router_ < routers_;

			lines_[place].far = here ? (far - first_router_) << TILE_BITS | far_tile
						 : ELSEWHERE | far << TILE_BITS | far_tile;
		}
	}
	if (traffic_.jobs() > 1)
		statistics_.jobs.resize(traffic_.jobs());
	use_tables(&tables);
	make_adapters();
	make_members();
}

/* Routers here choose as the parameters tell, by the tables of all. */
void SwitchPart::use_tables(TablesOf tables)
{
	const routing::ClosTables &all = *std::get<const routing::ClosTables *>(tables);

	site_of_.resize(layout_.routers);
	for (uint32_t router = 0; router < layout_.routers; router++)
		site_of_[router] = all.router(router).here;
	common_ = *all.router(first_router_).common;
	common_.choice = {static_cast<routing::ClosOrder>(parameters_.order), parameters_.threshold};
	tables_.clear();
	for (uint32_t router = 0; router < routers_; router++) {
		tables_.push_back(all.router(first_router_ + router));
		tables_.back().common = &common_;
	}
}

void SwitchPart::run(uint32_t until, Mail *out)
{
	out_ = out;
	while (now_ < until) {
		step();
		now_++;
	}
}

void SwitchPart::step()
{
	deliver();
	if (!expiries_.empty()) [[unlikely]]
		expire();
	if (!plans_.empty()) [[unlikely]]
		take_plans();
	for (const uint32_t router : list_)
		work(router);
	statistics_.checks += list_.size();
	list_.clear();
}

/* As in a TiledPart, what an event will need is fetched some events ahead. */
void SwitchPart::deliver()
{
	const auto nothing = [](uint32_t, uint32_t) {};
	const auto record_soon = [this](uint32_t record, uint32_t) {
		__builtin_prefetch(&held_in_[record], 1);
		__builtin_prefetch(&work_[record >> ROUTER_BITS], 1);
	};
	const auto channel_soon = [this](uint32_t channel, uint32_t) {
		__builtin_prefetch(&sent_[channel], 1);
		__builtin_prefetch(&senders_[channel >> CHANNEL_BITS], 1);
	};
	const auto packet_soon = [this](uint32_t channel, uint32_t) {
		const uint32_t place = channel >> CHANNEL_BITS;

		__builtin_prefetch(&held_in_[record_of(place, sent_[channel].from)], 1);
	};

	wheel_.take(
		SwitchKind::Answer, now_, [this](uint32_t channel, uint32_t what) { take_answer(channel, what); },
		channel_soon, packet_soon);
	wheel_.take(
		SwitchKind::Credit, now_, [this](uint32_t channel, uint32_t) { take_credit(channel); }, channel_soon,
		packet_soon);
	wheel_.take(
		SwitchKind::Segment, now_, [this](uint32_t record, uint32_t damage) { arrive(record, damage); },
		record_soon, nothing);
	wheel_.take(
		SwitchKind::Receive, now_, [this](uint32_t channel, uint32_t) { receive(channel); }, channel_soon,
		packet_soon);
	wheel_.take(
		SwitchKind::Free, now_,
		[this](uint32_t place, uint32_t) {
			senders_[place].armed = false;
			look_at_link(place);
		},
		[this](uint32_t place, uint32_t) {
			__builtin_prefetch(&senders_[place], 1);
			__builtin_prefetch(&work_[router_of(place)], 1);
		},
		nothing);
	wheel_.take(
		SwitchKind::Wake, now_,
		[this](uint32_t slot, uint32_t) {
			if (adapters_[slot].wake == now_)
				adapters_[slot].wake = UINT32_MAX;
			work_[slot / layout_.nics].adapters |= 1u << slot % layout_.nics;
			list(slot / layout_.nics);
		},
		nothing, nothing);
}

void SwitchPart::list(uint32_t router)
{
	if (!work_[router].listed) {
		work_[router].listed = true;
		list_.push_back(router);
	}
}

void SwitchPart::look_at_link(uint32_t place)
{
	const uint32_t router = router_of(place);

	if (place < places_)
		work_[router].links |= uint64_t{1} << (place & (SWITCH_TILES - 1));
	else
		work_[router].adapters |= nics_of_[place & (SWITCH_TILES - 1)];
	list(router);
}

void SwitchPart::work(uint32_t router)
{
	Router &work = work_[router];
	const uint32_t first = router << TILE_BITS;

	work.listed = false;
	for (uint64_t left = std::exchange(work.arrivals, 0); left; left &= left - 1)
		route(first | static_cast<uint32_t>(std::countr_zero(left)));
	for (uint64_t left = std::exchange(work.links, 0); left; left &= left - 1)
		serve(first | static_cast<uint32_t>(std::countr_zero(left)));
	for (uint32_t left = std::exchange(work.adapters, 0); left; left &= left - 1)
		look_at_adapter(home_[router * layout_.nics + static_cast<uint32_t>(std::countr_zero(left))]);
}

/* To the other end of a link, here or in another part. */
void SwitchPart::tell(SwitchKind kind, uint32_t cycle, uint32_t place, uint32_t channel, uint32_t what)
{
	if (!(place & ELSEWHERE)) [[likely]] {
		wheel_.add(kind, cycle, place << CHANNEL_BITS | channel, what);
		return;
	}

	const uint32_t of_machine = place & ~ELSEWHERE;

	out_[division_.part_of[of_machine >> TILE_BITS]].credits.push_back(
		{cycle, static_cast<uint32_t>(kind) << KIND_SHIFT | of_machine << CHANNEL_BITS | channel, what});
}

/* Takes packets, credits and loads that another part has sent. */
void SwitchPart::receive_mail(uint32_t, const Mail &mail)
{
	const uint32_t first = first_router_ << ROUTER_BITS;
	constexpr uint32_t RECORD = (1u << KIND_SHIFT) - 1;

	for (const PostedPacket &posted : mail.packets) {
		const uint32_t number = pool_.take();
		const SwitchPacket &packet = pool_[number] = posted.as<SwitchPacket>();
		Held &held = held_in_[packet.place - first];

		held = packet.held;
		held.packet = number;
	}
	for (const Mail::Credit &told : mail.credits)
		wheel_.add(static_cast<SwitchKind>(told.port >> KIND_SHIFT), told.cycle, (told.port & RECORD) - first,
			   told.what);
	for (const Expiry &expiry : mail.expiries)
		expiries_.push(expiry);
}

LinkCount SwitchPart::count_of(uint32_t of_machine) const noexcept
{
	const uint32_t place = (of_machine / layout_.tiles - first_router_) << TILE_BITS | of_machine % layout_.tiles;
	const Sender &sender = senders_[place];

	return {.flits = sender.words,
		.replays = link_errors_.empty() ? 0 : link_errors_[place],
		.stalled = sender.stalled + (sender.since ? now_ - sender.since : 0)};
}

bool SwitchPart::idle() const noexcept
{
	return !live() && expiries_.empty() && members_idle() &&
	       std::all_of(adapters_.begin(), adapters_.end(), [this](const Adapter &adapter) {
		       return adapter.node == NO_PLACE || adapter.due >= end_due_;
	       });
}

std::string SwitchPart::leftover() const
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (pool_.live() || live())
		return number(pool_.live()) + " packets, " + number(live()) + " without an answer";
	for (uint32_t place = 0; place < senders_.size(); place++) {
		const Sender &sender = senders_[place];

		if (sender.held || sender.ready || sender.blocked || sender.pool || !sender.urgent.empty() ||
		    !sender.waiting.empty())
			return "channels in use at place " + number(place);
		if (place < places_ && load_[place] & ~DOWN_LOAD)
			return "a load of " + number(load_[place]) + " at place " + number(place);
	}
	for (uint32_t place = 0; place < senders_.size(); place++) {
		for (uint32_t channel = 0; channel < LINK_CHANNELS; channel++) {
			if (held_in_[size_t{place} << CHANNEL_BITS | channel].segments)
				return "a packet in channel " + number(channel) + " of place " + number(place);
		}
	}
	for (const Adapter &adapter : adapters_) {
		if (adapter.asked)
			return number(adapter.asked) + " gets without data";
	}
	for (const OpenMessages &open : open_) {
		if (!open.empty())
			return "messages that have not ended";
	}
	return {};
}

} // namespace aries::sim
