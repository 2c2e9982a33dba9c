// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "environment.hpp"

#include "debug.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace pmi
{

namespace
{

constexpr int ranks_max = 1 << 20;
constexpr int seconds_max = 1000000;
constexpr int nodes_max = 1 << 18; /* NIC addresses have 18 bits */

std::optional<int> number(std::string_view text, int max)
{
	int value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > max)
		return std::nullopt;
	return value;
}

bool read_ranks(Place &place)
{
	const bool by_pmi = variable("PMI_RANK") || variable("PMI_SIZE");
	const char *rank_name = by_pmi ? "PMI_RANK" : "OPENGNI_RANK",
		   *size_name = by_pmi ? "PMI_SIZE" : "OPENGNI_RANKS";
	const char *rank_text = variable(rank_name), *size_text = variable(size_name);
	if (!rank_text && !size_text)
		return true; /* no launcher: a job of one */
	if (!rank_text || !size_text) {
		debug("%s is set, %s is not", rank_text ? rank_name : size_name, rank_text ? size_name : rank_name);
		return false;
	}
	const auto rank = number(rank_text, ranks_max - 1), size = number(size_text, ranks_max);
	if (!rank || !size || *rank >= *size) {
		debug("%s=%.20s of %s=%.20s is no place in a job", rank_name, rank_text, size_name, size_text);
		return false;
	}
	place.rank = *rank;
	place.size = *size;
	return true;
}

bool read_appnum(Place &place)
{
	const char *text = variable("PMI_APPNUM");
	const auto appnum = number(text ? text : "0", ranks_max);
	if (!appnum) {
		debug("PMI_APPNUM=%.20s is not a number", text);
		return false;
	}
	place.appnum = *appnum;
	return true;
}

bool read_timeout(Place &place)
{
	const char *text = variable("OPENGNI_KVS_TIMEOUT");
	const auto seconds = number(text ? text : "0", seconds_max);
	if (text && (!seconds || !*seconds)) {
		debug("OPENGNI_KVS_TIMEOUT=%.20s is no number of seconds up to %d", text, seconds_max);
		return false;
	}
	if (text)
		place.wait_ms = *seconds * 1000L;
	return true;
}

bool read_layout(Place &place)
{
	const char *text = variable("OPENGNI_LAYOUT");
	if (!text) {
		if (place.size == 1)
			if (const auto node =
				    number(variable("OPENGNI_NODE") ? variable("OPENGNI_NODE") : "", nodes_max))
				place.nodes.assign(1, *node);
		return true;
	}
	auto nodes = parse_layout(text, place.size);
	if (!nodes) {
		debug("OPENGNI_LAYOUT=%.60s does not place %d ranks", text, place.size);
		return false;
	}
	place.nodes = std::move(*nodes);
	return true;
}

/* Clients read the first field and take what atoi() makes of it. */
bool numbers(std::string_view text, uint64_t max)
{
	for (;;) {
		const std::string_view part = text.substr(0, text.find(':'));
		uint64_t value = 0;
		const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
		if (error != std::errc() || end != part.data() + part.size() || value > max)
			return false;
		if (part.size() == text.size())
			return true;
		text.remove_prefix(part.size() + 1);
	}
}

/* PMI_Init() has no code for a job without a usable domain: jobs that do not need the network have none. */
void check_gni_variables()
{
	const struct {
		const char *name;
		uint64_t max;
	} all[] = {{"PMI_GNI_COOKIE", UINT32_MAX},
		   {"PMI_GNI_PTAG", 255},
		   {"PMI_GNI_DEV_ID", 15},
		   {"PMI_GNI_LOC_ADDR", nodes_max - 1}};
	const bool cookie = variable("PMI_GNI_COOKIE"), ptag = variable("PMI_GNI_PTAG");

	for (const auto &v : all) {
		const char *text = variable(v.name);
		if (text && !numbers(text, v.max))
			debug("%s=%.40s is no list of numbers up to %llu", v.name, text,
			      static_cast<unsigned long long>(v.max));
	}
	if (cookie != ptag)
		debug("%s is set, %s is not", cookie ? "PMI_GNI_COOKIE" : "PMI_GNI_PTAG",
		      cookie ? "PMI_GNI_PTAG" : "PMI_GNI_COOKIE");
	else if (!cookie)
		debug("neither PMI_GNI_COOKIE nor OPENGNI_COOKIE is set: this job has no domain");
}

} // namespace

