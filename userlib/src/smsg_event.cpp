// SPDX-License-Identifier: BSD-2-Clause
/* The event of a send, on its way to the caller. */
#include "smsg_event.hpp"
#include "cq.hpp"

namespace ugni
{

UGNI_IN_ONE_PAGE(512)
gni_cq_entry_t smsg_event(gni_cq *cq, gni_cq_entry_t entry)
{
	uint32_t id = entry_tid(entry);
	Request &r = cq->nic->requests[static_cast<uint16_t>(id)];

	if (entry_info(entry) != ARIES_INFO_LOCAL || !(r.state & Request::kSmsg) || r.cq != cq)
		return entry;
	uint32_t status = 0;
	if (!(r.state & Request::kMended))
		status = entry_status(entry) ? entry_status(entry) : r.forced();
	uint32_t local_event = r.local_event;
	cq->room++;
	request_end(cq->nic, r, id);
	entry &= ~ARIES_CQE_STATUS_MASK;
	return status ? smsg_failed_pack(entry, status, local_event) : entry;
}

} // namespace ugni
