/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/owner.hpp"

#include <bit>

#include <unistd.h>

using namespace aries_test;

namespace aries_fuzz
{

namespace
{

constexpr uint32_t KEY = 0xc00c1e;
constexpr unsigned int REGION_FRAMES[NODES] = {NEAR_MDHS + 3 + 2, MDHS + 1 + 4};
constexpr unsigned int QUEUE_FRAMES = CQS + 1 + 2;
constexpr unsigned int STEADY_OWNER = 1000, UNUSED_MDH = 99;
constexpr uint8_t CANARY = 0x11;
constexpr unsigned int TRIES = 60000; /* of a millisecond: what never ends is meant */

constexpr uint64_t prep(uint64_t mask, uint64_t value)
{
	return value << std::countr_zero(mask);
}

} // namespace

void Owner::make_steady_region(unsigned int node, unsigned int number, uint64_t frame, uint64_t extra)
{
	Thing region;

	region.frame = frame;
	region.table = host(node).alloc(LONG_BYTES / PAGE * 8 + 8);
	map(node, region);
	host(node).write64(ARIES_MDD_BASE_N(uint64_t(number)), BASE + SKEW);
	host(node).write64(ARIES_MDD_LENGTH_N(uint64_t(number)), LONG_BYTES);
	host(node).write64(ARIES_MDD_TABLE_N(uint64_t(number)), region.table);
	host(node).write64(ARIES_MDD_CTL_N(uint64_t(number)),
			   ARIES_MDD_CTL_VALID_MASK | prep(ARIES_MDD_CTL_PTAG_MASK, PTAG) | uint64_t(12) << 16 | extra);
}

void Owner::set_up(unsigned int node)
{
	FakeHost &nic = host(node);
	Frames &frames = frames_[node];

	nic.restart();
	nic.set_key(PTAG, KEY);
	frames.make(nic, REGION_FRAMES[node], QUEUE_FRAMES);
	for (unsigned int i = 0; i < MDHS; i++) {
		regions_[node][i] = {};
		if (i < regions(node))
			regions_[node][i].table = nic.alloc(LONG_BYTES / PAGE * 8 + 8);
	}
	for (unsigned int i = 0; i < CQS + 1; i++) {
		queues_[node][i] = {};
		make_queue(node, CQ_FIRST + i, queues_[node][i]);
	}
}

void Owner::set_up()
{
	size_t frame = 0;

	remains_.clear();
	owners_ = 0;
	owner_[ERRAND_FMAD] = STEADY_OWNER;
	for (unsigned int node = 0; node < NODES; node++)
		set_up(node);
	for (unsigned int fmad = 1; fmad <= FMADS; fmad++)
		own_descriptor(fmad);
	frames_[WORKER].take(frame, 0);
	for (uint64_t i = 0; i < FRAME_BYTES; i++)
		*host(WORKER).ram(frames_[WORKER].gpa(frame) + i) = sent_byte((i - SKEW) % FRAME_BYTES);
	make_steady_region(WORKER, SOURCE_MDH, frame, ARIES_MDD_CTL_READ_ONLY_MASK);
	frames_[WORKER].take(frame, 0);
	make_steady_region(WORKER, RESULT_MDH, frame, 0);
	frames_[HOME].take(frame, Frames::FREE);
	messages_ = frames_[HOME].gpa(frame);
	make_steady_region(HOME, RECEIVE_MDH, frame,
			   ARIES_MDD_CTL_CQ_VALID_MASK | prep(ARIES_MDD_CTL_CQ_MASK, STEADY_CQ));
	for (Thing &receive : receives_)
		receive = {};
	block_ = engine_ = {};
	host(HOME).write64(ARIES_CE_CHILD_N(0),
			   prep(ARIES_CE_CHILD_PE_MASK, WORKER) | prep(ARIES_CE_CHILD_KIND_MASK, 2));
}

/* To the process that has its queue now. */
void Owner::own_descriptor(unsigned int fmad, bool enabled)
{
	host(WORKER).write64(ARIES_FMAD_CTL_N(uint64_t(fmad)),
			     enabled ? ARIES_FMAD_CTL_ENABLE_MASK | ARIES_FMAD_CTL_CACHED_AMO_MASK |
					       prep(ARIES_FMAD_CTL_PTAG_MASK, PTAG) |
					       prep(ARIES_FMAD_CTL_OWNER_MASK, owner_[fmad])
				     : 0);
}

bool Owner::gone(unsigned int node, const Thing &thing, uint64_t done)
{
	if (thing.state != Thing::LEAVING || thing.ticket > done)
		return false;
	if (thing.inside & 1 && turns_.inside() == thing.inside)
		wrong("node %u: drain %llu is done, and an access that began before it is not", node,
		      static_cast<unsigned long long>(thing.ticket));
	return true;
}

/* What has drained is free. */
void Owner::settle()
{
	for (unsigned int node = 0; node < NODES; node++) {
		const uint64_t done = host(node).read(ARIES_INV_DONE, 8);

		for (unsigned int i = 0; i < CQS + 1; i++) {
			if (gone(node, queues_[node][i], done))
				free_queue(node, CQ_FIRST + i, queues_[node][i]);
		}
		for (unsigned int i = 0; i < regions(node); i++) {
			if (!gone(node, regions_[node][i], done))
				continue;
			free_region(node, regions_[node][i]);
			regions_[node][i].state = Thing::FREE;
		}
		settle_remains(node, done);
	}
	const uint64_t done = host(HOME).read(ARIES_INV_DONE, 8);

	for (unsigned int i = 0; i < RECEIVES; i++) {
		if (!gone(HOME, receives_[i], done))
			continue;
		memset(host(HOME).ram(messages_ + i * RECEIVE_BYTES), Frames::FREE, RECEIVE_BYTES);
		receives_[i].state = Thing::FREE;
	}
	for (Thing *thing : {&block_, &engine_}) {
		if (gone(HOME, *thing, done))
			thing->state = Thing::FREE;
	}
}

void Owner::settle_remains(unsigned int node, uint64_t done)
{
	for (size_t i = 0; i < remains_.size();) {
		if (remains_[i].node != node || !gone(node, remains_[i].thing, done)) {
			i++;
			continue;
		}
		free_region(node, remains_[i].thing);
		remains_.erase(remains_.begin() + long(i));
	}
}

void Owner::make_queue(unsigned int node, unsigned int number, Thing &thing, uint64_t extra)
{
	if (!frames_[node].take_queue(thing.frame))
		return;
	const bool steady = number == STEADY_CQ;
	const unsigned int owner = steady ? STEADY_OWNER : 1 + owners_++ % (STEADY_OWNER - 1);

	thing.life = record_.queues.size();
	thing.state = Thing::LIVE;
	record_.queues.push_back({.node = node, .number = number, .possible = {turns_.tick(), NEVER}});
	host(node).place_cq(number, frames_[node].gpa(thing.frame), ARIES_CQ_LOG2_MIN, owner,
			    ARIES_CQ_CTL_IRQ_MASK | uint64_t(1) << 32 | extra);
	if (node == WORKER && !steady)
		owner_[1 + number - CQ_FIRST] = owner;
}

void Owner::read_queue(unsigned int node, unsigned int number)
{
	QueueLife &life = record_.queues[queue(node, number).life];

	while (const Event event = host(node).next_event(number)) {
		if (event.overrun())
			life.marks++;
		else
			life.events.push_back(event);
	}
}

void Owner::read_queues(unsigned int node)
{
	for (unsigned int number = CQ_FIRST; number <= STEADY_CQ; number++) {
		if (queue(node, number).state == Thing::LIVE)
			read_queue(node, number);
	}
}

void Owner::free_queue(unsigned int node, unsigned int number, Thing &thing)
{
	QueueLife &life = record_.queues[thing.life];

	read_queue(node, number);
	life.dropped = host(node).read(ARIES_CQ_DROPPED_N(uint64_t(number)), 8);
	const uint64_t produced = host(node).read(ARIES_CQ_PRODUCED_N(uint64_t(number)), 8);

	if (produced != life.events.size() + life.marks)
		wrong("queue %u of node %u: %llu entries produced, %zu events and %llu marks read", number, node,
		      static_cast<unsigned long long>(produced), life.events.size(),
		      static_cast<unsigned long long>(life.marks));
	frames_[node].give(thing.frame);
	thing.state = Thing::FREE;
}

void Owner::churn_queue(unsigned int node, unsigned int number, Input &input)
{
	Thing &thing = queue(node, number);

	if (thing.state == Thing::FREE) {
		const uint8_t form = input.byte();

		make_queue(node, number, thing, prep(ARIES_CQ_CTL_DELAY_MASK, form & 3));
		/* At times the process that comes finds the rights of the one before it for a while. */
		if (node == WORKER && form & 0x1c)
			own_descriptor(1 + number - CQ_FIRST);
	} else if (thing.state == Thing::LIVE) {
		end_queue(node, number, thing);
	}
}

void Owner::end_queue(unsigned int node, unsigned int number, Thing &thing)
{
	QueueLife &life = record_.queues[thing.life];

	life.stop = turns_.tick();
	revoke(node, thing, [&] { host(node).write64(ARIES_CQ_CTL_N(uint64_t(number)), 0); });
	life.possible.to = turns_.tick();
}

/* The pages of a frame, again and again. */
void Owner::map(unsigned int node, const Thing &thing)
{
	auto *entries = reinterpret_cast<uint64_t *>(host(node).ram(thing.table));
	const uint64_t right = ARIES_PTE_VALID | (thing.read_only ? 0 : ARIES_PTE_WRITE);

	for (uint64_t i = 0; i <= LONG_BYTES / PAGE; i++)
		__atomic_store_n(&entries[i], (frames_[node].gpa(thing.frame) + i % FRAME_PAGES * PAGE) | right,
				 __ATOMIC_RELAXED);
}

void Owner::make_region(unsigned int node, unsigned int number, Thing &thing, Input &input)
{
	const uint8_t form = input.byte();
	const unsigned int cq = CQ_FIRST + (form >> 2) % CQS;
	FakeHost &nic = host(node);

	thing.shorter = form & 1;
	thing.read_only = node == HOME && form >= 0xe0;
	if (!frames_[node].take(thing.frame, CANARY))
		return;
	memset(nic.ram(frames_[node].gpa(thing.frame) + SKEW), 0, ATOMIC_BYTES);
	map(node, thing);
	thing.state = Thing::LIVE;
	thing.life = record_.domains.size();
	record_.domains.push_back(
		{.node = node,
		 .number = number,
		 .queue = node == HOME && queue(node, cq).state == Thing::LIVE ? int(queue(node, cq).life) : -1,
		 .possible = {turns_.tick(), NEVER},
		 .counted = thing.shorter});
	nic.write64(ARIES_MDD_BASE_N(uint64_t(number)), BASE + SKEW);
	nic.write64(ARIES_MDD_LENGTH_N(uint64_t(number)), thing.shorter ? SHORT_BYTES : LONG_BYTES);
	nic.write64(ARIES_MDD_TABLE_N(uint64_t(number)), thing.table);
	nic.write64(ARIES_MDD_CTL_N(uint64_t(number)),
		    ARIES_MDD_CTL_VALID_MASK | prep(ARIES_MDD_CTL_PTAG_MASK, PTAG) | uint64_t(12) << 16 |
			    (thing.read_only ? ARIES_MDD_CTL_READ_ONLY_MASK : 0) |
			    (node == HOME ? ARIES_MDD_CTL_CQ_VALID_MASK | prep(ARIES_MDD_CTL_CQ_MASK, cq) : 0));
	if (!(nic.read(ARIES_MDD_CTL_N(uint64_t(number)), 8) & ARIES_MDD_CTL_VALID_MASK))
		wrong("node %u: memory domain %u is refused though its last drain is done", node, number);
}

/* Page entries change under traffic: those who began before still use the old frame. */
void Owner::move_region(unsigned int node, unsigned int number, Thing &thing)
{
	Remains old = {node, thing};

	if (!frames_[node].take(thing.frame, CANARY))
		return;
	record_.domains[thing.life].counted = false;
	memset(host(node).ram(frames_[node].gpa(thing.frame) + SKEW), 0, ATOMIC_BYTES);
	revoke(node, old.thing, [&] {
		map(node, thing);
		host(node).write32(ARIES_INV_PTES, number);
	});
	old.thing.table = 0;
	remains_.push_back(old);
}

void Owner::churn_region(unsigned int node, unsigned int number, Input &input)
{
	Thing &thing = regions_[node][number - MDH_FIRST];

	if (thing.state == Thing::FREE) {
		make_region(node, number, thing, input);
	} else if (thing.state == Thing::LIVE && input.below(4) == 0) {
		move_region(node, number, thing);
	} else if (thing.state == Thing::LIVE) {
		end_region(node, number, thing);
	}
}

void Owner::end_region(unsigned int node, unsigned int number, Thing &thing)
{
	DomainLife &life = record_.domains[thing.life];

	life.stop = turns_.tick();
	revoke(node, thing, [&] { host(node).write32(ARIES_INV_MDD, number); });
	life.possible.to = turns_.tick();
}

/* Nobody gets there any more, also not by page entries that were found before. */
void Owner::free_region(unsigned int node, Thing &thing)
{
	const uint64_t gpa = frames_[node].gpa(thing.frame);
	const uint8_t *memory = host(node).ram(gpa);

	for (uint64_t i = 0; i < FRAME_BYTES; i++) {
		const bool edge = i < SKEW || i >= SKEW + SHORT_BYTES;
		const bool counter = i >= SKEW && i < SKEW + ATOMIC_BYTES;

		if ((thing.shorter && edge && memory[i] != CANARY) ||
		    (thing.read_only && !counter && memory[i] != CANARY))
			wrong("node %u: byte %llu of a %s region was written to", node,
			      static_cast<unsigned long long>(i), thing.read_only ? "read-only" : "shorter");
	}
	if (thing.table) {
		record_.domains[thing.life].atomics = *reinterpret_cast<const uint64_t *>(memory + SKEW);
		auto trap = thing;

		trap.frame = frames_[node].trap();
		trap.read_only = false;
		map(node, trap);
	}
	frames_[node].give(thing.frame);
}

void Owner::post(unsigned int number, uint32_t channel)
{
	Thing &thing = receives_[number];
	const uint8_t *buffer = host(HOME).ram(messages_ + number * RECEIVE_BYTES);

	for (uint64_t i = 0; i < RECEIVE_BYTES; i++) {
		if (buffer[i] != Frames::FREE)
			wrong("receive %u: byte %llu was written to after its drain was done", number,
			      static_cast<unsigned long long>(i));
	}
	thing.state = Thing::LIVE;
	thing.life = record_.postings.size();
	record_.postings.push_back({});
	const uint64_t skew = number ? 0 : SKEW; /* the region begins later than its frame */

	host(HOME).write64(ARIES_RMT_OFFSET_N(uint64_t(number)), BASE + number * RECEIVE_BYTES + skew);
	host(HOME).write32(ARIES_RMT_LENGTH_N(uint64_t(number)), uint32_t(RECEIVE_BYTES - skew));
	host(HOME).write32(ARIES_RMT_EVENT_N(uint64_t(number)), POSTING | uint32_t(thing.life));
	host(HOME).write64(ARIES_RMT_CTL_N(uint64_t(number)), ARIES_RMT_CTL_VALID_MASK |
								      prep(ARIES_RMT_CTL_PTAG_MASK, PTAG) |
								      prep(ARIES_RMT_CTL_CHANNEL_MASK, channel) |
								      prep(ARIES_RMT_CTL_MDH_MASK, RECEIVE_MDH));
}

/* The message of receive @number is there. */
void Owner::take_message(unsigned int number)
{
	Thing &thing = receives_[number];
	const uint64_t status = host(HOME).read(ARIES_RMT_STATUS_N(uint64_t(number)), 8);
	uint8_t *buffer = host(HOME).ram(messages_ + number * RECEIVE_BYTES);

	record_.postings[thing.life].done = true;
	for (uint64_t i = 0; i < (status & ARIES_RMT_STATUS_BYTES_MASK); i++) {
		if (buffer[i + (number ? 0 : SKEW)] != sent_byte(i))
			wrong("byte %llu of a message that arrived is not what was sent",
			      static_cast<unsigned long long>(i));
	}
	memset(buffer, Frames::FREE, RECEIVE_BYTES);
	thing.state = Thing::FREE;
}

void Owner::churn_receive(unsigned int number)
{
	Thing &thing = receives_[number];

	if (thing.state == Thing::FREE) {
		post(number, CHANNEL);
	} else if (thing.state == Thing::LIVE) {
		const uint64_t before = host(HOME).read(ARIES_INV_SEQ, 8);

		revoke(HOME, thing, [&] { host(HOME).write64(ARIES_RMT_CTL_N(uint64_t(number)), 0); });
		if (host(HOME).read(ARIES_RMT_STATUS_N(uint64_t(number)), 8) & ARIES_RMT_STATUS_DONE_MASK)
			take_message(number);
		else if (thing.ticket == before)
			wrong("receive %u was taken back without a drain", number);
	}
}

void Owner::churn_block(Input &input)
{
	if (block_.state == Thing::FREE) {
		block_base_ = MDH_FIRST + input.below(2) * BLOCK;
		host(HOME).write64(ARIES_VMDH_CTL_N(0), ARIES_VMDH_CTL_VALID_MASK |
								prep(ARIES_VMDH_CTL_PTAG_MASK, PTAG) |
								prep(ARIES_VMDH_CTL_BASE_MASK, block_base_) |
								prep(ARIES_VMDH_CTL_COUNT_MASK, BLOCK));
		block_.state = Thing::LIVE;
	} else if (block_.state == Thing::LIVE) {
		revoke(HOME, block_, [&] { host(HOME).write64(ARIES_VMDH_CTL_N(0), 0); });
	}
}

void Owner::churn_engine()
{
	if (engine_.state == Thing::FREE) {
		host(HOME).write64(ARIES_CE_CTL_N(0), ARIES_CE_CTL_ENABLE_MASK | prep(ARIES_CE_CTL_PTAG_MASK, PTAG) |
							      prep(ARIES_CE_CTL_OWNER_MASK, STEADY_OWNER) |
							      prep(ARIES_CE_CTL_CHILDREN_MASK, 1));
		engine_.state = Thing::LIVE;
	} else if (engine_.state == Thing::LIVE) {
		revoke(HOME, engine_, [&] { host(HOME).write64(ARIES_CE_CTL_N(0), 0); });
	}
}

/*
 * An access is held inside. If it began before something was revoked the drain waits for it, if it began later it does
 * not: nobody else is there, so this is to be seen at once.
 */
void Owner::errand(bool early)
{
	constexpr unsigned int LOOKS = 4;
	FakeHost &home = host(HOME);
	Thing &receive = receives_[ERRAND_RECEIVE];

	if (!turns_.close_gate())
		return;
	settle();
	if (home.read(ARIES_INV_STATUS, 4))
		wrong("a drain does not end though nothing is under way");
	post(ERRAND_RECEIVE, ERRAND_CHANNEL);
	const uint64_t ticket = home.read(ARIES_INV_SEQ, 8) + 1;

	if (early)
		turns_.send_errand();
	home.write32(ARIES_INV_MDD, UNUSED_MDH);
	if (!early)
		turns_.send_errand();
	for (unsigned int i = 0; i < LOOKS; i++) {
		const bool done = home.read(ARIES_INV_DONE, 8) >= ticket;

		if (done && early)
			wrong("a drain is done while an access that began before it is under way");
		if (!done && !early)
			wrong("a drain waits for an access that began after it");
	}
	turns_.let_go();
	for (unsigned int i = 0; receive.state == Thing::LIVE; i++) {
		if (i == TRIES)
			wrong("a message whose access has gone on does not arrive");
		if (home.read(ARIES_RMT_STATUS_N(uint64_t(ERRAND_RECEIVE)), 8) & ARIES_RMT_STATUS_DONE_MASK)
			take_message(ERRAND_RECEIVE);
		else
			usleep(1000);
	}
}

void Owner::act(Input &input)
{
	const uint8_t what = input.byte();
	const unsigned int node = (what >> 4) % NODES, cq = CQ_FIRST + (what >> 5) % CQS;

	switch (what % 16) {
	case 0:
	case 1:
	case 2:
		churn_queue(node, cq, input);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		churn_region(HOME, MDH_FIRST + (what >> 4) % MDHS, input);
		break;
	case 7:
		churn_region(WORKER, MDH_FIRST + (what >> 4) % NEAR_MDHS, input);
		break;
	case 8:
	case 9:
		churn_receive((what >> 4) % ERRAND_RECEIVE);
		break;
	case 10:
		churn_block(input);
		break;
	case 11:
		churn_engine();
		break;
	case 12:
		host(node).write32(what & 0x80 ? ARIES_CQI_ARM : ARIES_CQI_DISARM, cq);
		break;
	case 13:
		if (what < 0x40)
			host(node).main_loop();
		else if (what < 0x60)
			errand(what & 0x10);
		else
			own_descriptor(1 + node, what >= 0xa0);
		break;
	default:
		read_queues(node);
		break;
	}
}

void Owner::run(Input &input)
{
	Turns::be_owner();
	while (input.more()) {
		act(input);
		settle();
		turns_.acted();
	}
	turns_.wait_for_others(true);
	while (!turns_.work_is_over()) {
		read_queues(WORKER);
		read_queues(HOME);
		usleep(100);
	}
}

void Owner::wind_up()
{
	for (unsigned int i = 0; i < ERRAND_RECEIVE; i++) {
		if (receives_[i].state == Thing::LIVE)
			churn_receive(i);
	}
	for (unsigned int node = 0; node < NODES; node++) {
		for (unsigned int i = 0; i < regions(node); i++) {
			if (regions_[node][i].state == Thing::LIVE)
				end_region(node, MDH_FIRST + i, regions_[node][i]);
		}
		for (unsigned int number = CQ_FIRST; number <= STEADY_CQ; number++) {
			if (queue(node, number).state == Thing::LIVE)
				end_queue(node, number, queue(node, number));
		}
	}
	for (unsigned int i = 0; i < TRIES; i++) {
		settle();
		if (!host(WORKER).read(ARIES_INV_STATUS, 4) && !host(HOME).read(ARIES_INV_STATUS, 4))
			break;
		usleep(1000);
	}
	settle();
	for (unsigned int node = 0; node < NODES; node++) {
		if (host(node).read(ARIES_INV_STATUS, 4))
			wrong("node %u: a drain does not end, though nobody is stopped", node);
		frames_[node].check();
	}
}

} // namespace aries_fuzz
