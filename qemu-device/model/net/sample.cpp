// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/sample.hpp"

#include <numeric>

namespace aries::net
{

namespace
{

void add_tiles(Sample &sample, const FabricView &view, uint32_t router, uint64_t now)
{
	const Network &network = view.network();
	const std::string place = view.place_name(router);

	for (uint32_t tile = 0; tile < TILES; tile++) {
		const bool processor = tile >= FIRST_PROCESSOR;
		const Network::LinkView link = processor ? Network::LinkView{} : network.link_view(router, tile, now);
		const bool connected = !processor && link.far.tile != NO_TILE;

		if (processor || connected)
			sample.tiles.push_back({{router, tile},
						place,
						processor ? "processor" : tile_kind_name(tile_kind(tile)),
						connected,
						link,
						network.tile_counters(router, tile)});
	}
}

} // namespace

uint64_t sum_of(const TileCounters &counters, uint32_t first) noexcept
{
	constexpr uint32_t CHANNELS = ARIES_RTR_IN_STALL; // that flits and stalls have an element each for
	const auto begin = counters.begin() + first;

	return std::accumulate(begin, begin + CHANNELS, uint64_t{0});
}

double flit_bytes(const TileSample &tile) noexcept
{
	constexpr double FLIT_BYTES = 6, OF_A_LINK = 10.0 / 9;

	return tile.connected ? FLIT_BYTES * OF_A_LINK : FLIT_BYTES;
}

Sample sample_of(const FabricView &view)
{
	const Network &network = view.network();
	const uint64_t now = view.now();
	Sample sample{};

	sample.modelled_ahead_s = static_cast<double>(network.clock().ahead()) / 1e9;
	sample.modelled_rate = network.clock().rate();
	sample.quiesce = network.quiesce_view(now);
	sample.tables = network.tables_generation();
	sample.nodes = view.machine().nodes();
	sample.routers = view.machine().routers();
	sample.groups = view.machine().groups();
	for (uint32_t node = 0; node < view.observer().shape().nodes; node++) {
		if (const std::string state = view.member_state(node); !state.empty())
			sample.members.push_back(
				{node, view.nic_name(node), network.place(node), state, network.nic_link(node)});
	}
	for (uint32_t router = 0; router < sample.routers; router++) {
		if (network.touched(router))
			add_tiles(sample, view, router, now);
	}
	return sample;
}

} // namespace aries::net
