/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that owns: a kernel that makes and ends queues, regions, receives and engines under traffic. */
#ifndef ARIES_FUZZ_OWNER_HPP
#define ARIES_FUZZ_OWNER_HPP

#include <array>

#include "fuzz/churn.hpp"
#include "fuzz/frames.hpp"

namespace aries_fuzz
{

class Owner
{
public:
	Owner(aries_test::FakeHost &worker, aries_test::FakeHost &home, Turns &turns, Record &record)
		: hosts_{&worker, &home}, turns_(turns), record_(record)
	{
	}

	/** Both nodes as each input finds them. Nobody works yet. */
	void set_up();
	/** All that @input says. */
	void run(Input &input);
	/** After the other thread: all that is left is ended, freed and looked at. */
	void wind_up();

private:
	/** Something with a number that is made, ended, and free when its drain is done. */
	struct Thing {
		enum State : uint8_t { FREE, LIVE, LEAVING } state = FREE;
		uint64_t ticket = 0;
		uint64_t inside = 0; /* Turns::inside() when it was ended */
		size_t life = 0;     /* in the record */
		size_t frame = 0;
		bool shorter = false, read_only = false;
		uint64_t table = 0; /* page entries of a region */
	};
	/** What a region has left when it moved to another frame. */
	struct Remains {
		unsigned int node;
		Thing thing;
	};

	aries_test::FakeHost &host(unsigned int node) { return *hosts_[node]; }
	Thing &queue(unsigned int node, unsigned int number) { return queues_[node][number - CQ_FIRST]; }
	unsigned int regions(unsigned int node) const { return node == HOME ? MDHS : NEAR_MDHS; }

	void set_up(unsigned int node);
	void make_steady_region(unsigned int node, unsigned int number, uint64_t frame, uint64_t extra);
	void own_descriptor(unsigned int fmad, bool enabled = true);
	void act(Input &input);

	/** Ends @thing by @store. Nobody else begins a drain of this node. */
	template <typename F> void revoke(unsigned int node, Thing &thing, F &&store)
	{
		thing.inside = turns_.inside();
		store();
		thing.state = Thing::LEAVING;
		thing.ticket = host(node).read(ARIES_INV_SEQ, 8);
	}
	void end_queue(unsigned int node, unsigned int number, Thing &thing);
	void end_region(unsigned int node, unsigned int number, Thing &thing);
	bool gone(unsigned int node, const Thing &thing, uint64_t done);
	void settle();
	void settle_remains(unsigned int node, uint64_t done);

	void churn_queue(unsigned int node, unsigned int number, Input &input);
	void make_queue(unsigned int node, unsigned int number, Thing &thing, uint64_t extra = 0);
	void free_queue(unsigned int node, unsigned int number, Thing &thing);
	void read_queues(unsigned int node);
	void read_queue(unsigned int node, unsigned int number);

	void churn_region(unsigned int node, unsigned int number, Input &input);
	void make_region(unsigned int node, unsigned int number, Thing &thing, Input &input);
	void move_region(unsigned int node, unsigned int number, Thing &thing);
	void free_region(unsigned int node, Thing &thing);
	void map(unsigned int node, const Thing &thing);

	void churn_receive(unsigned int number);
	void post(unsigned int number, uint32_t channel);
	void take_message(unsigned int number);
	void churn_block(Input &input);
	void churn_engine();
	void errand(bool early);

	std::array<aries_test::FakeHost *, NODES> hosts_;
	Turns &turns_;
	Record &record_;
	std::array<Frames, NODES> frames_;
	Thing queues_[NODES][CQS + 1];
	Thing regions_[NODES][MDHS];
	Thing receives_[RECEIVES];
	Thing block_, engine_;
	std::vector<Remains> remains_;
	uint64_t messages_ = 0; /* where they arrive */
	uint64_t block_base_ = MDH_FIRST;
	unsigned int owner_[FMADS + 1] = {}, owners_ = 0;
};

} // namespace aries_fuzz

#endif
