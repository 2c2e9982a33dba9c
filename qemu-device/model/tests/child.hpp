/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that serve until they are killed. */
#ifndef ARIES_TESTS_CHILD_HPP
#define ARIES_TESTS_CHILD_HPP

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

/**
 * Starts a process and waits until it is ready. It dies with this one.
 * @body: called there with a function that it calls when it is ready; it must not return
 */
template <typename Body> pid_t start_child(Body &&body)
{
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body([&] {
			if (write(ready[1], "x", 1) != 1)
				_exit(1);
		});
		_exit(1);
	}
	char byte;

	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

inline void kill_child(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

} // namespace aries_test

#endif
