// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Settings of short messages that a NIC handle keeps, and what refusals of several calls say. */
#include "smsg.hpp"

using namespace ugni;

namespace ugni
{

gni_return_t smsg_none(const gni_ep *ep, const char *call)
{
	return refuse(GNI_RC_INVALID_PARAM, call, "%s",
		      endpoints.valid(ep) ? "the endpoint has no mailboxes: GNI_SmsgInit()" : kNoEndpoint);
}

} // namespace ugni

gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode)
{
	if (!nics.valid(nic_handle))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	if (dlvr_mode & ~kKnownDeliveryModes)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "dlvr_mode 0x%x has bits without a meaning", dlvr_mode);
	nic_handle->smsg_delivery = dlvr_mode;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans)
{
	if (!nics.valid(nic_handle))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	nic_handle->smsg_retransmissions = max_retrans;
	return GNI_RC_SUCCESS;
}
