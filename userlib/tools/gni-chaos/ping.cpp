// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "ping.h"

#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "common/pattern.h"

namespace chaos
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint16_t ping_size = GNI_DATAGRAM_MAXSIZE;

/** Start of the data; the rest is a pattern of the number. */
struct Head {
	uint64_t number;
	uint32_t from;
	uint32_t wild;
};

} // namespace

Ping::Ping(Session &session, const tools::Place &place)
	: session_(session),
	  domain_(ping_instance_of(place.rank), place.cookie, GNI_CDM_MODE_FAST_DATAGRAM_POLL, place.device),
	  to_(place.rank)
{
	for (Side *side : {&call_, &wild_}) {
		side->in.resize(ping_size);
		side->out.resize(ping_size);
	}
	tools::check(GNI_EpCreate(domain_.nic(), nullptr, &wild_.wild), "GNI_EpCreate");
}

void Ping::post(Side &side, gni_ep_handle_t ep)
{
	Head head = {tools::now_ns(), static_cast<uint32_t>(session_.rank()), side.wild != nullptr};

	memcpy(side.in.data(), &head, sizeof(head));
	tools::pattern_fill(side.in.data() + sizeof(head), ping_size - sizeof(head), head.number);
	const gni_return_t rc = GNI_EpPostData(ep, side.in.data(), ping_size, side.out.data(), ping_size);
	if (rc == GNI_RC_ERROR_RESOURCE)
		return;
	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("ping: %s", tools::rc_name(rc).c_str()));
	side.posted = true;
}

int Ping::test(Side &side, gni_ep_handle_t ep)
{
	gni_post_state_t state = GNI_POST_PENDING;
	uint32_t pe = 0, instance = 0;
	const gni_return_t rc = GNI_EpPostDataTest(ep, &state, &pe, &instance);
	Head head = {};

	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("test of a ping: %s", tools::rc_name(rc).c_str()));
	if (state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA)
		return -1;
	side.posted = false;
	session_.counts[format("pings in state %d", int(state))]++;
	if (state != GNI_POST_COMPLETED)
		return -1;
	memcpy(&head, side.out.data(), sizeof(head));
	if (tools::pattern_check(side.out.data() + sizeof(head), ping_size - sizeof(head), head.number).found ||
	    instance != ping_instance_of(static_cast<int>(head.from)) || (side.wild && head.wild))
		throw Failure(format("ping from instance %u has wrong data", instance));
	return static_cast<int>(head.from);
}

int Ping::step()
{
	int who = -1;

	if (wild_.posted)
		test(wild_, wild_.wild);
	if (!wild_.posted)
		post(wild_, wild_.wild);
	if (call_.posted) {
		who = test(call_, call_.endpoint->handle());
		if (who >= 0 && who != to_)
			throw Failure(format("a ping to worker %d was answered by %d", to_, who));
		return who;
	}
	to_ = (to_ + 1) % session_.ranks();
	if (to_ == session_.rank() || !session_.address(to_).life)
		return -1;
	call_.endpoint = std::make_unique<tools::Endpoint>(domain_.nic(), nullptr, session_.address(to_).pe,
							   ping_instance_of(to_));
	post(call_, call_.endpoint->handle());
	return -1;
}

std::string Ping::state() const
{
	return format("ping to worker %d %s", to_, call_.posted ? "under way" : "not posted");
}

} // namespace chaos
