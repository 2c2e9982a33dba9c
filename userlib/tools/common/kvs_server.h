// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Key-value store served by rank 0 over TCP, for jobs that no cluster tool started.
 */
#ifndef TOOLS_KVS_SERVER_H
#define TOOLS_KVS_SERVER_H

#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "kvs_line.h"

namespace tools
{

/** Serves "space", "put" and "get" of the line protocol, one thread per client, until it is destroyed. */
class KvsServer
{
public:
	/** Listens at "HOST:PORT". Throws UsageError, Failure. */
	explicit KvsServer(const std::string &address);
	KvsServer(const KvsServer &) = delete;
	KvsServer &operator=(const KvsServer &) = delete;
	~KvsServer();

private:
	void accept_loop();
	void serve(int fd);
	std::string answer(const std::string &request, std::string &space);
	std::string wait_for(const std::string &key, long timeout_ms);

	int listen_fd_ = -1;
	bool stop_ = false;
	std::mutex lock_;
	std::condition_variable changed_;
	std::map<std::string, std::string> values_;
	std::list<std::thread> threads_;
	std::thread acceptor_;
};

} // namespace tools

#endif // TOOLS_KVS_SERVER_H
