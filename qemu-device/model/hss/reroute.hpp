// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Other route tables for a running network (R14): computed, written, loaded by all members while the network is
 * quiesced, and traffic resumed.
 *
 * Tables are computed before the quiesce begins and count as computed in it: in modelled time the network is quiet
 * until what is on its way has arrived, for as long as computing took and for as long as a member takes to load them. A
 * quiesce that began earlier would end with the first request, which moves modelled time to its end, and tables would
 * come behind it.
 */
#ifndef ARIES_HSS_REROUTE_HPP
#define ARIES_HSS_REROUTE_HPP

#include <functional>
#include <optional>
#include <string>

#include "fabric/tables_store.hpp"
#include "hss/journal.hpp"
#include "net/fabric_view.hpp"

namespace aries::hss
{

struct RerouteOptions {
	uint64_t quiesce_ns = 1'000'000'000;  ///< longer than this the network is never quiet, at most MAX_QUIESCE_NS
	uint64_t patience_ns = 5'000'000'000; ///< to wait for members that have to load tables
	bool step = false;                    ///< each phase begins with a line on standard input
};

/** Waits for so long, or less if something wants the process to end; then false. */
using Pause = std::function<bool(std::chrono::milliseconds)>;

/** The exclusive right to change the tables of a network. */
class TablesOffice
{
public:
	/** Waits for whoever has it. */
	TablesOffice(const Observer &observer, const Pause &pause);
	~TablesOffice();
	TablesOffice(const TablesOffice &) = delete;
	TablesOffice &operator=(const TablesOffice &) = delete;

	/** False if the process is to end. */
	explicit operator bool() const noexcept { return ours_; }

private:
	const Observer &observer_;
	bool ours_;
};

class Rerouter
{
public:
	Rerouter(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
		 Pause pause);

	/** For what the tables of the present generation were made; nothing if they cannot be had. */
	std::optional<routing::Failures> made_without() const;

	/** Under the TablesOffice. @throws std::exception with one line; the tables are then as before. */
	void reroute(const routing::Failures &without, const std::string &reason);

private:
	struct Made {
		std::vector<std::byte> bytes;
		uint64_t compute_ns;
		uint64_t load_ns;
	};

	void begin(const char *phase);
	Made compute(uint32_t generation, const routing::Failures &without, const std::string &reason);
	void load(uint32_t generation, const Made &made);
	void resume(uint32_t generation, uint64_t began_ns);
	std::vector<uint32_t> behind(uint32_t generation) const;

	net::FabricView &fabric_;
	Network &network_;
	TablesStore store_;
	Journal &journal_;
	RerouteOptions options_;
	Pause pause_;
	topology::Machine machine_;
};

} // namespace aries::hss

#endif
