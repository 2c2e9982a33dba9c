/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of error events of a node, in the segment. */
#ifndef ARIES_RAS_ERRORS_HPP
#define ARIES_RAS_ERRORS_HPP

#include "fabric/membership.hpp"
#include "fabric/wake.hpp"

namespace aries
{

/** GNI_ERRMASK_* bits used for the category. */
inline constexpr uint8_t CATEGORY_TRANSACTION = 0x04;
inline constexpr uint8_t CATEGORY_TRANSLATION = 0x08;
inline constexpr uint8_t CATEGORY_TRANSIENT = 0x10;

/** One failure, as ERR_EVENT and ERR_INFO show it. */
struct ErrorEvent {
	uint8_t code; /* ARIES_ST_* */
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

	/** The oldest event of our own queue; false if there is none. */
	bool oldest(uint32_t node, ErrorRecord &record) noexcept;
	void pop(uint32_t node) noexcept;
	uint32_t waiting(uint32_t node) const noexcept;
	uint32_t lost(uint32_t node) const noexcept;
	void clear(uint32_t node) noexcept;

private:
	Segment &segment_;
	Membership &members_;
	Wake &wake_;
};

} // namespace aries

#endif
