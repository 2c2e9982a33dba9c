// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "mail.h"

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

constexpr uint16_t credits = 64;
constexpr uint32_t message_room = 72; /* what a message takes beyond its own bytes, at most */

gni_smsg_attr_t mailbox_of(const Job &job, int rank, size_t size)
{
	const RankInfo &info = job.info(rank);
	gni_smsg_attr_t a = tools::mailbox(info.data, info.data_handle, credits, static_cast<uint32_t>(size));
	/* Room for all messages that the credits allow, not only for some of the largest size. */
	a.buff_size += a.mbox_maxcredit * (a.msg_maxsize + message_room);
	return a;
}

} // namespace

Mail::Mail(Job &job, size_t size)
	: job_(job), message_(size / 8),
	  endpoint_(job.nic(), job.source().handle(), job.info(job.partner()).pe, job.info(job.partner()).inst_id),
	  deadline_(job.deadline())
{
	if (size == 0 || size % 8 || size > mail_max)
		throw Failure("short messages of a size that is not possible");
	gni_smsg_attr_t local = mailbox_of(job, job.rank(), size);
	gni_smsg_attr_t remote = mailbox_of(job, job.partner(), size);
	if (local.buff_size > job.data_size())
		throw Failure("the data region is too small for a mailbox");
	memset(job.data(), 0, local.buff_size);
	tools::check(GNI_SmsgInit(endpoint_.handle(), &local, &remote), "GNI_SmsgInit");
}

/* The next test finds an empty queue for remote events. */
Mail::~Mail()
{
	gni_cq_entry_t entry;
	while (GNI_CqGetEvent(job_.sink().handle(), &entry) != GNI_RC_NOT_DONE)
		;
}

void Mail::send(uint64_t round)
{
	for (uint64_t &word : message_)
		word = round;
	gni_return_t rc = GNI_RC_NOT_DONE;
	auto taken = [&] {
		rc = GNI_SmsgSendWTag(endpoint_.handle(), message_.data(), 8, message_.data() + 1,
				      static_cast<uint32_t>(8 * (message_.size() - 1)), static_cast<uint32_t>(round),
				      1);
		return rc != GNI_RC_NOT_DONE;
	};
	if (!taken())
		tools::poll_until(taken, deadline_);
	tools::check(rc, "GNI_SmsgSendWTag");
	gni_cq_entry_t entry;
	rc = job_.source().poll(entry, deadline_);
	if (rc == GNI_RC_NOT_DONE)
		throw Failure(format("short message %" PRIu64 ": its event has not come in time", round));
	if (rc != GNI_RC_SUCCESS || GNI_CQ_GET_MSG_ID(entry) != static_cast<uint32_t>(round))
		throw Failure(format("short message %" PRIu64 ": event %s", round, tools::event_text(entry).c_str()));
}

void Mail::await(uint64_t round)
{
	void *header = nullptr;
	uint8_t tag = GNI_SMSG_ANY_TAG;
	gni_return_t rc = GNI_RC_NOT_DONE;
	auto there = [&] {
		rc = GNI_SmsgGetNextWTag(endpoint_.handle(), &header, &tag);
		return rc != GNI_RC_NOT_DONE;
	};
	if (!there())
		tools::poll_until(there, deadline_);
	tools::check(rc, "GNI_SmsgGetNextWTag");
	const auto *words = static_cast<const uint64_t *>(header);
	for (size_t n = 0; n < message_.size(); n++)
		if (words[n] != round)
			throw Failure(format("short message %" PRIu64 ": word %zu is %" PRIu64, round, n, words[n]));
	tools::check(GNI_SmsgRelease(endpoint_.handle()), "GNI_SmsgRelease");
	/* One event a message; those of an overrun are not missed. */
	gni_cq_entry_t entry;
	(void)GNI_CqGetEvent(job_.sink().handle(), &entry);
}

void mail_echo(Job &job, size_t size, uint64_t rounds)
{
	Mail mail(job, size);
	mail.send(0); /* the mailbox is ready */
	for (uint64_t round = 1; round <= rounds; round++) {
		mail.await(round);
		mail.send(round);
	}
	for (uint64_t round = 1; round <= rounds; round++)
		mail.await(round);
	mail.send(rounds);
}

} // namespace perf
