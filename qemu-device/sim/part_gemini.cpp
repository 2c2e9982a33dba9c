// SPDX-License-Identifier: GPL-2.0-or-later
#include "setup_gemini.hpp"
#include "tiled.hpp"

namespace aries::sim
{

static_assert(chip::GEMINI.packets.data_bytes == PACKET_BYTES, "messages are cut into packets of one size");

template class TiledPart<GeminiSetup>;

std::unique_ptr<Part> make_gemini_part(const PartPlan &plan, uint32_t number, const routing::TorusTables &tables)
{
	return std::make_unique<TiledPart<GeminiSetup>>(plan, number, tables);
}

} // namespace aries::sim
