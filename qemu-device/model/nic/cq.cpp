/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/cq.hpp"

#include <algorithm>

#include "fabric/seglock.hpp"

namespace aries
{

namespace
{

/** The memory of a queue whose lock is held. */
struct Ring {
	uint64_t *consumed;
	uint64_t *slot;
	uint64_t slots;

	uint64_t *at(uint64_t count) const noexcept { return &slot[count & (slots - 1)]; }
	/**
	 * Entries that the owner has not read; what it wrote is not to be trusted. A count that is off by whole rounds,
	 * as of a thread that was stopped between reading and telling, must not end the queue: the slot tells whether
	 * it is free.
	 */
	uint64_t used(uint64_t produced) const noexcept
	{
		const uint64_t unread = produced - __atomic_load_n(consumed, __ATOMIC_ACQUIRE);

		if (unread < slots) [[likely]]
			return unread;
		if (__atomic_load_n(at(produced), __ATOMIC_RELAXED))
			return slots;
		return unread == slots ? slots - 1 : unread & (slots - 1);
	}
};

constexpr uint64_t ring_slots(uint64_t ctl)
{
	return uint64_t(1) << field(ctl, ARIES_CQ_CTL_LOG2_MASK);
}

constexpr uint64_t ring_bytes(uint64_t ctl)
{
	return ARIES_CQ_HEADER_BYTES + 8 * ring_slots(ctl);
}

bool ring_of(const CqSlot &cq, uint64_t ctl, const RamMap *ram, Ring &ring) noexcept
{
	uint8_t *host = ram ? ram->span(cq.base.load(std::memory_order_relaxed), ring_bytes(ctl)) : nullptr;

	if (!host)
		return false;
	ring.consumed = reinterpret_cast<uint64_t *>(host);
	ring.slot = reinterpret_cast<uint64_t *>(host + ARIES_CQ_HEADER_BYTES);
	ring.slots = ring_slots(ctl);
	return true;
}

/* The holder died between the entry and the count: then the entry stands or was read already. */
uint64_t repaired(CqSlot &cq, const Ring &ring) noexcept
{
	uint64_t produced = cq.produced.load(std::memory_order_relaxed);
	const uint64_t consumed = __atomic_load_n(ring.consumed, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(ring.at(produced), __ATOMIC_RELAXED) != 0 || consumed == produced + 1)
		cq.produced.store(++produced, std::memory_order_relaxed);
	return produced;
}

/** Whether the queue has as many entries as an interrupt waits for. */
bool reached(uint64_t ctl, uint64_t used) noexcept
{
	return used >= std::max<uint64_t>(1, field(ctl, ARIES_CQ_CTL_DELAY_MASK));
}

void fire(Core &core, uint32_t node, uint32_t cq, uint64_t ctl) noexcept
{
	core.segment.node(node).cqi_pending[cq / 64].fetch_or(uint64_t(1) << (cq % 64));
	core.request_irq(node, uint32_t(1) << field(ctl, ARIES_CQ_CTL_VECTOR_MASK) % ARIES_MSIX_VECTORS);
}

void bump(std::atomic<uint64_t> &word) noexcept
{
	word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace

CqResult cq_post(Core &core, uint32_t node, const RamMap *ram, uint32_t index, uint64_t entry, uint64_t serial) noexcept
{
	NodeSlot &slot = core.segment.node(node);
	CqSlot &cq = slot.cq[index % ARIES_CQ_ENTRIES];
	SegLock lock(cq.lock, core.members);
	const uint64_t ctl = cq.ctl.load(std::memory_order_relaxed);
	Ring ring;

	/* The owner's RamMap may be replaced while it is not locked out: ours is loaded under the lock. */
	if (node == core.node)
		ram = core.maps.own();
	if (!lock.held() || !(ctl & ARIES_CQ_CTL_VALID_MASK) || !ring_of(cq, ctl, ram, ring) ||
	    (serial && serial != cq.serial.load(std::memory_order_relaxed)) ||
	    !(slot.online.load(std::memory_order_relaxed) & ONLINE_MASTER))
		return CqResult::GONE;

	const uint64_t produced = lock.stolen() ? repaired(cq, ring) : cq.produced.load(std::memory_order_relaxed);
	const uint64_t used = ring.used(produced);
	const bool room = used < ring.slots - 1;

	if (!room) {
		entry = ARIES_CQE_OVERRUN | prep(ARIES_CQE_SOURCE_MASK, ARIES_SRC_CQ);
		bump(cq.dropped);
		bump(cq.lost);
	}
	if (used < ring.slots) {
		__atomic_store_n(ring.at(produced), entry, __ATOMIC_RELEASE);
		cq.produced.store(produced + 1, std::memory_order_relaxed);
		if (room)
			bump(cq.events);
	}
	const bool irq = cq.armed.load(std::memory_order_relaxed) && reached(ctl, used + 1);

	if (irq)
		cq.armed.store(0, std::memory_order_relaxed);
	lock.unlock();
	if (irq)
		fire(core, node, index, ctl);
	return room ? CqResult::POSTED : CqResult::OVERRUN;
}

uint64_t cq_produced(Core &core, uint32_t node, const RamMap *ram, uint32_t index) noexcept
{
	CqSlot &cq = core.segment.node(node).cq[index % ARIES_CQ_ENTRIES];
	const SegLock lock(cq.lock, core.members);
	const uint64_t ctl = cq.ctl.load(std::memory_order_relaxed);
	Ring ring;

	if (node == core.node)
		ram = core.maps.own();
	if (lock.stolen() && (ctl & ARIES_CQ_CTL_VALID_MASK) && ring_of(cq, ctl, ram, ring))
		return repaired(cq, ring);
	return cq.produced.load(std::memory_order_relaxed);
}

bool CqTable::configure(uint32_t index, uint64_t base, uint64_t ctl) noexcept
{
	CqSlot &cq = core_.own().cq[index];
	const uint64_t log2 = field(ctl, ARIES_CQ_CTL_LOG2_MASK);
	const RamMap *ram = core_.maps.own();

	if (ctl & ARIES_CQ_CTL_VALID_MASK) {
		if (log2 < ARIES_CQ_LOG2_MIN || log2 > ARIES_CQ_LOG2_MAX ||
		    field(ctl, ARIES_CQ_CTL_VECTOR_MASK) >= ARIES_MSIX_VECTORS || !ram ||
		    !ram->span(base, ring_bytes(ctl)) ||
		    (cq.ctl.load(std::memory_order_relaxed) & ARIES_CQ_CTL_VALID_MASK))
			return false;
	}
	SegLock lock(cq.lock, core_.members);

	/* Stopping must not fail; a holder that does not run for a second is as good as gone. */
	cq.armed.store(0, std::memory_order_relaxed);
	if (ctl & ARIES_CQ_CTL_VALID_MASK) {
		cq.base.store(base, std::memory_order_relaxed);
		cq.produced.store(0, std::memory_order_relaxed);
		cq.dropped.store(0, std::memory_order_relaxed);
		bump(cq.serial);
	}
	cq.ctl.store(ctl, std::memory_order_release);
	return true;
}

void CqTable::arm(uint32_t index) noexcept
{
	CqSlot &cq = core_.own().cq[index];
	SegLock lock(cq.lock, core_.members);
	const uint64_t ctl = cq.ctl.load(std::memory_order_relaxed);
	Ring ring;

	if (!lock.held() || !(ctl & ARIES_CQ_CTL_VALID_MASK) || !(ctl & ARIES_CQ_CTL_IRQ_MASK) ||
	    !ring_of(cq, ctl, core_.maps.own(), ring))
		return;
	const bool now = reached(ctl, ring.used(cq.produced.load(std::memory_order_relaxed)));

	cq.armed.store(!now, std::memory_order_relaxed);
	lock.unlock();
	if (now)
		fire(core_, core_.node, index, ctl);
}

void CqTable::disarm(uint32_t index) noexcept
{
	CqSlot &cq = core_.own().cq[index];
	SegLock lock(cq.lock, core_.members);

	cq.armed.store(0, std::memory_order_relaxed);
}

void CqTable::fence() noexcept
{
	for (auto &cq : core_.own().cq)
		SegLock lock(cq.lock, core_.members);
}

void CqTable::reset() noexcept
{
	for (uint32_t i = 0; i < ARIES_CQ_ENTRIES; i++) {
		CqSlot &cq = core_.own().cq[i];

		if (cq.ctl.load(std::memory_order_relaxed))
			configure(i, 0, 0);
		cq.base.store(0, std::memory_order_relaxed);
		cq.produced.store(0, std::memory_order_relaxed);
		cq.dropped.store(0, std::memory_order_relaxed);
		cq.events.store(0, std::memory_order_relaxed);
		cq.lost.store(0, std::memory_order_relaxed);
	}
	for (auto &pending : core_.own().cqi_pending)
		pending.store(0);
}

uint32_t CqTable::summary() const noexcept
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < ARIES_CQ_ENTRIES / 64; i++)
		bits |= uint32_t(pending(i) != 0) << i;
	return bits;
}

uint64_t CqTable::armed(uint32_t element) const noexcept
{
	const CqSlot *cq = &core_.own().cq[size_t(element) * 64];
	uint64_t bits = 0;

	for (uint32_t i = 0; i < 64; i++)
		bits |= uint64_t(cq[i].armed.load(std::memory_order_relaxed) != 0) << i;
	return bits;
}

uint64_t CqTable::total_events() const noexcept
{
	uint64_t sum = 0;

	for (const auto &cq : core_.own().cq)
		sum += cq.events.load(std::memory_order_relaxed);
	return sum;
}

uint64_t CqTable::total_lost() const noexcept
{
	uint64_t sum = 0;

	for (const auto &cq : core_.own().cq)
		sum += cq.lost.load(std::memory_order_relaxed);
	return sum;
}

} // namespace aries
