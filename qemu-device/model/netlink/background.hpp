// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Background load: the load of links by jobs outside this fabric. Packets of such jobs are not modelled. Packets of the
 * fabric wait on a link as they would behind them, and have the rest of the link's bandwidth.
 */
#ifndef ARIES_NETLINK_BACKGROUND_HPP
#define ARIES_NETLINK_BACKGROUND_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aries
{

/** Immutable, so any number of threads may look at it. Loads are shares of the time, from 0 to MAX. */
class Background
{
public:
	/** What is left of the fullest link: even there packets get through. */
	static constexpr float MAX = 0.98F;

	/**
	 * @param what "uniform:SHARE" for all links alike, or the path of a file that `aries-sim --background` has
	 * written (Documentation/simulator.md)
	 * @param routers of the machine
	 * @throws std::runtime_error with one line that names the file, the line in it and what is wrong
	 */
	static std::unique_ptr<const Background> of(const std::string &what, uint32_t routers);

	/** Of an output tile of a router. */
	float load(uint32_t router, uint32_t tile) const noexcept
	{
		return loads_.empty() ? uniform_ : loads_[size_t{router} * TILES_STORED + tile];
	}

	/** Ticks for what takes so many on an idle link. */
	uint64_t share(uint32_t router, uint32_t tile, uint64_t ticks) const noexcept;

	/**
	 * Ticks that the head of a packet waits for packets of others: drawn so that its mean is that of a queue with
	 * packets of one length that come at random.
	 */
	uint64_t wait(uint32_t router, uint32_t tile, uint64_t random) const noexcept;

	/** The mean of the background load: added to a link's load as its router knows it (R08). */
	uint64_t queue(uint32_t router, uint32_t tile) const noexcept;

	/** The description from which the load was made. */
	const std::string &name() const noexcept { return name_; }

private:
	static constexpr uint32_t TILES_STORED = 48;

	Background(std::string name, float uniform) : name_(std::move(name)), uniform_(uniform) {}
	void read(uint32_t routers);
	void read_line(const std::string &line, uint32_t routers);

	std::string name_;
	float uniform_;
	std::vector<float> loads_; // by router and tile; empty: uniform_
};

} // namespace aries

#endif
