// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Fields of a completion queue entry, as the NIC writes them (aries_hw.h). */
#ifndef UGNI_CQ_ENTRY_HPP
#define UGNI_CQ_ENTRY_HPP

#include "aries_hw.h"

#include <cstdint>

namespace ugni
{

constexpr uint16_t entry_tid(uint64_t e)
{
	return static_cast<uint16_t>((e & ARIES_CQE_TID_MASK) >> ARIES_CQE_TID_SHIFT);
}

constexpr uint32_t entry_status(uint64_t e)
{
	return static_cast<uint32_t>((e & ARIES_CQE_STATUS_MASK) >> ARIES_CQE_STATUS_SHIFT);
}

constexpr uint32_t entry_info(uint64_t e)
{
	return static_cast<uint32_t>((e & ARIES_CQE_INFO_MASK) >> ARIES_CQE_INFO_SHIFT);
}

constexpr uint32_t entry_source(uint64_t e)
{
	return static_cast<uint32_t>((e & ARIES_CQE_SOURCE_MASK) >> ARIES_CQE_SOURCE_SHIFT);
}

constexpr uint32_t entry_type(uint64_t e)
{
	return static_cast<uint32_t>((e & ARIES_CQE_TYPE_MASK) >> ARIES_CQE_TYPE_SHIFT);
}

/** Whether ARIES_ST_* @status may go away when the operation is repeated. */
bool status_recoverable(uint32_t status);

} // namespace ugni

#endif
