/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of links, NICs and modelled time that hosts share: each host has a network of its own in its segment. */
#ifndef ARIES_GATEWAY_NETWORK_NEWS_HPP
#define ARIES_GATEWAY_NETWORK_NEWS_HPP

#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "gateway/news_file.hpp"
#include "netlink/network.hpp"

namespace aries
{

/**
 * Finds what was changed in the network of this host, and makes the changes of other hosts there.
 *
 * Each change of a part has a number above all numbers that its host knew, so all hosts agree which of two changes is
 * the later one, also after they were separated for a while. Numbers are kept in a file, so a change that was made
 * while no gateway ran gets a number like any other. A quiesce is an event and is not kept.
 *
 * Any thread. If two hosts change the same part within the time that news take, one of the changes is lost on all
 * hosts.
 */
class SharedNetwork
{
public:
	/** Called with a line if the file cannot be read or written. */
	using Say = std::function<void(const std::string &)>;

	/**
	 * @nodes: number of addresses
	 * @file: state that was known before; parts that differ from it count as changed now. nullptr: nothing is kept
	 */
	SharedNetwork(Network &network, uint32_t nodes, uint32_t host, const NewsFile *file = nullptr, Say say = {});

	/** Changes of this host since the last call, which are in the file when this returns. Throws std::bad_alloc. */
	std::vector<NetworkNews> look();
	/** The state of all parts that were ever changed, for a host that has just come up. Throws std::bad_alloc. */
	std::vector<NetworkNews> all() const;
	/**
	 * Makes a change of another host here, unless a later one is known.
	 * Return: nullptr, or why it cannot be made. Throws std::bad_alloc.
	 */
	const char *take(const NetworkNews &news, uint64_t now_ns);
	/** Writes changes of take() to the file. Throws std::bad_alloc. */
	void keep();

private:
	using Part = std::tuple<NetworkPart, uint32_t, uint32_t>; /* kind; router and tile, or node */
	struct Known {
		uint64_t value;
		uint64_t number;
		uint32_t host;
	};

	void remember();
	std::vector<NetworkNews> list() const;
	void store();
	void look_at(const Part &part, uint64_t value, std::vector<NetworkNews> &changes);
	uint64_t time_value() const noexcept;
	bool sound(const NetworkNews &news) const noexcept;
	bool set(const NetworkNews &news, uint64_t now_ns) noexcept;

	Network &network_;
	const uint32_t nodes_;
	const uint32_t host_;
	const NewsFile *const file_;
	const Say say_;

	mutable std::mutex mutex_; /* protects all members below */
	std::map<Part, Known> known_;
	uint64_t last_number_ = 0;
	uint32_t link_changes_ = 0;
	uint32_t quiesces_;
	bool unkept_ = false;   /* known_ has changes that the file does not have */
	bool troubled_ = false; /* the last write of the file failed */
};

} // namespace aries

#endif
