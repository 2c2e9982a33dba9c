// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What puts and gets of all kinds are given, and elements that may travel in a batch. */
#pragma once

#include "entry.hpp"

#include <cstring>

namespace dmapp
{

struct Transfer {
	const void *remote;
	const dmapp_seg_desc_t *seg;
	void *local;
	uint64_t nelems;
	dmapp_type_t type;

	/** Return: INVALID_PARAM: no such type, nothing here, too much, or a get of nothing. */
	dmapp_return_t check(bool get, uint64_t *bytes) const
	{
		const uint64_t width = width_of(type);

		if (!width || __builtin_mul_overflow(nelems, width, bytes) || (*bytes && !local) || (get && !*bytes))
			return DMAPP_RC_INVALID_PARAM;
		return DMAPP_RC_SUCCESS;
	}
};

/** The place @bytes behind @p. */
inline Place behind(const Place &p, uint64_t bytes)
{
	Place place = p;

	place.address += bytes;
	place.at.offset = (place.at.offset + bytes) & GNI_OFFSET_MASK;
	return place;
}

/** Puts one element of 4 or 16 bytes with others. Return: false if it is none that can. */
bool put_batched_other(Instance &i, const Place &to, const void *from, uint64_t bytes, Pending &p);

/** Puts one element with the others of its kind. Return: false if it is none that can. */
inline bool put_batched(Instance &i, const Place &to, const void *from, uint64_t bytes, Pending &p)
{
	uint64_t value;

	if (bytes != 8 || to.address % 8) [[unlikely]]
		return put_batched_other(i, to, from, bytes, p);
	memcpy(&value, from, sizeof(value));
	i.batch(to, ARIES_LAUNCH_PUT8, value, 0, p);
	return true;
}

} // namespace dmapp
