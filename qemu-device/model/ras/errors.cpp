/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ras/errors.hpp"

#include "fabric/seglock.hpp"

namespace aries
{

namespace
{

uint8_t category(uint8_t code)
{
	switch (code & ~ARIES_ST_LOCAL) {
	case ARIES_ST_TRANSLATION:
		return CATEGORY_TRANSLATION;
	case ARIES_ST_TIMEOUT:
	case ARIES_ST_CRC:
		return CATEGORY_TRANSIENT;
	default:
		return CATEGORY_TRANSACTION;
	}
}

/* A holder that died may have left any value. */
void repair(ErrorRing &ring)
{
	ring.head %= ERROR_RING;
	if (ring.count > ERROR_RING)
		ring.count = 0;
}

} // namespace

void ErrorLog::report(uint32_t node, const ErrorEvent &event) noexcept
{
	ErrorRing &ring = segment_.node(node).errors;
	SegLock lock(ring.lock, members_);

	if (!lock.held())
		return;
	repair(ring);
	ring.serial++;
	if (ring.count == ERROR_RING) {
		ring.lost++;
		return;
	}
	ErrorRecord &rec = ring.record[(ring.head + ring.count) % ERROR_RING];

	rec.event = event.code | uint64_t(category(event.code)) << 16 | uint64_t(event.ptag) << 24 |
		    uint64_t(ring.serial) << 32;
	rec.time_ns = now_ns();
	rec.info[0] = event.pe | uint64_t(event.mdh) << 32;
	rec.info[1] = event.offset;
	rec.info[2] = event.length;
	rec.info[3] = event.fmad | uint64_t(event.op) << 16;
	const bool first = ring.count++ == 0;

	lock.unlock();
	if (!first)
		return;
	if (node == members_.node())
		segment_.node(node).irq_vectors.fetch_or(1);
	else
		wake_.raise(node, 1);
}

bool ErrorLog::oldest(uint32_t node, ErrorRecord &record) noexcept
{
	ErrorRing &ring = segment_.node(node).errors;
	SegLock lock(ring.lock, members_);

	if (!lock.held())
		return false;
	repair(ring);
	if (ring.count)
		record = ring.record[ring.head];
	return ring.count != 0;
}

void ErrorLog::pop(uint32_t node) noexcept
{
	ErrorRing &ring = segment_.node(node).errors;
	SegLock lock(ring.lock, members_);

	if (!lock.held())
		return;
	repair(ring);
	if (ring.count) {
		ring.head = (ring.head + 1) % ERROR_RING;
		ring.count--;
	}
}

uint32_t ErrorLog::waiting(uint32_t node) const noexcept
{
	return segment_.node(node).errors.count.load(std::memory_order_relaxed);
}

uint32_t ErrorLog::lost(uint32_t node) const noexcept
{
	return segment_.node(node).errors.lost.load(std::memory_order_relaxed);
}

void ErrorLog::clear(uint32_t node) noexcept
{
	ErrorRing &ring = segment_.node(node).errors;
	SegLock lock(ring.lock, members_);

	if (!lock.held())
		return;
	ring.head = 0;
	ring.count = 0;
	ring.lost = 0;
}

} // namespace aries
