// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The launcher's key-value service, in a process of its own so that a test may fork at any time. */
#pragma once

#include <string>
#include <sys/types.h>

/** Serves at a socket below /tmp until it is destroyed. */
class FakeService
{
public:
	FakeService();
	FakeService(const FakeService &) = delete;
	FakeService &operator=(const FakeService &) = delete;
	~FakeService();

	const std::string &path() const { return path_; }
	/** How many keys there are now. */
	int keys();
	/** From now on every request is answered with this line; empty: as it should be. */
	void answer_always(const std::string &line);
	/** Close the connection of the next client instead of its answer. */
	void hang_up();

private:
	std::string control(const std::string &request);

	std::string dir_, path_;
	pid_t pid_ = -1;
};
