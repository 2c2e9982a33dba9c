// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Exchanges between all ranks, as on Cray machines. */
#include "pmi.h"

#include "debug.hpp"
#include "session.hpp"

#include <cstring>

namespace
{

using pmi::Session;

/** Gathers, checks that every rank has given what @p length_of says, and lays it out one after the other. */
template <typename LengthOf> int gather(const void *in, int length, void *out, LengthOf length_of)
{
	if (length < 0)
		return PMI_ERR_INVALID_LENGTH;
	if (!in || !out)
		return PMI_ERR_INVALID_ARG;
	return pmi::with_session([&](Session &session) {
		std::vector<std::string> all;
		const std::string mine(static_cast<const char *>(in), static_cast<size_t>(length));
		if (int rc = session.gather(mine, all))
			return rc;
		for (size_t rank = 0; rank < all.size(); rank++) {
			const int expected = length_of(rank);
			if (expected >= 0 && all[rank].size() == static_cast<size_t>(expected))
				continue;
			pmi::debug("rank %zu gives %zu bytes where %d are expected", rank, all[rank].size(), expected);
			return PMI_FAIL;
		}
		char *to = static_cast<char *>(out);
		for (const std::string &part : all) {
			memcpy(to, part.data(), part.size());
			to += part.size();
		}
		return PMI_SUCCESS;
	});
}

} // namespace

int PMI_Allgather(void *in, void *out, int len_in)
{
	return gather(in, len_in, out, [&](size_t) { return len_in; });
}

int PMI_Allgatherv(void *in, int len_in, void *out, int *all_lens)
{
	if (!all_lens)
		return PMI_ERR_INVALID_ARG;
	return gather(in, len_in, out, [&](size_t rank) { return all_lens[rank]; });
}

int PMI_Bcast(void *buf, int length)
{
	if (length < 0)
		return PMI_ERR_INVALID_LENGTH;
	if (!buf)
		return PMI_ERR_INVALID_ARG;
	return pmi::with_session([&](Session &session) {
		std::string bytes;
		if (session.place().rank == 0)
			bytes.assign(static_cast<const char *>(buf), static_cast<size_t>(length));
		if (int rc = session.broadcast(bytes))
			return rc;
		if (session.place().rank == 0)
			return PMI_SUCCESS;
		if (bytes.size() != static_cast<size_t>(length)) {
			pmi::debug("rank 0 gives %zu bytes where %d are expected", bytes.size(), length);
			return PMI_FAIL;
		}
		memcpy(buf, bytes.data(), bytes.size());
		return PMI_SUCCESS;
	});
}
