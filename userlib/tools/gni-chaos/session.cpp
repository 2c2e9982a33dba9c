// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "session.h"

#include <atomic>
#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "common/hex.h"

namespace chaos
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint32_t modes = GNI_CDM_MODE_DUAL_EVENTS | GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY |
			   GNI_CDM_MODE_CACHED_AMO_ENABLED;
constexpr size_t page = 4096;
constexpr size_t slot_size = slot_head + slot_data;
constexpr size_t collective_at = (2 * slot_size + 2 * page) / page * page; /* in the scratch memory, behind all else */
/* An operation that has not ended after this time is stuck; faults last for seconds. */
constexpr double stuck_seconds = 240;

size_t pages(size_t size)
{
	return (size + page - 1) / page * page;
}

std::string key_of(int worker)
{
	return format("chaos/%d", worker);
}

} // namespace

size_t Session::slot_at(int worker)
{
	return page + static_cast<size_t>(worker) * slot_size;
}

uint8_t *Session::mailbox(int peer, uint64_t turn) const
{
	return mail_.data() + (static_cast<size_t>(peer) * mailbox_lives + turn % mailbox_lives) * mailbox_room;
}

Session::Session(const tools::Place &place, uint64_t life, tools::Kvs &kvs)
	: place_(place), life_(life), kvs_(kvs), domain_(instance_of(place.rank), place.cookie, modes, place.device),
	  source_(domain_.nic(), 256), sink_(domain_.nic(), 4096), mail_sink_(domain_.nic(), 4096),
	  window_(pages(slot_at(workers_max))), mail_(size_t{workers_max} * mailbox_lives * mailbox_room),
	  scratch_(collective_at + page),
	  window_registration_(domain_.nic(), window_.data(), window_.size(), sink_.handle(), GNI_MEM_READWRITE),
	  mail_registration_(domain_.nic(), mail_.data(), mail_.size(), mail_sink_.handle(), GNI_MEM_READWRITE),
	  scratch_registration_(domain_.nic(), scratch_.data(), scratch_.size(), nullptr, GNI_MEM_READWRITE),
	  addresses_(static_cast<size_t>(place.ranks)), endpoints_(static_cast<size_t>(place.ranks))
{
	/* close to two seconds: a link that comes back before ends no connection */
	tools::check(GNI_SmsgSetMaxRetrans(nic(), 16), "GNI_SmsgSetMaxRetrans");
	reinterpret_cast<Header *>(window_.data())->life = life;
	for (int worker = 0; worker < workers_max; worker++)
		reinterpret_cast<Slot *>(window_.data() + slot_at(worker))->life = life;
	publish(kvs);
}

void Session::publish(tools::Kvs &kvs) const
{
	Address own = {};
	own.life = life_;
	own.window = reinterpret_cast<uint64_t>(window_.data());
	own.handle = window_registration_.handle();
	own.pe = domain_.pe();
	kvs.put(key_of(place_.rank), tools::to_hex(own));
}

void Session::bind(int worker)
{
	const Address &there = address(worker);
	std::unique_ptr<tools::Endpoint> &endpoint = endpoints_[static_cast<size_t>(worker)];

	endpoint = std::make_unique<tools::Endpoint>(nic(), source_.handle(), there.pe, instance_of(worker));
	tools::check(GNI_EpSetEventData(endpoint->handle(), static_cast<uint32_t>(worker),
					EventData(there.life, place_.rank, life_).data()),
		     "GNI_EpSetEventData");
}

bool Session::refresh(int worker)
{
	Address now = {};

	const auto text = kvs_.look(key_of(worker));
	if (!text || !tools::from_hex(*text, now))
		return false; /* not there yet */
	Address &known = addresses_[static_cast<size_t>(worker)];
	if (now.life == known.life)
		return false;
	known = now;
	bind(worker);
	return true;
}

gni_post_descriptor_t Session::descriptor(gni_post_type_t type, int to, size_t local_at, size_t remote_at,
					  size_t size) const
{
	const Address &there = address(to);
	gni_post_descriptor_t d = {};

	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
	d.local_addr = reinterpret_cast<uint64_t>(scratch_.data() + local_at);
	d.local_mem_hndl = scratch_registration_.handle();
	d.remote_addr = there.window + remote_at;
	d.remote_mem_hndl = there.handle;
	d.length = size;
	d.src_cq_hndl = source_.handle();
	return d;
}

