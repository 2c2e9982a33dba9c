// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Distributed queues: names that programs link against, each of which refuses. */
#include "debug.hpp"

using namespace ugni;

namespace
{

gni_return_t no_queues(const char *call)
{
	return refuse(GNI_RC_ILLEGAL_OP, call, "there are no distributed queues");
}

} // namespace

gni_return_t GNI_DqueueInit(gni_nic_handle_t nic_hndl, gni_dqueue_in_attr_t *in_attrs, gni_dqueue_out_attr_t *out_attrs,
			    gni_dqueue_handle_t *dqueue)
{
	(void)nic_hndl;
	(void)in_attrs;
	(void)out_attrs;
	(void)dqueue;
	return no_queues(__func__);
}

gni_return_t GNI_DqueueFini(gni_dqueue_handle_t dqueue)
{
	(void)dqueue;
	return no_queues(__func__);
}

gni_return_t GNI_DqueueConnect(gni_dqueue_handle_t dqueue, gni_dqueue_out_attr_t *attrs, uint32_t nattrs)
{
	(void)dqueue;
	(void)attrs;
	(void)nattrs;
	return no_queues(__func__);
}

gni_return_t GNI_DqueuePut(gni_dqueue_handle_t dqueue, void *data, uint32_t length, uint32_t pe_addr, uint32_t inst_id)
{
	(void)dqueue;
	(void)data;
	(void)length;
	(void)pe_addr;
	(void)inst_id;
	return no_queues(__func__);
}

gni_return_t GNI_DqueueProgress(gni_dqueue_handle_t dqueue)
{
	(void)dqueue;
	return no_queues(__func__);
}
