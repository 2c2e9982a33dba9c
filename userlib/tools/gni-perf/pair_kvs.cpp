// SPDX-License-Identifier: BSD-2-Clause
#include "pair_kvs.h"

#include <algorithm>

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

void PairKvs::put(const std::string &key, const std::string &value)
{
	if (!pending_.empty())
		throw Failure("a second text before the first has gone");
	pending_ = key + " " + value;
	values_[key] = value;
}

void PairKvs::exchange(const Deadline &deadline)
{
	std::string text;
	for (unsigned n = 0; n < parts_of_text; n++) {
		std::string mine = part_of_text(pending_, n), theirs(GNI_DATAGRAM_MAXSIZE, '\0');
		Partner partner;
		if (!exchange_once(endpoint_, mine.data(), mine.size(), theirs.data(), theirs.size(),
				   whole_ms(deadline), partner))
			throw Failure("the other side does not say any more what was agreed");
		add_part(text, theirs);
	}
	pending_.clear();
	const size_t space = text.find(' ');
	if (space == std::string::npos)
		throw Failure("the other side says something else than was agreed");
	values_[text.substr(0, space)] = text.substr(space + 1);
}

std::string PairKvs::get(const std::string &key, const Deadline &deadline)
{
	/* Nothing tells of the end of a process that is to say something: nobody waits long for that. */
	const Deadline own(agree_seconds);
	if (!values_.count(key) && !pending_.empty())
		exchange(own.left_ms() < deadline.left_ms() ? own : deadline);
	const auto found = values_.find(key);
	if (found == values_.end())
		throw Failure(format("the other side did not say %s", key.c_str()));
	return found->second;
}

} // namespace perf
