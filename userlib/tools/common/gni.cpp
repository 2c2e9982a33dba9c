// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "gni.h"

#include <cstring>

#include "failure.h"

namespace tools
{

std::string rc_name(gni_return_t rc)
{
	if (rc >= GNI_RC_SUCCESS && rc <= GNI_RC_ERROR_NOMEM)
		return gni_err_str[rc];
	return format("return code %d", static_cast<int>(rc));
}

std::string event_text(gni_cq_entry_t entry)
{
	char text[256];
	if (GNI_CqErrorStr(entry, text, sizeof(text)) != GNI_RC_SUCCESS)
		return format("undecoded entry 0x%016llx", static_cast<unsigned long long>(entry));
	return text;
}

void check(gni_return_t rc, const char *call)
{
	if (rc != GNI_RC_SUCCESS)
		throw Failure(format("%s: %s", call, rc_name(rc).c_str()));
}

gni_smsg_attr_t mailbox(uint64_t buffer, const gni_mem_handle_t &handle, uint16_t credits, uint32_t message)
{
	gni_smsg_attr_t a = {};
	a.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	a.msg_buffer = reinterpret_cast<void *>(buffer); // NOLINT(performance-no-int-to-ptr)
	a.mem_hndl = handle;
	a.mbox_maxcredit = credits;
	a.msg_maxsize = message;
	check(GNI_SmsgBufferSizeNeeded(&a, &a.buff_size), "GNI_SmsgBufferSizeNeeded");
	return a;
}

Domain::Domain(uint32_t inst_id, uint32_t cookie, uint32_t modes, uint32_t device)
{
	check(GNI_CdmCreate(inst_id, GNI_FIND_ALLOC_PTAG, cookie, modes, &cdm_), "GNI_CdmCreate");
	gni_return_t rc = GNI_CdmAttach(cdm_, device, &pe_, &nic_);
	if (rc == GNI_RC_SUCCESS)
		return;
	GNI_CdmDestroy(cdm_);
	const char *hint = "";
	if (rc == GNI_RC_NO_MATCH)
		hint = " (is the driver loaded and the NIC there? see aries-info)";
	else if (rc == GNI_RC_PERMISSION_ERROR)
		hint = " (the domain of this cookie does not exist yet, and creating one needs CAP_SYS_ADMIN)";
	throw Failure(format("GNI_CdmAttach to device %u: %s%s", device, rc_name(rc).c_str(), hint));
}

Domain::~Domain()
{
	GNI_CdmDestroy(cdm_);
}

Queue::Queue(gni_nic_handle_t nic, uint32_t entries, gni_cq_mode_t mode)
{
	check(GNI_CqCreate(nic, entries, 0, mode, nullptr, nullptr, &cq_), "GNI_CqCreate");
}

Queue::~Queue()
{
	GNI_CqDestroy(cq_);
}

gni_return_t Queue::poll(gni_cq_entry_t &entry, const Deadline &deadline, Patience patience) const
{
	gni_return_t rc = GNI_RC_NOT_DONE;
	entry = 0;
	poll_until([&] { return (rc = GNI_CqGetEvent(cq_, &entry)) != GNI_RC_NOT_DONE; }, deadline, patience);
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR && rc != GNI_RC_NOT_DONE)
		throw Failure(format("GNI_CqGetEvent: %s (%s)", rc_name(rc).c_str(), event_text(entry).c_str()));
	return rc;
}

Registration::Registration(gni_nic_handle_t nic, void *data, size_t bytes, gni_cq_handle_t sink, uint32_t flags)
	: nic_(nic)
{
	check(GNI_MemRegister(nic, reinterpret_cast<uint64_t>(data), bytes, sink, flags, static_cast<uint32_t>(-1),
			      &handle_),
	      "GNI_MemRegister");
	live_ = true;
}

void Registration::release()
{
	if (!live_)
		return;
	live_ = false;
	check(GNI_MemDeregister(nic_, &handle_), "GNI_MemDeregister");
}

Registration::~Registration()
{
	if (live_)
		GNI_MemDeregister(nic_, &handle_);
}

Endpoint::Endpoint(gni_nic_handle_t nic, gni_cq_handle_t source, uint32_t pe, uint32_t inst_id)
{
	check(GNI_EpCreate(nic, source, &ep_), "GNI_EpCreate");
	gni_return_t rc = GNI_EpBind(ep_, pe, inst_id);
	if (rc != GNI_RC_SUCCESS) {
		GNI_EpDestroy(ep_);
		check(rc, "GNI_EpBind");
	}
}

Endpoint::~Endpoint()
{
	GNI_EpDestroy(ep_);
}

} // namespace tools
