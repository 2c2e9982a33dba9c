/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collective engines: trees of reductions that need no processor on the way (N21 to N24). */
#ifndef ARIES_NIC_CE_HPP
#define ARIES_NIC_CE_HPP

#include <mutex>
#include <utility>
#include <vector>

#include "fabric/flight.hpp"
#include "fabric/seglock.hpp"
#include "nic/engines/ce_losses.hpp"

namespace aries
{

/** The lock of an engine, in a visit to its node: who drains that waits for holders. */
class CeLock
{
public:
	CeLock(Core &core, CePlace at, Patience patience = Patience::LONG) noexcept
		: guard_(core.segment, at.node, core.node),
		  block_(core.segment.node(at.node).ce[at.engine % ARIES_CE_CHANNELS]),
		  lock_(core.members, block_, patience)
	{
	}

	bool held() const noexcept { return lock_.held(); }

private:
	FlightGuard guard_;
	CeBlock block_;
	Guard<CeBlock> lock_;
};

class CeBeyond;

/** Who contributes, as the target's NIC knows it from the packet. */
struct CeSender {
	CeChildKind kind;
	CePlace from; /* engine 0 of an endpoint */
	uint32_t key;
	uint64_t *control = nullptr; /* of an endpoint's result block */
	uint32_t serial = 0;         /* of an engine's configuration that the partial result was made in */
};

/**
 * Moves operations on, of engines on any node. Whoever makes the last
 * contribution of a subtree carries its result to the parent's engine; at the
 * root the same thread brings the outcome down to all endpoints. So nothing
 * waits for the processors of the nodes between. No lock is held on the way.
 */
class Ce
{
public:
	explicit Ce(Core &core) noexcept : core_(core), edges_(core), losses_(core, edges_) {}

	/** What takes packets to other hosts; before anything is sent there. */
	void set_beyond(CeBeyond &beyond) noexcept { beyond_ = &beyond; }

	/** What the thread that completes a subtree has to do next. */
	struct Step {
		enum Kind { NONE, UP, DOWN } kind = NONE;
		bool stored = false; /* the contribution was no copy of an earlier one */
		CePlace at = {};
		uint64_t sequence = 0;       /* DOWN */
		CeOutcome outcome = {};      /* DOWN */
		uint64_t parent = 0;         /* UP: CE_PARENT */
		uint32_t key = 0;            /* UP */
		uint32_t serial = 0;         /* UP: configuration of the engine */
		CeContribution partial = {}; /* UP */
	};

	/**
	 * Contributes to engine @at as its child @index. The control word of an endpoint's block gets a word of ours,
	 * which the result replaces.
	 * @step: what is to be done then, by drive(); the result block need not be held in place any more
	 * Return: ARIES_ST_OK (the outcome comes to the contributor's result block), ARIES_ST_DISABLED (no such tree),
	 * ARIES_ST_PTAG, ARIES_ST_CE_CHILD, ARIES_ST_CE_BUSY, ARIES_ST_TIMEOUT (member lost)
	 */
	uint8_t contribute(CePlace at, uint32_t index, const CeSender &sender, const CeContribution &what,
			   Step &step) noexcept;
	/** As contribute(), under the faults that are injected: the packet may come twice. */
	uint8_t give(CePlace at, uint32_t index, const CeSender &sender, const CeContribution &what,
		     Step &step) noexcept;
	/** Moves the operation on; runs to completion. */
	void drive(Step &step) noexcept;

	/** A word that no other contribution to @at from this host has; bit 0, DONE, is clear. */
	uint64_t token(CePlace at) noexcept;
	/** The outcome of our endpoint's contribution @given to engine @at of another host. */
	void bring_home(CePlace at, const CeContribution &given, const CeOutcome &outcome) noexcept;
	/** The same of partial result @sent of engine @at, which it has made in configuration @serial. */
	void came_down(CePlace at, uint32_t serial, uint64_t sent, CeOutcome outcome) noexcept;
	/** It has none: what waits in that configuration ends with @status, and its tree is of no more use. */
	void give_up(CePlace at, uint32_t serial, uint8_t status) noexcept;
	/** Whether the outcome of a contribution from another host is still to come. */
	bool owes(CePlace at, uint32_t index, uint64_t handle) noexcept;

	/** Finds members that are lost, in all trees, and ends what waits for them with an error. Call it regularly. */
	void sweep(uint64_t now) noexcept;
	/**
	 * Ends what is pending in our engine with @status. False: a member that does not run has the lock, and
	 * something may be pending still.
	 */
	bool abandon(uint32_t engine, uint8_t status, Patience patience) noexcept;

private:
	struct Delivery {
		enum Kind { NONE, CHILD, OWN_EVENT } kind = NONE;
		bool again = false; /* another member was at this one, and has gone or does not run */
		uint64_t sequence;
		uint32_t index;
		uint16_t dlvr_mode; /* of the packet that carries it */
		CeContribution given;
		CeOutcome outcome;
	};

