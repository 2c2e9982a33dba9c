// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The data path of the real shared library, instruction by instruction: an
 * 8-byte put, its event and its descriptor. The process below the tracer
 * answers the library's system calls itself; the NIC's event is in the queue
 * beforehand.
 */
#include "aries_hw.h"
#include "cmocka_cpp.hpp"
#include "gni_pub.h"
#include "uapi/kgni_abi.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr int kDevice = 1000;
constexpr uint32_t kSlots = 64;
constexpr unsigned kBudget = 230; /* with the three calls themselves */
constexpr int kCannotTrace = 99;

alignas(4096) unsigned char area[ARIES_DESC_STRIDE];
alignas(4096) unsigned char doorbell[4096];
alignas(4096) uint64_t queue[ARIES_CQ_HEADER_BYTES / 8 + kSlots];
unsigned system_calls;

} // namespace

/* The library resolves these here instead of in libc. */
extern "C" int open64(const char *, int, ...)
{
	return kDevice;
}

extern "C" int ioctl(int, unsigned long request, ...) noexcept
{
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	system_calls++;
	if (request == KGNI_IOC_QUERY) {
		static_cast<kgni_query *>(argument)->bte_queue = 64;
	} else if (request == KGNI_IOC_ATTACH) {
		auto *a = static_cast<kgni_attach *>(argument);
		a->desc_offset = 4096;
		a->doorbell_offset = 8192;
	} else if (request == KGNI_IOC_CQ_CREATE) {
		auto *c = static_cast<kgni_cq_create *>(argument);
		c->entries = kSlots;
		c->mmap_offset = 16384;
		c->mmap_size = sizeof(queue);
	} else if (request == KGNI_IOC_MEM_REGISTER) {
		auto *m = static_cast<kgni_mem_register *>(argument);
		m->mdh = 1;
		m->base = m->address;
		m->page_shift = 12;
		m->pages = m->length >> 12;
	}
	return 0;
}

extern "C" void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset) noexcept
{
	system_calls++;
	if (fd != kDevice)
		// NOLINTNEXTLINE(performance-no-int-to-ptr)
		return reinterpret_cast<void *>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
	return offset == 4096 ? static_cast<void *>(area) : offset == 8192 ? static_cast<void *>(doorbell) : queue;
}

extern "C" int madvise(void *address, size_t bytes, int advice) noexcept
{
	system_calls++;
	return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
}

namespace
{

struct Process {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_ep_handle_t ep = nullptr;

	Process()
	{
		uint32_t address = 0;
		if (GNI_CdmCreate(1, 255, 1, 0, &cdm) || GNI_CdmAttach(cdm, 0, &address, &nic) ||
		    GNI_CqCreate(nic, 8, 0, 0, nullptr, nullptr, &cq) || GNI_EpCreate(nic, cq, &ep) ||
		    GNI_EpBind(ep, 0, 1))
			abort();
	}
};

/* What the NIC would have written: a global event of transaction @tid, in the next slot. */
void event(uint64_t tid)
{
	uint64_t *slots = queue + ARIES_CQ_HEADER_BYTES / 8;

	slots[queue[0] % kSlots] = tid << ARIES_CQE_TID_SHIFT | uint64_t{ARIES_INFO_GLOBAL} << ARIES_CQE_INFO_SHIFT |
				   uint64_t{ARIES_SRC_FMA} << ARIES_CQE_SOURCE_SHIFT;
}

void put(const Process &p, uint64_t *value, uint64_t tid, bool counted)
{
	gni_post_descriptor_t d = {};
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = reinterpret_cast<uintptr_t>(value);
	d.remote_mem_hndl.qword2 = 1;
	d.length = 8;
	event(tid);
	if (counted)
		kill(getpid(), SIGUSR1); /* the tracer begins to count */
	if (GNI_PostFma(p.ep, &d) || GNI_CqGetEvent(p.cq, &e) || GNI_GetCompleted(p.cq, e, &back) || back != &d)
		_exit(1);
	if (counted)
		kill(getpid(), SIGUSR1); /* and ends */
}

void nothing()
{
	kill(getpid(), SIGUSR1);
	asm volatile("" ::: "memory");
	kill(getpid(), SIGUSR1);
}

[[noreturn]] void traced()
{
	uint64_t value = 42;

	if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr))
		_exit(kCannotTrace);
	raise(SIGSTOP);
	Process p;
	unsigned calls = system_calls;
	/* Symbols are resolved and ids go round: 1 to 65, then again from 1. */
	for (uint64_t n = 0; n < 650; n++)
		put(p, &value, n % 65 + 1, false);
	nothing();
	put(p, &value, 1, true);
	_exit(system_calls == calls ? 0 : 2);
}

/* Instructions from one SIGUSR1 to the next; -1 when the process ends first. */
long count(pid_t pid)
{
	int status = 0;
	long steps = 0;

	while (ptrace(PTRACE_CONT, pid, nullptr, nullptr) == 0) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) == SIGUSR1)
			break;
	}
	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			return -1;
		steps++;
	} while (WSTOPSIG(status) != SIGUSR1);
	return steps;
}

TEST(put_event_and_descriptor)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		traced();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotTrace)
		skip();
	long empty = count(pid);
	long full = count(pid);
	assert_true(empty > 0 && full > empty);
	ptrace(PTRACE_CONT, pid, nullptr, nullptr);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	print_message("8-byte put, event and descriptor: %ld instructions\n", full - empty);
	assert_true(full - empty <= static_cast<long>(kBudget));
}

TEST(bind_and_unbind_without_system_calls)
{
	Process p;
	unsigned calls = system_calls;

	for (int i = 0; i < 1000; i++) {
		assert_rc(SUCCESS, GNI_EpUnbind(p.ep));
		assert_rc(SUCCESS, GNI_EpBind(p.ep, 0, 1));
	}
	assert_int_equal(system_calls, calls);
}

/* The first one of a process, too. */
TEST(registration_with_one_system_call)
{
	constexpr size_t kBytes = 4 << 20;
	const int modes = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	Process p;
	void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, modes, -1, 0);
	gni_mem_handle_t handle{};

	assert_ptr_not_equal(memory, MAP_FAILED);
	for (int i = 0; i < 3; i++) {
		const unsigned calls = system_calls;
		assert_rc(SUCCESS, GNI_MemRegister(p.nic, reinterpret_cast<uintptr_t>(memory), kBytes, nullptr,
						   GNI_MEM_READWRITE, -1, &handle));
		assert_int_equal(1, system_calls - calls);
		assert_rc(SUCCESS, GNI_MemDeregister(p.nic, &handle));
	}
	munmap(memory, kBytes);
}

} // namespace

TEST_MAIN("instructions of the data path")
