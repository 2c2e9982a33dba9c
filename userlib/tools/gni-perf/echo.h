// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Messages that two ranks send to and fro by puts.
 */
#ifndef GNI_PERF_ECHO_H
#define GNI_PERF_ECHO_H

#include <cstddef>
#include <cstdint>

#include "common/wait.h"
#include "gni_pub.h"

namespace perf
{

class Job;

/** Largest message: whole words, since the last word tells that it has arrived. */
constexpr size_t ping_max = 8192;

/** What the receiver polls: its memory, or the queue for remote events. */
enum class Seen { InMemory, ByEvent };

/** One side of a ping-pong; whatever does not depend on the round is done once. */
class PingPong
{
public:
	/** @p size a multiple of 8 up to ping_max. Throws Failure. */
	PingPong(Job &job, size_t size, Seen seen);

	/** Sends message @p round. Throws Failure. */
	void send(uint64_t round);

	/** Waits until every word of message @p round is there. Throws Failure at the deadline. */
	void await(uint64_t round);

private:
	void await_event(uint64_t round);

	Job &job_;
	Seen seen_;
	size_t words_;
	uint64_t *inbox_;
	uint64_t *message_;
	gni_ep_handle_t endpoint_;
	gni_cq_handle_t queue_;
	gni_post_descriptor_t put_;
	tools::Deadline deadline_;
};

/** Serving side: waits for message 1 to @p rounds and sends each back. Throws Failure. */
void echo(Job &job, size_t size, uint64_t rounds, Seen seen);

} // namespace perf

#endif // GNI_PERF_ECHO_H
