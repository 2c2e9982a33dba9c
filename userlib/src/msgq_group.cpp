// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Message queues: how the instances of a node find each other.
 *
 * The file has a name until all have come; then it lives as long as one of
 * them has it open. Byte 0 is the lock for changes, byte 1 is locked by each
 * member as long as it is there: a file that nobody has locked was left
 * behind, and is made anew.
 */
#include "debug.hpp"
#include "msgq.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace ugni;

namespace
{

constexpr uint64_t kMagic = 0x33'7167'736d'676eULL;
constexpr uint64_t kPresence = 1;
constexpr const char *kNotMapped = "the shared memory cannot be mapped";

struct Name {
	char text[64];

	explicit Name(const gni_nic *nic)
	{
		(void)snprintf(text, sizeof(text), "kgni%u-msgq-%u-%08x", nic->device, static_cast<unsigned>(geteuid()),
			       nic->cdm->cookie);
	}
};

gni_return_t open_share(const Name &name, int *share, const char *call)
{
	/* The last member to join removes the name; a process that waited for the lock meanwhile belongs to the next
	 * group. */
	for (;;) {
		int fd = sys::share_open(name.text);
		if (fd == -ENOMEM || fd == -ENOSPC || fd == -EMFILE || fd == -ENFILE)
			return refuse(GNI_RC_ERROR_NOMEM, call, "shared memory %s: %s", name.text,
				      strerrordesc_np(-fd));
		if (fd < 0)
			return refuse(GNI_RC_PERMISSION_ERROR, call, "shared memory %s: %s", name.text,
				      strerrordesc_np(-fd));
		const int locked = sys::share_lock(fd, 0, true);
		if (locked < 0) {
			sys::share_close(fd);
			return refuse(GNI_RC_PERMISSION_ERROR, call, "lock of shared memory %s: %s", name.text,
				      strerrordesc_np(-locked));
		}
		if (sys::share_named(fd)) {
			*share = fd;
			return GNI_RC_SUCCESS;
		}
		sys::share_close(fd);
	}
}

bool same(const gni_msgq_attr_t &a, const gni_msgq_attr_t &b)
{
	return a.max_msg_sz == b.max_msg_sz && a.smsg_q_sz == b.smsg_q_sz && a.rcv_pool_sz == b.rcv_pool_sz &&
	       a.num_msgq_eps == b.num_msgq_eps && a.nloc_insts == b.nloc_insts && a.modes == b.modes &&
	       a.rcv_cq_sz == b.rcv_cq_sz;
}

/* The header of an existing group, whose size has not been compared with ours yet. */
gni_return_t check_group(const gni_msgq *q, const gni_msgq_attr_t *attrs, const char *call)
{
	void *p = sys::share_map(q->share, q->nic->device, sizeof(MsgqControl));
	if (!p)
		return refuse(GNI_RC_ERROR_NOMEM, call, "%s", kNotMapped);
	const auto *control = static_cast<const MsgqControl *>(p);
	gni_return_t rc = GNI_RC_SUCCESS;
	if (control->magic != kMagic || control->phase != kMsgqForming || control->joined >= q->layout.members ||
	    !same(control->attrs, *attrs))
		rc = refuse(GNI_RC_INVALID_STATE, call,
			    "other attributes than those of the node's queue, or it is not open any more");
	for (uint32_t i = 0; rc == GNI_RC_SUCCESS && i < control->joined; i++) {
		if (control->members[i].inst_id == q->nic->inst_id)
			rc = refuse(GNI_RC_INVALID_STATE, call, "instance %u has a message queue on this node already",
				    q->nic->inst_id);
	}
	sys::share_unmap(p, sizeof(MsgqControl));
	return rc;
}

gni_return_t make_group(gni_msgq *q, const char *call)
{
	const int r = sys::share_resize(q->share, q->layout.size, q->layout.used);

	return r < 0 ? refuse(GNI_RC_ERROR_NOMEM, call, "%" PRIu64 " bytes of shared memory: %s", q->layout.used,
			      strerrordesc_np(-r))
		     : GNI_RC_SUCCESS;
}

/* Credits, then the mail of this member: offsets from 0 on, as peers count. */
gni_return_t register_region(gni_msgq *q)
{
	const MsgqLayout &l = q->layout;
	gni_mem_segment_t pieces[2] = {
		{reinterpret_cast<uintptr_t>(q->base + l.credits_at), l.credits_bytes},
		{reinterpret_cast<uintptr_t>(q->mailbox(q->self, 0)), l.mail_bytes},
	};
	gni_return_t rc = GNI_MemRegisterSegments(q->nic, pieces, 2, q->receive_queue, 0, 0, &q->handle);

	return rc == GNI_RC_SUCCESS || rc == GNI_RC_PERMISSION_ERROR ? rc : told(GNI_RC_ERROR_NOMEM);
}

/* With the lock held, and a file that is empty or a group. */
gni_return_t enter(gni_msgq *q, const gni_msgq_attr_t *attrs, bool first, const char *call)
{
	gni_return_t rc = first ? make_group(q, call) : check_group(q, attrs, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	q->base = static_cast<char *>(sys::share_map(q->share, q->nic->device, q->layout.size));
	if (!q->base)
		return refuse(GNI_RC_ERROR_NOMEM, call, "%s", kNotMapped);
	MsgqControl *control = q->control();
	if (first) {
		control->attrs = *attrs;
		control->phase = kMsgqForming;
		control->joined = 0;
		control->magic = kMagic;
	}
	q->self = control->joined;
	rc = register_region(q);
	if (rc != GNI_RC_SUCCESS) {
		sys::share_unmap(q->base, q->layout.size);
		q->base = nullptr;
	}
	return rc;
}

} // namespace

namespace ugni
{

gni_return_t msgq_join(gni_msgq *q, const gni_msgq_attr_t *attrs, const char *call)
{
	const Name name(q->nic);
	gni_return_t rc = open_share(name, &q->share, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	const bool first = !sys::share_locked(q->share, kPresence);
	rc = enter(q, attrs, first, call);
	if (rc == GNI_RC_SUCCESS && sys::share_lock(q->share, kPresence, false) < 0) {
		(void)GNI_MemDeregister(q->nic, &q->handle);
		sys::share_unmap(q->base, q->layout.size);
		rc = refuse(GNI_RC_ERROR_NOMEM, call, "lock of shared memory %s", name.text);
	}
	if (rc != GNI_RC_SUCCESS) {
		if (first)
			sys::share_unlink(name.text);
		sys::share_close(q->share); /* and the lock */
		return rc;
	}
	MsgqControl *control = q->control();
	control->members[q->self] = {q->nic->inst_id, 0, q->handle};
	control->joined++;
	if (control->joined == q->layout.members) {
		sys::share_unlink(name.text);
		__atomic_store_n(&control->phase, kMsgqReady, __ATOMIC_RELEASE);
	}
	sys::share_unlock(q->share, 0);
	return GNI_RC_SUCCESS;
}

void msgq_leave(gni_msgq *q)
{
	{
		MsgqLock lock(q->share);
		__atomic_store_n(&q->control()->phase, kMsgqEnding, __ATOMIC_RELEASE);
		/* The file still has its name: not all members have joined, and no other one will. */
		if (sys::share_named(q->share) && !sys::share_locked(q->share, kPresence))
			sys::share_unlink(Name(q->nic).text);
	}
	sys::share_unmap(q->base, q->layout.size);
	sys::share_close(q->share);
}

} // namespace ugni
