/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/ce.hpp"

#include <algorithm>

#include "fabric/flight.hpp"
#include "link/timing.hpp"
#include "nic/engines/ce_carried.hpp"
#include "nic/engines/ce_math.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

namespace
{

constexpr uint32_t PACKET_FLITS = request_flits(PacketKind::Amo, 16);

uint32_t bit(uint32_t index)
{
	return uint32_t(1) << index;
}

/* GNI_DLVMODE_* of CE_CTL.ROUTE. */
uint16_t route_of(uint64_t ctl)
{
	constexpr uint16_t ROUTES[] = {0x00, 0x08, 0x10, 0x03};

	return ROUTES[field(ctl, ARIES_CE_CTL_ROUTE_MASK)];
}

/* Modelled way of one packet between engines and endpoints; 0: there is none. */
uint64_t travel(Core &core, uint32_t from, uint32_t to, uint16_t dlvr_mode, uint64_t hash, uint64_t depart)
{
	if (from == to)
		return depart;
	const auto transit = core.network.book(
		{from, to, PacketClass::Request, dlvr_mode, PACKET_FLITS, thread_lane(), hash}, depart, depart);

	return transit.reachable ? transit.arrive_ns : 0;
}

/* Contributions that are not for the same operation, or one of them an error. */
uint8_t agreement(const CeContribution &first, const CeContribution &other)
{
	if (other.status != ARIES_ST_OK)
		return other.status;
	return other.command == first.command && other.ce_mode == first.ce_mode && other.red_id == first.red_id
		       ? uint8_t(ARIES_ST_OK)
		       : uint8_t(ARIES_ST_CE_MISMATCH);
}

/* A source sends one packet after the other, so an older serial can only be a copy that comes late (N19). */
bool repeated(const CeContribution &last, const CeContribution &what)
{
	return last.serial && last.source == what.source && what.serial <= last.serial;
}

} // namespace

uint64_t Ce::token(CePlace at) noexcept
{
	return ARIES_CER_PENDING | at.engine << 4 | uint64_t(at.node) << 8 | (slot(at).tokens.fetch_add(1) + 1) << 26;
}

uint64_t Ce::arm(CePlace at, const CeSender &sender) noexcept
{
	if (!sender.control)
		return 0;
	const uint64_t word = token(at);

	__atomic_store_n(sender.control, word, __ATOMIC_RELEASE);
	return word;
}

uint8_t Ce::contribute(CePlace at, uint32_t index, const CeSender &sender, const CeContribution &what,
		       Step &step) noexcept
{
	CeSlot &ce = slot(at);
	const CeLock lock(core_, at);
	/* Its owner may disable it at any time, without the lock. */
	const uint32_t serial = ce.serial.load();
	const uint64_t ctl = ce.ctl.load();

	if (!lock.held())
		return ARIES_ST_TIMEOUT;
	if (!(ctl & ARIES_CE_CTL_ENABLE_MASK))
		return ARIES_ST_DISABLED;
	const uint32_t ptag = uint32_t(field(ctl, ARIES_CE_CTL_PTAG_MASK));
	std::atomic<uint64_t> &entry = core_.segment.node(at.node).ptag_key[ptag];
	const uint64_t key = ecc_read(core_, at.node, ARIES_RAS_PTAG, ptag, entry, PTAG_ECC);

	if (ecc_lost(key, PTAG_ECC))
		return ARIES_ST_ECC;
	if (!(key & ARIES_PTAG_KEY_VALID_MASK) || field(key, ARIES_PTAG_KEY_KEY_MASK) != sender.key)
		return ARIES_ST_PTAG;
	const uint64_t child = ce.child[index % ARIES_CE_CHILDREN].load();
	const CePlace place = ce_child_place(child);
	const bool is_engine = ce_child_is_engine(child);

	if (index >= field(ctl, ARIES_CE_CTL_CHILDREN_MASK) || field(child, ARIES_CE_CHILD_KIND_MASK) != sender.kind ||
	    place.node != sender.from.node || (is_engine && place.engine != sender.from.engine))
		return ARIES_ST_CE_CHILD;
	/* An engine without an edge to this one is of another tree, that was here before or will be. */
	if (ce_broken(ce) || (is_engine && ce.child_edge[index].load() != sender.serial))
		return ARIES_ST_TIMEOUT;
	if (what.level >= CE_LEVELS)
		return ARIES_ST_BAD_OP;
	if (repeated(ce.given[index], what)) {
		count_duplicate(at);
		return ARIES_ST_OK;
	}
	if ((ce.arrived.load() | ce.owed.load()) & bit(index))
		return ARIES_ST_CE_BUSY;
	ce.given[index] = what;
	ce.given[index].node = sender.from.node;
	if (!what.carried)
		ce.given[index].token = arm(at, sender);
	step.stored = true;
	if ((ce.arrived.fetch_or(bit(index)) | bit(index)) == ce_all_children(ctl))
		complete(at, ce, serial, ctl, step);
	return ARIES_ST_OK;
}

