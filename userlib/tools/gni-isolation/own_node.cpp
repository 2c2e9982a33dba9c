// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "own_node.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "aries_regs.h"

#include "common/failure.h"
#include "common/raw.h"

namespace isolation
{

using tools::format;
using tools::RawAttachment;

namespace
{

constexpr uid_t nobody = 65534;
constexpr int child_failed = 100;

/* Signs on in a child process without privileges; returns the gni_return_t, or child_failed. */
int attach_unprivileged(uint32_t device, uint32_t cookie)
{
	pid_t pid = fork();
	if (pid == 0) {
		gni_cdm_handle_t cdm;
		gni_nic_handle_t nic;
		uint32_t pe;
		if (setgroups(0, nullptr) || setgid(nobody) || setuid(nobody) ||
		    GNI_CdmCreate(0x300, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm) != GNI_RC_SUCCESS)
			_exit(child_failed);
		_exit(GNI_CdmAttach(cdm, device, &pe, &nic));
	}
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return child_failed;
	return WEXITSTATUS(status);
}

Outcome compare(int got, gni_return_t wanted)
{
	if (got == child_failed)
		return {false, "the unprivileged process could not be started"};
	std::string name = tools::rc_name(static_cast<gni_return_t>(got));
	return {got == wanted, name};
}

} // namespace

Outcome wrong_cookie(const Attacker &a)
{
	return compare(attach_unprivileged(a.place().device, a.place().cookie ^ 0x13570000u), GNI_RC_PERMISSION_ERROR);
}

Outcome known_cookie(const Attacker &a)
{
	return compare(attach_unprivileged(a.place().device, a.place().cookie), GNI_RC_SUCCESS);
}

Outcome tag_of_other_cookie(const Attacker &a)
{
	uint8_t ptag;
	gni_return_t rc = GNI_GetPtag(a.place().device, a.place().cookie, &ptag);
	if (rc != GNI_RC_SUCCESS)
		return {false, "GNI_GetPtag: " + tools::rc_name(rc)};
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	uint32_t pe;
	tools::check(GNI_CdmCreate(0x301, ptag, a.place().cookie ^ 0x24680000u, 0, &cdm), "GNI_CdmCreate");
	rc = GNI_CdmAttach(cdm, a.place().device, &pe, &nic);
	GNI_CdmDestroy(cdm);
	return {rc == GNI_RC_PERMISSION_ERROR || rc == GNI_RC_INVALID_PARAM, tools::rc_name(rc)};
}

Outcome queue_of_other(const Attacker &a)
{
	/* Two open files are two owners, as two processes are. */
	RawAttachment owner(a.place().device, a.place().cookie), thief(a.place().device, a.place().cookie);
	uint32_t queue = owner.create_queue();
	const Target &t = a.targets().open;
	aries_fma_desc desc = {};
	desc.pe = a.targets().pe;
	desc.mdh = static_cast<uint16_t>(t.handle.qword1 >> 52);
	desc.offset = (t.address + 64) & ((1ull << ARIES_OFFSET_BITS) - 1);
	desc.cq = static_cast<uint16_t>(queue);
	uint32_t status = thief.doorbell(desc, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL);
	if (status != ARIES_ST_CQ_OWNER)
		return {false, format("status 0x%02x, expected 0x%02x", status, ARIES_ST_CQ_OWNER)};
	if (!owner.queue_empty())
		return {false, "an entry was written into the queue of another process"};
	return {true, format("status 0x%02x in the descriptor's status word, no entry in the queue", status)};
}

Outcome map_of_other(const Attacker &a)
{
	RawAttachment owner(a.place().device, a.place().cookie), thief(a.place().device, a.place().cookie);
	uint32_t queue = owner.create_queue();
	(void)queue;
	/* Whatever offset is tried beyond what the attachment itself names, nothing of the other one is mapped. */
	for (uint64_t page = 0; page < 64; page++) {
		uint64_t offset = (1ull << 40) + (page << 32);
		int error = thief.try_map(offset, 1u << 20);
		if (error == 0)
			return {false, format("1 MiB at offset 0x%llx could be mapped",
					      static_cast<unsigned long long>(offset))};
	}
	int error = thief.try_map(0, static_cast<size_t>(ARIES_BAR_FMA_SIZE));
	if (error == 0)
		return {false, "the whole FMA BAR could be mapped"};
	return {true, tools::errno_text(error)};
}

Outcome no_such_node(const Attacker &a)
{
	const Target &t = a.targets().open;
	gni_post_descriptor_t d = a.describe(GNI_POST_FMA_PUT, Attacker::Side::Same, t, t.address + 64, 8);
	gni_return_t rc = GNI_PostFma(a.nowhere().handle(), &d);
	if (rc != GNI_RC_SUCCESS)
		return {rc == GNI_RC_INVALID_PARAM, tools::rc_name(rc)};
	gni_cq_entry_t entry;
	gni_post_descriptor_t *done;
	rc = a.queue().poll(entry, tools::Deadline(30));
	if (rc == GNI_RC_NOT_DONE)
		return {false, "no event came"};
	GNI_GetCompleted(a.queue().handle(), entry, &done);
	return {GNI_CQ_GET_STATUS(entry) == ARIES_ST_NO_NODE, tools::event_text(entry)};
}

} // namespace isolation
