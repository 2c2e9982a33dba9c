// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* What a caller must not do, in one thread: the library stays sound and says so. Children of fork() as well. */
#include "objects.hpp"
#include "session.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

constexpr size_t kPage = 4096;
constexpr int kCrashed = 1000;

/* Runs @body in a child with a time limit. Return: its exit code; kCrashed and the signal when it was killed. */
int in_child(const std::function<int()> &body)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (int s : {SIGSEGV, SIGBUS, SIGABRT})
			(void)signal(s, SIG_DFL);
		alarm(60);
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : kCrashed + WTERMSIG(status);
}

/* Every function that takes one of these handles. Return: the number of the first that does not refuse, 0 if none. */
int all_refuse(gni_cdm_handle_t cdm, gni_nic_handle_t nic, gni_cq_handle_t cq, gni_ep_handle_t ep)
{
	gni_post_descriptor_t d = {}, *done = nullptr;
	gni_cq_entry_t e = 0;
	gni_mem_handle_t memory = {1, 1};
	gni_smsg_attr_t mailbox = {};
	gni_cq_handle_t made_cq = nullptr;
	gni_ep_handle_t made_ep = nullptr;
	gni_nic_handle_t made_nic = nullptr;
	gni_ce_handle_t made_ce = nullptr;
	gni_err_handle_t made_err = nullptr;
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t word = 0, other = 0;
	uint64_t id = 0, length = 0;
	uint8_t tag = 0;
	void *p = nullptr;
	const gni_return_t answers[] = {
		GNI_CdmAttach(cdm, 0, &word, &made_nic),
		GNI_CdmCheckpoint(cdm),
		GNI_CdmResume(cdm),
		GNI_CdmDestroy(cdm),
		GNI_CqCreate(nic, 10, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &made_cq),
		GNI_EpCreate(nic, nullptr, &made_ep),
		GNI_MemRegister(nic, 4096, 4096, nullptr, 0, ~0U, &memory),
		GNI_MemDeregister(nic, &memory),
		GNI_MemQueryHndls(nic, -1, &memory, &id, &length),
		GNI_SetMddResources(nic, 4),
		GNI_CeCreate(nic, &made_ce),
		GNI_GetNicStat(nic, GNI_STAT_SMSG_BUFF_CREDITS_STALL, &word),
		GNI_ResetNicStat(nic, GNI_STAT_SMSG_BUFF_CREDITS_STALL),
		GNI_PostDataProbe(nic, &word, &other),
		GNI_PostDataProbeById(nic, &id),
		GNI_PostdataProbeWaitById(nic, 1, &id),
		GNI_SmsgSetDeliveryMode(nic, 0),
		GNI_SmsgSetMaxRetrans(nic, 1),
		GNI_SubscribeErrors(nic, 0, 1, 0, &made_err),
		GNI_CqGetEvent(cq, &e),
		GNI_CqTestEvent(cq),
		GNI_CqWaitEvent(cq, 1, &e),
		GNI_CqVectorWaitEvent(&cq, 1, 1, &e, &word),
		GNI_CqVectorMonitor(&cq, 1, 1, &word),
		GNI_CqInterruptMask(cq),
		GNI_CqInterruptUnmask(cq),
		GNI_GetCompleted(cq, 0, &done),
		GNI_CqDestroy(cq),
		GNI_EpSetEventData(ep, 1, 1),
		GNI_EpBind(ep, 1, 1),
		GNI_EpIdle(ep),
		GNI_EpSetCeAttr(ep, 0, 0, GNI_CE_CHILD_PE),
		GNI_PostFma(ep, &d),
		GNI_CtPostFma(ep, &d),
		GNI_PostRdma(ep, &d),
		GNI_PostCqWrite(ep, &d),
		GNI_CtPostCqWrite(ep, &d),
		GNI_SmsgInit(ep, &mailbox, &mailbox),
		GNI_SmsgSend(ep, &word, 4, nullptr, 0, 0),
		GNI_SmsgSendWTag(ep, &word, 4, nullptr, 0, 0, 1),
		GNI_SmsgGetNext(ep, &p),
		GNI_SmsgGetNextWTag(ep, &p, &tag),
		GNI_SmsgRelease(ep),
		GNI_EpPostData(ep, nullptr, 0, nullptr, 0),
		GNI_EpPostDataWId(ep, nullptr, 0, nullptr, 0, 1),
		GNI_EpPostDataTest(ep, &state, &word, &other),
		GNI_EpPostDataTestById(ep, 1, &state, &word, &other),
		GNI_EpPostDataWait(ep, 1, &state, &word, &other),
		GNI_EpPostDataWaitById(ep, 1, 1, &state, &word, &other),
		GNI_EpPostDataCancel(ep),
		GNI_EpPostDataCancelById(ep, 1),
		GNI_EpUnbind(ep),
		GNI_EpDestroy(ep),
	};
	int n = 0;

	for (gni_return_t rc : answers) {
		n++;
		if (rc != GNI_RC_INVALID_PARAM)
			return n;
	}
	return 0;
}

