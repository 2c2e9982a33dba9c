// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace kvs
{

namespace
{

/* Looks again, ever less often, until @p ready or for @p wait_ms. */
bool poll_until(const std::function<bool()> &ready, long wait_ms)
{
	const long start = now_ms();
	for (long pause_ns = 50000;; pause_ns = std::min(pause_ns + pause_ns / 4, 5000000L)) {
		if (ready())
			return true;
		if (wait_ms >= 0 && now_ms() - start >= wait_ms)
			return false;
		const timespec pause = {0, pause_ns};
		nanosleep(&pause, nullptr);
	}
}

/* How far the barriers of a name are. */
struct Round {
	long number = 0, waiting = 0;
};

Round round_of(const std::optional<std::string> &text)
{
	Round round;
	std::istringstream(text.value_or("0 0")) >> round.number >> round.waiting;
	return round;
}

std::string text_of(const Round &round)
{
	return std::to_string(round.number) + " " + std::to_string(round.waiting);
}

} // namespace

Directory::Directory(const std::string &path, const std::string &space) : dir_(path)
{
	if (!space.empty())
		dir_ += "/" + space;
	std::error_code error;
	std::filesystem::create_directories(dir_, error);
	if (error)
		throw BadPlace("cannot use directory " + dir_ + ": " + error.message());
}

void Directory::put(const std::string &key, const std::string &value)
{
	const std::string path = path_of(key), draft = path + "," + std::to_string(getpid());
	std::ofstream file(draft);
	file << value << '\n';
	file.close();
	if (!file || rename(draft.c_str(), path.c_str()) != 0)
		throw Error("cannot write " + path + ": " + errno_text(errno));
}

std::optional<std::string> Directory::read(const std::string &key) const
{
	std::ifstream file(path_of(key));
	std::string value;
	if (!file || !std::getline(file, value))
		return std::nullopt;
	return value;
}

std::optional<std::string> Directory::get(const std::string &key, long wait_ms)
{
	std::optional<std::string> value;
	poll_until([&] { return (value = read(key)).has_value(); }, wait_ms);
	return value;
}

long Directory::add(const std::string &key, long n)
{
	long sum = 0;
	alone([&] {
		std::istringstream(read(key).value_or("0")) >> sum;
		sum += n;
		put(key, std::to_string(sum));
	});
	return sum;
}

void Directory::del(const std::string &key)
{
	std::error_code ignored;
	std::filesystem::remove(path_of(key), ignored);
}

void Directory::barrier(const std::string &name, int count, long wait_ms)
{
	/* A comma is in no key. */
	const std::string key = "barrier," + name;
	long own = 0;
	alone([&] {
		Round round = round_of(read(key));
		own = round.number;
		if (++round.waiting == count)
			round = {round.number + 1, 0};
		put(key, text_of(round));
	});
	const auto over = [&] { return round_of(read(key)).number != own; };
	if (poll_until(over, wait_ms))
		return;
	bool late = false;
	long missing = 0;
	alone([&] {
		Round round = round_of(read(key));
		late = round.number == own;
		missing = count - round.waiting;
		if (late)
			put(key, text_of({own, round.waiting - 1}));
	});
	if (late)
		throw Error("timeout: " + std::to_string(missing) + " of " + std::to_string(count) +
			    " missing at barrier " + name);
}

void Directory::alone(const std::function<void()> &act) const
{
	const std::string path = dir_ + "/,lock";
	const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r = -1;
	while (fd >= 0 && (r = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
		;
	const int cause = errno;
	if (r != 0) {
		if (fd >= 0)
			close(fd);
		throw Error("cannot lock " + path + ": " + errno_text(cause));
	}
	/* By hand: a process that was forked meanwhile has the file open, too, and with it the lock. */
	const auto unlock = [fd] {
		flock(fd, LOCK_UN);
		close(fd);
	};
	try {
		act();
	} catch (...) {
		unlock();
		throw;
	}
	unlock();
}

std::string Directory::path_of(const std::string &key) const
{
	std::string name = key;
	std::replace(name.begin(), name.end(), '/', '+');
	return dir_ + "/" + name;
}

} // namespace kvs
