// SPDX-License-Identifier: GPL-2.0-or-later
#include "hss/reroute.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "fabric/membership.hpp"
#include "topology/dragonfly_machine.hpp"

namespace aries::hss
{

namespace
{

using routing::Failures;

constexpr auto LOOK_AGAIN = std::chrono::milliseconds(5);
constexpr size_t LINES = 8; // of what is cut off

uint64_t since_1970_ms()
{
	const auto now = std::chrono::system_clock::now().time_since_epoch();

	return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string counted(size_t count, const std::string &what)
{
	return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string list_of(const std::vector<uint32_t> &numbers)
{
	std::string text;

	for (const uint32_t number : numbers)
		text += (text.empty() ? "" : ", ") + std::to_string(number);
	return text;
}

} // namespace

TablesOffice::TablesOffice(const Observer &observer, const Pause &pause)
	: observer_(observer), ours_(observer.take(Observer::Office::Tables))
{
	while (!ours_ && pause(LOOK_AGAIN))
		ours_ = observer.take(Observer::Office::Tables);
}

TablesOffice::~TablesOffice()
{
	if (ours_)
		observer_.give_back(Observer::Office::Tables);
}

Rerouter::Rerouter(net::FabricView &fabric, const std::string &path, Journal &journal, const RerouteOptions &options,
		   Pause pause)
	: fabric_(fabric), network_(fabric.network()), store_(path), journal_(journal), options_(options),
	  pause_(std::move(pause)), machine_(topology::machine_of(fabric.machine()))
{
}

std::optional<Failures> Rerouter::made_without() const
{
	const uint32_t generation = network_.tables_generation();

	if (!generation)
		return Failures{};
	try {
		routing::DecodedTables decoded = network_.decode_tables(store_.read(generation));

		if (decoded.info.generation == generation)
			return std::move(decoded.info.failures);
	} catch (const std::exception &) {
		/* Members have told why. */
	}
	return std::nullopt;
}

/* Once standard input has ended, phases follow each other at once. */
void Rerouter::begin(const char *phase)
{
	std::string line;

	if (!options_.step)
		return;
	journal_.tell("step", std::string("before phase ") + phase + ": waits for a line on standard input",
		      {{"phase", phase}});
	if (!std::getline(std::cin, line))
		options_.step = false;
}

Rerouter::Made Rerouter::compute(uint32_t generation, const Failures &without, const std::string &reason)
{
	const uint64_t start = now_ns();
	const routing::Built built = routing::build_tables(machine_, Network::policy(), without);
	const uint64_t computed = now_ns();
	Made made{routing::encode_tables(built.tables, {generation, network_.tables_shape(), since_1970_ms(), without}),
		  computed - start, 0};
	const uint64_t encoded = now_ns();
	std::vector<std::string> lost = built.lost(machine_);

	/* As a member will read it: what it would refuse is never told to it. */
	network_.decode_tables(made.bytes);
	made.load_ns = now_ns() - encoded;
	Json details{{"generation", generation},
		     {"reason", reason},
		     {"links out", without.links.size()},
		     {"routers out", without.routers},
		     {"groups with detours", built.detoured.size()},
		     {"cut off", lost.size()},
		     {"ns", made.compute_ns}};

	journal_.tell("computed",
		      "generation " + std::to_string(generation) + ", without " +
			      counted(without.links.size(), "link") + " and " +
			      counted(without.routers.size(), "router") + ", in " + ms_text(made.compute_ns),
		      std::move(details));
	if (lost.size() > LINES)
		lost.resize(LINES);
	for (const std::string &line : lost)
		journal_.tell("cut off", line);
	return made;
}

/* From the store of the generation on all members load them; what they send then leaves when the quiesce is over. */
void Rerouter::load(uint32_t generation, const Made &made)
{
	const uint64_t in_flight = network_.in_flight_ns(fabric_.now());
	const uint64_t wanted = in_flight + made.compute_ns + made.load_ns;
	const uint64_t length = std::min({wanted, options_.quiesce_ns, Network::MAX_QUIESCE_NS});

	network_.set_tables_generation(generation);
	network_.quiesce(fabric_.now(), length);
	journal_.tell("quiesced",
		      "for " + ms_text(length) +
			      (length < wanted ? ", which is as long as it may, not " + ms_text(wanted) : "") + ": " +
			      ms_text(in_flight) + " until all has arrived, " + ms_text(made.compute_ns) +
			      " to compute, " + ms_text(made.load_ns) + " to load",
		      {{"generation", generation},
		       {"ns", length},
		       {"in flight ns", in_flight},
		       {"compute ns", made.compute_ns},
		       {"load ns", made.load_ns},
		       {"cut short", length < wanted}});
}

/* Members that do not use the present tables yet. */
std::vector<uint32_t> Rerouter::behind(uint32_t generation) const
{
	std::vector<uint32_t> nodes = fabric_.alive();

	std::erase_if(nodes, [&](uint32_t node) { return network_.tables_taken(node) == generation; });
	return nodes;
}

/* A member that is stopped loads the tables before its next packet: nothing has to wait for it. */
void Rerouter::resume(uint32_t generation, uint64_t began_ns)
{
	const uint64_t start = now_ns();
	std::vector<uint32_t> late = behind(generation);
	bool stay = true;

	while (stay && (!late.empty() || network_.quiesce_view(fabric_.now()).left_ns) &&
	       now_ns() - start < options_.patience_ns) {
		stay = pause_(LOOK_AGAIN);
		late = behind(generation);
	}
	const uint64_t end = now_ns();

	journal_.tell("resumed",
		      "generation " + std::to_string(generation) + " is in use" +
			      (late.empty() ? "" : ", but not yet by node " + list_of(late)) + "; " +
			      ms_text(end - start) + " since it was loaded, " + ms_text(end - began_ns) + " in all",
		      {{"generation", generation},
		       {"behind", late},
		       {"wait ns", end - start},
		       {"ns", end - began_ns},
		       {"quiesce ns", network_.quiesce_view(fabric_.now()).last_ns}});
}

void Rerouter::reroute(const Failures &without, const std::string &reason)
{
	const uint64_t began = now_ns();
	const uint32_t old = network_.tables_generation();
	const uint32_t generation = old == UINT32_MAX ? 1 : old + 1; /* 0 is the whole machine's */

	journal_.tell("reroute", reason, {{"generation", generation}});
	begin("compute");
	const Made made = compute(generation, without, reason);

	begin("write");
	const uint64_t start = now_ns();

	store_.write(generation, made.bytes);
	journal_.tell("written",
		      store_.path(generation) + ", " + counted(made.bytes.size(), "byte") + ", in " +
			      ms_text(now_ns() - start),
		      {{"file", store_.path(generation)}, {"bytes", made.bytes.size()}, {"ns", now_ns() - start}});
	begin("load");
	load(generation, made);
	begin("resume");
	resume(generation, began);
	store_.keep_only(generation, old);
}

} // namespace aries::hss
