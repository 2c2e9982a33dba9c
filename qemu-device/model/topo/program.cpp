// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/program.hpp"

#include <algorithm>
#include <cmath>

#include <CLI/CLI.hpp>

namespace aries::program
{

namespace
{

/* CLI::Range lets through what is no number: the two that follow do not. */
CLI::Validator time_validator(const Check &check)
{
	const std::string unit = check.text, limit = std::to_string(static_cast<uint64_t>(check.most));
	const auto complaint = [check, unit, limit](const std::string &text) -> std::string {
		double value = 0;

		if (CLI::detail::lexical_cast(text, value) && value >= check.least && value <= check.most)
			return {};
		return "a time of up to " + limit + " " + unit + ", not " + text;
	};

	return {complaint, unit == "s" ? "S" : "MS"};
}

CLI::Validator real_validator(const Check &check)
{
	CLI::Validator within = CLI::Range(check.least, check.most);
	const auto complaint = [within](std::string &text) -> std::string {
		double value = 0;

		if (CLI::detail::lexical_cast(text, value) && std::isnan(value))
			return "Value " + text + " is no number";
		return within(text);
	};

	return {complaint, within.get_description()};
}

template <typename Number> CLI::Validator range(const Check &check)
{
	return CLI::Range(static_cast<Number>(check.least), static_cast<Number>(check.most));
}

/* For what leaves values as they are. */
CLI::Validator validator(const Check &check)
{
	switch (check.kind) {
	case Check::SIGNED:
		return range<int64_t>(check);
	case Check::UNSIGNED:
		return range<uint64_t>(check);
	case Check::REAL:
		return real_validator(check);
	case Check::POSITIVE:
		return CLI::PositiveNumber;
	case Check::TIME:
		return time_validator(check);
	case Check::WORD:
		return CLI::IsMember(CLI::detail::split(check.text, ','));
	default:
		break;
	}
	return {};
}

/* Adds an option by what its place is. */
struct Adder {
	CLI::App &app;
	const std::string names, help;

	CLI::Option *operator()(bool *place) const { return app.add_flag(names, *place, help); }
	template <typename Value> CLI::Option *operator()(Value *place) const
	{
		return app.add_option(names, *place, help);
	}
	CLI::Option *operator()(Version) const
	{
		return app.set_version_flag(names, app.get_name() + " (OpenGNI) " OPENGNI_VERSION);
	}
	CLI::Option *operator()(OptionFile) const
	{
		app.allow_config_extras(CLI::config_extras_mode::error);
		return app.set_config(names, "", help);
	}
};

void add_option(CLI::App &app, const Option &option)
{
	CLI::Option *added = std::visit(Adder{app, option.names, option.help}, option.place);
	const Rules &rules = option.rules;

	if (rules.required)
		added->required();
	if (rules.check.kind == Check::NAME)
		added->transform(CLI::CheckedTransformer(*rules.check.names));
	else if (rules.check.kind != Check::ANY)
		added->check(validator(rules.check));
	if (rules.values)
		added->expected(1, rules.values);
	if (rules.repeated)
		added->expected(1)
			->allow_extra_args(false)
			->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
			->delimiter('\0');
}

/* Options that another one names may come behind it. */
void bind_option(CLI::App &app, const Option &option)
{
	if (option.rules.needs)
		app.get_option(option.names)->needs(app.get_option(option.rules.needs));
	if (option.rules.excludes)
		app.get_option(option.names)->excludes(app.get_option(option.rules.excludes));
}

/* @p chosen: set to the command that the command line names. */
void add_command(CLI::App &app, const Command &command, const Command *&chosen)
{
	for (const Option &option : command.options)
		add_option(app, option);
	for (const Option &option : command.options)
		bind_option(app, option);
	app.require_option(command.least, command.most);
	app.fallthrough(command.program_options);
	if (command.alias)
		app.alias(command.alias);
	for (const Command &each : command.commands) {
		CLI::App *sub = app.add_subcommand(each.name, each.help);

		sub->callback([&chosen, &each] { chosen = &each; });
		add_command(*sub, each, chosen);
	}
}

/* An option or a command that does not exist: that is what is wrong, and not that there is no command. */
void complain(CLI::App &app, const Command &program, const CLI::RequiredError &error)
{
	const std::vector<std::string> extras = app.remaining();
	const bool option = std::any_of(extras.begin(), extras.end(),
					[](const std::string &extra) { return extra.starts_with('-'); });
	std::string known;

	for (const Command &command : program.commands)
		known += (known.empty() ? "" : ", ") + std::string(command.name);
	if (!app.get_subcommands().empty() || extras.empty())
		app.exit(error);
	else if (option)
		app.exit(CLI::ExtrasError(extras));
	else if (!program.action && !known.empty())
		app.exit(CLI::ParseError("there is no command '" + extras[0] + "': " + known,
					 CLI::ExitCodes::ExtrasError));
	else
		app.exit(error);
}

/* CLI11 says of a line of a file that it could not parse it, whatever is wrong with it: that there is no such option.
 */
void complain(CLI::App &app, const CLI::ConfigError &error)
{
	const std::string said = error.what(), unknown = "INI was not able to parse ";

	if (said.starts_with(unknown))
		app.exit(CLI::ConfigError("the file of --config has '" + said.substr(unknown.size()) +
						  "', and there is no such option",
					  CLI::ExitCodes::ConfigError));
	else
		app.exit(error);
}

} // namespace

void finish_output()
{
	if (!std::cout.flush())
		throw std::runtime_error("the output cannot be written");
}

int run(const Command &program, int argc, char **argv, const std::function<void()> &finish)
{
	CLI::App app{program.help, program.name};
	const Command *chosen = &program;

	add_command(app, program, chosen);
	if (!program.action)
		app.require_subcommand(1);
	app.failure_message([name = std::string(program.name)](const CLI::App *, const CLI::Error &error) {
		return name + ": " + error.what() + "; see " + name + " --help\n";
	});
	try {
		app.parse(argc, argv);
	} catch (const CLI::RequiredError &error) {
		complain(app, program, error);
		return WRONG_USAGE;
	} catch (const CLI::ConfigError &error) {
		complain(app, error);
		return WRONG_USAGE;
	} catch (const CLI::ParseError &error) {
		if (app.exit(error))
			return WRONG_USAGE;
		finish();
		return DONE;
	}
	const int status = chosen->action();

	finish();
	return status;
}

} // namespace aries::program
