// SPDX-License-Identifier: GPL-2.0-or-later
#include "topo/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <tuple>

namespace aries::topology
{

namespace
{

constexpr uint32_t GROUPS_WITH_LINKS = 16;
constexpr const char *MARKED_ROUTER = "#f7d774";
constexpr double STEP = 36;   ///< from a router to the next
constexpr double ROUTER = 16; ///< its size
constexpr double MARGIN = 44; ///< around what is in a group
constexpr double GAP = 70;    ///< between groups
constexpr double EDGE = 12;   ///< around the whole
constexpr double LEGEND = 22; ///< height of a line
constexpr double LINK_OPACITY = 0.55;
constexpr std::array<const char *, 2> MARK_COLOURS = {"#f39c12", "#ff0000"};
constexpr std::array<const char *, 2> MARK_NAMES = {"degraded", "down"};
constexpr std::array<double, 2> MARK_WIDTHS = {5, 3}; ///< the second lies above, and leaves an edge of the first
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
	Drawing(std::ostream &out, const Machine &machine, const Marks &marks)
		: to_(out), machine_(machine), marks_(marks),
		  shown_(machine.groups, machine.groups <= GROUPS_WITH_LINKS)
	{
		if (!shown_.empty())
			shown_[0] = true;
		for (const auto &[router, text] : marks_.routers)
			shown_[machine.routers[router].group] = true;
		for (const auto &[link, mark] : marks_.links) {
			for (const LinkEnd &end : machine.links[link].end)
				shown_[machine.routers[end.router].group] = true;
		}
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

	/* What is drawn tells how large the picture is: curves and long names go beyond the groups. */
	void draw()
	{
		const double top = LEGEND * static_cast<double>(machine_.classes.size() + 2 + (marked() ? 3 : 0));

		origin_ = {GAP / 2, top};
		legend();
		between_groups();
		for (uint32_t group = 0; group < machine_.groups; group++)
			frame(group);
		inside_groups();
		for (const std::ostringstream &marked : marked_out_)
			out_ << marked.str();
		routers();

		const double left = least_.x - EDGE, upper = least_.y - EDGE;
		const double width = most_.x + EDGE - left, height = most_.y + EDGE - upper;

		to_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
		    << "\" viewBox=\"" << left << ' ' << upper << ' ' << width << ' ' << height
		    << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect x=\"" << left << "\" y=\"" << upper
		    << "\" width=\"" << width << "\" height=\"" << height << "\" fill=\"white\"/>\n"
		    << out_.str() << "</svg>\n";
	}

private:
	const char *colour(size_t cls) const { return COLOURS[cls % COLOURS.size()]; }
	bool shown(uint32_t group) const { return shown_[group]; }
	bool marked() const { return !marks_.links.empty() || !marks_.routers.empty(); }

	/* Its number, and its name if it has one. */
	std::string called(uint32_t router) const
	{
		return std::to_string(router) + (machine_.names.empty() ? "" : " " + escaped(machine_.names[router]));
	}

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

	void include(const Point &at)
	{
		least_ = {std::min(least_.x, at.x), std::min(least_.y, at.y)};
		most_ = {std::max(most_.x, at.x), std::max(most_.y, at.y)};
	}

	/* Where a text ends is guessed: letters are not wider than this, on average. */
	void include_text(double x, double y, size_t letters, double size)
	{
		include({x + static_cast<double>(letters) * size * 0.62, y});
	}

	void legend()
	{
		double y = LEGEND;
		std::ostringstream title;

		title << machine_.name << ": " << machine_.groups << (machine_.groups == 1 ? " group, " : " groups, ")
		      << machine_.routers.size() << " routers, " << machine_.nodes.size() << " nodes";
		include_text(origin_.x, y, title.str().size(), 16);
		out_ << "<text x=\"" << origin_.x << "\" y=\"" << y << "\" font-size=\"16\">" << escaped(title.str())
		     << "</text>\n";
		for (size_t cls = 0; cls < machine_.classes.size(); cls++)
			legend_line(y += LEGEND, colour(cls), escaped(machine_.classes[cls].name));
		if (!marked())
			return;
		for (size_t mark = 0; mark < MARK_NAMES.size(); mark++)
			legend_line(y += LEGEND, MARK_COLOURS[mark], MARK_NAMES[mark]);
		legend_line(y + LEGEND, MARKED_ROUTER, "a router with members of the fabric");
	}

	void legend_line(double y, const char *stroke, const std::string &text)
	{
		include_text(origin_.x + 38, y, text.size(), 12);
		out_ << "<line x1=\"" << origin_.x << "\" y1=\"" << y - 4 << "\" x2=\"" << origin_.x + 30 << "\" y2=\""
		     << y - 4 << "\" stroke=\"" << stroke << "\" stroke-width=\"3\"/><text x=\"" << origin_.x + 38
		     << "\" y=\"" << y << "\">" << text << "</text>\n";
	}

	void frame(uint32_t group)
	{
		const Point at = corner(group);

		include({at.x + width_, at.y + height_});
		out_ << "<g class=\"group\"><rect x=\"" << at.x << "\" y=\"" << at.y << "\" width=\"" << width_
		     << "\" height=\"" << height_
		     << "\" rx=\"8\" fill=\"#f6f6f2\" fill-opacity=\"0.92\" stroke=\"#999\"/><text x=\"" << at.x + 8
		     << "\" y=\"" << at.y + 16 << "\">group " << group << "</text></g>\n";
	}

	/* A curve from one point to another, bent aside by some part of its length. */
	void curve(std::ostream &out, const Point &a, const Point &b, double bend, const char *cls, const char *stroke,
		   double width, double opacity, const std::string &title)
	{
		const Point control = {(a.x + b.x) / 2 - (b.y - a.y) * bend, (a.y + b.y) / 2 + (b.x - a.x) * bend};

		/* A curve lies between its ends and the middles of the ways to its control point. */
		include({(a.x + control.x) / 2, (a.y + control.y) / 2});
		include({(b.x + control.x) / 2, (b.y + control.y) / 2});
		out << "<path class=\"" << cls << "\" d=\"M" << a.x << " " << a.y << " Q" << control.x << " "
		    << control.y << " " << b.x << " " << b.y << "\" fill=\"none\" stroke=\"" << stroke
		    << "\" stroke-width=\"" << width << "\" stroke-opacity=\"" << opacity << "\"><title>" << title
		    << "</title></path>\n";
	}

	/* Links that are drawn as one. */
	struct Bundle {
		uint32_t links = 0;
		std::array<uint32_t, MARK_NAMES.size()> marked{};
		std::set<uint32_t> cables;
	};
	using Ends = std::tuple<uint32_t, uint32_t, uint8_t>; // and the class
	using Bundles = std::map<Ends, Bundle>;

	void add(Bundles &bundles, uint32_t a, uint32_t b, size_t number) const
	{
		const Link &link = machine_.links[number];
		Bundle &bundle = bundles[{std::min(a, b), std::max(a, b), link.link_class}];
		const auto mark = marks_.links.find(number);

		bundle.links++;
		if (link.cable != NO_CABLE)
			bundle.cables.insert(link.cable);
		if (mark != marks_.links.end())
			bundle.marked[static_cast<size_t>(mark->second)]++;
	}

	void draw_bundle(const Point &a, const Point &b, double bend, size_t cls, double width, std::string title,
			 const Bundle &bundle)
	{
		for (size_t mark = MARK_NAMES.size(); mark-- > 0;) {
			if (bundle.marked[mark])
				title += ", " + std::to_string(bundle.marked[mark]) + " " + MARK_NAMES[mark];
		}
		curve(out_, a, b, bend, "link", colour(cls), width, LINK_OPACITY, title);
		for (size_t mark = 0; mark < MARK_NAMES.size(); mark++) {
			if (bundle.marked[mark])
				curve(marked_out_[mark], a, b, bend, MARK_NAMES[mark], MARK_COLOURS[mark],
				      MARK_WIDTHS[mark], 1, title);
		}
	}

	void between_groups()
	{
		Bundles bundles;

		for (size_t number = 0; number < machine_.links.size(); number++) {
			const Link &link = machine_.links[number];
			const uint32_t a = machine_.routers[link.end[0].router].group;
			const uint32_t b = machine_.routers[link.end[1].router].group;

			if (a != b)
				add(bundles, a, b, number);
		}
		for (const auto &[ends, bundle] : bundles) {
			const auto &[a, b, cls] = ends;

			draw_bundle(centre(a), centre(b), 0.12, cls, 1 + std::log2(bundle.links),
				    "groups " + std::to_string(a) + " and " + std::to_string(b) + ": " +
					    std::to_string(bundle.links) + " links, " +
					    std::to_string(bundle.cables.size()) + " cables",
				    bundle);
		}
	}

	void inside_groups()
	{
		Bundles bundles;

		for (size_t number = 0; number < machine_.links.size(); number++) {
			const Link &link = machine_.links[number];
			const uint32_t group = machine_.routers[link.end[0].router].group;

			if (group == machine_.routers[link.end[1].router].group && shown(group))
				add(bundles, link.end[0].router, link.end[1].router, number);
		}
		for (const auto &[ends, bundle] : bundles) {
			const auto &[a, b, cls] = ends;

			draw_bundle(place(a), place(b), 0.18, cls, 0.5 + 0.25 * bundle.links,
				    "routers " + called(a) + " and " + called(b) + ": " + std::to_string(bundle.links) +
					    (bundle.links > 1 ? " links" : " link"),
				    bundle);
		}
	}

	void routers()
	{
		for (uint32_t router = 0; router < machine_.routers.size(); router++) {
			const Point at = place(router);
			const auto mark = marks_.routers.find(router);
			const bool marked = mark != marks_.routers.end();

			if (!shown(machine_.routers[router].group))
				continue;
			out_ << "<rect class=\"router\" x=\"" << at.x - ROUTER / 2 << "\" y=\"" << at.y - ROUTER / 2
			     << "\" width=\"" << ROUTER << "\" height=\"" << ROUTER << "\" rx=\"2\" fill=\""
			     << (marked ? MARKED_ROUTER : "#dde6f5") << "\" stroke=\"#445\"><title>router "
			     << called(router);
			for (size_t axis = 0; axis < machine_.axes.size(); axis++)
				out_ << ", " << escaped(machine_.axes[axis]) << " "
				     << machine_.routers[router].at[axis];
			if (marked)
				out_ << ": " << escaped(mark->second);
			out_ << "</title></rect>\n";
		}
	}

	std::ostream &to_;
	std::ostringstream out_;
	/** Links with a mark, which nothing but routers may hide. */
	std::array<std::ostringstream, MARK_NAMES.size()> marked_out_;
	Point least_{GAP / 2, 0}; ///< corners of what is drawn
	Point most_{GAP / 2, 0};
	const Machine &machine_;
	const Marks &marks_;
	std::vector<bool> shown_; ///< groups of which the inside is drawn
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

void write_svg(std::ostream &out, const Machine &machine, const Marks &marks)
{
	Drawing(out, machine, marks).draw();
}

} // namespace aries::topology
