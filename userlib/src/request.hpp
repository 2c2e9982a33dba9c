// SPDX-License-Identifier: BSD-2-Clause
/*
 * Posted transfers, by their 16-bit transaction id.
 *
 * The table of a NIC handle is one range of address space whose pages come
 * into being as ids are used for the first time. Ids are used again oldest
 * first, so that an event handed to GNI_GetCompleted() twice finds no request
 * rather than somebody else's.
 *
 * Nothing here locks: callers serialise posts and completions of a NIC handle.
 */
#ifndef UGNI_REQUEST_HPP
#define UGNI_REQUEST_HPP

#include "gni.hpp"

#include <cstdint>

namespace ugni
{

struct Request {
	gni_post_descriptor_t *descriptor; /* nullptr: free */
	gni_ep *ep;
	gni_cq *cq;
	uint16_t next;   /* free list */
	uint8_t pending; /* GNI_CQMODE_LOCAL_EVENT, _GLOBAL_EVENT still to be reaped */
	uint8_t bte;     /* counts as a queued block transfer */
	uint8_t forced;  /* ARIES_ST_* that the library found, 0 if none */
	uint8_t padding[3];
};

static_assert(sizeof(Request) == 32);

class RequestTable
{
	static constexpr uint32_t kIds = 65536;
	static constexpr uint32_t kQuarantine = 64;

public:
	/** Return: false without memory. */
	bool open();
	void close();

	/** Return: an id, 0 when all are taken. The caller fills the request in. */
	uint32_t take()
	{
		if (free_ > kQuarantine || fresh_ == kIds)
			return pop();
		return fresh_++;
	}

	void give(uint32_t id)
	{
		Request &r = table_[id];

		r.descriptor = nullptr;
		r.next = 0;
		if (free_++)
			table_[tail_].next = static_cast<uint16_t>(id);
		else
			head_ = id;
		tail_ = id;
	}

	Request &operator[](uint32_t id) { return table_[id]; }

	/** The request of an id that came from outside. Return: nullptr if it is not in use. */
	Request *find(uint32_t id) { return id < fresh_ && table_[id].descriptor ? &table_[id] : nullptr; }

	/** Ids ever used; for walks over all requests. */
	uint32_t used() const { return fresh_; }

private:
	uint32_t pop()
	{
		if (!free_)
			return 0;
		uint32_t id = head_;
		head_ = table_[id].next;
		free_--;
		return id;
	}

	Request *table_ = nullptr;
	uint32_t fresh_ = 1; /* 0 is never a transaction id */
	uint32_t head_ = 0;
	uint32_t tail_ = 0;
	uint32_t free_ = 0;
};

} // namespace ugni

#endif
