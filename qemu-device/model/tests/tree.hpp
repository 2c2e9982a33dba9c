/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes of one domain whose collective engines make a tree. */
#ifndef ARIES_TESTS_TREE_HPP
#define ARIES_TESTS_TREE_HPP

#include "tests/pair.hpp"

namespace aries_test
{

inline constexpr unsigned int ENDPOINT_CQ = 20, ENGINE_CQ = 21;
inline constexpr unsigned int ENGINE = 1, ENDPOINT = 2; /* CE_CHILD.KIND */
inline constexpr uint64_t RESULT_BYTES = PAGE;

struct Child {
	unsigned int kind;
	unsigned int node;
	unsigned int engine = 0;
	uint64_t instance = 0; /* CE_CHILD.INST and INST_VALID, in their places */
};

struct Parent {
	bool valid = false;
	unsigned int node = 0, engine = 0, index = 0;
};

/** One node: a descriptor, a queue, a page for result blocks. */
class Member
{
public:
	Member(const std::string &path, unsigned int node, unsigned int nodes, uint32_t lease_ms = 100,
	       const char *ram_file = nullptr)
		: host(path, node, FakeHost::Options{.nodes = nodes, .lease_ms = lease_ms, .ram_file = ram_file})
	{
		ready();
	}
	/** After creation or a reset. */
	void ready()
	{
		host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		host.set_key(PTAG_A, KEY);
		host.enable_fmad(FMAD, PTAG_A, OWNER);
		host.make_cq(ENDPOINT_CQ, 6, OWNER);
		host.make_cq(ENGINE_CQ, 6, OWNER);
		results = host.alloc(RESULT_BYTES);
		host.make_mdd(LOCAL_MDH, PTAG_A, results, RESULT_BYTES, BASE);
	}

	/** True if the engine took it. */
	bool engine(unsigned int engine, const std::vector<Child> &children, const Parent &parent = {},
		    unsigned int round = 2, uint64_t extra = 0)
	{
		const uint64_t up = parent.node | parent.engine << 18 | parent.index << 20 |
				    (parent.valid ? ARIES_CE_PARENT_VALID_MASK : 0);

		host.write64(ARIES_CE_PARENT_N(uint64_t(engine)), up);
		for (unsigned int i = 0; i < children.size() && i < ARIES_CE_CHILDREN; i++)
			host.write64(ARIES_CE_CHILD_N(uint64_t(engine * ARIES_CE_CHILDREN + i)),
				     children[i].node | children[i].engine << 18 | uint64_t(children[i].kind) << 24 |
					     children[i].instance);
		host.write64(ARIES_CE_CTL_N(uint64_t(engine)), ARIES_CE_CTL_ENABLE_MASK | uint64_t(round) << 4 |
								       uint64_t(PTAG_A) << 8 | uint64_t(OWNER) << 16 |
								       uint64_t(children.size()) << 32 | extra);
		return host.read(ARIES_CE_CTL_N(uint64_t(engine)), 8) & ARIES_CE_CTL_ENABLE_MASK;
	}
	void disable(unsigned int engine) { host.write64(ARIES_CE_CTL_N(uint64_t(engine)), 0); }

	/** Fills the descriptor for child @index of @engine of @node, result in block @block. */
	aries_fma_desc &prepare(unsigned int node, unsigned int engine, unsigned int index, unsigned int block = 0)
	{
		aries_fma_desc &d = host.desc(FMAD);

		d = {};
		d.pe = node;
		d.offset = index | engine << 8;
		d.local_mdh = LOCAL_MDH;
		d.local_offset = BASE + uint64_t{block} * 32;
		d.cq = ENDPOINT_CQ;
		d.local_event = 0x1111;
		d.remote_event = 0x2222;
		result(block) = {};
		return d;
	}
	uint32_t ring(unsigned int command, unsigned int events = 0, unsigned int tid = 0)
	{
		return host.ring(FMAD, ARIES_FMA_CE, 0, events, tid, command);
	}
	aries_ce_result &result(unsigned int block = 0)
	{
		return *reinterpret_cast<aries_ce_result *>(host.ram(results + uint64_t{block} * 32));
	}
	uint64_t control(unsigned int block = 0) { return __atomic_load_n(&result(block).control, __ATOMIC_ACQUIRE); }
	bool done(unsigned int block = 0) { return control(block) & ARIES_CER_DONE; }
	unsigned int status(unsigned int block = 0) { return (control(block) & ARIES_CER_STATUS_MASK) >> 8; }
	unsigned int fpe(unsigned int block = 0) { return (control(block) & ARIES_CER_FPE_MASK) >> 16; }

	FakeHost host;
	uint64_t results = 0;
};

} // namespace aries_test

#endif
