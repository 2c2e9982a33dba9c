// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Many operations under way at a time, from one thread or several: what a pair of nodes can carry.
 */
#ifndef GNI_PERF_STREAM_H
#define GNI_PERF_STREAM_H

#include <cstdint>

#include "layout.h"
#include "samples.h"

namespace perf
{

class Job;

enum class StreamOp : uint64_t { Put, Get, BlockPut, BlockGet, Add };

/** What both sides of a pair know of a stream. */
struct StreamPlan {
	StreamOp op;
	uint64_t size;    /* bytes of an operation */
	uint64_t window;  /* operations of a thread that are under way at most */
	uint64_t slots;   /* places in memory that a thread's operations use in turn */
	uint64_t threads; /* each with an attachment of its own */
	uint64_t both;    /* 1: the serving rank runs the same stream the other way */
	uint64_t count;   /* operations of a thread; 0: until the time is over */
	uint64_t nanoseconds;
};

constexpr uint64_t most_window = 1024;
constexpr uint64_t most_threads = 64;

/** Places of a plan: first those of the measuring rank's operations, then, if both, those of the serving rank's. */
Layout stream_layout(const StreamPlan &plan);

/** True for operations that change memory of the side that posts them. */
bool stream_fetches(StreamOp op);

/** Throws Failure when the plan is none that this side can carry out; it may have come from elsewhere. */
void check_plan(const Job &job, const StreamPlan &plan);

/** Guards everywhere, and the pattern where this side's memory is the source. @p measures: this is the measuring rank.
 */
void stream_prepare(const Job &job, const StreamPlan &plan, bool measures);

struct StreamResult {
	uint64_t operations = 0;
	uint64_t nanoseconds = 0; /* from the first post to the last event, of the slowest thread */
	Samples latencies;        /* from the call to the event, not of all when they are very many */
};

/** Runs this side's part. Throws Failure. */
StreamResult stream_run(const Job &job, const StreamPlan &plan, bool measures);

} // namespace perf

#endif // GNI_PERF_STREAM_H
