// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file A store without a server: files of a directory that all ranks see. */
#pragma once

#include "store.hpp"

#include <functional>

namespace kvs
{

/** One file per key; a file appears under its name only when it is complete. */
class Directory : public Store
{
public:
	/** Makes the directory if it is missing. Throws BadPlace. */
	Directory(const std::string &path, const std::string &space);

	void put(const std::string &key, const std::string &value) override;
	std::optional<std::string> get(const std::string &key, long wait_ms) override;
	long add(const std::string &key, long n) override;
	void del(const std::string &key) override;
	void barrier(const std::string &name, int count, long wait_ms) override;
	void abandon() override {}

private:
	/** Runs @p act while no other process is in it. */
	void alone(const std::function<void()> &act) const;
	std::string path_of(const std::string &key) const;
	std::optional<std::string> read(const std::string &key) const;

	std::string dir_;
};

} // namespace kvs
