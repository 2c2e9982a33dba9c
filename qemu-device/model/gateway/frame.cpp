// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/frame.hpp"

#include <bit>

namespace aries::gateway
{

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

FrameHeader peek(Bytes bytes) noexcept
{
	FrameHeader header;

	std::memcpy(&header, bytes.data(), sizeof(header));
	return header;
}

bool is_frame(Bytes bytes) noexcept
{
	return bytes.size() >= FRAME_HEADER && bytes.size() <= FRAME_MAX && peek(bytes).magic == FRAME_MAGIC;
}

std::optional<Frame> parse_frame(Bytes bytes, size_t tag_bytes) noexcept
{
	if (!is_frame(bytes))
		return {};

	const FrameHeader header = peek(bytes);

	if (header.version != FRAME_VERSION || header.reserved || header.flags & ~FLAG_MISSING)
		return {};
	if (header.type < FrameType::Hello || header.type > FrameType::Bye)
		return {};
	if (bytes.size() != FRAME_HEADER + size_t(header.body) + tag_bytes)
		return {};
	return Frame{header, bytes.subspan(FRAME_HEADER, header.body), bytes.first(FRAME_HEADER + header.body),
		     bytes.last(tag_bytes)};
}

} // namespace aries::gateway
