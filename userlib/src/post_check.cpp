// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* What is wrong with a post that is refused; and checks that only a program under test pays for. */
#include "post.hpp"

#include <cinttypes>

namespace ugni
{

gni_return_t post_refuse(const gni_ep *ep, const gni_post_descriptor_t *d, const char *call)
{
	const gni_return_t rc = GNI_RC_INVALID_PARAM;

	if (!endpoints.valid(ep))
		return refuse(rc, call, "%s", kNoEndpoint);
	if (!d)
		return refuse(rc, call, "the descriptor is NULL");
	if (!ep->bound)
		return refuse(rc, call, "the endpoint is not bound");
	if (!nic_there(ep->nic))
		return nic_gone(ep->nic);
	if (!post_modes_known(d))
		return refuse(rc, call, "cq_mode 0x%x or dlvr_mode 0x%x has bits without a meaning", d->cq_mode,
			      d->dlvr_mode);
	return refuse(rc, call,
		      "bits 63 to 40 of local_addr 0x%" PRIx64 " or remote_addr 0x%" PRIx64
		      " are not those of its region",
		      d->local_addr, d->remote_addr);
}

bool mem_address_sound(const gni_mem_handle_t &h, uint64_t address)
{
	const gni_hndl m = gni_hndl_decode(&h);
	const uint64_t from_start = address - m.address;

	/* What the NIC finds out of bounds it tells by an event. A client that builds a handle may leave the pages out.
	 */
	return from_start <= GNI_OFFSET_MASK || (from_start & GNI_OFFSET_MASK) >= m.pages << m.page_shift;
}

bool post_addresses_sound(const gni_post_descriptor_t *d)
{
	const bool put = d->type == GNI_POST_FMA_PUT || d->type == GNI_POST_FMA_PUT_W_SYNCFLAG;

	if (d->type == GNI_POST_CQWRITE)
		return true;
	/* The processor reads the data of an FMA put, so the address is checked; an invalid handle is found by other
	 * checks. */
	if (!put && !gni_hndl_none(&d->local_mem_hndl) && !mem_address_sound(d->local_mem_hndl, d->local_addr))
		return false;
	return d->type == GNI_POST_CE || gni_hndl_none(&d->remote_mem_hndl) ||
	       mem_address_sound(d->remote_mem_hndl, d->remote_addr);
}

} // namespace ugni
