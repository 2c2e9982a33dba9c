// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "model_errors.hpp"
#include "model_node.hpp"

#include "gni_pub.h"

#include <cerrno>
#include <unistd.h>

namespace model
{

int ErrorEvents::subscribe(int fd, kgni_err_subscribe *s, const std::map<uint32_t, uint8_t> &tags)
{
	std::lock_guard guard(mutex_);
	auto tag = tags.find(s->cookie);

	if (!(s->flags & KGNI_ERR_ALL)) {
		if (tag == tags.end())
			return -ENOENT;
		if (s->ptag != GNI_FIND_ALLOC_PTAG && s->ptag != tag->second)
			return -EACCES;
		s->ptag = tag->second;
	}
	subscriptions_[fd] = {s->mask, s->ptag, s->entries ? s->entries : 64, 0, 0, {}};
	return 0;
}

/* Takes all events of the NIC; false if there was none. */
bool ErrorEvents::drain()
{
	bool any = false;

	for (kgni_err_event e{}; node_.take_error(&e); any = true) {
		for (auto &[fd, s] : subscriptions_) {
			if (!(s.mask & e.category) || (s.ptag && s.ptag != e.ptag))
				continue;
			e.serial = ++s.serial;
			if (s.events.size() < s.entries)
				s.events.push_back(e);
			else
				s.lost++;
		}
	}
	return any;
}

bool ErrorEvents::filled(int fd, uint32_t wanted)
{
	std::lock_guard guard(mutex_);

	(void)drain();
	return subscriptions_.at(fd).events.size() >= wanted;
}

int ErrorEvents::read(int fd, kgni_err_read *r)
{
	auto *out = reinterpret_cast<kgni_err_event *>(r->events); // NOLINT(performance-no-int-to-ptr)
	uint32_t n = 0;

	for (uint64_t ms = 0; !filled(fd, 1); ms++) {
		if (ms >= r->timeout_ms)
			return r->timeout_ms ? -ETIMEDOUT : -EAGAIN;
		usleep(1000);
	}
	for (uint64_t ms = 0; ms < r->batch_ms && !filled(fd, r->count); ms++)
		usleep(1000);
	std::lock_guard guard(mutex_);
	Subscription &s = subscriptions_.at(fd);
	for (; n < r->count && !s.events.empty(); n++) {
		out[n] = s.events.front();
		s.events.pop_front();
	}
	r->count = n;
	r->lost = s.lost;
	return 0;
}

int ErrorEvents::control(int fd, kgni_err_control *c)
{
	std::lock_guard guard(mutex_);
	Subscription &s = subscriptions_.at(fd);
	kgni_err_control before = *c;

	before.mask = s.mask;
	before.ptag = s.ptag;
	if (c->flags & KGNI_ERR_SET_MASK)
		s.mask = c->mask;
	if (c->flags & KGNI_ERR_SET_PTAG)
		s.ptag = c->ptag;
	*c = before;
	return 0;
}

void ErrorEvents::close(int fd)
{
	std::lock_guard guard(mutex_);
	subscriptions_.erase(fd);
}

} // namespace model
