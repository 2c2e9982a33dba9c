// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Result blocks of collectives. */
#include "ce.hpp"
#include "debug.hpp"
#include "gone.hpp"

using namespace ugni;

gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length)
{
	(void)length;
	if (!result)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const uint64_t control = ce_control(result);
	if (control & ARIES_CER_DONE)
		return control & (ARIES_CER_STATUS_MASK | ARIES_CER_FPE_MASK) ? told(GNI_RC_TRANSACTION_ERROR)
									      : GNI_RC_SUCCESS;
	gni_nic *const nic = ce_nic(result, control);
	/* None is there in a block of another process, or one that was posted before a fork. */
	if (!nics.valid(nic))
		return nothing(GNI_RC_NOT_DONE);
	if (!nic_there(nic))
		return nic_gone(nic);
	if (!(control & ARIES_CER_PENDING) && (control & kCeQueued))
		ce_advance(nic);
	return nothing(GNI_RC_NOT_DONE);
}
