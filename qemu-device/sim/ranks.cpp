// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks.hpp"

namespace aries::sim
{

std::string Ranks::first_of(const std::string &mine)
{
	const auto *bytes = reinterpret_cast<const std::byte *>(mine.data());

	for (const Bytes &text : gather({bytes, bytes + mine.size()})) {
		if (!text.empty())
			return {reinterpret_cast<const char *>(text.data()), text.size()};
	}
	return {};
}

} // namespace aries::sim
