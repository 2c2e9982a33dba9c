// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file The data path of both libraries as built, instruction by instruction: a put of 8 bytes as libugni's own, with
 * its event and its descriptor, and as libdmapp's; and what a word of an implicit batch costs. As libugni's test of
 * this name: the process below the tracer answers the system calls, and the NIC's status word says that all is well.
 */
#include "aries_hw.h"
#include "cmocka_cpp.hpp"
#include "dmapp.h"
#include "place.hpp"
#include "uapi/kgni_abi.h"

#include <csignal>
#include <cstdarg>
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
constexpr uint32_t kSlots = 2048;
constexpr int kCannotTrace = 99;
constexpr size_t kPage = 4096;

alignas(kPage) unsigned char area[ARIES_DESC_STRIDE];
alignas(kPage) unsigned char doorbell[kPage];
alignas(kPage) uint64_t queue[ARIES_CQ_HEADER_BYTES / 8 + kSlots];
alignas(kPage) unsigned char heap[size_t{2} << 20];
alignas(kPage) unsigned char own[256 * 1024];
uint32_t regions;

} // namespace

/* The libraries resolve these here instead of in libc. */
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
		m->mdh = ++regions;
		m->base = m->address;
		m->page_shift = 12;
		m->pages = m->length >> 12;
	}
	return 0;
}

extern "C" void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset) noexcept
{
	if (fd != kDevice)
		// NOLINTNEXTLINE(performance-no-int-to-ptr)
		return reinterpret_cast<void *>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
	return offset == 4096 ? static_cast<void *>(area) : offset == 8192 ? static_cast<void *>(doorbell) : queue;
}

namespace dmapp::place
{

bool open(Job *job)
{
	*job = {0, 1, 1, 0};
	return true;
}

void close() {}

bool allgather(void *mine, void *all, int bytes)
{
	memcpy(all, mine, static_cast<size_t>(bytes));
	return true;
}

Range data_segment()
{
	return {};
}

void *heap_map(size_t)
{
	return heap;
}

void heap_unmap(void *, size_t) {}

void *pages(size_t bytes)
{
	return bytes <= sizeof(own) ? own : nullptr;
}

void pages_end(void *, size_t) {}

} // namespace dmapp::place

namespace
{

struct Process {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_ep_handle_t ep = nullptr;
	dmapp_jobinfo_t job{};

	Process()
	{
		uint32_t address = 0;

		setenv("XT_SYMMETRIC_HEAP_SIZE", "2m", 1);
		if (GNI_CdmCreate(1, 255, 1, 0, &cdm) || GNI_CdmAttach(cdm, 0, &address, &nic) ||
		    GNI_CqCreate(nic, 8, 0, 0, nullptr, nullptr, &cq) || GNI_EpCreate(nic, cq, &ep) ||
		    GNI_EpBind(ep, 0, 1) || dmapp_init(nullptr, nullptr) || dmapp_get_jobinfo(&job))
			abort();
	}
};

void mark()
{
	kill(getpid(), SIGUSR1);
}

void gni_put(const Process &p, uint64_t *value, uint64_t tid, bool counted)
{
	uint64_t *slots = queue + ARIES_CQ_HEADER_BYTES / 8;
	gni_post_descriptor_t d = {};
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = reinterpret_cast<uintptr_t>(value);
	d.remote_mem_hndl.qword2 = 1;
	d.length = 8;
	slots[queue[0] % kSlots] = tid << ARIES_CQE_TID_SHIFT | uint64_t{ARIES_INFO_GLOBAL} << ARIES_CQE_INFO_SHIFT |
				   uint64_t{ARIES_SRC_FMA} << ARIES_CQE_SOURCE_SHIFT;
	if (counted)
		mark();
	if (GNI_PostFma(p.ep, &d) || GNI_CqGetEvent(p.cq, &e) || GNI_GetCompleted(p.cq, e, &back) || back != &d)
		_exit(1);
	if (counted)
		mark();
}

void dmapp_puts(Process &p, uint64_t *value, bool counted)
{
	if (counted)
		mark();
	if (dmapp_put(heap, &p.job.sheap_seg, 0, value, 1, DMAPP_QW))
		_exit(2);
	if (counted)
		mark();
}

/* As many as fill a batch, which the last one rings for the next. */
void words(Process &p, uint64_t *value, bool counted)
{
	if (counted)
		mark();
	for (unsigned n = 0; n < ARIES_LAUNCH_LINE; n++) {
		if (dmapp_put_nbi(heap + n * 8UL, &p.job.sheap_seg, 0, value, 1, DMAPP_QW))
			_exit(3);
	}
	if (counted)
		mark();
}

[[noreturn]] void traced()
{
	uint64_t value = 42;

	if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr))
		_exit(kCannotTrace);
	raise(SIGSTOP);
	Process p;
	/* Symbols are resolved and ids go round: 1 to 65, then again from 1. */
	for (uint64_t n = 0; n < 650; n++)
		gni_put(p, &value, n % 65 + 1, false);
	for (unsigned n = 0; n < 10; n++)
		dmapp_puts(p, &value, false);
	mark();
	mark();
	gni_put(p, &value, 1, true);
	dmapp_puts(p, &value, true);
	words(p, &value, false);
	words(p, &value, true);
	_exit(0);
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

