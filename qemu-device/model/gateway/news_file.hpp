/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* What a gateway knows of its network, kept for the gateway that comes after it. */
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
 * SEGMENT.news. A gateway may die at any time and its nodes go on, also with changes of the network. The next one finds
 * out by it what was changed meanwhile: without it other hosts would tell it the state of before, as if that were new.
 */
class NewsFile
{
public:
	/** @param origin_ns when the fabric was made: what was known of an earlier one of the same name is no use */
	NewsFile(const std::string &segment, uint64_t origin_ns);

	/** Empty if there is none of this fabric. Throws Error if there is one that cannot be read. */
	std::vector<NetworkNews> load() const;
	/** Throws Error. */
	void save(std::span<const NetworkNews> news) const;

private:
	FileBeside file_;
	uint64_t origin_ns_;
};

} // namespace aries

#endif
