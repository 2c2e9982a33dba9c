// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/background.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "link/link.hpp"
#include "packet/flits.hpp"
#include "topology/dragonfly.hpp"

namespace aries
{

namespace
{

constexpr std::string_view UNIFORM = "uniform:";
constexpr std::string_view FORMAT = "# aries link loads 1";
constexpr std::string_view COLUMNS = "router,tile,load,stalled";

/** Packets of others are puts of 64 bytes. Ticks of one on a link with all lanes. */
uint64_t service(uint32_t tile) noexcept
{
	return flit_ticks(request_flits(PacketKind::Put, 64),
			  LINK_FACTORS[static_cast<uint32_t>(tile_medium(tile))][0]);
}

float share_of(const std::string &text)
{
	size_t end = 0;
	float value = NAN;

	try {
		value = std::stof(text, &end);
	} catch (const std::exception &) {
		end = 0;
	}
	if (!end || end != text.size() || !(value >= 0 && value <= 1))
		throw std::runtime_error("a load is a share from 0 to 1, not \"" + text + "\"");
	return std::min(value, Background::MAX);
}

} // namespace

std::unique_ptr<const Background> Background::of(const std::string &what, uint32_t routers)
{
	const bool uniform = what.starts_with(UNIFORM);
	std::unique_ptr<Background> made(new Background(what, uniform ? share_of(what.substr(UNIFORM.size())) : 0));

	if (!uniform)
		made->read(routers);
	return made;
}

/* A line for each link that others use; those that are missing are idle. */
void Background::read_line(const std::string &line, uint32_t routers)
{
	uint32_t router = 0, tile = 0;
	float load = 0, stalled = 0;
	char more = 0;

	if (std::sscanf(line.c_str(), "%u,%u,%f,%f%c", &router, &tile, &load, &stalled, &more) != 4)
		throw std::runtime_error("\"" + line + "\" is no line of " + std::string(COLUMNS));
	if (router >= routers || tile >= TILES_STORED)
		throw std::runtime_error("the machine has no tile " + std::to_string(tile) + " at a router " +
					 std::to_string(router));
	if (!(load >= 0 && load <= 1 && stalled >= 0 && stalled <= 1))
		throw std::runtime_error("load and stalled are shares from 0 to 1");
	/* Whether it sends or stands still behind a full buffer, nobody else gets over the link. */
	loads_[size_t{router} * TILES_STORED + tile] = std::min(load + stalled, MAX);
}

void Background::read(uint32_t routers)
{
	std::ifstream in(name_);
	std::string line;
	uint64_t number = 0;
	bool columns = false;

	if (!in)
		throw std::runtime_error("background: " + name_ + " cannot be read");
	loads_.assign(size_t{routers} * TILES_STORED, 0);
	try {
		for (number = 1; std::getline(in, line); number++) {
			unsigned int has = 0;

			if (number == 1 && line != FORMAT)
				throw std::runtime_error("it does not begin with \"" + std::string(FORMAT) + "\"");
			if (std::sscanf(line.c_str(), "# routers %u", &has) == 1 && has != routers)
				throw std::runtime_error("it is of a machine with " + std::to_string(has) +
							 " routers, this one has " + std::to_string(routers));
			if (line.starts_with("#"))
				continue;
			if (columns)
				read_line(line, routers);
			else if (line != COLUMNS)
				throw std::runtime_error("the columns are not " + std::string(COLUMNS));
			columns = true;
		}
		if (in.bad() || !columns)
			throw std::runtime_error(in.bad() ? "it cannot be read to its end"
							  : "it ends before its columns");
	} catch (const std::runtime_error &error) {
		throw std::runtime_error("background: " + name_ + " line " + std::to_string(number) + ": " +
					 error.what());
	}
}

uint64_t Background::share(uint32_t router, uint32_t tile, uint64_t ticks) const noexcept
{
	const float load = this->load(router, tile);

	return load > 0 ? static_cast<uint64_t>(static_cast<double>(ticks) / (1 - static_cast<double>(load))) : ticks;
}

/*
 * A packet that comes at random finds the link busy with probability rho; the mean over all packets is that of M/D/1,
 * rho S / 2 (1 - rho), so those that wait do so for S / 2 (1 - rho) in the mean, here with exponential tails.
 */
uint64_t Background::wait(uint32_t router, uint32_t tile, uint64_t random) const noexcept
{
	const double load = static_cast<double>(this->load(router, tile));
	const double chance = std::ldexp(static_cast<double>(random >> 32), -32);
	const double tail = std::ldexp(static_cast<double>((random & UINT32_MAX) + 1), -32);

	if (!(chance < load))
		return 0;
	return static_cast<uint64_t>(-std::log(tail) * static_cast<double>(service(tile)) / (2 * (1 - load)));
}

uint64_t Background::queue(uint32_t router, uint32_t tile) const noexcept
{
	const double load = static_cast<double>(this->load(router, tile));

	return static_cast<uint64_t>(load * static_cast<double>(service(tile)) / (2 * (1 - load)));
}

} // namespace aries
