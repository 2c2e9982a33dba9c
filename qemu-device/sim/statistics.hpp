// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What is counted while a network runs. All of it are sums, so parts can be added in any order.
 */
#ifndef ARIES_SIM_STATISTICS_HPP
#define ARIES_SIM_STATISTICS_HPP

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "collective.hpp"
#include "histogram.hpp"
#include "router/tables.hpp"

namespace aries::sim
{

inline constexpr size_t MOST_HOPS = 48; ///< counted apart; longer ways are with the last

/** What is counted for all jobs together, and for each if there are several. */
struct Counts {
	/* While it is measured. */
	uint64_t window_request_flits = 0; ///< received
	uint64_t window_response_flits = 0;
	uint64_t window_bytes = 0; ///< data put or got

	/* Of messages that became ready during the measurement. */
	Histogram latency;    ///< of requests: from when the message was ready to the last flit at the target
	Histogram network;    ///< of requests: from the first flit out of the NIC
	Histogram round_trip; ///< from when the message was ready to the response's last flit
	Histogram message;    ///< of messages: from ready to the last byte where it shall be, for gets at the initiator
	Histogram message_round_trip;                     ///< from ready to the last flit of the last response
	std::array<uint64_t, MOST_HOPS + 1> hop_count{};  ///< requests by links
	std::array<uint64_t, MOST_HOPS + 1> hop_cycles{}; ///< their cycles in the network
	uint64_t nonminimal = 0;                          ///< requests by a root

protected:
	template <typename A, typename B, typename Function, typename... Member>
	static void both_members(A &a, B &b, Function &function, Member... member)
	{
		(function(a.*member, b.*member), ...);
	}

	friend struct Statistics;
	/* Calls a function with each member of two. */
	template <typename A, typename B, typename Function> static void both(A &a, B &b, Function function)
	{
		static_assert(sizeof(Counts) == (6 + 2 * MOST_HOPS) * sizeof(uint64_t) + 5 * sizeof(Histogram),
			      "a new member comes in here, too");
		both_members(a, b, function, &Counts::window_request_flits, &Counts::window_response_flits,
			     &Counts::window_bytes, &Counts::latency, &Counts::network, &Counts::round_trip,
			     &Counts::message, &Counts::message_round_trip, &Counts::nonminimal);
		for (size_t i = 0; i < a.hop_count.size(); i++) {
			function(a.hop_count[i], b.hop_count[i]);
			function(a.hop_cycles[i], b.hop_cycles[i]);
		}
	}
};

struct Statistics : Counts {
	/* From the beginning. */
	uint64_t injected_packets = 0;
	uint64_t injected_flits = 0;
	uint64_t received_packets = 0;
	uint64_t received_flits = 0;
	uint64_t hops = 0;             ///< packets through routers
	uint64_t checks = 0;           ///< looks at resources: a cost, which may depend on the order; no result does
	uint64_t lost_on_links = 0;    ///< packets on links that failed, or waiting for such a link
	uint64_t lost_without_way = 0; ///< no link that works leads to their target
	uint64_t lost_at_nodes = 0;    ///< their node does not answer
	uint64_t unanswered = 0;       ///< requests received by a node that failed before it answered
	uint64_t lost_bad = 0;         ///< packets marked on their way, dropped at their node
	uint64_t given_up = 0;         ///< requests whose initiator waited in vain
	/* Of switches that answer each packet. */
	uint64_t refused = 0;    ///< packets that a switch or an adapter answered with a NACK
	uint64_t traps = 0;      ///< of them those that had no way on (Q23)
	uint64_t sent_again = 0; ///< packets after a NACK
	uint64_t came_twice = 0; ///< packets that must not be done twice, and were not (Q21)
	uint64_t overtaken = 0;  ///< requests that came after a later one of their pair of nodes, if watched
	std::array<uint64_t, routing::MAX_CHANNELS> channel_packets{}; ///< sent over links

	std::vector<Counts> jobs;                  ///< empty if there is one
	std::vector<CollectiveCounts> collectives; ///< by job; empty if none has any

	/** Of another part of the network, with the same jobs. */
	void add(const Statistics &other)
	{
		jobs.resize(other.jobs.size());
		collectives.resize(other.collectives.size());
		for (size_t i = 0; i < collectives.size(); i++)
			collectives[i].add(other.collectives[i]);
		both(*this, other, [](auto &mine, const auto &its) {
			if constexpr (std::is_same_v<decltype(mine), Histogram &>)
				mine.add(its);
			else
				mine += its;
		});
	}

	/** As words, and from them. */
	void save(std::vector<uint64_t> &words) const
	{
		words.push_back(jobs.size());
		both(*this, *this, [&words](const auto &mine, const auto &) {
			if constexpr (std::is_same_v<decltype(mine), const Histogram &>)
				mine.save(words);
			else
				words.push_back(mine);
		});
		words.push_back(collectives.size());
		for (const CollectiveCounts &collective : collectives)
			collective.save(words);
	}

	void load(const std::vector<uint64_t> &words)
	{
		const uint64_t *word = words.data();

		jobs.resize(*word++);
		both(*this, *this, [&word](auto &mine, const auto &) {
			if constexpr (std::is_same_v<decltype(mine), Histogram &>)
				mine.load(word);
			else
				mine = *word++;
		});
		collectives.resize(*word++);
		for (CollectiveCounts &collective : collectives)
			collective.load(word);
	}

private:
	/* Calls a function with each member of two. */
	template <typename A, typename B, typename Function> static void both(A &a, B &b, Function function)
	{
		static_assert(sizeof(Statistics) == sizeof(Counts) + (17 + routing::MAX_CHANNELS) * sizeof(uint64_t) +
							    sizeof(std::vector<Counts>) +
							    sizeof(std::vector<CollectiveCounts>),
			      "a new member comes in here, too");
		both_members(a, b, function, &Statistics::injected_packets, &Statistics::injected_flits,
			     &Statistics::received_packets, &Statistics::received_flits, &Statistics::hops,
			     &Statistics::checks, &Statistics::lost_on_links, &Statistics::lost_without_way,
			     &Statistics::lost_at_nodes, &Statistics::unanswered, &Statistics::lost_bad,
			     &Statistics::given_up, &Statistics::refused, &Statistics::traps, &Statistics::sent_again,
			     &Statistics::came_twice, &Statistics::overtaken);
		for (size_t i = 0; i < a.channel_packets.size(); i++)
			function(a.channel_packets[i], b.channel_packets[i]);
		Counts::both(a, b, function);
		for (size_t i = 0; i < a.jobs.size(); i++)
			Counts::both(a.jobs[i], b.jobs[i], function);
	}
};

} // namespace aries::sim

#endif
