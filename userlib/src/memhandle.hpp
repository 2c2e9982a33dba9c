// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Contents of gni_mem_handle_t. Clients take handles apart and build them, so
 * these bits are as fixed as the public interface:
 *
 *   qword1  51:0 address >> 12     63:52 MDH (first format) or entropy (second)
 *   qword2  27:0 pages   33:28 log2 of the page size   41:34 flags
 *           53:42 MDH (second format)   63:56 check code
 *
 * The check code is CRC-8/MAXIM over the other 15 bytes, the least significant
 * byte of qword1 first. FMA posts must not look at it: clients leave it out.
 */
#ifndef UGNI_MEMHANDLE_HPP
#define UGNI_MEMHANDLE_HPP

#include "aries_hw.h"
#include "gni.hpp"

#include <cstdint>

namespace ugni
{

enum MemFlag : uint8_t {
	kMemReadOnly = 0x01,
	kMemVmdh = 0x02,
	kMemMrt = 0x04,
	kMemGart = 0x08,
	kMemIommu = 0x10,
	kMemPciIommu = 0x20,
	kMemClone = 0x40,
	kMemSecondFormat = 0x80,
};

struct MemHandle {
	uint64_t address; /* of the first page */
	uint64_t pages;
	uint32_t mdh;
	uint8_t page_shift;
	uint8_t flags; /* MemFlag */
};

constexpr uint64_t kPageShift = 12;
constexpr uint64_t kOffsetMask = (uint64_t{1} << 40) - 1;

static inline uint8_t mem_flags(const gni_mem_handle_t &h)
{
	return static_cast<uint8_t>(h.qword2 >> 34);
}

static inline uint16_t mem_mdh(const gni_mem_handle_t &h)
{
	uint64_t v = mem_flags(h) & kMemSecondFormat ? h.qword2 >> 42 & 0xfff : h.qword1 >> 52;

	return static_cast<uint16_t>(v);
}

/** As descriptors name the memory domain: virtual handles have a mark. */
static inline uint16_t mem_name(const gni_mem_handle_t &h)
{
	return static_cast<uint16_t>(mem_mdh(h) | (mem_flags(h) & kMemVmdh ? ARIES_MDH_VIRTUAL : 0));
}

/**
 * Address from which offsets in the region of @h count: 0, but for virtual handles. Their regions begin at offset 0,
 * that is at the address that the handle carries, which one that a client has built does not have.
 */
static inline uint64_t mem_origin(const gni_mem_handle_t &h)
{
	const uint64_t is_virtual = mem_flags(h) / kMemVmdh & 1U;

	return h.qword1 << kPageShift & -is_virtual;
}

/** Bits of a descriptor that say where @address lies in the region of @h. */
static inline uint64_t mem_offset(const gni_mem_handle_t &h, uint64_t address)
{
	return (address - mem_origin(h)) & kOffsetMask;
}

static inline bool mem_none(const gni_mem_handle_t &h)
{
	return (h.qword1 | h.qword2) == 0;
}

/** First format, check code included. */
gni_mem_handle_t mem_encode(const MemHandle &m);
MemHandle mem_decode(const gni_mem_handle_t &h);
uint8_t mem_crc(const gni_mem_handle_t &h);
/** Not empty and the check code is right. */
bool mem_intact(const gni_mem_handle_t &h);

} // namespace ugni

#endif