TEST(handles_after_their_end)
{
	Session s;

	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	assert_int_equal(all_refuse(s.cdm, s.nic, s.cq, s.ep), 0);
	/* Each alone, its parents alive. */
	Session t;
	assert_rc(SUCCESS, GNI_EpDestroy(t.ep));
	assert_rc(INVALID_PARAM, GNI_EpDestroy(t.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(t.cq));
	assert_rc(INVALID_PARAM, GNI_CqDestroy(t.cq));
	assert_rc(SUCCESS, GNI_MemDeregister(t.nic, &t.memory));
	assert_rc(INVALID_PARAM, GNI_MemDeregister(t.nic, &t.memory));
	gni_ep_handle_t ep = nullptr;
	assert_rc(INVALID_PARAM, GNI_EpCreate(t.nic, t.cq, &ep));
	gni_ce_handle_t ce = nullptr;
	uint32_t id = 0;
	assert_rc(SUCCESS, GNI_CeCreate(t.nic, &ce));
	assert_rc(SUCCESS, GNI_CeDestroy(ce));
	assert_rc(INVALID_PARAM, GNI_CeDestroy(ce));
	assert_rc(INVALID_PARAM, GNI_CeGetId(ce, &id));
}

/* Values that are no handles at all, and handles of another kind. */
TEST(foreign_handles)
{
	Session s;
	char local[256] = {};
	auto *garbage = reinterpret_cast<void *>(uintptr_t{0xdeadbeef0}); // NOLINT(performance-no-int-to-ptr)

	auto refuse = [](void *p) {
		return all_refuse(static_cast<gni_cdm_handle_t>(p), static_cast<gni_nic_handle_t>(p),
				  static_cast<gni_cq_handle_t>(p), static_cast<gni_ep_handle_t>(p));
	};
	for (void *p : {garbage, static_cast<void *>(local), static_cast<void *>(&s), reinterpret_cast<void *>(-1L)})
		assert_int_equal(refuse(p), 0);
	void *const ep = s.ep, *const cdm = s.cdm;
	assert_int_equal(all_refuse(static_cast<gni_cdm_handle_t>(ep), static_cast<gni_nic_handle_t>(ep),
				    static_cast<gni_cq_handle_t>(ep), static_cast<gni_ep_handle_t>(cdm)),
			 0);
}

/* An endpoint that is destroyed twice, with a post in flight, gives its place back once. */
TEST(destroyed_with_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT), *back = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(INVALID_PARAM, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	assert_ptr_equal(back, &d);
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(s.cq, e, &back));
	std::vector<gni_ep_handle_t> eps(200);
	for (auto &ep : eps)
		assert_rc(SUCCESS, GNI_EpCreate(s.nic, s.cq, &ep));
	for (size_t i = 0; i < eps.size(); i++)
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(eps[i], eps[k]);
}

/* ---- fork ---- */

