// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "forkcopy.hpp"
#include "gni.hpp"
#include "guard.hpp"
#include "wiped.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
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
	bool advised; /* the first of a run, while the process forks: the run is */
	bool torn;    /* the same: it could not be, for want of mappings */
};

struct Table {
	Kept *kept;
	uint32_t used;
	uint32_t room;
	uint32_t ranges; /* registrations that keep pages */

	bool reserve(uint32_t wanted);
	uint32_t split(uint64_t at);
	void insert(uint32_t index, const Kept &what);
	void erase(uint32_t index);
	void join(uint32_t from, uint32_t to);
	uint32_t run(uint32_t from) const;
	void hide();
	void show();
};

constinit Table table{};
constinit Inherited inherited;
constinit pthread_once_t handlers = PTHREAD_ONCE_INIT;

/* The table of a child is empty: nothing is registered there. */
Table &own_table()
{
	if (inherited.first_look()) {
		table.used = 0;
		table.ranges = 0;
	}
	return table;
}

bool Table::reserve(uint32_t wanted)
{
	if (wanted <= room)
		return true;
	wanted = 2 * wanted + 16;
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
		const Kept rest = {at, kept[low].end, kept[low].count, false, false};
		kept[low].end = at;
		insert(++low, rest);
	}
	return low;
}

/* Joins adjacent entries that have the same count. */
void Table::join(uint32_t from, uint32_t to)
{
	for (uint32_t i = to < used ? to : used - 1; used && i > from; i--) {
		if (kept[i - 1].end != kept[i].start || kept[i - 1].count != kept[i].count)
			continue;
		kept[i - 1].end = kept[i].end;
		erase(i);
	}
}

void *pointer(uint64_t address)
{
	return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr)
}

/*
 * Registered pages are pinned, so all of them are present. A page that is not present shows that the region's memory
 * was unmapped or moved, and that the child may need the memory that is at these addresses now.
 */
bool all_there(uint64_t start, uint64_t end)
{
	constexpr uint64_t kAtOnce = 4096;
	unsigned char there[kAtOnce];

	for (uint64_t at = start; at < end; at += kAtOnce * kPage) {
		const uint64_t bytes = end - at < kAtOnce * kPage ? end - at : kAtOnce * kPage;

		if (mincore(pointer(at), bytes, there))
			return false;
		for (uint64_t i = 0; i < bytes / kPage; i++) {
			if (!(there[i] & 1))
				return false;
		}
	}
	return true;
}

/* Entries without a gap are advised at once: a border in a huge page would be refused. Return: the first behind @from.
 */
uint32_t Table::run(uint32_t from) const
{
	uint32_t next = from + 1;

	while (next < used && kept[next].start == kept[next - 1].end)
		next++;
	return next;
}

/* After a failure the child gets a copy of the pages. */
void Table::hide()
{
	for (uint32_t i = 0, next; i < used; i = next) {
		next = run(i);
		const uint64_t end = kept[next - 1].end;
		const bool there = all_there(kept[i].start, end);
		const bool done = there && !madvise(pointer(kept[i].start), end - kept[i].start, MADV_DONTFORK);
		kept[i].advised = done;
		kept[i].torn = there && !done;
	}
}

/*
 * It takes back what hide() has done and nothing else, so it makes no border between mappings that is not there: it
 * does not fail where a process has as many mappings as it may have, or in the middle of a huge page.
 *
 * The kernel may have made one border of a run and not the other. Mappings are joined when their flags change, so those
 * of such a run are changed and changed back: there is room for that now.
 */
void Table::show()
{
	for (uint32_t i = 0, next; i < used; i = next) {
		next = run(i);
		if (kept[i].advised)
			(void)madvise(pointer(kept[i].start), kept[next - 1].end - kept[i].start, MADV_DOFORK);
	}
	for (uint32_t i = 0, next; i < used; i = next) {
		next = run(i);
		const uint64_t bytes = kept[next - 1].end - kept[i].start;
		if (kept[i].torn && !madvise(pointer(kept[i].start), bytes, MADV_DONTFORK))
			(void)madvise(pointer(kept[i].start), bytes, MADV_DOFORK);
	}
}

/* No thread registers, deregisters or forks in between: the lock is held from before a fork until after it. */
void before_fork()
{
	const int before = errno;

	fork_lock();
	own_table().hide();
	errno = before;
}

void after_fork()
{
	const int before = errno;

	table.show();
	fork_unlock();
	errno = before;
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
	(void)pthread_once(&handlers, [] { (void)pthread_atfork(before_fork, after_fork, locks_of_child); });
	const Locked lock(Subject::fork);

	(void)own_table().reserve(2);
}

bool fork_keep(const PageRange &range)
{
	if (range.start >= range.end)
		return true;
	const Locked lock(Subject::fork);
	Table *t = &own_table();

	/* A range has two borders. There is room for those of all ranges, so fork_share() needs no memory. */
	if (!t->reserve(2 * (t->ranges + 1)))
		return false;
	t->ranges++;
	const uint32_t first = t->split(range.start);
	(void)t->split(range.end);
	uint64_t at = range.start;
	uint32_t i = first;
	for (; at < range.end; i++) {
		const uint64_t next = i < t->used && t->kept[i].start < range.end ? t->kept[i].start : range.end;
		if (at < next)
			t->insert(i, {at, next, 1, false, false});
		else
			t->kept[i].count++;
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
	const uint32_t first = t->split(range.start);
	const uint32_t last = t->split(range.end);
	uint32_t i = first;

	t->ranges--;
	for (uint32_t left = last - first; left; left--) {
		if (--t->kept[i].count)
			i++;
		else
			t->erase(i);
	}
	if (t->used)
		t->join(first ? first - 1 : 0, i);
}

} // namespace ugni
