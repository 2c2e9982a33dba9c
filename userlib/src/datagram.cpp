// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Datagrams. All of their state is in the driver, except for who waits for what comes:
 * a thread that sleeps here holds nothing, and may be cancelled.
 */
#include "debug.hpp"
#include "objects.hpp"

#include <cstring>

using namespace ugni;

static_assert(KGNI_DGRAM_BYTES == GNI_DATAGRAM_MAXSIZE);
static_assert(KGNI_DGRAM_PENDING == GNI_POST_PENDING && KGNI_DGRAM_COMPLETED == GNI_POST_COMPLETED &&
	      KGNI_DGRAM_ERROR == GNI_POST_ERROR && KGNI_DGRAM_TIMEOUT == GNI_POST_TIMEOUT &&
	      KGNI_DGRAM_TERMINATED == GNI_POST_TERMINATED && KGNI_DGRAM_REMOTE_DATA == GNI_POST_REMOTE_DATA);

namespace
{

constexpr const char *kNoDatagram = "no datagram of the endpoint is under way";
constexpr uint64_t kForever = ~uint64_t{0};
constexpr uint64_t kNoId = ~uint64_t{0};

struct Out {
	gni_post_state_t *state;
	uint32_t *address;
	uint32_t *id;

	bool complete() const { return state && address && id; }
};

uint64_t name(const gni_ep *ep)
{
	return reinterpret_cast<uintptr_t>(ep);
}

/* When a wait of @timeout milliseconds ends. */
uint64_t end_of(uint32_t timeout)
{
	return timeout == ~0U ? kForever : sys::now_ms() + timeout;
}

uint64_t left_until(uint64_t end)
{
	if (end == kForever)
		return kForever;
	uint64_t now = sys::now_ms();
	return now < end ? end - now : 0;
}

/* A sleep ended without an answer: INVALID_STATE is a signal; the kernel's clock ticks, so it may find the time up
 * early. */
bool again(gni_return_t rc, bool last)
{
	return rc == GNI_RC_INVALID_STATE || (rc == GNI_RC_TIMEOUT && !last);
}

gni_return_t post(gni_ep *ep, const void *in, uint16_t length, void *out, uint16_t room, uint32_t flags, uint64_t id,
		  const char *call = __builtin_FUNCTION())
{
	if (!endpoints.valid(ep) || (length && !in) || (room && !out))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", endpoints.valid(ep) ? kNull : kNoEndpoint);
	if (length > GNI_DATAGRAM_MAXSIZE)
		return refuse(GNI_RC_SIZE_ERROR, call, "%u bytes: %d are possible", length, GNI_DATAGRAM_MAXSIZE);
	const Locked lock(Subject::control, ep->nic);
	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	if (ep->datagram)
		return later(GNI_RC_ERROR_RESOURCE, call, "the endpoint's earlier datagram is not reaped");

	kgni_dgram_post arg{};
	arg.flags = flags;
	arg.ep = name(ep);
	arg.id = id;
	arg.length = length;
	if (ep->bound) {
		arg.pe = ep->remote_address;
		arg.inst_id = ep->remote_id;
	} else {
		arg.flags |= KGNI_DGRAM_WILDCARD;
	}
	if (length)
		memcpy(arg.data, in, length);
	ep->nic->datagrams = true;
	gni_return_t rc = kernel::datagram_post(ep->nic->fd, &arg, call);
	if (rc == GNI_RC_SUCCESS) {
		ep->datagram_out = out;
		ep->datagram_room = room;
		ep->datagram = true;
		ep->references++;
	}
	return rc;
}

/* Bookkeeping of a datagram that the driver has forgotten. */
void forget(gni_ep *ep)
{
	ep->datagram = false;
	ep->references--;
}

bool final(const kgni_dgram_test &arg)
{
	return arg.state != KGNI_DGRAM_PENDING && arg.state != KGNI_DGRAM_REMOTE_DATA;
}

/* The datagram of @ep has a final state; the driver has forgotten it. */
gni_return_t reap(gni_ep *ep, const kgni_dgram_test &arg, const char *call)
{
	forget(ep);
	if (arg.state != KGNI_DGRAM_COMPLETED)
		return GNI_RC_SUCCESS;
	if (arg.length > ep->datagram_room)
		return refuse(GNI_RC_SIZE_ERROR, call, "a datagram of %u bytes came, the buffer has %u", arg.length,
			      ep->datagram_room);
	if (arg.length)
		memcpy(ep->datagram_out, arg.data, arg.length);
	return GNI_RC_SUCCESS;
}

/* The lock is held, or the thread that held it was cancelled while it slept. */
gni_return_t tell(gni_ep *ep, const kgni_dgram_test &arg, const Out &out, const char *call)
{
	gni_return_t rc = final(arg) ? reap(ep, arg, call) : GNI_RC_SUCCESS;

	*out.state = static_cast<gni_post_state_t>(arg.state);
	if (arg.state == KGNI_DGRAM_COMPLETED) {
		*out.address = arg.pe;
		*out.id = arg.inst_id;
	}
	return rc;
}

kgni_dgram_test question(const gni_ep *ep, uint32_t flags, uint64_t id)
{
	kgni_dgram_test arg{};

	arg.flags = flags;
	arg.ep = name(ep);
	arg.id = id;
	return arg;
}

/* Another thread may have destroyed the endpoint, or been told the state, while this one asked. */
gni_return_t tell_if_there(gni_ep *ep, const kgni_dgram_test &arg, const Out &out, const char *call)
{
	const Locked lock(Subject::control, ep->nic);

	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	return ep->datagram ? tell(ep, arg, out, call) : later(GNI_RC_NO_MATCH, call, "%s", kNoDatagram);
}

gni_return_t test(gni_ep *ep, uint32_t flags, uint64_t id, const Out &out, const char *call = __builtin_FUNCTION())
{
	const Uncancelled whole;

	if (!endpoints.valid(ep) || !out.complete())
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", endpoints.valid(ep) ? kNull : kNoEndpoint);
	if (!ep->datagram)
		return later(GNI_RC_NO_MATCH, call, "%s", kNoDatagram);
	kgni_dgram_test arg = question(ep, flags, id);
	gni_return_t rc = kernel::datagram_test(ep->nic->fd, &arg, whole, call);
	return rc == GNI_RC_SUCCESS ? tell_if_there(ep, arg, out, call) : rc;
}

/* State of a wait for the cleanup of a thread that is cancelled in it. */
struct Waiting {
	gni_ep *ep;
	kgni_dgram_test arg;
};

constexpr uint32_t kNoAnswer = ~uint32_t{0};

/*
 * The thread was cancelled while it slept. The driver may have told it a final
 * state just then, and only once.
 */
void abandon(void *argument)
{
	const auto *w = static_cast<const Waiting *>(argument);

	if (w->arg.state == kNoAnswer || !final(w->arg))
		return;
	const Locked lock(Subject::control, w->ep->nic);
	if (endpoints.valid(w->ep) && w->ep->datagram)
		(void)reap(w->ep, w->arg, nullptr);
}

gni_return_t wait_once(Waiting *w, const Uncancelled &outer, const char *call)
{
	gni_return_t rc = GNI_RC_SUCCESS;

	w->arg.state = kNoAnswer;
	pthread_cleanup_push(abandon, w);
	rc = kernel::datagram_test(w->ep->nic->fd, &w->arg, outer, call);
	pthread_cleanup_pop(0);
	return rc;
}

gni_return_t wait(gni_ep *ep, uint32_t flags, uint64_t id, uint32_t timeout, const Out &out,
		  const char *call = __builtin_FUNCTION())
{
	const Uncancelled whole;

	if (!endpoints.valid(ep) || !out.complete())
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", endpoints.valid(ep) ? kNull : kNoEndpoint);
	if (timeout == 0)
		return refuse(GNI_RC_INVALID_PARAM, call, "a wait of 0 ms");
	if (!ep->datagram)
		return later(GNI_RC_NO_MATCH, call, "%s", kNoDatagram);
	uint64_t end = end_of(timeout);
	for (;;) {
		Waiting w = {ep, question(ep, flags, id)};
		w.arg.timeout_ms = left_until(end);
		/* When the time is over, one test without waiting. */
		bool last = w.arg.timeout_ms == 0;
		gni_return_t rc = wait_once(&w, whole, call);
		if (last && rc == GNI_RC_SUCCESS && !final(w.arg))
			return nothing(GNI_RC_TIMEOUT);
		if (rc == GNI_RC_SUCCESS)
			return tell_if_there(ep, w.arg, out, call);
		if (!again(rc, last))
			return rc;
		if (!endpoints.valid(ep))
			return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	}
}

gni_return_t cancel(gni_ep *ep, uint32_t flags, uint64_t id, const char *call = __builtin_FUNCTION())
{
	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	const Locked lock(Subject::control, ep->nic);
	if (!endpoints.valid(ep))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoEndpoint);
	if (!ep->datagram)
		return later(GNI_RC_NO_MATCH, call, "%s", kNoDatagram);
	kgni_dgram_cancel arg{};
	arg.flags = flags;
	arg.ep = name(ep);
	arg.id = id;
	gni_return_t rc = kernel::datagram_cancel(ep->nic->fd, &arg, call);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	/* A wildcard is removed unless a partner has just matched it; other datagrams end as TERMINATED. */
	if (arg.gone)
		forget(ep);
	return GNI_RC_SUCCESS;
}

