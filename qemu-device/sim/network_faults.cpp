// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Failures in mid-run. What fails does so between two cycles; route tables follow some time later, when the network is
 * empty: requests are held until all that is under way has arrived or is lost, as the supervisor of a real machine
 * does it (R14). So packets of old and new tables never meet, which might wait for each other in a circle. Switches of
 * QsNetIII get new tables while packets are under way.
 */
#include <algorithm>

#include "elite5_line.hpp"
#include "network.hpp"

namespace aries::sim
{

namespace
{

constexpr uint64_t TESTS = 0x74657374; // what random words are for
constexpr uint32_t LOOK_AGAIN = 100;   // cycles until it is looked again whether the network is empty

uint32_t place_of(const Layout &layout, const topology::LinkEnd &end)
{
	return layout.place(end.router, end.tile);
}

} // namespace

/* Events lie no further ahead than the horizon: it must suit the slowest that a link will be. */
void Network::make_room_for_lanes()
{
	const std::vector<Lane> lanes = layout_.lanes;

	for (const Incident &incident : plan_.incidents) {
		if (incident.victim == Victim::Lanes)
			set_lanes(incident);
	}
	layout_.lanes = lanes;
}

void Network::expect_faults()
{
	if (!plan_.incidents.empty())
		each_part([](Part &part) { part.expect_faults(); });
}

/* The next cycle behind this one before which something happens. */
uint32_t Network::next_change() const noexcept
{
	const bool more = next_incident_ < plan_.incidents.size();
	uint32_t next = std::min(more ? plan_.incidents[next_incident_].cycle : UINT32_MAX, tables_at_);

	for (const BringUp &link : rising_)
		next = std::min(next, link.until());
	return next;
}

void Network::change_now()
{
	if (next_change() > now_)
		return;
	for (uint32_t part = first_mine_; part < end_mine_; part++)
		parts_[part]->use_mail(mails_[written_][part].data());
	while (next_incident_ < plan_.incidents.size() && plan_.incidents[next_incident_].cycle <= now_)
		happen(plan_.incidents[next_incident_++]);
	end_steps();
	if (tables_at_ > now_)
		return;

	if (!held_ && out_of_use() == built_for_) {
		/* All is as it was when they were made, but for links to nodes, which only groups have to know. */
		each_part([](Part &part) { part.hold_requests(false); });
		make_groups();
		tables_at_ = UINT32_MAX;
		return;
	}
	/* Ways up and then down wait for each other in no circle, by whatever tables: packets need not be gone. */
	if (&layout_.chip == &ELITE5_LINE) {
		make_tables();
		return;
	}
	if (!held_) {
		held_ = true;
		each_part([](Part &part) { part.hold_requests(true); });
	}
	tables_at_ = now_ + LOOK_AGAIN;
	if (census().live == 0)
		make_tables();
}

void Network::happen(const Incident &incident)
{
	if (incident.victim == Victim::Lanes) {
		set_lanes(incident);
		return;
	}

	const FaultState::Changed changed = state_.apply(incident);
	const bool in_steps = incident.up && &layout_.chip == &ELITE5_LINE;

	for (const uint32_t link : changed.links) {
		if (in_steps)
			bring_up(link);
		else
			set_link(link, !incident.up);
	}
	for (const uint32_t place : changed.ports)
		each_part([&incident, place](Part &part) { part.set_down(place, !incident.up); });
	for (const uint32_t node : changed.nodes)
		each_part([&incident, node](Part &part) { part.set_dead(node, !incident.up); });
	if (changed.links.empty() && changed.ports.empty())
		return;
	if (held_ || in_steps)
		return;
	tables_at_ = now_ + parameters_.rebuild_cycles;
	each_part([](Part &part) { part.wait_for_tables(); });
}

/* A link of QsNetIII works again, but is not in use before it has been looked at (Q41). */
void Network::bring_up(uint32_t link)
{
	rising_.emplace_back(link, now_, parameters_.bring_up_cycles);
}

/* The errors that the random packets of a test have, in both directions of a link. */
uint32_t Network::errors_in_test(uint32_t link) const noexcept
{
	constexpr double BITS_OF_CYCLE = 2 * 80;
	const double mean = parameters_.bring_up_cycles * BITS_OF_CYCLE * parameters_.bit_errors * 1e-12;
	const double part = static_cast<double>(random_of(TESTS, link, now_) >> 11) * 0x1p-53;

	return static_cast<uint32_t>(mean + part);
}

void Network::end_steps()
{
	for (size_t i = 0; i < rising_.size();) {
		BringUp &rising = rising_[i];

		if (rising.until() > now_ || !rising.end_step({true, errors_in_test(rising.link())})) {
			i++;
			continue;
		}
		set_link(rising.link(), false);
		tables_at_ = now_;
		rising_.erase(rising_.begin() + static_cast<ptrdiff_t>(i));
	}
}

void Network::set_link(uint32_t link, bool down)
{
	if (down)
		std::erase_if(rising_, [link](const BringUp &rising) { return rising.link() == link; });
	for (const topology::LinkEnd &end : machine_.links[link].end)
		each_part([this, &end, down](Part &part) { part.set_down(place_of(layout_, end), down); });
}

/* Nothing is lost: the LCB sends again what was under way (P09, P17). */
void Network::set_lanes(const Incident &incident)
{
	for (const uint32_t link : incident.links) {
		const double gbit = machine_.gbit_of(machine_.links[link]);
		const uint32_t ticks = flit_ticks(layout_.chip, gbit, incident.lanes, machine_.router_type.clock_mhz);

		for (const topology::LinkEnd &end : machine_.links[link].end)
			layout_.set_flit_ticks(place_of(layout_, end), ticks, parameters_);
	}
}

/* What has failed, and links that have been repaired but are not in use yet. */
routing::Failures Network::out_of_use() const
{
	routing::Failures failures = state_.failures();

	for (const BringUp &rising : rising_)
		failures.links.push_back(rising.link());
	std::sort(failures.links.begin(), failures.links.end());
	return failures;
}

/* The network is empty, or its packets may meet those of other tables. */
void Network::make_tables()
{
	built_for_ = out_of_use();
	built_.emplace(machine_, plan_.policy, built_for_);
	rebuilds_.push_back({now_, built_->cut_routers(), built_->cut_groups()});
	each_part([this](Part &part) {
		part.use_tables(built_->tables());
		part.hold_requests(false);
	});
	make_groups();
	held_ = false;
	tables_at_ = UINT32_MAX;
}

/* The tree moves if what it is made of has failed (Q32). */
void Network::make_groups()
{
	if (group_nodes_.empty())
		return;

	const uint32_t version = groups_ ? groups_->version() + 1 : 0;

	groups_.emplace(machine_, built_for_, group_nodes_, state_.cut_places(), version);
	each_part([this](Part &part) { part.use_groups(&*groups_); });
}

} // namespace aries::sim
