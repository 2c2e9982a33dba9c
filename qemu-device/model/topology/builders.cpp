// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/builders.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/build_torus.hpp"

namespace aries::topology
{

namespace
{

template <typename Number> std::string set_number(Number &field, const std::string &text)
{
	Number value{};
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	if (error != std::errc{} || end != text.data() + text.size())
		return "'" + text + "' is not a number that can be";
	field = value;
	return {};
}

template <typename Value> using Names = std::vector<std::pair<const char *, Value>>;

template <typename Value> std::string set_choice(Value &field, const std::string &text, const Names<Value> &names)
{
	std::string known;

	for (const auto &[name, value] : names) {
		if (text == name) {
			field = value;
			return {};
		}
		known += (known.empty() ? "" : ", ") + std::string(name);
	}
	return "'" + text + "' is none of " + known;
}

std::string set_value(uint32_t &field, const std::string &text)
{
	return set_number(field, text);
}

std::string set_value(double &field, const std::string &text)
{
	double value = 0;
	std::string reason = set_number(value, text);

	if (reason.empty() && (!std::isfinite(value) || value < 0))
		return "'" + text + "' is not a number that can be";
	if (reason.empty())
		field = value;
	return reason;
}

std::string set_value(bool &field, const std::string &text)
{
	return set_choice<bool>(field, text, {{"true", true}, {"false", false}});
}

std::string set_value(Cooling &field, const std::string &text)
{
	return set_choice<Cooling>(field, text, {{"water", Cooling::Water}, {"air", Cooling::Air}});
}

std::string set_value(TorusClass &field, const std::string &text)
{
	return set_choice<TorusClass>(field, text,
				      {{"0", TorusClass::Class0},
				       {"1", TorusClass::Class1},
				       {"2", TorusClass::Class2},
				       {"3", TorusClass::Class3},
				       {"m", TorusClass::M}});
}

std::string set_value(TorusRates &field, const std::string &text)
{
	return set_choice<TorusRates>(field, text, {{"paper", TorusRates::Paper}, {"measured", TorusRates::Measured}});
}

std::string set_value(BundleRule &field, const std::string &text)
{
	return set_choice<BundleRule>(field, text,
				      {{"as-needed", BundleRule::AsNeeded}, {"multiples", BundleRule::Multiples}});
}

template <typename Shape> struct Field {
	const char *name;
	const char *help;
	std::function<std::string(Shape &, const std::string &)> set;
};

template <typename Shape, typename Value> Field<Shape> field(const char *name, Value Shape::*member, const char *help)
{
	return {name, help, [member](Shape &shape, const std::string &text) { return set_value(shape.*member, text); }};
}

const std::vector<Field<AriesShape>> &fields(const AriesShape &)
{
	static const std::vector<Field<AriesShape>> list = {
		field("groups", &AriesShape::groups, "1 to 241"),
		field("chassis", &AriesShape::chassis, "of a group, 1 to 6"),
		field("slots", &AriesShape::slots, "of a chassis, 1 to 16"),
		field("last_group_chassis", &AriesShape::last_group_chassis, "if the last group is short"),
		field("last_chassis_slots", &AriesShape::last_chassis_slots, "if the last chassis is short"),
		field("cables_per_pair", &AriesShape::cables_per_pair, "of groups; as many as fit if not given"),
		field("half_optics", &AriesShape::half_optics, "true: half of the ports at most"),
		field("planned_groups", &AriesShape::planned_groups, "up to which no cable moves"),
		field("cooling", &AriesShape::cooling, "water or air"),
		field("bundle_rule", &AriesShape::bundle_rule, "as-needed or multiples"),
		field("electrical_global", &AriesShape::electrical_global, "true: copper between groups"),
		field("global_length_m", &AriesShape::global_length_m, "of a cable between groups"),
		field("nodes", &AriesShape::nodes, "if the last ones are missing"),
	};

	return list;
}

const std::vector<Field<CanonicalShape>> &fields(const CanonicalShape &)
{
	static const std::vector<Field<CanonicalShape>> list = {
		field("p", &CanonicalShape::p, "nodes of a router"),
		field("a", &CanonicalShape::a, "routers of a group"),
		field("h", &CanonicalShape::h, "global links of a router"),
		field("groups", &CanonicalShape::groups, "a * h + 1 if not given"),
	};

	return list;
}

const std::vector<Field<TorusShape>> &fields(const TorusShape &)
{
	static const std::vector<Field<TorusShape>> list = {
		field("x", &TorusShape::x, "nodes, unless there is a class"),
		field("y", &TorusShape::y, "nodes, an even number"),
		field("z", &TorusShape::z, "nodes"),
		field("open_y", &TorusShape::open_y, "true: a mesh in y"),
		field("class", &TorusShape::of, "of a machine of cabinets: 0, 1, 2, 3, or m"),
		field("cabinets", &TorusShape::cabinets, "of a row"),
		field("rows", &TorusShape::rows, "of cabinets, if there may be several"),
		field("chassis", &TorusShape::chassis, "of the only cabinet of class m, 1 to 3"),
		field("rates", &TorusShape::rates, "of lanes, paper or measured"),
	};

	return list;
}

const std::vector<Field<ClosShape>> &fields(const ClosShape &)
{
	static const std::vector<Field<ClosShape>> list = {
		field("radix", &ClosShape::radix, "of a router, even"),
		field("stages", &ClosShape::stages, "of routers"),
		field("top_radix", &ClosShape::top_radix, "of the last stage, if it is another"),
		field("lanes", &ClosShape::lanes, "of a link"),
		field("gbit_per_lane", &ClosShape::gbit_per_lane, "raw"),
		field("optical_leaves", &ClosShape::optical_leaves, "false: copper in the first stage, too"),
	};

	return list;
}

const std::vector<Field<QsnetShape>> &fields(const QsnetShape &)
{
	static const std::vector<Field<QsnetShape>> list = {
		field("nodes", &QsnetShape::nodes, "1 to 16384, by which chassis follow"),
		field("links", &QsnetShape::links, "of a node: 1, 2 or 4"),
		field("spread", &QsnetShape::spread, "true: links of a node are at as many chassis"),
		field("blades", &QsnetShape::blades, "true: node switches of 16 nodes in chassis of blades"),
		field("top_switches", &QsnetShape::top_switches, "if there are fewer than links up of a node switch"),
	};

	return list;
}

template <typename Shape> Shape shape_of(const std::vector<Parameter> &parameters)
{
	Shape shape;

	for (size_t i = 0; i < parameters.size(); i++) {
		const auto same = [&](const auto &f) { return parameters[i].name == f.name; };
		const auto twice = [&](const Parameter &other) { return other.name == parameters[i].name; };
		const auto &known = fields(shape);
		const auto found = std::find_if(known.begin(), known.end(), same);

		if (found == known.end())
			throw ParameterError(i, "there is no parameter " + parameters[i].name);
		if (std::any_of(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(i), twice))
			throw ParameterError(i, parameters[i].name + " is given twice");

		const std::string reason = found->set(shape, parameters[i].value);

		if (!reason.empty())
			throw ParameterError(i, parameters[i].name + ": " + reason);
	}
	return shape;
}

Built with(Machine machine)
{
	return {std::move(machine), {}};
}

template <typename Shape> std::string describe(const char *name, const char *help)
{
	std::string text = std::string(name) + ": " + help + "\n";

	for (const auto &f : fields(Shape{}))
		text += "    " + std::string(f.name) + "  " + f.help + "\n";
	return text;
}

} // namespace

Built build_named(const std::string &builder, const std::vector<Parameter> &parameters)
{
	try {
		if (builder == "aries") {
			const auto shape = shape_of<AriesShape>(parameters);

			return {build_aries(shape), advise_aries(shape)};
		}
		if (builder == "canonical")
			return with(build_canonical(shape_of<CanonicalShape>(parameters)));
		if (builder == "torus") {
			const auto shape = shape_of<TorusShape>(parameters);

			return {build_torus(shape), advise_torus(shape)};
		}
		if (builder == "clos")
			return with(build_clos(shape_of<ClosShape>(parameters)));
		if (builder == "qsnet")
			return with(build_qsnet(shape_of<QsnetShape>(parameters)));
	} catch (const ParameterError &) {
		throw;
	} catch (const std::invalid_argument &error) {
		throw ParameterError(ParameterError::SHAPE, error.what());
	}
	throw ParameterError(ParameterError::SHAPE,
			     "there is no builder " + builder + ": aries, canonical, torus, clos, qsnet are known");
}

std::string describe_routed()
{
	return describe<AriesShape>("aries", "groups of chassis of Aries blades") +
	       describe<CanonicalShape>("canonical", "the dragonfly of the literature") +
	       describe<TorusShape>("torus", "Gemini's torus of three dimensions") +
	       describe<ClosShape>("clos", "a fat tree of one kind of router");
}

std::string describe_builders()
{
	return describe_routed() +
	       describe<QsnetShape>("qsnet", "QsNetIII's folded Clos of Elite5 switches in chassis");
}

} // namespace aries::topology
