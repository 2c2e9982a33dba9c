// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "kvs.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>

#include <pmi.h>

#include "failure.h"

namespace tools
{

namespace
{

void check_pmi(int code, const char *what, const std::string &more = "")
{
	if (code != PMI_SUCCESS)
		throw Failure(format("%s %s: code %d", what, more.c_str(), code));
}

void set(const char *name, const std::string &value)
{
	if (setenv(name, value.c_str(), 1) != 0) // NOLINT(concurrency-mt-unsafe)
		throw Failure(format("no memory for %s", name));
}

/* What the command line says goes where libpmi looks for what a launcher says. */
void tell_place(const Place &place, double timeout_seconds)
{
	const Place told = place_from_environment();
	if (place.kvs.empty() || place.kvs[0] == ':' ||
	    (place.kvs != told.kvs && place.kvs.find(':') == std::string::npos))
		throw UsageError(format("'%s' is none of unix:PATH, tcp:HOST:PORT, dir:PATH", place.kvs.c_str()));
	if (place.rank != told.rank || place.ranks != told.ranks) {
		set("PMI_RANK", std::to_string(place.rank));
		set("PMI_SIZE", std::to_string(place.ranks));
		(void)unsetenv("OPENGNI_LAYOUT"); // NOLINT(concurrency-mt-unsafe)
	}
	if (place.kvs != told.kvs)
		set("OPENGNI_KVS", place.kvs);
	if (place.job != told.job)
		set("OPENGNI_JOB", place.job);
	if (place.cookie != told.cookie)
		set("OPENGNI_COOKIE", std::to_string(place.cookie));
	set("OPENGNI_KVS_TIMEOUT", format("%.0f", std::clamp(timeout_seconds, 1.0, 1e6)));
	setenv("PMI_DEBUG", "1", 0); // NOLINT(concurrency-mt-unsafe): the cause of a failure belongs to its message
}

} // namespace

Kvs::Kvs(const Place &place, double timeout_seconds)
{
	tell_place(place, timeout_seconds);
	int spawned = 0;
	char name[256];
	check_pmi(PMI_Init(&spawned), "PMI_Init with", place.kvs);
	check_pmi(PMI_Get_rank(&rank_), "PMI_Get_rank");
	check_pmi(PMI_Get_size(&ranks_), "PMI_Get_size");
	check_pmi(PMI_KVS_Get_my_name(name, sizeof(name)), "PMI_KVS_Get_my_name");
	space_ = name;
}

Kvs::~Kvs()
{
	(void)PMI_Finalize();
}

void Kvs::put(const std::string &key, const std::string &value)
{
	check_pmi(PMI_KVS_Put(space_.c_str(), key.c_str(), value.c_str()), "PMI_KVS_Put of", key);
}

std::optional<std::string> Kvs::look(const std::string &key)
{
	char value[PMI2_MAX_VALLEN];
	if (PMI_KVS_Get(space_.c_str(), key.c_str(), value, sizeof(value)) != PMI_SUCCESS)
		return std::nullopt;
	return value;
}

std::string Kvs::get(const std::string &key, const Deadline &deadline)
{
	for (;;) {
		if (auto value = look(key))
			return *value;
		if (deadline.passed())
			throw Failure(format("no rank has put %s in time", key.c_str()));
		const timespec pause = {0, 10000000};
		nanosleep(&pause, nullptr);
	}
}

void Kvs::barrier()
{
	check_pmi(PMI_Barrier(), "PMI_Barrier");
}

void Kvs::end(bool passed)
{
	if (!passed)
		exit_after(10);
	barrier();
}

void Kvs::gather_bytes(const void *own, void *all, size_t size)
{
	check_pmi(PMI_Allgather(const_cast<void *>(own), all, static_cast<int>(size)), "PMI_Allgather");
}

} // namespace tools
