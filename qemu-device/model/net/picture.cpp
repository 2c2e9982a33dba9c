// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/picture.hpp"

#include "topo/svg.hpp"
#include "topology/dragonfly_machine.hpp"

namespace aries::net
{

void draw(std::ostream &out, const FabricView &view)
{
	const topology::Machine machine = topology::machine_of(view.machine());
	topology::Marks marks;

	for (size_t number = 0; number < machine.links.size(); number++) {
		const topology::LinkEnd &end = machine.links[number].end[0];
		const Network::LinkView link = view.link({end.router, end.tile});

		if (!link.up)
			marks.links[number] = topology::Marks::Link::Down;
		else if (is_wrong(link))
			marks.links[number] = topology::Marks::Link::Degraded;
	}
	marks.routers = view.members_by_router();
	topology::write_svg(out, machine, marks);
}

} // namespace aries::net
