// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "server.hpp"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kvs
{

namespace
{

constexpr long default_ms = 60000; /* of get and barrier */
constexpr size_t word_max = 128;

bool is_word(std::string_view text)
{
	constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/-";
	return !text.empty() && text.size() <= word_max && text.find_first_not_of(letters) == text.npos;
}

/* The numbers after verb and key; none if there are too few, too many or other words. */
std::optional<std::vector<long>> numbers(std::istringstream &words, size_t least, size_t most)
{
	std::vector<long> all;
	for (long n; words >> n;)
		all.push_back(n);
	if (!words.eof() || all.size() < least || all.size() > most)
		return std::nullopt;
	return all;
}

} // namespace

Server::Server(int fd, Filter filter) : fd_(fd), filter_(std::move(filter))
{
	acceptor_ = std::thread([this] { accept_loop(); });
}

Server::~Server()
{
	{
		const std::lock_guard guard(lock_);
		stop_ = true;
		shutdown(fd_, SHUT_RDWR);
	}
	acceptor_.join();
	for (std::thread &thread : threads_)
		thread.join();
	close(fd_);
}

size_t Server::keys()
{
	const std::lock_guard guard(lock_);
	return values_.size();
}

void Server::accept_loop()
{
	for (;;) {
		const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
		const std::lock_guard guard(lock_);
		if (fd >= 0 && stop_)
			close(fd);
		if (stop_)
			return;
		if (fd >= 0)
			threads_.emplace_back([this, fd] { serve(fd); });
	}
}

void Server::serve(int fd)
{
	Line line(fd);
	std::string request, space = "default";
	while (line.receive(request, -1) == Line::Outcome::line) {
		const auto told = filter_ ? filter_(request) : std::nullopt;
		const std::string reply = told ? *told : answer(request, space);
		if (reply.empty() || !line.send(reply))
			break;
	}
}

std::string Server::answer(const std::string &request, std::string &space)
{
	std::istringstream words(request);
	std::string verb, key;
	words >> verb >> key;
	if (!is_word(key))
		return "err '" + key.substr(0, 40) + "' is not a name of 1 to 128 letters, digits and ._:/-";
	const std::string full = space + " " + key;
	if (verb == "put" && words.get() == ' ') {
		std::string value;
		std::getline(words, value);
		const std::lock_guard guard(lock_);
		values_[full] = value;
		changed_.notify_all();
		return "ok";
	}
	const auto n = numbers(words, verb == "add" || verb == "barrier", verb == "barrier" ? 2 : 1);
	if (verb == "get" && n)
		return get(full, n->empty() ? default_ms : n->front());
	if (verb == "barrier" && n)
		return barrier(full, static_cast<int>(n->front()), n->size() > 1 ? n->back() : default_ms);
	if (verb == "add" && n)
		return add(full, n->front());
	if (verb == "space" && n && n->empty()) {
		space = key;
		return "ok";
	}
	if (verb == "del" && n && n->empty()) {
		const std::lock_guard guard(lock_);
		values_.erase(full);
		return "ok";
	}
	return "err request not understood: " + request.substr(0, 80);
}

std::string Server::get(const std::string &key, long wait_ms)
{
	std::unique_lock guard(lock_);
	const auto there = [&] { return values_.count(key) != 0; };
	if (!changed_.wait_for(guard, std::chrono::milliseconds(wait_ms), there))
		return "err timeout";
	return "ok " + values_[key];
}

std::string Server::add(const std::string &key, long n)
{
	const std::lock_guard guard(lock_);
	const std::string sum = std::to_string(strtol(values_[key].c_str(), nullptr, 10) + n);
	values_[key] = sum;
	changed_.notify_all();
	return "ok " + sum;
}

std::string Server::barrier(const std::string &name, int count, long wait_ms)
{
	std::unique_lock guard(lock_);
	Barrier &barrier = barriers_[name];
	if (!barrier.waiting)
		barrier.count = count;
	if (count < 1 || barrier.count != count)
		return "err a barrier of " + std::to_string(count) + ", others say " + std::to_string(barrier.count);
	const unsigned long round = barrier.round;
	if (++barrier.waiting == count) {
		barrier.waiting = 0;
		barrier.round++;
		changed_.notify_all();
		return "ok";
	}
	const auto over = [&] { return barrier.round != round; };
	if (changed_.wait_for(guard, std::chrono::milliseconds(wait_ms), over))
		return "ok";
	return "err timeout: " + std::to_string(count - barrier.waiting--) + " of " + std::to_string(count) +
	       " missing";
}

} // namespace kvs
