// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Exchange of small texts between the ranks of a job before they can reach each other through the NIC.
 */
#ifndef TOOLS_KVS_H
#define TOOLS_KVS_H

#include <memory>
#include <string>

#include "wait.h"

namespace tools
{

/** Key-value store shared by the ranks of a job. Keys and values are single words. */
class Kvs
{
public:
	virtual ~Kvs() = default;

	/** Publishes @p value; overwrites. Throws Failure. */
	virtual void put(const std::string &key, const std::string &value) = 0;

	/** Waits until a rank has put @p key. Throws Failure when the deadline passes. */
	virtual std::string get(const std::string &key, const Deadline &deadline) = 0;

	/** Returns when every one of @p ranks has called it with the same @p name; use a name once. */
	void barrier(const std::string &name, int rank, int ranks, const Deadline &deadline);
};

/**
 * Opens a store.
 * @param spec "unix:PATH" the cluster tool's control channel, "tcp:HOST:PORT" where rank 0 serves, "dir:PATH" a
 *             directory that all ranks see
 * @param job  name space of the keys
 * Throws UsageError for a bad @p spec, Failure when there is nothing to connect to before the deadline.
 */
std::unique_ptr<Kvs> open_kvs(const std::string &spec, const std::string &job, int rank, const Deadline &deadline);

} // namespace tools

#endif // TOOLS_KVS_H
