// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What two processes say to one another that reach each other by GNI datagrams only.
 */
#ifndef GNI_PERF_PAIR_KVS_H
#define GNI_PERF_PAIR_KVS_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/kvs.h"
#include "gni_pub.h"

namespace perf
{

/** Who a datagram came from. */
struct Partner {
	uint32_t address;
	uint32_t instance;
};

/**
 * Says @p mine and waits for @p theirs, both at most GNI_DATAGRAM_MAXSIZE bytes.
 * @param timeout_ms all ones: no limit
 * @return false when nobody came in time. Throws Failure.
 */
bool exchange_once(gni_ep_handle_t ep, void *mine, size_t mine_size, void *theirs, size_t theirs_size,
		   uint32_t timeout_ms, Partner &partner);

/** What is left until @p deadline, at least 1 ms: no wait is given 0. */
uint32_t whole_ms(const tools::Deadline &deadline);

/** What two ranks say to one another. */
class PairKvs : public tools::Exchange
{
public:
	/**
	 * @p endpoint is bound to one of the other process's, which is bound to this one. It must outlive the store.
	 * @param rank 0 or 1
	 */
	PairKvs(gni_ep_handle_t endpoint, int rank) : endpoint_(endpoint), rank_(rank) {}
	int ranks() const override { return 2; }
	void barrier() override;
	void end(bool passed) override;

private:
	void gather_bytes(const void *own, void *all, size_t size) override;
	std::string swap(const std::string &mine, double seconds);

	gni_ep_handle_t endpoint_;
	int rank_;
};

/**
 * Cuts a text into datagrams. A datagram is a byte with the length of its part, and the part.
 * @return part @p n of @p text, which may be empty. Throws Failure for a text that does not fit into parts_of_text.
 */
std::string part_of_text(const std::string &text, unsigned n);
constexpr unsigned parts_of_text = 2;

/** Adds the part in @p datagram to @p text. Throws Failure when it is none. */
void add_part(std::string &text, const std::string &datagram);

} // namespace perf

#endif // GNI_PERF_PAIR_KVS_H
