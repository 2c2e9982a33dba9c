// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "collective.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "common/failure.h"

namespace chaos
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint64_t look_ns = 100000000u;
constexpr uint64_t late_ns = 2000000000u;
constexpr uint64_t stuck_ns = 240000000000u;
constexpr const char *team_key = "chaos/team";
constexpr unsigned life_shift = 12; /* numbers of teams: those of a later life of worker 0 are greater */
/* A team ends after so many collectives, so that whole trees are taken down as well as broken ones. */
constexpr uint32_t collectives_most = 256;

std::string word_key(int worker)
{
	return format("chaos/team/%d", worker);
}

std::string engine_key(int worker)
{
	return format("chaos/engine/%d", worker);
}

uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 29;
	return x;
}

} // namespace

Collective::Collective(Session &session, tools::Kvs &kvs)
	: session_(session), kvs_(kvs), source_(session.nic(), 64),
	  tree_(session.nic(), source_.handle(), session.rank(), session.ranks())
{
	if (tree_.has_engine(session.rank()))
		kvs.put(engine_key(session.rank()), format("%" PRIu64 ":%u", session.life(), tree_.engine_id()));
	led_.number = session.life() << life_shift;
	say();
}

/* What is there now; nothing if nobody has said anything yet. */
std::optional<std::string> Collective::look(const std::string &key) const
{
	return kvs_.look(key);
}

Collective::Word Collective::word_of(int worker) const
{
	const auto text = look(word_key(worker));
	Word word;

	if (text && sscanf(text->c_str(), "%" SCNu64 ":%" SCNu64, &word.wanted, &word.ready) != 2)
		throw Failure(format("worker %d has said '%.60s'", worker, text->c_str()));
	return word;
}

void Collective::say()
{
	kvs_.put(word_key(session_.rank()), format("%" PRIu64 ":%" PRIu64, word_.wanted, word_.ready));
}

void Collective::want_another(const std::string &why)
{
	session_.counts["teams ended: " + why]++;
	begun_ = false;
	word_.wanted = team_.number + 1;
	say();
}

/* Worker 0: another team for other lives, or if somebody wants one. */
void Collective::lead()
{
	std::vector<uint64_t> lives;
	uint64_t wanted = word_.wanted;

	for (int worker = 0; worker < session_.ranks(); worker++) {
		lives.push_back(worker == session_.rank() ? session_.life() : session_.address(worker).life);
		if (!lives.back())
			return;
		if (worker != session_.rank())
			wanted = std::max(wanted, word_of(worker).wanted);
	}
	if (lives == led_.lives && wanted <= led_.number)
		return;
	led_ = {std::max(led_.number + 1, wanted), lives};
	std::string text = format("%" PRIu64, led_.number);
	for (const uint64_t life : lives)
		text += format(":%" PRIu64, life);
	kvs_.put(team_key, text);
}

/* Everybody: is there another team, and do I belong to it? */
void Collective::follow()
{
	const auto text = look(team_key);
	Team now;

	if (!text)
		return;
	std::istringstream words(*text);
	std::string word;
	for (bool first = true; std::getline(words, word, ':'); first = false) {
		const uint64_t value = strtoull(word.c_str(), nullptr, 10);
		if (first)
			now.number = value;
		else
			now.lives.push_back(value);
	}
	if (now.lives.size() != static_cast<size_t>(session_.ranks()))
		throw Failure(format("a team of others: '%.60s'", text->c_str()));
	if (now.number <= team_.number || now.lives[static_cast<size_t>(session_.rank())] != session_.life())
		return;
	team_ = now;
	configured_ = joined_ = begun_ = false;
	index_ = 0;
	followed_ns_ = tools::now_ns();
}

std::optional<uint32_t> Collective::engine_of(int worker) const
{
	const auto text = look(engine_key(worker));
	uint64_t life = 0;
	uint32_t engine = 0;

	if (!text || sscanf(text->c_str(), "%" SCNu64 ":%u", &life, &engine) != 2 ||
	    life != team_.lives[static_cast<size_t>(worker)])
		return std::nullopt;
	return engine;
}

/* As soon as all of the team are known. What an earlier team has pending in our engine ends with that. */
bool Collective::configure()
{
	members_.clear();
	for (int worker = 0; worker < session_.ranks(); worker++) {
		/* a worker may not know where it is itself: only the others' addresses are looked up */
		const bool self = worker == session_.rank();
		if (!self && session_.address(worker).life != team_.lives[static_cast<size_t>(worker)])
			return false;
		members_.push_back({self ? session_.pe() : session_.address(worker).pe, instance_of(worker)});
	}
	const auto upper = engine_of(0);
	const auto lower = tree_.half() < session_.ranks() ? engine_of(tree_.half()) : 0;
	if (!upper || !lower)
		return false;
	upper_ = *upper;
	lower_ = *lower;
	tree_.configure(members_, upper_, lower_);
	return true;
}

