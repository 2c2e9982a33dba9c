// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "alps/libalpslli.h"

#include "application.hpp"

#include <cstddef>
#include <cstring>
#include <new>
#include <pthread.h>
#include <string>

namespace
{

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
bool locked = false;
pthread_t owner;

int status = ALPS_APP_LLI_ALPS_STAT_BAD_REQ;
alignas(std::string) std::byte place[sizeof(std::string)]; // lives as long as the process
std::string &answer()
{
	return *std::launder(reinterpret_cast<std::string *>(place));
}
size_t given = 0;

bool mine()
{
	return __atomic_load_n(&locked, __ATOMIC_ACQUIRE) && pthread_equal(owner, pthread_self());
}

/* The lock that another thread of the parent held is free in a child. */
void begin_in_child()
{
	if (mine())
		return;
	lock = PTHREAD_MUTEX_INITIALIZER;
	locked = false;
	new (place) std::string;
}

[[gnu::constructor]] void loaded()
{
	new (place) std::string;
	(void)pthread_atfork(nullptr, nullptr, begin_in_child);
}

template <typename Value> void append(const Value &value)
{
	answer().append(reinterpret_cast<const char *>(&value), sizeof(value));
}

int answer_domains()
{
	const auto domains = alps::domains();
	if (!domains)
		return ALPS_APP_LLI_ALPS_STAT_NO_APP;
	alpsAppLLIGni_t head = {};
	head.count = static_cast<int32_t>(domains->size());
	answer().append(reinterpret_cast<const char *>(&head), offsetof(alpsAppLLIGni_t, u));
	for (const alpsAppGni_t &domain : *domains)
		append(domain);
	/* Never shorter than the structure. */
	if (answer().size() < sizeof(head))
		answer().resize(sizeof(head));
	return ALPS_APP_LLI_ALPS_STAT_OK;
}

int serve(int request)
{
	const auto id = alps::application_id();
	if (!id)
		return ALPS_APP_LLI_ALPS_STAT_NO_APP;
	switch (request) {
	case ALPS_APP_LLI_ALPS_REQ_APID:
		append(*id);
		return ALPS_APP_LLI_ALPS_STAT_OK;
	case ALPS_APP_LLI_ALPS_REQ_GNI:
		return answer_domains();
	case ALPS_APP_LLI_ALPS_REQ_START:
	case ALPS_APP_LLI_ALPS_REQ_EXITING:
		return ALPS_APP_LLI_ALPS_STAT_OK;
	default:
		return ALPS_APP_LLI_ALPS_STAT_BAD_REQ;
	}
}

} // namespace

int alps_app_lli_lock()
{
	pthread_mutex_lock(&lock);
	owner = pthread_self();
	__atomic_store_n(&locked, true, __ATOMIC_RELEASE);
	status = ALPS_APP_LLI_ALPS_STAT_BAD_REQ;
	answer().clear();
	given = 0;
	return ALPS_APP_LLI_ALPS_STAT_OK;
}

int alps_app_lli_unlock()
{
	if (!mine())
		return ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED;
	__atomic_store_n(&locked, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return ALPS_APP_LLI_ALPS_STAT_OK;
}

int alps_app_lli_put_request(int request, void *, size_t)
{
	if (!mine())
		return ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED;
	answer().clear();
	given = 0;
	try {
		status = serve(request);
	} catch (...) {
		status = ALPS_APP_LLI_ALPS_STAT_NO_APP;
	}
	if (status != ALPS_APP_LLI_ALPS_STAT_OK)
		answer().clear();
	return status;
}

int alps_app_lli_get_response(int *to, size_t *bytes)
{
	if (!to || !bytes)
		return ALPS_APP_LLI_ALPS_STAT_BAD_REQ;
	if (!mine())
		return *to = ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED;
	*to = status;
	*bytes = answer().size();
	return ALPS_APP_LLI_ALPS_STAT_OK;
}

int alps_app_lli_get_response_bytes(void *buf, size_t len)
{
	if (!mine())
		return ALPS_APP_LLI_ALPS_STAT_NOT_LOCKED;
	if (!buf || len > answer().size() - given)
		return ALPS_APP_LLI_ALPS_STAT_BAD_REQ;
	memcpy(buf, answer().data() + given, len);
	given += len;
	return ALPS_APP_LLI_ALPS_STAT_OK;
}
