/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/turns.hpp"

#include <cstring>

#include <sched.h>

#include "fuzz/churn.hpp"

namespace aries_fuzz
{

namespace
{

constexpr unsigned int PATIENCE = 1000; /* pauses: the owner may wait, in the model, for a thread that is held */

thread_local bool is_owner = false;

} // namespace

void Turns::restart(Input &input)
{
	for (uint8_t &actions : schedule_) {
		const uint8_t byte = input.byte();

		actions = byte & 3 ? 0 : byte >> 3;
	}
	points_.store(0);
	waits_.store(false);
	over_.store(false);
	gate_.store(OPEN);
	waiting_.store(false);
	hold_.store(false);
}

void Turns::pause()
{
	sched_yield();
}

void Turns::be_owner()
{
	is_owner = true;
}

void Turns::at(const char *name)
{
	if (is_owner)
		return;
	const uint8_t actions = schedule_[points_.fetch_add(1) % schedule_.size()];
	const bool visit = !strcmp(name, "send_writes");
	const bool errand = visit && hold_.load();

	if ((!errand && !actions) || held_.exchange(true))
		return;
	const uint64_t until = actions_.load() + actions;

	if (visit)
		inside_.fetch_add(1);
	if (errand) {
		while (hold_.load())
			pause();
	} else {
		for (unsigned int i = 0; i < PATIENCE && actions_.load() < until && !waits_.load(); i++)
			pause();
	}
	if (visit)
		inside_.fetch_add(1);
	held_.store(false);
}

bool Turns::close_gate()
{
	wait_for_others(true);
	gate_.store(CLOSED);
	while (!waiting_.load() && !over_.load())
		pause();
	wait_for_others(false);
	if (!over_.load())
		return true;
	gate_.store(OPEN);
	return false;
}

void Turns::send_errand()
{
	const uint64_t before = inside_.load();

	errand_over_.store(false);
	hold_.store(true);
	gate_.store(ERRAND);
	while (inside_.load() == before && !errand_over_.load())
		pause();
	if (inside_.load() == before)
		wrong("a send to a receive that is posted did not come to its target");
}

void Turns::let_go()
{
	hold_.store(false);
	while (!errand_over_.load())
		pause();
	gate_.store(OPEN);
	/* Who closes it next must not find the worker waiting from this time. */
	while (waiting_.load())
		pause();
}

} // namespace aries_fuzz
