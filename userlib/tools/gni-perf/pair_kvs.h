// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * The key-value store of two processes that reach each other by GNI datagrams only.
 */
#ifndef GNI_PERF_PAIR_KVS_H
#define GNI_PERF_PAIR_KVS_H

#include <cstddef>
#include <cstdint>
#include <map>
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

/** The key-value store of two ranks: what one puts goes to the other when that one puts, too. */
class PairKvs : public tools::Kvs
{
public:
	/** @p endpoint is bound to one of the other process's, which is bound to this one. It must outlive the store.
	 */
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
 * Cuts a text into datagrams. A datagram is a byte with the length of its part, and the part.
 * @return part @p n of @p text, which may be empty. Throws Failure for a text that does not fit into parts_of_text.
 */
std::string part_of_text(const std::string &text, unsigned n);
constexpr unsigned parts_of_text = 2;

/** Adds the part in @p datagram to @p text. Throws Failure when it is none. */
void add_part(std::string &text, const std::string &datagram);

} // namespace perf

#endif // GNI_PERF_PAIR_KVS_H
