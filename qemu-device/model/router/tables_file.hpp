// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Route tables as bytes, as a manager of the network gives them to its members. Whoever reads them believes nothing:
 * decode_tables() returns tables with which decide() is safe on the machine, or says what is wrong.
 */
#ifndef ARIES_ROUTER_TABLES_FILE_HPP
#define ARIES_ROUTER_TABLES_FILE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "router/table_builder.hpp"
#include "topology/wiring.hpp"

namespace aries::routing
{

/** A change of what the bytes mean changes it. */
inline constexpr uint32_t TABLES_VERSION = 1;

/** What is told beside the tables. */
struct TablesInfo {
	uint32_t generation = 0;
	std::array<uint32_t, 3>
		shape{};      ///< of the fabric: nodes of the machine, routers of a chassis, chassis of a group
	uint64_t made_ms = 0; ///< since 1970
	Failures failures;    ///< without which they were made; in ascending order

	bool operator==(const TablesInfo &) const = default;
};

struct DecodedTables {
	TablesInfo info;
	Tables tables;
};

/** In the byte order of this host. @throws std::bad_alloc */
std::vector<std::byte> encode_tables(const Tables &tables, const TablesInfo &info);

/**
 * @param wiring of the machine that the tables must be for
 * @throws std::invalid_argument with one line, without the name of the file
 */
DecodedTables decode_tables(std::span<const std::byte> bytes, const topology::Wiring &wiring);

} // namespace aries::routing

#endif
