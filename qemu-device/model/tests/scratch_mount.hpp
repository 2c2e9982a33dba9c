/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small file systems that only the process that made them sees. */
#ifndef ARIES_TESTS_SCRATCH_MOUNT_HPP
#define ARIES_TESTS_SCRATCH_MOUNT_HPP

#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/child.hpp"
#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

/** Gives this process mounts of its own; with them what @flags say. False if this machine does not permit it. */
inline bool own_namespaces(int flags = 0)
{
	return (unshare(CLONE_NEWNS | flags) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS | flags) == 0) &&
	       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/** An empty file system of @type over folder @where; call own_namespaces() before. */
inline bool scratch_mount(const char *type, const char *where, const std::string &options)
{
	return mount(type, where, type, 0, options.c_str()) == 0;
}

/** What a test with mounts of its own has found, as the exit status of its process. */
enum Outcome { PASSED, NO_MOUNT, WRONG };

/** Runs @body, which returns an Outcome, in a process of its own; the test fails if that does not pass, or dies. */
inline void pass_in_child(Outcome (*body)())
{
	const pid_t child = quiet_fork();
	int status;

	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == NO_MOUNT) {
		print_message("mounts of a process's own are not permitted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

} // namespace aries_test

#endif
