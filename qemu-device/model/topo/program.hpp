// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file What the model's programs have in common: version, one line for an error, and how they end. */
#ifndef ARIES_TOPO_PROGRAM_HPP
#define ARIES_TOPO_PROGRAM_HPP

#include <algorithm>
#include <functional>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace aries::program
{

/** What a program ends with. */
enum Status : int { DONE, FAILED, WRONG_USAGE };

/** Throws std::runtime_error if standard output cannot be written, as on a full disk. */
inline void finish_output()
{
	if (!std::cout.flush())
		throw std::runtime_error("the output cannot be written");
}

/**
 * Reads the command line of a program with subcommands and does what was chosen.
 *
 * @param app named as the program; options and subcommands are there
 * @param chosen what is to be done, called once the command line has been read; its value is what the program ends with
 * @return a Status, or what @p chosen gives
 * @throws what @p chosen throws, and std::runtime_error if the output cannot be written
 */
inline int run(CLI::App &app, int argc, char **argv, const std::function<int()> &chosen)
{
	const std::string name = app.get_name();

	app.set_version_flag("-V,--version", name + " (OpenGNI) " OPENGNI_VERSION);
	app.failure_message([name](const CLI::App *, const CLI::Error &error) {
		return name + ": " + error.what() + "; see " + name + " --help\n";
	});
	app.require_subcommand(1);
	try {
		app.parse(argc, argv);
	} catch (const CLI::RequiredError &error) {
		const std::vector<std::string> extras = app.remaining();
		const bool option = std::any_of(extras.begin(), extras.end(),
						[](const std::string &extra) { return extra.starts_with('-'); });

		/* An option that does not exist, before any subcommand: that is what is wrong. */
		if (app.get_subcommands().empty() && option)
			app.exit(CLI::ExtrasError(extras));
		else
			app.exit(error);
		return WRONG_USAGE;
	} catch (const CLI::ParseError &error) {
		if (app.exit(error))
			return WRONG_USAGE;
		finish_output();
		return DONE;
	}
	const int status = chosen();

	finish_output();
	return status;
}

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
