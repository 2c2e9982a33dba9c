// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What programs of this machine have in common: a command line that is a table, one line for an error, and how they
 * end. CLI11 reads the command line; only program.cpp includes its headers, which take longer to compile than most
 * programs.
 */
#ifndef ARIES_TOPO_PROGRAM_HPP
#define ARIES_TOPO_PROGRAM_HPP

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace aries::program
{

/** What a program ends with. */
enum Status : int { DONE, FAILED, WRONG_USAGE };

/** Instead of a place: the option that prints the version, and the one that names a file with options. */
struct Version {
};
struct OptionFile {
};

/**
 * Where the value of an option is stored; what is there stays unless the option is given. A bool: a flag, which has no
 * value. A vector: all the values that follow.
 */
using Place =
	std::variant<bool *, std::string *, uint16_t *, uint32_t *, uint64_t *, float *, double *,
		     std::optional<bool> *, std::optional<uint32_t> *, std::optional<double> *, std::vector<int32_t> *,
		     std::vector<uint32_t> *, std::vector<std::string> *, Version, OptionFile>;

/** Names of values, and the values as they could be given as well. */
using Names = std::map<std::string, std::string>;

/** Which values an option takes; --help tells it. Made by the functions below. */
struct Check {
	enum Kind { ANY, SIGNED, UNSIGNED, REAL, POSITIVE, TIME, WORD, NAME };

	Kind kind = ANY;
	double least = 0, most = 0;
	const char *text = nullptr;   ///< unit of a TIME; words, with commas between them
	const Names *names = nullptr; ///< must outlive the table
};

/** A number from @p least to @p most; neither exceeds 2^53. */
template <typename Number> constexpr Check between(Number least, Number most)
{
	constexpr Check::Kind whole = std::is_signed_v<Number> ? Check::SIGNED : Check::UNSIGNED;

	return {std::is_floating_point_v<Number> ? Check::REAL : whole, double(least), double(most)};
}

constexpr Check positive()
{
	return {Check::POSITIVE};
}

/** A time in @p unit, "s" or "ms". What is no number is refused with the limit, which must be a whole one. */
constexpr Check time_between(double least, double most, const char *unit)
{
	return {Check::TIME, least, most, unit};
}

/** One of some words, which have commas between them. */
constexpr Check one_of(const char *words)
{
	return {Check::WORD, 0, 0, words};
}

constexpr Check named(const Names &names)
{
	return {Check::NAME, 0, 0, nullptr, &names};
}

/** What holds for an option. */
struct Rules {
	bool required = false;
	Check check = {};
	const char *needs = nullptr, *excludes = nullptr; ///< another option of the command
	int values = 0;        ///< at most so many, at least one; 0: as many as the place has
	bool repeated = false; ///< comes several times, with one value each, which may have commas in it
};

/** An option, "-f,--fabric", or a word that has its place, "router". */
struct Option {
	const char *names;
	Place place;
	const char *help;
	Rules rules = {};
};

/** What every program has. */
constexpr Option VERSION = {"-V,--version", Version{}, ""};

/** A program, or one of the commands that it has. */
struct Command {
	const char *name, *help;
	std::vector<Option> options;
	std::function<int()> action; ///< its value is what the program ends with; none: one of @ref commands is needed
	std::vector<Command> commands = {};
	const char *alias = nullptr;  ///< another name
	size_t least = 0, most = 0;   ///< options that have to be given, and that may be; 0: any number
	bool program_options = false; ///< options of the program may follow the command's name
};

/** Throws std::runtime_error if standard output cannot be written, as on a full disk. */
void finish_output();

/**
 * Reads the command line and does what it says.
 *
 * @param finish called when all is done that was wanted, --help as well, but not after a complaint
 * @return a Status, or what the command's action gives
 * @throws what actions and @p finish throw
 */
int run(const Command &program, int argc, char **argv, const std::function<void()> &finish = finish_output);

/** The value of @p body, or FAILED with a line that says what it threw. */
template <typename Body> int guarded(const char *name, Body &&body)
{
	try {
		return body();
	} catch (const std::bad_alloc &) {
		std::cerr << name << ": not enough memory\n";
	} catch (const std::exception &error) {
		std::cerr << name << ": " << error.what() << "\n";
	}
	return FAILED;
}

} // namespace aries::program

#endif
