// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of links have in common: flits whose order shows, slow tests, statistics. */
#ifndef ARIES_TESTS_LCB_RIG_HPP
#define ARIES_TESTS_LCB_RIG_HPP

#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/lcb/lcb_link.hpp"

namespace aries
{

/* Sanitizers take their own time. */
inline bool slow_lcb_tests()
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return getenv("OPENGNI_SLOW"); // NOLINT(concurrency-mt-unsafe)
#endif
}

/* Flit number n of a stream: what it holds and whether it ends a packet depends on nothing else. */
inline uint64_t flit_of(uint64_t n, uint64_t stream)
{
	return BitRandom(n * 2 + (stream << 48)).next() & (LCB_FLIT | LCB_END);
}

/* Any set that can be coded, sensible or not. */
inline LcbSet random_set(BitRandom &random)
{
	LcbSet set{};

	set.count = static_cast<uint8_t>(random.below(LCB_FLITS + 1));
	for (uint32_t i = 0; i < set.count; i++)
		set.flit[i] = random.next() & (LCB_FLIT | LCB_END);
	set.sequence = static_cast<uint8_t>(random.below(LCB_SEQUENCES));
	set.acknowledged = static_cast<uint8_t>(random.below(LCB_SEQUENCES));
	set.round = random.below(2);
	set.wanted = random.below(2);
	set.load = static_cast<uint8_t>(random.below(8));
	set.clock = random.below(2);
	return set;
}

/* One direction: what is pushed and what has come. */
struct Stream {
	uint64_t pushed = 0;
	uint64_t came = 0;
	uint64_t limit = 0;
};

/* Both directions of a link that are kept full, with an exact check of each flit that comes. */
class LcbRig
{
public:
	explicit LcbRig(const LcbLinkShape &shape) : link(shape) {}

	/* Let both sides send up to so many flits. */
	void offer(uint64_t a, uint64_t b)
	{
		streams[0].limit = a;
		streams[1].limit = b;
	}

	/* All that is pushed comes in order, once, as it was; nothing else comes. */
	void run(uint64_t until)
	{
		LcbArrival arrival;

		/* A step is shorter than the send buffer, so that the senders never run dry. */
		for (; now < until; now = std::min(until, now + STEP)) {
			fill();
			while (link.advance(std::min(until, now + STEP), arrival))
				check(arrival);
		}
	}

	/* Until everything has come. */
	void drain()
	{
		for (uint32_t steps = 0; !done(); steps++) {
			if (steps > 1000000)
				fail_msg("the link does not get on: %lu of %lu, %lu of %lu", streams[0].came,
					 streams[0].limit, streams[1].came, streams[1].limit);
			run(now + STEP);
		}
	}

	bool done() const { return streams[0].came == streams[0].limit && streams[1].came == streams[1].limit; }

	LcbLink link;
	std::array<Stream, 2> streams{};
	uint64_t now = 0;
	uint64_t last = 0; /* tick of the last arrival */

private:
	static constexpr uint64_t STEP = 4000;

	void fill()
	{
		for (uint32_t side = 0; side < 2; side++) {
			Stream &s = streams[side];

			while (s.pushed < s.limit && link.end(side).push(flit_of(s.pushed, side)))
				s.pushed++;
		}
	}

	void check(const LcbArrival &arrival)
	{
		Stream &s = streams[1 - arrival.side];

		for (const uint64_t flit : arrival.flits) {
			if (s.came >= s.pushed || flit != flit_of(s.came, 1 - arrival.side))
				fail_msg("flit %lu from side %u is lost, doubled or wrong", s.came, 1 - arrival.side);
			s.came++;
		}
		last = arrival.tick;
	}
};

} // namespace aries

#endif
