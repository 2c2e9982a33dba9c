/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Four NICs of one domain for batches: node 0 initiates; all have a region under the same handle. */
#ifndef ARIES_TESTS_LAUNCH_JOB_HPP
#define ARIES_TESTS_LAUNCH_JOB_HPP

#include "tests/fake_host.hpp"

namespace aries_test
{

constexpr aries_launch_entry launch_entry(unsigned int kind, uint32_t pe, uint64_t offset, uint64_t value)
{
	return {offset | uint64_t(pe) << ARIES_LAUNCH_PE_SHIFT | uint64_t(kind) << ARIES_LAUNCH_KIND_SHIFT, value};
}

struct Job {
	static constexpr unsigned int NODES = 4, PTAG = 3, FMAD = 1, OWNER = 5, MDH = 9, LOCAL_MDH = 11, CQ = 20;
	static constexpr uint64_t BASE = 0x7f12345678 & MASK40 & ~uint64_t(7); /* not at the start of a page */
	static constexpr uint64_t BYTES = 20000;
	static constexpr uint64_t LOCAL_BASE = 0x55555000;
	static constexpr uint64_t LOCAL_BYTES = 64 * 1024;
	static constexpr uint64_t RING = 128 * 1024; /* entries' memory, behind what is fetched */

	std::string path = fabric_path();
	std::vector<std::unique_ptr<FakeHost>> hosts;
	uint64_t target[NODES];
	uint64_t local;

	Job()
	{
		const FakeHost::Options options = {.nodes = NODES, .lease_ms = 100, .share_ram = true};

		for (unsigned int n = 0; n < NODES; n++) {
			hosts.push_back(std::make_unique<FakeHost>(path, n, options));
			host(n).set_key(PTAG, 77);
			host(n).make_cq(CQ, 6, OWNER);
			target[n] = host(n).alloc(BASE % PAGE + BYTES) + BASE % PAGE;
			host(n).make_mdd(MDH, PTAG, target[n], BYTES, BASE,
					 ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(CQ) << 24);
		}
		local = a().alloc(LOCAL_BYTES + RING);
		a().make_mdd(LOCAL_MDH, PTAG, local, LOCAL_BYTES + RING, LOCAL_BASE);
		a().enable_fmad(FMAD, PTAG, OWNER);
		desc() = {};
		desc().pe = 1;
		desc().mdh = MDH;
		desc().offset = BASE;
		desc().local_mdh = LOCAL_MDH;
		desc().local_offset = LOCAL_BASE;
		desc().cq = CQ;
		desc().local_event = 0x1111;
		desc().remote_event = 0x2222;
		window() = {};
		window().ring_mdh = LOCAL_MDH;
		window().ring_offset = LOCAL_BASE + LOCAL_BYTES;
		window().ring_entries = RING / ARIES_LAUNCH_BYTES;
	}

	FakeHost &host(unsigned int n) { return *hosts[n]; }
	FakeHost &a() { return *hosts[0]; }
	aries_fma_desc &desc() { return a().desc(FMAD); }
	aries_fma_window &window() { return a().window(FMAD); }
	uint32_t done() { return a().done(FMAD); }
	aries_launch_entry *line() { return reinterpret_cast<aries_launch_entry *>(a().line(FMAD)); }
	aries_launch_entry *ring() { return reinterpret_cast<aries_launch_entry *>(a().ram(local + LOCAL_BYTES)); }
	uint32_t launch(unsigned int entries, unsigned int mode = 0, unsigned int tid = 0)
	{
		return a().ring(FMAD, ARIES_FMA_LAUNCH, entries, mode, tid);
	}
	uint32_t launch_ring(unsigned int entries, unsigned int mode = 0)
	{
		return a().ring(FMAD, ARIES_FMA_LAUNCH_RING, entries, mode);
	}
	uint32_t close(unsigned int mode = ARIES_EV_GLOBAL, unsigned int tid = 0)
	{
		return a().ring(FMAD, ARIES_FMA_CLOSE, 0, mode, tid);
	}
	uint64_t word(unsigned int node, uint64_t at)
	{
		uint64_t value;

		memcpy(&value, host(node).ram(target[node] + at), 8);
		return value;
	}
	uint64_t fetched(uint64_t at)
	{
		uint64_t value;

		memcpy(&value, a().ram(local + at), 8);
		return value;
	}
	/** Makes batches go entry by entry, as with any fault. */
	void slow(bool on)
	{
		char error[80];

		assert_int_equal(aries_nic_set_fault(a().nic(), "delay-ns", on, error, sizeof(error)), 0);
	}
};

} // namespace aries_test

#endif
