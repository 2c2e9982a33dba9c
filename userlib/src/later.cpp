// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that this version declares and does not have. Each returns one of
 * its documented codes, ILLEGAL_OP where that is one of them, never one that
 * makes a client try again for ever; Documentation/libugni.md has the table.
 */
#include "debug.hpp"
#include "gni.hpp"

static gni_return_t later(const char *name, gni_return_t rc)
{
	ugni::debug("%s is not available in this version", name);
	return rc;
}

/* ---- Message queues ---- */

gni_return_t GNI_MsgqInit(gni_nic_handle_t, gni_msgq_rcv_cb_func *, void *, gni_cq_handle_t, gni_msgq_attr_t *,
			  gni_msgq_handle_t *)
{
	return later("GNI_MsgqInit", GNI_RC_INVALID_STATE);
}

gni_return_t GNI_MsgqRelease(gni_msgq_handle_t)
{
	return later("GNI_MsgqRelease", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqIdle(gni_msgq_handle_t)
{
	return later("GNI_MsgqIdle", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t, uint32_t, gni_msgq_ep_attr_t *, uint32_t *)
{
	return later("GNI_MsgqGetConnAttrs", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqConnect(gni_msgq_handle_t, uint32_t, gni_msgq_ep_attr_t *)
{
	return later("GNI_MsgqConnect", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t, uint32_t)
{
	return later("GNI_MsgqConnRelease", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqSend(gni_msgq_handle_t, gni_ep_handle_t, void *, uint32_t, void *, uint32_t, uint32_t, uint8_t)
{
	return later("GNI_MsgqSend", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqProgress(gni_msgq_handle_t, uint32_t)
{
	return later("GNI_MsgqProgress", GNI_RC_INVALID_PARAM);
}

gni_return_t GNI_MsgqSize(gni_msgq_attr_t *, uint32_t *)
{
	return later("GNI_MsgqSize", GNI_RC_INVALID_PARAM);
}
