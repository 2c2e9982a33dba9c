// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Two processes that no launcher has started find each other by GNI datagrams: a server that waits for anybody of its
 * domain, and a client that knows the server's node.
 */
#ifndef GNI_PERF_MEETING_H
#define GNI_PERF_MEETING_H

#include <map>
#include <memory>
#include <string>

#include "common/gni.h"
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

/** The key-value store of two ranks: what one puts goes to the other when that one puts, too. */
class PairKvs : public tools::Kvs
{
public:
	/** @p endpoint is bound to one of the other process's, which is bound to this one. It must outlive the store. */
	explicit PairKvs(gni_ep_handle_t endpoint) : endpoint_(endpoint) {}
	void put(const std::string &key, const std::string &value) override;
	std::string get(const std::string &key, const tools::Deadline &deadline) override;

private:
	void exchange(const tools::Deadline &deadline);

	gni_ep_handle_t endpoint_;
	std::string pending_; /* put, and not exchanged yet */
	std::map<std::string, std::string> values_;
};

/**
 * Cuts a text into datagrams, and puts together what came. A datagram is a byte with the length of its part, and the part.
 * @return part @p n of @p text, which may be empty. Throws Failure for a text that does not fit into parts_of_text.
 */
std::string part_of_text(const std::string &text, unsigned n);
constexpr unsigned parts_of_text = 2;

/** Adds the part in @p datagram to @p text. Throws Failure when it is none. */
void add_part(std::string &text, const std::string &datagram);

/**
 * Client: asks the server at NIC address @p address, runs the tests with it. Throws Failure, when nobody answers before
 * the connect time too.
 * @return exit status
 */
int run_client(const Options &options, uint32_t address);

/** Server: serves clients, one after the other; with options.once the first one only. Throws Failure. */
int run_server(const Options &options);

/** What a rank does, when it knows how to reach the other one. */
int run_rank(const Options &options, tools::Kvs &kvs);

} // namespace perf

#endif // GNI_PERF_MEETING_H
