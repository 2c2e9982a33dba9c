// SPDX-License-Identifier: GPL-2.0-or-later
/* Route tables that a manager of the network makes and all members use (R14). */
#include <algorithm>
#include <stdexcept>

#include "netlink/network.hpp"

namespace aries
{

void Network::follow_tables(ReadTables read, uint32_t member)
{
	const auto load = [this, read = std::move(read)](uint32_t generation) -> CurrentTables::Reference {
		try {
			routing::DecodedTables decoded = decode_tables(read(generation));

			if (decoded.info.generation != generation)
				throw std::invalid_argument("they are of generation " +
							    std::to_string(decoded.info.generation));
			return std::make_shared<const routing::Tables>(std::move(decoded.tables));
		} catch (const std::exception &error) {
			throw std::invalid_argument("route tables of generation " + std::to_string(generation) +
						    " are not used: " + error.what());
		}
	};

	tables_.follow(load, member < members_ ? &nics_[member].taken : nullptr);
}

std::optional<std::string> Network::refresh_tables() noexcept
{
	tables_.get();
	return tables_.take_trouble();
}

std::array<uint32_t, 3> Network::tables_shape() const noexcept
{
	return {topo_.nodes(), topo_.routers_per_chassis(), topo_.chassis_per_group()};
}

routing::DecodedTables Network::decode_tables(std::span<const std::byte> bytes) const
{
	routing::DecodedTables decoded = routing::decode_tables(bytes, wiring_);

	if (decoded.info.shape != tables_shape())
		throw std::invalid_argument("they are for another machine");
	return decoded;
}

uint64_t Network::in_flight_ns(uint64_t now_ns) const noexcept
{
	uint64_t longest = 0;

	for (uint32_t router = 0; router < topo_.routers(); router++) {
		for (uint32_t tile = 0; touched(router) && tile < FIRST_NETLINK; tile++)
			longest = std::max(longest, load_ns(router, tile, now_ns));
	}
	return longest;
}

} // namespace aries
