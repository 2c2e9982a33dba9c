/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two NICs, each with domains, descriptors, queues and registrations that make sense, and actions on them that an
 * input chooses: what a process may do, and what a guest's kernel may do.
 */
#ifndef ARIES_FUZZ_MACHINE_HPP
#define ARIES_FUZZ_MACHINE_HPP

#include "fuzz/input.hpp"
#include "tests/fake_host.hpp"

namespace aries_fuzz
{

class Machine
{
public:
	Machine();
	/** Tells on stderr how many accesses to BARs there were. */
	~Machine();
	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;

	/** The state that every input starts from. */
	void restart();
	/** One action of a process: memory it maps, windows, doorbells. */
	void process(Input &input);
	/** One action of a guest's kernel or of the host. */
	void kernel(Input &input);
	/** What no process can have changed still holds, and the NICs work. */
	void check_untouched();
	/** After a reset the NICs work whatever was done before. */
	void check_alive();

private:
	struct Node {
		aries_test::FakeHost host;
		uint64_t memory = 0; /* registered */
		uint64_t fence = 0;  /* not registered */
		uint64_t table = 0;  /* page entries */
		uint64_t queue = 0;
	};

	void set_up(Node &node);
	void describe(Input &input);
	void describe_block(Input &input);
	void describe_batch(Input &input);
	void ring(Input &input);
	void leave_doorbell(Node &node, unsigned int index, Input &input);
	void window(Input &input);
	void scribble_queue(Input &input);
	void register_access(Input &input);
	void tree(Input &input);
	void domain(Input &input);
	void host_action(Input &input);
	void write(Node &node, unsigned int bar, uint64_t offset, unsigned int size, uint64_t value);
	uint64_t offset(Input &input);
	uint32_t mdh(Input &input);
	Node &pick(Input &input) { return nodes_[input.below(2)]; }

	std::string path_ = aries_test::fabric_path();
	Node nodes_[2];
	uint64_t accesses_ = 0;
};

} // namespace aries_fuzz

#endif
