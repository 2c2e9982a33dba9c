// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The store behind a connection: a request line, an answer line. */
#pragma once

#include "store.hpp"

namespace kvs
{

class Client : public Store
{
public:
	/** @p limit_ms: how long an answer may take beyond what the request itself waits for. Throws Error. */
	Client(Line line, const std::string &space, long limit_ms);

	void put(const std::string &key, const std::string &value) override;
	std::optional<std::string> get(const std::string &key, long wait_ms) override;
	long add(const std::string &key, long n) override;
	void del(const std::string &key) override;
	void barrier(const std::string &name, int count, long wait_ms) override;
	void abandon() override { line_.abandon(); }

	/** What follows "ok" in the answer to any request, which may wait for @p wait_ms. Throws Error. */
	std::string ask(const std::string &request, long wait_ms);

protected:
	void hang_up() { line_.close(); }

private:
	std::string exchange(const std::string &request, long wait_ms);

	Line line_;
	long limit_ms_;
	unsigned owed_ = 0; /* answers that have not come yet */
};

} // namespace kvs
