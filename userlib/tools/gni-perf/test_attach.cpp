// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Memory that an attached, idle process costs the node, kernel side included.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

namespace
{

using tools::Failure;

constexpr int children = 24;
constexpr uint32_t queue_entries = 63; /* header page and one page of slots */
constexpr double queue_bytes = 8192;

double free_bytes()
{
	std::ifstream file("/proc/meminfo");
	std::string word;
	double kib = 0;
	while (file >> word)
		if (word == "MemFree:" && file >> kib)
			return kib * 1024;
	throw Failure("/proc/meminfo has no MemFree");
}

/* Waits for a byte, attaches, tells so, and sleeps until the writing end of @p end is closed. */
[[noreturn]] void child(const tools::Place &place, int n, int in, int out, int end)
{
	char byte = 1;
	if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
		_exit(1);
	try {
		auto domain = std::make_unique<tools::Domain>(0x1000u + static_cast<uint32_t>(n), place.cookie, 0,
							      place.device);
		tools::Queue queue(domain->nic(), queue_entries);
		tools::Endpoint endpoint(domain->nic(), queue.handle(), domain->pe(), 1);
		byte = 1;
		if (write(out, &byte, 1) == 1 && read(end, &byte, 1) == 0)
			_exit(0);
	} catch (const Failure &failure) {
		fprintf(stderr, "gni-perf: attach: %s\n", failure.what());
	}
	_exit(1);
}

void expect_bytes(int fd, int count)
{
	char byte;
	for (int n = 0; n < count; n++)
		if (read(fd, &byte, 1) != 1)
			throw Failure("an attached process ended early");
}

void send_bytes(int fd, int count)
{
	char byte = 1;
	for (int n = 0; n < count; n++)
		if (write(fd, &byte, 1) != 1)
			throw Failure("cannot write to a pipe");
}

} // namespace

void test_attach(Context &context)
{
	int in[2], out[2], end[2];
	if (pipe(in) != 0 || pipe(out) != 0 || pipe(end) != 0)
		throw Failure("no pipe");
	fflush(nullptr);
	pid_t pids[children];
	for (int n = 0; n < children; n++) {
		pids[n] = fork();
		if (pids[n] == 0) {
			close(in[1]);
			close(out[0]);
			close(end[1]);
			child(context.options.place, n, in[0], out[1], end[0]);
		}
	}
	close(in[0]);
	close(out[1]);
	close(end[0]);
	expect_bytes(out[0], children);
	usleep(200000);
	double before = free_bytes();
	send_bytes(in[1], children);
	expect_bytes(out[0], children);
	usleep(200000);
	double used = (before - free_bytes()) / children - queue_bytes;
	close(in[1]);
	close(end[1]);
	close(out[0]);
	for (pid_t pid : pids)
		if (pid > 0)
			waitpid(pid, nullptr, 0);

	Row row;
	row.test = "attach";
	row.size = used > 0 ? static_cast<uint64_t>(used) : 0;
	row.note = tools::format("guest memory of an attached, idle process beside its queue, mean of %d", children);
	context.report.add(row);
}

} // namespace perf