bool Collective::all_ready() const
{
	for (int worker = 0; worker < session_.ranks(); worker++)
		if (worker != session_.rank() && word_of(worker).ready != team_.number)
			return false;
	return true;
}

void Collective::look_around()
{
	if (tools::now_ns() - looked_ns_ < look_ns)
		return;
	looked_ns_ = tools::now_ns();
	if (session_.rank() == 0)
		lead();
	follow();
	if (!team_.number || begun_ || word_.wanted > team_.number)
		return;
	/*
	 * Posted when the engine was the next team's already: it waits there for contributions of that team, which
	 * waits for us. Another configuration ends it.
	 */
	if (posted_ && posted_team_ != team_.number && tools::now_ns() - followed_ns_ > late_ns) {
		want_another("late");
		return;
	}
	try {
		configured_ = configured_ || configure();
		if (configured_ && !joined_ && !posted_) {
			tree_.join(members_, upper_, lower_);
			joined_ = true;
			word_.ready = team_.number;
			say();
		}
	} catch (const Failure &e) {
		want_another(e.what());
		return;
	}
	begun_ = joined_ && all_ready();
}

/* What a worker contributes. */
uint64_t Collective::share(int worker) const
{
	return mix(team_.number * 1000003 + uint64_t{index_} * 64 + static_cast<uint64_t>(worker) + 1);
}

/* Names team and collective; contributions with different ids do not meet. */
uint32_t Collective::id() const
{
	return static_cast<uint32_t>(team_.number * collectives_most + index_);
}

void Collective::post()
{
	descriptor_ = session_.collective();
	descriptor_.src_cq_hndl = source_.handle();
	descriptor_.ce_cmd = index_ % 2 ? GNI_FMA_CE_XOR : GNI_FMA_CE_IADD;
	descriptor_.ce_red_id = id();
	descriptor_.first_operand = share(session_.rank());
	const gni_return_t rc = GNI_PostFma(tree_.leaf(), &descriptor_);
	if (rc != GNI_RC_SUCCESS)
		throw Lost(format("collective: %s", tools::rc_name(rc).c_str()));
	posted_ = true;
	posted_team_ = team_.number;
	posted_ns_ = tools::now_ns();
}

void Collective::verify(const gni_ce_result_t &result) const
{
	uint64_t expected = 0;

	for (int worker = 0; worker < session_.ranks(); worker++)
		expected = index_ % 2 ? expected ^ share(worker) : expected + share(worker);
	if (result.result1 != expected)
		throw Failure(format("collective %u of team %" PRIu64 " gives 0x%" PRIx64 ", expected 0x%" PRIx64,
				     index_, team_.number, result.result1, expected));
}

/* The event comes when the result is there. */
bool Collective::finish()
{
	auto *result = session_.collective_result();
	gni_post_descriptor_t *done = nullptr;
	gni_cq_entry_t event = 0;

	gni_return_t rc = GNI_CqGetEvent(source_.handle(), &event);
	if (rc == GNI_RC_NOT_DONE) {
		if (tools::now_ns() - posted_ns_ > stuck_ns)
			throw Failure("no end of a collective; " + state());
		return false;
	}
	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		throw Lost(format("queue of collectives: %s", tools::rc_name(rc).c_str()));
	rc = GNI_GetCompleted(source_.handle(), event, &done);
	if ((rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR) || done != &descriptor_)
		throw Failure(format("GNI_GetCompleted of a collective: %s", tools::rc_name(rc).c_str()));
	if (GNI_CeCheckResult(result, sizeof(*result)) == GNI_RC_NOT_DONE)
		throw Failure("the event of a collective without a result; " + state());
	posted_ = false;
	const bool good = GNI_CE_RES_STATUS_OK(result);
	if (good != (rc == GNI_RC_SUCCESS))
		throw Failure(format("the event of a collective says %s, its result has status 0x%" PRIx64,
				     tools::rc_name(rc).c_str(), GNI_CE_RES_GET_STATUS(result)));
	if (posted_team_ != team_.number)
		return false; /* of a team that is over */
	if (!good) {
		want_another(tools::event_text(event));
		return false;
	}
	verify(*result);
	session_.counts["collectives"]++;
	if (++index_ == collectives_most)
		want_another("whole");
	return true;
}

bool Collective::step()
{
	const bool ended = posted_ && finish();

	look_around();
	if (begun_ && !posted_)
		post();
	return ended;
}

std::string Collective::state() const
{
	return format("team %" PRIu64 " %s%s%s, wanted %" PRIu64 ", ready for %" PRIu64 ", collective %u%s",
		      team_.number, configured_ ? "configured " : "", joined_ ? "joined " : "",
		      begun_ ? "begun" : "not begun", word_.wanted, word_.ready, index_,
		      posted_ ? format(" under way, team %" PRIu64, posted_team_).c_str() : "");
}

} // namespace chaos
