// SPDX-License-Identifier: GPL-2.0-or-later
#include "collective.hpp"

namespace aries::sim
{

Tree::Tree(uint32_t ranks, uint32_t radix) : parent_(ranks, NO_PARENT)
{
	std::vector<uint32_t> end(ranks, ranks); // of the run that a rank is the root of
	std::vector<uint32_t> level(ranks);

	first_child_.reserve(ranks + size_t{1});
	children_.reserve(ranks);
	/* A rank comes behind its parent, so its run is known. */
	for (uint32_t rank = 0; rank < ranks; rank++) {
		const uint64_t rest = end[rank] - rank - 1;
		const auto count = static_cast<uint32_t>(std::min<uint64_t>(rest, radix));

		first_child_.push_back(static_cast<uint32_t>(children_.size()));
		for (uint32_t i = 0; i < count; i++) {
			const auto child = static_cast<uint32_t>(rank + 1 + rest * i / count);

			parent_[child] = rank;
			end[child] = static_cast<uint32_t>(rank + 1 + rest * (i + 1) / count);
			level[child] = level[rank] + 1;
			children_.push_back(child);
		}
		depth_ = std::max(depth_, level[rank]);
	}
	first_child_.push_back(static_cast<uint32_t>(children_.size()));
}

void CollectiveCounts::add(const CollectiveCounts &other)
{
	lost += other.lost;
	if (operations.size() < other.operations.size())
		operations.resize(other.operations.size());
	for (size_t i = 0; i < other.operations.size(); i++) {
		OperationCount &mine = operations[i];
		const OperationCount &its = other.operations[i];

		mine.begun += its.begun;
		mine.ended += its.ended;
		mine.last_begin = std::max(mine.last_begin, its.last_begin);
		mine.last_end = std::max(mine.last_end, its.last_end);
	}
}

void CollectiveCounts::save(std::vector<uint64_t> &words) const
{
	words.insert(words.end(), {lost, operations.size()});
	for (const OperationCount &of : operations)
		words.insert(words.end(), {of.begun, of.ended, of.last_begin, of.last_end});
}

void CollectiveCounts::load(const uint64_t *&word)
{
	lost = *word++;
	operations.resize(*word++);
	for (OperationCount &of : operations) {
		for (uint32_t *value : {&of.begun, &of.ended, &of.last_begin, &of.last_end})
			*value = static_cast<uint32_t>(*word++);
	}
}

} // namespace aries::sim
