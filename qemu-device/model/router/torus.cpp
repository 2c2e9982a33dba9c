// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/torus.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "router/torus_directions.hpp"

namespace aries::routing
{

namespace
{

constexpr uint32_t MOST_ROUTERS = chip::GEMINI.most_nodes / chip::GEMINI.tiles.nics;

using topology::Link;
using topology::LinkEnd;
using topology::Machine;

/* One more than the highest coordinates. */
std::array<uint32_t, TORUS_AXES> sizes_of(const Machine &machine)
{
	std::array<uint32_t, TORUS_AXES> sizes{};

	for (const topology::RouterPlace &place : machine.routers) {
		for (size_t axis = 0; axis < TORUS_AXES; axis++)
			sizes[axis] = std::max<uint32_t>(sizes[axis], place.at[axis] + 1u);
	}
	return sizes;
}

bool is_gemini(const topology::RouterType &type)
{
	const chip::TileForm &tiles = chip::GEMINI.tiles;

	if (type.nics != tiles.nics || type.tiles.size() != tiles.network + tiles.processor)
		return false;
	for (uint32_t tile = 0; tile < type.tiles.size(); tile++) {
		const bool network = tile < tiles.network;

		if (type.tiles[tile].role != (network ? topology::TileRole::Network : topology::TileRole::Processor) ||
		    (network && type.tiles[tile].link_class != torus_axis(tile)))
			return false;
	}
	return true;
}

/* Which way a link leads from one of its ends, by the tile that it has there. */
Turn turn_of(uint32_t tile)
{
	const chip::LinkForm &form = chip::GEMINI_LINKS[torus_axis(tile)];

	return tile < form.first_tile + form.tiles / 2 ? Turn::Up : Turn::Down;
}

/* Upwards to the next coordinate of its dimension, from a tile to the one that is its partner. */
bool leads_on(const Machine &machine, const std::array<uint32_t, TORUS_AXES> &sizes, const Link &link)
{
	const bool up = turn_of(link.end[0].tile) == Turn::Up;
	const LinkEnd &low = link.end[!up], &high = link.end[up];
	const size_t axis = torus_axis(low.tile);
	std::array<uint16_t, topology::MAX_AXES> at = machine.routers[low.router].at;

	at[axis] = static_cast<uint16_t>((at[axis] + 1u) % sizes[axis]);
	return high.tile == low.tile + chip::GEMINI_LINKS[axis].tiles / 2 && machine.routers[high.router].at == at;
}

} // namespace

std::string TorusTables::check(const Machine &machine)
{
	const auto sizes = sizes_of(machine);

	if (machine.groups != 1 || machine.axes.size() != TORUS_AXES || machine.classes.size() != TORUS_AXES)
		return "a torus is one group with three coordinates and a class of links for each";
	if (!is_gemini(machine.router_type))
		return "its routers are no " + std::string(chip::GEMINI.name) + ": tiles are others";
	/* Places differ, so as many as there can be are all of them. */
	if (uint64_t{sizes[0]} * sizes[1] * sizes[2] != machine.routers.size())
		return "a torus of " + std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
		       std::to_string(sizes[2]) + " routers has " + std::to_string(machine.routers.size());
	if (machine.routers.size() > MOST_ROUTERS)
		return std::to_string(machine.routers.size()) + " routers: there can be " +
		       std::to_string(MOST_ROUTERS) + " (G28)";
	for (size_t i = 0; i < machine.links.size(); i++) {
		if (!leads_on(machine, sizes, machine.links[i]))
			return "link " + std::to_string(i) + " does not lead to the next router of its dimension";
	}
	return {};
}

TorusTables::TorusTables(const Machine &machine, uint8_t channels, const Failures &failures)
{
	const std::string reason = check(machine);

	if (!reason.empty())
		throw std::invalid_argument(reason);
	if (channels != 1 && channels != TORUS_DATELINE_CHANNELS)
		throw std::invalid_argument(std::to_string(channels) + " channels of a class: a torus has 1 or 2");
	sizes_ = sizes_of(machine);

	const size_t entries = size_t{sizes_[0]} + sizes_[1] + sizes_[2];

	number_.resize(machine.routers.size());
	routers_.resize(machine.routers.size());
	turns_.resize(machine.routers.size() * entries);
	for (uint32_t router = 0; router < routers_.size(); router++) {
		TorusRouter &here = routers_[router];
		const auto &at = machine.routers[router].at;

		here.here = {at[0], at[1], at[2]};
		here.router = router;
		here.turns = turns_.data() + router * entries;
		here.first = {0, sizes_[0], sizes_[0] + sizes_[1]};
		here.channels = channels;
		for (size_t axis = 0; axis < TORUS_AXES; axis++)
			here.last[axis] = static_cast<uint16_t>(sizes_[axis] - 1);
		number_[(size_t{at[0]} * sizes_[1] + at[1]) * sizes_[2] + at[2]] = router;
	}
	count_links(machine, failures);
	turn_all();
	lost_pairs_ = count_lost();
	if (lost_pairs_)
		go_by_directions(machine, failures);
}

/* Of the eight orders of directions the first that loses fewest pairs. */
void TorusTables::go_by_directions(const Machine &machine, const Failures &failures)
{
	TorusGrid grid{sizes_, {}};
	TorusDirections best;

	count_links(machine, {});
	turn_all();
	count_links(machine, failures);
	for (const uint32_t router : number_)
		grid.routers.push_back(&routers_[router]);
	best.lost_pairs = UINT64_MAX;
	for (uint8_t early_down = 0; early_down < 1u << TORUS_AXES && best.lost_pairs; early_down++) {
		TorusDirections ways = find_directions(grid, early_down);

		if (ways.lost_pairs < best.lost_pairs)
			best = std::move(ways);
	}
	take(std::move(best));
}

void TorusTables::take(TorusDirections &&ways)
{
	size_t detour = 0, lost = 0;

	detours_ = std::move(ways.detours);
	lost_ = std::move(ways.lost);
	lost_pairs_ = ways.lost_pairs;
	for (size_t place = 0; place < number_.size(); place++) {
		TorusRouter &router = routers_[number_[place]];

		router.directions = true;
		router.early_down = ways.early_down;
		router.detours = detours_.data() + detour;
		router.detour_count = static_cast<uint32_t>(ways.detour_ends[place] - detour);
		router.lost = lost_.data() + lost;
		router.lost_count = static_cast<uint32_t>(ways.lost_ends[place] - lost);
		detour = ways.detour_ends[place];
		lost = ways.lost_ends[place];
	}
}

void TorusTables::count_links(const Machine &machine, const Failures &failures)
{
	std::vector<bool> out(machine.links.size()), router_out(machine.routers.size());

	for (const uint32_t link : failures.links) {
		if (link >= out.size())
			throw std::invalid_argument("link " + std::to_string(link) + " cannot fail: there are " +
						    std::to_string(out.size()));
		out[link] = true;
	}
	for (const uint32_t router : failures.routers) {
		if (router >= router_out.size())
			throw std::invalid_argument("router " + std::to_string(router) + " cannot fail: there are " +
						    std::to_string(router_out.size()));
		router_out[router] = true;
	}
	for (TorusRouter &router : routers_)
		router.links = {};
	for (size_t i = 0; i < machine.links.size(); i++) {
		const Link &link = machine.links[i];

		if (out[i] || router_out[link.end[0].router] || router_out[link.end[1].router])
			continue;
		for (const LinkEnd &end : link.end) {
			const size_t axis = torus_axis(end.tile);
			const Turn turn = turn_of(end.tile);
			uint8_t &links = routers_[end.router].links[axis][static_cast<size_t>(turn)];

			links |= static_cast<uint8_t>(1u << (end.tile - torus_tile(axis, turn)));
		}
	}
	if (routers_[0].channels == 1)
		keep_rings();
}

/* The routers of a ring, or of a line that does not close, from its lowest coordinate on. */
std::vector<uint32_t> TorusTables::ring_of(size_t axis, TorusAddress at) const
{
	std::vector<uint32_t> ring;

	for (at[axis] = 0; at[axis] < sizes_[axis]; at[axis]++)
		ring.push_back(router_at(at));
	return ring;
}

/*
 * With one channel a packet keeps to its ring of single links, each of which has room of its own. One that is broken
 * would send its packets to another one; if that is broken elsewhere, and sends its packets back, both can fill up. So
 * only rings of links that are whole are used; if none is, the ring of all parallel links is opened where it is
 * weakest.
 */
void TorusTables::keep_rings()
{
	for (const TorusRouter &router : routers_) {
		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			if (router.here[axis] == 0)
				keep_ring(axis, ring_of(axis, router.here));
		}
	}
}

