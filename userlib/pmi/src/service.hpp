// SPDX-License-Identifier: BSD-2-Clause
/** @file The key-value service of the launcher: a request line, an answer line. */
#pragma once

#include <optional>
#include <string>

namespace pmi
{

/** A connection; only one thread may use it at a time. */
class Service
{
public:
	Service() = default;
	Service(const Service &) = delete;
	Service &operator=(const Service &) = delete;
	~Service() { close(); }

	/** Connects and enters the job's space of keys; false with a debug line. */
	bool open(const std::string &path, const std::string &job);
	void close();

	/** Publishes. The value is the rest of a line: no newline in it. */
	bool put(const std::string &key, const std::string &value)
	{
		return ask("put " + key + " " + value).has_value();
	}

	/** The value of a key, waiting for it without limit. */
	std::optional<std::string> wait(const std::string &key);

	/** The value of a key if there is one; @p failed tells a lost service from a missing key. */
	std::optional<std::string> get(const std::string &key, bool &failed);

	bool del(const std::string &key) { return ask("del " + key).has_value(); }
	bool barrier(const std::string &name, int count);
	std::optional<long> add(const std::string &key, int n);

private:
	enum class Outcome { ok, refused, lost };

	std::optional<std::string> ask(const std::string &request);
	Outcome exchange(const std::string &request, std::string &answer);
	bool send(const std::string &line);
	bool receive(std::string &line);

	int fd_ = -1;
	std::string rest_;
};

} // namespace pmi
