// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Address space where mappings of the NIC were. A thread that still uses a
 * handle which another one destroys, finds memory there that nobody looks at,
 * not a hole. The next mapping of the same size takes its place.
 */
#ifndef UGNI_GROUND_HPP
#define UGNI_GROUND_HPP

#include <cstddef>

namespace ugni
{

/** Return: a range of @bytes that reads 0, for use or for mapping something over it; nullptr if there is none. */
void *ground_take(size_t bytes);
/** The same; from the system if need be. Return: nullptr without memory. */
void *ground_new(size_t bytes);
/** Puts fresh memory in the place of the mapping at @address, and keeps it for ground_take(). */
void ground_keep(void *address, size_t bytes);
/** The same for memory of the process: late threads still find valid memory. */
void ground_leave(void *address, size_t bytes);

} // namespace ugni

#endif
