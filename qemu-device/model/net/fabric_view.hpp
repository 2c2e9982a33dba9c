// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A running fabric as aries-net shows and changes it. What it says is JSON; text_of() makes the same readable.
 */
#ifndef ARIES_NET_FABRIC_VIEW_HPP
#define ARIES_NET_FABRIC_VIEW_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fabric/observer.hpp"
#include "netlink/network.hpp"
#include "topo/reports.hpp"

namespace aries::net
{

using topology::Json;

/** One end of a link: router and tile. */
struct LinkName {
	uint32_t router;
	uint32_t tile;
};

/** What fail and restore take: "link 12:30", "router 12" or "node 3". */
struct Part {
	enum class Kind : uint8_t { Link, Router, Node } kind;
	LinkName link; ///< of a router only its number
	uint32_t node; ///< address of a member
};

/** A number without a sign. @throws Error that names what it should be a number of */
uint32_t number_of(const std::string &text, const std::string &what);

/** "down", "degraded" with lanes that do not work, or "up". */
const char *state_name(const Network::LinkView &link);

/** Whether a link is down, has lanes that do not work, or bit errors. */
bool is_wrong(const Network::LinkView &link);

/** Modes of delivery that a way can be asked for in, and their bits in a packet's header. */
const std::map<std::string, uint16_t> &delivery_modes();

/** "ROUTER:TILE". @throws Error if it is something else */
LinkName link_name(const std::string &text);

/** @throws Error if it names nothing */
Part part_of(const std::string &kind, const std::string &name);

/** All functions throw Error with one line that names what is not there. */
class FabricView
{
public:
	/** What a part of the network is like. */
	struct State {
		std::string place; ///< cname
		std::string text;
	};
	/** By name, as "link 12:30" or "node 3". */
	using States = std::map<std::string, State>;

	FabricView(const std::string &path, Observer::Access access);

	/** Whether any member is left. */
	bool has_members() const noexcept { return observer_.any_member(); }
	/** Links that are not as good as new, and whoever is or was a member. */
	States states() const;

	/** Of the segment: tools that change more than this class does. */
	const Observer &observer() const noexcept { return observer_; }
	Network &network() const noexcept { return network_; }
	/** Modelled time. */
	uint64_t now() const;
	/** Addresses whose members live. */
	std::vector<uint32_t> alive() const;
	/** Throws Error unless the machine has such a router. */
	void check_router(uint32_t router) const;
	const Dragonfly &machine() const noexcept { return network_.topology(); }
	/** A link of the machine as it is now, in the direction from this end. */
	Network::LinkView link(const LinkName &name) const { return network_.link_view(name.router, name.tile, 0); }
	/** The cname of a router, "c1-0s3". */
	std::string place_name(uint32_t router) const;
	/** The cname of a member's NIC. */
	std::string nic_name(uint32_t node) const;
	/** "alive" and the like; empty if no member ever had the address. */
	std::string member_state(uint32_t node) const;
	/** Whoever is or was a member, as "node 3 alive", by the number of the router. */
	std::map<uint32_t, std::string> members_by_router() const;

	/** Machine, modelled time, members with their places. */
	Json show() const;
	/** Links inside the machine, each once: those that are not as good as new, or all. */
	Json links(bool all) const;
	/** What is connected to each tile of a router, state and counters. */
	Json tiles(uint32_t router) const;
	/** Counters of a router's tile under the names of sites; all tiles, or one. */
	Json counters(uint32_t router, std::optional<uint32_t> tile) const;
	/** Ways that packets between two members take in a mode, over many hashes. */
	Json route(uint32_t from, uint32_t to, uint16_t dlvr_mode);

	void set_up(const Part &part, bool up);
	/** Quiets the network for so many ms; what is already under way goes on. */
	void quiesce(double ms);
	/** How fast modelled time goes, and whether completions are held; what is not given stays as it is. */
	void set_time(std::optional<double> rate, std::optional<bool> hold);
	void set_lanes(const LinkName &link, uint32_t lanes);
	void set_error_rate(const LinkName &link, float rate);

private:
	void check_link(const LinkName &link) const;
	void check_member(uint32_t node) const;
	void changed(bool done, const LinkName &link) const;
	Json link_line(uint32_t router, uint32_t tile) const;
	std::string member_text(uint32_t node) const;
	/* Calls @visit with each link once; @touched: only at routers that have state. */
	template <typename Visit> uint32_t for_each_link(bool touched, Visit &&visit) const;

	Observer observer_;
	mutable Network network_; // its clock and views of ways are not const
};

} // namespace aries::net

#endif
