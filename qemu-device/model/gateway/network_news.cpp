/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gateway/network_news.hpp"

#include "fabric/segment.hpp"

#include <bit>
#include <cmath>

namespace aries
{

namespace
{

/* NetworkNews::value of a link. */
constexpr uint64_t DOWN = 1;
constexpr unsigned int DEAD_LANES_SHIFT = 8, NOISE_SHIFT = 32;
constexpr uint64_t LINK_BITS = DOWN | uint64_t{0xff} << DEAD_LANES_SHIFT | uint64_t{0xffffffff} << NOISE_SHIFT;
/* Of time: the rate times 2^32, less that of the host's clock, so that 0 is the state of a new network. */
constexpr uint64_t HOLDS = uint64_t{1} << 63;
constexpr double RATE_ONE = 0x1p32;
/* Numbers count single changes: one above this is no count. */
constexpr uint64_t NUMBER_MAX = uint64_t{1} << 62;

uint64_t link_value(const Network::LinkView &link)
{
	return (link.up ? 0 : DOWN) | uint64_t{LANES - link.lanes} << DEAD_LANES_SHIFT |
	       uint64_t{std::bit_cast<uint32_t>(link.error_rate)} << NOISE_SHIFT;
}

uint32_t lanes_of(uint64_t value)
{
	return LANES - uint32_t(value >> DEAD_LANES_SHIFT & 0xff);
}

float noise_of(uint64_t value)
{
	return std::bit_cast<float>(uint32_t(value >> NOISE_SHIFT));
}

double rate_of(uint64_t value)
{
	return double(int64_t(value << 1) >> 1) / RATE_ONE + 1;
}

} // namespace

SharedNetwork::SharedNetwork(Network &network, uint32_t nodes, uint32_t host, const NewsFile *file, Say say)
	: network_(network), nodes_(nodes), host_(host), file_(file), say_(std::move(say)),
	  link_changes_(network.link_changes() - 1), quiesces_(network.quiesce_view(0).count)
{
	remember();
	look();
}

/* Loads the state that the last gateway of this host knew. */
void SharedNetwork::remember()
try {
	for (const NetworkNews &news : file_ ? file_->load() : std::vector<NetworkNews>()) {
		if (!sound(news) || NetworkPart(news.part) == NetworkPart::Quiesce)
			throw Error("news of the network from an earlier gateway make no sense");
		known_[{NetworkPart(news.part), news.at, news.tile}] = {news.value, news.number, news.host};
		last_number_ = std::max(last_number_, news.number);
	}
} catch (const Error &error) {
	known_.clear();
	say_(std::string(error.what()) + ": what was changed meanwhile may be lost");
}

/* Mutex held. */
void SharedNetwork::store()
{
	if (!file_ || !unkept_)
		return;
	try {
		file_->save(list());
		unkept_ = troubled_ = false;
	} catch (const Error &error) {
		if (!troubled_)
			say_(error.what());
		troubled_ = true;
	}
}

void SharedNetwork::keep()
{
	const std::lock_guard guard(mutex_);

	store();
}

/* The rate is a signed number of 63 bits. */
uint64_t SharedNetwork::time_value() const noexcept
{
	const auto rate = int64_t(std::llround((network_.clock().rate() - 1) * RATE_ONE));

	return (uint64_t(rate) & ~HOLDS) | (network_.clock().holds() ? HOLDS : 0);
}

/* Mutex held. A part that is not in known_ is as in a new network. */
void SharedNetwork::look_at(const Part &part, uint64_t value, std::vector<NetworkNews> &changes)
{
	const auto found = known_.find(part);

	if (value == (found == known_.end() ? 0 : found->second.value))
		return;
	const auto &[kind, at, tile] = part;

	changes.push_back({uint32_t(kind), host_, last_number_ + 1, at, tile, value});
	known_[part] = {value, ++last_number_, host_};
	unkept_ = true;
}

std::vector<NetworkNews> SharedNetwork::look()
{
	const std::lock_guard guard(mutex_);
	std::vector<NetworkNews> changes;
	const uint32_t links = network_.link_changes();

	for (uint32_t router = 0; links != link_changes_ && router < network_.topology().routers(); router++) {
		for (uint32_t tile = 0; network_.touched(router) && tile < NETWORK_TILES; tile++) {
			const Network::LinkView link = network_.link_view(router, tile, 0);

			if (link.far.tile != NO_TILE &&
			    std::pair(router, tile) < std::pair(link.far.router, link.far.tile))
				look_at({NetworkPart::Link, router, tile}, link_value(link), changes);
		}
	}
	link_changes_ = links;
	for (uint32_t node = 0; node < nodes_; node++)
		look_at({NetworkPart::Nic, node, 0}, network_.nic_link(node) ? 0 : DOWN, changes);
	look_at({NetworkPart::Time, 0, 0}, time_value(), changes);
	store();

	const Network::QuiesceView quiet = network_.quiesce_view(0);

	/* Its whole length: modelled time may have passed it here, but the other host has a modelled time of its own.
	 */
	if (quiet.count != quiesces_)
		changes.push_back({uint32_t(NetworkPart::Quiesce), host_, 0, 0, 0, quiet.last_ns});
	quiesces_ = quiet.count;
	return changes;
}

std::vector<NetworkNews> SharedNetwork::all() const
{
	const std::lock_guard guard(mutex_);

	return list();
}

/* Mutex held. */
std::vector<NetworkNews> SharedNetwork::list() const
{
	std::vector<NetworkNews> news;

	for (const auto &[part, known] : known_) {
		const auto &[kind, at, tile] = part;

		news.push_back({uint32_t(kind), known.host, known.number, at, tile, known.value});
	}
	return news;
}

bool SharedNetwork::sound(const NetworkNews &news) const noexcept
{
	const uint64_t value = news.value;
	const LinkEnd here = {news.at, news.tile};

	if (news.number > NUMBER_MAX)
		return false;
	switch (NetworkPart(news.part)) {
	case NetworkPart::Link: {
		const LinkEnd far = network_.link_view(here.router, here.tile, 0).far;

		return far.tile != NO_TILE && std::pair(here.router, here.tile) < std::pair(far.router, far.tile) &&
		       !(value & ~LINK_BITS) && lanes_of(value) >= 1 && lanes_of(value) <= LANES &&
		       noise_of(value) >= 0 && noise_of(value) <= Network::MAX_ERROR_RATE;
	}
	case NetworkPart::Nic:
		return news.at < nodes_ && !news.tile && value <= DOWN;
	case NetworkPart::Time:
		return !news.at && !news.tile && rate_of(value) >= FabricClock::RATE_MIN / 2 &&
		       rate_of(value) <= FabricClock::RATE_MAX;
	case NetworkPart::Quiesce:
		return !news.at && !news.tile && value && value <= Network::MAX_QUIESCE_NS;
	}
	return false;
}

/* Mutex held. Return: false without room for the state of a link's routers */
bool SharedNetwork::set(const NetworkNews &news, uint64_t now_ns) noexcept
{
	const uint64_t value = news.value;

	switch (NetworkPart(news.part)) {
	case NetworkPart::Link:
		return network_.set_link(news.at, news.tile, !(value & DOWN)) &&
		       network_.set_lanes(news.at, news.tile, lanes_of(value)) &&
		       network_.set_error_rate(news.at, news.tile, noise_of(value));
	case NetworkPart::Nic:
		network_.set_nic_link(news.at, !(value & DOWN));
		return true;
	case NetworkPart::Time:
		network_.clock().set_holds(value & HOLDS);
		if (value != time_value())
			network_.clock().set_rate(std::max(rate_of(value), FabricClock::RATE_MIN), now_ns);
		return true;
	case NetworkPart::Quiesce:
		if (network_.quiesce(network_.clock().at(now_ns), value))
			quiesces_++; /* look() must not send this quiesce back */
		return true;
	}
	return true;
}

const char *SharedNetwork::take(const NetworkNews &news, uint64_t now_ns)
{
	const std::lock_guard guard(mutex_);
	const Part part = {NetworkPart(news.part), news.at, news.tile};

	if (!sound(news))
		return "news of the network that make no sense";
	last_number_ = std::max(last_number_, news.number);
	if (NetworkPart(news.part) == NetworkPart::Quiesce) {
		set(news, now_ns);
		return nullptr;
	}
	const auto found = known_.find(part);

	if (found != known_.end() &&
	    std::pair(news.number, news.host) <= std::pair(found->second.number, found->second.host))
		return nullptr;
	Known &known = known_[part];

	if (!set(news, now_ns))
		return "there is no room for the state of a router";
	known = {news.value, news.number, news.host};
	unkept_ = true;
	return nullptr;
}

} // namespace aries
