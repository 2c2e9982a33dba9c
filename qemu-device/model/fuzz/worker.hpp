/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that works: one node's process, at whatever the home node has just then. */
#ifndef ARIES_FUZZ_WORKER_HPP
#define ARIES_FUZZ_WORKER_HPP

#include "fuzz/churn.hpp"

namespace aries_fuzz
{

class Worker
{
public:
	Worker(aries_test::FakeHost &host, Turns &turns, std::vector<Op> &ops) : host_(host), turns_(turns), ops_(ops)
	{
	}

	/** All that @input says, and until nothing of it is under way. */
	void run(Input &input);

private:
	Op &begin(Kind kind, unsigned int fmad, Input &input);
	void ring(Op &op, unsigned int what, unsigned int bytes, unsigned int amo = 0);
	void ring_block(Op &op, const aries_bte_desc &desc);
	void act(Input &input);
	void put(Op &op, Input &input);
	void atomic(Op &op, Input &input);
	void block(Op &op, Input &input);
	void send(Op &op, uint32_t channel, uint32_t bytes);
	void collective(Op &op);
	void look(unsigned int fmad);
	void wait_idle();
	uint64_t region_offset(Input &input, uint64_t bytes);

	aries_test::FakeHost &host_;
	Turns &turns_;
	std::vector<Op> &ops_;
	std::vector<size_t> under_way_[FMADS + 1];
	unsigned int slot_ = 0;
};

} // namespace aries_fuzz

#endif
