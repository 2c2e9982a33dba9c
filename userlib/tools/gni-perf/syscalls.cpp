// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "syscalls.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/failure.h"

namespace perf
{

namespace
{

using tools::Failure;

/* A call that nothing between them makes; its first argument tells which of the two it is. */
constexpr long marker = SYS_getpgid;
constexpr uint64_t begin_mark = 0x7ffffff1, end_mark = 0x7ffffff2;

void begin()
{
	syscall(marker, begin_mark);
}

void end()
{
	syscall(marker, end_mark);
}

[[noreturn]] void child(const std::function<void(void (*)(), void (*)())> &body)
{
	try {
		if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) || raise(SIGSTOP))
			_exit(2);
		body(begin, end);
		_exit(0);
	} catch (const Failure &failure) {
		fprintf(stderr, "gni-perf: system calls: %s\n", failure.what());
	}
	_exit(1);
}

/* Lets the child run to its next stop; false when it has ended. */
bool go_on(pid_t pid, int signal, int &status)
{
	if (ptrace(PTRACE_SYSCALL, pid, nullptr, signal) || waitpid(pid, &status, 0) != pid)
		throw Failure("a child process cannot be traced");
	return WIFSTOPPED(status);
}

unsigned follow(pid_t pid, int &status)
{
	unsigned calls = 0;
	bool counting = false;
	for (int signal = 0; go_on(pid, signal, status);) {
		signal = WSTOPSIG(status);
		if (signal != (SIGTRAP | 0x80))
			continue;
		signal = 0;
		__ptrace_syscall_info info = {};
		if (ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), pid, sizeof(info), &info) <= 0)
			throw Failure("the kernel does not tell a traced process's system calls");
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == static_cast<uint64_t>(marker) && info.entry.args[0] == begin_mark)
			counting = true;
		else if (info.entry.nr == static_cast<uint64_t>(marker) && info.entry.args[0] == end_mark)
			counting = false;
		else
			calls += counting;
	}
	return calls;
}

} // namespace

unsigned count_syscalls(const std::function<void(void (*)(), void (*)())> &body)
{
	int status = 0;
	fflush(nullptr);
	const pid_t pid = fork();
	if (pid == 0)
		child(body);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		throw Failure("no child process to be traced");
	ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	const unsigned calls = follow(pid, status);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		throw Failure("a child process whose system calls were counted failed");
	return calls;
}

} // namespace perf
