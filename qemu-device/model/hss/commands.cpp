// SPDX-License-Identifier: GPL-2.0-or-later
/* What is done once. */
#include <algorithm>

#include "hss/assess.hpp"
#include "hss/manager.hpp"

namespace aries::hss
{

namespace
{

using routing::Failures;

Json link_names(const Network &network, const std::vector<uint32_t> &links)
{
	const topology::Wiring &wiring = network.wiring();
	Json names = Json::array();

	for (uint32_t router = 0; router < wiring.routers(); router++) {
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const uint32_t link = wiring.link_of(router, tile);
			const topology::LinkEnd far = wiring.far_end(router, tile);

			if (link != topology::NO_LINK && std::pair(router, tile) < std::pair(far.router, far.tile) &&
			    std::binary_search(links.begin(), links.end(), link))
				names.push_back(std::to_string(router) + ":" + std::to_string(tile));
		}
	}
	return names;
}

std::set<uint32_t> links_of(const Network &network, const std::set<uint32_t> &routers)
{
	std::set<uint32_t> links;

	for (const uint32_t router : routers) {
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			if (network.wiring().link_of(router, tile) != topology::NO_LINK)
				links.insert(network.wiring().link_of(router, tile));
		}
	}
	return links;
}

/* Links to routers that stay out stay down. */
void set_routers(net::FabricView &fabric, const std::set<uint32_t> &routers, bool up, const std::vector<uint32_t> &out)
{
	Network &network = fabric.network();

	for (const uint32_t router : routers) {
		for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
			const topology::LinkEnd far = network.wiring().far_end(router, tile);
			const bool stays = up && far.tile != topology::NOT_CONNECTED && !routers.contains(far.router) &&
					   std::binary_search(out.begin(), out.end(), far.router);

			if (far.tile != topology::NOT_CONNECTED && !stays && !network.set_link(router, tile, up))
				throw Error("no space for the state of router " + std::to_string(router));
		}
		for (uint32_t n = 0; n < fabric.observer().shape().nodes; n++) {
			if (network.router_of(n) == router)
				network.set_nic_link(n, up);
		}
	}
}

void check_swap(const net::FabricView &fabric, const std::set<uint32_t> &routers, bool force)
{
	for (const uint32_t router : routers)
		fabric.check_router(router);
	for (const uint32_t node : fabric.alive()) {
		if (!force && routers.contains(fabric.network().router_of(node)))
			throw Error("node " + std::to_string(node) + " runs at router " +
				    std::to_string(fabric.network().router_of(node)) +
				    ": end it first, or cut it off with --force");
	}
}

std::string names_of(const std::set<uint32_t> &routers)
{
	std::string text = routers.size() == 1 ? "router" : "routers";

	for (const uint32_t router : routers)
		text += " " + std::to_string(router);
	return text;
}

} // namespace

bool reroute_once(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
		  const Pause &pause)
{
	Rerouter rerouter(fabric, path, journal, options, pause);
	const TablesOffice office(fabric.observer(), pause);
	const Failures now = out_now(fabric.network());

	if (!office || rerouter.made_without() == now)
		return false;
	rerouter.reroute(now, "asked for");
	return true;
}

void warm_swap(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
	       const Pause &pause, const std::set<uint32_t> &routers, bool back, bool force)
{
	Network &network = fabric.network();

	check_swap(fabric, routers, force || back);
	Rerouter rerouter(fabric, path, journal, options, pause);
	const TablesOffice office(fabric.observer(), pause);

	if (!office)
		return;
	if (back) {
		set_routers(fabric, routers, true, out_now(network).routers);
		rerouter.reroute(out_now(network), "back: " + names_of(routers));
		return;
	}
	std::set<uint32_t> links = links_down(network);

	links.merge(links_of(network, routers));
	const Failures without = failures_of(network, links);

	if (without.routers.empty())
		throw Error("nothing of the network would be left");
	rerouter.reroute(without, "out: " + names_of(routers));
	set_routers(fabric, routers, false, {});
	journal.tell("swapped", names_of(routers) + (routers.size() == 1 ? " is" : " are") + " out and down");
}

Json status(net::FabricView &fabric, const std::string &path)
{
	Network &network = fabric.network();
	const Network::QuiesceView quiet = network.quiesce_view(fabric.now());
	const uint32_t generation = network.tables_generation();
	Json report{{"manager",
		     fabric.observer().taken(Observer::Office::Manager) ? Json(network.manager()) : Json("none")},
		    {"generation", generation}};
	Failures without;

	if (generation) {
		try {
			routing::TablesInfo info = network.decode_tables(TablesStore(path).read(generation)).info;
			const std::chrono::system_clock::time_point made{std::chrono::milliseconds(info.made_ms)};

			without = std::move(info.failures);
			report["made"] = net::time_text(made);
		} catch (const std::exception &error) {
			report["made"] = std::string("cannot be used: ") + error.what();
		}
	}
	Failures now = out_now(network);
	Json members = Json::array();

	std::erase_if(now.links, [&](uint32_t link) {
		return std::binary_search(without.links.begin(), without.links.end(), link);
	});
	for (const uint32_t node : fabric.alive())
		members.push_back({{"node", node},
				   {"router", network.router_of(node)},
				   {"generation", network.tables_taken(node)},
				   {"network", network.nic_link(node) ? "connected" : "cut off"}});
	report["links not in the tables"] = link_names(network, without.links);
	report["routers not in the tables"] = without.routers;
	report["links masked"] = link_names(network, now.links);
	report["quiesces"] = quiet.count;
	report["length of the last quiesce, ns"] = quiet.last_ns;
	report["quiet for another ns"] = quiet.left_ns;
	report["members"] = members;
	return report;
}

} // namespace aries::hss
