// SPDX-License-Identifier: GPL-2.0-or-later
#include "nic/registers/quiesce.hpp"

#include <utility>

namespace aries
{

bool QuiesceWatch::set_control(uint32_t value) noexcept
{
	if (field(value, ARIES_QSC_CTL_VECTOR_MASK) >= ARIES_MSIX_VECTORS)
		return false;
	ctl_ = value;
	ask();
	return true;
}

/* A level, as that of NODE_CHANGED: an interrupt that was lost comes again with the next sweep. */
void QuiesceWatch::ask() const noexcept
{
	if (begun_ && (ctl_ & ARIES_QSC_CTL_ENABLE_MASK))
		core_.request_irq(core_.node, 1u << field(ctl_, ARIES_QSC_CTL_VECTOR_MASK));
}

void QuiesceWatch::sweep() noexcept
{
	const uint32_t now = count();

	if (std::exchange(seen_, now) != now)
		begun_ = true;
	ask();
}

void QuiesceWatch::reset() noexcept
{
	seen_ = count();
	begun_ = false;
	ctl_ = 0;
}

} // namespace aries
