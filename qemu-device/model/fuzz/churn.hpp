/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two nodes under churn: a worker on node 0 puts, gets, sends and contributes, an owner makes and ends what it touches.
 * Both take what they do from one input. What each did, and when, is written down and compared afterwards.
 */
#ifndef ARIES_FUZZ_CHURN_HPP
#define ARIES_FUZZ_CHURN_HPP

#include <atomic>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/turns.hpp"
#include "tests/fake_host.hpp"

namespace aries_fuzz
{

inline constexpr unsigned int WORKER = 0, HOME = 1, NODES = 2;
inline constexpr unsigned int PTAG = 3;
inline constexpr uint64_t BASE = 0x7f12345000;
inline constexpr uint64_t NEVER = UINT64_MAX;

/* Regions: the pages of one frame, or the same pages over and over so that transfers are long. */
inline constexpr uint64_t FRAME_PAGES = 8, FRAME_BYTES = FRAME_PAGES * aries_test::PAGE;
inline constexpr uint64_t SKEW = 256; /* a region begins so far into its frame, and a short one ends so far before */
inline constexpr uint64_t SHORT_BYTES = FRAME_BYTES - 2 * SKEW, LONG_BYTES = uint64_t(3) << 20;
inline constexpr uint64_t ATOMIC_BYTES = 64; /* at the start of a region: atomics alone go there */

/* Numbers. The queues and regions that stay are for what must not fail. */
inline constexpr unsigned int FMADS = 3, ERRAND_FMAD = 3; /* 1 and 2 change hands */
inline constexpr unsigned int CQ_FIRST = 20, CQS = 2, STEADY_CQ = 22;
inline constexpr unsigned int MDH_FIRST = 40, BLOCK = 4, MDHS = 2 * BLOCK; /* two blocks for virtual handles */
inline constexpr unsigned int NEAR_MDHS = 2; /* of these, on the node that works: where gets land */
inline constexpr unsigned int SOURCE_MDH = 10, RESULT_MDH = 11, RECEIVE_MDH = 12;
inline constexpr unsigned int RECEIVES = 4, ERRAND_RECEIVE = 3;
inline constexpr uint64_t RECEIVE_BYTES = FRAME_BYTES / RECEIVES;
inline constexpr uint32_t CHANNEL = 7, ERRAND_CHANNEL = 8;
inline constexpr uint32_t POSTING = 0x80000000; /* event data of receives; of all else the number of the operation */

/** Ends the run, with what was wrong. */
[[noreturn, gnu::format(printf, 1, 2)]] void wrong(const char *format, ...);

/** Points of time, of Turns::tick(). */
struct Span {
	uint64_t from = 0, to = NEVER;

	bool meets(const Span &other) const { return from <= other.to && other.from <= to; }
};

/** A queue from its start to its stop. Whoever claimed it did so in @possible. */
struct QueueLife {
	unsigned int node, number;
	Span possible;
	uint64_t stop = NEVER; /* until then it took whatever came */
	std::vector<aries_test::Event> events = {};
	uint64_t marks = 0, dropped = 0, missing = 0;
};

/** A memory domain from publishing to invalidation. */
struct DomainLife {
	unsigned int node, number;
	int queue; /* its QueueLife, -1: none that lives */
	Span possible;
	uint64_t stop = NEVER;
	bool counted = false; /* @atomics is to be looked at */
	uint64_t atomics = 0, surely = 0, perhaps = 0;
};

/** A receive from posting to its message, or to when it was taken back. */
struct Posting {
	bool done = false;
	unsigned int events = 0;
};

enum class Kind { PUT, GET, ATOMIC, CQWRITE, COLLECTIVE, BLOCK, SEND };

/** One doorbell of the worker. */
struct Op {
	Kind kind;
	unsigned int fmad, cq;
	uint16_t mdh;
	uint8_t mode;
	uint8_t status = 0;                             /* of the doorbell */
	uint64_t begin, rung = 0;                       /* rights were looked at between the two */
	uint64_t done = NEVER;                          /* nothing of it is under way any more */
	unsigned int local = 0, global = 0, remote = 0; /* events found */
	uint8_t outcome = 0xff;                         /* status in its events */

	bool virtual_handle() const { return mdh & ARIES_MDH_VIRTUAL; }
	/** Whether its packets may have been for descriptor @number of the home node. */
	bool names(unsigned int number) const
	{
		return virtual_handle() ? number >= MDH_FIRST && (number - MDH_FIRST) % BLOCK == (mdh & 0xfffu)
					: number == mdh;
	}
};

/** All that was written down of one input. */
struct Record {
	std::vector<QueueLife> queues;
	std::vector<DomainLife> domains;
	std::vector<Posting> postings;
	std::vector<Op> ops; /* the worker's */

	/** Looks at all of it after both have ended. @sends: messages that have arrived, as the NIC counts. */
	void judge(uint64_t sends);

private:
	void sort_events();
	void source_event(const QueueLife &queue, const aries_test::Event &event);
	void remote_event(size_t index, const aries_test::Event &event);
	void expect_source(const Op &op);
	void expect_remote(const Op &op);
	void count_atomic(const Op &op);
	bool has_way(const Op &op, size_t queue) const;
};

/** Byte @at of what is sent. */
inline uint8_t sent_byte(uint64_t at)
{
	return uint8_t(at * 7 + (at >> 8) + 1);
}

} // namespace aries_fuzz

#endif
