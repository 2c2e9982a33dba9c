// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include <algorithm>
#include <cstring>

#include "aries_hw.h"

#include "common/failure.h"
#include "stage.h"
#include "wire.h"

namespace isolation
{

using tools::format;

namespace
{

constexpr uint32_t modes = GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY;
constexpr uint32_t nobody_pe = 0x3fff0; /* within the 18 bits of an address, beyond any cluster */
constexpr double event_seconds = 30;

uint32_t foreign_cookie(uint32_t cookie)
{
	uint32_t other = cookie ^ 0x00ff0000u;
	return other ? other : 0x01000000u;
}

} // namespace

Attacker::Attacker(const tools::Place &place, const Targets &targets)
	: place_(place), targets_(targets), domain_(0x201, place.cookie, modes, place.device),
	  foreign_(0x202, foreign_cookie(place.cookie), modes, place.device), queue_(domain_.nic(), 64),
	  foreign_queue_(foreign_.nic(), 64), memory_(region_bytes),
	  registration_(domain_.nic(), memory_.data(), memory_.size(), nullptr, GNI_MEM_READWRITE),
	  foreign_registration_(foreign_.nic(), memory_.data(), memory_.size(), nullptr, GNI_MEM_READWRITE),
	  endpoint_(domain_.nic(), queue_.handle(), targets.pe, targets.inst_id),
	  foreign_endpoint_(foreign_.nic(), foreign_queue_.handle(), targets.pe, targets.inst_id),
	  nowhere_(domain_.nic(), queue_.handle(), nobody_pe, 1)
{
	memset(memory_.data(), 0xee, memory_.size());
}

const gni_mem_handle_t &Attacker::handle(Side side) const
{
	return side == Side::Same ? registration_.handle() : foreign_registration_.handle();
}

gni_post_descriptor_t Attacker::describe(gni_post_type_t type, Side side, const Target &target, uint64_t address,
					 uint64_t bytes) const
{
	gni_post_descriptor_t d = {};
	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = reinterpret_cast<uint64_t>(memory_.data());
	d.local_mem_hndl = handle(side);
	d.remote_addr = address;
	d.remote_mem_hndl = target.handle;
	d.length = bytes;
	d.src_cq_hndl = side == Side::Same ? queue_.handle() : foreign_queue_.handle();
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.first_operand = 1;
	return d;
}

Attacker::Result Attacker::post(Side side, gni_post_descriptor_t &d) const
{
	const tools::Endpoint &ep = side == Side::Same ? endpoint_ : foreign_endpoint_;
	const tools::Queue &queue = side == Side::Same ? queue_ : foreign_queue_;
	bool block = d.type == GNI_POST_RDMA_PUT || d.type == GNI_POST_RDMA_GET;
	Result result = {};
	result.post = block ? GNI_PostRdma(ep.handle(), &d) : GNI_PostFma(ep.handle(), &d);
	if (result.post != GNI_RC_SUCCESS)
		return result;
	result.event = queue.poll(result.entry, tools::Deadline(event_seconds));
	gni_post_descriptor_t *done = nullptr;
	if (result.event != GNI_RC_NOT_DONE)
		GNI_GetCompleted(queue.handle(), result.entry, &done);
	return result;
}

Outcome Attacker::expect_status(Side side, gni_post_descriptor_t &d, uint64_t status) const
{
	return expect_one_of(side, d, std::span(&status, 1));
}

Outcome Attacker::expect_one_of(Side side, gni_post_descriptor_t &d, std::span<const uint64_t> statuses) const
{
	Result r = post(side, d);
	if (r.post != GNI_RC_SUCCESS)
		return {false, format("the call returned %s before the NIC was asked", tools::rc_name(r.post).c_str())};
	if (r.event == GNI_RC_NOT_DONE)
		return {false, "no event came"};
	uint64_t got = GNI_CQ_GET_STATUS(r.entry);
	std::string text = tools::event_text(r.entry);
	bool right = std::find(statuses.begin(), statuses.end(), got) != statuses.end();
	if (r.event != GNI_RC_TRANSACTION_ERROR || !right)
		return {false, format("%s, status 0x%02llx (%s), expected 0x%02llx", tools::rc_name(r.event).c_str(),
				      static_cast<unsigned long long>(got), text.c_str(),
				      static_cast<unsigned long long>(statuses[0]))};
	return {!text.empty(), text};
}

Outcome Attacker::expect_refusal(Side side, gni_post_descriptor_t &d, gni_return_t rc, uint64_t status) const
{
	Result r = post(side, d);
	if (r.post == rc)
		return {true, tools::rc_name(rc)};
	if (r.post != GNI_RC_SUCCESS)
		return {false, format("%s, expected %s", tools::rc_name(r.post).c_str(), tools::rc_name(rc).c_str())};
	if (r.event == GNI_RC_TRANSACTION_ERROR && GNI_CQ_GET_STATUS(r.entry) == status)
		return {true, tools::event_text(r.entry)};
	return {false, format("%s (%s)", tools::rc_name(r.event).c_str(), tools::event_text(r.entry).c_str())};
}

Outcome Attacker::expect_success(Side side, gni_post_descriptor_t &d) const
{
	Result r = post(side, d);
	if (r.post == GNI_RC_SUCCESS && r.event == GNI_RC_SUCCESS)
		return {true, "allowed"};
	if (r.post != GNI_RC_SUCCESS)
		return {false, tools::rc_name(r.post)};
	return {false, format("%s (%s)", tools::rc_name(r.event).c_str(), tools::event_text(r.entry).c_str())};
}

int run_attacker(const tools::Place &place, tools::Kvs &kvs, double timeout)
{
	tools::Deadline limit(timeout);
	Targets targets;
	from_hex(kvs.get("iso/targets", limit), &targets, sizeof(targets));
	Attacker attacker(place, targets);
	bool right = true;
	for (size_t n = 0; n < attacks().size(); n++) {
		kvs.get(format("iso/go/%zu", n), tools::Deadline(timeout));
		Outcome outcome;
		try {
			outcome = attacks()[n].run(attacker);
		} catch (const tools::Failure &failure) {
			outcome = {false, failure.what()};
		}
		right = right && outcome.right;
		kvs.put(format("iso/done/%zu", n), ((outcome.right ? "1 " : "0 ") + outcome.text).substr(0, 1000));
	}
	return right ? 0 : 1;
}

} // namespace isolation
