// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
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
#include "mapgap.hpp"

#include <bit>
#include <cstdint>

namespace ugni
{

struct Departed;

struct Request {
	union {
		gni_post_descriptor_t *descriptor;
		uint32_t local_event; /* kSmsg: names the endpoint if the send fails */
		Departed *copy;       /* kCopied */
	};
	gni_ep *ep;
	gni_cq *cq;
	uint32_t state; /* kPendingMask and the rest below; 0: request is free */
	uint32_t next;  /* free list */

	/* Bit n: the event with ARIES_INFO_ code n is still to be reaped. */
	static constexpr uint32_t kPendingMask = 0x6;
	/* Counts as a queued block transfer. */
	static constexpr uint32_t kBte = 0x100;
	/* A short message, not a post. */
	static constexpr uint32_t kSmsg = 0x200;
	/* The event reports a first attempt that failed, and a later attempt has succeeded. */
	static constexpr uint32_t kMended = 0x400;
	/* One of two events has been reaped. */
	static constexpr uint32_t kPartly = 0x800;
	/* With kSmsg: sent through the message queue. */
	static constexpr uint32_t kMsgq = 0x1000;
	/* With kSmsg: how it ended is not known yet, see unsettled.hpp. */
	static constexpr uint32_t kUnsettled = 0x2000;
	/* With kSmsg: the message has left and may get lost, and a copy is kept. With kUnsettled: the message was lost.
	 */
	static constexpr uint32_t kCopied = 0x4000;
	/* ARIES_ST_* that the library found, 0 if none. */
	static constexpr uint32_t kForcedShift = 16;

	uint32_t pending() const { return state & kPendingMask; }
	uint32_t forced() const { return state >> kForcedShift; }
};

static_assert(sizeof(Request) == 32);

class RequestTable
{
	static constexpr uint32_t kIds = 65536;
	static constexpr uint32_t kQuarantine = 64;
	static constexpr size_t kBytes = sizeof(Request) * kIds + kMapGap;

	struct alignas(8) FreeList {
		uint32_t head;
		uint32_t length;
	};

public:
	/** Return: false without memory. */
	bool open();
	void close();

	/** The free list is long enough for take_free(). */
	bool plenty() const { return spare() >= 0; }

	/** Number of ids that take_free() can still give, less one. */
	int32_t spare() const { return static_cast<int32_t>(free_.length) - static_cast<int32_t>(kQuarantine) - 1; }

	/** Only if plenty(). Head and length change by one load and one store: each costs a hundredth of a put. */
	uint32_t take_free()
	{
		static_assert(std::endian::native == std::endian::little);
		const auto both = std::bit_cast<uint64_t>(free_);
		const auto id = static_cast<uint32_t>(both);

		free_ = std::bit_cast<FreeList>(((both >> 32) - 1) << 32 | table_[id].next);
		return id;
	}

	/** Return: an id, 0 when all are taken. The caller fills the request in. */
	uint32_t take()
	{
		if (plenty())
			return take_free();
		if (fresh_ < kIds)
			return fresh_++;
		return free_.length ? take_free() : 0;
	}

	/** @id is no longer in use; its state is 0. */
	void give(uint32_t id)
	{
		if (free_.length) [[likely]]
			table_[tail_].next = id;
		else
			free_.head = id;
		free_.length++;
		tail_ = id;
	}

	/** Rebuilds the list of free ids if ids are missing, because threads have posted at the same time.
	 */
	void mend();

	/** @id may come from outside; requests never used are there and free. */
	Request &operator[](uint16_t id) { return table_[id]; }
	const Request &operator[](uint16_t id) const { return table_[id]; }

	/** Ids ever used; for walks over all requests. */
	uint32_t used() const { return fresh_ < kIds ? fresh_ : kIds; }

private:
	Request *table_ = nullptr;
	FreeList free_{};
	uint32_t fresh_ = 1; /* 0 is never a transaction id */
	uint32_t tail_ = 0;
};

} // namespace ugni

#endif
