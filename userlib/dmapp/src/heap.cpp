// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "heap.hpp"

#include <cstdlib>
#include <iterator>
#include <utility>

namespace dmapp
{

namespace
{

constexpr size_t kDefaultBytes = size_t{32} << 20;
constexpr size_t kMostBytes = size_t{1} << 39; /* the NIC's offsets have 40 bits */
constexpr size_t kGranule = size_t{2} << 20;   /* a huge page */

unsigned shift_of(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	default:
		return 0;
	}
}

} // namespace

size_t Heap::bytes_of(const char *text)
{
	if (!text || !*text)
		return kDefaultBytes;
	char *end = nullptr;
	const unsigned long long number = strtoull(text, &end, 10);
	const unsigned shift = shift_of(*end);
	if (end == text || *text == '-' || (*end && (!shift || end[1])) || !number || number > kMostBytes >> shift)
		return 0;
	return ((static_cast<size_t>(number) << shift) + kGranule - 1) & ~(kGranule - 1);
}

void Heap::open(void *start, size_t bytes)
{
	start_ = static_cast<char *>(start);
	bytes_ = bytes;
	taken_.clear();
	free_.clear();
	free_[0] = bytes;
}

/* The first place that is large enough: the order of calls decides, nothing else. */
void *Heap::take(size_t bytes)
{
	if (bytes > bytes_)
		return nullptr;
	const size_t need = bytes ? (bytes + kAlignment - 1) & ~(kAlignment - 1) : kAlignment;
	for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
		const auto [offset, size] = *hole;
		if (size < need)
			continue;
		/* The only step that may find no memory comes first; the hole's own entry becomes the block's. */
		if (size > need)
			free_.emplace(offset + need, size - need);
		auto entry = free_.extract(hole);
		entry.mapped() = need;
		taken_.insert(std::move(entry));
		return start_ + offset;
	}
	return nullptr;
}

bool Heap::give(void *block)
{
	const auto offset = static_cast<size_t>(static_cast<char *>(block) - start_);
	const auto taken = taken_.find(offset);

	if (taken == taken_.end())
		return false;
	auto hole = free_.insert(taken_.extract(taken)).position;
	const auto next = std::next(hole);
	if (next != free_.end() && hole->first + hole->second == next->first) {
		hole->second += next->second;
		free_.erase(next);
	}
	if (hole != free_.begin()) {
		const auto before = std::prev(hole);
		if (before->first + before->second == hole->first) {
			before->second += hole->second;
			free_.erase(hole);
		}
	}
	return true;
}

} // namespace dmapp
