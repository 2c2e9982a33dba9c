// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file What no public program shows the use of, or what is not there yet: declared, so that programs compile, and
 * refused. Documentation/dmapp.md has the reasons.
 */
#include "dmapp.h"

dmapp_return_t dmapp_sheap_stats(dmapp_sheap_stats_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_mem_reserve(void *, uint64_t, uint64_t, dmapp_seg_desc_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_mem_update(void *, uint64_t, uint64_t, dmapp_seg_desc_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_checkpoint(void)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_restart(uint32_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_get_flag_nbi(void *, void *, dmapp_seg_desc_t *, dmapp_pe_t, uint64_t, dmapp_type_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_put(void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_put_nb(void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *, dmapp_syncid_handle_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_put_nbi(void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_get(void *, void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_get_nb(void *, void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *, dmapp_syncid_handle_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_get_nbi(void *, void *, dmapp_seg_desc_t *, dmapp_pe_t, dmapp_amo_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_amo_flush(dmapp_pe_t, uint64_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_queue_attach(dmapp_queue_cb_t, void *, uint64_t, dmapp_queue_handle_t *)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_queue_detach(dmapp_queue_handle_t, uint64_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}

dmapp_return_t dmapp_queue_put(dmapp_queue_handle_t, void *, uint64_t, dmapp_type_t, dmapp_pe_t, uint64_t)
{
	return DMAPP_RC_NOT_SUPPORTED;
}