/* For each page: k if a child does not have it. */
std::string kept_pages(const unsigned char *memory, size_t pages)
{
	auto *seen =
		static_cast<char *>(mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	assert_ptr_not_equal(seen, MAP_FAILED);
	const int r = in_child([=] {
		for (size_t i = 0; i < pages; i++) {
			unsigned char there = 0;
			auto *page = const_cast<unsigned char *>(memory) + i * kPage;
			seen[i] = mincore(page, kPage, &there) ? 'k' : '.';
		}
		return 0;
	});
	assert_int_equal(r, 0);
	const std::string s(seen, pages);
	munmap(seen, pages);
	return s;
}

/* Pieces that the kernel has of these pages, and whether it keeps one of them from children for good. */
struct Mappings {
	unsigned count = 0;
	bool kept = false;

	Mappings(const unsigned char *memory, size_t bytes)
	{
		const auto from = reinterpret_cast<uintptr_t>(memory);
		FILE *maps = fopen("/proc/self/smaps", "re");
		char line[512];
		bool here = false;

		assert_non_null(maps);
		while (fgets(line, sizeof(line), maps)) {
			unsigned long start = 0, end = 0;
			if (sscanf(line, "%lx-%lx ", &start, &end) == 2) { // NOLINT(cert-err34-c)
				here = start < from + bytes && from < end;
				count += here;
			} else if (here && strncmp(line, "VmFlags:", 8) == 0) {
				kept |= strstr(line, " dc") != nullptr;
			}
		}
		(void)fclose(maps);
	}
};

struct Memory {
	static constexpr size_t kPages = 8;
	unsigned char *bytes;

	Memory()
		: bytes(static_cast<unsigned char *>(
			  mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
	{
		memset(bytes, 0x5a, kPages * kPage);
	}
	~Memory() { munmap(bytes, kPages * kPage); }
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	std::string kept() const { return kept_pages(bytes, kPages); }
	/* What a child finds: the page's bytes, or it is killed. */
	std::string in_children() const
	{
		std::string s;

		for (size_t i = 0; i < kPages; i++) {
			const unsigned char *page = bytes + i * kPage;
			int r = in_child([page] { return *static_cast<const volatile unsigned char *>(page); });
			s += r == 0x5a ? 'c' : r == kCrashed + SIGSEGV ? '-' : '?';
		}
		return s;
	}
	gni_mem_handle_t register_part(gni_nic_handle_t nic, size_t from, size_t length) const
	{
		gni_mem_handle_t h = {};

		assert_rc(SUCCESS,
			  GNI_MemRegister(nic, reinterpret_cast<uintptr_t>(bytes) + from, length, nullptr, 0, ~0U, &h));
		return h;
	}
};

/* A domain without memory: what a session registers is on the stack, which a child needs. */
struct Domain : Session {
	explicit Domain(uint32_t modes = 0) : Session(modes) { assert_rc(SUCCESS, GNI_MemDeregister(nic, &memory)); }
};

TEST(fork_modes)
{
	struct Case {
		uint32_t modes;
		const char *kept;
		const char *child;
	};
	/* From the middle of page 1 to the middle of page 5. */
	const Case cases[] = {
		{GNI_CDM_MODE_FORK_NOCOPY, ".kkkkk..", "c-----cc"},
		{GNI_CDM_MODE_FORK_PARTCOPY, "..kkk...", "cc---ccc"},
		{0, "..kkk...", "cc---ccc"},
		{GNI_CDM_MODE_FORK_FULLCOPY, "........", "cccccccc"},
	};

	for (const Case &c : cases) {
		Domain s(c.modes);
		Memory m;
		gni_mem_handle_t h = m.register_part(s.nic, kPage + 100, 4 * kPage);
		assert_string_equal(m.kept().c_str(), c.kept);
		assert_string_equal(m.in_children().c_str(), c.child);
		const Mappings after(m.bytes, Memory::kPages * kPage);
		assert_int_equal(after.count, 1);
		assert_false(after.kept);
		assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
		assert_string_equal(m.kept().c_str(), "........");
		assert_string_equal(m.in_children().c_str(), "cccccccc");
		/* Less than a page. */
		h = m.register_part(s.nic, 100, 100);
		assert_string_equal(m.kept().c_str(), c.modes == GNI_CDM_MODE_FORK_NOCOPY ? "k......." : "........");
		assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
		assert_string_equal(m.kept().c_str(), "........");
	}
}

TEST(overlapping_regions)
{
	Domain s;
	Memory m;
	gni_mem_handle_t a = m.register_part(s.nic, 0, 4 * kPage);
	gni_mem_handle_t b = m.register_part(s.nic, 2 * kPage, 4 * kPage);
	gni_mem_handle_t c = m.register_part(s.nic, 7 * kPage, kPage);
	gni_mem_handle_t all = m.register_part(s.nic, 0, 8 * kPage);

	assert_string_equal(m.kept().c_str(), "kkkkkkkk");
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &all));
	assert_string_equal(m.kept().c_str(), "kkkkkk.k");
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &a));
	assert_string_equal(m.kept().c_str(), "..kkkk.k");
	gni_mem_handle_t again = m.register_part(s.nic, 3 * kPage, kPage);
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &b));
	assert_string_equal(m.kept().c_str(), "...k...k");
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &c));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &again));
	assert_string_equal(m.kept().c_str(), "........");
}

/* Pages that moved while they were registered are in no region: a child has them. */
TEST(moved_memory)
{
	constexpr size_t kBytes = 4 * kPage;
	Domain s;
	auto *bytes = static_cast<unsigned char *>(
		mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	auto *place =
		static_cast<unsigned char *>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	gni_mem_handle_t h = {};

	memset(bytes, 0x5a, kBytes);
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, reinterpret_cast<uintptr_t>(bytes), kBytes, nullptr, 0, ~0U, &h));
	assert_string_equal(kept_pages(bytes, 4).c_str(), "kkkk");
	assert_ptr_equal(mremap(bytes, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, place), place);
	assert_string_equal(kept_pages(place, 4).c_str(), "....");
	/* Others get what they map at the addresses of the region. */
	assert_ptr_equal(
		mmap(bytes, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		bytes);
	bytes[0] = 0x77;
	assert_int_equal(in_child([bytes] { return *static_cast<volatile unsigned char *>(bytes); }), 0x77);
	munmap(bytes, kPage);
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
	assert_string_equal(kept_pages(place, 4).c_str(), "....");
	assert_int_equal(in_child([place] { return *static_cast<volatile unsigned char *>(place); }), 0x5a);
	munmap(place, kBytes);
}

