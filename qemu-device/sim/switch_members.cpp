// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Broadcasts, conditionals and barriers of jobs, at their nodes. The first node sends a broadcast to all nodes, itself
 * included, and begins the next one when all have answered. A conditional goes the same way, and is repeated until it
 * is true. In a barrier each host tells its adapter that it is ready. Then either the first node asks all nodes by a
 * conditional that is repeated until no answer is a NACK (Q28, Q29); or each adapter counts its host and its children,
 * and tells its parent when all of them are ready (Q30). Then the first node broadcasts the end of the barrier.
 */
#include <algorithm>

#include "switch_part.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t WORD_WORDS = put_words(8); ///< a number at an address

/* Only the first node begins something, and the others need not know of it. */
constexpr bool is_of_first(Pattern pattern)
{
	return pattern == Pattern::Broadcast || pattern == Pattern::Conditional;
}

} // namespace

void SwitchPart::make_members()
{
	if (!traffic_.collectives())
		return;
	members_.resize(adapters_.size());
	statistics_.collectives.resize(traffic_.jobs());
	for (uint32_t slot = 0; slot < adapters_.size(); slot++) {
		if (adapters_[slot].node != NO_PLACE && traffic_.collective_of(adapters_[slot].node))
			plan_operation(slot);
	}
}

void SwitchPart::plan(uint32_t slot, Step step, uint32_t cycles)
{
	plans_.push({now_ + cycles, slot, step});
	unfinished_plans_ += step != Step::Begin;
}

/* The host computes, then begins. In a conditional only the first node has a host that does so: the slow node is the
 * business of is_equal().
 */
void SwitchPart::plan_operation(uint32_t slot)
{
	const uint32_t node = adapters_[slot].node;
	const Traffic::Collective &collective = *traffic_.collective_of(node);
	const uint32_t rank = traffic_.rank_of(node);
	const Pattern pattern = traffic_.shape_of(node).pattern;
	const bool slow = rank == collective.slow_rank && pattern != Pattern::Conditional;

	if (rank && is_of_first(pattern))
		return;
	plan(slot, Step::Begin, std::max(collective.compute + (slow ? collective.slow : 0), 1u));
}

void SwitchPart::take_plans()
{
	while (!plans_.empty() && plans_.top().cycle <= now_) {
		const Plan plan = plans_.top();

		plans_.pop();
		unfinished_plans_ -= plan.step != Step::Begin;
		if (!adapters_[plan.slot].dead && !members_[plan.slot].gone)
			carry_out(plan);
		else
			members_[plan.slot].ended += plan.step == Step::End;
	}
}

void SwitchPart::carry_out(const Plan &of)
{
	const uint32_t node = adapters_[of.slot].node;
	const Pattern pattern = traffic_.shape_of(node).pattern;
	Member &member = members_[of.slot];
	CollectiveCounts &counts = statistics_.collectives[traffic_.job_of(node)];

	switch (of.step) {
	case Step::Begin:
		if (now_ >= end_due_)
			return;
		counts.begin(member.begun++, now_);
		plan(of.slot, Step::Operand, parameters_.ce_host_cycles + parameters_.ce_nic_cycles);
		return;
	case Step::Operand: /* The adapter knows that its host is ready. */
		member.ready = member.begun;
		if (pattern == Pattern::Broadcast)
			broadcast_data(of.slot);
		else if (pattern == Pattern::TreeBarrier)
			count_ready(of.slot);
		else if (!traffic_.rank_of(node))
			send_word(of.slot, Carried::Test, node);
		return;
	case Step::Combined: /* So are all below it. */
		if (traffic_.rank_of(node))
			send_word(of.slot, Carried::Up,
				  traffic_.node_of(node,
						   traffic_.collective_of(node)->tree.parent(traffic_.rank_of(node))));
		else
			send_word(of.slot, Carried::Done, node);
		return;
	case Step::Result: /* All nodes are. */
		send_word(of.slot, Carried::Done, node);
		return;
	case Step::End:
		counts.end(member.ended++, now_);
		if (pattern != Pattern::Broadcast)
			plan_operation(of.slot);
		return;
	}
}

/* An event counter: it fires when the node and all its children have been counted (Q30). */
void SwitchPart::count_ready(uint32_t slot)
{
	const uint32_t node = adapters_[slot].node;
	const size_t children = traffic_.collective_of(node)->tree.children(traffic_.rank_of(node)).size();
	Member &member = members_[slot];

	if (++member.counted <= children)
		return;
	member.counted -= static_cast<uint32_t>(children) + 1;
	plan(slot, Step::Combined, parameters_.ce_nic_cycles);
}

/* A word for all nodes of the job, or for one: what it says is the number of the operation. */
void SwitchPart::send_word(uint32_t slot, Carried carried, uint32_t target)
{
	queue_for_group(slot, carried, target, WORD_BYTES, WORD_WORDS, members_[slot].begun);
}

void SwitchPart::broadcast_data(uint32_t slot)
{
	const uint32_t node = adapters_[slot].node, bytes = traffic_.shape_of(node).bytes;

	for (uint32_t at = 0; at < bytes; at += parameters_.packet_bytes) {
		const uint32_t carried = std::min(parameters_.packet_bytes, bytes - at);

		queue_for_group(slot, Carried::Broadcast, node, carried, put_words(carried), members_[slot].begun);
		members_[slot].unanswered++;
	}
}

