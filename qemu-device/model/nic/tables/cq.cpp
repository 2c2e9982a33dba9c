/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/tables/cq.hpp"

#include <algorithm>

#include <sched.h>

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

/** Whether the queue has as many entries as an interrupt waits for. */
bool reached(uint64_t ctl, uint64_t used) noexcept
{
	return used >= std::max<uint64_t>(1, field(ctl, ARIES_CQ_CTL_DELAY_MASK));
}

void bump(std::atomic<uint64_t> &word, uint64_t by = 1) noexcept
{
	word.store(word.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/**
 * A queue, and its memory as this member sees it. Another member may take the queue's number away at any time: ctl says
 * so to whoever has the lock since, and those who had it before are waited for.
 */
class Queue
{
public:
	/** @ram: of @node; not used for our own, whose map may be replaced while it is not locked out */
	Queue(Core &core, uint32_t node, const RamMap *ram, uint32_t index) noexcept
		: core_(core), node_(node), index_(index % ARIES_CQ_ENTRIES), ram_(ram),
		  cq_(core.segment.node(node).cq[index_])
	{
	}

	std::atomic<uint32_t> &lock() noexcept { return cq_.lock; }
	CqSlot &slot() noexcept { return cq_; }
	uint64_t ctl() const noexcept { return ctl_; }
	const Ring &ring() const noexcept { return ring_; }

	/** False: there is no queue, or we do not have its memory. */
	[[gnu::always_inline]] bool open() noexcept
	{
		ctl_ = cq_.ctl.load(std::memory_order_seq_cst);
		if (!(ctl_ & ARIES_CQ_CTL_VALID_MASK) && !mend()) [[unlikely]]
			return false;
		const RamMap *ram = node_ == core_.node ? core_.maps.own() : ram_;
		uint8_t *host = ram ? ram->span(cq_.base.load(std::memory_order_relaxed), ring_bytes(ctl_)) : nullptr;

		ring_.consumed = reinterpret_cast<uint64_t *>(host);
		ring_.slot = reinterpret_cast<uint64_t *>(host + ARIES_CQ_HEADER_BYTES);
		ring_.slots = ring_slots(ctl_);
		return host != nullptr;
	}

	/** open() has found two wrong bits in the descriptor: nobody knows where the queue is, until it is written
	 * anew. */
	bool damaged() const noexcept { return ecc_lost(ctl_, CQ_ECC); }

	/* The holder died between the entry and the count? Then the entry stands or was read already. */
	[[gnu::cold]] bool repair() noexcept
	{
		if (!open())
			return !(ecc_shown(ctl_, CQ_ECC) & ARIES_CQ_CTL_VALID_MASK);
		const uint64_t produced = cq_.produced.load(std::memory_order_relaxed);
		const uint64_t consumed = __atomic_load_n(ring_.consumed, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(ring_.at(produced), __ATOMIC_RELAXED) != 0 || consumed == produced + 1)
			cq_.produced.store(produced + 1, std::memory_order_relaxed);
		return true;
	}

	/** Lock held: an entry, or in the last slot an overrun mark for it. @due: gets whether an interrupt is due */
	CqResult put(uint64_t entry, bool &due) noexcept
	{
		const uint64_t produced = cq_.produced.load(std::memory_order_relaxed);
		const uint64_t used = ring_.used(produced);
		const bool room = used < ring_.slots - 1;

		if (!room) {
			entry = OVERRUN_MARK;
			count_lost(1);
		}
		if (used < ring_.slots) {
			store(produced, entry);
			if (room)
				bump(cq_.events);
		}
		due = reached(ctl_, used + 1);
		return room ? CqResult::POSTED : CqResult::OVERRUN;
	}

	/** Lock held: one mark for all that is owed. Who dies on the way leaves it owed. */
	[[gnu::cold]] void settle_owed() noexcept
	{
		const uint64_t produced = cq_.produced.load(std::memory_order_relaxed);
		const uint32_t owed = uint32_t(cq_.life.load());

		if (!owed)
			return;
		if (ring_.used(produced) < ring_.slots)
			store(produced, OVERRUN_MARK);
		count_lost(owed);
		cq_.life.fetch_sub(owed);
	}

	/** Whether the owner, who was armed, is to be told. The lock is not needed: the entries tell. */
	bool due() const noexcept
	{
		const uint64_t delay = std::clamp<uint64_t>(field(ctl_, ARIES_CQ_CTL_DELAY_MASK), 1, ring_.slots);

		return __atomic_load_n(ring_.at(__atomic_load_n(ring_.consumed, __ATOMIC_ACQUIRE) + delay - 1),
				       __ATOMIC_SEQ_CST) != 0;
	}

	/**
	 * Takes the arming @armed back for an interrupt. The marks come first: who stops between the two leaves an
	 * interrupt: a poster that stops before them leaves the queue armed, which the owner's sweep() sees.
	 */
	void mark(uint32_t armed) noexcept
	{
		NodeSlot &node = core_.segment.node(node_);

		node.cqi_pending[index_ / 64].fetch_or(uint64_t(1) << (index_ % 64));
		node.irq_vectors.fetch_or(vector());
		cq_.armed.compare_exchange_strong(armed, 0);
	}

	/** After mark(), without the lock. */
	void tell() const noexcept
	{
		if (node_ != core_.node)
			core_.wake.raise(node_, vector());
	}

private:
	static constexpr uint64_t OVERRUN_MARK = ARIES_CQE_OVERRUN | prep(ARIES_CQE_SOURCE_MASK, ARIES_SRC_CQ);

	[[gnu::cold, gnu::noinline]] bool mend() noexcept
	{
		return ecc_look(core_, node_, ARIES_RAS_CQ, index_, cq_.ctl, CQ_ECC, ctl_) == ARIES_ST_OK &&
		       (ctl_ & ARIES_CQ_CTL_VALID_MASK);
	}

	uint32_t vector() const noexcept
	{
		return uint32_t(1) << field(ctl_, ARIES_CQ_CTL_VECTOR_MASK) % ARIES_MSIX_VECTORS;
	}
	void store(uint64_t produced, uint64_t entry) noexcept
	{
		__atomic_store_n(ring_.at(produced), entry, __ATOMIC_RELEASE);
		cq_.produced.store(produced + 1, std::memory_order_relaxed);
	}
	void count_lost(uint64_t events) noexcept
	{
		bump(cq_.dropped, events);
		bump(cq_.lost, events);
	}

	Core &core_;
	const uint32_t node_, index_;
	const RamMap *const ram_;
	CqSlot &cq_;
	uint64_t ctl_ = 0;
	Ring ring_ = {};
};

} // namespace

bool cq_owe(NodeSlot &slot, uint32_t index, uint32_t serial) noexcept
{
	std::atomic<uint64_t> &word = slot.cq[index % ARIES_CQ_ENTRIES].life;
	uint64_t life = word.load();

	while (life >> 32 == serial) {
		/* As many as it can count, but not into the serial. */
		if (uint32_t(life) == UINT32_MAX || word.compare_exchange_weak(life, life + 1))
			return true;
	}
	return false;
}

CqResult cq_post(Core &core, uint32_t node, const RamMap *ram, uint32_t index, uint64_t entry, uint32_t serial) noexcept
{
	Queue queue(core, node, ram, index);
	Guard lock(core.members, queue);
	CqSlot &cq = queue.slot();
	bool due = false;

	if (!lock.held()) [[unlikely]]
		return cq_owe(core.segment.node(node), index, serial) ? CqResult::OVERRUN : CqResult::GONE;
	const uint64_t life = cq.life.load(std::memory_order_relaxed);

	const bool open = queue.open();

	if (!open && queue.damaged()) [[unlikely]]
		return cq_owe(core.segment.node(node), index, serial) ? CqResult::OVERRUN : CqResult::GONE;
	if (!open || life >> 32 != serial ||
	    !(core.segment.node(node).online.load(std::memory_order_relaxed) & ONLINE_MASTER)) [[unlikely]]
		return CqResult::GONE;
	if (uint32_t(life)) [[unlikely]]
		queue.settle_owed();
	const CqResult result = queue.put(entry, due);
	const uint32_t armed = due ? cq.armed.load(std::memory_order_relaxed) : 0;

	if (armed)
		queue.mark(armed);
	lock.unlock();
	if (armed)
		queue.tell();
	return result;
}

CqFound cq_find(Core &core, uint32_t node, const RamMap *ram, uint32_t index, uint64_t since, uint64_t entry,
		uint64_t &produced) noexcept
{
	Queue queue(core, node, ram, index);
	const Guard lock(core.members, queue);

	produced = queue.slot().produced.load(std::memory_order_relaxed);
	if (!entry || produced == since)
		return CqFound::NO;
	if (!lock.held() || !queue.open() || produced - since >= queue.ring().slots)
		return CqFound::UNKNOWN;
	bool all = true;

	for (uint64_t at = since; at != produced; at++) {
		const uint64_t word = __atomic_load_n(queue.ring().at(at), __ATOMIC_ACQUIRE);

		if (word == entry)
			return CqFound::YES;
		all = all && word;
	}
	return all ? CqFound::NO : CqFound::UNKNOWN;
}

bool CqTable::configure(uint32_t index, uint64_t base, uint64_t ctl) noexcept
{
	CqSlot &cq = core_.own().cq[index];

	if (ctl & ARIES_CQ_CTL_VALID_MASK)
		return start(index, base, ctl);
	const bool was_valid = ecc_shown(cq.ctl.load(std::memory_order_relaxed), CQ_ECC) & ARIES_CQ_CTL_VALID_MASK;

	stop(cq, ctl);
	if (was_valid)
		leaving_.leave(index, drain_.begin());
	return true;
}

bool CqTable::start(uint32_t index, uint64_t base, uint64_t ctl) noexcept
{
	CqSlot &cq = core_.own().cq[index];
	const uint64_t log2 = field(ctl, ARIES_CQ_CTL_LOG2_MASK);
	const RamMap *ram = core_.maps.own();

	if (log2 < ARIES_CQ_LOG2_MIN || log2 > ARIES_CQ_LOG2_MAX ||
	    field(ctl, ARIES_CQ_CTL_VECTOR_MASK) >= ARIES_MSIX_VECTORS || !ram || !ram->span(base, ring_bytes(ctl)) ||
	    (ecc_shown(cq.ctl.load(std::memory_order_relaxed), CQ_ECC) & ARIES_CQ_CTL_VALID_MASK) ||
	    !leaving_.gone(index, drain_))
		return false;
	Queue queue(core_, core_.node, nullptr, index);
	const Guard lock(core_.members, queue);

	if (!lock.held())
		return false;
	cq.armed.store(0);
	cq.base.store(base, std::memory_order_relaxed);
	cq.produced.store(0, std::memory_order_relaxed);
	cq.dropped.store(0, std::memory_order_relaxed);
	/* Nothing is owed of what the queue of that number before has lost. */
	cq.life.store(((cq.life.load() >> 32) + 1) << 32);
	cq.ctl.store(ctl, std::memory_order_release);
	return true;
}

/*
 * Without the lock: a peer that is stopped may hold it. Whoever gets it after this store sees the queue stopped. A peer
 * that has it is in a visit, for which the drain waits; threads of ours run, and are waited for here.
 */
void CqTable::stop(CqSlot &cq, uint64_t ctl) noexcept
{
	cq.ctl.store(ctl, std::memory_order_seq_cst);
	cq.armed.store(0);
	wait_for_own_threads(cq);
}

void CqTable::wait_for_own_threads(const CqSlot &cq) const noexcept
{
	while (core_.members.is_own(cq.lock.load(std::memory_order_seq_cst)))
		sched_yield();
}

void CqTable::wait_for_own_threads() const noexcept
{
	for (const CqSlot &cq : core_.own().cq)
		wait_for_own_threads(cq);
}

/*
 * With the lock, a poster at the same time has seen the queue armed, or we see its entry. Without it, because its
 * holder is stopped, the next sweep does.
 */
void CqTable::arm(uint32_t index) noexcept
{
	Queue queue(core_, core_.node, nullptr, index);
	const Guard lock(core_.members, queue, Patience::BRIEF);

	if (!queue.open() || !(queue.ctl() & ARIES_CQ_CTL_IRQ_MASK))
		return;
	if (!++arms_)
		arms_ = 1;
	queue.slot().armed.store(arms_);
	if (queue.due())
		queue.mark(arms_);
}

void CqTable::stop_all() noexcept
{
	for (CqSlot &cq : core_.own().cq) {
		if (cq.ctl.load(std::memory_order_relaxed))
			stop(cq, 0);
	}
}

void CqTable::bury() noexcept
{
	for (uint32_t i = 0; i < ARIES_CQ_ENTRIES; i++) {
		const uint32_t holder = core_.own().cq[i].lock.load(std::memory_order_relaxed);

		if (!holder || core_.members.holder_alive(holder)) [[likely]]
			continue;
		Queue queue(core_, core_.node, nullptr, i);
		const Guard lock(core_.members, queue, Patience::NONE);
	}
}

void CqTable::sweep() noexcept
{
	for (uint32_t i = 0; i < ARIES_CQ_ENTRIES; i++) {
		CqSlot &cq = core_.own().cq[i];
		const uint32_t armed = cq.armed.load(std::memory_order_relaxed);

		if (!armed && !uint32_t(cq.life.load(std::memory_order_relaxed))) [[likely]]
			continue;
		/* Whoever needs it finds that. */
		if (ecc_lost(cq.ctl.load(std::memory_order_relaxed), CQ_ECC)) [[unlikely]]
			continue;
		Queue queue(core_, core_.node, nullptr, i);
		const Guard lock(core_.members, queue, Patience::NONE);

		if (!queue.open() || !(core_.own().online.load() & ONLINE_MASTER))
			continue;
		if (lock.held())
			queue.settle_owed();
		if (armed && queue.due())
			queue.mark(armed);
	}
}

void CqTable::clear() noexcept
{
	for (CqSlot &cq : core_.own().cq) {
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