std::optional<std::vector<int>> parse_layout(std::string_view text, int size)
{
	std::vector<int> nodes;
	while (true) {
		const std::string_view part = text.substr(0, text.find(','));
		const size_t by = part.find('x');
		if (by == std::string_view::npos)
			return std::nullopt;
		const auto node = number(part.substr(0, by), nodes_max), count = number(part.substr(by + 1), size);
		if (!node || !count || *count == 0 ||
		    static_cast<size_t>(*count) > static_cast<size_t>(size) - nodes.size())
			return std::nullopt;
		nodes.insert(nodes.end(), static_cast<size_t>(*count), *node);
		if (part.size() == text.size())
			break;
		text.remove_prefix(part.size() + 1);
	}
	if (nodes.size() != static_cast<size_t>(size))
		return std::nullopt;
	return nodes;
}

std::string process_mapping(const std::vector<int> &nodes)
{
	std::string text;
	for (size_t at = 0; at < nodes.size();) {
		/* Ranks on this node, then how many nodes follow that have as many. */
		size_t ranks = 1, blocks = 1;
		while (at + ranks < nodes.size() && nodes[at + ranks] == nodes[at])
			ranks++;
		auto full = [&](size_t block) {
			const size_t first = at + block * ranks;
			if (first + ranks > nodes.size() ||
			    (first + ranks < nodes.size() && nodes[first + ranks] == nodes[first]))
				return false;
			for (size_t i = 0; i < ranks; i++)
				if (nodes[first + i] != nodes[at] + static_cast<int>(block))
					return false;
			return true;
		};
		while (full(blocks))
			blocks++;
		text += ",(" + std::to_string(nodes[at]) + "," + std::to_string(blocks) + "," + std::to_string(ranks) +
			")";
		at += blocks * ranks;
	}
	return text.empty() ? text : "(vector" + text + ")";
}

std::optional<Place> place_from_environment()
{
	Place place;
	if (!read_ranks(place) || !read_appnum(place) || !read_timeout(place) || !read_layout(place))
		return std::nullopt;
	if (const char *service = variable("OPENGNI_KVS"))
		place.service = service;
	if (const char *job = variable("OPENGNI_JOB"))
		place.job = job;
	if (place.size > 1 && place.service.empty()) {
		debug("a job of %d ranks, but OPENGNI_KVS names no key-value service", place.size);
		return std::nullopt;
	}
	return place;
}

/* Return: whether nothing has been said. */
static bool set_gni_variables()
{
	const char *told = variable("OPENGNI_COOKIE");
	if (variable("PMI_GNI_COOKIE") || !told)
		return true;
	char *end = nullptr;
	const unsigned long cookie = strtoul(told, &end, 0);
	if (*end || cookie == 0 || cookie > UINT32_MAX) {
		debug("OPENGNI_COOKIE=%.20s is no cookie", told);
		return false;
	}
	/* 255: libugni finds the tag by the cookie. One device, number 0. */
	// NOLINTBEGIN(concurrency-mt-unsafe)
	(void)setenv("PMI_GNI_COOKIE", std::to_string(cookie).c_str(), 1);
	(void)setenv("PMI_GNI_PTAG", "255", 0);
	if (const char *node = variable("OPENGNI_NODE")) {
		(void)setenv("PMI_GNI_DEV_ID", "0", 0);
		(void)setenv("PMI_GNI_LOC_ADDR", node, 0);
	}
	// NOLINTEND(concurrency-mt-unsafe)
	return true;
}

void complete_gni_variables()
{
	if (set_gni_variables())
		check_gni_variables();
}

} // namespace pmi
