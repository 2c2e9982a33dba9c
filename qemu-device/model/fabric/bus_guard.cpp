/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/bus_guard.hpp"

#include <cerrno>
#include <csignal>
#include <mutex>
#include <new>

#include <pthread.h>
#include <sys/mman.h>

namespace aries
{

/* The list only grows, because the handler may be walking it at any time; free entries are used again. */
struct BusGuard::Range {
	std::atomic<uintptr_t> begin{0};
	std::atomic<uintptr_t> end{0}; /* 0: the range is free */
	std::atomic<uintptr_t> page{0};
	std::atomic<bool> lossy{false};
	Range *next = nullptr;
};

namespace
{

std::atomic<BusGuard::Range *> ranges{nullptr};
std::mutex ranges_mutex; /* for threads that take and free entries; the handler takes no lock */
struct sigaction before;

bool zeros(uintptr_t at, uintptr_t bytes) noexcept
{
	return mmap(reinterpret_cast<void *>(at), bytes, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

/*
 * The mark is set first, so that a thread that has stored into the page of zeros sees it. If the kernel permits no more
 * mappings, the whole mapping is replaced, because replacing a part would add one.
 */
bool replace(uintptr_t at) noexcept
{
	for (BusGuard::Range *range = ranges.load(); range; range = range->next) {
		const uintptr_t begin = range->begin.load(), end = range->end.load();

		if (at < begin || at >= end)
			continue;
		const uintptr_t page = range->page.load(), first = at & ~(page - 1);

		if (!range->lossy.exchange(true))
			lossy_mappings.fetch_add(1);
		return zeros(first, page) || zeros(begin, (end - begin + page - 1) & ~(page - 1));
	}
	return false;
}

/* Passes a signal to the earlier handler. Without one the access is repeated, and ends the process as it would have. */
void pass_on(int signal, siginfo_t *info, void *context) noexcept
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signal, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(signal);
	} else if (info->si_code > 0 || before.sa_handler == SIG_DFL) {
		std::signal(signal, SIG_DFL);
		if (info->si_code <= 0)
			raise(signal); /* the signal was sent by a process, so no access is repeated */
	}
}

void on_bus_error(int signal, siginfo_t *info, void *context) noexcept
{
	const int error = errno;

	/* A warning of an error that no access has met yet (BUS_MCEERR_AO) is for the host's handler. */
	if (info->si_code <= 0 || info->si_code == BUS_MCEERR_AO ||
	    !replace(reinterpret_cast<uintptr_t>(info->si_addr)))
		pass_on(signal, info, context);
	errno = error;
}

void install() noexcept
{
	struct sigaction action = {};

	action.sa_sigaction = on_bus_error;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, nullptr, &before);
	sigaction(SIGBUS, &action, nullptr);
}

BusGuard::Range *find_free()
{
	for (BusGuard::Range *range = ranges.load(); range; range = range->next) {
		if (!range->end.load())
			return range;
	}
	auto *range = new BusGuard::Range;

	range->next = ranges.load();
	ranges.store(range);
	return range;
}

BusGuard::Range *take(uintptr_t at, uint64_t bytes, uint64_t page)
{
	static std::once_flag once;

	std::call_once(once, install);
	const std::lock_guard guard(ranges_mutex);
	BusGuard::Range *range = find_free();

	range->lossy.store(false);
	range->page.store(page);
	range->begin.store(at);
	range->end.store(at + bytes);
	return range;
}

} // namespace

void admit_bus_errors() noexcept
{
	sigset_t bus;

	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
}

BusGuard::BusGuard(uint8_t *at, uint64_t bytes, uint64_t page)
	: range_(take(reinterpret_cast<uintptr_t>(at), bytes, page))
{
}

BusGuard::~BusGuard()
{
	const std::lock_guard guard(ranges_mutex);

	if (range_->lossy.load())
		lossy_mappings.fetch_sub(1);
	range_->end.store(0);
	range_->begin.store(0);
}

bool BusGuard::lossy() const noexcept
{
	return range_->lossy.load();
}

} // namespace aries
