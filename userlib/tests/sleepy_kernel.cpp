// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "sleepy_kernel.hpp"
#include "aries_hw.h"
#include "kernel.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

constexpr uint32_t kSlots = 64;
constexpr uint64_t kAreaOffset = 0x10000, kDoorbellOffset = 0x20000, kQueueOffset = 0x30000, kSmallOffset = 0x40000;

alignas(4096) unsigned char area[ARIES_DESC_STRIDE];
alignas(4096) uint64_t doorbell[512];
alignas(4096) uint64_t queue[ARIES_CQ_HEADER_BYTES / 8 + kSlots];
alignas(4096) uint64_t small_queue[ARIES_CQ_HEADER_BYTES / 8 + kSlots]; /* all that have fewer entries; stays empty */
std::atomic<bool> awake, told;
std::atomic<uint32_t> asleep, interrupts, next_fd{100}, open_files, next_mdh;
std::atomic<bool> mdhs[4096];
std::atomic<uint64_t> made; /* entries */

/*
 * Nothing but the sleep itself may be cancelled, as with an ioctl(): a thread that ends in an atomic operation leaves
 * a lock of the thread sanitizer behind. As in the library, cancellation is deferred, too.
 */
class InKernel
{
public:
	InKernel() { enter(); }
	~InKernel() { leave(); }
	InKernel(const InKernel &) = delete;
	InKernel &operator=(const InKernel &) = delete;

	/* No cancellation point of the C library. */
	void doze(const timespec &moment) const
	{
		leave();
		(void)syscall(SYS_nanosleep, &moment, nullptr);
		enter();
	}

private:
	void enter() const
	{
		(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
	}
	void leave() const
	{
		(void)pthread_setcancelstate(before_, nullptr);
		(void)pthread_setcanceltype(type_, nullptr);
	}
	mutable int before_ = PTHREAD_CANCEL_DISABLE;
	mutable int type_ = PTHREAD_CANCEL_DEFERRED;
};

int sleep_until(const InKernel &kernel, uint64_t timeout_ms, bool (*ready)())
{
	const timespec moment = {0, 200000};
	const uint64_t end = ugni::sys::now_ms() + timeout_ms;

	for (;;) {
		for (uint32_t n = interrupts; n;) {
			if (interrupts.compare_exchange_weak(n, n - 1))
				return -EINTR;
		}
		if (awake || (ready && ready()))
			return 0;
		if (timeout_ms != ~uint64_t{0} && ugni::sys::now_ms() >= end)
			return -ETIMEDOUT;
		kernel.doze(moment);
	}
}

int nap(const InKernel &kernel, uint64_t timeout_ms, bool (*ready)() = nullptr)
{
	asleep++;
	int r = sleep_until(kernel, timeout_ms, ready);
	asleep--;
	return r;
}

bool has_entry()
{
	return sleepy::produced() != sleepy::consumed();
}

} // namespace

namespace sleepy
{

void wake(bool on)
{
	awake = on;
}

void interrupt(uint32_t times)
{
	interrupts = times;
}

uint32_t sleepers()
{
	return asleep;
}

void forget_sleepers()
{
	asleep = 0;
}

uint32_t files()
{
	return open_files;
}

uint64_t produced()
{
	return made;
}

uint64_t consumed()
{
	return __atomic_load_n(&queue[0], __ATOMIC_ACQUIRE);
}

bool put(uint64_t entry)
{
	if (made - consumed() == kSlots)
		return false;
	__atomic_store_n(&queue[ARIES_CQ_HEADER_BYTES / 8 + made % kSlots], entry, __ATOMIC_RELEASE);
	made++;
	return true;
}

} // namespace sleepy