gni_ce_result_t *Session::collective_result() const
{
	return reinterpret_cast<gni_ce_result_t *>(scratch_.data() + collective_at);
}

gni_post_descriptor_t Session::collective() const
{
	gni_post_descriptor_t d = {};

	d.type = GNI_POST_CE;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = reinterpret_cast<uint64_t>(collective_result());
	d.local_mem_hndl = scratch_registration_.handle();
	return d;
}

Outcome Session::execute(int to, gni_post_descriptor_t &d)
{
	const bool block = d.type == GNI_POST_RDMA_PUT || d.type == GNI_POST_RDMA_GET;
	const gni_ep_handle_t ep = endpoints_[static_cast<size_t>(to)]->handle();
	gni_return_t rc = block ? GNI_PostRdma(ep, &d) : GNI_PostFma(ep, &d);
	gni_cq_entry_t event = 0;
	gni_post_descriptor_t *done = nullptr;

	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("post: %s", tools::rc_name(rc).c_str()));
	const tools::Deadline deadline(stuck_seconds);
	if (!tools::poll_until([&] { return (rc = GNI_CqGetEvent(source_.handle(), &event)) != GNI_RC_NOT_DONE; },
			       deadline, tools::Patience::Mild))
		throw Failure(format("type %d of %" PRIu64 " bytes to worker %d: no event within %g s", int(d.type),
				     d.length, to, stuck_seconds));
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		throw Lost(format("source queue: %s", tools::rc_name(rc).c_str()));
	const std::string text = rc == GNI_RC_SUCCESS ? "" : tools::event_text(event);
	rc = GNI_GetCompleted(source_.handle(), event, &done);
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		throw Failure(format("GNI_GetCompleted: %s", tools::rc_name(rc).c_str()));
	if (done != &d)
		throw Failure("an event of something that was not posted");
	counts["operations ended"]++;
	if (rc == GNI_RC_SUCCESS)
		return Outcome::Ok;
	counts["failed: " + text]++;
	return Outcome::Failed;
}

void Session::take_events()
{
	auto *header = reinterpret_cast<Header *>(window_.data());
	gni_cq_entry_t event = 0;

	/* messages are looked for in their mailboxes: these only say that there may be one */
	while (GNI_CqGetEvent(mail_sink_.handle(), &event) == GNI_RC_SUCCESS)
		;
	for (;;) {
		gni_return_t rc = GNI_CqGetEvent(sink_.handle(), &event);
		if (rc == GNI_RC_NOT_DONE)
			return;
		if (rc == GNI_RC_ERROR_RESOURCE && GNI_CQ_OVERRUN(event)) {
			std::atomic_ref<uint64_t>(header->overruns).fetch_add(1);
			counts["overruns"]++;
			continue;
		}
		if (rc != GNI_RC_SUCCESS)
			throw Lost(format("sink queue: %s", tools::rc_name(rc).c_str()));
		counts["events of others"]++;
		count(EventData(static_cast<uint32_t>(GNI_CQ_GET_DATA(event))));
	}
}

/* Of a life that is over, and of operations that meant an earlier life of ours, nobody wants to know. */
void Session::count(EventData event)
{
	if (event.from >= static_cast<uint32_t>(ranks()))
		throw Failure(format("a remote event from nobody: 0x%08x", event.data()));
	if (event.to_life != (life_ & EventData::life_mask))
		return;
	std::atomic_ref<uint64_t> seen(reinterpret_cast<Header *>(window_.data())->seen[event.from]);
	const uint64_t now = seen.load();
	if (now >> 32 == event.from_life)
		seen.store(now + 1);
	else if (now >> 32 < event.from_life)
		seen.store(uint64_t{event.from_life} << 32 | 1);
}

uint64_t Session::seen(const Header &header) const
{
	const uint64_t word = header.seen[rank()];

	return word >> 32 == (life_ & EventData::life_mask) ? word & 0xffffffff : 0;
}

} // namespace chaos
