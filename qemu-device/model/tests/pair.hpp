/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two NICs of one domain: node 0 initiates, node 1 has a region with a queue. */
#ifndef ARIES_TESTS_PAIR_HPP
#define ARIES_TESTS_PAIR_HPP

#include "tests/fake_host.hpp"

namespace aries_test
{

inline constexpr unsigned int PTAG_A = 3, PTAG_B = 7; /* local names differ, the key is the domain */
inline constexpr uint32_t KEY = 0xc00c1e;
inline constexpr unsigned int OWNER = 5, FMAD = 1, MDH = 9, LOCAL_MDH = 11;
inline constexpr uint64_t BASE = 0x7f12345000 & MASK40;
inline constexpr uint64_t BYTES = uint64_t{64} * 1024;

/** Where the regions of both are in their memory, and the page table of the target's. */
struct Regions {
	uint64_t target = 0, table = 0, local = 0;
};

/** Keys, descriptor, queues and regions; the descriptor of @a names the region of @b, which is node 1. */
inline void prepare(FakeHost &a, FakeHost &b, Regions &regions)
{
	aries_fma_desc &desc = a.desc(FMAD);

	a.set_key(PTAG_A, KEY);
	b.set_key(PTAG_B, KEY);
	a.enable_fmad(FMAD, PTAG_A, OWNER);
	a.make_cq(20, 6, OWNER);
	b.make_cq(21, 6, OWNER);
	regions.target = b.alloc(BYTES);
	regions.table =
		b.make_mdd(MDH, PTAG_B, regions.target, BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
	regions.local = a.alloc(BYTES);
	a.make_mdd(LOCAL_MDH, PTAG_A, regions.local, BYTES, BASE);
	desc = {};
	desc.pe = 1;
	desc.mdh = MDH;
	desc.offset = BASE;
	desc.local_offset = BASE;
	desc.local_mdh = LOCAL_MDH;
	desc.cq = 20;
	desc.local_event = 0x1111;
	desc.remote_event = 0x2222;
}

struct Pair : Regions {
	std::string path = fabric_path();
	FakeHost a;
	FakeHost b;

	/** Node 1 sits at @place_b - 1, or at 1 if that is 0. */
	explicit Pair(const FakeHost::Options &options = {}, uint32_t place_b = 0)
		: a(path, 0, options),
		  b(path, 1, {.machine_nodes = options.machine_nodes, .place = place_b, .lease_ms = options.lease_ms})
	{
		prepare(a, b, *this);
	}

	aries_fma_desc &desc() { return a.desc(FMAD); }
	uint32_t put(unsigned int bytes, unsigned int mode = 0, unsigned int tid = 0)
	{
		return a.ring(FMAD, ARIES_FMA_PUT_LINE, bytes, mode, tid);
	}
	uint32_t amo(unsigned int code, uint64_t first, uint64_t second = 0, unsigned int bytes = 8)
	{
		desc().operand[0] = first;
		desc().operand[1] = second;
		return a.ring(FMAD, ARIES_FMA_AMO_OP, bytes, 0, 0, code);
	}
	uint64_t &word(uint64_t at = 0) { return *reinterpret_cast<uint64_t *>(b.ram(target + at)); }
	uint64_t &fetched() { return *reinterpret_cast<uint64_t *>(a.ram(local)); }
};

/** Descriptor FMAD of a node whose domain is PTAG_A: at the start of the region that node 1 has as MDH. */
inline void aim_at_peer(FakeHost &a)
{
	a.set_key(PTAG_A, KEY);
	a.enable_fmad(FMAD, PTAG_A, OWNER);
	a.desc(FMAD) = {};
	a.desc(FMAD).pe = 1;
	a.desc(FMAD).mdh = MDH;
	a.desc(FMAD).offset = BASE;
}

/** A transfer between the starts of the two regions, events in queue 20. */
inline aries_bte_desc block_transfer(unsigned int op, unsigned int mdh, unsigned int local_mdh, uint64_t bytes,
				     unsigned int mode = ARIES_EV_GLOBAL)
{
	aries_bte_desc d = {};

	d.pe = 1;
	d.mdh = uint16_t(mdh);
	d.local_mdh = uint16_t(local_mdh);
	d.offset = d.local_offset = BASE;
	d.length = uint32_t(bytes);
	d.cq = 20;
	d.op = uint8_t(op);
	d.mode = uint8_t(mode);
	return d;
}

} // namespace aries_test

#endif
