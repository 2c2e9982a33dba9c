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
/* Locks that the forking thread holds. */
constinit pthread_mutex_t *forking = nullptr;

size_t number(const void *object)
{
	/* Objects are powers of two in size, from 64 bytes on. */
	const auto address = reinterpret_cast<uintptr_t>(object);

	return (address >> 6 ^ address >> 12) % kLocks;
}

pthread_mutex_t *lock_of(Subject subject, const void *object)
{
	Locks *all = locks.get();

	if (!all)
		all = &last_resort;
	return &all->of[static_cast<size_t>(subject)][number(object)];
}

} // namespace

Locked::Locked(Subject subject, const void *object) : lock_(lock_of(subject, object))
{
	(void)pthread_mutex_lock(lock_);
}

Locked::~Locked()
{
	(void)pthread_mutex_unlock(lock_);
}

void fork_lock()
{
	pthread_mutex_t *lock = lock_of(Subject::fork, nullptr);

	(void)pthread_mutex_lock(lock);
	forking = lock;
}

void fork_unlock()
{
	(void)pthread_mutex_unlock(forking);
}

/* The kernel has wiped the others. */
void locks_of_child()
{
	last_resort = {};
}

} // namespace ugni
