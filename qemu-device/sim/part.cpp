// SPDX-License-Identifier: GPL-2.0-or-later
#include "part.hpp"

#include "elite5_line.hpp"

namespace aries::sim
{

std::unique_ptr<Part> make_part(const PartPlan &plan, uint32_t number, TablesOf tables)
{
	if (const auto *torus = std::get_if<const routing::TorusTables *>(&tables))
		return make_gemini_part(plan, number, **torus);
	if (const auto *clos = std::get_if<const routing::ClosTables *>(&tables))
		return &plan.layout.chip == &ELITE5_LINE ? make_switch_part(plan, number, **clos)
							 : make_clos_part(plan, number, **clos);
	return make_aries_part(plan, number, *std::get<const routing::Tables *>(tables));
}

} // namespace aries::sim
