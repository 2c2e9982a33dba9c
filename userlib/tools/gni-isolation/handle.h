// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Forging of memory handles: what a hostile process can do, since handles are plain values.
 */
#ifndef GNI_ISOLATION_HANDLE_H
#define GNI_ISOLATION_HANDLE_H

#include <cstdint>

#include "gni_pub.h"

namespace isolation
{

/** Number of the memory domain descriptor in a handle, in either format. */
uint32_t handle_mdh(const gni_mem_handle_t &handle);

/** The same handle with another descriptor number and a right checksum. */
gni_mem_handle_t with_mdh(gni_mem_handle_t handle, uint32_t mdh);

/** The same handle for a region of @p pages pages from the page of @p address on, with a right checksum. */
gni_mem_handle_t with_range(gni_mem_handle_t handle, uint64_t address, uint64_t pages);

/** The same handle without its read-only mark, with a right checksum. */
gni_mem_handle_t without_read_only(gni_mem_handle_t handle);

/** The same handle with a wrong checksum. */
gni_mem_handle_t with_bad_crc(gni_mem_handle_t handle);

} // namespace isolation

#endif // GNI_ISOLATION_HANDLE_H
