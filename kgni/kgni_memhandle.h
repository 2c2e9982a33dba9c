/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Contents of gni_mem_handle_t. Peers exchange handles, also with user programs, and some clients
 * parse them. So this layout is as fixed as the public interface:
 *
 *   qword1  51:0 address >> 12     63:52 MDH (first format) or entropy (second)
 *   qword2  27:0 pages   33:28 log2 of the page size   41:34 flags
 *           53:42 MDH (second format)   63:56 check code
 *
 * The check code is CRC-8/MAXIM over the other 15 bytes, the least significant byte of qword1
 * first. FMA posts must not check it, because clients leave it out.
 */
#ifndef KGNI_MEMHANDLE_H
#define KGNI_MEMHANDLE_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/types.h>

#include "aries_hw.h"
#include "gni_pub.h"
#include "kgni.h"

#define KGNI_HNDL_READ_ONLY 0x01
#define KGNI_HNDL_VMDH 0x02
#define KGNI_HNDL_SECOND_FORMAT 0x80

#define KGNI_HNDL_ADDRESS_MASK GENMASK_ULL(51, 0)
#define KGNI_HNDL_MDH1_MASK GENMASK_ULL(63, 52)
#define KGNI_HNDL_PAGES_MASK GENMASK_ULL(27, 0)
#define KGNI_HNDL_SHIFT_MASK GENMASK_ULL(33, 28)
#define KGNI_HNDL_FLAGS_MASK GENMASK_ULL(41, 34)
#define KGNI_HNDL_MDH2_MASK GENMASK_ULL(53, 42)
#define KGNI_HNDL_CRC_MASK GENMASK_ULL(63, 56)
#define KGNI_HNDL_ADDRESS_SHIFT 12

static inline u8 kgni_mem_flags(const gni_mem_handle_t *h)
{
	return FIELD_GET(KGNI_HNDL_FLAGS_MASK, h->qword2);
}

static inline bool kgni_mem_none(const gni_mem_handle_t *h)
{
	return !(h->qword1 | h->qword2);
}

static inline u16 kgni_mem_mdh(const gni_mem_handle_t *h)
{
	return kgni_mem_flags(h) & KGNI_HNDL_SECOND_FORMAT
		       ? FIELD_GET(KGNI_HNDL_MDH2_MASK, h->qword2)
		       : FIELD_GET(KGNI_HNDL_MDH1_MASK, h->qword1);
}

/** kgni_mem_name() - memory domain in the form of descriptors, which marks virtual handles */
static inline u16 kgni_mem_name(const gni_mem_handle_t *h)
{
	return kgni_mem_mdh(h) | (kgni_mem_flags(h) & KGNI_HNDL_VMDH ? ARIES_MDH_VIRTUAL : 0);
}

/**
 * kgni_mem_origin() - address that corresponds to offset 0 in the region of @h
 *
 * This is 0, except for virtual handles of user programs: their regions begin at offset 0, which is
 * the address that the handle carries.
 */
static inline u64 kgni_mem_origin(const gni_mem_handle_t *h)
{
	return kgni_mem_flags(h) & KGNI_HNDL_VMDH
		       ? FIELD_GET(KGNI_HNDL_ADDRESS_MASK, h->qword1) << KGNI_HNDL_ADDRESS_SHIFT
		       : 0;
}

/** kgni_mem_offset() - offset of @address in the region of @h, in the form of descriptors */
static inline u64 kgni_mem_offset(const gni_mem_handle_t *h, u64 address)
{
	return (address - kgni_mem_origin(h)) & KGNI_OFFSET_MASK;
}

gni_mem_handle_t kgni_mem_encode(u64 address, u64 pages, u16 mdh, u8 shift, u8 flags);
bool kgni_mem_intact(const gni_mem_handle_t *h);

#endif
