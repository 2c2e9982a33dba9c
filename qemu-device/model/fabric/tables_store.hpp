/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Files of route tables beside the segment of a fabric, one for each generation. */
#ifndef ARIES_FABRIC_TABLES_STORE_HPP
#define ARIES_FABRIC_TABLES_STORE_HPP

#include "fabric/file_beside.hpp"

namespace aries
{

/**
 * A generation is SEGMENT.tables.N, which never changes after it was written. What is in it is not the store's.
 */
class TablesStore
{
public:
	/** @param segment path of the fabric's segment */
	explicit TablesStore(std::string segment) : segment_(std::move(segment)) {}

	std::string path(uint32_t generation) const;

	/**
	 * The bytes of a generation. Throws Error with one line: it is not there, cannot be read, is no file, is longer
	 * than any tables, or belongs to somebody else than the segment.
	 */
	std::vector<std::byte> read(uint32_t generation) const;

	/** Makes a generation, in place of one that is there; owner and mode are the segment's. Throws Error. */
	void write(uint32_t generation, std::span<const std::byte> bytes) const;

	/** All but two generations, and what was left by those who died while writing. */
	void keep_only(uint32_t generation, uint32_t other) const noexcept;
	/** All of them, of the fabric with this segment. */
	static void remove_all(const std::string &segment) noexcept;

private:
	FileBeside file(uint32_t generation) const;
	template <typename Keep> static void remove_unless(const std::string &segment, Keep &&keep) noexcept;

	std::string segment_;
};

} // namespace aries

#endif
