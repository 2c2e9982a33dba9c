// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-chaos: traffic of all kinds between the ranks of a job while somebody breaks things
 * (selftests/lib/gnitest/chaos.py). Each rank is a process that has nothing of the NIC and a child that has: if that is
 * killed or loses the NIC, the next one begins.
 */
#include <execinfo.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"
#include "common/place.h"
#include "worker.h"

namespace
{

volatile sig_atomic_t child;

void on_stop(int)
{
	chaos::stop_asked = 1;
}

void on_lap(int)
{
	chaos::laps_asked = chaos::laps_asked + 1;
}

/* Asked once more before it has told: where it is then, is what one wants to know. */
void on_state(int)
{
	if (chaos::state_asked) {
		void *frames[32];
		backtrace_symbols_fd(frames, backtrace(frames, 32), STDOUT_FILENO);
	}
	chaos::state_asked = 1;
}

/* A child that begins later is in the same lap as the others. */
void handle_signals()
{
	void *frame;
	backtrace(&frame, 1); /* loads what it needs now, not in the handler */
	signal(SIGTERM, on_stop);
	signal(SIGUSR1, on_lap);
	signal(SIGUSR2, on_state);
}

/** What ends a life without being a mistake: somebody killed it, or its mappings of the NIC went away. */
bool may_end(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGBUS;
	return WEXITSTATUS(status) == chaos::status_lost;
}

int lives(const tools::Place &place, uint64_t silence_ns)
{
	for (uint64_t life = 1; !chaos::stop_asked; life++) {
		child = fork();
		if (child < 0)
			throw tools::Failure(tools::format("fork: %s", tools::errno_text(errno)));
		if (!child) {
			prctl(PR_SET_NAME, "gni-chaos-life"); /* for killall */
			_exit(chaos::live(place, life, silence_ns));
		}
		int status = 0;
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status) == chaos::status_done)
			return 0;
		printf("ENDED %d %" PRIu64 " by %s %d\n", place.rank, life, WIFSIGNALED(status) ? "signal" : "status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		fflush(stdout);
		if (!may_end(status))
			return 1;
		const timespec pause = {0, 100000000};
		nanosleep(&pause, nullptr);
	}
	return 0;
}

constexpr uint64_t ns_of_second = 1000000000u;
constexpr uint64_t silence_most_s = 3600;

constexpr const char *about =
	"A rank of the traffic that scripts/chaos breaks things under: puts, gets, atomics, messages and\n"
	"collectives whose content is checked. It goes on after a loss of the NIC, and ends at SIGTERM.";

constexpr const char *footer =
	"Environment, set by the cluster tool: OPENGNI_KVS, OPENGNI_JOB, OPENGNI_RANK,\n"
	"OPENGNI_RANKS, OPENGNI_COOKIE.\n"
	"\n"
	"Exit status: 0 nothing was lost, 1 something was, 2 the command line or the environment is wrong.";

/* Whether help or the version was asked for, and has been printed; otherwise @p silence_ns is what was chosen. */
bool only_told(int argc, char **argv, uint64_t *silence_ns)
{
	tools::CommandLine line("gni-chaos", about, {}, footer);
	uint64_t seconds = chaos::silence_s;

	line.number({"--silence", "S",
		     "gives up a connection in which nothing has come for S seconds (5); choose more than a fault\n"
		     "stops all traffic for, or both ends give up"},
		    seconds, silence_most_s);
	const bool told = !line.parse(argc, argv);
	*silence_ns = seconds * ns_of_second;
	return told;
}

} // namespace

int main(int argc, char **argv)
{
	tools::Place place;
	uint64_t silence_ns;

	try {
		if (only_told(argc, argv, &silence_ns))
			return tools::finish("gni-chaos", 0);
		place = tools::place_from_environment();
		tools::check_place(place, false);
		handle_signals();
		return tools::finish("gni-chaos", lives(place, silence_ns));
	} catch (const tools::UsageError &e) {
		fprintf(stderr, "gni-chaos: %s\n", e.what());
		return chaos::status_usage;
	} catch (const std::exception &e) {
		fprintf(stderr, "gni-chaos: %s\n", e.what());
		return chaos::status_failed;
	}
}