gni_return_t probe(gni_nic *nic, kgni_dgram_probe *arg, const Uncancelled &outer,
		   const char *call = __builtin_FUNCTION())
{
	nic->datagrams = true;
	return kernel::datagram_probe(nic->fd, arg, outer, call);
}

} // namespace

namespace ugni
{

void datagram_close(gni_ep *ep)
{
	kgni_dgram_cancel arg{};

	arg.flags = KGNI_DGRAM_RELEASE;
	arg.ep = name(ep);
	(void)kernel::datagram_cancel(ep->nic->fd, &arg, nullptr);
	forget(ep);
}

void datagrams_close(gni_nic *nic)
{
	kgni_dgram_cancel arg{};

	if (!nic->datagrams)
		return;
	arg.flags = KGNI_DGRAM_ALL;
	(void)kernel::datagram_cancel(nic->fd, &arg, nullptr);
}

} // namespace ugni

gni_return_t GNI_EpPostData(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf, uint16_t buf_size)
{
	return post(ep_hndl, in_data, data_len, out_buf, buf_size, 0, 0);
}

gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf,
			       uint16_t buf_size, uint64_t datagram_id)
{
	if (datagram_id == kNoId)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "an id of all ones");
	return post(ep_hndl, in_data, data_len, out_buf, buf_size, KGNI_DGRAM_ID, datagram_id);
}

gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state, uint32_t *remote_addr,
				uint32_t *remote_id)
{
	return test(ep_hndl, 0, 0, {post_state, remote_addr, remote_id});
}

gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, gni_post_state_t *post_state,
				    uint32_t *remote_addr, uint32_t *remote_id)
{
	return test(ep_hndl, KGNI_DGRAM_ID, datagram_id, {post_state, remote_addr, remote_id});
}

gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep_hndl, uint32_t timeout, gni_post_state_t *post_state,
				uint32_t *remote_addr, uint32_t *remote_id)
{
	return wait(ep_hndl, 0, 0, timeout, {post_state, remote_addr, remote_id});
}

gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, uint32_t timeout,
				    gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id)
{
	return wait(ep_hndl, KGNI_DGRAM_ID, datagram_id, timeout, {post_state, remote_addr, remote_id});
}

gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr, uint32_t *remote_id)
{
	const Uncancelled whole;

	if (!nics.valid(nic_hndl) || !remote_addr || !remote_id)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", nics.valid(nic_hndl) ? kNull : kNoNic);
	kgni_dgram_probe arg{};
	gni_return_t rc = probe(nic_hndl, &arg, whole);
	if (rc == GNI_RC_SUCCESS) {
		*remote_addr = arg.pe;
		*remote_id = arg.inst_id;
	}
	return rc;
}

gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic_hndl, uint64_t *datagram_id)
{
	const Uncancelled whole;

	if (!nics.valid(nic_hndl) || !datagram_id)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", nics.valid(nic_hndl) ? kNull : kNoNic);
	kgni_dgram_probe arg{};
	arg.flags = KGNI_DGRAM_ID;
	gni_return_t rc = probe(nic_hndl, &arg, whole);
	if (rc == GNI_RC_SUCCESS)
		*datagram_id = arg.id;
	return rc;
}

/* Called without the lock that serialises the NIC handle. */
gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic_hndl, uint32_t timeout, uint64_t *datagram_id)
{
	const Uncancelled whole;

	if (!nics.valid(nic_hndl) || !datagram_id)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", nics.valid(nic_hndl) ? kNull : kNoNic);
	uint64_t end = end_of(timeout);
	for (;;) {
		kgni_dgram_probe arg{};
		arg.flags = KGNI_DGRAM_ID;
		arg.timeout_ms = left_until(end);
		gni_return_t rc = probe(nic_hndl, &arg, whole);
		if (rc == GNI_RC_SUCCESS)
			*datagram_id = arg.id;
		if (!again(rc, arg.timeout_ms == 0))
			return rc == GNI_RC_NO_MATCH ? nothing(GNI_RC_TIMEOUT) : rc;
		if (!nics.valid(nic_hndl))
			return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoNic);
	}
}

gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep_hndl)
{
	return cancel(ep_hndl, 0, 0);
}

gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep_hndl, uint64_t datagram_id)
{
	return cancel(ep_hndl, KGNI_DGRAM_ID, datagram_id);
}
