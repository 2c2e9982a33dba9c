// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A machine in parts: each goes on alone for a window of cycles, then they exchange what went over the links between
 * them. Results are the same for any number of parts, threads and processes, bit by bit.
 */
#ifndef ARIES_SIM_NETWORK_HPP
#define ARIES_SIM_NETWORK_HPP

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "bring_up.hpp"
#include "faults.hpp"
#include "part.hpp"
#include "ranks.hpp"
#include "routes.hpp"
#include "switch_groups.hpp"

namespace aries::sim
{

/** Who does the work. */
struct Workers {
	uint32_t threads = 1;   ///< of each process
	uint32_t parts = 0;     ///< of the machine; 0: one for each thread of all processes
	Ranks *ranks = nullptr; ///< none: this process alone

	uint32_t rank() const noexcept { return ranks ? ranks->rank() : 0; }
	uint32_t processes() const noexcept { return ranks ? ranks->count() : 1; }
	uint32_t on_this_host() const noexcept { return ranks ? ranks->on_this_host() : 1; }
	uint32_t all_parts() const noexcept { return parts ? parts : threads * processes(); }
};

/** Empty if these can work on a machine, else one line that names the broken rule. */
std::string check_workers(const Layout &layout, const Workers &workers);

/** What there is in the whole machine at one time. */
struct Census {
	uint64_t live = 0; ///< packets in the network
	uint64_t hops = 0; ///< packets through routers up to now
	bool idle = false; ///< nothing is to be done, and no message will be ready
};

/** What happens to the machine in mid-run. */
struct FaultPlan {
	std::vector<Incident> incidents; ///< by cycle
	routing::Policy policy;          ///< of the tables
};

class Network
{
public:
	/** They pass check_machine(), check_workers(), check_incidents(). @p machine and the tables must stay. */
	Network(const topology::Machine &machine, TablesOf tables, uint32_t class_channels,
		const Parameters &parameters, const Workload &workload, uint64_t seed, const Workers &workers = {},
		FaultPlan plan = {});

	/** Go on up to the beginning of this cycle. */
	void run(uint32_t until);

	/** As those of a part. */
	void stop_traffic(uint32_t cycle);
	void measure(uint32_t from, uint32_t until);
	void reverse_events() noexcept;

	uint32_t now() const noexcept { return now_; }
	const Layout &layout() const noexcept { return layout_; }
	const Division &division() const noexcept { return division_; }

	/** When tables were made anew. */
	const std::vector<Rebuild> &rebuilds() const noexcept { return rebuilds_; }

	/** Of all processes, which have to ask together. */
	Census census() const;
	Statistics statistics() const;
	std::vector<LinkCount> link_counts() const; ///< by place

	/** Of the parts in this process. */
	size_t live() const noexcept;
	bool idle() const noexcept;
	std::string leftover() const;
	const Port &port(uint32_t place) const noexcept { return part_at(place).port(place); }
	const Port &nic_port(uint32_t place) const noexcept { return part_at(place).nic_port(place); }

private:
	using Mails = std::vector<std::vector<Mail>>; // [from][to]

	struct Crew;

	const Part &part_at(uint32_t place) const noexcept { return *parts_[division_.part_of[place / layout_.tiles]]; }
	uint32_t first_of(uint32_t rank) const noexcept
	{
		return static_cast<uint32_t>(uint64_t{division_.parts()} * rank / workers_.processes());
	}
	template <typename Function> void each_part(Function function)
	{
		for (uint32_t part = first_mine_; part < end_mine_; part++)
			function(*parts_[part]);
	}

	void run_windows(uint32_t until);

	/* Failures: network_faults.cpp */
	void make_room_for_lanes();
	void expect_faults();
	uint32_t next_change() const noexcept;
	void change_now();
	void happen(const Incident &incident);
	void set_lanes(const Incident &incident);
	void set_link(uint32_t link, bool down);
	routing::Failures out_of_use() const;
	void make_tables();
	void make_groups();
	void bring_up(uint32_t link);
	void end_steps();
	uint32_t errors_in_test(uint32_t link) const noexcept;

	void work(Crew &crew, uint32_t thread);
	void end_window(Crew &crew);
	void exchange(Mails &mails);
	void collect(uint32_t part);

	const topology::Machine &machine_;
	const Parameters parameters_;
	const Workers workers_;
	Layout layout_;
	const Traffic traffic_;
	const Division division_;
	std::vector<std::unique_ptr<Part>> parts_; // none for those of other processes
	uint32_t first_mine_ = 0, end_mine_ = 0;
	uint32_t now_ = 0;
	/* One is written while the other is read. */
	std::array<Mails, 2> mails_;
	uint32_t written_ = 0;

	const FaultPlan plan_;
	FaultState state_;
	size_t next_incident_ = 0;
	uint32_t tables_at_ = UINT32_MAX; // cycle in which tables change, or in which it is looked whether they can
	bool held_ = false;               // requests, until the network is empty
	routing::Failures built_for_;
	std::optional<Routes> built_;
	const std::vector<std::vector<uint32_t>> group_nodes_; // of jobs of QsNetIII; empty if none has broadcasts
	std::optional<SwitchGroups> groups_;
	std::vector<Rebuild> rebuilds_;
	std::vector<BringUp> rising_; // links of QsNetIII that have been repaired
};

} // namespace aries::sim

#endif
