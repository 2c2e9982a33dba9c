// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Mailboxes: size, layout, and the life of a connection. */
#include "aries_regs.h"
#include "debug.hpp"
#include "smsg.hpp"
#include "wiped.hpp"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace ugni;

namespace
{

/* Return: what is wrong with @a, nullptr if nothing is */
const char *attr_fault(const gni_smsg_attr_t *a)
{
	if (!a)
		return "no attributes of a mailbox";
	if (a->msg_type != GNI_SMSG_TYPE_MBOX && a->msg_type != GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT)
		return "msg_type is neither MBOX nor MBOX_AUTO_RETRANSMIT";
	if (!a->mbox_maxcredit)
		return "mbox_maxcredit is 0";
	if (!a->msg_maxsize || a->msg_maxsize > GNI_SMSG_MAX_SIZE)
		return "msg_maxsize is 0, or more than GNI_SMSG_MAX_SIZE";
	return nullptr;
}

static_assert(gni_smsg_needed(65535, GNI_SMSG_MAX_SIZE) < 1U << 24);

/* The same for what is a mailbox. */
const char *mailbox_fault(const gni_smsg_attr_t *a)
{
	const char *const fault = attr_fault(a);

	if (fault)
		return fault;
	if (!a->msg_buffer)
		return "msg_buffer is NULL";
	if (gni_hndl_none(&a->mem_hndl))
		return "mem_hndl of a mailbox is empty";
	if (a->buff_size < gni_smsg_needed(a->mbox_maxcredit, a->msg_maxsize))
		return "buff_size is less than GNI_SmsgBufferSizeNeeded() says";
	return nullptr;
}

const char *pair_fault(const gni_smsg_attr_t *local, const gni_smsg_attr_t *remote)
{
	const char *fault = mailbox_fault(local);

	if (!fault)
		fault = mailbox_fault(remote);
	if (fault)
		return fault;
	if (local->msg_type != remote->msg_type || local->msg_maxsize != remote->msg_maxsize ||
	    local->mbox_maxcredit != remote->mbox_maxcredit)
		return "the two mailboxes differ in msg_type, msg_maxsize or mbox_maxcredit";
	return nullptr;
}

/* Bytes of a message with a tag. */
constexpr uint32_t most_tagged(uint32_t ring_bytes)
{
	const uint32_t most = gni_smsg_most_tagged(ring_bytes);

	return most < GNI_SMSG_MAX_SIZE ? most : GNI_SMSG_MAX_SIZE;
}

SmsgMailbox mailbox(const gni_smsg_attr_t *a)
{
	uint64_t start = reinterpret_cast<uintptr_t>(a->msg_buffer) + a->mbox_offset;
	uint64_t control = (start + GNI_SMSG_LINE - 1) / GNI_SMSG_LINE * GNI_SMSG_LINE;
	SmsgMailbox box{};

	box.control = control;
	box.slots = control + GNI_SMSG_LINE;
	box.ring = control + gni_smsg_fixed(a->mbox_maxcredit);
	box.ring_bytes = static_cast<uint32_t>((start + a->buff_size - box.ring) / GNI_SMSG_LINE * GNI_SMSG_LINE);
	box.most = most_tagged(box.ring_bytes);
	box.mdh = gni_hndl_name(&a->mem_hndl);
	return box;
}

/* Both sides know both mailboxes, so what another connection left behind is not taken for a message. */
uint32_t direction_key(const SmsgMailbox &to, const SmsgMailbox &from)
{
	return gni_smsg_direction(gni_smsg_end(to.control, to.mdh), gni_smsg_end(from.control, from.mdh));
}

/* Another one for each connection that this process makes, and with some luck for each that any process does. */
uint32_t new_nonce()
{
	static constinit std::atomic<uint32_t> count{0};
	const auto pid = static_cast<uint32_t>(getpid());

	return static_cast<uint32_t>(gni_smsg_mix(gni_smsg_mix(sys::now_ms() << 20 ^ pid) ^ ++count));
}

/* What the peer asks for begins anew; the identity comes last. */
void open_own(Smsg *s)
{
	const uint32_t nonce = new_nonce();

	s->out.identity = gni_smsg_identity(s->out.box.key, nonce);
	s->out.key = gni_smsg_key(s->out.box.key, nonce);
	/* Nobody can have released what we have not sent yet. */
	__atomic_store_n(smsg_own(s, kSmsgCredit), 0, __ATOMIC_RELAXED);
	__atomic_store_n(smsg_own(s, kSmsgReleased), 0, __ATOMIC_RELAXED);
	__atomic_store_n(smsg_own(s, kSmsgIdentity), s->out.identity, __ATOMIC_RELEASE);
}

/*
 * Memory of connections goes back here only: a thread that still uses one which
 * another has ended finds a connection, of no less credits.
 */
struct Spare {
	Smsg *first[17]; /* by power of two that is not less than the credits */
};

constinit Spare spare{};
constinit Inherited inherited;

Spare *own_spare()
{
	if (inherited.first_look())
		spare = {};
	return &spare;
}

constexpr uint32_t spare_class(uint32_t credits)
{
	return static_cast<uint32_t>(std::bit_width(credits - 1));
}

Smsg *connection_new(uint32_t credits)
{
	const uint32_t c = spare_class(credits);
	const size_t bytes = sizeof(Smsg) + (size_t{1} << c) * (sizeof(uint64_t) + sizeof(uint32_t));
	Smsg *s = nullptr;

	{
		const Locked lock(Subject::mailboxes);
		Spare *all = own_spare();
		s = all->first[c];
		if (s)
			all->first[c] = s->next;
	}
	if (!s)
		return static_cast<Smsg *>(calloc(1, bytes));
	memset(static_cast<void *>(s), 0, bytes);
	return s;
}

void connection_free(Smsg *s)
{
	const Locked lock(Subject::mailboxes);
	Smsg *&first = own_spare()->first[spare_class(s->credits)];
	s->next = first;
	first = s;
}

} // namespace

