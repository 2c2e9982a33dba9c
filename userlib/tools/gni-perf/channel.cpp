// SPDX-License-Identifier: BSD-2-Clause
#include "channel.h"

#include <cinttypes>
#include <cstring>

#include "box.h"
#include "common/failure.h"
#include "job.h"

namespace perf
{

using tools::Failure;
using tools::format;

Caller::Caller(Job &job) : job_(job) {}

void Caller::send(Ask ask, const Layout &layout, uint64_t argument)
{
	Command command = {ask, layout, argument, plan_};
	box_send(job_, job_.partner(), Box::Command, sequence_ + 1, command);
	sequence_++;
}

Reply Caller::answer()
{
	Reply reply;
	if (!box_receive(job_, job_.partner(), Box::Reply, sequence_, sequence_, reply, tools::Patience::Hot))
		throw Failure(
			format("rank %d did not answer within %g s", job_.partner(), job_.options().timeout_seconds));
	if (!reply.failed)
		return reply;
	reply.text[sizeof(reply.text) - 1] = '\0';
	if (!reply.mismatch)
		throw Failure(format("rank %d: %s", job_.partner(), reply.text));
	throw Failure(format("rank %d: %s, transfer %" PRIu64 " of the batch, offset %" PRId64 ": expected 0x%02" PRIx64
			     ", got 0x%02" PRIx64,
			     job_.partner(), reply.text, reply.index, reply.offset, reply.expected, reply.got));
}

Reply Caller::call(Ask ask, const Layout &layout, uint64_t argument)
{
	send(ask, layout, argument);
	return answer();
}

} // namespace perf
