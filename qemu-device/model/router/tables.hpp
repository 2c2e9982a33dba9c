// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The stored route tables of every router of a machine (R07), and what decide() needs besides: kinds of ports,
 * biases (R10), the table of virtual channels (P13, R16). Documentation/routing.md tells the whole.
 *
 * A minimal table has one entry for each router of the group, and one for each group: the output tiles that lead
 * there, all equally good. A non-minimal table is a list of roots. table_builder.hpp makes them.
 */
#ifndef ARIES_ROUTER_TABLES_HPP
#define ARIES_ROUTER_TABLES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aries::routing
{

inline constexpr uint32_t MAX_TILES = 64;       ///< of a router that these tables can describe
inline constexpr uint32_t MAX_CHANNELS = 16;    ///< virtual channels of a link, all classes together
inline constexpr uint32_t CLASSES = 2;          ///< requests and responses (P12)
inline constexpr uint32_t BIASES = 4;           ///< modes ADAPTIVE0 to ADAPTIVE3
inline constexpr uint8_t NO_OUTPUT = UINT8_MAX; ///< no tile leads there
inline constexpr uint16_t ANY_ROUTER =
	UINT16_MAX; ///< index of a root that is whichever router of its group comes first

/** A router: its group, and its number in the group. */
struct Address {
	uint16_t group;
	uint16_t index;

	bool operator==(const Address &) const = default;
};

inline constexpr Address NO_ROOT{UINT16_MAX, UINT16_MAX};

enum class PortKind : uint8_t { Unused, Processor, Local, Global };

/** What a root is (R04, R05). */
enum class RootRule : uint8_t {
	Router, ///< one router: minimally to it, minimally on
	Group,  ///< the router of a third group by which the packet enters it; a router inside its own group
};

/** An entry of a minimal table: output tiles that lead there equally well; none if there is no way. */
struct Ports {
	uint16_t first; ///< of them in RouterTables::ports
	uint8_t count;
	uint8_t hops; ///< to the router, or to the nearest gateway to the group
};

/** What can be chosen. All of it is data for decide(). */
struct Policy {
	/**
	 * Added to the load of a non-minimal candidate, by the bias of the mode: positive ones favour minimal ways,
	 * negative ones the others (R10). In the unit of the loads; these are for nanoseconds.
	 */
	std::array<int32_t, BIASES> local_bias{200, 400, 800, 3200};  ///< to a router of the same group
	std::array<int32_t, BIASES> global_bias{200, 400, 800, 3200}; ///< to another group
	RootRule roots = RootRule::Router;
	uint8_t channels = 0;    ///< of a class (P12); 0: as many as the router has for requests
	uint8_t global_step = 1; ///< channels up behind a global link (P13)
	uint8_t root_step = 1;   ///< channels up behind a root (P13)
};

/** What all routers of a machine share. */
struct Common {
	std::array<PortKind, MAX_TILES> kind{};
	std::array<std::array<int32_t, BIASES>, 2> bias{}; ///< [to another group][bias of the mode]
	/** Output channel by [came off a global link][leaves its root][input channel] (R16). */
	std::array<std::array<std::array<uint8_t, MAX_CHANNELS>, 2>, 2> next_channel{};
	RootRule root_rule = RootRule::Router;
	bool all_linked = true; ///< every group has links to every other
	uint32_t groups = 0;
	std::vector<Address> roots;        ///< global non-minimal: every router that can be reached
	std::vector<uint64_t> linked_bits; ///< groups x groups

	bool linked(uint32_t a, uint32_t b) const noexcept
	{
		const size_t bit = size_t{a} * groups + b;

		return linked_bits[bit / 64] >> bit % 64 & 1;
	}
};

/** The tables of one router, as decide() sees them: one cache line of places, then the entries it needs. */
struct alignas(64) RouterTables {
	const Ports *local;    ///< local minimal: by number in the group
	const Ports *global;   ///< global minimal: by group; none for its own
	const Ports *eject;    ///< processor tiles, by NIC
	const uint8_t *ports;  ///< output tiles that entries speak of
	const uint16_t *roots; ///< local non-minimal: numbers in the group
	const Common *common;
	uint32_t root_count;
	uint32_t router; ///< number in the machine
	Address here;
};

static_assert(sizeof(RouterTables) == 64 && sizeof(Ports) == 4 && sizeof(Address) == 4);

/** Entries and lists of the routers of one group, in few pieces of memory. */
struct GroupTables {
	std::vector<uint32_t> routers; ///< numbers in the machine
	std::vector<Ports> entries;    ///< of each router in turn: local, global, eject
	std::vector<uint8_t> ports;    ///< of each router in turn
	std::vector<uint32_t> first;   ///< of each router in ports
	std::vector<uint16_t> roots;

	size_t bytes() const noexcept;
};

/** The tables of a machine. May be moved, not copied: routers point into it. */
class Tables
{
public:
	/** Put the parts together; see build_tables(). */
	Tables(std::unique_ptr<Common> common, std::vector<GroupTables> groups, uint32_t routers, uint32_t nics);

	const RouterTables &router(uint32_t router) const noexcept { return routers_[router]; }
	Address address(uint32_t router) const noexcept { return routers_[router].here; }
	uint32_t router_at(Address at) const noexcept { return groups_[at.group].routers[at.index]; }
	uint32_t routers() const noexcept { return static_cast<uint32_t>(routers_.size()); }
	uint32_t groups() const noexcept { return common_->groups; }
	uint32_t group_size(uint32_t group) const noexcept
	{
		return static_cast<uint32_t>(groups_[group].routers.size());
	}
	const GroupTables &group(uint32_t group) const noexcept { return groups_[group]; }
	uint32_t nics() const noexcept { return nics_; }
	const Common &common() const noexcept { return *common_; }

	/** Memory of all the tables, without that of the allocator. */
	size_t bytes() const noexcept;

private:
	std::unique_ptr<Common> common_;
	std::vector<GroupTables> groups_;
	std::vector<RouterTables> routers_;
	uint32_t nics_; // of a router
};

/** A table of output channels for these rules (R16). */
void fill_channels(const Policy &policy, Common &common) noexcept;

} // namespace aries::routing

#endif
