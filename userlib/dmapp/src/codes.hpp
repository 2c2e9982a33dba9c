// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What codes of GNI and outcomes of the NIC are to callers of DMAPP. */
#pragma once

#include "aries_hw.h"
#include "dmapp.h"

namespace dmapp
{

constexpr dmapp_return_t code_of(gni_return_t rc)
{
	switch (rc) {
	case GNI_RC_SUCCESS:
		return DMAPP_RC_SUCCESS;
	case GNI_RC_INVALID_PARAM:
		return DMAPP_RC_INVALID_PARAM;
	case GNI_RC_PERMISSION_ERROR:
		return DMAPP_RC_PERMISSION_ERROR;
	case GNI_RC_ERROR_NOMEM:
		return DMAPP_RC_NO_SPACE;
	case GNI_RC_ERROR_RESOURCE:
		return DMAPP_RC_RESOURCE_ERROR;
	default:
		return DMAPP_RC_TRANSACTION_ERROR;
	}
}

/** @status: ARIES_ST_* */
constexpr dmapp_return_t code_of_status(uint32_t status)
{
	switch (status) {
	case ARIES_ST_OK:
		return DMAPP_RC_SUCCESS;
	case ARIES_ST_PTAG:
	case ARIES_ST_ACCESS:
		return DMAPP_RC_PERMISSION_ERROR;
	case ARIES_ST_QUEUE_FULL:
		return DMAPP_RC_RESOURCE_ERROR;
	default:
		return DMAPP_RC_TRANSACTION_ERROR;
	}
}

} // namespace dmapp
