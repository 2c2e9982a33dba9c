/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of error events of a node, in the segment. */
#ifndef ARIES_RAS_ERRORS_HPP
#define ARIES_RAS_ERRORS_HPP

#include "fabric/membership.hpp"
#include "fabric/wake.hpp"

namespace aries
{

/** GNI_ERRMASK_* bits used for the category. */
inline constexpr uint8_t CATEGORY_CORRECTABLE_MEMORY = 0x01;
inline constexpr uint8_t CATEGORY_CRITICAL = 0x02;
inline constexpr uint8_t CATEGORY_TRANSACTION = 0x04;
inline constexpr uint8_t CATEGORY_TRANSLATION = 0x08;
inline constexpr uint8_t CATEGORY_TRANSIENT = 0x10;

/** One failure, as ERR_EVENT and ERR_INFO show it. */
struct ErrorEvent {
	uint16_t code; /* ARIES_ST_*, or ARIES_RAS_* + memory */
	uint8_t ptag;
	uint32_t pe; /* the other side */
	uint16_t mdh;
	uint64_t offset;
	uint64_t length;
	uint16_t fmad; /* descriptor at the initiator */
	uint8_t op;
};

class ErrorLog
{
public:
	ErrorLog(Segment &segment, Membership &members, Wake &wake) noexcept
		: segment_(segment), members_(members), wake_(wake)
	{
	}

	/** Adds an event to the queue of @node and raises its vector 0 if the queue was empty. Any thread. */
	void report(uint32_t node, const ErrorEvent &event) noexcept;

	/**
	 * Our own queue: one caller at a time.
	 * oldest(): false if there is none
	 * bury(): the lock of a member that is gone is taken over
	 * sweep(): whether vector 0 is due for events that nobody takes. Who added the first may have died or stopped
	 * before he told.
	 */
	bool oldest(ErrorRecord &record) const noexcept;
	void pop() noexcept;
	uint32_t waiting() const noexcept;
	uint32_t lost() const noexcept;
	void clear() noexcept;
	void bury() noexcept;
	bool sweep() noexcept;

private:
	ErrorRing &own() const noexcept { return segment_.node(members_.node()).errors; }

	Segment &segment_;
	Membership &members_;
	Wake &wake_;
	/* of sweep(): */
	bool swept_ = false;           /* there were events */
	uint32_t head_ = 0, told_ = 0; /* head then, tail when it last found that the vector is due */
};

} // namespace aries

#endif
