// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "alps/libalpsutil.h"

#include "application.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace
{

using Stretches = std::vector<alps::Stretch>;

/** An array for the caller, if he wants it; false where there is no memory. */
template <typename Value, typename Of> bool give(Value **to, size_t count, Of of)
{
	if (!to)
		return true;
	*to = static_cast<Value *>(malloc(count * sizeof(Value)));
	for (size_t i = 0; *to && i < count; i++)
		(*to)[i] = of(i);
	return *to != nullptr;
}

const alps::Stretch &of_rank(const Stretches &stretches, int rank)
{
	size_t at = 0;
	while (rank >= stretches[at].first + stretches[at].count)
		at++;
	return stretches[at];
}

int on_node(const Stretches &stretches, int node)
{
	int count = 0;
	for (const alps::Stretch &stretch : stretches)
		count += stretch.node == node ? stretch.count : 0;
	return count;
}

int count_nodes(const Stretches &stretches)
{
	int count = 0;
	for (size_t i = 0; i < stretches.size(); i++) {
		bool seen = false;
		for (size_t j = 0; j < i; j++)
			seen = seen || stretches[j].node == stretches[i].node;
		count += !seen;
	}
	return count;
}

void fill(alpsAppLayout_t &layout, const Stretches &stretches, int node, int depth)
{
	layout = {};
	for (const alps::Stretch &stretch : stretches) {
		if (stretch.node != node)
			continue;
		layout.firstPe = stretch.first;
		break;
	}
	layout.numPesHere = on_node(stretches, node);
	layout.numPes = stretches.back().first + stretches.back().count;
	layout.numNodes = count_nodes(stretches);
	layout.depth = depth;
}

template <typename Value> void drop(Value **array)
{
	if (array) {
		free(*array);
		*array = nullptr;
	}
}

template <typename... Arrays> int refuse(int error, Arrays... arrays)
{
	(drop(arrays), ...);
	errno = error;
	return -1;
}

} // namespace

int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *layout, placementList_t **places, int **nids, int **pes,
			    int **lengths, struct in_addr **ips, int **start_pe, int **total_pes, int **node_pes,
			    int **pe_cpus)
{
	for (int **array : {nids, pes, lengths, start_pe, total_pes, node_pes, pe_cpus})
		if (array)
			*array = nullptr;
	if (places)
		*places = nullptr;
	if (ips)
		*ips = nullptr;
	try {
		if (alps::application_id() != apid)
			return refuse(ESRCH);
		const auto stretches = alps::layout();
		const auto rank = alps::number("ALPS_APP_PE", INT_MAX);
		const int depth = static_cast<int>(alps::number("ALPS_APP_DEPTH", INT_MAX).value_or(1));
		if (!stretches || !rank ||
		    *rank >= static_cast<uint64_t>(stretches->back().first) +
				     static_cast<uint64_t>(stretches->back().count))
			return refuse(EINVAL);
		const Stretches &all = *stretches;
		const size_t ranks = static_cast<size_t>(all.back().first + all.back().count);
		auto node = [&](size_t i) { return of_rank(all, static_cast<int>(i)).node; };
		if (layout)
			fill(*layout, all, node(*rank), depth);
		const bool good = give(places, ranks,
				       [&](size_t i) {
					       return placementList_t{0, node(i)};
				       }) &&
				  give(nids, ranks, node) &&
				  give(pes, ranks, [](size_t i) { return static_cast<int>(i); }) &&
				  give(start_pe, all.size(), [&](size_t i) { return all[i].first; }) &&
				  give(total_pes, all.size(), [&](size_t i) { return all[i].count; }) &&
				  give(node_pes, all.size(), [&](size_t i) { return on_node(all, all[i].node); }) &&
				  give(pe_cpus, all.size(), [&](size_t) { return depth; });
		return good ? 1 : refuse(ENOMEM, places, nids, pes, start_pe, total_pes, node_pes, pe_cpus);
	} catch (...) {
		return refuse(ENOMEM, places, nids, pes, start_pe, total_pes, node_pes, pe_cpus);
	}
}
