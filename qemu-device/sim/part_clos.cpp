// SPDX-License-Identifier: GPL-2.0-or-later
#include "setup_clos.hpp"
#include "tiled.hpp"

namespace aries::sim
{

template class TiledPart<ClosSetup>;

std::unique_ptr<Part> make_clos_part(const PartPlan &plan, uint32_t number, const routing::ClosTables &tables)
{
	return std::make_unique<TiledPart<ClosSetup>>(plan, number, tables);
}

} // namespace aries::sim
