// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Keys, counts and barriers that the ranks of a job share before they can reach each other through the NIC. */
#pragma once

#include "line.hpp"

#include <memory>
#include <optional>
#include <string>

namespace kvs
{

/** Waiting without limit. */
constexpr long forever = -1;

/**
 * A store; only one thread may use it at a time. Keys and names of barriers are words ([A-Za-z0-9._:/-], at most 128),
 * values the rest of a line. All methods throw Error.
 */
class Store
{
public:
	virtual ~Store() = default;

	/** Publishes; overwrites. */
	virtual void put(const std::string &key, const std::string &value) = 0;

	/** The value of a key, waiting for it for @p wait_ms (0: as it is now); none if nobody has put it by then. */
	virtual std::optional<std::string> get(const std::string &key, long wait_ms) = 0;

	/** Adds to a number, which is 0 at first; the sum. */
	virtual long add(const std::string &key, long n) = 0;

	virtual void del(const std::string &key) = 0;

	/** Returns when @p count callers are in; a name may be used again after that. */
	virtual void barrier(const std::string &name, int count, long wait_ms) = 0;

	/**
	 * In a child of fork(): closes the files of the parent without telling anybody, and looks at nothing else, for
	 * another thread may have been about to change it. The store is of no use then, and is not destroyed.
	 */
	virtual void abandon() = 0;
};

/**
 * Opens a store.
 * @param place a path or "unix:PATH": the launcher's socket; "tcp:HOST:PORT": rank 0 serves
 *              there; "dir:PATH": a directory that all ranks see
 * @param space name space of the keys; empty: the service's default
 * @param limit_ms how long a peer may take to appear (tcp), and to answer what it answers at once
 * Throws BadPlace, Error.
 */
std::unique_ptr<Store> open_store(const std::string &place, const std::string &space, int rank, long limit_ms);

} // namespace kvs
