// SPDX-License-Identifier: GPL-2.0-or-later
/** @file One command that the host has started in this guest. */
#pragma once

#include "port.hpp"

#include <poll.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace agent
{

/** What Exec asks for, checked. */
struct ExecRequest {
	bool tty = false;
	bool window = false;
	std::string cwd;
	std::vector<std::string> argv;
	std::vector<std::string> env;

	/** @return false when the payload is not well formed */
	bool parse(std::string_view payload);
};

/**
 * A running command: its pipes (or pseudo terminal) and its exit status.
 *
 * It is over when the process has been reaped and both outputs have ended; a
 * grandchild that keeps an output open without saying anything delays that no
 * longer than GRACE_MS.
 */
class Command
{
public:
	static constexpr int GRACE_MS = 500;

	/** Start it. When that fails ok() is false and error() says why. */
	Command(uint32_t id, const ExecRequest &request);
	~Command();
	Command(const Command &) = delete;
	Command &operator=(const Command &) = delete;

	uint32_t id() const { return id_; }
	pid_t pid() const { return pid_; }
	bool ok() const { return pid_ > 0; }
	const std::string &error() const { return error_; }

	/** Add what to poll for; @p may_read is false while the port is congested. */
	void add_fds(std::vector<pollfd> &fds, bool may_read);
	/** Handle what poll found. */
	void serve(const std::vector<pollfd> &fds, Port &port);

	/** Input for the command; @p port is told when it has taken some. */
	void stdin_data(std::string_view data, Port &port);
	/** The reader of its output has taken so many bytes. */
	void output_taken(uint32_t bytes) { room_ += bytes; }
	/** To its process group. What SIGKILL ends is not held back by its reader any more. */
	void signal(int number);
	void resize(unsigned int rows, unsigned int columns) const;

	/** The process was reaped with this wait status. */
	void reaped(int status);
	bool finished() const;
	/** Milliseconds until finished() may change without an event; -1 for none. */
	int wait_ms() const;
	void report(Port &port) const;

private:
	void start_pipes(const ExecRequest &request);
	void start_tty(const ExecRequest &request);
	void forward(int &fd, Kind kind, Port &port);
	void write_stdin(Port &port);
	void taken(size_t bytes, Port &port);

	uint32_t id_;
	pid_t pid_ = -1;
	std::string error_;
	int in_ = -1, out_ = -1, err_ = -1;
	bool tty_ = false;
	bool eof_ = false;
	std::string pending_;
	uint32_t taken_ = 0;
	bool window_ = false;
	int64_t room_ = OUTPUT_WINDOW;
	int status_ = 0;
	bool reaped_ = false;
	bool held_ = false; /* what it says is not read for now */
	/** When an output was read last, or held back last. */
	int64_t quiet_since_ = 0;
};

} // namespace agent
