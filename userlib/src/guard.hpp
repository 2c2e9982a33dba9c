// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Protects the library against misuse: threads that end in the middle of a call,
 * and threads that use one NIC handle at the same time.
 * None of it is on the data path.
 */
#ifndef UGNI_GUARD_HPP
#define UGNI_GUARD_HPP

#include "gni.hpp"

#include <pthread.h>

namespace ugni
{

/**
 * While it lives the thread is not cancelled, whatever kind of cancellation it has chosen: nothing is left half
 * done. A thread is cancelled where it sleeps, see Sleep.
 *
 * Asynchronous cancellation is not only disabled but deferred: a request that another thread has just sent arrives as a
 * signal, and the C library then looks at the type alone. The type comes first and goes back last: a request that has
 * come meanwhile is then answered by pthread_setcanceltype(). In pthread_setcancelstate() a thread ends, too, but glibc
 * 2.36 does not tell who joins it that it was cancelled.
 */
class Uncancelled
{
public:
	Uncancelled()
	{
		(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
	}
	~Uncancelled() { end(); }
	Uncancelled(const Uncancelled &) = delete;
	Uncancelled &operator=(const Uncancelled &) = delete;

	/** The work of the destructor, for callers that an exception leaves: the library's destructors are not run
	 * then. */
	void end() const
	{
		(void)pthread_setcancelstate(before_, nullptr);
		(void)pthread_setcanceltype(type_, nullptr);
	}
	int before() const { return before_; }

private:
	int before_ = PTHREAD_CANCEL_DISABLE;
	int type_ = PTHREAD_CANCEL_DEFERRED;
};

/**
 * Around one system call that may sleep: the thread may be cancelled there, at once and also if it has chosen
 * deferred cancellation, unless it has disabled cancellation. Holds no lock, leaves nothing half done.
 */
class Sleep
{
public:
	explicit Sleep(const Uncancelled &outer) : may_end_(outer.before() == PTHREAD_CANCEL_ENABLE)
	{
		if (!may_end_)
			return;
		(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
		(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	}
	~Sleep()
	{
		if (!may_end_)
			return;
		(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
	}
	Sleep(const Sleep &) = delete;
	Sleep &operator=(const Sleep &) = delete;

private:
	const bool may_end_;
};

/** Subjects of locks. A thread takes locks in this order only. */
enum class Subject {
	domain,      /* the attachments of a domain, by domain */
	msgq,        /* joining and leaving message queues, by NIC handle */
	control,     /* creation and destruction of what a NIC handle has, by NIC handle */
	collectives, /* those that wait, by NIC handle */
	unsettled,   /* messages that are tried again, by NIC handle */
	fork,        /* ranges that a child does not get; one lock */
	mailboxes,   /* memory of connections; one lock */
	ground,      /* address space; one lock */
	count
};

/**
 * Holds the lock of @subject of an object. The lock is no part of the object, so the object may be destroyed by
 * another thread while this one waits: look at it only afterwards.
 */
class Locked
{
public:
	Locked(Subject subject, const void *object);
	explicit Locked(Subject subject) : Locked(subject, nullptr) {}
	~Locked();
	Locked(const Locked &) = delete;
	Locked &operator=(const Locked &) = delete;

private:
	Uncancelled uncancelled_;
	pthread_mutex_t *lock_;
};

/** The lock of Subject::fork from before a fork until after it, in the parent. */
void fork_lock();
void fork_unlock();
/** Called once in a child: frees all locks, whichever threads held them in the parent. */
void locks_of_child();

} // namespace ugni

#endif