namespace ugni
{

void smsg_close(gni_ep *ep)
{
	Smsg *s = ep->smsg;

	ep->smsg = nullptr;
	if (s)
		connection_free(s);
}

} // namespace ugni

gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size)
{
	const char *const fault = size ? attr_fault(smsg_attr) : kNull;

	if (fault)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", fault);
	*size = gni_smsg_needed(smsg_attr->mbox_maxcredit, smsg_attr->msg_maxsize);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr, gni_smsg_attr_t *remote_smsg_attr)
{
	const gni_smsg_attr_t *local = local_smsg_attr;
	const gni_smsg_attr_t *remote = remote_smsg_attr;

	if (!endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoEndpoint);
	if (const char *const fault = pair_fault(local, remote))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", fault);
	if (!ep_hndl->cq)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "the endpoint has no queue for the events of sends");
	const Locked lock(Subject::control, ep_hndl->nic);
	if (!endpoints.valid(ep_hndl))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoEndpoint);
	if (!ep_hndl->bound || ep_hndl->smsg)
		return refuse(GNI_RC_INVALID_STATE, __func__, "the endpoint %s",
			      ep_hndl->bound ? "has mailboxes already" : "is not bound");
	Smsg *s = connection_new(local->mbox_maxcredit);
	if (!s)
		return refuse(GNI_RC_ERROR_NOMEM, __func__, "no memory for a connection of %u credits",
			      local->mbox_maxcredit);
	s->last = reinterpret_cast<uint64_t *>(s + 1);
	s->taken = reinterpret_cast<uint32_t *>(s->last + local->mbox_maxcredit);
	s->in.box = mailbox(local);
	s->out.box = mailbox(remote);
	s->in.box.key = direction_key(s->in.box, s->out.box);
	s->out.box.key = direction_key(s->out.box, s->in.box);
	/* From here on the peer's mailbox is where the NIC looks for it. */
	const uint64_t origin = gni_hndl_origin(&remote->mem_hndl);
	s->out.box.control -= origin;
	s->out.box.slots -= origin;
	s->out.box.ring -= origin;
	s->origin = gni_hndl_origin(&local->mem_hndl);
	s->credits = local->mbox_maxcredit;
	s->largest = local->msg_maxsize;
	s->events = static_cast<uint32_t>(kSmsgType | ARIES_EV_LOCAL | ARIES_EV_REMOTE);
	if (ep_hndl->nic->caps & ARIES_ID_CAPS_LATER_MASK)
		s->events |= ARIES_DB_LATER;
	s->repeats = local->msg_type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	smsg_take_stock(s);
	open_own(s);
	ep_hndl->smsg = s;
	return GNI_RC_SUCCESS;
}
