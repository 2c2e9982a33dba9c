// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Looks after the network of a running fabric, all the time. */
#ifndef ARIES_HSS_MANAGER_HPP
#define ARIES_HSS_MANAGER_HPP

#include <set>

#include "hss/reroute.hpp"

namespace aries::hss
{

struct ManagerOptions {
	std::chrono::milliseconds settle{200}; ///< nothing more has changed for so long before tables are made
	RerouteOptions reroute;
};

/**
 * Tells what changes, and makes other tables when those in use do not serve any more. It keeps nothing that matters:
 * what the tables were made for is in their file, and what is out in the segment, so another manager can go on.
 */
class Manager
{
public:
	/** Throws Error if another process manages this network. */
	Manager(net::FabricView &fabric, const std::string &path, Journal &journal, const ManagerOptions &options,
		const Pause &pause);
	~Manager();
	Manager(const Manager &) = delete;
	Manager &operator=(const Manager &) = delete;

	/** Until the process is to end, or the last member has left: then false. */
	bool run();

private:
	using Clock = std::chrono::steady_clock;

	void look();
	void assess();
	void act();
	bool settled() const;

	net::FabricView &fabric_;
	Network &network_;
	Journal &journal_;
	ManagerOptions options_;
	Pause pause_;
	Rerouter rerouter_;
	net::Watch watch_;
	std::set<uint32_t> down_; // links, when it was last looked
	routing::Failures now_;   // what that makes
	std::string reason_;      // why tables should be made; empty: they serve
	bool known_ = false;      // the three above are of this generation
	uint32_t generation_ = 0;
	Clock::time_point changed_;    // what is down
	Clock::time_point first_;      // and since when tables are due
	Clock::time_point not_before_; // after a failure
};

/** Tables for what is out now, unless those in use are such. Return: whether there was something to do. */
bool reroute_once(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
		  const Pause &pause);

/**
 * Takes routers out of a network that runs, so that their blades can be replaced, or takes them back: tables without
 * them come before their links go down, and their links are up before tables have them again.
 *
 * @param back take them back
 * @param force also if members sit there, which are cut off
 * @throws Error if there is no such router, or a member
 */
void warm_swap(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
	       const Pause &pause, const std::set<uint32_t> &routers, bool back, bool force);

/** Generation, what it was made without, what is out, members and the tables they use, quiesces. */
Json status(net::FabricView &fabric, const std::string &path);

} // namespace aries::hss

#endif
