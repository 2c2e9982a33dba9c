// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Error events. A subscription has an open device of its own, where the driver
 * queues the events; it outlives the NIC handle that it was made with.
 */
#include "debug.hpp"
#include "objects.hpp"

#include <cstring>

using namespace ugni;

struct alignas(32) gni_err {
	static constexpr uint32_t kMagic = 0x6572'7567;
	static constexpr size_t kSlots = size_t{1} << 10;

	std::atomic<uint32_t> magic;
	std::atomic<uint32_t> users; /* threads inside a call that may sleep; any thread */
	int fd;
};

namespace
{

constinit Slab<gni_err> subscriptions;

constexpr const char *kNoSubscription = "err_handle is no subscription, or released";
constexpr uint32_t kClosing = ~uint32_t{0} / 2;
constexpr uint64_t kForever = ~uint64_t{0};

static_assert(sizeof(gni_error_event_t) == sizeof(kgni_err_event));
static_assert(offsetof(gni_error_event_t, ptag) == offsetof(kgni_err_event, ptag));
static_assert(offsetof(gni_error_event_t, serial_number) == offsetof(kgni_err_event, serial));
static_assert(offsetof(gni_error_event_t, timestamp) == offsetof(kgni_err_event, time_ns));
static_assert(offsetof(gni_error_event_t, info_mmrs) == offsetof(kgni_err_event, info));

/* Keeps the device open while a thread reads, and lets go also if that thread is cancelled while it sleeps. */
bool enter(gni_err *err)
{
	if (err->users.fetch_add(1) < kClosing)
		return true;
	err->users.fetch_sub(1);
	return false;
}

void leave(void *err)
{
	static_cast<gni_err *>(err)->users.fetch_sub(1);
}

gni_return_t read_events(gni_err *err, kgni_err_read *arg, const Uncancelled &outer,
			 const char *call = __builtin_FUNCTION())
{
	gni_return_t rc = GNI_RC_SUCCESS;

	if (!enter(err))
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNoSubscription);
	pthread_cleanup_push(leave, err);
	rc = kernel::err_read(err->fd, arg, outer, call);
	pthread_cleanup_pop(1);
	return rc;
}

gni_return_t control(gni_err *err, uint32_t flags, uint8_t mask, uint8_t ptag, uint8_t *mask_before,
		     const char *call = __builtin_FUNCTION())
{
	kgni_err_control arg{};

	arg.flags = flags;
	arg.mask = mask;
	arg.ptag = ptag;
	gni_return_t rc = kernel::err_control(err->fd, &arg, call);
	if (rc == GNI_RC_SUCCESS && mask_before)
		*mask_before = arg.mask;
	return rc;
}

gni_return_t subscribe(uint32_t device, kgni_err_subscribe *arg, gni_err **out, const char *call = __builtin_FUNCTION())
{
	int fd = -1;
	gni_return_t rc = kernel::open_device(device, &fd);
	if (rc != GNI_RC_SUCCESS)
		return kernel::no_device(rc == GNI_RC_PERMISSION_ERROR ? told(GNI_RC_ERROR_RESOURCE) : rc, call, device,
					 fd);
	rc = kernel::err_subscribe(fd, arg, call);
	gni_err *err = rc == GNI_RC_SUCCESS ? subscriptions.create() : nullptr;
	if (!err) {
		sys::close_device(fd);
		return rc == GNI_RC_SUCCESS ? refuse(GNI_RC_ERROR_NOMEM, call, "%s", kNoHandles) : rc;
	}
	err->fd = fd;
	*out = err;
	return GNI_RC_SUCCESS;
}

} // namespace

gni_return_t GNI_SubscribeErrors(gni_nic_handle_t nic_handle, uint32_t device_id, gni_error_mask_t mask,
				 uint32_t EEQ_size, gni_err_handle_t *err_handle)
{
	if (!err_handle || (nic_handle && !nics.valid(nic_handle)))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", err_handle ? kNoNic : kNull);
	kgni_err_subscribe arg{};
	arg.mask = mask;
	arg.entries = EEQ_size;
	if (nic_handle) {
		device_id = nic_handle->device;
		arg.cookie = nic_handle->cdm->cookie;
		arg.ptag = nic_handle->ptag;
	} else {
		arg.flags = KGNI_ERR_ALL;
	}
	return subscribe(device_id, &arg, err_handle);
}

gni_return_t GNI_ReleaseErrors(gni_err_handle_t err_handle)
{
	uint32_t none = 0;

	if (!subscriptions.valid(err_handle))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoSubscription);
	if (!err_handle->users.compare_exchange_strong(none, kClosing))
		return none < kClosing ? later(GNI_RC_NOT_DONE, __func__, "a thread waits for its events")
				       : refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoSubscription);
	subscriptions.retire(err_handle);
	sys::close_device(err_handle->fd);
	subscriptions.recycle(err_handle);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t *mask)
{
	if (!subscriptions.valid(err_handle) || !mask)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      subscriptions.valid(err_handle) ? kNull : kNoSubscription);
	return control(err_handle, 0, 0, 0, mask);
}

gni_return_t GNI_SetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t mask_in, gni_error_mask_t *mask_out)
{
	if (!subscriptions.valid(err_handle) || !mask_out)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      subscriptions.valid(err_handle) ? kNull : kNoSubscription);
	return control(err_handle, KGNI_ERR_SET_MASK, mask_in, 0, mask_out);
}

gni_return_t GNI_SetErrorPtag(gni_err_handle_t err_handle, uint8_t ptag)
{
	if (!subscriptions.valid(err_handle))
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNoSubscription);
	return control(err_handle, KGNI_ERR_SET_PTAG, 0, ptag, nullptr);
}

gni_return_t GNI_GetErrorEvent(gni_err_handle_t err_handle, gni_error_event_t *event)
{
	const Uncancelled whole;

	if (!subscriptions.valid(err_handle) || !event)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      subscriptions.valid(err_handle) ? kNull : kNoSubscription);
	kgni_err_read arg{};
	arg.events = reinterpret_cast<uintptr_t>(event);
	arg.count = 1;
	return read_events(err_handle, &arg, whole);
}

gni_return_t GNI_WaitErrorEvents(gni_err_handle_t err_handle, gni_error_event_t *events, uint32_t events_size,
				 uint32_t timeout, uint32_t *num_events)
{
	const Uncancelled whole;

	if (!subscriptions.valid(err_handle) || !events || !events_size || !num_events)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s",
			      subscriptions.valid(err_handle) ? kNull : kNoSubscription);
	kgni_err_read arg{};
	arg.events = reinterpret_cast<uintptr_t>(events);
	arg.count = events_size < KGNI_ERR_ENTRIES_MAX ? events_size : KGNI_ERR_ENTRIES_MAX;
	arg.batch_ms = timeout;
	arg.timeout_ms = kForever;
	gni_return_t rc = read_events(err_handle, &arg, whole);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	*num_events = arg.count;
	return timeout && arg.count < events_size ? nothing(GNI_RC_TIMEOUT) : GNI_RC_SUCCESS;
}
