// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "datagrams.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace fake
{

void Datagrams::attach(int fd, uint32_t pe, uint32_t inst, uint32_t cookie, bool fast)
{
	std::lock_guard guard(mutex_);

	files_[fd] = {pe, inst, cookie, fast};
}

void Datagrams::detach(int fd)
{
	std::lock_guard guard(mutex_);
	auto own = [fd](const Datagram &d) { return d.fd == fd; };

	pending_.remove_if(own);
	done_.remove_if(own);
	files_.erase(fd);
	changed_.notify_all();
}

int Datagrams::call(int fd, unsigned long request, void *argument)
{
	std::unique_lock lock(mutex_);

	if (!files_.contains(fd))
		return -ENOTCONN;
	switch (request) {
	case KGNI_IOC_DGRAM_POST:
		return post(fd, *static_cast<kgni_dgram_post *>(argument));
	case KGNI_IOC_DGRAM_TEST:
		return test(fd, *static_cast<kgni_dgram_test *>(argument), lock);
	case KGNI_IOC_DGRAM_PROBE:
		return probe(fd, *static_cast<kgni_dgram_probe *>(argument), lock);
	case KGNI_IOC_DGRAM_CANCEL:
		return cancel(fd, *static_cast<kgni_dgram_cancel *>(argument));
	default:
		return -ENOTTY;
	}
}

/* A directed datagram and another one, which is directed back or a wildcard. */
bool Datagrams::meets(const Datagram &directed, const Datagram &other) const
{
	const File &from = files_.at(directed.fd);
	const File &to = files_.at(other.fd);

	if (&directed == &other || from.cookie != to.cookie || directed.post.flags & KGNI_DGRAM_WILDCARD ||
	    directed.post.pe != to.pe || directed.post.inst_id != to.inst || directed.state || other.state)
		return false;
	if (other.post.flags & KGNI_DGRAM_WILDCARD)
		return true;
	return other.post.pe == from.pe && other.post.inst_id == from.inst;
}

Datagrams::Datagram *Datagrams::partner(const Datagram &of)
{
	Datagram *wild = nullptr;

	for (Datagram &d : pending_) {
		if (!meets(of, d) && !meets(d, of))
			continue;
		if (!(d.post.flags & KGNI_DGRAM_WILDCARD))
			return &d;
		if (!wild)
			wild = &d;
	}
	return wild;
}

void Datagrams::take(Datagram &to, const Datagram &from)
{
	to.pe = files_.at(from.fd).pe;
	to.inst = files_.at(from.fd).inst;
	to.length = from.post.length;
	memcpy(to.data, from.post.data, sizeof(to.data));
}

void Datagrams::finish(Datagram &d, uint32_t state)
{
	d.state = state;
	auto at = std::find_if(pending_.begin(), pending_.end(), [&](const Datagram &e) { return &e == &d; });
	done_.splice(done_.end(), pending_, at);
	changed_.notify_all();
}

int Datagrams::post(int fd, const kgni_dgram_post &arg)
{
	auto own = [fd](const Datagram &d) { return d.fd == fd; };

	if (arg.length > KGNI_DGRAM_BYTES)
		return -E2BIG;
	if (find(fd, 0, arg.ep, 0) != pending_.end())
		return -EBUSY;
	if (static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(), own)) >= kLimit)
		return -ENOSPC;
	pending_.push_back({fd, arg, KGNI_DGRAM_PENDING, false, false, arg.pe, arg.inst_id, 0, {}});
	Datagram &d = pending_.back();
	Datagram *other = partner(d);
	if (!other)
		return 0;
	take(d, *other);
	take(*other, d);
	if (half_way_) {
		other->state = KGNI_DGRAM_REMOTE_DATA;
		half_way_ = false;
	} else {
		finish(*other, KGNI_DGRAM_COMPLETED);
	}
	finish(d, KGNI_DGRAM_COMPLETED);
	return 0;
}

void Datagrams::end_exchange(uint32_t state)
{
	std::lock_guard guard(mutex_);

	for (Datagram &d : pending_) {
		if (d.state == KGNI_DGRAM_REMOTE_DATA) {
			finish(d, d.cancelled ? KGNI_DGRAM_TERMINATED : state);
			return;
		}
	}
}

