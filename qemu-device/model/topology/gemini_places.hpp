// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Where the routers of a machine of Gemini stand: classes of machines by number of cabinets, cabinets in rows, three
 * chassis in a cabinet, eight blades in a chassis, two routers on a blade (G46 to G52); and how the torus is folded
 * over them, so that no cable is longer than from a cabinet to the next but one (G56).
 */
#ifndef ARIES_TOPOLOGY_GEMINI_PLACES_HPP
#define ARIES_TOPOLOGY_GEMINI_PLACES_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace aries::topology
{

inline constexpr uint32_t GEMINI_CHASSIS = 3; ///< of a cabinet (G46)
inline constexpr uint32_t GEMINI_SLOTS = 8;   ///< of a chassis
inline constexpr uint32_t GEMINI_BLADE = 2;   ///< routers of a blade, side by side in y
inline constexpr uint32_t GEMINI_NICS = 2;    ///< of a router, side by side in y (G54)

/** What the sources call the sizes of machines (G48 to G52). */
enum class TorusClass : uint8_t {
	None,   ///< sizes alone; nobody says where routers stand
	Class0, ///< one to three cabinets
	Class1, ///< one row
	Class2, ///< two rows
	Class3, ///< several rows
	M,      ///< a torus of two dimensions: an 'm' machine
};

/** A machine of cabinets. */
struct GeminiRoom {
	TorusClass of = TorusClass::None;
	uint32_t cabinets = 0; ///< of a row
	uint32_t rows = 0;
	uint32_t chassis = 0; ///< of the cabinet of an M machine with one
};

/** Sizes in routers, as coordinates count them: half as many in y as the sources' nodes. */
using TorusSizes = std::array<uint32_t, 3>;

/** Where a router stands. */
struct GeminiPlace {
	uint32_t column; ///< cabinet in its row
	uint32_t row;
	uint32_t chassis;
	uint32_t slot;
	uint32_t router; ///< of the blade

	bool same_chassis(const GeminiPlace &other) const noexcept
	{
		return column == other.column && row == other.row && chassis == other.chassis;
	}
	bool same_blade(const GeminiPlace &other) const noexcept { return same_chassis(other) && slot == other.slot; }
};

/** Empty if there is such a machine, else one line that names the broken rule. */
std::string check_room(const GeminiRoom &room);

/** What can be, but should not: lines for people, of a room that passes check_room(). */
std::vector<std::string> advise_room(const GeminiRoom &room);

/** Of the torus of a room that passes check_room(). */
TorusSizes sizes_of(const GeminiRoom &room);

/** The place of the router with these coordinates. */
GeminiPlace place_of(const GeminiRoom &room, const TorusSizes &at);

/** As it is called on these machines: c0-0c1s7g1 is in cabinet 0 of row 0, chassis 1, slot 7. */
std::string name_of(const GeminiPlace &place);

/**
 * The place of step @p step of a ring of @p size that is folded: neighbours are at most two places apart, wherever the
 * ring begins.
 */
constexpr uint32_t folded(uint32_t step, uint32_t size)
{
	return 2 * step < size ? 2 * step : 2 * (size - step) - 1;
}

} // namespace aries::topology

#endif