/* All children have contributed; the lock is held. In the order of the children, whoever came first. */
void Ce::complete(CePlace at, CeSlot &ce, uint32_t serial, uint64_t ctl, Step &step) noexcept
{
	const size_t count = field(ctl, ARIES_CE_CTL_CHILDREN_MASK);
	CeContribution sum = ce.given[0];
	CeValue values[ARIES_CE_CHILDREN], all = {};
	CeCommand command;

	for (size_t i = 0; i < count; i++) {
		const CeContribution &given = ce.given[i];

		values[i] = {{given.operand[0], given.operand[1]}, given.fpe};
		if (sum.status == ARIES_ST_OK)
			sum.status = agreement(ce.given[0], given);
		sum.level = std::max(sum.level, given.level);
		sum.arrive_ns = std::max(sum.arrive_ns, given.arrive_ns);
	}
	if (!command.decode(sum.command))
		sum.status = ARIES_ST_BAD_OP;
	if (ce.ecc_hit.load(std::memory_order_relaxed)) [[unlikely]]
		mend(at, ce, sum.status);
	if (sum.status == ARIES_ST_OK)
		all = ce_reduce(command, sum.ce_mode & ARIES_CEMODE_TWO_OP,
				unsigned(field(ctl, ARIES_CE_CTL_ROUND_MASK)), values, count);
	sum.arrive_ns += NIC_PIPELINE_NS;
	step.parent = ce.parent.load();
	if (!(step.parent & ARIES_CE_PARENT_VALID_MASK)) {
		settle(at, ce, {{all.operand[0], all.operand[1]}, sum.arrive_ns, sum.red_id, sum.status, all.fpe},
		       step);
		return;
	}
	ce.mover.store(core_.members.lock_word());
	ce.sent.store(1);
	sum.operand[0] = all.operand[0];
	sum.operand[1] = all.operand[1];
	sum.fpe = all.fpe;
	sum.dlvr_mode = route_of(ctl);
	sum.carried = 0;
	sum.token = 0;
	sum.source = uint16_t(CE_SOURCE_ENGINE | at.engine);
	sum.serial = ce.sequence + 1;
	ce.sent_serial = sum.serial;
	sum.level++;
	step.kind = Step::UP;
	step.at = at;
	step.key = sum.key;
	step.serial = serial;
	step.partial = sum;
}

/*
 * Wrong bits in the parts of children, which are read here and written with the next contributions; the lock is held.
 * With two of them the operation ends with an error for all.
 */
void Ce::mend(CePlace at, CeSlot &ce, uint8_t &status) noexcept
{
	const uint32_t twice = ce.ecc_twice.exchange(0);

	for (uint32_t hit = ce.ecc_hit.exchange(0); hit; hit &= hit - 1) {
		const uint32_t child = uint32_t(std::countr_zero(hit));
		const bool lost = twice >> child & 1;

		ecc_found(core_, at.node, ARIES_RAS_CE, at.engine * ARIES_CE_CHILDREN + child, lost);
		if (lost)
			status = ARIES_ST_ECC;
	}
}

