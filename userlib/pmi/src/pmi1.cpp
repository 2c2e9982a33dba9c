// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Interface 1: begin, end and the job. */
#include "pmi.h"

#include "debug.hpp"
#include "session.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace
{

using pmi::Session;
using pmi::with_session;

/** Sets *@p to from the session. */
template <typename Value> int tell(int *to, Value value)
{
	if (!to)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		*to = value(session);
		return PMI_SUCCESS;
	});
}

std::vector<int> clique(const Session &session)
{
	const auto &place = session.place();
	std::vector<int> ranks;
	if (place.nodes.empty())
		return {place.rank};
	for (int rank = 0; rank < place.size; rank++)
		if (place.nodes[static_cast<size_t>(rank)] == place.nodes[static_cast<size_t>(place.rank)])
			ranks.push_back(rank);
	return ranks;
}

int tell_name(char *to, int length)
{
	if (!to)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) { return pmi::copy_text(session.place().job, to, length); });
}

} // namespace

int PMI_Init(int *spawned)
{
	if (!spawned)
		return PMI_ERR_INVALID_ARG;
	const pmi::Uncancelled whole;
	try {
		Session &session = Session::get();
		const std::lock_guard guard(session.lock());
		const int rc = session.init();
		if (rc == PMI_SUCCESS)
			pmi::complete_gni_variables();
		*spawned = PMI_FALSE;
		return rc;
	} catch (...) {
		return PMI_ERR_NOMEM;
	}
}

int PMI_Initialized(PMI_BOOL *initialized)
{
	if (!initialized)
		return PMI_ERR_INVALID_ARG;
	const int rc = with_session([](Session &) { return PMI_SUCCESS; });
	*initialized = rc == PMI_SUCCESS ? PMI_TRUE : PMI_FALSE;
	return PMI_SUCCESS;
}

int PMI_Finalize()
{
	return with_session([](Session &session) { return session.finalize(); });
}

int PMI_Abort(int exit_code, const char error_msg[])
{
	/* No lock: another thread may wait in a barrier. */
	(void)fflush(stdout);
	(void)fprintf(stderr, "PMI_Abort: exit code %d: %s\n", exit_code, error_msg ? error_msg : "");
	(void)fflush(stderr);
	_exit(exit_code & 0xff ? exit_code : 1);
}

int PMI_Get_size(int *size)
{
	return tell(size, [](const Session &session) { return session.place().size; });
}

int PMI_Get_rank(int *rank)
{
	return tell(rank, [](const Session &session) { return session.place().rank; });
}

int PMI_Get_universe_size(int *size)
{
	return PMI_Get_size(size);
}

int PMI_Get_appnum(int *appnum)
{
	return tell(appnum, [](const Session &session) { return session.place().appnum; });
}

int PMI_Get_id(char id_str[], int length)
{
	return tell_name(id_str, length);
}

int PMI_Get_kvs_domain_id(char id_str[], int length)
{
	return tell_name(id_str, length);
}

int PMI_Get_id_length_max(int *length)
{
	return tell(length, [](const Session &) { return static_cast<int>(pmi::name_max); });
}

int PMI_Get_clique_size(int *size)
{
	return tell(size, [](const Session &session) { return static_cast<int>(clique(session).size()); });
}

int PMI_Get_numpes_on_smp(int *num)
{
	return PMI_Get_clique_size(num);
}

int PMI_Get_clique_ranks(int ranks[], int length)
{
	if (!ranks)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		const std::vector<int> all = clique(session);
		if (length < 0 || all.size() > static_cast<size_t>(length))
			return PMI_ERR_INVALID_LENGTH;
		std::copy(all.begin(), all.end(), ranks);
		return PMI_SUCCESS;
	});
}

static bool placed(const char *call, const pmi::Place &place)
{
	if (place.nodes.empty())
		pmi::debug("%s: OPENGNI_LAYOUT is not set", call);
	return !place.nodes.empty();
}

int PMI_Get_nid(int rank, int *nid)
{
	if (!nid)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		const auto &place = session.place();
		if (rank < 0 || rank >= place.size)
			return PMI_ERR_INVALID_ARG;
		if (!placed("PMI_Get_nid", place))
			return PMI_FAIL;
		*nid = place.nodes[static_cast<size_t>(rank)];
		return PMI_SUCCESS;
	});
}

int PMI_Get_nidlist_ptr(void **nids)
{
	if (!nids)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		if (!placed("PMI_Get_nidlist_ptr", session.place()))
			return PMI_FAIL;
		*nids = const_cast<int *>(session.place().nodes.data());
		return PMI_SUCCESS;
	});
}

int PMI_Barrier()
{
	return with_session([](Session &session) { return session.barrier(); });
}

int PMI_Spawn_multiple(int, const char *[], const char **[], const int[], const int[], const PMI_keyval_t *[], int,
		       const PMI_keyval_t[], int[])
{
	pmi::debug("PMI_Spawn_multiple: the launcher starts no further ranks");
	return PMI_FAIL;
}

int PMI_Get_version_info(int *major, int *minor, int *revision)
{
	if (!major || !minor || !revision)
		return PMI_ERR_INVALID_ARG;
	*major = 5;
	*minor = 0;
	*revision = 17;
	return PMI_SUCCESS;
}
