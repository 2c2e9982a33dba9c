// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "forkcopy.hpp"
#include "gni.hpp"
#include "guard.hpp"
#include "wiped.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace ugni
{

namespace
{

constexpr uint64_t kPage = 4096;

/* Pages that @count registrations keep; disjoint, in order, neighbours differ in count. */
struct Kept {
	uint64_t start;
	uint64_t end;
	uint32_t count;
};

struct Table {
	Kept *kept;
	uint32_t used;
	uint32_t room;

	bool reserve(uint32_t more);
	uint32_t split(uint64_t at);
	void insert(uint32_t index, const Kept &what);
	void erase(uint32_t index);
	void join(uint32_t from, uint32_t to);
};

constinit Table table{};
constinit Inherited inherited;

/* The table of a child is empty: it has none of the pages. */
Table &own_table()
{
	if (inherited.first_look())
		table = {};
	return table;
}

bool Table::reserve(uint32_t more)
{
	if (used + more <= room)
		return true;
	const uint32_t wanted = 2 * (used + more) + 16;
	auto *grown = static_cast<Kept *>(realloc(kept, wanted * sizeof(Kept)));
	if (!grown)
		return false;
	kept = grown;
	room = wanted;
	return true;
}

void Table::insert(uint32_t index, const Kept &what)
{
	memmove(&kept[index + 1], &kept[index], (used - index) * sizeof(Kept));
	kept[index] = what;
	used++;
}

void Table::erase(uint32_t index)
{
	used--;
	memmove(&kept[index], &kept[index + 1], (used - index) * sizeof(Kept));
}

/* Makes @at a border. Return: the first entry that ends behind it. */
uint32_t Table::split(uint64_t at)
{
	uint32_t low = 0;

	for (uint32_t high = used; low < high;) {
		const uint32_t middle = low + (high - low) / 2;
		if (kept[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < used && kept[low].start < at) {
		const Kept rest = {at, kept[low].end, kept[low].count};
		kept[low].end = at;
		insert(++low, rest);
	}
	return low;
}

/* Neighbours with one count become one entry. */
void Table::join(uint32_t from, uint32_t to)
{
	for (uint32_t i = to < used ? to : used - 1; used && i > from; i--) {
		if (kept[i - 1].end != kept[i].start || kept[i - 1].count != kept[i].count)
			continue;
		kept[i - 1].end = kept[i].end;
		erase(i);
	}
}

/* What fails here leaves a copy to the child. */
void advise(uint64_t start, uint64_t end, int advice)
{
	void *from = reinterpret_cast<void *>(start); // NOLINT(performance-no-int-to-ptr)

	if (start < end)
		(void)madvise(from, end - start, advice);
}

} // namespace

PageRange fork_range(uint32_t modes, uint64_t address, uint64_t length)
{
	const uint64_t end = address + length;

	if ((modes & GNI_CDM_MODE_FORK_FULLCOPY) || end < address)
		return {0, 0};
	PageRange range = {(address + kPage - 1) & ~(kPage - 1), end & ~(kPage - 1)};
	if (modes & GNI_CDM_MODE_FORK_NOCOPY)
		range = {address & ~(kPage - 1), (end + kPage - 1) & ~(kPage - 1)};
	return range.start < range.end ? range : PageRange{0, 0};
}

void fork_prepare()
{
	const Locked lock(Subject::fork);

	(void)own_table().reserve(1);
}

bool fork_keep(const PageRange &range)
{
	if (range.start >= range.end)
		return true;
	const Locked lock(Subject::fork);
	Table *t = &own_table();

	/* Two borders, and at most one gap for each entry there is. */
	if (!t->reserve(t->used + 3))
		return false;
	const uint32_t first = t->split(range.start);
	(void)t->split(range.end);
	uint64_t at = range.start;
	uint32_t i = first;
	for (; at < range.end; i++) {
		const uint64_t next = i < t->used && t->kept[i].start < range.end ? t->kept[i].start : range.end;
		if (at < next) {
			t->insert(i, {at, next, 1});
			advise(at, next, MADV_DONTFORK);
		} else {
			t->kept[i].count++;
		}
		at = t->kept[i].end;
	}
	t->join(first ? first - 1 : 0, i);
	return true;
}

void fork_share(const PageRange &range)
{
	if (range.start >= range.end)
		return;
	const Locked lock(Subject::fork);
	Table *t = &own_table();

	if (!t->reserve(2))
		return;
	const uint32_t first = t->split(range.start);
	const uint32_t last = t->split(range.end);
	uint32_t i = first;
	for (uint32_t left = last - first; left; left--) {
		Kept &k = t->kept[i];
		if (--k.count) {
			i++;
			continue;
		}
		advise(k.start, k.end, MADV_DOFORK);
		t->erase(i);
	}
	if (t->used)
		t->join(first ? first - 1 : 0, i);
}

} // namespace ugni
