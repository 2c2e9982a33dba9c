// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Exchange of small texts between the ranks of a job before they can reach each other through the NIC: over libpmi.
 */
#ifndef TOOLS_KVS_H
#define TOOLS_KVS_H

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "place.h"
#include "wait.h"

namespace tools
{

/** What the ranks of a job say to one another, however it gets there. */
class Exchange
{
public:
	Exchange() = default;
	Exchange(const Exchange &) = delete;
	Exchange &operator=(const Exchange &) = delete;
	virtual ~Exchange() = default;

	/** Returns when every rank has called it. Throws Failure when one is missing. */
	virtual void barrier() = 0;

	/** The last barrier. @param passed false: other ranks may be gone, nobody waits for them for long. */
	virtual void end(bool passed) = 0;

	/** Every rank's value, in the order of ranks; all call it. Throws Failure when one is missing or of another
	 * size. */
	template <class T> std::vector<T> gather(const T &own)
	{
		static_assert(std::has_unique_object_representations_v<T>, "padding would be published");
		std::vector<T> all(static_cast<size_t>(ranks()));
		gather_bytes(&own, all.data(), sizeof(T));
		return all;
	}

	virtual int ranks() const = 0;

private:
	virtual void gather_bytes(const void *own, void *all, size_t size) = 0;
};

/** This process's membership in its job; one at a time. Keys and values are words and texts of up to 63 and 1,000
 * bytes. */
class Kvs : public Exchange
{
public:
	/**
	 * Joins.
	 * @param place as the command line has it; tells libpmi where it differs from what the launcher has said
	 * @param timeout_seconds after which waiting for another rank is given up
	 * Throws UsageError for a bad place, Failure when there is nothing to connect to.
	 */
	Kvs(const Place &place, double timeout_seconds);
	~Kvs() override;

	int rank() const { return rank_; }
	int ranks() const override { return ranks_; }

	/** Publishes @p value; overwrites. Throws Failure. */
	void put(const std::string &key, const std::string &value);

	/** What there is now; nothing if nobody has put the key yet, or the store does not answer. */
	std::optional<std::string> look(const std::string &key);

	/** Waits until a rank has put @p key. Throws Failure when the deadline passes. */
	std::string get(const std::string &key, const Deadline &deadline);

	void barrier() override;
	void end(bool passed) override;

private:
	void gather_bytes(const void *own, void *all, size_t size) override;

	int rank_ = 0, ranks_ = 1;
	std::string space_; /* PMI's name of the job's keys */
};

} // namespace tools

#endif // TOOLS_KVS_H