void TorusTables::keep_ring(size_t axis, const std::vector<uint32_t> &ring)
{
	constexpr auto UP = static_cast<size_t>(Turn::Up), DOWN = static_cast<size_t>(Turn::Down);
	size_t weakest = 0;
	uint8_t whole = UINT8_MAX;

	for (size_t at = 0; at < ring.size(); at++) {
		const uint8_t links = routers_[ring[at]].links[axis][UP];

		/* A line, or a dimension of one router. */
		if (!links)
			return;
		if (std::popcount(links) < std::popcount(routers_[ring[weakest]].links[axis][UP]))
			weakest = at;
		whole &= links;
	}
	if (!whole) {
		routers_[ring[weakest]].links[axis][UP] = 0;
		routers_[ring[(weakest + 1) % ring.size()]].links[axis][DOWN] = 0;
		return;
	}
	for (const uint32_t router : ring) {
		routers_[router].links[axis][UP] &= whole;
		routers_[router].links[axis][DOWN] &= whole;
	}
}

void TorusTables::turn_all()
{
	for (const TorusRouter &router : routers_) {
		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			if (router.here[axis] == 0)
				turn_line(axis, router.here);
		}
	}
}

/*
 * The entries of all routers of a ring, or of a line that does not close. Of the ways that work the shorter one. A
 * router further on decides the same, since its way is part of this one.
 */
