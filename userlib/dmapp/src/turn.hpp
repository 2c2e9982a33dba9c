// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file Whose turn it is: one thread at a time. A store gives it back, so a call costs one atomic operation. There is
 * one for the process, not one for each instance: whoever waits for it may find that the instance has ended.
 */
#pragma once

#include <atomic>

namespace dmapp
{

class Turn
{
public:
	void take()
	{
		if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
			wait();
	}
	void give() { taken_.store(false, std::memory_order_release); }

private:
	void wait();

	std::atomic<bool> taken_{false};
};

extern constinit Turn turn;

} // namespace dmapp
