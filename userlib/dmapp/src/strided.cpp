// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Elements that do not follow each other: by strides, and by an index at the remote side. */
#include "transfer.hpp"

#include <algorithm>

using namespace dmapp;

namespace
{

/** Where element n is, in elements from the address that was given. */
struct Strided {
	ptrdiff_t stride;
	ptrdiff_t operator()(uint64_t n) const { return static_cast<ptrdiff_t>(n) * stride; }
};

struct Indexed {
	const ptrdiff_t *index;
	ptrdiff_t operator()(uint64_t n) const { return index[n]; }
};

/** The lowest and the highest element. */
struct Span {
	ptrdiff_t low;
	ptrdiff_t high;
};

/* Return: false if it is no place that could be. */
bool span_of(const Strided &where, uint64_t nelems, Span *span)
{
	ptrdiff_t last;

	if (__builtin_mul_overflow(nelems - 1, where.stride, &last))
		return false;
	*span = {std::min<ptrdiff_t>(last, 0), std::max<ptrdiff_t>(last, 0)};
	return true;
}

bool span_of(const Indexed &where, uint64_t nelems, Span *span)
{
	*span = {where.index[0], where.index[0]};
	for (uint64_t n = 1; n < nelems; n++)
		*span = {std::min(span->low, where.index[n]), std::max(span->high, where.index[n])};
	return true;
}

/* All elements of a call are in one range, which is looked at as a whole. */
dmapp_return_t aim_all(Instance &i, const Transfer &t, dmapp_pe_t pe, const Span &span, bool get, Place *first)
{
	const auto width = static_cast<ptrdiff_t>(width_of(t.type));
	ptrdiff_t before, elements, bytes;

	if (__builtin_mul_overflow(span.low, width, &before) ||
	    __builtin_sub_overflow(span.high, span.low, &elements) || __builtin_add_overflow(elements, 1, &elements) ||
	    __builtin_mul_overflow(elements, width, &bytes))
		return DMAPP_RC_INVALID_PARAM;
	const auto address = reinterpret_cast<uintptr_t>(t.remote) + static_cast<uintptr_t>(before);
	return i.aim(reinterpret_cast<const void *>(address), // NOLINT(performance-no-int-to-ptr)
		     t.seg, pe, static_cast<uint64_t>(bytes), get, first);
}

/* Return: false if the elements are not all at addresses. */
bool local_sound(const Transfer &t, const Strided &where)
{
	const auto width = static_cast<ptrdiff_t>(width_of(t.type));
	const auto here = reinterpret_cast<uintptr_t>(t.local);
	Span span{};
	ptrdiff_t low, high;
	uintptr_t at;

	return span_of(where, t.nelems, &span) && !__builtin_mul_overflow(span.low, width, &low) &&
	       !__builtin_mul_overflow(span.high, width, &high) && !__builtin_add_overflow(here, low, &at) &&
	       !__builtin_add_overflow(here, high, &at) && !__builtin_add_overflow(at, width, &at);
}

template <typename Remote>
dmapp_return_t run(Instance &i, const Transfer &t, dmapp_pe_t pe, const Remote &remote, const Strided &local, bool get,
		   Pending &p)
{
	const auto width = static_cast<ptrdiff_t>(width_of(t.type));
	uint64_t bytes = 0;
	Span span{};
	Place first;
	dmapp_return_t rc = t.check(get, &bytes);

	if (rc != DMAPP_RC_SUCCESS || !t.nelems)
		return rc;
	if (!span_of(remote, t.nelems, &span) || !local_sound(t, local))
		return DMAPP_RC_INVALID_PARAM;
	rc = aim_all(i, t, pe, span, get, &first);
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	for (uint64_t n = 0; n < t.nelems; n++) {
		const Place place = behind(first, static_cast<uint64_t>((remote(n) - span.low) * width));
		char *here = static_cast<char *>(t.local) + local(n) * width;

		if (get)
			i.get(here, place, static_cast<uint64_t>(width), p);
		else if (!put_batched(i, place, here, static_cast<uint64_t>(width), p))
			i.put(place, here, static_cast<uint64_t>(width), p);
	}
	return rc;
}

template <typename Remote>
dmapp_return_t strided(const How &how, dmapp_pe_t pe, const Transfer &t, const Remote &remote, ptrdiff_t local,
		       bool get)
{
	return enter([&](Instance &i) {
		return i.perform(how, [&](Pending &p) { return run(i, t, pe, remote, Strided{local}, get, p); });
	});
}

dmapp_return_t iput(const How &how, dmapp_pe_t pe, const Transfer &t, ptrdiff_t remote, ptrdiff_t local)
{
	return strided(how, pe, t, Strided{remote}, local, false);
}

dmapp_return_t iget(const How &how, dmapp_pe_t pe, const Transfer &t, ptrdiff_t local, ptrdiff_t remote)
{
	return strided(how, pe, t, Strided{remote}, local, true);
}

dmapp_return_t ixput(const How &how, dmapp_pe_t pe, const Transfer &t, const ptrdiff_t *index)
{
	return index ? strided(how, pe, t, Indexed{index}, 1, false) : DMAPP_RC_INVALID_PARAM;
}

dmapp_return_t ixget(const How &how, dmapp_pe_t pe, const Transfer &t, const ptrdiff_t *index)
{
	return index ? strided(how, pe, t, Indexed{index}, 1, true) : DMAPP_RC_INVALID_PARAM;
}

} // namespace

DMAPP_FORMS(iput, iput,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
	     ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type),
	    (remote_pe, {remote_dst, remote_seg, local_src, nelems, type}, dst_stride, src_stride))

DMAPP_FORMS(iget, iget,
	    (void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
	     ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type),
	    (remote_pe, {remote_src, remote_seg, local_dst, nelems, type}, dst_stride, src_stride))

DMAPP_FORMS(ixput, ixput,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
	     ptrdiff_t *dst_index, uint64_t nelems, dmapp_type_t type),
	    (remote_pe, {remote_dst, remote_seg, local_src, nelems, type}, dst_index))

DMAPP_FORMS(ixget, ixget,
	    (void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
	     ptrdiff_t *src_index, uint64_t nelems, dmapp_type_t type),
	    (remote_pe, {remote_src, remote_seg, local_dst, nelems, type}, src_index))
