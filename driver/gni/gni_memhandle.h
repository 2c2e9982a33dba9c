/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Contents of gni_mem_handle_t. Peers exchange handles, programs with kernel modules, too, and some
 * clients take them apart and build them. So this layout is as fixed as the public interface:
 *
 *   qword1  51:0 address >> 12     63:52 MDH (first format) or entropy (second)
 *   qword2  27:0 pages   33:28 log2 of the page size   41:34 flags
 *           53:42 MDH (second format)   63:56 check code
 *
 * The check code is CRC-8/MAXIM over the other 15 bytes, the least significant byte of qword1
 * first. FMA posts must not check it, because clients leave it out.
 */
#ifndef GNI_MEMHANDLE_H
#define GNI_MEMHANDLE_H

#include "aries_hw.h"
#include "gni_env.h"

/* Flags, in the order of GNI_MEMHNDL_ATTR_*. */
#define GNI_HNDL_READ_ONLY 0x01u
#define GNI_HNDL_VMDH 0x02u
#define GNI_HNDL_MRT 0x04u
#define GNI_HNDL_GART 0x08u
#define GNI_HNDL_IOMMU 0x10u
#define GNI_HNDL_PCI_IOMMU 0x20u
#define GNI_HNDL_CLONE 0x40u
#define GNI_HNDL_SECOND_FORMAT 0x80u

#define GNI_HNDL_ADDRESS_MASK 0x000fffffffffffffull
#define GNI_HNDL_ADDRESS_SHIFT 12
#define GNI_HNDL_MDH_MASK 0xfffu
#define GNI_HNDL_MDH1_SHIFT 52
#define GNI_HNDL_PAGES_MASK 0x0fffffffull
#define GNI_HNDL_PAGE_MASK 0x3full
#define GNI_HNDL_PAGE_SHIFT 28
#define GNI_HNDL_FLAGS_SHIFT 34
#define GNI_HNDL_MDH2_SHIFT 42
#define GNI_HNDL_CRC_SHIFT 56

/* Bits of a descriptor that hold an offset in a region. */
#define GNI_OFFSET_MASK ((1ull << 40) - 1)

/**
 * struct gni_hndl - what a handle says
 * @address: of the first page
 * @pages: number of pages
 * @mdh: memory domain
 * @page_shift: log2 of the page size
 * @flags: GNI_HNDL_*
 */
struct gni_hndl {
	uint64_t address;
	uint64_t pages;
	uint32_t mdh;
	uint8_t page_shift;
	uint8_t flags;
};

static GNI_INLINE uint8_t gni_hndl_flags(const gni_mem_handle_t *h)
{
	return (uint8_t)(h->qword2 >> GNI_HNDL_FLAGS_SHIFT);
}

static GNI_INLINE bool gni_hndl_none(const gni_mem_handle_t *h)
{
	return !(h->qword1 | h->qword2);
}

static GNI_INLINE uint16_t gni_hndl_mdh(const gni_mem_handle_t *h)
{
	return gni_hndl_flags(h) & GNI_HNDL_SECOND_FORMAT
		       ? (uint16_t)(h->qword2 >> GNI_HNDL_MDH2_SHIFT & GNI_HNDL_MDH_MASK)
		       : (uint16_t)(h->qword1 >> GNI_HNDL_MDH1_SHIFT);
}

/** gni_hndl_name() - memory domain in the form of descriptors, which marks virtual handles */
static GNI_INLINE uint16_t gni_hndl_name(const gni_mem_handle_t *h)
{
	return (uint16_t)(gni_hndl_mdh(h) |
			  (gni_hndl_flags(h) & GNI_HNDL_VMDH ? ARIES_MDH_VIRTUAL : 0));
}

/**
 * gni_hndl_origin() - address that corresponds to offset 0 in the region of @h
 * @h: the handle
 *
 * This is 0, except for virtual handles: their regions begin at offset 0, which is the address that
 * the handle carries. One that a client has built carries none.
 */
static GNI_INLINE uint64_t gni_hndl_origin(const gni_mem_handle_t *h)
{
	const uint64_t is_virtual = gni_hndl_flags(h) / GNI_HNDL_VMDH & 1;

	return h->qword1 << GNI_HNDL_ADDRESS_SHIFT & (0 - is_virtual);
}

/** gni_hndl_offset() - offset of @address in the region of @h, in the form of descriptors */
static GNI_INLINE uint64_t gni_hndl_offset(const gni_mem_handle_t *h, uint64_t address)
{
	return (address - gni_hndl_origin(h)) & GNI_OFFSET_MASK;
}

#ifdef __cplusplus
extern "C" {
#endif

uint8_t gni_hndl_crc(const gni_mem_handle_t *h);
bool gni_hndl_intact(const gni_mem_handle_t *h);
gni_mem_handle_t gni_hndl_encode(struct gni_hndl hndl);
struct gni_hndl gni_hndl_decode(const gni_mem_handle_t *h);

#ifdef __cplusplus
}
#endif

#endif
