// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The event of a send, on its way to the caller. */
#include "smsg_event.hpp"
#include "cq.hpp"
#include "gni_entry.h"
#include "smsg_waiting.hpp"

namespace ugni
{

UGNI_IN_ONE_PAGE(1024)
gni_cq_entry_t smsg_event(gni_cq *cq, gni_cq_entry_t entry)
{
	uint32_t id = gni_entry_tid(entry);
	Request &r = cq->nic->requests[static_cast<uint16_t>(id)];

	if (gni_entry_info(entry) != ARIES_INFO_LOCAL || !(r.state & Request::kSmsg) || r.cq != cq)
		return entry;
	/* The common case: a message that went well, at first. */
	if (r.state == (1U << ARIES_INFO_LOCAL | Request::kSmsg) && !(entry & ARIES_CQE_STATUS_MASK)) [[likely]] {
		cq->room++;
		r.state = 0;
		cq->nic->requests.give(id);
		ep_release(r.ep);
		return entry;
	}
	if ((r.state & (Request::kCopied | Request::kUnsettled)) == Request::kCopied) {
		if (departed_event(r, entry))
			return 0;
	} else if (r.state == (1U << ARIES_INFO_LOCAL | Request::kSmsg)) {
		smsg_late_hole(r.ep);
	}
	if ((r.state & Request::kUnsettled) && unsettled_keep(cq, id, entry))
		return 0;
	uint32_t status = 0;
	if (!(r.state & Request::kMended))
		status = r.forced() ? r.forced() : gni_entry_status(entry);
	uint32_t local_event = r.local_event;
	cq->room++;
	request_end(cq->nic, r, id);
	entry &= ~ARIES_CQE_STATUS_MASK;
	return status ? gni_entry_failed_pack(entry, status, local_event) : entry;
}

} // namespace ugni
