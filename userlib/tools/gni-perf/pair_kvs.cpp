// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "pair_kvs.h"

#include <algorithm>
#include <cstring>

#include "common/failure.h"
#include "common/gni.h"

namespace perf
{

using tools::Deadline;
using tools::Failure;
using tools::format;

namespace
{

constexpr size_t part_room = GNI_DATAGRAM_MAXSIZE - 1;
constexpr double agree_seconds = 60; /* for a word of the other side, which has answered already */

const char *state_text(gni_post_state_t state)
{
	switch (state) {
	case GNI_POST_TIMEOUT:
		return "the other node does not answer";
	case GNI_POST_TERMINATED:
		return "the other side has gone";
	default:
		return "the exchange has failed";
	}
}

} // namespace

bool exchange_once(gni_ep_handle_t ep, void *mine, size_t mine_size, void *theirs, size_t theirs_size,
		   uint32_t timeout_ms, Partner &partner)
{
	gni_post_state_t state = GNI_POST_PENDING;
	tools::check(
		GNI_EpPostData(ep, mine, static_cast<uint16_t>(mine_size), theirs, static_cast<uint16_t>(theirs_size)),
		"GNI_EpPostData");
	const gni_return_t rc = GNI_EpPostDataWait(ep, timeout_ms, &state, &partner.address, &partner.instance);
	if (rc == GNI_RC_TIMEOUT) {
		(void)GNI_EpPostDataCancel(ep); /* theirs is in use until then */
		return false;
	}
	tools::check(rc, "GNI_EpPostDataWait");
	if (state != GNI_POST_COMPLETED)
		throw Failure(state_text(state));
	return true;
}

uint32_t whole_ms(const Deadline &deadline)
{
	return static_cast<uint32_t>(std::clamp<int64_t>(deadline.left_ms(), 1, INT32_MAX));
}

std::string part_of_text(const std::string &text, unsigned n)
{
	if (text.size() > parts_of_text * part_room)
		throw Failure(format("%zu bytes do not fit into datagrams", text.size()));
	const size_t at = std::min(text.size(), n * part_room);
	const std::string part = text.substr(at, part_room);
	return std::string(1, static_cast<char>(part.size())) + part;
}

void add_part(std::string &text, const std::string &datagram)
{
	const size_t size = datagram.empty() ? SIZE_MAX : static_cast<uint8_t>(datagram[0]);
	if (size > part_room || size + 1 > datagram.size())
		throw Failure("a datagram came that is no part of a text");
	text.append(datagram, 1, size);
}

/* Both sides call it; each gets the other's text. */
std::string PairKvs::swap(const std::string &mine, double seconds)
{
	/* Nothing tells of the end of a process that is to say something: nobody waits long for that. */
	const Deadline deadline(seconds);
	std::string text;
	for (unsigned n = 0; n < parts_of_text; n++) {
		std::string part = part_of_text(mine, n), theirs(GNI_DATAGRAM_MAXSIZE, '\0');
		Partner partner;
		if (!exchange_once(endpoint_, part.data(), part.size(), theirs.data(), theirs.size(),
				   whole_ms(deadline), partner))
			throw Failure("the other side does not say any more what was agreed");
		add_part(text, theirs);
	}
	return text;
}

void PairKvs::gather_bytes(const void *own, void *all, size_t size)
{
	const std::string mine(static_cast<const char *>(own), size), theirs = swap(mine, agree_seconds);
	if (theirs.size() != size)
		throw Failure("the other side says something else than was agreed");
	auto *const to = static_cast<char *>(all);
	memcpy(to + static_cast<size_t>(rank_) * size, mine.data(), size);
	memcpy(to + static_cast<size_t>(1 - rank_) * size, theirs.data(), size);
}

void PairKvs::barrier()
{
	(void)swap("", agree_seconds);
}

void PairKvs::end(bool passed)
{
	(void)swap("", passed ? agree_seconds : 2);
}

} // namespace perf
