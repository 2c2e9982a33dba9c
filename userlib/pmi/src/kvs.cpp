// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Interface 1: key-value spaces and names. */
#include "pmi.h"

#include "codec.hpp"
#include "session.hpp"

#include <cstring>

namespace
{

using pmi::Session;
using pmi::with_session;

int tell_limit(int *to, size_t limit)
{
	if (!to)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &) {
		*to = static_cast<int>(limit);
		return PMI_SUCCESS;
	});
}

/** What the service's keys of a space begin with: the job's own, or one that PMI_KVS_Create() has named. */
int space_prefix(const Session &session, const char *name, std::string &prefix)
{
	const std::string &job = session.place().job;
	const std::string_view all(name, strnlen(name, pmi::name_max + 16));
	if (all.substr(0, job.size()) != job)
		return PMI_ERR_INVALID_ARG;
	const std::string_view rest = all.substr(job.size());
	if (!rest.empty() && (rest.size() < 2 || rest.size() > 12 || rest[0] != '+' ||
			      rest.find_first_not_of("0123456789", 1) != rest.npos))
		return PMI_ERR_INVALID_ARG;
	prefix = "v" + std::string(rest.empty() ? rest : rest.substr(1)) + "/";
	return PMI_SUCCESS;
}

/** Runs @p act with the service's word for @p key in the space @p name. */
template <typename Act> int with_key(const char *name, const char *key, Act act)
{
	if (!name)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		std::string prefix;
		if (int rc = pmi::check_key(key))
			return rc;
		if (int rc = space_prefix(session, name, prefix))
			return rc;
		return act(session, prefix + pmi::key_word(key));
	});
}

} // namespace

int PMI_KVS_Get_my_name(char kvsname[], int length)
{
	return PMI_Get_id(kvsname, length);
}

int PMI_KVS_Get_name_length_max(int *length)
{
	return tell_limit(length, pmi::name_max + 12);
}

int PMI_KVS_Get_key_length_max(int *length)
{
	return tell_limit(length, pmi::key_max);
}

int PMI_KVS_Get_value_length_max(int *length)
{
	return tell_limit(length, pmi::value_max);
}

int PMI_KVS_Create(char kvsname[], int length)
{
	if (!kvsname)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		long number = 0;
		if (int rc = session.ticket("pmi/spaces", number))
			return rc;
		return pmi::copy_text(session.place().job + "+" + std::to_string(number), kvsname, length);
	});
}

int PMI_KVS_Destroy(const char kvsname[])
{
	if (!kvsname)
		return PMI_ERR_INVALID_ARG;
	/* Its keys go with the job. */
	return with_session([&](Session &session) {
		std::string prefix;
		return space_prefix(session, kvsname, prefix);
	});
}

int PMI_KVS_Put(const char kvsname[], const char key[], const char value[])
{
	return with_key(kvsname, key, [&](Session &session, const std::string &word) {
		const int rc = pmi::check_value(value);
		return rc ? rc : session.put(word, value);
	});
}

int PMI_KVS_Commit(const char kvsname[])
{
	/* Puts are at the service when they return. */
	return PMI_KVS_Destroy(kvsname);
}

int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length)
{
	return with_key(kvsname, key, [&](Session &session, const std::string &word) {
		std::string text;
		if (!value)
			return PMI_ERR_INVALID_VAL;
		const int rc = session.get(word, text, false);
		return rc ? rc : pmi::copy_text(text, value, length);
	});
}

/* ---- names ---- */

int PMI_Publish_name(const char service_name[], const char port[])
{
	return with_session([&](Session &session) {
		if (int rc = pmi::check_key(service_name))
			return rc;
		if (int rc = pmi::check_value(port))
			return rc;
		return session.put("name/" + pmi::key_word(service_name), port);
	});
}

int PMI_Unpublish_name(const char service_name[])
{
	return with_session([&](Session &session) {
		if (int rc = pmi::check_key(service_name))
			return rc;
		return session.del("name/" + pmi::key_word(service_name));
	});
}

int PMI_Lookup_name(const char service_name[], char port[])
{
	if (!port)
		return PMI_ERR_INVALID_ARG;
	return with_session([&](Session &session) {
		std::string text;
		if (int rc = pmi::check_key(service_name))
			return rc;
		if (int rc = session.get("name/" + pmi::key_word(service_name), text, false))
			return rc == PMI_ERR_INVALID_KEY ? PMI_FAIL : rc;
		return pmi::copy_text(text, port, static_cast<int>(pmi::value_max));
	});
}
