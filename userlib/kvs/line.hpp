// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The lines of the key-value service, and the sockets that carry them. */
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvs
{

/** Longest line, without its newline. */
constexpr size_t line_max = 65536;

/** What went wrong, in words. */
class Error : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/** The text does not say where a service is. */
class BadPlace : public Error
{
public:
	using Error::Error;
};

/** Cuts what has come into lines. */
class LineBuffer
{
public:
	void append(std::string_view bytes) { bytes_.append(bytes); }

	/** The next whole line, without its newline. */
	std::optional<std::string> next();

	/** Whether a line is longer than line_max: its end does not matter any more. */
	bool too_long() const { return bytes_.size() > line_max && bytes_.find('\n') == std::string::npos; }

	void clear() { bytes_.clear(); }

private:
	std::string bytes_;
};

/** Owns a connected stream socket. */
class Line
{
public:
	enum class Outcome { line, late, gone };

	explicit Line(int fd = -1) : fd_(fd) {}
	Line(Line &&other) noexcept : fd_(other.fd_), buffer_(std::move(other.buffer_)) { other.fd_ = -1; }
	Line &operator=(Line &&other) noexcept;
	Line(const Line &) = delete;
	Line &operator=(const Line &) = delete;
	~Line() { close(); }

	void close();
	/** In a child of fork(): closes the socket and changes nothing. */
	void abandon() const;

	/** Sends one line; false when the peer is gone. */
	bool send(const std::string &line);

	/** Receives one line, waiting at most @p limit_ms (-1: without limit). A line that is too long is "gone". */
	Outcome receive(std::string &line, long limit_ms);

private:
	int fd_;
	LineBuffer buffer_;
};

/** Connects to, or listens at, a unix stream socket; the descriptor. Throw Error. */
int connect_unix(const std::string &path);
int listen_unix(const std::string &path, bool nonblocking);

/** The same for "HOST:PORT". Connecting is tried again for @p limit_ms: the listener may come later. Throw Error. */
int connect_tcp(const std::string &address, long limit_ms);
int listen_tcp(const std::string &address);

/** Text of an errno value; may be called by several threads. */
std::string errno_text(int error);

/** Milliseconds of a clock that only goes on. */
long now_ms();

} // namespace kvs