void puts_of_both(void **)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		traced();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotTrace)
		skip();
	const long empty = count(pid);
	const long gni = count(pid) - empty;
	const long put = count(pid) - empty;
	const long batch = count(pid) - empty;
	ptrace(PTRACE_CONT, pid, nullptr, nullptr);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	print_message(
		"put of 8 bytes: %ld instructions with an event of GNI's, %ld of DMAPP; %ld for a word of a batch\n",
		gni, put, batch / ARIES_LAUNCH_LINE);
	assert_true(empty > 0 && gni > 0 && put > 0 && batch > 0);
	/* Hardly more than what it stands for. What a batch waits for at its end is in its number, and varies. */
	assert_true(put * 10 <= gni * 13);
	assert_true(batch * 10 <= gni * 13 * ARIES_LAUNCH_LINE);
}

/* A NIC that was reset reads as ones, everywhere: each call says so, and none waits for what does not come. */
void nic_that_is_gone(void **)
{
	Process p;
	dmapp_syncid_handle_t early = 0, late = 0;
	uint64_t value = 1;
	int flag = 0;

	assert_int_equal(DMAPP_RC_SUCCESS,
			 dmapp_put_nb(heap, &p.job.sheap_seg, 0, heap + 8192, 1024, DMAPP_QW, &early));
	assert_int_equal(DMAPP_RC_SUCCESS, dmapp_put_nbi(heap, &p.job.sheap_seg, 0, &value, 1, DMAPP_QW));
	memset(area, 0xff, sizeof(area));
	memset(queue, 0xff, sizeof(queue));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_put(heap, &p.job.sheap_seg, 0, &value, 1, DMAPP_QW));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_get(&value, heap, &p.job.sheap_seg, 0, 1, DMAPP_QW));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_aadd_qw(heap, &p.job.sheap_seg, 0, 1));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_syncid_wait(&early));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_gsync_wait());
	assert_int_equal(DMAPP_RC_SUCCESS, dmapp_put_nb(heap, &p.job.sheap_seg, 0, heap + 8192, 1024, DMAPP_QW, &late));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_syncid_test(&late, &flag));
	assert_int_equal(flag, 1);
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_gsync_test(&flag));
	assert_int_equal(DMAPP_RC_TRANSACTION_ERROR, dmapp_finalize());
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(puts_of_both),
		cmocka_unit_test(nic_that_is_gone),
	};

	return cmocka_run_group_tests_name("instructions of DMAPP", tests, nullptr, nullptr);
}
