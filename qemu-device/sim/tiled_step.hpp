// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef ARIES_SIM_TILED_STEP_HPP
#define ARIES_SIM_TILED_STEP_HPP

#include "tiled_part.hpp"

#include <algorithm>

namespace aries::sim
{

/** Probability that a flit is wrong on a link, in units of 2^-64; what the link layer adds can be as well (P07). */
inline uint64_t flit_error(const chip::Chip &chip, const Parameters &parameters)
{
	const chip::LineForm &line = chip.line;
	const double bits =
		chip.packets.unit_bits * (line.set_units + line.set_extra) / static_cast<double>(line.set_units);

	return static_cast<uint64_t>(bits * parameters.bit_errors * 1e-12 * 0x1p64);
}

template <typename Setup>
TiledPart<Setup>::TiledPart(const PartPlan &plan, uint32_t number, const typename Setup::Tables &tables)
	: parameters_(plan.parameters), layout_(plan.layout), tiles_(layout_.tiles), rows_(layout_.rows),
	  columns_(layout_.columns), channels_(layout_.channels), sub_words_(layout_.sub_words()),
	  column_words_(layout_.column_words()), by_tiles_(tiles_), by_rows_(rows_), division_(plan.division),
	  number_(number), first_router_(division_.first[number]),
	  routers_(division_.first[number + 1] - first_router_), first_place_(first_router_ * tiles_),
	  places_(routers_ * tiles_), lanes_(layout_.lanes.data() + first_place_), tables_(&tables),
	  traffic_(plan.traffic), seed_(mix64(plan.seed + 0x9e3779b97f4a7c15)),
	  flit_error_(flit_error(CHIP, parameters_)), bubbles_(Setup::RINGS && layout_.class_channels == 1),
	  ring_room_(parameters_.input_buffer / channels_),
	  router_error_(static_cast<uint64_t>(CHIP.packets.unit_bits * parameters_.router_errors * 1e-12 * 0x1p64)),
	  byte_time_(parameters_.host_mbytes
			     ? (uint64_t{CHIP.times.router_mhz} << Traffic::FRACTION) / parameters_.host_mbytes
			     : 0),
	  wheel_(layout_.horizon)
{
	const size_t places = places_;
	const size_t channels = channels_;
	const size_t rows = rows_;

	std::copy(layout_.row_of.begin(), layout_.row_of.end(), row_of_.begin());
	std::copy(layout_.column_of.begin(), layout_.column_of.end(), column_of_.begin());
	row_bus_.resize(places);
	in_mask_.resize(places);
	input_.resize(places * channels);
	sub_.resize(places * columns_ * channels);
	column_bus_.resize(places * rows);
	sub_mask_.resize(places * rows * sub_words_);
	column_.resize(places * rows * channels);
	column_mask_.resize(places * column_words_);
	output_.resize(places);
	row_stalls_.resize(places);
	column_stalls_.resize(places * rows);
	if (flit_error_)
		replays_.resize(places);
	ports_.resize(places * 2);
	spent_.resize(places * 2 * channels);
	kept_sub_.resize(places * rows * channels);
	kept_.resize(places * 2 * channels);
	near_.resize(places);
	received_.assign(places, NO_PACKET);
	taken_.resize(places * layout_.nics * routing::CLASSES);
	near_sum_.resize(routers_);
	nic_check_.resize(routers_);
	nic_hungry_.resize(routers_);
	nic_wake_.assign(routers_, UINT32_MAX);
	grants_.resize(tiles_);

	/* What a neighbour told is known when its message has come over the link: in whole messages. */
	tellers_.resize(places);
	for (size_t place = 0; place < places; place++) {
		const uint32_t cycles = lanes_[place].latency_ticks / TICKS + parameters_.load_delay;

		tellers_[place] = {by_tiles_.of(lanes_[place].far), cycles / parameters_.load_interval + 1};
		told_slots_ = std::max(told_slots_, tellers_[place].lag + 1);
	}
	told_first_.resize(told_slots_);
	told_.resize(size_t{told_slots_} * layout_.routers);

	list_borders();
	nics_.resize(size_t{routers_} * layout_.nics);
	open_.resize(nics_.size());
	if constexpr (Setup::PACES_HOSTS)
		host_free_.resize(nics_.size());
	if (traffic_.jobs() > 1)
		statistics_.jobs.resize(traffic_.jobs());
	for (uint32_t slot = 0; slot < nics_.size(); slot++) {
		const uint32_t router = slot / layout_.nics;
		Nic &nic = nics_[slot];

		nic.node = layout_.node_at[size_t{first_router_} * layout_.nics + slot];
		nic.base = router * tiles_;
		nic.index = static_cast<uint8_t>(slot % layout_.nics);
	}
	begin_collectives();
	for (uint32_t slot = 0; slot < nics_.size(); slot++) {
		Nic &nic = nics_[slot];

		if (nic.node == NO_PLACE)
			continue;
		next_message(nic);
		wake_nics(slot / layout_.nics, std::max(nic.due, 1u));
	}
}

/* Routers on both sides of the links between this part and each other: their loads are told over them. */
template <typename Setup> void TiledPart<Setup>::list_borders()
{
	const auto unique = [](std::vector<uint32_t> &routers) {
		std::sort(routers.begin(), routers.end());
		routers.erase(std::unique(routers.begin(), routers.end()), routers.end());
	};

	borders_.resize(division_.parts());
	for (uint32_t place = 0; place < places_; place++) {
		if (lanes_[place].far == NO_PLACE)
			continue;

		const uint32_t far = by_tiles_.of(lanes_[place].far);
		const uint32_t part = division_.part_of[far];

		if (part != number_) {
			borders_[part].here.push_back(first_router_ + by_tiles_.of(place));
			borders_[part].there.push_back(far);
		}
	}
	for (Border &border : borders_) {
		unique(border.here);
		unique(border.there);
	}
}

template <typename Setup> void TiledPart<Setup>::measure(uint32_t from, uint32_t until)
{
	measure_from_ = from;
	measure_until_ = until;
}

template <typename Setup> void TiledPart<Setup>::run(uint32_t until, Mail *out)
{
	out_ = out;
	while (now_ < until) {
		step();
		now_++;
	}
}

template <typename Setup> void TiledPart<Setup>::step()
{
	if (now_ % parameters_.load_interval == 0)
		publish_loads();
	deliver();
	if (!expiries_.empty()) [[unlikely]]
		expire();
	if (!plans_.empty()) [[unlikely]]
		take_plans();
	/* Downstream first, so that room that becomes free can be used in the same cycle. */
	check_outs();
	check_subs();
	check_inputs();
	for (const uint32_t router : list_nic_)
		check_nics(router);
	statistics_.checks += list_out_.size() + list_sub_.size() + list_in_.size() + list_nic_.size();
	list_out_.clear();
	list_sub_.clear();
	list_in_.clear();
	list_nic_.clear();
}

/* Most of the time goes to fetching packets and queues from memory: so that is begun some events ahead. */
template <typename Setup> void TiledPart<Setup>::deliver()
{
	const auto packet_soon = [this](uint32_t packet, uint32_t) { __builtin_prefetch(&pool_[packet], 1); };
	const auto nothing = [](uint32_t, uint32_t) {};

	wheel_.take(
		Kind::Arrive, now_, [this](uint32_t packet, uint32_t place) { arrive(packet, place); }, packet_soon,
		[this](uint32_t packet, uint32_t place) {
			__builtin_prefetch(&input_[size_t{place} * channels_ + pool_[packet].header.channel], 1);
			__builtin_prefetch(&row_bus_[place], 1);
		});
	wheel_.take(
		Kind::ToSub, now_, [this](uint32_t packet, uint32_t base) { reach_sub(packet, base); }, packet_soon,
		[this](uint32_t packet, uint32_t base) {
			const Packet &of = pool_[packet];
			const uint32_t bus = bus_of(base + of.out, row_of_[of.in]);

			__builtin_prefetch(&sub_[sub_queue(of, base)], 1);
			__builtin_prefetch(&column_bus_[bus], 1);
			__builtin_prefetch(&near_[base + of.out], 1);
			__builtin_prefetch(&column_[size_t{bus} * channels_ + of.header.channel], 1);
		});
	wheel_.take(
		Kind::ToColumn, now_, [this](uint32_t packet, uint32_t base) { reach_column(packet, base); },
		packet_soon,
		[this](uint32_t packet, uint32_t base) {
			const Packet &of = pool_[packet];
			const uint32_t out = base + of.out;

			__builtin_prefetch(
				&column_[size_t{bus_of(out, row_of_[of.in])} * channels_ + of.header.channel], 1);
			__builtin_prefetch(&output_[out], 1);
			__builtin_prefetch(&ports_[out], 1);
			__builtin_prefetch(&spent_[size_t{out} * channels_], 1);
		});
	wheel_.take(
		Kind::Credit, now_, [this](uint32_t port, uint32_t what) { take_credit(port, what); },
		[this](uint32_t port, uint32_t) {
			__builtin_prefetch(&ports_[port], 1);
			__builtin_prefetch(&spent_[size_t{port} * channels_], 1);
		},
		nothing);
	wheel_.take(
		Kind::Receive, now_, [this](uint32_t packet, uint32_t place) { receive(packet, place); }, packet_soon,
		nothing);
	look_again(Kind::CheckIn, row_bus_, list_in_);
	look_again(Kind::CheckSub, column_bus_, list_sub_);
	look_again(Kind::CheckOut, output_, list_out_);
	wheel_.take(
		Kind::CheckNic, now_,
		[this](uint32_t router, uint32_t) {
			if (nic_wake_[router] == now_)
				nic_wake_[router] = UINT32_MAX;
			list(nic_check_[router], list_nic_, router);
		},
		nothing, nothing);
}

template <typename Setup>
void TiledPart<Setup>::look_again(Kind kind, std::vector<Resource> &resources, std::vector<uint32_t> &to)
{
	wheel_.take(
		kind, now_,
		[this, &resources, &to](uint32_t number, uint32_t) {
			resources[number].armed = false;
			list(resources[number], to, number);
		},
		[&resources](uint32_t number, uint32_t) { __builtin_prefetch(&resources[number], 1); },
		[](uint32_t, uint32_t) {});
}

/* Every router tells its neighbours how loaded its links are on average (R08, R09). */
template <typename Setup> void TiledPart<Setup>::publish_loads()
{
	told_now_ = now_ / parameters_.load_interval;

	uint32_t *told = told_.data() + size_t{told_now_ % told_slots_} * layout_.routers;

	/* Of messages from before the beginning all say zero: their places are not written yet. */
	for (uint32_t lag = 0; lag < told_slots_; lag++)
		told_first_[lag] = size_t{(told_now_ + told_slots_ - lag) % told_slots_} * layout_.routers;
	for (uint32_t router = 0; router < routers_; router++) {
		const uint32_t sum = near_sum_[router];

		told[first_router_ + router] =
			sum ? sum / std::max(layout_.network_links[first_router_ + router], 1u) : 0;
	}
	for (uint32_t part = 0; part < borders_.size(); part++) {
		for (const uint32_t router : borders_[part].here)
			out_[part].loads.push_back(told[router]);
	}
}

/* Takes packets, credits and loads that another part has sent. */
template <typename Setup> void TiledPart<Setup>::receive_mail(uint32_t from, const Mail &mail)
{
	const std::vector<uint32_t> &routers = borders_[from].there;

	for (const PostedPacket &posted : mail.packets) {
		const uint32_t number = pool_.take();
		const Packet &packet = pool_[number] = posted.as<Packet>();

		wheel_.add(Kind::Arrive, packet.ready, number, packet.next - first_place_);
	}
	for (const Mail::Credit &credit : mail.credits)
		wheel_.add(Kind::Credit, credit.cycle, credit.port - first_place_, credit.what);
	for (const Expiry &expiry : mail.expiries)
		expiries_.push(expiry);
	if (routers.empty())
		return;

	/* Messages of the cycles before, the newest at the end. */
	const size_t messages = mail.loads.size() / routers.size();
	const uint32_t first = (now_ - 1) / parameters_.load_interval + 1 - static_cast<uint32_t>(messages);

	for (uint32_t message = 0; message < messages; message++) {
		uint32_t *told = told_.data() + size_t{(first + message) % told_slots_} * layout_.routers;

		for (size_t i = 0; i < routers.size(); i++)
			told[routers[i]] = mail.loads[message * routers.size() + i];
	}
}

template <typename Setup> LinkCount TiledPart<Setup>::count_of(uint32_t of_machine) const noexcept
{
	const uint32_t place = of_machine - first_place_;
	const auto cycles_of = [this](const Resource &resource, const Stall &stall) {
		return stall.cycles + (resource.stuck() ? now_ - stall.since : 0);
	};
	const Port &out = ports_[place];
	LinkCount count{.flits = out.flits,
			.replays = replays_.empty() ? 0 : replays_[place],
			.row_stalled = cycles_of(row_bus_[place], row_stalls_[place]),
			.stalled = out.stalled + (out.blocked == UINT32_MAX ? 0 : now_ - out.blocked)};

	for (uint32_t row = 0; row < rows_; row++)
		count.column_stalled += cycles_of(column_bus_[bus_of(place, row)], column_stalls_[bus_of(place, row)]);
	return count;
}

template <typename Setup> bool TiledPart<Setup>::idle() const noexcept
{
	if (pool_.live() || !expiries_.empty() || !engines_idle())
		return false;
	return std::all_of(nics_.begin(), nics_.end(),
			   [this](const Nic &nic) { return nic.node == NO_PLACE || nic.due >= end_due_; });
}

template <typename Setup> std::string TiledPart<Setup>::leftover() const
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (pool_.live())
		return number(pool_.live()) + " packets";
	for (const Buffer &buffer : sub_) {
		if (buffer.used || !buffer.queue.empty())
			return number(buffer.used) + " flits in a sub-switch";
	}
	for (const Buffer &buffer : column_) {
		if (buffer.used || !buffer.queue.empty())
			return number(buffer.used) + " flits in a column buffer";
	}
	for (uint32_t place = 0; place < places_; place++) {
		if (in_mask_[place])
			return "packets in the input of place " + number(place);
		if (near_[place])
			return "a load of " + number(near_[place]) + " flits at place " + number(place);
	}
	for (size_t port = 0; port < ports_.size(); port++) {
		if (ports_[port].used || ports_[port].shared)
			return number(ports_[port].used) + " flits of credit missing at port " + number(port);
	}
	for (const uint16_t spent : spent_) {
		if (spent)
			return number(spent) + " flits of credit missing in a channel";
	}
	for (const auto *queues : {&kept_sub_, &kept_}) {
		for (const uint16_t queue : *queues) {
			if (queue)
				return "room that is kept for queue " + number(queue - 1U);
		}
	}
	for (const Nic &nic : nics_) {
		if (nic.outstanding || nic.promised)
			return number(nic.outstanding) + " requests without a response";
	}
	for (const OpenMessages &open : open_) {
		if (!open.empty())
			return "messages that have not ended";
	}
	return {};
}

} // namespace aries::sim

#endif
