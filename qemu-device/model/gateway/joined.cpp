// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/joined.hpp"

#include <numeric>

#include "gateway/carrier.hpp"

namespace aries::gateway
{

namespace
{

CarrierConfig carrier_config(const FabricOptions &fabric, const WireOptions &wire,
			     std::function<void(const std::string &)> log)
{
	CarrierConfig config;

	config.fabric = fabric.path;
	config.nodes = fabric.nodes;
	config.machine_nodes = fabric.machine_nodes;
	config.routers_per_chassis = fabric.routers_per_chassis;
	config.chassis_per_group = fabric.chassis_per_group;
	config.address = fabric.address;
	config.place = fabric.place == FabricOptions::LAST ? 0 : fabric.place + 1;
	config.host = wire.self;
	for (const Host &host : wire.hosts) {
		/* A hosts file may contain any address of 18 bits. */
		if (host.nodes.last >= fabric.nodes)
			throw Error("nodes " + host.nodes.text() + " of host " + host.name +
				    ": the fabric has nodes 0-" + std::to_string(fabric.nodes - 1));
		std::vector<uint32_t> &nodes = config.hosts.emplace_back(host.nodes.last - host.nodes.first + 1);

		std::iota(nodes.begin(), nodes.end(), host.nodes.first);
	}
	config.log = std::move(log);
	return config;
}

} // namespace

void FabricOptions::complete()
{
	if (!machine_nodes)
		machine_nodes = nodes;
	if (address == LAST)
		address = nodes - 1;
}

std::string FabricOptions::shape() const
{
	return std::to_string(nodes) + " nodes of " + std::to_string(machine_nodes) + ", " +
	       std::to_string(routers_per_chassis) + "x" + std::to_string(chassis_per_group) + ", gateways at " +
	       std::to_string(address) + ", segment " + std::to_string(SEGMENT_VERSION);
}

class Joined::Way final : public CarrierWire
{
public:
	explicit Way(const CarrierConfig &config) : carrier(config, *this) {}

	void connect(Wire *wire)
	{
		const std::lock_guard guard(mutex_);

		wire_ = wire;
	}

	bool send(uint32_t host, std::span<const std::byte> header, std::span<const std::byte> payload) override
	{
		const std::lock_guard guard(mutex_);

		return wire_ && wire_->send(host, header, payload);
	}

private:
	std::mutex mutex_;
	Wire *wire_ = nullptr;

public:
	Carrier carrier; // uses the members above until it ends
};

Joined::Joined(const FabricOptions &fabric, const WireOptions &wire, std::function<void(const std::string &)> log)
	: way_(std::make_unique<Way>(carrier_config(fabric, wire, std::move(log))))
{
}

Joined::~Joined() = default;

WireCallbacks Joined::callbacks(WireCallbacks callbacks)
{
	Carrier &carrier = way_->carrier;

	callbacks.on_message = [&carrier](uint32_t host, Bytes message) { carrier.received(host, message); };
	callbacks.on_up = [&carrier, tell = std::move(callbacks.on_up)](uint32_t host, const Identity &peer) {
		carrier.up(host);
		tell(host, peer);
	};
	callbacks.on_down = [&carrier, tell = std::move(callbacks.on_down)](uint32_t host, const std::string &reason) {
		carrier.down(host, reason);
		tell(host, reason);
	};
	return callbacks;
}

void Joined::connect(Wire *wire)
{
	way_->connect(wire);
}

CarrierCounts Joined::counts() const
{
	const Carrier::Figures figures = way_->carrier.figures();

	return {figures.requests, figures.responses, figures.timeouts, figures.served, figures.refused, figures.open};
}

std::vector<uint32_t> Joined::reachable() const
{
	return way_->carrier.reachable();
}

} // namespace aries::gateway
