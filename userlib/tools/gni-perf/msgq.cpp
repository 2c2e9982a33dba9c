// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "msgq.h"

#include <atomic>
#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "job.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint8_t tag_of_all = 77;
constexpr uint64_t stamp = 0x7163'6f72'6473'6771; /* no number of a ping-pong */
constexpr size_t stamp_bytes = 8;
constexpr uint32_t credits = 64;

/* With one instance of a node; the record of a node with two is not sent. */
constexpr size_t record_bytes = offsetof(gni_msgq_ep_attr_t, insts) + sizeof(gni_msgq_rem_inst_t);

} // namespace

Msgq::Msgq(Job &job, size_t size)
	: job_(job), message_(size / 8),
	  endpoint_(job.nic(), job.source().handle(), job.info(job.partner()).pe, job.info(job.partner()).inst_id),
	  deadline_(job.deadline()), with_itself_(job.info(job.rank()).pe == job.info(job.partner()).pe)
{
	if (size == 0 || size % 8 || size > msgq_max || job.ranks() != 2)
		throw Failure("message queues of a size that is not possible, or not between two ranks");
	gni_msgq_attr_t attrs = {};
	attrs.max_msg_sz = static_cast<uint32_t>(size);
	attrs.smsg_q_sz = credits;
	attrs.rcv_pool_sz = 1;
	attrs.num_msgq_eps = 1;
	attrs.nloc_insts = with_itself_ ? 2 : 1;
	attrs.rcv_cq_sz = 2 * credits;
	tools::check(GNI_MsgqInit(job.nic(), receive, this, job.source().handle(), &attrs, &queue_), "GNI_MsgqInit");
	try {
		connect();
	} catch (const Failure &) {
		(void)GNI_MsgqRelease(queue_);
		throw;
	}
}

Msgq::~Msgq()
{
	(void)GNI_MsgqRelease(queue_);
}

/* Through the place of the ping-pong's messages: contents, then the stamp. */
gni_msgq_ep_attr_t Msgq::swap_records(const gni_msgq_ep_attr_t &own) const
{
	uint8_t *place = job_.control() + control_ping;
	const uint64_t word = stamp;
	gni_post_descriptor_t body = job_.control_put(job_.partner(), control_ping + stamp_bytes, &own, record_bytes);
	job_.execute(job_.partner(), body);
	gni_post_descriptor_t end = job_.control_put(job_.partner(), control_ping, &word, stamp_bytes);
	job_.execute(job_.partner(), end);

	std::atomic_ref<uint64_t> arrived(*reinterpret_cast<uint64_t *>(place));
	if (!tools::poll_until([&] { return arrived.load(std::memory_order_acquire) == stamp; }, deadline_))
		throw Failure("the partner's record of the message queue did not come");
	gni_msgq_ep_attr_t record = {};
	memcpy(&record, place + stamp_bytes, record_bytes);
	arrived.store(0, std::memory_order_relaxed);
	return record;
}

void Msgq::connect()
{
	if (with_itself_ && !job_.measures())
		return; /* one rank connects the node */
	const uint32_t pe = job_.info(job_.partner()).pe;
	gni_msgq_ep_attr_t record = {};
	gni_return_t rc = GNI_RC_SUCCESS;
	auto reserved = [&] {
		rc = GNI_MsgqGetConnAttrs(queue_, pe, &record, nullptr);
		return rc != GNI_RC_PERMISSION_ERROR;
	};
	if (!reserved() && !tools::poll_until(reserved, deadline_))
		throw Failure("the other instance of the node did not come");
	tools::check(rc, "GNI_MsgqGetConnAttrs");
	if (!with_itself_)
		record = swap_records(record);
	tools::check(GNI_MsgqConnect(queue_, pe, &record), "GNI_MsgqConnect");
}

void Msgq::send(uint64_t round)
{
	for (uint64_t &word : message_)
		word = round;
	gni_return_t rc = GNI_RC_NOT_DONE;
	auto taken = [&] {
		rc = GNI_MsgqSend(queue_, endpoint_.handle(), message_.data(), 8, message_.data() + 1,
				  static_cast<uint32_t>(8 * (message_.size() - 1)), static_cast<uint32_t>(round),
				  tag_of_all);
		/* Before the other rank has connected the node there is no way. */
		return rc != GNI_RC_NOT_DONE && (round || (rc != GNI_RC_NO_MATCH && rc != GNI_RC_INVALID_STATE));
	};
	if (!taken())
		tools::poll_until(taken, deadline_);
	tools::check(rc, "GNI_MsgqSend");
	gni_cq_entry_t entry;
	rc = job_.source().poll(entry, deadline_);
	if (rc != GNI_RC_SUCCESS || GNI_CQ_GET_MSG_ID(entry) != static_cast<uint32_t>(round) ||
	    GNI_CQ_GET_TYPE(entry) != GNI_CQ_EVENT_TYPE_MSGQ)
		throw Failure(format("queued message %" PRIu64 ": event %s", round, tools::event_text(entry).c_str()));
}

/* Every word of message n is n. One at a time. */
int Msgq::receive(uint32_t sender, uint32_t pe, void *message, uint8_t tag, void *self)
{
	auto *me = static_cast<Msgq *>(self);
	const RankInfo &partner = me->job_.info(me->job_.partner());
	const auto *words = static_cast<const uint64_t *>(message);

	me->received_ = words[0];
	me->wrong_ = sender != partner.inst_id || pe != partner.pe || tag != tag_of_all;
	for (size_t n = 0; n < me->message_.size(); n++)
		me->wrong_ = me->wrong_ || words[n] != words[0];
	return 0;
}

void Msgq::await(uint64_t round)
{
	constexpr uint64_t none = ~uint64_t{0};
	gni_return_t rc = GNI_RC_SUCCESS;
	received_ = none;
	wrong_ = false;
	auto there = [&] {
		rc = GNI_MsgqProgress(queue_, 0);
		return received_ != none ||
		       (rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE && rc != GNI_RC_INVALID_STATE);
	};
	if (!there())
		tools::poll_until(there, deadline_);
	if (received_ != round || wrong_)
		throw Failure(format("queued message %" PRIu64 ": got %" PRIu64 "%s, %s", round, received_,
				     wrong_ ? " with wrong contents" : "", tools::rc_name(rc).c_str()));
}

void msgq_echo(Job &job, size_t size, uint64_t rounds)
{
	Msgq queue(job, size);
	queue.send(0); /* connected */
	for (uint64_t round = 1; round <= rounds; round++) {
		queue.await(round);
		queue.send(round);
	}
	for (uint64_t round = 1; round <= rounds; round++)
		queue.await(round);
	queue.send(rounds);
}

} // namespace perf
