// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Owners of GNI objects: what a constructor made, the destructor gives back.
 */
#ifndef TOOLS_GNI_H
#define TOOLS_GNI_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "gni_pub.h"

#include "memory.h"
#include "wait.h"

namespace tools
{

/** Name of a return code, also for values that the library never returns. */
std::string rc_name(gni_return_t rc);

/** Text of the status in a CQ entry (GNI_CqErrorStr). */
std::string event_text(gni_cq_entry_t entry);

/** Throws Failure that names @p call unless @p rc is GNI_RC_SUCCESS. */
void check(gni_return_t rc, const char *call);

/**
 * A mailbox whose connection repeats what was lost, with the size that the library asks for.
 * @param buffer  where it begins, perhaps in another process
 * @param credits messages under way at a time
 * @param message bytes of the longest one
 */
gni_smsg_attr_t mailbox(uint64_t buffer, const gni_mem_handle_t &handle, uint16_t credits, uint32_t message);

/** A communication domain attached to one NIC. */
class Domain
{
public:
	Domain(uint32_t inst_id, uint32_t cookie, uint32_t modes, uint32_t device);
	Domain(const Domain &) = delete;
	Domain &operator=(const Domain &) = delete;
	~Domain();

	gni_nic_handle_t nic() const { return nic_; }
	uint32_t pe() const { return pe_; }

private:
	gni_cdm_handle_t cdm_ = nullptr;
	gni_nic_handle_t nic_ = nullptr;
	uint32_t pe_ = 0;
};

/** A completion queue that is polled. */
class Queue
{
public:
	Queue(gni_nic_handle_t nic, uint32_t entries, gni_cq_mode_t mode = GNI_CQ_NOBLOCK);
	Queue(const Queue &) = delete;
	Queue &operator=(const Queue &) = delete;
	~Queue();

	gni_cq_handle_t handle() const { return cq_; }

	/**
	 * Polls for one entry.
	 * @return GNI_RC_SUCCESS or GNI_RC_TRANSACTION_ERROR with @p entry, GNI_RC_NOT_DONE at the deadline
	 * Throws Failure for every other return code.
	 */
	gni_return_t poll(gni_cq_entry_t &entry, const Deadline &deadline, Patience patience = Patience::Hot) const;

private:
	gni_cq_handle_t cq_ = nullptr;
};

/** A registration of memory that somebody else owns. */
class Registration
{
public:
	Registration(gni_nic_handle_t nic, void *data, size_t bytes, gni_cq_handle_t sink, uint32_t flags);
	Registration(const Registration &) = delete;
	Registration &operator=(const Registration &) = delete;
	~Registration();

	const gni_mem_handle_t &handle() const { return handle_; }

	/** Ends the registration early. */
	void release();

private:
	gni_nic_handle_t nic_;
	gni_mem_handle_t handle_ = {};
	bool live_ = false;
};

/** A bound endpoint. */
class Endpoint
{
public:
	Endpoint(gni_nic_handle_t nic, gni_cq_handle_t source, uint32_t pe, uint32_t inst_id);
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;
	~Endpoint();

	gni_ep_handle_t handle() const { return ep_; }

private:
	gni_ep_handle_t ep_ = nullptr;
};

} // namespace tools

#endif // TOOLS_GNI_H
