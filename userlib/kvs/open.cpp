// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "client.hpp"
#include "directory.hpp"
#include "server.hpp"
#include "store.hpp"

namespace kvs
{

namespace
{

/** Rank 0 also serves. */
class TcpStore : public Client
{
public:
	TcpStore(std::unique_ptr<Server> server, Line line, const std::string &space, long limit_ms)
		: Client(std::move(line), space, limit_ms), server_(std::move(server))
	{
	}

	~TcpStore() override { hang_up(); } /* before the server waits for its clients */

private:
	std::unique_ptr<Server> server_;
};

std::unique_ptr<Store> open_tcp(const std::string &address, const std::string &space, int rank, long limit_ms)
{
	std::unique_ptr<Server> server;
	if (rank == 0)
		server = std::make_unique<Server>(listen_tcp(address));
	Line line(connect_tcp(address, limit_ms));
	return std::make_unique<TcpStore>(std::move(server), std::move(line), space, limit_ms);
}

} // namespace

std::unique_ptr<Store> open_store(const std::string &place, const std::string &space, int rank, long limit_ms)
{
	const size_t colon = place.find(':');
	const bool path = colon == std::string::npos || place[0] == '/';
	const std::string kind = path ? "unix" : place.substr(0, colon), rest = path ? place : place.substr(colon + 1);
	if (kind == "unix" && !rest.empty())
		return std::make_unique<Client>(Line(connect_unix(rest)), space, limit_ms);
	if (kind == "tcp" && !rest.empty())
		return open_tcp(rest, space, rank, limit_ms);
	if (kind == "dir" && !rest.empty())
		return std::make_unique<Directory>(rest, space);
	throw BadPlace("'" + place + "' is none of unix:PATH, tcp:HOST:PORT, dir:PATH");
}

} // namespace kvs
