// SPDX-License-Identifier: BSD-2-Clause
/* Settings of short messages that a NIC handle keeps. */
#include "post.hpp"

using namespace ugni;

gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode)
{
	if (!nics.valid(nic_handle) || (dlvr_mode & ~kKnownDeliveryModes))
		return GNI_RC_INVALID_PARAM;
	nic_handle->smsg_delivery = dlvr_mode;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans)
{
	if (!nics.valid(nic_handle))
		return GNI_RC_INVALID_PARAM;
	nic_handle->smsg_retransmissions = max_retrans;
	return GNI_RC_SUCCESS;
}
