/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of route tables beside the segment of a fabric, one for each generation. */
#ifndef ARIES_FABRIC_TABLES_STORE_HPP
#define ARIES_FABRIC_TABLES_STORE_HPP

#include "fabric/file_beside.hpp"

namespace aries
{

/**
 * The file of a generation is SEGMENT.tables.N, which never changes after it was written. The store does not interpret
 * it.
 */
class TablesStore
{
public:
	/** @param segment path of the fabric's segment */
	explicit TablesStore(std::string segment) : segment_(std::move(segment)) {}

	std::string path(uint32_t generation) const;

	/**
	 * The bytes of a generation. Throws Error with one line if the file does not exist, cannot be read, is not
	 * regular, is longer than any tables, or has another owner than the segment.
	 */
	std::vector<std::byte> read(uint32_t generation) const;

	/** Makes or replaces a generation; owner and mode are those of the segment. Throws Error. */
	void write(uint32_t generation, std::span<const std::byte> bytes) const;

	/** Removes all but two generations, and files of writers that died. */
	void keep_only(uint32_t generation, uint32_t other) const noexcept;
	/** Removes all generations of the fabric with this segment. */
	static void remove_all(const std::string &segment) noexcept;

private:
	FileBeside file(uint32_t generation) const;
	template <typename Keep> static void remove_unless(const std::string &segment, Keep &&keep) noexcept;

	std::string segment_;
};

} // namespace aries

#endif
