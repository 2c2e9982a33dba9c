/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a message structure by structure. */
#ifndef ARIES_GATEWAY_TAKE_FRONT_HPP
#define ARIES_GATEWAY_TAKE_FRONT_HPP

#include <cstring>
#include <span>

namespace aries
{

/** Copies the front of @message into @value and removes it; false if the message is shorter. */
template <typename T> bool take_front(std::span<const std::byte> &message, T &value) noexcept
{
	if (message.size() < sizeof(T))
		return false;
	memcpy(&value, message.data(), sizeof(T));
	message = message.subspan(sizeof(T));
	return true;
}

} // namespace aries

#endif
