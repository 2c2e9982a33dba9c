/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who goes on when: two threads meet in places that chance would seldom find. */
#ifndef ARIES_FUZZ_TURNS_HPP
#define ARIES_FUZZ_TURNS_HPP

#include <array>
#include <atomic>
#include <cstdint>

#include "fuzz/input.hpp"

namespace aries_fuzz
{

/**
 * At points in the model that it traces (FakeHost's on_trace) the threads that work are held while the owner acts, as
 * often and as long as the input says. It is a delay like any other that a scheduler makes: bounded, and at once over
 * when the owner waits for them.
 */
class Turns
{
public:
	static constexpr size_t POINTS = 64; /* bytes of the input, each for a point where somebody may be held */

	void restart(Input &input);
	/** The next point of time. */
	uint64_t tick() { return clock_.fetch_add(1); }

	/** Any thread of the node that works is at point @name. */
	void at(const char *name);
	/** The calling thread is the owner, who is never held. */
	static void be_owner();

	/** The owner has acted. */
	void acted() { actions_.fetch_add(1); }
	/** The owner waits for those who are held, or does not. */
	void wait_for_others(bool waits) { waits_.store(waits); }
	/** An odd number, another one each time, while somebody is held inside a visit to the home node. */
	uint64_t inside() const { return inside_.load(); }

	/* Errands: the owner sends the worker into a visit, and holds it there. */
	enum Gate : uint32_t { OPEN, CLOSED, ERRAND };

	/** False: the worker has ended. It waits at the gate, with nothing under way, if true. */
	bool close_gate();
	/** Returns when the worker is held in its visit. */
	void send_errand();
	/** It goes on, and passes the gate. */
	void let_go();
	/** The worker between two operations; @idle: until nothing is under way, @errand: what it is sent for. */
	template <typename Idle, typename Errand> void pass_gate(Idle &&idle, Errand &&errand)
	{
		if (gate_.load() == OPEN) [[likely]]
			return;
		idle();
		waiting_.store(true);
		while (gate_.load() != OPEN) {
			if (gate_.load() == ERRAND) {
				errand();
				gate_.store(CLOSED);
				/* Last: the owner opens the gate then. */
				errand_over_.store(true);
			}
			pause();
		}
		waiting_.store(false);
	}
	/** The worker has ended. */
	void end_work() { over_.store(true); }
	bool work_is_over() const { return over_.load(); }
	static void pause();

private:
	std::atomic<uint64_t> clock_{1};
	std::atomic<uint64_t> actions_{0}, inside_{0};
	std::atomic<uint32_t> points_{0};
	std::atomic<bool> held_{false}, waits_{false}, over_{false};
	std::atomic<uint32_t> gate_{OPEN};
	std::atomic<bool> waiting_{false}, hold_{false}, errand_over_{false};
	std::array<uint8_t, POINTS> schedule_{}; /* for how many actions of the owner */
};

} // namespace aries_fuzz

#endif
