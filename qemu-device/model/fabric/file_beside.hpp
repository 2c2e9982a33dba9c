/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files beside the segment of a fabric, which members, tools and gateways read as a whole. */
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
 * A file SEGMENT.NAME. It is written under another name and renamed when it is complete, so a writer that dies leaves
 * no incomplete file under this name. Owner and mode are those of the segment.
 */
struct FileBeside {
	std::string segment; /**< path of the fabric's segment */
	std::string name;    /**< with the dot */
	std::string unfinished;
	std::string what; /**< for errors: plural */

	std::string path() const { return segment + name; }
	bool there() const noexcept;

	/**
	 * All bytes of the file. Throws Error with one line if the file does not exist, cannot be read, is not regular,
	 * is longer than @longest, or has another owner than the segment.
	 */
	std::vector<std::byte> read(uint64_t longest) const;

	/** Replaces the file. Throws Error. */
	void write(std::span<const std::byte> bytes) const;
};

/** State that a gateway leaves for its successor: gateway/news_file.hpp. */
inline constexpr const char *NEWS_BESIDE = ".news", *UNFINISHED_NEWS_BESIDE = ".news.new";

/** Removes a file beside the segment, if it exists. Allocates no memory. */
void remove_beside(const std::string &segment, const char *name) noexcept;

} // namespace aries

#endif
