/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The header as a kernel module sees it: fixed-width types come from elsewhere. */
#include <stdint.h>

#define __KERNEL__
#include "layout.h"

/* All kernel functions are declared with the types that callers use. */
gni_return_t (*kernel_register)(gni_nic_handle_t, uint64_t, uint64_t, gni_cq_handle_t, uint32_t,
				gni_mem_handle_t *) = gni_mem_register;
gni_return_t (*kernel_cq)(gni_nic_handle_t, uint32_t, uint32_t, gni_cq_event_hndlr_f *, uint64_t,
			  gni_cq_handle_t *) = gni_cq_create;
uint32_t (*kernel_quiesce)(gni_nic_handle_t) = gni_get_quiesce_status;
