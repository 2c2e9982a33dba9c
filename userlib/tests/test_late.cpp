// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The shared library with its own system calls: threads that still use a
 * handle while another one destroys it, and files that a child of fork() has.
 * The process answers for the driver; nothing happens at a doorbell.
 */
#include "aries_hw.h"
#include "cmocka_cpp.hpp"
#include "gni_pub.h"
#include "uapi/kgni_abi.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr uint32_t kSlots = 64;
constexpr off64_t kArea = 1 << 20, kDoorbell = 2 << 20, kQueue = 3 << 20;

std::atomic<int> device{-1}; /* one of those that are open */

} // namespace

extern "C" int open64(const char *, int, ...)
{
	device = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC));
	return device;
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
		a->desc_offset = kArea;
		a->doorbell_offset = kDoorbell;
	} else if (request == KGNI_IOC_CQ_CREATE) {
		auto *c = static_cast<kgni_cq_create *>(argument);
		c->entries = kSlots;
		c->mmap_offset = kQueue;
		c->mmap_size = ARIES_CQ_HEADER_BYTES + 4096;
	}
	return 0;
}

extern "C" void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset) noexcept
{
	if (fd >= 0 && offset >= kArea) {
		flags = (flags & MAP_FIXED) | MAP_SHARED | MAP_ANONYMOUS;
		fd = -1;
		offset = 0;
	}
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	return reinterpret_cast<void *>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
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
		assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 1, GNI_CDM_MODE_FORK_FULLCOPY, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
		assert_rc(SUCCESS, GNI_EpCreate(nic, cq, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, 0, 1));
	}
	~Process() { (void)GNI_CdmDestroy(cdm); }
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
};

struct Late {
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	std::atomic<unsigned> rounds{0};
	std::atomic<unsigned> unknown{0}; /* codes that a post does not document */
};

gni_smsg_attr_t mailbox(void *memory, uint32_t bytes)
{
	gni_smsg_attr_t a = {};

	a.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	a.msg_buffer = memory;
	a.buff_size = bytes;
	a.mbox_maxcredit = 4;
	a.msg_maxsize = 128;
	a.mem_hndl = {1, 1};
	return a;
}

alignas(64) unsigned char mailbox_memory[4096];

/* Goes on with everything there is until the handles are none any more. */
void *use(void *argument)
{
	auto *l = static_cast<Late *>(argument);
	uint64_t value[512] = {};
	gni_post_descriptor_t d = {}, *back = nullptr;
	gni_cq_entry_t e = 0;
	void *p = nullptr;

	d.local_addr = reinterpret_cast<uintptr_t>(value);
	d.remote_mem_hndl.qword2 = 1;
	for (;;) {
		const unsigned n = l->rounds++;
		gni_return_t rc;

		d.type = GNI_POST_FMA_PUT;
		d.cq_mode = n % 2 ? GNI_CQMODE_GLOBAL_EVENT : GNI_CQMODE_SILENT;
		d.length = n % 3 ? 8 : 2000;
		rc = GNI_PostFma(l->ep, &d);
		l->unknown += rc != GNI_RC_SUCCESS && rc != GNI_RC_ERROR_RESOURCE && rc != GNI_RC_INVALID_PARAM;
		(void)GNI_SmsgSend(l->ep, value, 8, nullptr, 0, n);
		(void)GNI_SmsgGetNext(l->ep, &p);
		(void)GNI_EpIdle(l->ep);
		gni_return_t got = GNI_CqGetEvent(l->cq, &e);
		(void)GNI_GetCompleted(
			l->cq, uint64_t{n % 100} << ARIES_CQE_TID_SHIFT | uint64_t{2} << ARIES_CQE_INFO_SHIFT, &back);
		if (rc == GNI_RC_INVALID_PARAM && got == GNI_RC_INVALID_PARAM)
			return nullptr;
	}
}

void destroyed_in_use(void **)
{
	for (int round = 0; round < 300; round++) {
		Process p;
		Late late = {p.cq, p.ep};
		gni_smsg_attr_t a = mailbox(mailbox_memory, sizeof(mailbox_memory));
		pthread_t threads[2];

		assert_rc(SUCCESS, GNI_SmsgInit(p.ep, &a, &a));
		for (auto &t : threads)
			assert_int_equal(pthread_create(&t, nullptr, use, &late), 0);
		while (late.rounds < static_cast<unsigned>(round % 50))
			sched_yield();
		if (round % 3 == 1)
			(void)GNI_EpDestroy(p.ep);
		assert_rc(SUCCESS, GNI_CdmDestroy(p.cdm));
		/* Others take the places of what is gone. */
		Process next;
		for (auto &t : threads) {
			timespec end = {};
			(void)clock_gettime(CLOCK_REALTIME, &end);
			end.tv_sec += 30;
			assert_int_equal(pthread_timedjoin_np(t, nullptr, &end), 0);
		}
		assert_int_equal(late.unknown, 0);
	}
}

