// SPDX-License-Identifier: GPL-2.0-or-later
#include "hss/manager.hpp"

#include <unistd.h>

#include "hss/assess.hpp"

namespace aries::hss
{

namespace
{

constexpr auto INTERVAL = std::chrono::milliseconds(20);
constexpr auto TRY_AGAIN = std::chrono::seconds(5);
constexpr uint32_t LONGEST_SETTLE = 10; // of one settle time: links that go up and down all the time

} // namespace

Manager::Manager(net::FabricView &fabric, const std::string &path, Journal &journal, const ManagerOptions &options,
		 const Pause &pause)
	: fabric_(fabric), network_(fabric.network()), journal_(journal), options_(options), pause_(pause),
	  rerouter_(fabric, path, journal, options.reroute, pause), watch_(fabric)
{
	if (!fabric.observer().take(Observer::Office::Manager))
		throw Error("process " + std::to_string(network_.manager()) +
			    " manages this network already: end it first, or let it do its work");
	network_.set_manager(static_cast<uint32_t>(getpid()));
}

Manager::~Manager()
{
	network_.set_manager(0);
	fabric_.observer().give_back(Observer::Office::Manager);
}

/* What is down, and whether it is the same as before. */
void Manager::look()
{
	for (const net::Event &event : watch_.look())
		journal_.tell(event);
	/* Somebody is at it: what is half done is no reason to do anything. */
	if (fabric_.observer().taken(Observer::Office::Tables))
		return;

	std::set<uint32_t> down = links_down(network_);
	const uint32_t generation = network_.tables_generation();

	if (known_ && down == down_ && generation == generation_)
		return;
	if (known_ && generation != generation_)
		journal_.tell("tables", "another process has loaded generation " + std::to_string(generation),
			      {{"generation", generation}});
	if (!known_ || down != down_)
		changed_ = Clock::now();
	down_ = std::move(down);
	generation_ = generation;
	known_ = true;
	assess();
}

/* Whether tables should be made anew, told when that changes. */
void Manager::assess()
{
	const std::optional<routing::Failures> without = rerouter_.made_without();
	const std::string before = reason_;

	now_ = failures_of(network_, down_);
	if (const std::optional<std::string> trouble = network_.refresh_tables())
		journal_.tell("tables", *trouble);
	reason_ = without ? why_anew(network_, network_.tables(), *without, now_)
			  : "the tables of generation " + std::to_string(generation_) + " cannot be used";
	if (reason_.empty() && without && *without != now_)
		journal_.tell("masked",
			      "routers do not use what is down, and have other ways: " +
				      std::to_string(now_.links.size()) + " links; the tables serve",
			      {{"links", now_.links.size()}, {"generation", generation_}});
	if (!reason_.empty() && reason_ != before)
		journal_.tell("impaired", reason_ + ": new tables are due", {{"generation", generation_}});
	if (before.empty())
		first_ = Clock::now();
}

bool Manager::settled() const
{
	const Clock::time_point now = Clock::now();

	return now >= not_before_ &&
	       (now - changed_ >= options_.settle || now - first_ >= LONGEST_SETTLE * options_.settle);
}

void Manager::act()
{
	const TablesOffice office(fabric_.observer(), pause_);

	if (!office)
		return;
	/* Whoever had the office may have done it. */
	look();
	if (reason_.empty())
		return;
	try {
		rerouter_.reroute(now_, reason_);
	} catch (const std::exception &error) {
		journal_.tell("failed", std::string(error.what()) + ": the tables stay as they are, for now");
		not_before_ = Clock::now() + TRY_AGAIN;
		return;
	}
	generation_ = network_.tables_generation();
	reason_.clear();
	assess();
}

bool Manager::run()
{
	const uint32_t generation = network_.tables_generation();

	journal_.tell("started",
		      "process " + std::to_string(getpid()) + ", route tables of generation " +
			      std::to_string(generation),
		      {{"pid", getpid()}, {"generation", generation}});
	do {
		/* Before the look, which then shows how the last one went. */
		const bool members = fabric_.has_members();

		look();
		if (!members) {
			journal_.tell("stopped", "the last member has left");
			return false;
		}
		if (!reason_.empty() && settled())
			act();
	} while (pause_(INTERVAL));
	journal_.tell("stopped", "the tables stay as they are");
	return true;
}

} // namespace aries::hss