void SwitchPart::queue_for_group(uint32_t slot, Carried carried, uint32_t target, uint32_t bytes, uint32_t words,
				 uint32_t operation)
{
	const uint32_t number = pool_.take();
	SwitchPacket &packet = pool_[number];

	packet = {};
	packet.source = adapters_[slot].node;
	packet.target = target;
	packet.asked = operation;
	packet.born = packet.ready = now_;
	packet.bytes = static_cast<uint16_t>(bytes);
	packet.words = static_cast<uint16_t>(words);
	packet.carried = carried;
	packet.alone = true;
	packet.once = carried == Carried::Up;
	put_in(adapters_[slot].replies, number);
	wake(slot, now_ + 1);
}

namespace
{

/*
 * Does a packet of a broadcast come the first time? An operation begins when all of the last one is answered, so what
 * comes of an older one is late, and only of one the numbers are kept.
 */
bool is_new(Member &member, const SwitchPacket &packet)
{
	if (packet.asked < member.operation)
		return false;
	if (packet.asked > member.operation) {
		member.operation = packet.asked;
		member.came.clear();
	}

	const auto at = std::lower_bound(member.came.begin(), member.came.end(), packet.sequence);

	if (at != member.came.end() && *at == packet.sequence)
		return false;
	member.came.insert(at, packet.sequence);
	return true;
}

} // namespace

/* @return the answer */
uint32_t SwitchPart::reach_member(const SwitchPacket &packet, uint32_t slot, uint32_t in_memory)
{
	Member &member = members_[slot];

	/* Read and compared, in the adapter's own memory (Q28). */
	if (packet.carried == Carried::Test)
		return is_equal(member, adapters_[slot].node, packet.asked) ? now_ : UNEQUAL;
	if (packet.carried == Carried::Up) {
		count_ready(slot);
		return in_memory;
	}
	/* A number that is known came again, for the answer of another one was a NACK. */
	if (packet.carried == Carried::Done) {
		if (member.told < packet.asked) {
			member.told = packet.asked;
			plan(slot, Step::End, in_memory - now_ + parameters_.ce_host_cycles);
		}
		return in_memory;
	}
	if (lossy_ && !is_new(member, packet)) {
		statistics_.came_twice++;
		return in_memory;
	}
	take_data(packet, slot, in_memory);
	return in_memory;
}

/*
 * In a barrier the word is the operation that the host has last begun. A conditional of its own finds the word equal,
 * at the slow node only some time after it has come there first.
 */
bool SwitchPart::is_equal(Member &member, uint32_t node, uint32_t asked) const noexcept
{
	const Traffic::Collective &collective = *traffic_.collective_of(node);

	if (traffic_.shape_of(node).pattern != Pattern::Conditional)
		return member.ready == asked;
	if (member.told < asked) {
		member.told = asked;
		member.due = now_ + (traffic_.rank_of(node) == collective.slow_rank ? collective.slow : 0);
	}
	return now_ >= member.due;
}

void SwitchPart::take_data(const SwitchPacket &packet, uint32_t slot, uint32_t in_memory)
{
	Member &member = members_[slot];
	const uint32_t bytes = traffic_.shape_of(adapters_[slot].node).bytes;

	const auto add = [&packet](Counts &counts) {
		counts.window_request_flits += packet.words;
		counts.window_bytes += packet.bytes;
	};

	if (now_ >= measure_from_ && now_ < measure_until_) {
		add(statistics_);
		if (!statistics_.jobs.empty())
			add(statistics_.jobs[traffic_.job_of(packet.source)]);
	}
	if (++member.counted < (bytes + parameters_.packet_bytes - 1) / parameters_.packet_bytes)
		return;
	member.counted = 0;
	plan(slot, Step::End, in_memory - now_ + parameters_.ce_host_cycles);
}

/*
 * The first node has the answer of all nodes. A conditional that is still false some time behind the end of traffic is
 * asked no more: a host has not come, which is no failure.
 */
void SwitchPart::group_answered(const SwitchPacket &packet, uint32_t slot, uint32_t what)
{
	const uint32_t job = traffic_.job_of(packet.source);

	if (what <= UNEQUAL) {
		const bool over = now_ >= uint64_t{end_due_} + parameters_.timeout_cycles;

		if (members_[slot].gone || over) {
			statistics_.given_up += what == REFUSED;
			statistics_.collectives[job].lost += what == REFUSED && !members_[slot].gone;
			return;
		}

		const uint32_t number = pool_.take();

		pool_[number] = packet;
		pool_[number].again = true;
		pool_[number].ready = now_ + parameters_.retry_cycles;
		put_in(adapters_[slot].resend, number);
		wake(slot, pool_[number].ready);
		return;
	}
	if (members_[slot].gone)
		return;
	if (packet.carried == Carried::Test && traffic_.shape_of(packet.source).pattern == Pattern::Conditional)
		plan(slot, Step::End, parameters_.ce_nic_cycles + parameters_.ce_host_cycles);
	else if (packet.carried == Carried::Test)
		plan(slot, Step::Result, parameters_.ce_nic_cycles);
	if (packet.carried == Carried::Broadcast && !--members_[slot].unanswered)
		plan_operation(slot);
}

/*
 * A node has failed. If no operation of its job can end without it, it does not come back to the job, as the other
 * nodes do not know what it has missed. Broadcasts and conditionals need only their first node in this sense: when
 * another node fails, the first one waits for its answer.
 */
void SwitchPart::leave_group(uint32_t slot)
{
	const uint32_t node = adapters_[slot].node;

	if (members_.empty() || !traffic_.collective_of(node) || members_[slot].gone)
		return;
	if (traffic_.rank_of(node) && is_of_first(traffic_.shape_of(node).pattern))
		return;
	members_[slot].gone = true;
	statistics_.collectives[traffic_.job_of(node)].lost++;
}

/* Operations that would begin after the end of traffic do not count. */
bool SwitchPart::members_idle() const noexcept
{
	return plans_.empty() || (!unfinished_plans_ && plans_.top().cycle >= end_due_);
}

} // namespace aries::sim
