// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "application.hpp"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace alps
{

namespace
{

constexpr int ranks_max = 1 << 20;

std::string_view variable(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe)
	return value ? value : "";
}

std::optional<uint64_t> parse(std::string_view text, uint64_t most)
{
	uint64_t value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size() || value > most)
		return std::nullopt;
	return value;
}

/** Cuts the part before @p mark off @p text; false at its end. */
bool next_part(std::string_view &text, char mark, std::string_view &part, bool &more)
{
	if (!more)
		return false;
	const size_t at = text.find(mark);
	part = text.substr(0, at);
	more = at != std::string_view::npos;
	if (more)
		text.remove_prefix(at + 1);
	return true;
}

std::optional<std::vector<uint32_t>> list(const char *name, uint64_t most)
{
	std::string_view text = variable(name), part;
	std::vector<uint32_t> values;
	for (bool more = true; next_part(text, ':', part, more);) {
		const auto value = parse(part, most);
		if (!value)
			return std::nullopt;
		values.push_back(static_cast<uint32_t>(*value));
	}
	return values;
}

} // namespace

std::optional<uint64_t> number(const char *name, uint64_t most)
{
	return parse(variable(name), most);
}

std::optional<uint64_t> application_id()
{
	return number("ALPS_APP_ID", UINT64_MAX);
}

std::optional<std::vector<alpsAppGni_t>> domains()
{
	const auto tags = list("PMI_GNI_PTAG", UINT8_MAX), cookies = list("PMI_GNI_COOKIE", UINT32_MAX),
		   devices = list("PMI_GNI_DEV_ID", INT_MAX), addresses = list("PMI_GNI_LOC_ADDR", UINT32_MAX);
	if (!tags || !cookies || !devices || !addresses || cookies->size() != tags->size() ||
	    devices->size() != tags->size() || addresses->size() != tags->size())
		return std::nullopt;
	std::vector<alpsAppGni_t> all(tags->size());
	for (size_t i = 0; i < all.size(); i++)
		all[i] = {(*devices)[i], (*addresses)[i], (*cookies)[i], static_cast<uint8_t>((*tags)[i])};
	return all;
}

std::optional<std::vector<Stretch>> layout()
{
	std::string_view text = variable("OPENGNI_LAYOUT"), part;
	std::vector<Stretch> stretches;
	int first = 0;
	for (bool more = true; next_part(text, ',', part, more);) {
		const size_t by = part.find('x');
		if (by == std::string_view::npos)
			return std::nullopt;
		const auto node = parse(part.substr(0, by), INT_MAX), count = parse(part.substr(by + 1), ranks_max);
		if (!node || !count || *count == 0 || first + static_cast<int>(*count) > ranks_max)
			return std::nullopt;
		stretches.push_back({static_cast<int>(*node), first, static_cast<int>(*count)});
		first += static_cast<int>(*count);
	}
	return stretches;
}

} // namespace alps
