// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Mailboxes: their size, and the life of a connection. */
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

static_assert(gni_smsg_needed(65535, GNI_SMSG_MAX_SIZE) < 1U << 24);

/* Another one for each connection that this process makes, and with some luck for each that any process does. */
uint32_t new_nonce()
{
	static constinit std::atomic<uint32_t> count{0};
	const auto pid = static_cast<uint32_t>(getpid());

	return static_cast<uint32_t>(gni_smsg_mix(gni_smsg_mix(sys::now_ms() << 20 ^ pid) ^ ++count));
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
	const char *const fault = size ? gni_smsg_attr_fault(smsg_attr) : kNull;

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
	if (const char *const fault = gni_smsg_pair_fault(local, remote))
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
	auto events = static_cast<uint32_t>(kSmsgType | ARIES_EV_LOCAL | ARIES_EV_REMOTE);
	if (ep_hndl->nic->caps & ARIES_ID_CAPS_LATER_MASK)
		events |= ARIES_DB_LATER;
	gni_smsg_join(s, local, remote, events);
	gni_smsg_open(s, new_nonce());
	ep_hndl->smsg = s;
	return GNI_RC_SUCCESS;
}
