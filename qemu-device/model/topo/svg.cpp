// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

namespace aries::topology
{

namespace
{

constexpr uint32_t GROUPS_WITH_LINKS = 16;
constexpr double STEP = 36;   ///< from a router to the next
constexpr double ROUTER = 16; ///< its size
constexpr double MARGIN = 44; ///< around what is in a group
constexpr double GAP = 70;    ///< between groups
constexpr double LEGEND = 22; ///< height of a line
constexpr std::array<const char *, 6> COLOURS = {"#2a9d3a", "#222222", "#2554c7", "#c0392b", "#8e44ad", "#d68910"};

std::string escaped(const std::string &text)
{
	std::string result;

	for (const char c : text) {
		if (c == '<')
			result += "&lt;";
		else if (c == '&')
			result += "&amp;";
		else
			result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
	}
	return result;
}

struct Point {
	double x;
	double y;
};

class Drawing
{
public:
	Drawing(std::ostream &out, const Machine &machine) : out_(out), machine_(machine)
	{
		for (const RouterPlace &place : machine.routers) {
			for (size_t axis = 0; axis < MAX_AXES; axis++)
				sizes_[axis] = std::max<uint32_t>(sizes_[axis], place.at[axis] + 1u);
		}
		/* One axis is a row, two are rows and columns, of three the first tells the plane. */
		const size_t axes = machine.axes.size();

		planes_ = axes > 2 ? sizes_[0] : 1;
		rows_ = axes > 2 ? sizes_[1] : axes > 1 ? sizes_[0] : 1;
		columns_ = axes > 2 ? sizes_[2] : axes > 1 ? sizes_[1] : sizes_[0];
		width_ = planes_ * (columns_ + 1) * STEP - STEP + 2 * MARGIN;
		height_ = rows_ * STEP + 2 * MARGIN;
		across_ = static_cast<uint32_t>(std::ceil(std::sqrt(machine.groups * height_ / width_)));
		across_ = std::clamp<uint32_t>(across_, 1, machine.groups);
	}

	void draw()
	{
		const uint32_t down = (machine_.groups + across_ - 1) / across_;
		const double top = LEGEND * static_cast<double>(machine_.classes.size() + 2);

		origin_ = {GAP / 2, top};
		out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << across_ * (width_ + GAP)
		     << "\" height=\"" << top + down * (height_ + GAP)
		     << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
		     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
		legend();
		between_groups();
		for (uint32_t group = 0; group < machine_.groups; group++)
			frame(group);
		inside_groups();
		routers();
		out_ << "</svg>\n";
	}

private:
	const char *colour(size_t cls) const { return COLOURS[cls % COLOURS.size()]; }
	bool shown(uint32_t group) const { return machine_.groups <= GROUPS_WITH_LINKS || group == 0; }

	Point corner(uint32_t group) const
	{
		const uint32_t row = group / across_;
		const uint32_t column = group % across_;

		return {origin_.x + column * (width_ + GAP), origin_.y + row * (height_ + GAP)};
	}

	Point centre(uint32_t group) const { return {corner(group).x + width_ / 2, corner(group).y + height_ / 2}; }

	Point place(uint32_t router) const
	{
		const RouterPlace &at = machine_.routers[router];
		const size_t axes = machine_.axes.size();
		const uint32_t plane = axes > 2 ? at.at[0] : 0;
		const uint32_t row = axes > 2 ? at.at[1] : axes > 1 ? at.at[0] : 0;
		const uint32_t column = axes > 2 ? at.at[2] : axes > 1 ? at.at[1] : at.at[0];
		const Point start = corner(at.group);

		return {start.x + MARGIN + (plane * (columns_ + 1) + column + 0.5) * STEP,
			start.y + MARGIN + (row + 0.5) * STEP};
	}

	void legend()
	{
		double y = LEGEND;

		out_ << "<text x=\"" << origin_.x << "\" y=\"" << y << "\" font-size=\"16\">" << escaped(machine_.name)
		     << ": " << machine_.groups << (machine_.groups == 1 ? " group, " : " groups, ")
		     << machine_.routers.size() << " routers, " << machine_.nodes.size() << " nodes</text>\n";
		for (size_t cls = 0; cls < machine_.classes.size(); cls++) {
			y += LEGEND;
			out_ << "<line x1=\"" << origin_.x << "\" y1=\"" << y - 4 << "\" x2=\"" << origin_.x + 30
			     << "\" y2=\"" << y - 4 << "\" stroke=\"" << colour(cls)
			     << "\" stroke-width=\"3\"/><text x=\"" << origin_.x + 38 << "\" y=\"" << y << "\">"
			     << escaped(machine_.classes[cls].name) << "</text>\n";
		}
	}

