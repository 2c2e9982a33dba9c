// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file This process's place in its job, from the first Init to the last Finalize. */
#pragma once

#include "environment.hpp"
#include "pmi.h"
#include "store.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pmi
{

/** Limits of the interface; with the NUL. */
constexpr size_t key_max = PMI2_MAX_KEYLEN, value_max = PMI2_MAX_VALLEN, name_max = 129;

/**
 * What all functions share. Methods want the lock held (enter()) and an open session, but for init() and finalize().
 * A job of one needs no service: its keys are in a map.
 */
class Session
{
public:
	/** The one of this process; lives until exec. A child of fork() has a new one, with a lock that nobody holds.
	 */
	static Session &get();
	/** In a child, for its parent's: files of the store are closed, nothing else is looked at. */
	void abandon();

	int init();
	int finalize();
	/** Whether Init has been called in this process (a forked child has to do so itself). */
	bool open() const;
	const Place &place() const { return place_; }
	std::mutex &lock() { return lock_; }

	/** Keys of the service; @p key is a word of it. PMI_SUCCESS, PMI_FAIL, and PMI_ERR_INVALID_KEY of get(). */
	int put(const std::string &key, const std::string &value);
	int get(const std::string &key, std::string &value, bool wait);
	int del(const std::string &key);
	int barrier();
	/** Numbers that no other call in the job has got. */
	int ticket(const std::string &key, long &number);

	/** Every rank's bytes, in the order of ranks. */
	int gather(const std::string &mine, std::vector<std::string> &all);
	/** The bytes of rank 0, which all others leave empty. */
	int broadcast(std::string &bytes);

private:
	/** Runs @p act with the store; PMI_FAIL with a debug line if that says Error. */
	template <typename Act> int with_store(Act &&act);
	int put_bytes(const std::string &key, const std::string &bytes);
	int get_bytes(const std::string &key, std::string &bytes);
	int drop_previous();

	std::mutex lock_;
	int users_ = 0;
	pid_t pid_ = 0;
	Place place_;
	std::unique_ptr<kvs::Store> store_;      /* none in a job of one */
	std::map<std::string, std::string> own_; /* keys of a job of one */
	unsigned long round_ = 0;                /* of gather() and broadcast(): the same in all ranks */
	std::vector<std::string> put_now_, put_before_;
};

/**
 * While it lives the thread is not cancelled, whatever kind of cancellation it has chosen. All functions that may wait
 * have one: a rank that left a barrier or an exchange half way would be out of step with the others.
 */
class Uncancelled
{
public:
	Uncancelled()
	{
		(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
	}
	~Uncancelled() noexcept(false) // a request that has come meanwhile may be answered here
	{
		(void)pthread_setcancelstate(state_, nullptr);
		(void)pthread_setcanceltype(type_, nullptr);
	}
	Uncancelled(const Uncancelled &) = delete;
	Uncancelled &operator=(const Uncancelled &) = delete;

private:
	int state_ = PTHREAD_CANCEL_ENABLE, type_ = PTHREAD_CANCEL_DEFERRED;
};

/** Runs @p body with the lock held in an open session; PMI_ERR_INIT, PMI_ERR_NOMEM where there is none of either. */
template <typename Body> int with_session(Body &&body)
{
	const Uncancelled whole;
	try {
		Session &session = Session::get();
		const std::lock_guard guard(session.lock());
		return session.open() ? body(session) : PMI_ERR_INIT;
	} catch (const std::bad_alloc &) {
		return PMI_ERR_NOMEM;
	} catch (...) {
		return PMI_FAIL;
	}
}

/** Copies a text with its NUL into room of @p length bytes, or PMI_ERR_INVALID_LENGTH. */
int copy_text(const std::string &text, char *to, int length);

/** PMI_SUCCESS, or why a key or a value is none. */
int check_key(const char *key);
int check_value(const char *value);

} // namespace pmi
