// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Making and checking memory handles. */

#include "kgni_memhandle.h"

/* Reflected polynomial of CRC-8/MAXIM. */
#define KGNI_CRC_POLYNOMIAL 0x8c

static u8 kgni_mem_crc(const gni_mem_handle_t *h)
{
	unsigned int byte, bit;
	u8 crc = 0;

	for (byte = 0; byte < 15; byte++) {
		crc ^= (byte < 8 ? h->qword1 >> 8 * byte : h->qword2 >> 8 * (byte - 8)) & 0xff;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ KGNI_CRC_POLYNOMIAL : crc >> 1;
	}
	return crc;
}

/** kgni_mem_intact() - is this a handle, with the right check code? Context: any. */
bool kgni_mem_intact(const gni_mem_handle_t *h)
{
	return !kgni_mem_none(h) && FIELD_GET(KGNI_HNDL_CRC_MASK, h->qword2) == kgni_mem_crc(h);
}

/**
 * kgni_mem_encode() - make a handle of the first format
 * @address: address of the first page
 * @pages: number of pages of 1 << @shift bytes
 * @mdh: memory domain
 * @shift: log2 of the page size
 * @flags: KGNI_HNDL_*
 *
 * Context: any. Return: the handle, with its check code.
 */
gni_mem_handle_t kgni_mem_encode(u64 address, u64 pages, u16 mdh, u8 shift, u8 flags)
{
	gni_mem_handle_t h = {
		.qword1 = FIELD_PREP(KGNI_HNDL_ADDRESS_MASK, address >> KGNI_HNDL_ADDRESS_SHIFT) |
			  FIELD_PREP(KGNI_HNDL_MDH1_MASK, (u64)mdh),
		.qword2 = FIELD_PREP(KGNI_HNDL_PAGES_MASK, pages) |
			  FIELD_PREP(KGNI_HNDL_SHIFT_MASK, (u64)shift) |
			  FIELD_PREP(KGNI_HNDL_FLAGS_MASK, (u64)flags),
	};

	h.qword2 |= FIELD_PREP(KGNI_HNDL_CRC_MASK, (u64)kgni_mem_crc(&h));
	return h;
}