	void frame(uint32_t group)
	{
		const Point at = corner(group);

		out_ << "<g class=\"group\"><rect x=\"" << at.x << "\" y=\"" << at.y << "\" width=\"" << width_
		     << "\" height=\"" << height_
		     << "\" rx=\"8\" fill=\"#f6f6f2\" fill-opacity=\"0.92\" stroke=\"#999\"/><text x=\"" << at.x + 8
		     << "\" y=\"" << at.y + 16 << "\">group " << group << "</text></g>\n";
	}

	/* A curve from one point to another, bent aside by some part of its length. */
	void curve(const Point &a, const Point &b, double bend, size_t cls, double width, const std::string &title)
	{
		const Point control = {(a.x + b.x) / 2 - (b.y - a.y) * bend, (a.y + b.y) / 2 + (b.x - a.x) * bend};

		out_ << "<path class=\"link\" d=\"M" << a.x << " " << a.y << " Q" << control.x << " " << control.y
		     << " " << b.x << " " << b.y << "\" fill=\"none\" stroke=\"" << colour(cls) << "\" stroke-width=\""
		     << width << "\" stroke-opacity=\"0.55\"><title>" << title << "</title></path>\n";
	}

	using Ends = std::tuple<uint32_t, uint32_t, uint8_t>;

	void between_groups()
	{
		struct Bundle {
			uint32_t links = 0;
			std::set<uint32_t> cables;
		};
		std::map<Ends, Bundle> bundles;

		for (const Link &link : machine_.links) {
			const uint32_t a = machine_.routers[link.end[0].router].group;
			const uint32_t b = machine_.routers[link.end[1].router].group;

			if (a == b)
				continue;

			Bundle &bundle = bundles[{std::min(a, b), std::max(a, b), link.link_class}];

			bundle.links++;
			if (link.cable != NO_CABLE)
				bundle.cables.insert(link.cable);
		}
		for (const auto &[ends, bundle] : bundles) {
			const auto &[a, b, cls] = ends;

			curve(centre(a), centre(b), 0.12, cls, 1 + std::log2(bundle.links),
			      "groups " + std::to_string(a) + " and " + std::to_string(b) + ": " +
				      std::to_string(bundle.links) + " links, " + std::to_string(bundle.cables.size()) +
				      " cables");
		}
	}

	void inside_groups()
	{
		std::map<Ends, uint32_t> pairs;

		for (const Link &link : machine_.links) {
			const uint32_t group = machine_.routers[link.end[0].router].group;

			if (group == machine_.routers[link.end[1].router].group && shown(group))
				pairs[{std::min(link.end[0].router, link.end[1].router),
				       std::max(link.end[0].router, link.end[1].router), link.link_class}]++;
		}
		for (const auto &[ends, links] : pairs) {
			const auto &[a, b, cls] = ends;

			curve(place(a), place(b), 0.18, cls, 0.5 + 0.25 * links,
			      "routers " + std::to_string(a) + " and " + std::to_string(b) + ": " +
				      std::to_string(links) + (links > 1 ? " links" : " link"));
		}
	}

	void routers()
	{
		for (uint32_t router = 0; router < machine_.routers.size(); router++) {
			const Point at = place(router);

			if (!shown(machine_.routers[router].group))
				continue;
			out_ << "<rect class=\"router\" x=\"" << at.x - ROUTER / 2 << "\" y=\"" << at.y - ROUTER / 2
			     << "\" width=\"" << ROUTER << "\" height=\"" << ROUTER
			     << "\" rx=\"2\" fill=\"#dde6f5\" stroke=\"#445\"><title>router " << router;
			for (size_t axis = 0; axis < machine_.axes.size(); axis++)
				out_ << ", " << escaped(machine_.axes[axis]) << " "
				     << machine_.routers[router].at[axis];
			out_ << "</title></rect>\n";
		}
	}

	std::ostream &out_;
	const Machine &machine_;
	std::array<uint32_t, MAX_AXES> sizes_{};
	uint32_t planes_ = 1;
	uint32_t rows_ = 1;
	uint32_t columns_ = 1;
	uint32_t across_ = 1;
	double width_ = 0;
	double height_ = 0;
	Point origin_{GAP / 2, 0};
};

} // namespace

void write_svg(std::ostream &out, const Machine &machine)
{
	Drawing(out, machine).draw();
}

} // namespace aries::topology
