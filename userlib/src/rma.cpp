// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Operations of FMA without a descriptor of GNI. */
#include "rma.h"
#include "aries_regs.h"
#include "post.hpp"

#include <cstring>

using namespace ugni;

namespace
{

/* A NIC that takes so many looks to bring back what was asked for is gone. */
constexpr uint32_t kFetchLooks = 1U << 20;

aries_fma_desc *aim_at(const gni_nic *nic, const ugni_rma_place &place, const ugni_rma_own *own)
{
	aries_fma_desc *area = fma_area(nic);

	area->pe = place.pe;
	area->mdh = place.mdh;
	area->dlvr_mode = place.dlvr_mode;
	area->offset = place.offset;
	area->local_offset = own ? own->offset : 0;
	area->local_mdh = own ? own->mdh : uint16_t{0};
	area->cq = 0;
	area->reserved = 0;
	return area;
}

uint64_t later_mode(const gni_nic *nic)
{
	return nic->caps & ARIES_ID_CAPS_LATER_MASK ? ARIES_DB_LATER : 0;
}

void line_fill(const gni_nic *nic, const void *from, uint32_t bytes)
{
	char *line = nic->area + ARIES_DESC_LINE;

	if (bytes == 8)
		memcpy(line, from, 8);
	else if (bytes)
		memcpy(line, from, bytes);
}

/* While completions are held the status word does not change before what was asked for is there. */
uint32_t ring_and_fetch(const gni_nic *nic, uint64_t bytes, aries_fma_op op, uint64_t command)
{
	const uint32_t before = fma_status(nic)->sequence;

	if (!nic_there(nic))
		return RMA_GONE;
	fma_ring(nic, 0, bytes, op, 0, command);
	fma_settle(nic);
	for (uint32_t look = 0; fma_status(nic)->sequence == before; look++) {
		if (look == kFetchLooks)
			return ARIES_ST_TIMEOUT;
	}
	/* What was fetched is read after the status that says that it is there. */
	return __atomic_load_n(&fma_status(nic)->status, __ATOMIC_ACQUIRE);
}

} // namespace

UGNI_IN_ONE_PAGE(512)
uint32_t ugni_rma_put(gni_nic_handle_t nic, const ugni_rma_place *to, const void *from, uint32_t bytes)
{
	aim_at(nic, *to, nullptr);
	line_fill(nic, from, bytes);
	return fma_ring_and_look(nic, 0, bytes, ARIES_FMA_PUT_LINE, later_mode(nic));
}

uint32_t ugni_rma_put_flag(gni_nic_handle_t nic, const ugni_rma_place *to, const void *from, uint32_t bytes,
			   uint64_t flag_offset, uint64_t flag)
{
	aries_fma_desc *area = aim_at(nic, *to, nullptr);

	line_fill(nic, from, bytes);
	area->sync_offset = flag_offset;
	area->sync_value = flag;
	return fma_ring_and_look(nic, 0, bytes, ARIES_FMA_PUT_SYNC, later_mode(nic));
}

uint32_t ugni_rma_get(gni_nic_handle_t nic, const ugni_rma_place *from, const ugni_rma_own *to, uint32_t bytes)
{
	aim_at(nic, *from, to);
	return ring_and_fetch(nic, bytes, ARIES_FMA_GET_OP, 0);
}

uint32_t ugni_rma_atomic(gni_nic_handle_t nic, const ugni_rma_place *to, const ugni_rma_amo *amo,
			 const ugni_rma_own *old)
{
	aries_fma_desc *area = aim_at(nic, *to, old);

	area->operand[0] = amo->operand[0];
	area->operand[1] = amo->operand[1];
	if (old)
		return ring_and_fetch(nic, 8, ARIES_FMA_AMO_OP, amo->command);
	const uint64_t value = fma_bell(0, 8, ARIES_FMA_AMO_OP, later_mode(nic), amo->command);

	store_fence();
	if (nic->polled) [[unlikely]]
		return polled_ring_and_wait(nic, value);
	doorbell_store(nic->doorbell + ARIES_DB_FMA / 8, value);
	return fma_status(nic)->status;
}

uint32_t ugni_rma_launch(gni_nic_handle_t nic, const ugni_rma_place *to, uint32_t command,
			 const aries_launch_entry *entries, uint32_t count, uint32_t *failed)
{
	aim_at(nic, *to, nullptr);
	reinterpret_cast<aries_fma_window *>(nic->area + ARIES_DESC_WINDOW)->amo = static_cast<uint16_t>(command);
	memcpy(nic->area + ARIES_DESC_LINE, entries, count * sizeof(*entries));
	const uint32_t status = fma_ring_and_look(nic, 0, count, ARIES_FMA_LAUNCH, later_mode(nic));

	if (status != ARIES_ST_OK && status != ARIES_ST_LATER) [[unlikely]]
		*failed = *reinterpret_cast<volatile const uint32_t *>(nic->area + ARIES_DESC_DONE);
	return status;
}

gni_return_t ugni_rma_close(gni_ep_handle_t ep, gni_post_descriptor_t *d)
{
	Ticket ticket;
	const gni_return_t rc = post_begin(ep, ep->cq, d, &ticket, "dmapp");

	if (rc != GNI_RC_SUCCESS)
		return rc;
	fma_fill(ep, d, ep->cq);
	fma_ring(ep->nic, ticket.id, 0, ARIES_FMA_CLOSE, GNI_CQMODE_GLOBAL_EVENT);
	return GNI_RC_SUCCESS;
}
