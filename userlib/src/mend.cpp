// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Threads that post on one NIC handle at once, which they must not, may leave
 * wrong counts behind: of the room of a queue, of what names an endpoint, of
 * ids. Posts would be refused for ever, and endpoints never idle. So what
 * refuses looks from time to time whether the counts are right.
 */
#include "debug.hpp"
#include "objects.hpp"

namespace ugni
{

namespace
{

constexpr uint32_t kRefusals = 256;

void correct(uint32_t *value, uint32_t right, const char *what)
{
	if (*value == right)
		return;
	debug("a NIC handle was used by several threads at once: %s counted as %u, not %u", what, *value, right);
	*value = right;
}

struct Count {
	uint32_t events;
	uint32_t forced;
};

Count count_of(const gni_nic *nic, const gni_cq *cq)
{
	Count c{};

	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		const Request &r = nic->requests[static_cast<uint16_t>(id)];
		if (!r.state || r.cq != cq)
			continue;
		c.events += static_cast<uint32_t>(std::popcount(r.pending()));
		c.forced += r.forced() != 0;
	}
	return c;
}

uint32_t references_of(const gni_nic *nic, const gni_ep *ep)
{
	uint32_t n = ep->datagram ? 2 : 1;

	for (uint32_t id = 1; id < nic->requests.used(); id++) {
		const Request &r = nic->requests[static_cast<uint16_t>(id)];
		n += r.state && r.ep == ep;
	}
	return n;
}

uint32_t block_transfers(const gni_nic *nic)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < nic->requests.used(); id++)
		n += (nic->requests[static_cast<uint16_t>(id)].state & Request::kBte) != 0;
	return n;
}

} // namespace

void nic_mend(gni_nic *nic)
{
	const Locked lock(Subject::control, nic);

	if (!nics.valid(nic))
		return;
	for (gni_cq *cq = nic->queues.first(); cq; cq = cq->next) {
		const Count c = count_of(nic, cq);
		const auto slots = static_cast<uint32_t>(cq->mask);
		correct(&cq->room, slots > c.events ? slots - c.events : 0, "room of a queue");
		correct(&cq->attention, c.forced + (cq->handler ? 1 : 0), "failed posts");
	}
	correct(&nic->bte_in_flight, block_transfers(nic), "block transfers");
	nic->requests.mend();
}

void nic_refused(gni_nic *nic)
{
	if (++nic->refusals % kRefusals == 0)
		nic_mend(nic);
}

void ep_mend(gni_ep *ep)
{
	if (++ep->nic->refusals % kRefusals)
		return;
	const Locked lock(Subject::control, ep->nic);
	if (endpoints.valid(ep))
		correct(&ep->references, references_of(ep->nic, ep), "users of an endpoint");
}

} // namespace ugni
