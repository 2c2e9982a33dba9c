// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * What a return code cannot say. Each line is one write, to stderr or to the file that the environment names:
 *
 *   libugni[pid] rank n: function: return code: cause
 *
 * The environment variable UGNI_DEBUG is the level: 1 tells of refusals and failures, 2 also of what shall be tried
 * again. No call is slower for it when it succeeds, and none when it finds nothing yet, as a poll does.
 */
#ifndef UGNI_DEBUG_HPP
#define UGNI_DEBUG_HPP

#include "gni.hpp"

namespace ugni
{

/**
 * The way out of an exported function that does not do what it was asked for. A test looks for returns of errors that
 * do not go through here, later() or nothing().
 *
 * @call: the exported function: __func__ there; what it calls has it as a parameter, by default __builtin_FUNCTION();
 *        nullptr says nothing: something is undone, and what failed has been told
 *
 * Return: @rc.
 */
[[gnu::format(printf, 3, 4), gnu::cold, gnu::noinline]] gni_return_t refuse(gni_return_t rc, const char *call,
									    const char *format, ...);

/** The same for a refusal that ends by itself: the caller is to try again. Told at level 2. */
[[gnu::format(printf, 3, 4), gnu::cold, gnu::noinline]] gni_return_t later(gni_return_t rc, const char *call,
									   const char *format, ...);

/** Result of a poll or a wait without an event. Happens all the time, so it is not logged. */
constexpr gni_return_t nothing(gni_return_t rc)
{
	return rc;
}

/** Result for a failed event or transaction, whose status tells the failure, so that it is not logged. */
constexpr gni_return_t told(gni_return_t rc)
{
	return rc;
}

/* Causes that many functions have. */
constexpr const char *kNoDomain = "cdm_hndl is no domain, or destroyed";
constexpr const char *kNoNic = "nic_hndl is no NIC handle, or its domain is destroyed";
constexpr const char *kNoEndpoint = "ep_hndl is no endpoint, or destroyed";
constexpr const char *kNoQueue = "cq_hndl is no completion queue, or destroyed";
constexpr const char *kNoChannel = "ce_hndl is no collective channel, or destroyed";
constexpr const char *kNull = "a pointer that must be there is NULL";
constexpr const char *kNoHandles = "no memory for another object, or too many of its kind";

/** A line that belongs to no return code. */
[[gnu::format(printf, 1, 2), gnu::cold]] void debug(const char *format, ...);

/** Looks at the environment again; level 2 holds from here on. */
void debug_begin();

} // namespace ugni

#endif
