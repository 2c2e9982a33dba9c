// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "guard.hpp"
#include "wiped.hpp"

#include <cstdint>

namespace ugni
{

namespace
{

constexpr size_t kSubjects = static_cast<size_t>(Subject::count);
constexpr size_t kLocks = 64; /* of each subject; objects share them */

struct Locks {
	pthread_mutex_t of[kSubjects][kLocks];
};

constinit Wiped<Locks> locks;
/* Without memory for a page there is little left to protect. */
constinit Locks last_resort{};

size_t number(const void *object)
{
	/* Objects are powers of two in size, from 64 bytes on. */
	const auto address = reinterpret_cast<uintptr_t>(object);

	return (address >> 6 ^ address >> 12) % kLocks;
}

} // namespace

Locked::Locked(Subject subject, const void *object)
{
	Locks *all = locks.get();

	if (!all)
		all = &last_resort;
	lock_ = &all->of[static_cast<size_t>(subject)][number(object)];
	(void)pthread_mutex_lock(lock_);
}

Locked::~Locked()
{
	(void)pthread_mutex_unlock(lock_);
}

} // namespace ugni
