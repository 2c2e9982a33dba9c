// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The command line of a tool, read by CLI11. Only command_line.cpp includes CLI11's headers, which take long to
 * compile.
 */
#ifndef TOOLS_COMMAND_LINE_H
#define TOOLS_COMMAND_LINE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
} // namespace CLI

namespace tools
{

/**
 * Reads a number with an optional suffix K, M or G.
 * Throws UsageError that names @p what when it is none or exceeds @p max.
 */
uint64_t parse_number(const char *text, const char *what, uint64_t max);

/** Reads a time above 0 and up to a day, in seconds. Throws UsageError that names @p what. */
double parse_seconds(const char *text, const char *what);

/**
 * Options of a tool, its --help (-h) and its --version (-V). An option that is given twice has its last value.
 *
 * Names of options are written as CLI11 takes them: "-s,--sizes". A value's name, as in "-s,--sizes LIST", is for
 * --help only. What parse() stores in must outlive this object.
 */
class CommandLine
{
public:
	/** What is done with the value of an option; may throw UsageError. */
	using Take = std::function<void(const std::string &value)>;

	/** What an option is called, what its value is called, and what --help says of it. */
	struct Name {
		const char *names;
		const char *value;
		const char *text;
	};

	/**
	 * @param program name, for --help, --version and complaints
	 * @param about what it does: the first paragraph of --help
	 * @param usage ways to call it: each a line without the program's name; none: as CLI11 finds it
	 * @param footer paragraphs below the options
	 */
	CommandLine(const char *program, const char *about, std::vector<std::string> usage, std::string footer);
	~CommandLine();
	CommandLine(const CommandLine &) = delete;
	CommandLine &operator=(const CommandLine &) = delete;

	/** Options that are added from now on stand under this title in --help. */
	void group(const char *title);

	/** An option without a value. */
	void flag(const char *names, const char *text, bool &value);

	/** An option with a value. */
	void option(const Name &name, const Take &take);

	/** An option whose value may be left out, which gives "". */
	void option_or_none(const Name &name, const Take &take);

	/** An option whose value is any text. */
	void text(const Name &name, std::string &value);

	/** An option whose value is a time as parse_seconds() takes it. */
	void seconds(const Name &name, double &value);

	/** An option whose value is a number from @p least to @p most, as parse_number() takes it. */
	template <typename Number> void number(const Name &name, Number &value, uint64_t most, uint64_t least = 0)
	{
		option(name, [&value, most, least, what = long_name(name.names)](const std::string &given) {
			value = static_cast<Number>(number_between(given, what, least, most));
		});
	}

	/** Options as CLI11 takes them: that with a bool has no value or =true or =false, that with a list several. */
	void plain(const Name &name, bool &value);
	void plain(const Name &name, uint64_t &value);
	void plain(const Name &name, std::vector<uint32_t> &values);
	void plain(const Name &name, double &value, double least, double most);

	/**
	 * A subcommand, which need not be given: options that are added from now on are its own. Those from before may
	 * follow it.
	 */
	void subcommand(const char *name, const char *text);

	/** A word that is no option, by its place; none given: @p value stays. */
	void word(const char *name, const char *text, std::string &value);

	/** All words from the first that is no option on: a command, with its own options. */
	void rest(std::vector<std::string> &words);

	/**
	 * Reads the command line; for use before there are threads.
	 * @return false when --help or --version was asked for, and has been printed
	 * Throws UsageError, also what the options' Take throws.
	 */
	bool parse(int argc, char **argv);

	/** Whether the command line had this option. */
	bool given(const char *name) const;

	/** The subcommand that the command line had, or "". */
	std::string chosen() const;

private:
	static std::string long_name(const std::string &names);
	static uint64_t number_between(const std::string &given, const std::string &what, uint64_t least,
				       uint64_t most);
	CLI::Option &add(const Name &name, const Take &take);

	std::unique_ptr<CLI::App> app_;
	CLI::App *added_to_; /* the program, or its last subcommand */
	std::vector<std::string> *rest_ = nullptr;
	std::string group_ = "Options";
};

} // namespace tools

#endif // TOOLS_COMMAND_LINE_H
