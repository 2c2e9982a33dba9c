// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * What the measuring rank asks of its partner. Both directions are FMA puts into the control regions.
 */
#ifndef GNI_PERF_CHANNEL_H
#define GNI_PERF_CHANNEL_H

#include <cstddef>
#include <cstdint>

#include "layout.h"
#include "stream.h"

namespace perf
{

class Job;

enum class Ask : uint64_t {
	Prepare = 1,   /* fill the layout with guard bytes */
	Fill,          /* fill the layout with the pattern of the seed */
	Check,         /* compare the layout with the pattern of the seed, and the guards */
	SetWord,       /* word for atomics = argument */
	GetWord,       /* value = word for atomics */
	Contend,       /* argument fetching additions on the word of rank 0's partner in the pair */
	Events,        /* expect argument remote events on the sink queue */
	Pingpong,      /* echo argument messages of size bytes */
	PutRemote,     /* the same, seen by their remote events */
	Smsg,          /* echo argument short messages of size bytes, then take as many */
	Msgq,          /* the same through message queues */
	Shm,           /* echo argument rounds through memory that an ivshmem device shares */
	StreamPrepare, /* memory for the plan */
	Stream,        /* run the plan towards the measuring rank; operations and nanoseconds = what it did */
	Quit,          /* the end; argument not 0: the measuring rank failed */
};

struct Command {
	Ask ask;
	Layout layout;
	uint64_t argument;
	StreamPlan plan;
};

struct Reply {
	uint64_t failed; /* text, and if it was a comparison, the other fields tell */
	uint64_t mismatch;
	uint64_t index;
	int64_t offset;
	uint64_t expected;
	uint64_t got;
	uint64_t value;
	uint64_t operations;
	uint64_t nanoseconds;
	char text[120];
};

/** Side of the measuring rank. */
class Caller
{
public:
	explicit Caller(Job &job);

	/** Goes with every command from now on. */
	void plan(const StreamPlan &plan) { plan_ = plan; }

	/** Asks and waits for the answer. Throws Failure, with everything that the partner told. */
	Reply call(Ask ask, const Layout &layout = {}, uint64_t argument = 0);

	/** Asks without waiting, for work that both sides do at once. */
	void send(Ask ask, const Layout &layout = {}, uint64_t argument = 0);

	/** Waits for the answer to the last send(). Throws Failure. */
	Reply answer();

private:
	Job &job_;
	StreamPlan plan_ = {};
	uint64_t sequence_ = 0;
};

/** Side of the serving rank: executes commands until Quit. Throws Failure. */
void serve(Job &job);

} // namespace perf

#endif // GNI_PERF_CHANNEL_H
