// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Puts and gets of contiguous elements. */
#include "transfer.hpp"

namespace dmapp
{

bool put_batched_other(Instance &i, const Place &to, const void *from, uint64_t bytes, Pending &p)
{
	uint64_t words[2] = {};

	if (bytes == 4 && to.address % 4 == 0) {
		memcpy(words, from, 4);
		i.batch(to, ARIES_LAUNCH_PUT4, words[0], 0, p);
		return true;
	}
	if (bytes != 16 || to.address % 8)
		return false;
	memcpy(words, from, sizeof(words));
	i.batch(to, ARIES_LAUNCH_PUT8, words[0], 0, p);
	i.batch(behind(to, 8), ARIES_LAUNCH_PUT8, words[1], 0, p);
	return true;
}

} // namespace dmapp

using namespace dmapp;

namespace
{

/** Checks it all. @place: gets the remote place */
[[gnu::always_inline]] inline dmapp_return_t checked(Instance &i, const Transfer &t, dmapp_pe_t pe, bool get,
						     uint64_t *bytes, Place *place)
{
	const dmapp_return_t rc = t.check(get, bytes);

	return rc == DMAPP_RC_SUCCESS ? i.aim(t.remote, t.seg, pe, *bytes, get, place) : rc;
}

[[gnu::always_inline]] inline dmapp_return_t put(const How &how, dmapp_pe_t pe, const Transfer &t)
{
	return enter([&](Instance &i) {
		return i.perform(
			how, [&](Pending & p) __attribute__((always_inline)) {
				uint64_t bytes = 0;
				Place to;
				const dmapp_return_t rc = checked(i, t, pe, false, &bytes, &to);

				if (rc != DMAPP_RC_SUCCESS)
					return rc;
				/* One word may wait for others. */
				if (how.form != Form::implicit || bytes > 8 || !put_batched(i, to, t.local, bytes, p))
					i.put(to, t.local, bytes, p);
				return rc;
			});
	});
}

dmapp_return_t put_flag(const How &how, dmapp_pe_t pe, const Transfer &t, const void *flag, uint64_t value)
{
	return enter([&](Instance &i) {
		return i.perform(how, [&](Pending &p) {
			uint64_t bytes = 0;
			Place to, there;
			dmapp_return_t rc = checked(i, t, pe, false, &bytes, &to);

			if (rc == DMAPP_RC_SUCCESS)
				rc = i.aim(flag, t.seg, pe, 8, false, &there);
			if (rc == DMAPP_RC_SUCCESS && there.address % 8)
				rc = DMAPP_RC_ALIGNMENT_ERROR;
			if (rc != DMAPP_RC_SUCCESS)
				return rc;
			/* Words that this PE has put before do not come after the flag. */
			i.words_first();
			i.put_flag(to, t.local, bytes, there, value, p);
			return rc;
		});
	});
}

dmapp_return_t get(const How &how, dmapp_pe_t pe, const Transfer &t)
{
	return enter([&](Instance &i) {
		return i.perform(how, [&](Pending &p) {
			uint64_t bytes = 0;
			Place from;
			const dmapp_return_t rc = checked(i, t, pe, true, &bytes, &from);

			if (rc == DMAPP_RC_SUCCESS)
				i.get(t.local, from, bytes, p);
			return rc;
		});
	});
}

} // namespace

DMAPP_FORMS(put, put,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src, uint64_t nelems,
	     dmapp_type_t type),
	    (remote_pe, {remote_dst, remote_seg, local_src, nelems, type}))

DMAPP_FORMS(get, get,
	    (void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, uint64_t nelems,
	     dmapp_type_t type),
	    (remote_pe, {remote_src, remote_seg, local_dst, nelems, type}))

DMAPP_FORMS(put_flag, put_flag,
	    (void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src, uint64_t nelems,
	     dmapp_type_t type, void *remote_flag, uint64_t flag_value),
	    (remote_pe, {remote_dst, remote_seg, local_src, nelems, type}, remote_flag, flag_value))
