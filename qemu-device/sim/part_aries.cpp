// SPDX-License-Identifier: GPL-2.0-or-later
#include "setup_aries.hpp"
#include "tiled.hpp"

namespace aries::sim
{

template class TiledPart<AriesSetup>;

std::unique_ptr<Part> make_aries_part(const PartPlan &plan, uint32_t number, const routing::Tables &tables)
{
	return std::make_unique<TiledPart<AriesSetup>>(plan, number, tables);
}

} // namespace aries::sim
