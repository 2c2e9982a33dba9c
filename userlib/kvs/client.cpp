// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "client.hpp"

#include <algorithm>
#include <charconv>

namespace kvs
{

namespace
{

/* "Without limit" for the service: eleven days. The launcher ends ranks whose peers have died. */
constexpr long forever_ms = 1000000000;

std::string wait_word(long wait_ms)
{
	return " " + std::to_string(wait_ms < 0 ? forever_ms : wait_ms);
}

bool is_ok(const std::string &answer)
{
	return answer == "ok" || answer.rfind("ok ", 0) == 0;
}

std::string rest_of(const std::string &answer)
{
	return answer.size() > 3 ? answer.substr(3) : "";
}

} // namespace

Client::Client(Line line, const std::string &space, long limit_ms) : line_(std::move(line)), limit_ms_(limit_ms)
{
	if (!space.empty())
		ask("space " + space, 0);
}

void Client::put(const std::string &key, const std::string &value)
{
	ask("put " + key + " " + value, 0);
}

std::optional<std::string> Client::get(const std::string &key, long wait_ms)
{
	const std::string answer = exchange("get " + key + wait_word(wait_ms), wait_ms);
	if (is_ok(answer))
		return rest_of(answer);
	if (answer.rfind("err timeout", 0) == 0)
		return std::nullopt;
	throw Error("key-value service refuses 'get " + key + "': " + answer.substr(0, 80));
}

long Client::add(const std::string &key, long n)
{
	const std::string sum = ask("add " + key + " " + std::to_string(n), 0);
	long value = 0;
	const auto [end, error] = std::from_chars(sum.data(), sum.data() + sum.size(), value);
	if (error != std::errc() || end != sum.data() + sum.size())
		throw Error("key-value service: '" + sum.substr(0, 40) + "' is no sum");
	return value;
}

void Client::del(const std::string &key)
{
	ask("del " + key, 0);
}

void Client::barrier(const std::string &name, int count, long wait_ms)
{
	ask("barrier " + name + " " + std::to_string(count) + wait_word(wait_ms), wait_ms);
}

std::string Client::ask(const std::string &request, long wait_ms)
{
	const std::string answer = exchange(request, wait_ms);
	if (!is_ok(answer))
		throw Error("key-value service refuses '" + request.substr(0, 60) + "': " + answer.substr(0, 80));
	return rest_of(answer);
}

std::string Client::exchange(const std::string &request, long wait_ms)
{
	const long limit = wait_ms < 0 || limit_ms_ < 0 ? forever : wait_ms + limit_ms_;
	const long end = now_ms() + limit;
	std::string answer;
	auto outcome = line_.send(request) ? Line::Outcome::line : Line::Outcome::gone;
	/* The answer to a request that was given up comes first, and belongs to nobody. */
	for (owed_++; owed_ && outcome == Line::Outcome::line; owed_ -= outcome == Line::Outcome::line)
		outcome = line_.receive(answer, limit < 0 ? forever : std::max(0L, end - now_ms()));
	if (outcome == Line::Outcome::gone)
		line_.close();
	if (outcome != Line::Outcome::line)
		throw Error("key-value service: no answer to '" + request.substr(0, 60) + "'");
	return answer;
}

} // namespace kvs