namespace ugni::sys
{

int open_device(uint32_t device)
{
	if (device)
		return -ENOENT;
	open_files++;
	return static_cast<int>(next_fd++);
}

int call(int fd, unsigned long request, void *argument)
{
	const InKernel kernel;

	(void)fd;
	switch (request) {
	case KGNI_IOC_QUERY:
		static_cast<kgni_query *>(argument)->bte_queue = 64;
		return 0;
	case KGNI_IOC_ATTACH: {
		auto *a = static_cast<kgni_attach *>(argument);
		a->desc_offset = kAreaOffset;
		a->doorbell_offset = kDoorbellOffset;
		return 0;
	}
	case KGNI_IOC_CQ_CREATE: {
		auto *c = static_cast<kgni_cq_create *>(argument);
		c->mmap_offset = c->entries < kSlots ? kSmallOffset : kQueueOffset;
		if (c->entries == kSlots) {
			memset(queue, 0, sizeof(queue));
			made = 0;
		}
		c->entries = kSlots;
		c->mmap_size = sizeof(queue);
		return 0;
	}
	case KGNI_IOC_MEM_REGISTER: {
		auto *m = static_cast<kgni_mem_register *>(argument);
		do
			m->mdh = next_mdh++ % 4095 + 1;
		while (mdhs[m->mdh].exchange(true));
		m->page_shift = 12;
		m->pages = 1;
		return 0;
	}
	case KGNI_IOC_MEM_DEREGISTER:
		mdhs[static_cast<kgni_mem_deregister *>(argument)->mdh] = false;
		return 0;
	case KGNI_IOC_DGRAM_POST:
		told = false;
		return 0;
	case KGNI_IOC_CQ_DESTROY:
	case KGNI_IOC_DGRAM_CANCEL:
	case KGNI_IOC_ERR_SUBSCRIBE:
		return 0;
	case KGNI_IOC_CQ_WAIT:
		return nap(kernel, static_cast<kgni_cq_wait *>(argument)->timeout_ms, has_entry);
	case KGNI_IOC_DGRAM_TEST: {
		auto *t = static_cast<kgni_dgram_test *>(argument);
		int r = t->timeout_ms ? nap(kernel, t->timeout_ms) : 0;
		if (!r && told)
			return -ENOENT;
		if (!r)
			t->state = awake ? KGNI_DGRAM_COMPLETED : KGNI_DGRAM_PENDING;
		/* Once, as the driver does. */
		if (!r && awake)
			told = true;
		/* The answer is there, the caller not awake yet: a good moment to be cancelled. */
		const timespec moment = {0, 5000000};
		if (!r && t->timeout_ms == ~uint64_t{0})
			kernel.doze(moment);
		return r;
	}
	case KGNI_IOC_DGRAM_PROBE:
		return nap(kernel, static_cast<kgni_dgram_probe *>(argument)->timeout_ms);
	case KGNI_IOC_ERR_READ:
		return nap(kernel, static_cast<kgni_err_read *>(argument)->timeout_ms);
	default:
		return -ENOTTY;
	}
}

void *map(int fd, size_t bytes, bool readable, uint64_t offset)
{
	(void)fd;
	(void)bytes;
	(void)readable;
	return offset == kAreaOffset       ? static_cast<void *>(area)
	       : offset == kDoorbellOffset ? static_cast<void *>(doorbell)
	       : offset == kSmallOffset    ? small_queue
					   : queue;
}

void unmap(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

void close_device(int fd)
{
	(void)fd;
	open_files--;
}

int share_open(const char *)
{
	return -ENOSYS;
}

int share_lock(int, uint64_t, bool)
{
	return -ENOSYS;
}

void share_unlock(int, uint64_t) {}

bool share_locked(int, uint64_t)
{
	return false;
}

bool share_named(int)
{
	return false;
}

int share_resize(int, uint64_t, uint64_t)
{
	return -ENOSYS;
}

void *share_map(int, uint32_t, size_t)
{
	return nullptr;
}

void share_unmap(void *, size_t) {}
void share_unlink(const char *) {}
void share_close(int) {}

uint64_t now_ms()
{
	timespec ts = {};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return static_cast<uint64_t>(ts.tv_sec) * 1000 + static_cast<uint64_t>(ts.tv_nsec) / 1000000;
}

} // namespace ugni::sys

extern "C" void ugni_mmio_store64(volatile uint64_t *address, uint64_t value)
{
	*address = value;
}
