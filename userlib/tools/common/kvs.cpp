// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * Stores that need no server: a directory; and the choice between all kinds.
 */
#include "kvs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "failure.h"
#include "kvs_line.h"
#include "kvs_server.h"

namespace tools
{

void Kvs::barrier(const std::string &name, int rank, int ranks, const Deadline &deadline)
{
	put(format("%s/%d", name.c_str(), rank), "in");
	for (int other = 0; other < ranks; other++)
		get(format("%s/%d", name.c_str(), other), deadline);
}

namespace
{

/** One file per key; a file appears under its name only when it is complete. */
class DirKvs : public Kvs
{
public:
	DirKvs(std::string dir, const std::string &job) : dir_(std::move(dir))
	{
		if (!job.empty())
			dir_ += "/" + job;
		std::error_code error;
		std::filesystem::create_directories(dir_, error);
		if (error)
			throw UsageError(format("cannot use directory %s: %s", dir_.c_str(), error.message().c_str()));
	}

	void put(const std::string &key, const std::string &value) override
	{
		std::string path = path_of(key);
		std::string draft = path + format(".%d", static_cast<int>(getpid()));
		std::ofstream file(draft);
		file << value << '\n';
		file.close();
		if (!file || rename(draft.c_str(), path.c_str()) != 0)
			throw Failure(format("cannot write %s: %s", path.c_str(), errno_text(errno)));
	}

	std::string get(const std::string &key, const Deadline &deadline) override
	{
		std::string path = path_of(key), value;
		auto ready = [&] {
			std::ifstream file(path);
			return file && std::getline(file, value);
		};
		if (!poll_until(ready, deadline, Patience::Mild))
			throw Failure(format("no rank wrote %s in time", path.c_str()));
		return value;
	}

private:
	std::string path_of(std::string key) const
	{
		for (char &c : key)
			if (c == '/')
				c = '+';
		return dir_ + "/" + key;
	}

	std::string dir_;
};

/** Rank 0 also serves. */
class TcpKvs : public Kvs
{
public:
	TcpKvs(const std::string &address, const std::string &job, int rank, const Deadline &deadline)
		: server_(rank == 0 ? std::make_unique<KvsServer>(address) : nullptr),
		  line_(connect_tcp(address, deadline), job)
	{
	}

	void put(const std::string &key, const std::string &value) override { line_.put(key, value); }
	std::string get(const std::string &key, const Deadline &deadline) override { return line_.get(key, deadline); }

private:
	std::unique_ptr<KvsServer> server_;
	LineKvs line_;
};

} // namespace

std::unique_ptr<Kvs> open_kvs(const std::string &spec, const std::string &job, int rank, const Deadline &deadline)
{
	size_t colon = spec.find(':');
	std::string kind = spec.substr(0, colon);
	std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);

	if (kind == "unix" && !rest.empty())
		return std::make_unique<LineKvs>(connect_unix(rest), job);
	if (kind == "tcp" && !rest.empty())
		return std::make_unique<TcpKvs>(rest, job, rank, deadline);
	if (kind == "dir" && !rest.empty())
		return std::make_unique<DirKvs>(rest, job);
	throw UsageError(format("'%s' is none of unix:PATH, tcp:HOST:PORT, dir:PATH", spec.c_str()));
}

} // namespace tools
