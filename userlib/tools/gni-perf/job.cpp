// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "job.h"

#include <cinttypes>

#include "common/failure.h"
#include "common/pattern.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint32_t modes = GNI_CDM_MODE_DUAL_EVENTS | GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY |
			   GNI_CDM_MODE_CACHED_AMO_ENABLED;
constexpr uint32_t source_entries = 256;
constexpr uint32_t sink_entries = 1024;
constexpr size_t page = 4096;
constexpr uint64_t long_transfer = 4u << 20;

/* Room for the largest transfer, for batches of small ones, and for guards at any alignment. */
size_t data_bytes(const Options &options)
{
	uint64_t size = options.max_size;
	for (uint64_t s : options.sizes)
		size = s > size ? s : size;
	size = size < (1u << 20) ? (1u << 20) : size;
	size = size < options.least_data ? options.least_data : size;
	return (size + 2 * page + page - 1) / page * page;
}

size_t control_bytes(const Options &options)
{
	size_t size = control_boxes + static_cast<size_t>(options.place.ranks) * control_box_stride;
	return (size + page - 1) / page * page;
}

bool is_block(const gni_post_descriptor_t &descriptor)
{
	return descriptor.type == GNI_POST_RDMA_PUT || descriptor.type == GNI_POST_RDMA_GET;
}

} // namespace

uint32_t local_event_of(int rank)
{
	return 0x100000u | static_cast<uint32_t>(rank);
}

uint32_t remote_event_of(int rank)
{
	return 0x200000u | static_cast<uint32_t>(rank);
}

Job::Job(const Options &options, tools::Exchange &kvs)
	: options_(options), stats_(options.place.device),
	  domain_(options.instance + static_cast<uint32_t>(options.place.rank), options.place.cookie, modes,
		  options.place.device),
	  source_(domain_.nic(), source_entries), sink_(domain_.nic(), sink_entries), control_(control_bytes(options)),
	  data_(data_bytes(options), options.huge_pages ? tools::Pages::Huge : tools::Pages::Usual),
	  control_registration_(domain_.nic(), control_.data(), control_.size(), nullptr, GNI_MEM_READWRITE),
	  data_registration_(domain_.nic(), data_.data(), data_.size(), sink_.handle(), GNI_MEM_READWRITE)
{
	publish(kvs);
}

int Job::partner() const
{
	int half = options_.place.ranks / 2;
	return options_.place.rank < half ? options_.place.rank + half : options_.place.rank - half;
}

void Job::publish(tools::Exchange &kvs)
{
	RankInfo own = {};
	own.pe = domain_.pe();
	own.inst_id = options_.instance + static_cast<uint32_t>(options_.place.rank);
	own.control = reinterpret_cast<uint64_t>(control_.data());
	own.data = reinterpret_cast<uint64_t>(data_.data());
	own.data_size = data_.size();
	own.control_handle = control_registration_.handle();
	own.data_handle = data_registration_.handle();
	ranks_ = kvs.gather(own);

	for (const RankInfo &info : ranks_) {
		endpoints_.push_back(
			std::make_unique<tools::Endpoint>(domain_.nic(), source_.handle(), info.pe, info.inst_id));
		tools::check(GNI_EpSetEventData(endpoints_.back()->handle(), local_event_of(options_.place.rank),
						remote_event_of(options_.place.rank)),
			     "GNI_EpSetEventData");
	}
}

gni_post_descriptor_t Job::transfer(gni_post_type_t type, int rank, size_t local_at, size_t remote_at,
				    size_t size) const
{
	const RankInfo &there = info(rank);
	gni_post_descriptor_t d = {};
	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.dlvr_mode = options_.delivery;
	d.local_addr = reinterpret_cast<uint64_t>(data_.data() + local_at);
	d.local_mem_hndl = data_registration_.handle();
	d.remote_addr = there.data + remote_at;
	d.remote_mem_hndl = there.data_handle;
	d.length = size;
	d.src_cq_hndl = source_.handle();
	return d;
}

gni_post_descriptor_t Job::control_put(int rank, size_t control_at, const void *local, size_t size) const
{
	const RankInfo &there = info(rank);
	gni_post_descriptor_t d = {};
	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.dlvr_mode = GNI_DLVMODE_IN_ORDER;
	d.local_addr = reinterpret_cast<uint64_t>(local);
	d.remote_addr = there.control + control_at;
	d.remote_mem_hndl = there.control_handle;
	d.length = size;
	return d;
}

gni_post_descriptor_t Job::atomic(int rank, gni_fma_cmd_type_t command, uint64_t first, uint64_t second,
				  size_t local_at) const
{
	gni_post_descriptor_t d = control_put(rank, control_amo, nullptr, 8);
	d.type = GNI_POST_AMO;
	d.amo_cmd = command;
	d.first_operand = first;
	d.second_operand = second;
	d.local_addr = reinterpret_cast<uint64_t>(data_.data() + local_at);
	d.local_mem_hndl = data_registration_.handle();
	return d;
}

void Job::post(int rank, gni_post_descriptor_t &descriptor) const
{
	bool block = is_block(descriptor);
	gni_return_t rc = block ? GNI_PostRdma(endpoint(rank), &descriptor) : GNI_PostFma(endpoint(rank), &descriptor);
	if (rc != GNI_RC_SUCCESS)
		throw Failure(format("%s of %" PRIu64 " bytes to rank %d, local 0x%" PRIx64 ", remote 0x%" PRIx64
				     ": %s",
				     block ? "GNI_PostRdma" : "GNI_PostFma", descriptor.length, rank,
				     descriptor.local_addr, descriptor.remote_addr, tools::rc_name(rc).c_str()));
}

gni_post_descriptor_t *Job::reap(gni_cq_entry_t *entry, tools::Patience patience) const
{
	gni_cq_entry_t event;
	gni_return_t rc = GNI_CqGetEvent(source_.handle(), &event);
	if (rc == GNI_RC_NOT_DONE)
		rc = source_.poll(event, deadline(), patience);
	if (rc == GNI_RC_NOT_DONE)
		throw Failure(format("no event on the source queue within %g s", options_.timeout_seconds));
	if (rc != GNI_RC_SUCCESS)
		throw Failure(format("event %s: %s", tools::rc_name(rc).c_str(), tools::event_text(event).c_str()));
	gni_post_descriptor_t *descriptor = nullptr;
	tools::check(GNI_GetCompleted(source_.handle(), event, &descriptor), "GNI_GetCompleted");
	if (entry)
		*entry = event;
	return descriptor;
}

void Job::execute(int rank, gni_post_descriptor_t &descriptor) const
{
	post(rank, descriptor);
	bool is_long = descriptor.length > long_transfer && is_block(descriptor);
	gni_post_descriptor_t *done = reap(nullptr, is_long ? tools::Patience::Fair : tools::Patience::Hot);
	if (done != &descriptor)
		throw Failure("GNI_GetCompleted returned a descriptor that was not posted last");
}

} // namespace perf
