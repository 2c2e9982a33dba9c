// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Short messages between the two ranks of a pair.
 */
#ifndef GNI_PERF_MAIL_H
#define GNI_PERF_MAIL_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/gni.h"
#include "common/wait.h"

namespace perf
{

class Job;

/** Largest message: whole words. */
constexpr size_t mail_max = 8192;

/** A connection by short messages; the mailboxes are at the start of the data regions. */
class Mail
{
public:
	/** The mailbox is ready when this returns. @p size of all messages: a multiple of 8, 8 to mail_max. Throws
	 * Failure. */
	Mail(Job &job, size_t size);
	Mail(const Mail &) = delete;
	Mail &operator=(const Mail &) = delete;
	~Mail();

	/** Sends message @p round, as soon as there is room, and takes its event. Throws Failure. */
	void send(uint64_t round);

	/** Waits for message @p round, compares and releases it. Throws Failure. */
	void await(uint64_t round);

private:
	Job &job_;
	std::vector<uint64_t> message_;
	tools::Endpoint endpoint_;
	tools::Deadline deadline_;
};

/** Messages 1 to @p rounds to and fro, then as many one way, then one back. Throws Failure. */
void mail_echo(Job &job, size_t size, uint64_t rounds);

} // namespace perf

#endif // GNI_PERF_MAIL_H
