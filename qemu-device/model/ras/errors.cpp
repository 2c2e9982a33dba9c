/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ras/errors.hpp"

#include "fabric/seglock.hpp"

namespace aries
{

namespace
{

uint8_t category(uint16_t code)
{
	/* A line of the PTE cache is read again from host memory: that puts right any error. */
	if (code == ARIES_RAS_DOUBLE + ARIES_RAS_PTE)
		return CATEGORY_CORRECTABLE_MEMORY;
	if (code == ARIES_RAS_REACH)
		return CATEGORY_TRANSLATION;
	if (code >= ARIES_RAS_DOUBLE)
		return CATEGORY_CRITICAL;
	if (code >= ARIES_RAS_SINGLE)
		return CATEGORY_CORRECTABLE_MEMORY;
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

/** What the lock of a ring protects: the record behind the last, which is none before tail says so. */
class Ring
{
public:
	explicit Ring(ErrorRing &ring) noexcept : ring_(ring) {}

	std::atomic<uint32_t> &lock() noexcept { return ring_.lock; }
	bool repair() noexcept { return true; }

private:
	ErrorRing &ring_;
};

} // namespace

void ErrorLog::report(uint32_t node, const ErrorEvent &event) noexcept
{
	ErrorRing &ring = segment_.node(node).errors;
	const uint32_t serial = ring.serial.fetch_add(1) + 1;
	Ring block(ring);
	Guard lock(members_, block);
	const uint32_t tail = ring.tail.load();

	if (!lock.held() || tail - ring.head.load() >= ERROR_RING) {
		ring.lost.fetch_add(1);
		return;
	}
	ErrorRecord &rec = ring.record[tail % ERROR_RING];

	rec.event =
		event.code | uint64_t(category(event.code)) << 16 | uint64_t(event.ptag) << 24 | uint64_t(serial) << 32;
	rec.time_ns = now_ns();
	rec.info[0] = event.pe | uint64_t(event.mdh) << 32;
	rec.info[1] = event.offset;
	rec.info[2] = event.length;
	rec.info[3] = event.fmad | uint64_t(event.op) << 16;
	ring.tail.store(tail + 1);
	lock.unlock();
	/* The owner, who looks at tail after each event that it takes, has not seen ours, or we see that it has taken
	 * all. */
	if (ring.head.load() != tail)
		return;
	if (node == members_.node())
		segment_.node(node).irq_vectors.fetch_or(1);
	else
		wake_.raise(node, 1);
}

bool ErrorLog::sweep() noexcept
{
	const uint32_t head = own().head.load(), tail = own().tail.load();
	/* There was something at the last call, and nobody has taken any of it since. */
	const bool stale = swept_ && head == head_ && tail != told_;

	swept_ = head != tail;
	head_ = head;
	if (stale)
		told_ = tail;
	return stale;
}

bool ErrorLog::oldest(ErrorRecord &record) const noexcept
{
	const ErrorRing &ring = own();

	if (!waiting())
		return false;
	record = ring.record[ring.head.load() % ERROR_RING];
	return true;
}

void ErrorLog::pop() noexcept
{
	if (waiting())
		own().head.fetch_add(1);
}

uint32_t ErrorLog::waiting() const noexcept
{
	/* The head is ours; nobody moves the tail back. */
	return own().tail.load() - own().head.load();
}

uint32_t ErrorLog::lost() const noexcept
{
	return own().lost.load();
}

void ErrorLog::bury() noexcept
{
	Ring block(own());
	const Guard lock(members_, block, Patience::NONE);
}

void ErrorLog::clear() noexcept
{
	own().head.store(own().tail.load());
	own().lost.store(0);
}

} // namespace aries