/* The outcome is known here; the lock is held. What has arrived is owed from now on. */
void Ce::settle(CePlace at, CeSlot &ce, const CeOutcome &outcome, Step &step) noexcept
{
	ce.outcome = outcome;
	ce.sequence++;
	ce.mover.store(core_.members.lock_word());
	ce.owed.store(ce.arrived.load());
	ce.arrived.store(0);
	ce.sent.store(0);
	step.kind = Step::DOWN;
	step.at = at;
	step.sequence = ce.sequence;
	step.outcome = outcome;
}

/* Up as long as this thread's contribution is the last one, then down if it was so at the root. */
void Ce::drive(Step &step) noexcept
{
	while (step.kind == Step::UP) {
		const CePlace at = step.at;
		Step next;
		const uint8_t status = climb(step);

		if (status == ARIES_ST_OK) {
			const CePlace parent = ce_parent_place(step.parent);
			const uint32_t index = uint32_t(field(step.parent, ARIES_CE_PARENT_INDEX_MASK));
			const CeSender sender = {CE_CHILD_ENGINE, at, step.key, nullptr, step.serial};
			const uint8_t taken =
				lives_elsewhere(core_, parent.node)
					? beyond_->carry(ce_carried(core_, parent, index, sender, step.partial))
					: give(parent, index, sender, step.partial, next);

			if (taken != ARIES_ST_OK)
				fail(at, step.serial, taken, next);
		} else {
			fail(at, step.serial, status, next);
		}
		step = next;
	}
	if (step.kind == Step::DOWN)
		scatter(step);
	step.kind = Step::NONE;
}

/* The packet from an engine to its parent. */
uint8_t Ce::climb(Step &step) noexcept
{
	const CePlace parent = ce_parent_place(step.parent);
	const uint8_t status = reachable(core_, parent.node, now_ns());

	if (status != ARIES_ST_OK)
		return status;
	step.partial.arrive_ns =
		travel(core_, step.at.node, parent.node, step.partial.dlvr_mode, parent.engine, step.partial.arrive_ns);
	return step.partial.arrive_ns ? ARIES_ST_OK : ARIES_ST_NO_NODE;
}

/* A tree that has lost a member or a packet is of no more use: the others learn it from broken, which no lock keeps. */
void Ce::fail(CePlace at, uint32_t serial, uint8_t status, Step &step) noexcept
{
	CeEdges::mark(slot(at), serial);
	(void)end_pending(at, serial, status, Patience::LONG, step);
}

/* What waits in configuration @serial; nothing if it is gone. False: the lock is not to be had. */
bool Ce::end_pending(CePlace at, uint32_t serial, uint8_t status, Patience patience, Step &step) noexcept
{
	CeSlot &ce = slot(at);
	const CeLock lock(core_, at, patience);

	if (!lock.held())
		return false;
	if (ce.serial.load() != serial || ce.owed.load() || !ce.arrived.load())
		return true;
	const uint32_t red_id = ce.given[std::countr_zero(ce.arrived.load())].red_id;

	settle(at, ce, {{0, 0}, core_.at(now_ns()), red_id, status, 0}, step);
	return true;
}

