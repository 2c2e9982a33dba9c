// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace aries::sim
{

namespace
{

constexpr uint32_t LEAST_BYTES = 8;
constexpr uint32_t MOST_BYTES = 256 << 10;
constexpr uint64_t PPM = 1'000'000;
constexpr uint64_t LN2 = 45426; // in units of 1/65,536
constexpr uint32_t LOG_BITS = 16;

} // namespace

uint64_t exponential(uint64_t random, uint64_t mean) noexcept
{
	const uint64_t u = random | 1;
	const auto zeros = static_cast<uint32_t>(std::countl_zero(u));
	uint64_t mantissa = u << zeros; // 1.0 to 2.0 with 63 bits behind the point
	uint64_t log = 0;               // of it, to the base of 2

	/* Squaring doubles a logarithm: one more bit of it each time. */
	for (uint32_t bit = 0; bit < LOG_BITS; bit++) {
		const auto square = static_cast<unsigned __int128>(mantissa) * mantissa >> 63;

		log <<= 1;
		if (square >> 64) {
			log |= 1;
			mantissa = static_cast<uint64_t>(square >> 1);
		} else {
			mantissa = static_cast<uint64_t>(square);
		}
	}

	const uint64_t negative = ((zeros + uint64_t{1}) << LOG_BITS) - log;

	return static_cast<uint64_t>(static_cast<unsigned __int128>(negative * LN2) * mean >> (2 * LOG_BITS));
}

std::string check_traffic(const TrafficShape &shape, const Layout &layout)
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (shape.load_ppm == 0 || shape.load_ppm > PPM)
		return "a load of " + number(shape.load_ppm) + " millionths: it is above 0 and at most 1";
	if (shape.operation == Operation::Raw && (shape.raw_flits == 0 || shape.raw_flits > MAX_PACKET_FLITS))
		return "packets of " + number(shape.raw_flits) + " flits: they have 1 to " + number(MAX_PACKET_FLITS);
	if (shape.operation != Operation::Raw && (shape.bytes < LEAST_BYTES || shape.bytes > MOST_BYTES))
		return "messages of " + number(shape.bytes) + " bytes: they have 8 to 262,144";
	if (shape.pattern == Pattern::Group && shape.shift % layout.groups == 0)
		return "a shift by " + number(shape.shift) + " of " + number(layout.groups) +
		       " groups: traffic would stay in its group";
	if (layout.nodes < 2)
		return "traffic needs at least two nodes";
	return {};
}

Traffic::Traffic(const TrafficShape &shape, const Layout &layout, uint64_t seed)
	: shape_(shape), layout_(layout), seed_(mix64(seed + 1)), group_first_(layout.groups + size_t{1})
{
	const auto kind = shape.operation == Operation::Get ? PacketKind::Get : PacketKind::Put;
	const TransferFlits flits = transfer_flits(kind, shape.bytes);
	uint64_t counted = shape.operation == Operation::Get ? flits.response : flits.request;

	packets_ = flits.packets;
	last_bytes_ = (shape.bytes - 1) % PACKET_BYTES + 1;
	if (shape.operation == Operation::Raw) {
		packets_ = 1;
		counted = shape.raw_flits;
		last_bytes_ = 0;
	}
	mean_gap_ = (counted * 100 * PPM << FRACTION) / (shape.load_ppm * layout.inject_flits_per_100_cycles());
	for (uint32_t node = 0; node < layout.nodes; node++) {
		group_of_.push_back(layout.group_of[layout.node_router[node]]);
		group_first_[group_of_.back() + 1]++;
	}
	for (size_t group = 1; group < group_first_.size(); group++)
		group_first_[group] += group_first_[group - 1];
	by_group_.resize(layout.nodes);
	std::iota(by_group_.begin(), by_group_.end(), 0);
	std::stable_sort(by_group_.begin(), by_group_.end(),
			 [this](uint32_t a, uint32_t b) { return group_of_[a] < group_of_[b]; });
	if (shape.pattern == Pattern::Permutation)
		permute();
}

/* A random order; each sends to the next in it, so that nobody sends to itself. */
void Traffic::permute()
{
	std::vector<uint32_t> order(layout_.nodes);

	std::iota(order.begin(), order.end(), 0);
	for (uint32_t i = layout_.nodes - 1; i > 0; i--)
		std::swap(order[i], order[random_of(seed_, TARGETS, i) % (i + 1)]);
	partner_.resize(layout_.nodes);
	for (uint32_t i = 0; i < layout_.nodes; i++)
		partner_[order[i]] = order[(i + 1) % layout_.nodes];
}

uint32_t Traffic::target(uint32_t node, uint32_t number) const noexcept
{
	const auto random = static_cast<uint32_t>(random_of(seed_ + TARGETS, node, number) >> 32);

	switch (shape_.pattern) {
	case Pattern::Uniform: {
		const uint32_t other = pick_of(random, layout_.nodes - 1);

		return other + (other >= node);
	}
	case Pattern::Group: {
		const uint32_t group = (group_of_[node] + shape_.shift) % layout_.groups;
		const uint32_t first = group_first_[group];

		return by_group_[first + pick_of(random, group_first_[group + 1] - first)];
	}
	case Pattern::Permutation:
		return partner_[node];
	case Pattern::Shift:
		return (node + 1 + number % (layout_.nodes - 1)) % layout_.nodes;
	}
	return node;
}

uint32_t Traffic::request_flits(uint32_t bytes) const noexcept
{
	switch (shape_.operation) {
	case Operation::Put:
		return aries::request_flits(PacketKind::Put, bytes);
	case Operation::Get:
		return aries::request_flits(PacketKind::Get, bytes);
	default:
		return shape_.raw_flits;
	}
}

uint32_t Traffic::response_flits(uint32_t bytes) const noexcept
{
	switch (shape_.operation) {
	case Operation::Put:
		return aries::response_flits(PacketKind::Put, bytes);
	case Operation::Get:
		return aries::response_flits(PacketKind::Get, bytes);
	default:
		return 0;
	}
}

} // namespace aries::sim
