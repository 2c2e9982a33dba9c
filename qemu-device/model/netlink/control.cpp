// SPDX-License-Identifier: GPL-2.0-or-later
/* What is not on the way of a packet: state of links and NICs, and the text that shows it. */
#include <cstdio>

#include "netlink/network.hpp"

namespace aries
{

void Network::set_nic_link(uint32_t node, bool up) noexcept
{
	if (node >= members_)
		return;
	if (up)
		nics_[node].state.fetch_and(~LINK_DOWN, std::memory_order_relaxed);
	else
		nics_[node].state.fetch_or(LINK_DOWN, std::memory_order_relaxed);
}

/* Calls @change with both directions of a link. */
template <typename Change> bool Network::change_link(uint32_t router, uint32_t tile_nr, Change &&change) noexcept
{
	const LinkEnd far = topo_.far_end(router, tile_nr);

	if (far.tile == NO_TILE || !tiles_.ready(router) || !tiles_.ready(far.router))
		return false;
	change(tiles_[link_id(router, tile_nr)]);
	change(tiles_[link_id(far.router, far.tile)]);
	state_.link_changes.fetch_add(1, std::memory_order_release);
	return true;
}

bool Network::set_link(uint32_t router, uint32_t tile_nr, bool up) noexcept
{
	return change_link(router, tile_nr, [up](TileState &tile) { set_link_up(tile, up); });
}

bool Network::set_lanes(uint32_t router, uint32_t tile_nr, uint32_t lanes) noexcept
{
	return lanes >= 1 && lanes <= LANES &&
	       change_link(router, tile_nr, [lanes](TileState &tile) { set_link_lanes(tile, lanes); });
}

bool Network::set_error_rate(uint32_t router, uint32_t tile_nr, float rate) noexcept
{
	if (!(rate >= 0 && rate <= MAX_ERROR_RATE) || !change_link(router, tile_nr, [rate](TileState &tile) {
		    tile.noise.store(std::bit_cast<uint32_t>(rate), std::memory_order_relaxed);
	    }))
		return false;
	if (rate > 0)
		state_.noisy.store(1, std::memory_order_relaxed);
	return true;
}

void Network::set_background(const std::string &what)
{
	if (what.empty()) {
		background_.store(nullptr, std::memory_order_release);
		return;
	}
	backgrounds_.push_back(Background::of(what, topo_.routers()));
	background_.store(backgrounds_.back().get(), std::memory_order_release);
}

bool Network::quiesce(uint64_t now_ns, uint64_t length_ns) noexcept
{
	if (!length_ns || length_ns > MAX_QUIESCE_NS)
		return false;
	const uint64_t end = now_ns + length_ns;
	uint64_t until = state_.quiet_until_ns.load(std::memory_order_relaxed);

	while (injects_at(now_ns) < end &&
	       !state_.quiet_until_ns.compare_exchange_weak(until, end, std::memory_order_relaxed)) {
	}
	state_.quiesce_last_ns.store(length_ns, std::memory_order_relaxed);
	state_.quiesces.fetch_add(1, std::memory_order_relaxed);
	return true;
}

Network::QuiesceView Network::quiesce_view(uint64_t now_ns) const noexcept
{
	return {state_.quiesces.load(std::memory_order_relaxed), state_.quiesce_last_ns.load(std::memory_order_relaxed),
		injects_at(now_ns) - now_ns};
}

/* With what is still to come. */
uint64_t Network::booked_ahead(uint32_t link, uint64_t now) const noexcept
{
	const TileState &tile = tiles_.look(link);

	if (link_tile(link) >= TILES || !has_stream(tile))
		return tile.ahead(now);

	const Stream &stream = tiles_.stream(link);
	const uint64_t last = std::max(now, stream.until.load(std::memory_order_relaxed));

	return std::max(ticks_ahead(last, now), ticks_ahead(busy_until(tile, stream, last), now));
}

uint64_t Network::load_ns(uint32_t router, uint32_t tile_nr, uint64_t now_ns) const noexcept
{
	if (router >= topo_.routers() || tile_nr >= FIRST_NETLINK)
		return 0;
	return ticks_to_ns(booked_ahead(link_id(router, tile_nr), ns_to_ticks(now_ns)));
}

Network::LinkView Network::link_view(uint32_t router, uint32_t tile_nr, uint64_t now_ns) const noexcept
{
	if (router >= topo_.routers() || tile_nr >= NETWORK_TILES)
		return {{0, NO_TILE}, false, 0, 0, 0, 0, 0};
	const LinkEnd far = topo_.far_end(router, tile_nr);

	if (far.tile == NO_TILE)
		return {far, false, 0, 0, 0, 0, 0};
	const TileState &state = tiles_.look(link_id(router, tile_nr));

	return {far,
		link_up(state),
		link_lanes(state),
		link_error_rate(state),
		state.events[TileState::REPLAYS].load(std::memory_order_relaxed),
		state.events[TileState::MISSED].load(std::memory_order_relaxed),
		ticks_to_ns(booked_ahead(link_id(router, tile_nr), ns_to_ticks(now_ns)))};
}

namespace
{

constexpr uint32_t FIRST_RESPONSE = ARIES_VIRTUAL_CHANNELS / 2;

uint64_t count_of(const std::atomic<uint64_t> &word) noexcept
{
	return word.load(std::memory_order_relaxed);
}

void add_cycles(const LinkCounters::Channels &from, uint32_t to, TileCounters &values) noexcept
{
	for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
		values[to + vc] += count_of(from[vc]) / TICKS_PER_NS * chip::ARIES.times.router_mhz / 1000;
}

void add_flits(const TileState &tile, const LinkCounters &link, bool processor, uint32_t to,
	       TileCounters &values) noexcept
{
	if (processor) {
		values[to] += count_of(tile.events[0]);
		values[to + FIRST_RESPONSE] += count_of(tile.events[1]);
		return;
	}
	for (uint32_t vc = 0; vc < ARIES_VIRTUAL_CHANNELS; vc++)
		values[to + vc] += count_of(link.flits[vc]);
}

} // namespace

TileCounters Network::tile_counters(uint32_t router, uint32_t tile) const noexcept
{
	TileCounters values{};

	if (router >= topo_.routers() || tile >= TILES)
		return values;

	const bool processor = tile >= FIRST_PROCESSOR;
	const LinkEnd far =
		processor ? LinkEnd{router, FIRST_INJECT + tile - FIRST_PROCESSOR} : topo_.far_end(router, tile);

	if (tiles_.there(router)) {
		const uint32_t out = link_id(router, tile);

		add_flits(tiles_[out], tiles_.counters(out), processor, ARIES_RTR_OUT_FLITS, values);
		add_cycles(tiles_.counters(out).waited, ARIES_RTR_OUT_STALL, values);
		if (!processor) {
			values[ARIES_RTR_REPLAYS] = count_of(tiles_[out].events[TileState::REPLAYS]);
			values[ARIES_RTR_MISSED] = count_of(tiles_[out].events[TileState::MISSED]);
		}
	}
	if (far.tile != NO_TILE && tiles_.there(far.router)) {
		const uint32_t in = link_id(far.router, far.tile);

		add_flits(tiles_[in], tiles_.counters(in), processor, ARIES_RTR_IN_FLITS, values);
		add_cycles(tiles_.counters(in).held, ARIES_RTR_IN_STALL, values);
	}
	return values;
}

namespace
{

std::string place_text(const Dragonfly &topo, uint32_t router)
{
	const Place at = topo.router_place(router);

	return "router " + std::to_string(router) + " (group " + std::to_string(at.group) + " chassis " +
	       std::to_string(at.chassis) + " slot " + std::to_string(at.slot) + ")";
}

std::string tile_text(uint32_t tile_nr)
{
	return "  tile " + std::to_string(tile_nr) + " " + tile_kind_name(tile_kind(tile_nr));
}

std::string load_text(uint64_t load_ns)
{
	return "load " + std::to_string(load_ns) + " ns";
}

/* Nothing of a link without errors. */
std::string error_text(const TileState &state)
{
	const float rate = link_error_rate(state);
	const uint64_t replays = state.events[TileState::REPLAYS].load(std::memory_order_relaxed);
	char text[96] = "";

	if (rate > 0 || replays)
		std::snprintf(text, sizeof(text), ", bit error rate %g, %llu replays, %llu errors missed",
			      static_cast<double>(rate), static_cast<unsigned long long>(replays),
			      static_cast<unsigned long long>(
				      state.events[TileState::MISSED].load(std::memory_order_relaxed)));
	return text;
}

} // namespace

std::string Network::describe(uint32_t node, uint64_t now_ns) const
{
	std::string text = "dragonfly: " + std::to_string(topo_.nodes()) + " nodes, " +
			   std::to_string(topo_.routers()) + " routers, " + std::to_string(topo_.groups()) +
			   " groups, " + std::to_string(topo_.links_between_groups()) + " links between groups\n";

	if (node >= members_)
		return text;

	const uint32_t at = place(node), router = at / NICS_PER_ROUTER;

	text += "node " + std::to_string(node) + ": place " + std::to_string(at) + ", NIC " +
		std::to_string(at % NICS_PER_ROUTER) + " of " + place_text(topo_, router) + ", " +
		(nic_link(node) ? "connected" : "cut off") + "\n";
	for (uint32_t nr = 0; nr < NETWORK_TILES; nr++) {
		const LinkEnd far = topo_.far_end(router, nr);
		const TileState &state = tiles_.look(link_id(router, nr));

		if (far.tile == NO_TILE)
			continue;
		text += tile_text(nr) + " to " + place_text(topo_, far.router) + " tile " + std::to_string(far.tile) +
			": " + link_state_name(state) + ", " + std::to_string(link_lanes(state)) + " lanes, " +
			load_text(load_ns(router, nr, now_ns)) + error_text(state) + "\n";
	}
	for (uint32_t i = 0; i < PROCESSOR_TILES; i++) {
		text += tile_text(FIRST_PROCESSOR + i) + " of NIC " + (i < PROCESSOR_TILES / 2 ? "0/1" : "2/3") +
			": in " + load_text(load_ns(router, FIRST_INJECT + i, now_ns)) + ", out " +
			load_text(load_ns(router, FIRST_PROCESSOR + i, now_ns)) + "\n";
	}
	return text;
}

} // namespace aries
