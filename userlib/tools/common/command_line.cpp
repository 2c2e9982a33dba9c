// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "command_line.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <CLI/CLI.hpp>

#include "failure.h"

namespace tools
{

namespace
{

constexpr size_t column_of_texts = 28;

/* CLI11 knows one way to call a program, and tells it as [OPTIONS] and words. */
class Help : public CLI::Formatter
{
public:
	Help(std::string program, std::vector<std::string> usage)
		: program_(std::move(program)), usage_(std::move(usage))
	{
		column_width(column_of_texts);
	}

	/* An empty line between what stands below each other, and no second one. */
	std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override
	{
		std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
		for (size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
			text.erase(at, 1);
		return text;
	}

	std::string make_description(const CLI::App *app) const override
	{
		return CLI::Formatter::make_description(app) + "\n";
	}

	/* A value as it is written for a long option: --name=VALUE, or --name[=VALUE] if it may be left out. */
	std::string make_option_opts(const CLI::Option *option) const override
	{
		std::string text = CLI::Formatter::make_option_opts(option);
		if (option->get_lnames().empty() || !text.starts_with(' '))
			return text;
		if (option->get_expected_min() == 0)
			return text.starts_with(" [") ? "[=" + text.substr(2) : text;
		return "=" + text.substr(1);
	}

	std::string make_usage(const CLI::App *app, std::string name) const override
	{
		if (usage_.empty() || app->get_parent())
			return CLI::Formatter::make_usage(app, std::move(name));
		std::string text;
		for (const std::string &line : usage_)
			text += (text.empty() ? "Usage: " : "       ") + program_ + " " + line + "\n";
		return text;
	}

private:
	std::string program_;
	std::vector<std::string> usage_;
};

/* A line for what the command line has too much; CLI11's own would be about arguments that were not expected. */
std::string complaint(const CLI::App &app, const CLI::ParseError &error)
{
	const std::vector<std::string> extras = app.remaining(true);
	if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) || extras.empty())
		return error.what();
	const bool option = extras.front().size() > 1 && extras.front().starts_with('-');
	return "'" + extras.front() + (option ? "' is not an option" : "' is one word too many");
}

} // namespace

uint64_t parse_number(const char *text, const char *what, uint64_t max)
{
	char *end = nullptr;
	errno = 0;
	uint64_t value = strtoull(text, &end, 0);
	uint64_t scale = 1;
	if (*end == 'K' || *end == 'k')
		scale = 1024, end++;
	else if (*end == 'M' || *end == 'm')
		scale = 1u << 20, end++;
	else if (*end == 'G' || *end == 'g')
		scale = 1u << 30, end++;
	if (end == text || *end || errno || text[0] == '-' || value > max / scale)
		throw UsageError(format("%s: '%s' is not a number up to %llu", what, text,
					static_cast<unsigned long long>(max)));
	return value * scale;
}

double parse_seconds(const char *text, const char *what)
{
	constexpr double day = 86400;
	char *end = nullptr;
	const double value = strtod(text, &end);
	if (end == text || *end || !(value > 0) || value > day)
		throw UsageError(format("%s: '%s' is not a time in seconds", what, text));
	return value;
}

CommandLine::CommandLine(const char *program, const char *about, std::vector<std::string> usage, std::string footer)
	: app_(std::make_unique<CLI::App>(about, program)), added_to_(app_.get())
{
	app_->formatter(std::make_shared<Help>(program, std::move(usage)));
	app_->set_help_flag("-h,--help", "this text");
	app_->set_version_flag("-V,--version", std::string(program) + " (OpenGNI) " OPENGNI_VERSION,
			       "prints the version");
	app_->footer(std::move(footer));
}

CommandLine::~CommandLine() = default;

void CommandLine::group(const char *title)
{
	group_ = title;
}

std::string CommandLine::long_name(const std::string &names)
{
	return names.substr(names.find("--"));
}

uint64_t CommandLine::number_between(const std::string &given, const std::string &what, uint64_t least, uint64_t most)
{
	const uint64_t value = parse_number(given.c_str(), what.c_str(), most);
	if (value < least)
		throw UsageError(format("%s must not be %s", what.c_str(), given.c_str()));
	return value;
}

CLI::Option &CommandLine::add(const Name &name, const Take &take)
{
	CLI::Option *option = added_to_->add_option_function<std::string>(name.names, take, name.text);
	return *option->type_name(name.value)->take_last()->group(group_);
}

void CommandLine::flag(const char *names, const char *text, bool &value)
{
	added_to_->add_flag(names, value, text)->disable_flag_override()->group(group_);
}

void CommandLine::option(const Name &name, const Take &take)
{
	add(name, take);
}

void CommandLine::option_or_none(const Name &name, const Take &take)
{
	add(name, take).expected(0, 1);
}

void CommandLine::text(const Name &name, std::string &value)
{
	add(name, [&value](const std::string &given) { value = given; });
}

void CommandLine::seconds(const Name &name, double &value)
{
	add(name, [&value, what = long_name(name.names)](const std::string &given) {
		value = parse_seconds(given.c_str(), what.c_str());
	});
}

void CommandLine::plain(const Name &name, bool &value)
{
	added_to_->add_flag(name.names, value, name.text);
}

void CommandLine::plain(const Name &name, uint64_t &value)
{
	added_to_->add_option(name.names, value, name.text)->type_name(name.value);
}

void CommandLine::plain(const Name &name, std::vector<uint32_t> &values)
{
	added_to_->add_option(name.names, values, name.text)->type_name(name.value);
}

void CommandLine::plain(const Name &name, double &value, double least, double most)
{
	added_to_->add_option(name.names, value, name.text)
		->check(CLI::Range(least, most).description(""))
		->type_name(name.value);
}

void CommandLine::subcommand(const char *name, const char *text)
{
	app_->fallthrough();
	app_->require_subcommand(0, 1);
	added_to_ = app_->add_subcommand(name, text);
}

void CommandLine::word(const char *name, const char *text, std::string &value)
{
	app_->add_option(name, value, text)->type_name("");
}

void CommandLine::rest(std::vector<std::string> &words)
{
	app_->prefix_command();
	rest_ = &words;
}

bool CommandLine::parse(int argc, char **argv)
{
	try {
		app_->parse(argc, argv);
	} catch (const CLI::Success &asked) {
		app_->exit(asked);
		return false;
	} catch (const CLI::ParseError &error) {
		throw UsageError(complaint(*app_, error) + "; see --help");
	}
	if (rest_)
		*rest_ = app_->remaining();
	return true;
}

std::string CommandLine::chosen() const
{
	const std::vector<CLI::App *> subcommands = app_->get_subcommands();

	return subcommands.empty() ? "" : subcommands.front()->get_name();
}

bool CommandLine::given(const char *name) const
{
	return app_->count(name) > 0;
}

} // namespace tools
