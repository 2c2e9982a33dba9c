/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of the model. */
#ifndef ARIES_FABRIC_QUIET_THREAD_HPP
#define ARIES_FABRIC_QUIET_THREAD_HPP

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace aries
{

/**
 * Starts a thread that takes no signals, which are for the host's threads. The thread takes SIGBUS from its first visit
 * to memory on (admit_bus_errors()). Throws if no thread can be made.
 */
template <typename Body> std::thread quiet_thread(Body &&body)
{
	struct Quiet {
		Quiet() noexcept
		{
			sigset_t all;

			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, &before);
		}
		~Quiet() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

		sigset_t before;
	} quiet;

	return std::thread(std::forward<Body>(body));
}

} // namespace aries

#endif
