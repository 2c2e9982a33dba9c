// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The service itself, for jobs that no launcher started and for tests. scripts/opengni/kvs.py is the launcher's.
 */
#pragma once

#include "line.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace kvs
{

/** One thread per client, until it is destroyed. */
class Server
{
public:
	/** Sees each request first; what it returns is the answer, and an empty one ends the connection. */
	using Filter = std::function<std::optional<std::string>(const std::string &request)>;

	/** Owns @p fd, which listens. */
	explicit Server(int fd, Filter filter = {});
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	/** Returns when the clients have left: what they still ask for is answered first. */
	~Server();

	/** How many keys there are. */
	size_t keys();

private:
	struct Barrier {
		int count = 0, waiting = 0;
		unsigned long round = 0;
	};

	void accept_loop();
	void serve(int fd);
	std::string answer(const std::string &request, std::string &space);
	std::string get(const std::string &key, long wait_ms);
	std::string add(const std::string &key, long n);
	std::string barrier(const std::string &name, int count, long wait_ms);

	int fd_;
	Filter filter_;
	bool stop_ = false;
	std::mutex lock_;
	std::condition_variable changed_;
	std::map<std::string, std::string> values_;
	std::map<std::string, Barrier> barriers_;
	std::list<std::thread> threads_;
	std::thread acceptor_;
};

} // namespace kvs
