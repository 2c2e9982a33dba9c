// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "worker.h"

#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "collective.h"
#include "common/failure.h"
#include "mail.h"
#include "ping.h"
#include "session.h"
#include "traffic.h"

namespace chaos
{

volatile sig_atomic_t stop_asked, laps_asked, state_asked;

namespace
{

constexpr uint64_t refresh_ns = 200000000u;
constexpr double meet_seconds = 30;

/** Everything that one life has to do with one other worker. */
struct Other {
	Other(Session &session, int worker, uint64_t silence_ns)
		: traffic(session, worker), mail(session, worker, silence_ns)
	{
	}

	Traffic traffic;
	Mail mail;
	unsigned lap = 0;
};

/** One line of text, whole even if others write as well. */
void say(const std::string &text)
{
	const std::string line = text + "\n";
	if (write(STDOUT_FILENO, line.data(), line.size()) < 0)
		_exit(status_failed);
}

class Worker
{
public:
	Worker(const tools::Place &place, uint64_t life, tools::Kvs &kvs, uint64_t silence_ns)
		: session_(place, life, kvs), ping_(session_, place), collective_(session_, kvs),
		  random_(life * 1000003 + static_cast<uint64_t>(place.rank))
	{
		for (int worker = 0; worker < place.ranks; worker++)
			others_.push_back(std::make_unique<Other>(session_, worker, silence_ns));
	}

	void run()
	{
		say(tools::format("LIFE %d %" PRIu64 " pid %d", session_.rank(), session_.life(), int(getpid())));
		while (!stop_asked) {
			look_around();
			for (int worker = 0; worker < session_.ranks(); worker++)
				if (worker != session_.rank())
					step(worker);
			const int answered = ping_.step();
			if (answered >= 0)
				others_[static_cast<size_t>(answered)]->lap |= lap_ping;
			if (collective_.step())
				for (const auto &other : others_)
					other->lap |= lap_collective;
			session_.take_events();
			tell();
			/* the others of this machine want to get on as well */
			const timespec pause = {0, 200000};
			nanosleep(&pause, nullptr);
		}
		report();
	}

	void report() const
	{
		std::string text = tools::format("REPORT %d steps %" PRIu64, session_.rank(), steps_);
		for (const auto &[what, count] : session_.counts)
			text += tools::format("; %s %" PRIu64, what.c_str(), count);
		say(text);
	}

private:
	void step(int worker)
	{
		Other &other = *others_[static_cast<size_t>(worker)];

		other.lap |= other.traffic.step(random_);
		other.lap |= other.mail.step(random_);
		session_.take_events();
		steps_++;
	}

	void look_around()
	{
		if (tools::now_ns() - looked_ < refresh_ns)
			return;
		looked_ = tools::now_ns();
		for (int worker = 0; worker < session_.ranks(); worker++) {
			if (worker == session_.rank() || !session_.refresh(worker))
				continue;
			others_[static_cast<size_t>(worker)]->traffic.restarted();
			others_[static_cast<size_t>(worker)]->mail.restarted();
		}
	}

	void tell()
	{
		if (laps_asked != laps_begun_) {
			laps_begun_ = laps_asked;
			lap_open_ = true;
			for (const auto &other : others_)
				other->lap = 0;
		}
		bool whole = lap_open_;
		for (int worker = 0; worker < session_.ranks(); worker++)
			whole &= worker == session_.rank() || others_[static_cast<size_t>(worker)]->lap == lap_all;
		if (whole) {
			say(tools::format("LAP %d %d", session_.rank(), int(laps_begun_)));
			lap_open_ = false;
		}
		if (state_asked) {
			state_asked = 0;
			state();
		}
	}

	void state() const
	{
		say(tools::format("STATE %d life %" PRIu64 ", %" PRIu64 " steps, lap %d%s; %s; %s", session_.rank(),
				  session_.life(), steps_, int(laps_begun_), lap_open_ ? " open" : "",
				  ping_.state().c_str(), collective_.state().c_str()));
		for (int worker = 0; worker < session_.ranks(); worker++) {
			const Other &other = *others_[static_cast<size_t>(worker)];
			if (worker != session_.rank())
				say(tools::format("STATE %d lap bits 0x%02x; %s; %s", session_.rank(), other.lap,
						  other.traffic.state().c_str(), other.mail.state().c_str()));
		}
	}

	Session session_;
	Ping ping_;
	Collective collective_;
	std::vector<std::unique_ptr<Other>> others_;
	std::mt19937_64 random_;
	uint64_t looked_ = 0, steps_ = 0;
	int laps_begun_ = 0;
	bool lap_open_ = false;
};

} // namespace

int live(const tools::Place &place, uint64_t life, uint64_t silence_ns)
{
	try {
		tools::Kvs kvs(place, meet_seconds);
		std::unique_ptr<Worker> worker;
		try {
			worker = std::make_unique<Worker>(place, life, kvs, silence_ns);
		} catch (const tools::Failure &e) {
			/* while the NIC is away or is being reset there is nothing to attach to */
			throw Lost(e.what());
		}
		try {
			worker->run();
		} catch (const std::exception &) {
			worker->report();
			throw;
		}
		return status_done;
	} catch (const Lost &e) {
		say(tools::format("LOST %d %" PRIu64 ": %s", place.rank, life, e.what()));
		return status_lost;
	} catch (const std::exception &e) {
		say(tools::format("FAILED %d %" PRIu64 ": ", place.rank, life) + e.what());
		return status_failed;
	}
}

} // namespace chaos
