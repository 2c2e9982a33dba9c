// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Two processes that no launcher has started find each other by GNI datagrams: a server that waits for anybody of its
 * domain, and a client that knows the server's node.
 */
#ifndef GNI_PERF_MEETING_H
#define GNI_PERF_MEETING_H

#include "common/kvs.h"
#include "options.h"

namespace perf
{

/** What a client asks of a server; both sides must agree on it. At most GNI_DATAGRAM_MAXSIZE bytes. */
struct Request {
	uint64_t magic;
	uint32_t version; /* of this structure and of everything that follows */
	uint32_t delivery;
	uint64_t max_size;
	uint64_t least_data; /* bytes that the server's data region has at least */
	double timeout_seconds;
	uint32_t instance; /* who asks, or who will go on talking to the client */
	uint32_t reserved;
};

/**
 * Client: asks the server at NIC address @p address, runs the tests with it. Throws Failure, when nobody answers before
 * the connect time too.
 * @return exit status
 */
int run_client(const Options &options, uint32_t address);

/** Server: serves clients, one after the other; with options.once the first one only. Throws Failure. */
int run_server(const Options &options);

/** What a rank does, when it knows how to reach the other one. */
int run_rank(const Options &options, tools::Exchange &kvs);

} // namespace perf

#endif // GNI_PERF_MEETING_H
