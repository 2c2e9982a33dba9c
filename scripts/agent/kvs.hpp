// SPDX-License-Identifier: GPL-2.0-or-later
/** @file The key-value socket of the guest: lines go to the host, answers come back. */
#pragma once

#include "line.hpp"
#include "port.hpp"

#include <map>
#include <poll.h>
#include <string>
#include <vector>

namespace agent
{

/**
 * Listens on a unix socket and carries each request line to the host.
 *
 * All the meaning (spaces, waiting, barriers) is on the host: see
 * scripts/opengni/kvs.py.
 */
class KvsRelay
{
public:
	static constexpr size_t CONNECTIONS_MAX = 1024;

	/** @param path where the socket is made; missing directories are created */
	explicit KvsRelay(const std::string &path);
	~KvsRelay();
	KvsRelay(const KvsRelay &) = delete;
	KvsRelay &operator=(const KvsRelay &) = delete;

	void add_fds(std::vector<pollfd> &fds) const;
	void serve(const std::vector<pollfd> &fds, Port &port);
	/** The host's answer for connection @p id. */
	void reply(uint32_t id, std::string_view line);

private:
	struct Client {
		int fd;
		kvs::LineBuffer in;
	};

	void accept_one();
	bool read_from(uint32_t id, Client &client, Port &port);

	int listener_ = -1;
	uint32_t next_ = 1;
	std::map<uint32_t, Client> clients_;
};

/** The program gni-kvs. @return its exit status */
int kvs_main(int argc, char **argv);

} // namespace agent