/* A thread that forks meets threads that register: nobody waits for ever, and no page stays behind. */
TEST(forks_under_registrations)
{
	Domain s;
	Memory m;
	std::atomic<bool> stop{false};
	std::thread other([&] {
		while (!stop) {
			gni_mem_handle_t h = m.register_part(s.nic, kPage, 3 * kPage);
			assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
		}
	});
	std::thread forks([&] {
		for (int i = 0; i < 50; i++)
			assert_int_equal(in_child([] { return 7; }), 7);
	});

	for (int i = 0; i < 50; i++) {
		/* The lock of the ranges is the child's own, whoever held it. */
		const int r = in_child([] {
			gni_cdm_handle_t cdm = nullptr;
			gni_nic_handle_t nic = nullptr;
			uint32_t address = 0;
			return GNI_CdmCreate(7, GNI_FIND_ALLOC_PTAG, 0x77, 0, &cdm) ||
			       GNI_CdmAttach(cdm, 0, &address, &nic) || GNI_CdmDestroy(cdm);
		});
		assert_int_equal(r, 0);
	}
	forks.join();
	stop = true;
	other.join();
	assert_string_equal(m.kept().c_str(), "........");
	assert_false(Mappings(m.bytes, Memory::kPages * kPage).kept);
}

/* Against a count for each page. */
TEST(many_regions)
{
	constexpr size_t kPages = 64;
	Domain s;
	auto *bytes = static_cast<unsigned char *>(
		mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	memset(bytes, 0x5a, kPages * kPage); /* as memory is that a NIC has */
	unsigned counts[kPages] = {};
	struct Part {
		gni_mem_handle_t handle;
		size_t from, to;
	};
	std::vector<Part> parts;
	uint64_t seed = 12345;
	auto random = [&seed](size_t n) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		return static_cast<size_t>(seed >> 33) % n;
	};

	for (int step = 0; step < 600; step++) {
		if (parts.size() < 40 && (parts.empty() || random(2))) {
			size_t from = random(kPages), to = from + 1 + random(kPages - from);
			Part p = {{}, from, to};
			assert_rc(SUCCESS, GNI_MemRegister(s.nic, reinterpret_cast<uintptr_t>(bytes) + from * kPage,
							   (to - from) * kPage, nullptr, 0, ~0U, &p.handle));
			parts.push_back(p);
			for (size_t i = from; i < to; i++)
				counts[i]++;
		} else {
			size_t n = random(parts.size());
			assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &parts[n].handle));
			for (size_t i = parts[n].from; i < parts[n].to; i++)
				counts[i]--;
			parts.erase(parts.begin() + static_cast<long>(n));
		}
		if (step % 50 == 0 || step > 590) {
			std::string expected;
			for (unsigned c : counts)
				expected += c ? 'k' : '.';
			assert_string_equal(kept_pages(bytes, kPages).c_str(), expected.c_str());
		}
	}
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	assert_string_equal(kept_pages(bytes, kPages).c_str(), std::string(kPages, '.').c_str());
	munmap(bytes, kPages * kPage);
}

/* The parent's handles are none in a child; a child may have its own. */
TEST(handles_in_a_child)
{
	Session s(GNI_CDM_MODE_FORK_FULLCOPY);
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT), *back = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	const size_t doorbells = fake::kernel().doorbells.size();
	int r = in_child([&] {
		if (int n = all_refuse(s.cdm, s.nic, s.cq, s.ep))
			return n;
		if (fake::kernel().doorbells.size() != doorbells)
			return 100;
		Session mine;
		gni_post_descriptor_t p = mine.post(GNI_POST_FMA_PUT);
		if (mine.cdm == s.cdm || mine.ep == s.ep || mine.cq == s.cq || mine.nic == s.nic)
			return 101;
		if (GNI_PostFma(mine.ep, &p) || GNI_CqGetEvent(mine.cq, &e) || GNI_GetCompleted(mine.cq, e, &back))
			return 102;
		if (int n = all_refuse(s.cdm, s.nic, s.cq, s.ep))
			return n;
		/* A child of the child. */
		if (in_child([&] { return all_refuse(mine.cdm, mine.nic, mine.cq, mine.ep); }))
			return 103;
		return 0;
	});
	assert_int_equal(r, 0);
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	assert_ptr_equal(back, &d);
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
}

} // namespace

TEST_MAIN("misuse by one thread, and fork")
