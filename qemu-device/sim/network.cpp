// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.hpp"

#include <algorithm>

namespace aries::sim
{

Network::Network(const topology::Machine &machine, const routing::Tables &tables, uint32_t class_channels,
		 const Parameters &parameters, const Workload &workload, uint64_t seed)
	: parameters_(parameters), layout_(machine, parameters, class_channels), tables_(tables),
	  traffic_(workload, layout_, seed), seed_(mix64(seed + 0x9e3779b97f4a7c15)), wheel_(layout_.horizon)
{
	const size_t places = layout_.places();
	const size_t channels = layout_.channels;
	const size_t rows = layout_.rows;

	row_bus_.resize(places);
	in_mask_.resize(places);
	input_.resize(places * channels);
	sub_.resize(places * layout_.columns * channels);
	column_bus_.resize(places * rows);
	sub_mask_.resize(places * rows * layout_.sub_words());
	column_.resize(places * rows * channels);
	column_mask_.resize(places * layout_.column_words());
	output_.resize(places);
	ports_.resize(places * 2);
	spent_.resize(places * 2 * channels);
	near_.resize(places);
	received_.assign(places, NO_PACKET);
	near_sum_.resize(layout_.routers);
	nic_check_.resize(layout_.routers);
	nic_hungry_.resize(layout_.routers);
	nic_wake_.assign(layout_.routers, UINT32_MAX);

	/* What a neighbour told is known when its message has come over the link: in whole messages. */
	told_lag_.resize(places);
	for (size_t place = 0; place < places; place++) {
		const uint32_t cycles = layout_.lanes[place].latency_ticks / TICKS + parameters.load_delay;

		told_lag_[place] = static_cast<uint16_t>(cycles / parameters.load_interval + 1);
		told_slots_ = std::max(told_slots_, told_lag_[place] + 1u);
	}
	told_.resize(size_t{told_slots_} * layout_.routers);

	nics_.resize(layout_.nodes);
	open_.resize(layout_.nodes);
	if (traffic_.jobs() > 1)
		statistics_.jobs.resize(traffic_.jobs());
	for (uint32_t node = 0; node < layout_.nodes; node++) {
		next_message(node);
		wake_nics(layout_.node_router[node], std::max(nics_[node].due, 1u));
	}
}

void Network::measure(uint32_t from, uint32_t until)
{
	measure_from_ = from;
	measure_until_ = until;
}

void Network::run(uint32_t until)
{
	while (now_ < until) {
		step();
		now_++;
	}
}

void Network::step()
{
	if (now_ % parameters_.load_interval == 0)
		publish_loads();
	deliver();
	/* Downstream first, so that room that becomes free can be used in the same cycle. */
	for (const uint32_t place : list_out_)
		check_out(place);
	for (const uint32_t bus : list_sub_)
		check_sub(bus);
	for (const uint32_t place : list_in_)
		check_in(place);
	for (const uint32_t router : list_nic_)
		check_nics(router);
	statistics_.checks += list_out_.size() + list_sub_.size() + list_in_.size() + list_nic_.size();
	list_out_.clear();
	list_sub_.clear();
	list_in_.clear();
	list_nic_.clear();
}

/* Most of the time goes to fetching packets and queues from memory: so that is begun some events ahead. */
void Network::deliver()
{
	const auto packet_soon = [this](uint32_t packet, uint32_t) { __builtin_prefetch(&pool_[packet], 1); };
	const auto nothing = [](uint32_t, uint32_t) {};

	wheel_.take(
		Kind::Arrive, now_, [this](uint32_t packet, uint32_t place) { arrive(packet, place); }, packet_soon,
		[this](uint32_t packet, uint32_t place) {
			__builtin_prefetch(&input_[size_t{place} * layout_.channels + pool_[packet].header.channel], 1);
			__builtin_prefetch(&row_bus_[place], 1);
		});
	wheel_.take(
		Kind::ToSub, now_, [this](uint32_t packet, uint32_t base) { reach_sub(packet, base); }, packet_soon,
		[this](uint32_t packet, uint32_t base) {
			const Packet &of = pool_[packet];
			const uint32_t bus = bus_of(base + of.out, layout_.row_of[of.in]);

			__builtin_prefetch(&sub_[sub_queue(of, base)], 1);
			__builtin_prefetch(&column_bus_[bus], 1);
			__builtin_prefetch(&near_[base + of.out], 1);
			__builtin_prefetch(&column_[size_t{bus} * layout_.channels + of.header.channel], 1);
		});
	wheel_.take(
		Kind::ToColumn, now_, [this](uint32_t packet, uint32_t base) { reach_column(packet, base); },
		packet_soon,
		[this](uint32_t packet, uint32_t base) {
			const Packet &of = pool_[packet];
			const uint32_t out = base + of.out;

			__builtin_prefetch(&column_[size_t{bus_of(out, layout_.row_of[of.in])} * layout_.channels +
						    of.header.channel],
					   1);
			__builtin_prefetch(&output_[out], 1);
			__builtin_prefetch(&ports_[out], 1);
			__builtin_prefetch(&spent_[size_t{out} * layout_.channels], 1);
		});
	wheel_.take(
		Kind::Credit, now_, [this](uint32_t port, uint32_t what) { take_credit(port, what); },
		[this](uint32_t port, uint32_t) {
			__builtin_prefetch(&ports_[port], 1);
			__builtin_prefetch(&spent_[size_t{port} * layout_.channels], 1);
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

void Network::look_again(Kind kind, std::vector<Resource> &resources, std::vector<uint32_t> &to)
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
void Network::publish_loads()
{
	told_now_ = now_ / parameters_.load_interval;

	uint32_t *told = told_.data() + size_t{told_now_ % told_slots_} * layout_.routers;

	for (uint32_t router = 0; router < layout_.routers; router++) {
		const uint32_t sum = near_sum_[router];

		told[router] = sum ? sum / std::max(layout_.network_links[router], 1u) : 0;
	}
}

bool Network::idle() const noexcept
{
	if (pool_.live())
		return false;
	return std::all_of(nics_.begin(), nics_.end(), [this](const Nic &nic) { return nic.due >= last_due_; });
}

std::string Network::leftover() const
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
	for (uint32_t place = 0; place < layout_.places(); place++) {
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
