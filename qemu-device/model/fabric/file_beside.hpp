/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Files beside the segment of a fabric, which members and what runs beside them read as a whole. */
#ifndef ARIES_FABRIC_FILE_BESIDE_HPP
#define ARIES_FABRIC_FILE_BESIDE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aries
{

/**
 * A file SEGMENT.NAME. It is written under another name and renamed when it is whole, so whoever dies while writing
 * leaves nothing that somebody would read. Owner and mode are the segment's.
 */
struct FileBeside {
	std::string segment; /**< path of the fabric's segment */
	std::string name;    /**< with the dot */
	std::string unfinished;
	std::string what; /**< for errors: plural */

	std::string path() const { return segment + name; }
	bool there() const noexcept;

	/**
	 * All of its bytes. Throws Error with one line: it is not there, cannot be read, is no file, is longer than
	 * @longest, or belongs to somebody else than the segment.
	 */
	std::vector<std::byte> read(uint64_t longest) const;

	/** In place of what is there. Throws Error. */
	void write(std::span<const std::byte> bytes) const;
};

/** What a gateway leaves there for the next one: gateway/news_file.hpp. */
inline constexpr const char *NEWS_BESIDE = ".news", *UNFINISHED_NEWS_BESIDE = ".news.new";

/** Without memory of its own. Nothing happens if there is no such file. */
void remove_beside(const std::string &segment, const char *name) noexcept;

} // namespace aries

#endif
