// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Interface 2. Its codes have the numbers of interface 1. */
#include "pmi.h"

#include "codec.hpp"
#include "session.hpp"

#include <algorithm>
#include <cstring>

static_assert(PMI2_ERR_INIT == PMI_ERR_INIT && PMI2_ERR_INVALID_KEY == PMI_ERR_INVALID_KEY &&
	      PMI2_ERR_INVALID_SIZE == PMI_ERR_INVALID_SIZE);

namespace
{

using pmi::Session;
using pmi::with_session;

/** Value of an attribute of the job; empty where there is none of that name. */
std::string job_attribute(const Session &session, std::string_view name)
{
	const auto &place = session.place();
	if (name == "universeSize")
		return std::to_string(place.size);
	if (name == "PMI_process_mapping")
		return pmi::process_mapping(place.nodes);
	return "";
}

std::string node_prefix(const Session &session)
{
	const auto &place = session.place();
	/* Nobody has told the node: a node of its own. */
	const int node = place.nodes.empty() ? -1 - place.rank : place.nodes[static_cast<size_t>(place.rank)];
	return "node/" + std::to_string(node) + "/";
}

/** As PMI2_KVS_Get() gives a value. */
void cut_text(const std::string &text, char *to, int room, int *length)
{
	const size_t most = static_cast<size_t>(room) - 1, n = std::min(most, text.size());
	memcpy(to, text.data(), n);
	to[n] = '\0';
	*length = static_cast<int>(text.size() > most ? -static_cast<int>(text.size()) : static_cast<int>(n));
}

} // namespace

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum)
{
	if (!spawned || !size || !rank || !appnum)
		return PMI2_ERR_INVALID_ARG;
	if (int rc = PMI_Init(spawned))
		return rc;
	(void)PMI_Get_size(size);
	(void)PMI_Get_rank(rank);
	return PMI_Get_appnum(appnum);
}

int PMI2_Initialized()
{
	PMI_BOOL initialized = PMI_FALSE;
	(void)PMI_Initialized(&initialized);
	return initialized;
}

int PMI2_Finalize()
{
	return PMI_Finalize();
}

int PMI2_Abort(int, const char msg[])
{
	return PMI_Abort(1, msg);
}

int PMI2_Job_GetId(char jobid[], int jobid_size)
{
	return PMI_Get_id(jobid, jobid_size);
}

int PMI2_Job_GetRank(int *rank)
{
	return PMI_Get_rank(rank);
}

int PMI2_Info_GetSize(int *size)
{
	return PMI_Get_clique_size(size);
}

int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found)
{
	if (!name || !value || !found)
		return PMI2_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		const std::string text = job_attribute(session, name);
		*found = !text.empty();
		return *found ? pmi::copy_text(text, value, valuelen) : PMI2_SUCCESS;
	});
}

int PMI2_Info_GetJobAttrIntArray(const char name[], int array[], int arraylen, int *outlen, int *found)
{
	if (!name || !array || !outlen || !found)
		return PMI2_ERR_INVALID_ARG;
	if (arraylen < 1)
		return PMI2_ERR_INVALID_LENGTH;
	return with_session([&](Session &session) {
		*found = strcmp(name, "universeSize") == 0;
		*outlen = *found;
		if (*found)
			array[0] = session.place().size;
		return PMI2_SUCCESS;
	});
}

int PMI2_Info_PutNodeAttr(const char name[], const char value[])
{
	return with_session([&](Session &session) {
		if (int rc = pmi::check_key(name))
			return rc;
		if (int rc = pmi::check_value(value))
			return rc;
		return session.put(node_prefix(session) + pmi::key_word(name), value);
	});
}

int PMI2_Info_GetNodeAttr(const char name[], char value[], int valuelen, int *found, int waitfor)
{
	if (!value || !found)
		return PMI2_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		std::string text;
		if (int rc = pmi::check_key(name))
			return rc;
		*found = 0;
		const int rc = session.get(node_prefix(session) + pmi::key_word(name), text, waitfor != 0);
		if (rc)
			return rc == PMI_ERR_INVALID_KEY ? PMI2_SUCCESS : rc;
		*found = 1;
		return pmi::copy_text(text, value, valuelen);
	});
}

int PMI2_KVS_Put(const char key[], const char value[])
{
	return with_session([&](Session &session) {
		if (int rc = pmi::check_key(key))
			return rc;
		if (int rc = pmi::check_value(value))
			return rc;
		return session.put("v/" + pmi::key_word(key), value);
	});
}

int PMI2_KVS_Get(const char *jobid, int, const char key[], char value[], int maxvalue, int *vallen)
{
	if (!value || !vallen)
		return PMI2_ERR_INVALID_ARG;
	if (maxvalue < 1)
		return PMI2_ERR_INVALID_LENGTH;
	return with_session([&](Session &session) {
		std::string text;
		if (jobid && session.place().job != jobid)
			return PMI2_ERR_INVALID_ARG;
		if (int rc = pmi::check_key(key))
			return rc;
		if (int rc = session.get("v/" + pmi::key_word(key), text, false))
			return rc;
		cut_text(text, value, maxvalue, vallen);
		return PMI2_SUCCESS;
	});
}

int PMI2_KVS_Fence()
{
	return PMI_Barrier();
}

int PMI2_Nameserv_publish(const char service_name[], const struct MPID_Info *, const char port[])
{
	return PMI_Publish_name(service_name, port);
}

int PMI2_Nameserv_unpublish(const char service_name[], const struct MPID_Info *)
{
	return PMI_Unpublish_name(service_name);
}

int PMI2_Nameserv_lookup(const char service_name[], const struct MPID_Info *, char port[], int port_len)
{
	char text[PMI2_MAX_VALLEN];
	if (!port)
		return PMI2_ERR_INVALID_ARG;
	const int rc = PMI_Lookup_name(service_name, text);
	return rc ? rc : pmi::copy_text(text, port, port_len);
}