/* Depth first, with a stack of the engines between root and endpoint. */
void Ce::scatter(const Step &root) noexcept
{
	struct {
		CePlace at;
		uint64_t sequence;
		CeOutcome outcome;
	} stack[CE_LEVELS + 1];
	size_t depth = 1;

	if (core_.faults.any()) [[unlikely]]
		late_down();
	stack[0] = {root.at, root.sequence, root.outcome};
	while (depth) {
		const CePlace at = stack[depth - 1].at;
		Step step;

		const Delivery delivery = next_delivery(at, stack[depth - 1].sequence);

		if (delivery.kind == Delivery::NONE) {
			depth--;
		} else if (delivery.kind == Delivery::OWN_EVENT) {
			engine_event(at, stack[depth - 1].outcome, delivery.again);
		} else if (delivery.given.carried) {
			send_down(at, delivery);
		} else if (CePlace child; !ce_given_by_engine(delivery.given, child)) {
			deliver(at, delivery);
		} else if (depth > CE_LEVELS) {
			edges_.mark(child);
		} else {
			hand_down(at, delivery, step);
			if (core_.faults.any() && core_.faults.take_duplicates(1)) [[unlikely]]
				copy_down(at, delivery);
			if (step.kind == Step::DOWN)
				stack[depth++] = {step.at, step.sequence, step.outcome};
		}
	}
}

/*
 * Takes one child off the list; after the last one comes the engine's own
 * event. Its bit goes first: with the result in hand it may contribute again.
 * Without the lock, whose holder is stopped, the rest is for whoever sees that
 * nobody is at it and gets the lock: a sweep.
 */
Ce::Delivery Ce::next_delivery(CePlace at, uint64_t sequence) noexcept
{
	CeSlot &ce = slot(at);
	const CeLock lock(core_, at);
	Delivery delivery = {};

	if (!lock.held()) {
		ce.mover.store(Membership::NOBODY);
		return delivery;
	}
	if (ce.sequence != sequence)
		return delivery;
	const uint32_t owed = ce.owed.load(), resumed = ce.resumed.exchange(0);

	if (!owed && ce.delivering.load() == CE_OWN_EVENT && resumed != CE_OWN_EVENT) {
		ce.delivering.store(0);
		return delivery;
	}
	const uint32_t index = owed ? uint32_t(std::countr_zero(owed)) : CE_OWN_EVENT - 1;

	delivery.kind = owed ? Delivery::CHILD : Delivery::OWN_EVENT;
	delivery.again = resumed == index + 1;
	if (!delivery.again)
		ce.posted.store(0);
	ce.delivering.store(index + 1);
	if (!owed)
		return delivery;
	delivery.sequence = sequence;
	delivery.index = index;
	delivery.dlvr_mode = route_of(ce.ctl.load());
	delivery.given = ce.given[index];
	delivery.outcome = ce.outcome;
	ce.owed.store(owed & ~bit(index));
	return delivery;
}

void Ce::hand_down(CePlace from, const Delivery &delivery, Step &step) noexcept
{
	CePlace at;

	if (!ce_given_by_engine(delivery.given, at))
		return;
	CeSlot &ce = slot(at);
	CeOutcome outcome = delivery.outcome;
	const uint64_t arrive = travel(core_, from.node, at.node, delivery.dlvr_mode, at.engine, outcome.at_ns);
	const CeLock lock(core_, at);

	if (!lock.held()) {
		edges_.mark(at);
		return;
	}
	if (!ce_enabled(ce) || !ce_parent_is(ce.parent.load(), from, delivery.index))
		return;
	/* The outcome of what we have given, not a copy of an earlier one. */
	if (!ce.sent.load() || delivery.given.serial != ce.sent_serial) {
		count_duplicate(at);
		return;
	}
	if (!arrive) /* the packet is lost: what the child's NIC reports then */
		outcome = {{0, 0}, core_.at(now_ns()), outcome.red_id, ARIES_ST_TIMEOUT, 0};
	else
		outcome.at_ns = arrive + NIC_PIPELINE_NS;
	settle(at, ce, outcome, step);
}