/* Posts, reads, completes and makes domains without end; cancelled at any instruction of the library. */
void *use_for_ever(void *argument)
{
	auto *p = static_cast<Process *>(argument);
	static uint64_t value[512];
	static gni_post_descriptor_t d;
	gni_post_descriptor_t *back = nullptr;
	gni_cdm_handle_t cdm = nullptr;
	gni_cq_entry_t e = 0;

	d.local_addr = reinterpret_cast<uintptr_t>(value);
	d.remote_mem_hndl.qword2 = 1;
	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	for (uint64_t n = 0;; n++) {
		d.length = n % 16 ? 8 : 2000;
		(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
		(void)GNI_PostFma(p->ep, &d);
		(void)GNI_CqGetEvent(p->cq, &e);
		(void)GNI_GetCompleted(p->cq, n % 100 << ARIES_CQE_TID_SHIFT | uint64_t{2} << ARIES_CQE_INFO_SHIFT,
				       &back);
		if (GNI_CdmCreate(1, 255, 1, 0, &cdm) == GNI_RC_SUCCESS)
			(void)GNI_CdmDestroy(cdm);
		(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
	}
}

/* No lock stays behind; posts go on, the domain can be destroyed, and another one works. */
void cancelled_in_use(void **)
{
	static uint64_t value;
	gni_post_descriptor_t d = {}, *back = nullptr;

	d.local_addr = reinterpret_cast<uintptr_t>(&value);
	d.length = 8;
	d.remote_mem_hndl.qword2 = 1;
	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	for (unsigned round = 0; round < 3000; round++) {
		Process p;
		pthread_t thread;
		void *result = nullptr;
		unsigned posted = 0;

		assert_int_equal(pthread_create(&thread, nullptr, use_for_ever, &p), 0);
		(void)usleep(round % 16 * 20);
		assert_int_equal(pthread_cancel(thread), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		/* Refusals mend what is counted wrong; events of all ids make room. */
		for (uint64_t n = 0; n < 2000 && posted < 10; n++) {
			posted += GNI_PostFma(p.ep, &d) == GNI_RC_SUCCESS;
			(void)GNI_GetCompleted(
				p.cq, n % 200 << ARIES_CQE_TID_SHIFT | uint64_t{2} << ARIES_CQE_INFO_SHIFT, &back);
		}
		assert_int_equal(posted, 10);
		assert_rc(SUCCESS, GNI_EpDestroy(p.ep));
		assert_rc(SUCCESS, GNI_CqDestroy(p.cq));
		assert_rc(SUCCESS, GNI_CdmDestroy(p.cdm));
		Process next;
		assert_rc(SUCCESS, GNI_PostFma(next.ep, &d));
	}
}

/* Address space does not run out. */
size_t mappings()
{
	FILE *f = fopen("/proc/self/maps", "re");
	size_t lines = 0;

	assert_non_null(f);
	for (int c = fgetc(f); c != EOF; c = fgetc(f))
		lines += c == '\n';
	(void)fclose(f);
	return lines;
}

void address_space_is_used_again(void **)
{
	for (int i = 0; i < 100; i++)
		const Process p;
	const size_t before = mappings();
	for (int i = 0; i < 1000; i++)
		const Process p;
	assert_true(mappings() < before + 20);
}

/* An attachment ends with its process, whatever children live on. */
void files_in_a_child(void **)
{
	Process p;
	const int fd = device;
	int status = 0;

	assert_true(fcntl(fd, F_GETFD) >= 0);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		errno = 0;
		bool closed = fcntl(fd, F_GETFD) == -1 && errno == EBADF;
		gni_ep_handle_t ep = nullptr;
		_exit(!closed ? 1 : GNI_EpCreate(p.nic, nullptr, &ep) == GNI_RC_INVALID_PARAM ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_rc(SUCCESS, GNI_EpUnbind(p.ep));
}

/* One line in one write, whoever holds the lock of stderr. */
void *refuse(void *)
{
	gni_cdm_handle_t cdm = nullptr;

	(void)GNI_CdmCreate(1, 255, 1, 0x80000000, &cdm);
	return nullptr;
}

void debug_takes_no_lock(void **)
{
	int ends[2], keep = dup(2);
	char text[512] = "";
	pthread_t thread;
	timespec end = {};

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], 2), 2);
	(void)setenv("UGNI_DEBUG", "1", 1); // NOLINT(concurrency-mt-unsafe)
	flockfile(stderr);
	assert_int_equal(pthread_create(&thread, nullptr, refuse, nullptr), 0);
	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;
	int joined = pthread_timedjoin_np(thread, nullptr, &end);
	funlockfile(stderr);
	(void)unsetenv("UGNI_DEBUG"); // NOLINT(concurrency-mt-unsafe)
	(void)dup2(keep, 2);
	assert_int_equal(joined, 0);
	ssize_t n = read(ends[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	assert_non_null(strstr(text, ": GNI_CdmCreate: GNI_RC_INVALID_PARAM: "));
	assert_int_equal(std::string(text).find('\n'), static_cast<size_t>(n) - 1);
	close(ends[0]);
	close(ends[1]);
	close(keep);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(destroyed_in_use),
		cmocka_unit_test(cancelled_in_use),
		cmocka_unit_test(address_space_is_used_again),
		cmocka_unit_test(files_in_a_child),
		cmocka_unit_test(debug_takes_no_lock),
	};
	alarm(300);
	return cmocka_run_group_tests_name("late threads, and children", tests, nullptr, nullptr);
}
