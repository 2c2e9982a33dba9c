/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the network that a gateway knows, kept for its successor. */
#ifndef ARIES_GATEWAY_NEWS_FILE_HPP
#define ARIES_GATEWAY_NEWS_FILE_HPP

#include <span>
#include <string>
#include <vector>

#include "fabric/file_beside.hpp"
#include "gateway/messages.hpp"

namespace aries
{

/**
 * SEGMENT.news. A gateway may die at any time, and the network may be changed before the next one starts. By this file
 * the next gateway finds out what was changed in between. Without the file it would accept the earlier state from other
 * hosts.
 */
class NewsFile
{
public:
	/** @param origin_ns when the fabric was made; a file of an earlier fabric of the same name is ignored */
	NewsFile(const std::string &segment, uint64_t origin_ns);

	/** Empty if there is no file of this fabric. Throws Error if the file cannot be read. */
	std::vector<NetworkNews> load() const;
	/** Throws Error. */
	void save(std::span<const NetworkNews> news) const;

private:
	FileBeside file_;
	uint64_t origin_ns_;
};

} // namespace aries

#endif
