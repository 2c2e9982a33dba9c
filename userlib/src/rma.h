/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Operations of FMA without a descriptor of GNI: what libdmapp is made of. Not for programs, and not installed: the
 * functions are exported under a version of their own (UGNI_PRIVATE), and both libraries are of one build.
 *
 * An operation asks for no event. Its outcome is ARIES_ST_*: OK, it is complete at its target, and what it fetches is
 * in memory; LATER, it was accepted and is on its way, and the next ugni_rma_close() tells; anything else, it failed.
 * RMA_GONE: the NIC was reset or removed. The caller serialises what it does with a NIC handle, as in all of GNI, and
 * looks at its own arguments: nothing is checked here but by the NIC.
 */
#ifndef UGNI_RMA_H
#define UGNI_RMA_H

#include "aries_hw.h"
#include "gni_pub.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define RMA_GONE 0xffffffffu

/** struct ugni_rma_place - bytes of a memory domain of another node */
struct ugni_rma_place {
	uint64_t offset;
	uint32_t pe;
	uint16_t mdh;
	uint16_t dlvr_mode;
};

/** struct ugni_rma_own - bytes of an own memory domain */
struct ugni_rma_own {
	uint64_t offset;
	uint16_t mdh;
};

/** struct ugni_rma_amo - an atomic of GNI_FMA_ATOMIC_* */
struct ugni_rma_amo {
	uint32_t command;
	uint64_t operand[2];
};

/** ugni_rma_put() - up to ARIES_DESC_LINE_BYTES bytes from anywhere in this process */
uint32_t ugni_rma_put(gni_nic_handle_t nic, const struct ugni_rma_place *to, const void *from, uint32_t bytes);

/** ugni_rma_put_flag() - the same, and then 8 bytes at @flag_offset of the same memory domain, a multiple of 8 */
uint32_t ugni_rma_put_flag(gni_nic_handle_t nic, const struct ugni_rma_place *to, const void *from, uint32_t bytes,
			   uint64_t flag_offset, uint64_t flag);

/** ugni_rma_get() - whole words of 4 bytes, fewer than 65536; never LATER */
uint32_t ugni_rma_get(gni_nic_handle_t nic, const struct ugni_rma_place *from, const struct ugni_rma_own *to,
		      uint32_t bytes);

/** ugni_rma_atomic() - 8 bytes; @old: where the old value goes, NULL for a command that returns nothing */
uint32_t ugni_rma_atomic(gni_nic_handle_t nic, const struct ugni_rma_place *to, const struct ugni_rma_amo *amo,
			 const struct ugni_rma_own *old);

/**
 * ugni_rma_launch() - up to ARIES_LAUNCH_LINE entries that store, in one silent batch
 * @command: of those that are atomics, and return nothing
 * @failed: gets the index of the first one that failed, behind which none was executed, if the outcome is neither OK
 * nor LATER
 */
uint32_t ugni_rma_launch(gni_nic_handle_t nic, const struct ugni_rma_place *to, uint32_t command,
			 const struct aries_launch_entry *entries, uint32_t count, uint32_t *failed);

/**
 * ugni_rma_close() - ends what was silent so far: the event of @d, a global one, tells the first failure of all of it
 * @d: the library's until the event has been reaped; names a region of the node to which @ep is bound
 *
 * Return: as GNI_PostFma().
 */
gni_return_t ugni_rma_close(gni_ep_handle_t ep, gni_post_descriptor_t *d);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
