/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that serve until they are killed. */
#ifndef ARIES_TESTS_CHILD_HPP
#define ARIES_TESTS_CHILD_HPP

#include <cstdlib>
#include <cstring>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

/** Whether a thread of this process other than the caller does anything but wait in the kernel. */
inline bool others_run()
{
	DIR *const threads = opendir("/proc/self/task");
	bool run = false;

	assert_non_null(threads);
	while (const dirent *entry = readdir(threads)) {
		const int thread = atoi(entry->d_name);
		char text[512] = "";

		if (!thread || thread == gettid())
			continue;
		const int fd = openat(dirfd(threads), (std::string(entry->d_name) + "/stat").c_str(), O_RDONLY);

		if (fd < 0)
			continue;
		const ssize_t got = read(fd, text, sizeof(text) - 1);
		const char *const name_end = got > 0 ? strrchr(text, ')') : nullptr;

		close(fd);
		run |= name_end && name_end[2] != 'S';
	}
	closedir(threads);
	return run;
}

/**
 * fork() while all other threads wait in the kernel. A sanitizer's allocator is not made for fork(): a lock of it that
 * another thread has at that moment is never free again in the child.
 */
inline pid_t quiet_fork()
{
	while (others_run())
		usleep(1000);
	return fork();
}

/**
 * Starts a process and waits until it is ready. It dies with this one.
 * @body: called there with a function that it calls when it is ready; it must not return
 */
template <typename Body> pid_t start_child(Body &&body)
{
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	const pid_t pid = quiet_fork();

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