	CeSlot &slot(CePlace at) const noexcept
	{
		return core_.segment.node(at.node).ce[at.engine % ARIES_CE_CHANNELS];
	}
	void complete(CePlace at, CeSlot &ce, uint32_t serial, uint64_t ctl, Step &step) noexcept;
	[[gnu::cold]] void mend(CePlace at, CeSlot &ce, uint8_t &status) noexcept;
	void settle(CePlace at, CeSlot &ce, const CeOutcome &outcome, Step &step) noexcept;
	uint8_t climb(Step &step) noexcept;
	void scatter(const Step &root) noexcept;
	Delivery next_delivery(CePlace at, uint64_t sequence) noexcept;
	void hand_down(CePlace from, const Delivery &delivery, Step &step) noexcept;
	[[gnu::cold]] void send_down(CePlace from, const Delivery &delivery) noexcept;
	bool keep_late(CePlace from, const Delivery &delivery) noexcept;
	void copy_down(CePlace from, const Delivery &delivery) noexcept;
	void late_down() noexcept;
	void deliver(CePlace from, const Delivery &delivery) noexcept;
	uint8_t store_result(uint32_t node, const Delivery &delivery, const CeOutcome &outcome) noexcept;
	uint64_t arm(CePlace at, const CeSender &sender) noexcept;
	static CqEntry endpoint_entry(const CeContribution &given, uint8_t status) noexcept;
	void endpoint_events(CePlace from, const Delivery &delivery, uint8_t status) noexcept;
	void engine_event(CePlace at, const CeOutcome &outcome, bool again) noexcept;
	void post_once(CePlace from, uint32_t nth, bool again, uint32_t node, uint32_t cq, uint64_t entry,
		       uint32_t serial) noexcept;
	void count_duplicate(CePlace at) noexcept;
	void fail(CePlace at, uint32_t serial, uint8_t status, Step &step) noexcept;
	bool end_pending(CePlace at, uint32_t serial, uint8_t status, Patience patience, Step &step) noexcept;
	void take_over(CePlace at, CeSlot &ce, Step &step) noexcept;
	void examine(CePlace at, uint64_t now) noexcept;

	Core &core_;
	CeEdges edges_;
	CeLosses losses_;
	CeBeyond *beyond_ = nullptr;
	std::mutex late_mutex_;                          /* protects late_ */
	std::vector<std::pair<CePlace, Delivery>> late_; /* outcomes that are to come twice */
};

/** The owner's registers. One caller at a time (the NIC's control mutex). */
class CeTable
{
public:
	CeTable(Core &core, Ce &ce, Drain &drain) noexcept : core_(core), edges_(core), ce_(ce), drain_(drain) {}

	/**
	 * CE_CTL; false, without effect, if the values make no sense together, or the last drain is not done.
	 * ENABLE = 0 abandons the operation and begins a drain.
	 */
	bool configure(uint32_t engine, uint64_t ctl) noexcept;
	/** CE_PARENT and CE_CHILD; false while the engine is enabled, or for what does not exist. */
	bool set_parent(uint32_t engine, uint64_t value) noexcept;
	bool set_child(uint32_t element, uint64_t value) noexcept;
	uint64_t read_parent(uint32_t engine) const noexcept { return core_.own().ce[engine].parent.load(); }
	uint64_t read_child(uint32_t element) const noexcept
	{
		return core_.own().ce[element / ARIES_CE_CHILDREN].child[element % ARIES_CE_CHILDREN].load();
	}
	uint64_t status(uint32_t engine) const noexcept;
	/** CE_INST. */
	void set_instance(uint32_t element, uint64_t value) noexcept;
	uint64_t read_instance(uint32_t element) const noexcept;
	/** All engines; what is pending ends with @status. */
	void reset(uint8_t status) noexcept;
	/**
	 * Nobody is left who saw an engine enabled that ends with this drain: nothing stays pending in it. False if it
	 * cannot be had yet.
	 */
	bool settle() noexcept;

private:
	bool enable(uint32_t engine, uint64_t ctl) noexcept;
	void disable(uint32_t engine, uint8_t status) noexcept;
	bool enabled(uint32_t engine) const noexcept
	{
		return core_.own().ce[engine].ctl.load() & ARIES_CE_CTL_ENABLE_MASK;
	}

	Core &core_;
	CeEdges edges_;
	Ce &ce_;
	Drain &drain_;
	Leaving<ARIES_CE_CHANNELS> leaving_;
};

} // namespace aries

#endif
