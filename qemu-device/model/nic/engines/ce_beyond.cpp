/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives over several hosts: responses from other hosts. */
#include "link/timing.hpp"
#include "nic/engines/ce_carried.hpp"

namespace aries
{

namespace
{

constexpr unsigned int ROOM_TRIES = 20;
constexpr std::chrono::milliseconds ROOM_WAIT{50};

} // namespace

/* The gateway takes care of it: the response only says that it has arrived. */
uint8_t CeByArea::carry(const CarriedRequest &request) noexcept
try {
	for (unsigned int i = 0;; i++) {
		const uint8_t status =
			carry_.send(request, 0, {}, 0, [](const CarriedResponse &, std::span<const uint8_t>) {});

		if (status != ARIES_ST_QUEUE_FULL || i == ROOM_TRIES)
			return status;
		carry_.wait_for_room(ROOM_WAIT);
	}
} catch (const std::bad_alloc &) {
	return ARIES_ST_QUEUE_FULL;
}

/* As Ce::deliver(), but done by the initiator, which has the only copy of the response. */
void Ce::bring_home(CePlace at, const CeContribution &given, const CeOutcome &outcome) noexcept
{
	if (outcome.status == ARIES_ST_OK && outcome.at_ns + RECEIVE_NS > given.start_ns) {
		const uint64_t latency = outcome.at_ns + RECEIVE_NS - given.start_ns;

		core_.shared_counters.add_shared(ARIES_CNT_LATENCY_NS, latency);
		core_.shared_counters.add_shared(ARIES_CNT_LATENCY_OPS);
		core_.shared_counters.set(ARIES_CNT_LATENCY_LAST_NS, latency);
	}
	Delivery delivery = {};

	delivery.given = given;
	const uint8_t stored = store_result(core_.node, delivery, outcome);

	if (stored != ARIES_ST_OK)
		core_.errors.report(core_.node, {stored, 0, at.node, given.mdh, given.offset, sizeof(aries_ce_result),
						 0, ARIES_FMA_CE});
	if (given.cq_serial)
		cq_tell(core_, given.cq, given.events,
			endpoint_entry(given, stored != ARIES_ST_OK ? stored : outcome.status), given.cq_serial);
}

void Ce::came_down(CePlace at, uint32_t serial, uint64_t sent, CeOutcome outcome) noexcept
{
	Step step;
	{
		CeSlot &ce = slot(at);
		const CeLock lock(core_, at);

		outcome.at_ns += NIC_PIPELINE_NS;
		if (!lock.held())
			CeEdges::mark(ce, serial);
		else if (ce_enabled(ce) && ce.serial.load() == serial && ce.sent.load() && ce.sent_serial == sent)
			settle(at, ce, outcome, step);
	}
	drive(step);
}

void Ce::give_up(CePlace at, uint32_t serial, uint8_t status) noexcept
{
	Step step;

	fail(at, serial, status, step);
	drive(step);
}

bool Ce::owes(CePlace at, uint32_t index, uint64_t handle) noexcept
{
	CeSlot &ce = slot(at);
	const CeLock lock(core_, at, Patience::NONE);

	if (!lock.held())
		return true;
	const CeContribution &given = ce.given[index];

	return given.carried && given.token == handle &&
	       ((ce.arrived.load() | ce.owed.load()) >> index & 1 || ce.delivering.load() == index + 1);
}

} // namespace aries