/* To another host; the gateway looks for what does not get there, and ends it. */
void Ce::send_down(CePlace from, const Delivery &delivery) noexcept
{
	const CeContribution &given = delivery.given;
	CeOutcome outcome = delivery.outcome;
	const uint64_t arrive = travel(core_, from.node, given.node, delivery.dlvr_mode, from.engine, outcome.at_ns);

	if (slot(from).sequence.load() != delivery.sequence)
		return;
	if (!arrive)
		outcome = {{0, 0}, core_.at(now_ns()), outcome.red_id, ARIES_ST_TIMEOUT, 0};
	else
		outcome.at_ns = arrive;
	(void)beyond_->carry(ce_carried(core_, given.node, given.token, outcome));
}

/* To the contributor's result block, then its events. */
void Ce::deliver(CePlace from, const Delivery &delivery) noexcept
{
	const uint32_t node = delivery.given.node;
	CeOutcome outcome = delivery.outcome;
	const uint64_t now = now_ns();
	const uint64_t arrive = travel(core_, from.node, node, delivery.dlvr_mode, delivery.given.mdh, outcome.at_ns);

	/* Somebody else has taken it over, because we did not run. */
	if (slot(from).sequence.load() != delivery.sequence || target_state(core_, node, now) != ARIES_ST_OK)
		return;
	if (!arrive)
		outcome = {{0, 0}, core_.at(now), outcome.red_id, ARIES_ST_TIMEOUT, 0};
	else if (node == core_.node && outcome.status == ARIES_ST_OK) {
		const uint64_t latency = arrive + RECEIVE_NS - delivery.given.start_ns;

		core_.shared_counters.add_shared(ARIES_CNT_LATENCY_NS, latency);
		core_.shared_counters.add_shared(ARIES_CNT_LATENCY_OPS);
		core_.shared_counters.set(ARIES_CNT_LATENCY_LAST_NS, latency);
	}
	const uint8_t stored = store_result(node, delivery, outcome);

	/* What the block holds then is not what was there when the contribution came. */
	if (core_.faults.any() && core_.faults.take_duplicates(1)) [[unlikely]]
		(void)store_result(node, delivery, outcome);
	if (stored != ARIES_ST_OK) {
		const CeContribution &given = delivery.given;

		core_.errors.report(node, {stored, 0, from.node, given.mdh, given.offset, sizeof(aries_ce_result), 0,
					   ARIES_FMA_CE});
	}
	endpoint_events(from, delivery, stored != ARIES_ST_OK ? stored : outcome.status);
}

/* Result words first, control last, each in one piece. Checked as any write of a peer: much time has passed. */
uint8_t Ce::store_result(uint32_t node, const Delivery &delivery, const CeOutcome &outcome) noexcept
{
	const CeContribution &given = delivery.given;
	const uint64_t control = ARIES_CER_DONE | prep(ARIES_CER_STATUS_MASK, outcome.status) |
				 prep(ARIES_CER_FPE_MASK, outcome.fpe) | prep(ARIES_CER_RED_ID_MASK, outcome.red_id);
	const uint64_t words[3] = {outcome.result[0], outcome.result[1], control};
	const uint64_t places[3] = {8, 16, 0};
	uint64_t *host[3];
	Visit target(core_, node);
	uint8_t status = target.admit({node, given.mdh, given.key, given.offset, sizeof(aries_ce_result), true, false});

	for (size_t i = 0; i < 3 && status == ARIES_ST_OK; i++) {
		RunList<1> run;

		status = target.runs((given.offset + places[i]) & OFFSET_MASK, 8, true, run);
		if (status == ARIES_ST_OK && (reinterpret_cast<uintptr_t>(run.run[0].host) & 7))
			status = ARIES_ST_ALIGN;
		host[i] = status == ARIES_ST_OK ? reinterpret_cast<uint64_t *>(run.run[0].host) : nullptr;
	}
	if (status != ARIES_ST_OK) {
		target.count_refused();
		return status;
	}
	/* Whoever else was at it has stored it, and the block may be in use for something else by now. */
	if (given.token && __atomic_load_n(host[2], __ATOMIC_ACQUIRE) != given.token) {
		target.count_duplicate();
		return target.settled();
	}
	target.count_requests(1);
	for (size_t i = 0; i < 3; i++) {
		__atomic_store_n(host[i], words[i], __ATOMIC_RELEASE);
		if (core_.faults.any()) [[unlikely]]
			core_.faults.carrier_step();
	}
	return target.settled();
}

