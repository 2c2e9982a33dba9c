// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The route tables of a machine, whatever its chip: Aries's of groups or of a Clos, Gemini's of a torus, QsNetIII's of
 * a folded Clos.
 */
#ifndef ARIES_SIM_ROUTES_HPP
#define ARIES_SIM_ROUTES_HPP

#include <cstdint>
#include <string>
#include <variant>

#include "part.hpp"
#include "router/clos.hpp"
#include "router/table_builder.hpp"
#include "router/torus.hpp"
#include "topology/machine.hpp"

namespace aries::sim
{

class Routes
{
public:
	/** The machine passes check(), and the failures are of parts that it has. */
	Routes(const topology::Machine &machine, const routing::Policy &policy, const routing::Failures &failures = {});

	/** Empty if there are tables for the machine with this policy, else one line that names the cause. */
	static std::string check(const topology::Machine &machine, const routing::Policy &policy);

	/** Channels of each class that packets have by a policy. */
	static uint32_t channels(const topology::Machine &machine, const routing::Policy &policy) noexcept;

	TablesOf tables() const noexcept;

	/** One line about routers and groups that packets cannot reach; empty if there are none. */
	std::string lost(const topology::Machine &machine) const;

	size_t cut_routers() const noexcept; ///< that no other router reaches; of Aries, no other of the group
	size_t cut_groups() const noexcept;  ///< pairs of groups; else pairs of routers with nodes, in both directions

private:
	using Tables = std::variant<routing::Built, routing::TorusTables, routing::ClosTables>;

	static Tables build(const topology::Machine &machine, const routing::Policy &policy,
			    const routing::Failures &failures);
	template <typename Reaches>
	void count_cut(const topology::Machine &machine, const routing::Failures &failures, Reaches reaches);

	Tables built_;
	size_t cut_routers_ = 0, cut_pairs_ = 0; // of a torus or a Clos
};

} // namespace aries::sim

#endif
