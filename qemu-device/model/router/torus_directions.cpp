// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/torus_directions.hpp"

#include <algorithm>

namespace aries::routing
{

namespace
{

constexpr uint32_t UNREACHED = UINT32_MAX;

class DirectionSearch
{
public:
	DirectionSearch(const TorusGrid &grid, uint8_t early_down) : grid_(grid), places_(grid.routers.size())
	{
		found_.early_down = early_down;
		stride_ = {grid.sizes[1] * grid.sizes[2], grid.sizes[2], 1};
		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			for (const Turn turn : {Turn::Up, Turn::Down}) {
				auto &steps = steps_[axis][static_cast<size_t>(turn)];

				steps.resize(places_);
				each_line(axis, [&](uint32_t line) { count_steps(axis, turn, line, steps); });
			}
		}
	}

	TorusDirections all()
	{
		for (uint32_t from = 0; from < places_; from++) {
			if (has_links(from))
				add_router(from);
			found_.detour_ends.push_back(found_.detours.size());
			found_.lost_ends.push_back(found_.lost.size());
		}
		return std::move(found_);
	}

private:
	bool has_links(uint32_t place) const
	{
		for (const auto &links : grid_.routers[place]->links) {
			if (links[0] || links[1])
				return true;
		}
		return false;
	}

	Turn direction(size_t axis, bool early) const
	{
		return (found_.early_down >> axis & 1) == early ? Turn::Down : Turn::Up;
	}

	/* Calls @p with each place that is the first of its ring. */
	template <typename Function> void each_line(size_t axis, Function with) const
	{
		const uint32_t block = stride_[axis] * grid_.sizes[axis];

		for (uint32_t start = 0; start < places_; start += block) {
			for (uint32_t line = start; line < start + stride_[axis]; line++)
				with(line);
		}
	}

	/* The next place of a ring in the direction of a turn. */
	uint32_t next_place(size_t axis, Turn turn, uint32_t line, uint32_t place) const
	{
		const uint32_t stride = stride_[axis], end = line + stride * (grid_.sizes[axis] - 1);

		if (turn == Turn::Up)
			return place == end ? line : place + stride;
		return place == line ? end : place - stride;
	}

	/* How many steps can be gone from each place of a ring, at most once round. */
	void count_steps(size_t axis, Turn turn, uint32_t line, std::vector<uint32_t> &steps) const
	{
		const Turn back = turn == Turn::Up ? Turn::Down : Turn::Up;
		const uint32_t size = grid_.sizes[axis];
		uint32_t run = 0, place = line;

		for (uint32_t step = 0; step < 2 * size; step++) {
			run = grid_.routers[place]->links[axis][static_cast<size_t>(turn)] ? std::min(run + 1, size)
											   : 0;
			steps[place] = run;
			place = next_place(axis, back, line, place);
		}
	}

	void add_router(uint32_t from)
	{
		bool spread_out = false;

		for (uint32_t to = 0; to < places_; to++) {
			if (to == from || usual_way_works(from, to))
				continue;
			if (!spread_out)
				spread(from);
			spread_out = true;

			const auto place = static_cast<uint16_t>(to);

			if (far_[to] == UNREACHED) {
				found_.lost.push_back(place);
				found_.lost_pairs += has_links(to);
			} else {
				found_.detours.push_back({place, via_[to]});
			}
		}
	}

	/* As TorusRouting goes without a detour, whichever half of a ring it takes where both are as long. */
	bool usual_way_works(uint32_t from, uint32_t to) const
	{
		const TorusAddress &here = grid_.routers[from]->here, &there = grid_.routers[to]->here;
		std::array<Turn, TORUS_AXES> turns;
		std::array<bool, TORUS_AXES> either;

		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			turns[axis] = grid_.routers[from]->turn(axis, there[axis]);
			either[axis] = turns[axis] == Turn::Either;
			if (turns[axis] == Turn::Cut)
				return false;
		}
		for (uint32_t choice = 0; choice < 1u << TORUS_AXES; choice++) {
			bool another = false;

			for (size_t axis = 0; axis < TORUS_AXES; axis++) {
				if (either[axis])
					turns[axis] = choice >> axis & 1 ? Turn::Up : Turn::Down;
				else
					another |= choice >> axis & 1;
			}
			if (!another && !works(from, here, there, turns))
				return false;
		}
		return true;
	}

	bool works(uint32_t from, TorusAddress at, const TorusAddress &to,
		   const std::array<Turn, TORUS_AXES> &turns) const
	{
		uint32_t place = from;

		for (const bool early : {true, false}) {
			for (size_t axis = 0; axis < TORUS_AXES; axis++) {
				const Turn turn = turns[axis];

				if (turn != direction(axis, early))
					continue;

				const uint32_t size = grid_.sizes[axis];
				const uint32_t above = (to[axis] + size - at[axis]) % size;

				if ((turn == Turn::Up ? above : size - above) >
				    steps_[axis][static_cast<size_t>(turn)][place])
					return false;
				place += (to[axis] - at[axis]) * stride_[axis];
			}
		}
		return true;
	}

	/* The fewest steps to every place by directions that ascend, and where the late ones begin. */
	void spread(uint32_t from)
	{
		far_.assign(places_, UNREACHED);
		via_.assign(places_, 0);
		far_[from] = 0;
		for (size_t axis = 0; axis < TORUS_AXES; axis++)
			spread_by(axis, direction(axis, true));
		for (uint32_t place = 0; place < places_; place++)
			via_[place] = static_cast<uint16_t>(place);
		for (size_t axis = 0; axis < TORUS_AXES; axis++)
			spread_by(axis, direction(axis, false));
	}

	/* From all places that are reached on, by any number of steps in one direction: twice round sees all of them.
	 */
	void spread_by(size_t axis, Turn turn)
	{
		const auto &steps = steps_[axis][static_cast<size_t>(turn)];

		each_line(axis, [&](uint32_t line) {
			uint32_t here = line;

			for (uint32_t step = 1; step < 2 * grid_.sizes[axis]; step++) {
				const uint32_t next = next_place(axis, turn, line, here);

				if (far_[here] != UNREACHED && far_[here] + 1 < far_[next] && steps[here]) {
					far_[next] = far_[here] + 1;
					via_[next] = via_[here];
				}
				here = next;
			}
		});
	}

	const TorusGrid &grid_;
	uint32_t places_;
	std::array<uint32_t, TORUS_AXES> stride_{};
	std::array<std::array<std::vector<uint32_t>, 2>, TORUS_AXES> steps_; ///< by axis, Turn and place
	std::vector<uint32_t> far_;
	std::vector<uint16_t> via_;
	TorusDirections found_;
};

} // namespace

TorusDirections find_directions(const TorusGrid &grid, uint8_t early_down)
{
	return DirectionSearch(grid, early_down).all();
}

} // namespace aries::routing
