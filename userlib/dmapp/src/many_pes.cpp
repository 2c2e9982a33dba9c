// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file One symmetric address of several PEs. */
#include "transfer.hpp"

using namespace dmapp;

namespace
{

enum class Spread { same, scatter, gather };

struct Pes {
	const dmapp_pe_t *list;
	uint32_t count;
};

dmapp_return_t run(Instance &i, const Transfer &t, const Pes &pes, Spread kind, Pending &p)
{
	const bool get = kind == Spread::gather;
	uint64_t bytes = 0;
	Place place;
	dmapp_return_t rc = t.check(get, &bytes);

	if (pes.count && !pes.list)
		return DMAPP_RC_INVALID_PARAM;
	/* Twice, for nothing has been started if one of them is refused. */
	for (uint32_t n = 0; n < pes.count && rc == DMAPP_RC_SUCCESS; n++)
		rc = i.aim(t.remote, t.seg, pes.list[n], bytes, get, &place);
	if (rc != DMAPP_RC_SUCCESS)
		return rc;
	for (uint32_t n = 0; n < pes.count; n++) {
		char *here = static_cast<char *>(t.local) + (kind == Spread::same ? 0 : n * bytes);

		(void)i.aim(t.remote, t.seg, pes.list[n], bytes, get, &place);
		if (get)
			i.get(here, place, bytes, p);
		else if (bytes > 16 || !put_batched(i, place, here, bytes, p))
			i.put(place, here, bytes, p);
	}
	return rc;
}

dmapp_return_t many(const How &how, const Transfer &t, const Pes &pes, Spread kind)
{
	return enter([&](Instance &i) { return i.perform(how, [&](Pending &p) { return run(i, t, pes, kind, p); }); });
}

} // namespace

DMAPP_FORMS(put_ixpe, many,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes, void *local_src,
	     uint64_t nelems, dmapp_type_t type),
	    ({remote_dst, remote_seg, local_src, nelems, type}, {pe_list, num_pes}, Spread::same))

DMAPP_FORMS(scatter_ixpe, many,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes, void *local_src,
	     uint64_t nelems, dmapp_type_t type),
	    ({remote_dst, remote_seg, local_src, nelems, type}, {pe_list, num_pes}, Spread::scatter))

DMAPP_FORMS(gather_ixpe, many,
	    (void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes,
	     uint64_t nelems, dmapp_type_t type),
	    ({remote_src, remote_seg, local_dst, nelems, type}, {pe_list, num_pes}, Spread::gather))
