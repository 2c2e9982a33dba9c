// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Messages between the two ranks of a job through message queues.
 */
#ifndef GNI_PERF_MSGQ_H
#define GNI_PERF_MSGQ_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/gni.h"
#include "common/wait.h"

namespace perf
{

class Job;

/** Largest message: whole words. */
constexpr size_t msgq_max = GNI_MSGQ_MSG_SZ_MAX;

/** A message queue with one instance a rank, and the connection of the two nodes, or of the one with itself. */
class Msgq
{
public:
	/** Connected when this returns. @p size of all messages: a multiple of 8, 8 to msgq_max. Throws Failure. */
	Msgq(Job &job, size_t size);
	Msgq(const Msgq &) = delete;
	Msgq &operator=(const Msgq &) = delete;
	~Msgq();

	/** Sends message @p round, as soon as there is room, and takes its event. Throws Failure. */
	void send(uint64_t round);

	/** Waits for message @p round, which must be the next one, and compares it. Throws Failure. */
	void await(uint64_t round);

private:
	gni_msgq_ep_attr_t swap_records(const gni_msgq_ep_attr_t &own) const;
	void connect();
	static int receive(uint32_t sender, uint32_t pe, void *message, uint8_t tag, void *self);

	Job &job_;
	std::vector<uint64_t> message_;
	tools::Endpoint endpoint_;
	tools::Deadline deadline_;
	gni_msgq_handle_t queue_ = nullptr;
	uint64_t received_ = 0;    /* number of the message that came last */
	bool wrong_ = false;       /* it was not as expected */
	bool with_itself_ = false; /* both ranks are on one node */
};

/** Messages 1 to @p rounds to and fro, then as many one way, then one back. Throws Failure. */
void msgq_echo(Job &job, size_t size, uint64_t rounds);

} // namespace perf

#endif // GNI_PERF_MSGQ_H