/* The end of pending_ stands for nothing found. */
Datagrams::Iterator Datagrams::find(int fd, uint32_t flags, uint64_t ep, uint64_t id)
{
	auto wanted = [&](const Datagram &d) { return d.fd == fd && !d.orphan && d.post.ep == ep; };
	auto d = std::find_if(done_.begin(), done_.end(), wanted);

	if (d == done_.end())
		d = std::find_if(pending_.begin(), pending_.end(), wanted);
	if (d == pending_.end())
		return d;
	if (flags & KGNI_DGRAM_ID && (!(d->post.flags & KGNI_DGRAM_ID) || d->post.id != id))
		return pending_.end();
	return d;
}

bool Datagrams::sleep(std::unique_lock<std::mutex> &lock, uint64_t timeout_ms)
{
	auto most = std::chrono::milliseconds(std::min<uint64_t>(timeout_ms, 20000));

	return changed_.wait_for(lock, most) == std::cv_status::no_timeout;
}

int Datagrams::test(int fd, kgni_dgram_test &arg, std::unique_lock<std::mutex> &lock)
{
	uint32_t round = files_.at(fd).round;

	for (;;) {
		auto d = find(fd, arg.flags, arg.ep, arg.id);
		if (d == pending_.end())
			return -ENOENT;
		bool final = d->state != KGNI_DGRAM_PENDING && d->state != KGNI_DGRAM_REMOTE_DATA;
		if (!final && arg.timeout_ms) {
			if (!sleep(lock, arg.timeout_ms))
				return -ETIMEDOUT;
			if (!files_.contains(fd) || files_.at(fd).round != round)
				return -ECANCELED;
			continue;
		}
		arg.state = d->state;
		if (!final && files_.at(fd).fast)
			arg.state = KGNI_DGRAM_PENDING;
		if (d->state == KGNI_DGRAM_COMPLETED) {
			arg.pe = d->pe;
			arg.inst_id = d->inst;
			arg.length = d->length;
			memcpy(arg.data, d->data, sizeof(arg.data));
		}
		if (final)
			done_.erase(d);
		return 0;
	}
}

int Datagrams::probe(int fd, kgni_dgram_probe &arg, std::unique_lock<std::mutex> &lock)
{
	uint32_t round = files_.at(fd).round;

	for (;;) {
		auto d = std::find_if(done_.begin(), done_.end(), [&](const Datagram &e) {
			return e.fd == fd && (!(arg.flags & KGNI_DGRAM_ID) || e.post.flags & KGNI_DGRAM_ID);
		});
		if (d != done_.end()) {
			arg.id = d->post.id;
			arg.pe = d->pe;
			arg.inst_id = d->inst;
			arg.state = d->state;
			if (d->orphan)
				done_.erase(d);
			return 0;
		}
		if (!arg.timeout_ms)
			return -ENOENT;
		if (!sleep(lock, arg.timeout_ms))
			return -ETIMEDOUT;
		if (!files_.contains(fd) || files_.at(fd).round != round)
			return -ECANCELED;
	}
}

int Datagrams::cancel(int fd, kgni_dgram_cancel &arg)
{
	bool release = arg.flags & KGNI_DGRAM_RELEASE;

	if (arg.flags & KGNI_DGRAM_ALL) {
		auto own = [fd](const Datagram &d) { return d.fd == fd; };
		pending_.remove_if(own);
		done_.remove_if(own);
		files_.at(fd).round++;
		changed_.notify_all();
		return 0;
	}
	auto d = find(fd, arg.flags, arg.ep, arg.id);
	bool final = d != pending_.end() && d->state != KGNI_DGRAM_PENDING && d->state != KGNI_DGRAM_REMOTE_DATA;
	if (d == pending_.end() || (final && d->cancelled && !release))
		return -ENOENT;
	d->orphan = release;
	arg.gone = release;
	if (final)
		return 0;
	d->cancelled = true;
	if (d->state == KGNI_DGRAM_REMOTE_DATA)
		return 0;
	if (d->post.flags & KGNI_DGRAM_WILDCARD) {
		arg.gone = 1;
		pending_.erase(d);
	} else {
		finish(*d, KGNI_DGRAM_TERMINATED);
	}
	return 0;
}

} // namespace fake
