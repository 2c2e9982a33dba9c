// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/tables.hpp"

#include <algorithm>

namespace aries::routing
{

namespace
{

template <typename T> size_t bytes_of(const std::vector<T> &v)
{
	return v.size() * sizeof(T);
}

} // namespace

size_t GroupTables::bytes() const noexcept
{
	return bytes_of(routers) + bytes_of(entries) + bytes_of(ports) + bytes_of(first) + bytes_of(roots);
}

Tables::Tables(std::unique_ptr<Common> common, std::vector<GroupTables> groups, uint32_t routers, uint32_t nics)
	: common_(std::move(common)), groups_(std::move(groups)), routers_(routers), nics_(nics)
{
	for (uint32_t g = 0; g < groups_.size(); g++) {
		const GroupTables &group = groups_[g];
		const size_t size = group.routers.size();
		const size_t stride = size + common_->groups + nics;

		for (uint32_t i = 0; i < size; i++) {
			const Ports *entries = group.entries.data() + i * stride;

			routers_[group.routers[i]] = {
				.local = entries,
				.global = entries + size,
				.eject = entries + size + common_->groups,
				.ports = group.ports.data() + group.first[i],
				.roots = group.roots.data(),
				.common = common_.get(),
				.root_count = static_cast<uint32_t>(group.roots.size()),
				.router = group.routers[i],
				.here = {static_cast<uint16_t>(g), static_cast<uint16_t>(i)},
			};
		}
	}
}

size_t Tables::bytes() const noexcept
{
	size_t sum = sizeof(Common) + bytes_of(common_->roots) + bytes_of(common_->linked_bits) + bytes_of(routers_);

	for (const GroupTables &group : groups_)
		sum += group.bytes();
	return sum;
}

void fill_channels(const Policy &policy, Common &common) noexcept
{
	const uint32_t last = policy.channels - 1;

	for (uint32_t global = 0; global < 2; global++) {
		for (uint32_t root = 0; root < 2; root++) {
			for (uint32_t channel = 0; channel < MAX_CHANNELS; channel++) {
				const uint32_t first = channel / policy.channels * policy.channels;
				const uint32_t up =
					channel - first + global * policy.global_step + root * policy.root_step;

				common.next_channel[global][root][channel] =
					static_cast<uint8_t>(first + std::min(up, last));
			}
		}
	}
}

} // namespace aries::routing
