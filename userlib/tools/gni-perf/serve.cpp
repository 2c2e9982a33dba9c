// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * The serving rank: executes what the measuring rank asks for.
 */
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "box.h"
#include "channel.h"
#include "common/failure.h"
#include "contend.h"
#include "echo.h"
#include "job.h"
#include "mail.h"
#include "msgq.h"
#include "shm.h"
#include "stream.h"

namespace perf
{

using tools::Failure;
using tools::format;
using tools::Mismatch;

namespace
{

void set_mismatch(Reply &reply, const char *where, uint64_t index, const Mismatch &m)
{
	reply.failed = 1;
	reply.mismatch = 1;
	reply.index = index;
	reply.offset = m.offset;
	reply.expected = m.expected;
	reply.got = m.got;
	snprintf(reply.text, sizeof(reply.text), "%s", where);
}

void check_layout(const Job &job, const Layout &layout, Reply &reply)
{
	for (uint64_t n = 0; n < layout.count && !reply.failed; n++) {
		const uint8_t *data = job.data() + layout.at(n);
		Mismatch body = tools::pattern_check(data, layout.size, layout.seed + n);
		Mismatch around = tools::guard_check(data, layout.size);
		if (body.found)
			set_mismatch(reply, "data that arrived is wrong", n, body);
		else if (around.found)
			set_mismatch(reply, "memory beside the transfer was changed", n, around);
	}
}

void fill_layout(const Job &job, const Layout &layout)
{
	for (uint64_t n = 0; n < layout.count; n++)
		tools::pattern_fill(job.data() + layout.at(n), layout.size, layout.seed + n);
}

/* Every remote event carries what the sender's endpoint was given; after them the queue is empty. */
void expect_events(const Job &job, uint64_t count)
{
	uint32_t data = remote_event_of(job.partner());
	gni_cq_entry_t entry;
	for (uint64_t n = 0; n < count; n++) {
		gni_return_t rc = job.sink().poll(entry, job.deadline());
		if (rc != GNI_RC_SUCCESS)
			throw Failure(format("remote event %" PRIu64 " of %" PRIu64 ": %s", n + 1, count,
					     tools::rc_name(rc).c_str()));
		if (GNI_CQ_GET_INST_ID(entry) != data || GNI_CQ_GET_REM_INST_ID(entry) != data)
			throw Failure(format("remote event carries 0x%" PRIx64 " and 0x%" PRIx64 ", expected 0x%x",
					     static_cast<uint64_t>(GNI_CQ_GET_INST_ID(entry)),
					     static_cast<uint64_t>(GNI_CQ_GET_REM_INST_ID(entry)), data));
		if (!GNI_CQ_STATUS_OK(entry) || GNI_CQ_OVERRUN(entry))
			throw Failure(format("remote event with status %s", tools::event_text(entry).c_str()));
	}
	if (GNI_CqGetEvent(job.sink().handle(), &entry) != GNI_RC_NOT_DONE)
		throw Failure(format("more than %" PRIu64 " remote events", count));
}

std::atomic_ref<uint64_t> amo_word(const Job &job)
{
	return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(job.control() + control_amo));
}

void stream(const Job &job, const StreamPlan &plan, Reply &reply)
{
	check_plan(job, plan);
	const StreamResult result = stream_run(job, plan, false);
	reply.operations = result.operations;
	reply.nanoseconds = result.nanoseconds;
}

void execute(Job &job, const Command &command, Reply &reply)
{
	if (!command.layout.fits(job.data_size()))
		throw Failure("a command came with a layout that does not fit");
	switch (command.ask) {
	case Ask::Prepare:
		tools::guard_fill(job.data(), command.layout.count * command.layout.stride());
		break;
	case Ask::Fill:
		fill_layout(job, command.layout);
		break;
	case Ask::Check:
		check_layout(job, command.layout, reply);
		break;
	case Ask::SetWord:
		amo_word(job).store(command.argument);
		break;
	case Ask::GetWord:
		reply.value = amo_word(job).load();
		break;
	case Ask::Contend:
		contend(job, job.partner(), command.argument);
		break;
	case Ask::Events:
		expect_events(job, command.argument);
		break;
	case Ask::Pingpong:
		echo(job, command.layout.size, command.argument, Seen::InMemory);
		break;
	case Ask::PutRemote:
		echo(job, command.layout.size, command.argument, Seen::ByEvent);
		break;
	case Ask::Smsg:
		mail_echo(job, command.layout.size, command.argument);
		break;
	case Ask::Msgq:
		msgq_echo(job, command.layout.size, command.argument);
		break;
	case Ask::Shm:
		shm_echo(command.argument, job.deadline());
		break;
	case Ask::StreamPrepare:
		check_plan(job, command.plan);
		stream_prepare(job, command.plan, false);
		break;
	case Ask::Stream:
		stream(job, command.plan, reply);
		break;
	case Ask::Quit:
		break;
	default:
		throw Failure("a command came that is not known");
	}
}

} // namespace

void serve(Job &job)
{
	int peer = job.partner();
	for (uint64_t sequence = 1;; sequence++) {
		Command command;
		if (!box_receive(job, peer, Box::Command, sequence, sequence - 1, command, tools::Patience::Mild))
			throw Failure(format("rank %d sent nothing for %g s", peer, job.options().timeout_seconds));
		Reply reply = {};
		try {
			execute(job, command, reply);
		} catch (const Failure &failure) {
			reply.failed = 1;
			snprintf(reply.text, sizeof(reply.text), "%s", failure.what());
		}
		box_send(job, peer, Box::Reply, sequence, reply);
		if (command.ask != Ask::Quit)
			continue;
		if (command.argument)
			throw Failure(format("rank %d reported a failure", peer));
		return;
	}
}

} // namespace perf
