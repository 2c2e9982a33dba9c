// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What all workers do together: collectives over a tree that is made anew whenever it is broken.
 */
#ifndef CHAOS_COLLECTIVE_H
#define CHAOS_COLLECTIVE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/tree.h"
#include "session.h"

namespace chaos
{

/**
 * One life's part. Worker 0 says who belongs together: a team has a number that grows, and the life of each worker.
 * Who belongs to it configures its engine, makes its endpoint and says so; when all have, they begin. Whoever sees a
 * collective fail asks for the next team.
 */
class Collective
{
public:
	Collective(Session &session, tools::Kvs &kvs);

	/** Goes on. @return whether a collective has just ended well. Throws Lost, and Failure for what must never be.
	 */
	bool step();

	/** How far it is, for the report of one that is stuck. */
	std::string state() const;

private:
	struct Team {
		uint64_t number = 0;
		std::vector<uint64_t> lives;
	};
	/** What a worker says of itself: the least team that it wants, and the one that it is ready for. */
	struct Word {
		uint64_t wanted = 0, ready = 0;
	};

	std::optional<std::string> look(const std::string &key) const;
	Word word_of(int worker) const;
	void say();
	void want_another(const std::string &why);
	void lead();
	void follow();
	bool configure();
	std::optional<uint32_t> engine_of(int worker) const;
	bool all_ready() const;
	void look_around();
	void post();
	bool finish();
	void verify(const gni_ce_result_t &result) const;
	uint64_t share(int worker) const;
	uint32_t id() const;

	Session &session_;
	tools::Kvs &kvs_;
	tools::Queue source_;
	tools::Tree tree_;
	Team led_, team_;
	Word word_;
	bool configured_ = false, joined_ = false, begun_ = false, posted_ = false;
	uint32_t index_ = 0;       /* of the collective within the team */
	uint64_t posted_team_ = 0; /* of the collective that is under way */
	uint64_t posted_ns_ = 0, looked_ns_ = 0, followed_ns_ = 0;
	gni_post_descriptor_t descriptor_ = {};
	std::vector<tools::Member> members_;
	uint32_t upper_ = 0, lower_ = 0; /* ids of the engines */
};

} // namespace chaos

#endif // CHAOS_COLLECTIVE_H
