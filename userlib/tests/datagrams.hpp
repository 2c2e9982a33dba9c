// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The driver's part of datagrams in a few lines, for tests of the library: all
 * open files in one place, exchanges are complete at once.
 */
#ifndef UGNI_TESTS_DATAGRAMS_HPP
#define UGNI_TESTS_DATAGRAMS_HPP

#include "uapi/kgni_abi.h"

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace fake
{

class Datagrams
{
public:
	static constexpr size_t kLimit = 8; /* of one file */

	void attach(int fd, uint32_t pe, uint32_t inst, uint32_t cookie, bool fast);
	void detach(int fd);
	static bool answers(unsigned long request)
	{
		return request >= KGNI_IOC_DGRAM_POST && request <= KGNI_IOC_DGRAM_CANCEL;
	}
	/** Handles those requests. Return: 0 or -errno. */
	int call(int fd, unsigned long request, void *argument);
	/** The next exchange stops half way: that datagram is in REMOTE_DATA until end_exchange(). */
	void stop_half_way() { half_way_ = true; }
	void end_exchange(uint32_t state);

private:
	struct File {
		uint32_t pe, inst, cookie;
		bool fast;
		uint32_t round = 0;
	};
	struct Datagram {
		int fd;
		kgni_dgram_post post;
		uint32_t state;
		bool orphan;
		bool cancelled;
		uint32_t pe, inst, length;
		uint8_t data[KGNI_DGRAM_BYTES];
	};
	using Iterator = std::list<Datagram>::iterator;

	int post(int fd, const kgni_dgram_post &arg);
	int test(int fd, kgni_dgram_test &arg, std::unique_lock<std::mutex> &lock);
	int probe(int fd, kgni_dgram_probe &arg, std::unique_lock<std::mutex> &lock);
	int cancel(int fd, kgni_dgram_cancel &arg);
	Iterator find(int fd, uint32_t flags, uint64_t ep, uint64_t id);
	Datagram *partner(const Datagram &of);
	bool meets(const Datagram &directed, const Datagram &other) const;
	void take(Datagram &to, const Datagram &from);
	void finish(Datagram &d, uint32_t state);
	/** Return: whether to look again. */
	bool sleep(std::unique_lock<std::mutex> &lock, uint64_t timeout_ms);

	std::mutex mutex_; /* everything below */
	std::condition_variable changed_;
	std::map<int, File> files_;
	std::list<Datagram> pending_;
	std::list<Datagram> done_;
	bool half_way_ = false;
};

} // namespace fake

#endif