void TorusTables::turn_line(size_t axis, const TorusAddress &line)
{
	const uint32_t size = sizes_[axis];
	const std::vector<uint32_t> routers = ring_of(axis, line);

	/* How many steps a packet can go up from each, at most once round. */
	std::vector<uint32_t> up(size), down(size);

	for (uint32_t from = 0; from < size; from++) {
		while (up[from] < size && routers_[routers[(from + up[from]) % size]].links[axis][0])
			up[from]++;
		while (down[from] < size && routers_[routers[(from + size - down[from]) % size]].links[axis][1])
			down[from]++;
	}
	for (uint32_t from = 0; from < size; from++) {
		const size_t entries = turns_.size() / routers_.size();
		Turn *const turns = &turns_[routers[from] * entries + routers_[routers[from]].first[axis]];

		for (uint32_t to = 0; to < size; to++) {
			const uint32_t above = (to + size - from) % size, below = size - above;
			const bool by_up = above <= up[from], by_down = below <= down[from];

			if (to == from)
				turns[to] = Turn::Here;
			else if (by_up && by_down)
				turns[to] = above == below ? Turn::Either : above < below ? Turn::Up : Turn::Down;
			else
				turns[to] = by_up ? Turn::Up : by_down ? Turn::Down : Turn::Cut;
		}
	}
}

bool TorusTables::has_links(uint32_t router) const noexcept
{
	const auto &links = routers_[router].links;

	return std::any_of(links.begin(), links.end(), [](const auto &axis) { return axis[0] || axis[1]; });
}

/* Only in a ring with a cut, or at a router that is out, which is a cut of its rings, can a way end. */
uint64_t TorusTables::count_lost() const noexcept
{
	uint64_t lost = 0;

	if (std::find(turns_.begin(), turns_.end(), Turn::Cut) == turns_.end())
		return 0;
	for (uint32_t from = 0; from < routers(); from++) {
		if (!has_links(from))
			continue;
		for (uint32_t to = 0; to < routers(); to++)
			lost += has_links(to) && !reaches(from, to);
	}
	return lost;
}

bool TorusTables::reaches(uint32_t from, uint32_t to) const noexcept
{
	const TorusRouter &first = routers_[from];
	TorusAddress at = first.here;
	const TorusAddress &goal = routers_[to].here;

	if (first.directions)
		return from == to || (has_links(from) && !std::binary_search(first.lost, first.lost + first.lost_count,
									     first.place(goal)));

	for (size_t axis = 0; axis < TORUS_AXES; axis++) {
		if (routers_[router_at(at)].turn(axis, goal[axis]) == Turn::Cut)
			return false;
		at[axis] = goal[axis];
	}
	return true;
}

size_t TorusTables::bytes() const noexcept
{
	return number_.size() * sizeof(number_[0]) + turns_.size() * sizeof(turns_[0]) +
	       routers_.size() * sizeof(routers_[0]) + detours_.size() * sizeof(detours_[0]) +
	       lost_.size() * sizeof(lost_[0]);
}

} // namespace aries::routing
