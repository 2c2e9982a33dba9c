// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/gemini_places.hpp"

#include "chip/gemini.hpp"

namespace aries::topology
{

namespace
{

constexpr uint32_t X = chip::GEMINI_X;
constexpr uint32_t Y = chip::GEMINI_Y;
constexpr uint32_t Z = chip::GEMINI_Z;

constexpr uint32_t MOST_CLASS_0 = 3; ///< cabinets
constexpr uint32_t LEAST_CLASS_1 = 4;
constexpr uint32_t MOST_CLASS_1 = 16;
constexpr uint32_t LEAST_CLASS_2 = 16;
constexpr uint32_t MOST_CLASS_2 = 48;
constexpr uint32_t MOST_M = 6;
constexpr uint32_t MOST_ROUTERS = chip::GEMINI.most_nodes / GEMINI_NICS;
constexpr uint32_t ROUTERS_OF_CABINET = GEMINI_CHASSIS * GEMINI_SLOTS * GEMINI_BLADE;

/* One row of so many cabinets. */
std::string check_row(const GeminiRoom &room, const char *name, uint32_t least, uint32_t most, const char *claim)
{
	if (room.rows != 1)
		return std::string(name) + " has one row of cabinets, not " + std::to_string(room.rows) + " (" + claim +
		       ")";
	if (room.cabinets < least || room.cabinets > most)
		return std::string(name) + " has " + std::to_string(least) + " to " + std::to_string(most) +
		       " cabinets, not " + std::to_string(room.cabinets) + " (" + claim + ")";
	return {};
}

std::string check_class_2(const GeminiRoom &room)
{
	const uint64_t cabinets = uint64_t{room.cabinets} * room.rows;

	if (room.rows != 2)
		return "class 2 has two rows of cabinets, not " + std::to_string(room.rows) + " (G50)";
	if (cabinets < LEAST_CLASS_2 || cabinets > MOST_CLASS_2)
		return "class 2 has " + std::to_string(LEAST_CLASS_2) + " to " + std::to_string(MOST_CLASS_2) +
		       " cabinets, not " + std::to_string(cabinets) + " (G50)";
	return {};
}

/*
 * The table of the sources has class 3 above 48 cabinets. Their own example of it has 40, in four rows, which no other
 * class can be: so it is a matter of rows here (G51).
 */
std::string check_class_3(const GeminiRoom &room)
{
	const uint64_t cabinets = uint64_t{room.cabinets} * room.rows;

	if (room.rows < 3 && cabinets <= MOST_CLASS_2)
		return "class 3 has several rows of cabinets, or more than " + std::to_string(MOST_CLASS_2) +
		       " cabinets: " + std::to_string(room.rows) + " of " + std::to_string(room.cabinets) +
		       " are class " + (room.rows == 2 ? "2" : "0 or 1") + " (G51)";
	if (room.rows < 2 || room.cabinets < 2)
		return std::to_string(room.rows) + " rows of " + std::to_string(room.cabinets) +
		       " cabinets: class 3 is a grid of at least 2 x 2 (G51)";
	return {};
}

} // namespace

std::string check_room(const GeminiRoom &room)
{
	std::string reason;

	if (room.of == TorusClass::None)
		return "a machine of cabinets needs a class";
	if (room.cabinets == 0 || room.rows == 0)
		return "a machine of a class needs cabinets and rows";
	if (room.cabinets > MOST_ROUTERS || uint64_t{room.cabinets} * room.rows > MOST_ROUTERS / ROUTERS_OF_CABINET)
		return std::to_string(room.rows) + " rows of " + std::to_string(room.cabinets) +
		       " cabinets: there can be " + std::to_string(MOST_ROUTERS) + " routers (G28)";
	if (room.chassis && (room.of != TorusClass::M || room.cabinets != 1))
		return "a cabinet has fewer than three chassis only in an m machine with one cabinet (G52)";
	if (room.chassis > GEMINI_CHASSIS)
		return std::to_string(room.chassis) + " chassis: a cabinet has 1 to " + std::to_string(GEMINI_CHASSIS) +
		       " (G46)";
	switch (room.of) {
	case TorusClass::Class0:
		return check_row(room, "class 0", 1, MOST_CLASS_0, "G48");
	case TorusClass::Class1:
		return check_row(room, "class 1", LEAST_CLASS_1, MOST_CLASS_1, "G49");
	case TorusClass::Class2:
		return check_class_2(room);
	case TorusClass::Class3:
		return check_class_3(room);
	default:
		return check_row(room, "an m machine", 1, MOST_M, "G52");
	}
}

std::vector<std::string> advise_room(const GeminiRoom &room)
{
	const uint64_t cabinets = uint64_t{room.cabinets} * room.rows;
	std::vector<std::string> lines;

	if (room.of == TorusClass::Class3 && room.rows % 2)
		lines.push_back(std::to_string(room.rows) + " rows: an even number is strongly preferred (G56)");
	if (room.of == TorusClass::Class3 && cabinets <= MOST_CLASS_2)
		lines.push_back(std::to_string(cabinets) +
				" cabinets: class 3 is for more than 48, but the sources' example has 40 (G51)");
	return lines;
}

TorusSizes sizes_of(const GeminiRoom &room)
{
	const uint32_t row = room.cabinets;

	switch (room.of) {
	case TorusClass::Class0:
		return {GEMINI_CHASSIS * row, GEMINI_BLADE, GEMINI_SLOTS};
	case TorusClass::Class1:
	case TorusClass::Class2:
		return {row, GEMINI_CHASSIS * GEMINI_BLADE, GEMINI_SLOTS * room.rows};
	case TorusClass::Class3:
		return {row, GEMINI_BLADE * room.rows, GEMINI_CHASSIS * GEMINI_SLOTS};
	default:
		if (row == 1)
			return {1, (room.chassis ? room.chassis : GEMINI_CHASSIS) * GEMINI_BLADE, GEMINI_SLOTS};
		return {1, GEMINI_BLADE * row, GEMINI_CHASSIS * GEMINI_SLOTS};
	}
}

GeminiPlace place_of(const GeminiRoom &room, const TorusSizes &at)
{
	const uint32_t blade = at[Y] / GEMINI_BLADE; ///< step of the ring in y, of blades
	const uint32_t router = at[Y] % GEMINI_BLADE;
	const uint32_t slot = at[Z] % GEMINI_SLOTS;
	const uint32_t cabinets = room.cabinets;

	switch (room.of) {
	case TorusClass::Class0: {
		/* Chassis of all cabinets are one ring. */
		const uint32_t chassis = folded(at[X], GEMINI_CHASSIS * cabinets);

		return {chassis / GEMINI_CHASSIS, 0, chassis % GEMINI_CHASSIS, slot, router};
	}
	case TorusClass::Class1:
	case TorusClass::Class2:
		return {folded(at[X], cabinets), at[Z] / GEMINI_SLOTS, blade, slot, router};
	case TorusClass::Class3:
		return {folded(at[X], cabinets), folded(blade, room.rows), at[Z] / GEMINI_SLOTS, slot, router};
	default:
		if (cabinets == 1)
			return {0, 0, blade, slot, router};
		return {folded(blade, cabinets), 0, at[Z] / GEMINI_SLOTS, slot, router};
	}
}

std::string name_of(const GeminiPlace &place)
{
	return "c" + std::to_string(place.column) + "-" + std::to_string(place.row) + "c" +
	       std::to_string(place.chassis) + "s" + std::to_string(place.slot) + "g" + std::to_string(place.router);
}

} // namespace aries::topology