/*
 * The @nth event of what is being delivered. After the death of a member at it
 * the queue is searched for an event that it may have posted. If that may have
 * been read already, there is a mark: rather that than two, or none.
 */
void Ce::post_once(CePlace from, uint32_t nth, bool again, uint32_t node, uint32_t cq, uint64_t entry,
		   uint32_t serial) noexcept
{
	CeSlot &ce = slot(from);
	const FlightGuard guard(core_.segment, node, core_.node);
	const RamMap *ram = core_.maps.of(node);
	const uint32_t posted = ce.posted.load();
	const bool perhaps = again && posted == 2 * nth + 1;
	uint64_t produced;
	const CqFound found = cq_find(core_, node, ram, cq, ce.posting_at.load(), perhaps ? entry : 0, produced);

	if (perhaps && found == CqFound::UNKNOWN)
		cq_owe(core_.segment.node(node), cq, serial);
	if ((again && posted >= 2 * nth + 2) || (perhaps && found != CqFound::NO))
		return;
	ce.posting_at.store(produced);
	ce.posted.store(2 * nth + 1);
	cq_post(core_, node, ram, cq, entry, serial);
	if (core_.maps.lost(node, ram)) [[unlikely]]
		cq_owe(core_.segment.node(node), cq, serial);
	if (core_.faults.any()) [[unlikely]]
		core_.faults.carrier_step();
	ce.posted.store(2 * nth + 2);
}

/* The local event. */
CqEntry Ce::endpoint_entry(const CeContribution &given, uint8_t status) noexcept
{
	return {.data = given.local_event,
		.tid = given.tid,
		.status = status,
		.info = ARIES_INFO_LOCAL,
		.source = ARIES_SRC_CE,
		.type = uint8_t(field(given.events, ARIES_EV_TYPE_MASK)),
		.remote_overrun = false};
}

void Ce::endpoint_events(CePlace from, const Delivery &delivery, uint8_t status) noexcept
{
	const CeContribution &given = delivery.given;
	const uint32_t node = delivery.given.node;
	CqEntry entry = endpoint_entry(given, status);

	if (!given.cq_serial)
		return;
	if (given.events & ARIES_EV_LOCAL)
		post_once(from, 0, delivery.again, node, given.cq, entry.word(), given.cq_serial);
	if (given.events & ARIES_EV_GLOBAL) {
		entry.info = ARIES_INFO_GLOBAL;
		post_once(from, 1, delivery.again, node, given.cq, entry.word(), given.cq_serial);
	}
}

/* The event of the engine itself, in the queue of its owner. */
void Ce::engine_event(CePlace at, const CeOutcome &outcome, bool again) noexcept
{
	CeSlot &ce = slot(at);
	const uint32_t configured = ce.serial.load(), serial = ce.cq_serial.load();
	const uint64_t ctl = ce.ctl.load();

	if (ce.serial.load() != configured) /* made anew meanwhile */
		return;
	if (!(ctl & ARIES_CE_CTL_CQ_VALID_MASK) ||
	    ((ctl & ARIES_CE_CTL_CQ_ONERR_MASK) && outcome.status == ARIES_ST_OK && !outcome.fpe))
		return;
	const CqEntry entry = {.data = outcome.red_id,
			       .tid = uint16_t(at.engine),
			       .status = outcome.status,
			       .info = ARIES_INFO_REMOTE,
			       .source = ARIES_SRC_CE,
			       .type = 0,
			       .remote_overrun = false};

	post_once(at, 0, again, at.node, uint32_t(field(ctl, ARIES_CE_CTL_CQ_MASK)), entry.word(), serial);
}

} // namespace aries
