// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * A rank of a job: its domain, queues, registered memory, and what it knows of the other ranks.
 */
#ifndef GNI_PERF_JOB_H
#define GNI_PERF_JOB_H

#include <memory>
#include <optional>
#include <vector>

#include "common/gni.h"
#include "common/kvs.h"
#include "common/nicstats.h"
#include "options.h"

namespace perf
{

using tools::Deadline;

/** What a rank tells the others through the key-value store. */
struct RankInfo {
	uint32_t pe;
	uint32_t inst_id;
	uint64_t control; /* address of the control region */
	uint64_t data;    /* address of the data region */
	uint64_t data_size;
	gni_mem_handle_t control_handle;
	gni_mem_handle_t data_handle;
};

/** Layout of the control region, which peers write into. */
constexpr size_t control_amo = 0;     /* word for atomics */
constexpr size_t control_ping = 4096; /* messages of the ping-pong */
constexpr size_t control_ping_size = 8192;
constexpr size_t control_boxes = control_ping + control_ping_size; /* one Box pair a rank */
constexpr size_t control_box_stride = 512;

class Job
{
public:
	/** Signs on, registers memory and meets the other ranks. Throws Failure. */
	Job(const Options &options, tools::Exchange &kvs);

	const Options &options() const { return options_; }
	const RankInfo &info(int rank) const { return ranks_[static_cast<size_t>(rank)]; }
	const tools::NicStats &stats() const { return stats_; }
	int rank() const { return options_.place.rank; }
	int ranks() const { return options_.place.ranks; }
	int partner() const;
	bool measures() const { return options_.place.rank < options_.place.ranks / 2; }
	gni_nic_handle_t nic() const { return domain_.nic(); }
	gni_ep_handle_t endpoint(int rank) const { return endpoints_[static_cast<size_t>(rank)]->handle(); }
	const tools::Queue &source() const { return source_; }
	const tools::Queue &sink() const { return sink_; }
	uint8_t *control() const { return control_.data(); }
	uint8_t *data() const { return data_.data(); }
	size_t data_size() const { return data_.size(); }

	/** Deadline for one wait. */
	Deadline deadline() const { return Deadline(options_.timeout_seconds); }

	/**
	 * Descriptor of a transfer between the local data region and the data region of @p rank, global event wanted.
	 * @param local_at,remote_at offsets in the data regions
	 */
	gni_post_descriptor_t transfer(gni_post_type_t type, int rank, size_t local_at, size_t remote_at,
				       size_t size) const;

	/** Descriptor of an FMA transfer to the control region of @p rank; @p local needs no registration. */
	gni_post_descriptor_t control_put(int rank, size_t control_at, const void *local, size_t size) const;

	/** Descriptor of an atomic on the word of @p rank; a fetched value goes to local data offset @p local_at. */
	gni_post_descriptor_t atomic(int rank, gni_fma_cmd_type_t command, uint64_t first, uint64_t second,
				     size_t local_at) const;

	/** Posts to @p rank by the engine that the type names. Throws Failure. */
	void post(int rank, gni_post_descriptor_t &descriptor) const;

	/** Waits for the next event of the source queue and returns its descriptor. Throws Failure. */
	gni_post_descriptor_t *reap(gni_cq_entry_t *entry = nullptr,
				    tools::Patience patience = tools::Patience::Hot) const;

	/** Posts and reaps one descriptor; leaves the processor to the NIC's threads during a long block transfer. */
	void execute(int rank, gni_post_descriptor_t &descriptor) const;

private:
	void publish(tools::Exchange &kvs);

	const Options &options_;
	tools::NicStats stats_;
	tools::Domain domain_;
	tools::Queue source_;
	tools::Queue sink_;
	tools::Memory control_;
	tools::Memory data_;
	tools::Registration control_registration_;
	tools::Registration data_registration_;
	std::vector<RankInfo> ranks_;
	std::vector<std::unique_ptr<tools::Endpoint>> endpoints_;
};

/** Event data that every endpoint of the job sets: 24 bits, so that an Aries keeps all of it. */
uint32_t local_event_of(int rank);
uint32_t remote_event_of(int rank);

} // namespace perf

#endif // GNI_PERF_JOB_H
