// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Client of the line protocol of the control channel: one request line, one answer line.
 */
#ifndef TOOLS_KVS_LINE_H
#define TOOLS_KVS_LINE_H

#include <string>

#include "kvs.h"

namespace tools
{

/** Owns a connected stream socket. */
class LineSocket
{
public:
	explicit LineSocket(int fd) : fd_(fd) {}
	LineSocket(LineSocket &&other) noexcept : fd_(other.fd_), rest_(std::move(other.rest_)) { other.fd_ = -1; }
	LineSocket(const LineSocket &) = delete;
	LineSocket &operator=(const LineSocket &) = delete;
	~LineSocket();

	/** Sends one line; false when the peer is gone. */
	bool send_line(const std::string &line);

	/** Receives one line; false when the peer is gone or @p timeout_ms (-1: none) passed. */
	bool receive_line(std::string &line, int timeout_ms);

private:
	int fd_;
	std::string rest_;
};

/** Connects to a unix stream socket. Throws Failure. */
LineSocket connect_unix(const std::string &path);

/** Connects to "HOST:PORT", retrying until the deadline. Throws UsageError, Failure. */
LineSocket connect_tcp(const std::string &address, const Deadline &deadline);

/** The store behind such a connection. Answers come in the order of the requests. */
class LineKvs : public Kvs
{
public:
	LineKvs(LineSocket socket, const std::string &job);
	void put(const std::string &key, const std::string &value) override;
	std::string get(const std::string &key, const Deadline &deadline) override;

private:
	std::string ask(const std::string &request, int timeout_ms);

	LineSocket socket_;
	unsigned owed_ = 0; /* answers that have not come yet */
};

} // namespace tools

#endif // TOOLS_KVS_LINE_H
