// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What happens in which cycle: for each kind of event a ring of cycles, for each cycle a list of events in pieces of
 * 512 bytes from a common store. Events of one kind and cycle must not depend on each other's order.
 */
#ifndef ARIES_SIM_WHEEL_HPP
#define ARIES_SIM_WHEEL_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace aries::sim
{

/** Of a TiledPart. */
enum class Kind : uint8_t {
	Arrive,   ///< first flit of packet a through the input stage of tile b
	Credit,   ///< room at the far end of port a: channel and flits in b
	ToSub,    ///< first flit of packet a in a sub-switch of the router whose tiles begin with b
	ToColumn, ///< first flit of packet a in the column buffer of its output
	Receive,  ///< last flit of packet a at the NICs behind tile b
	CheckIn,  ///< look at tile a's input again
	CheckSub, ///< look at column bus a again
	CheckOut, ///< look at tile a's output again
	CheckNic, ///< look at router a's NICs again
};

inline constexpr size_t TILED_KINDS = 9;

struct Event {
	uint32_t a;
	uint32_t b;
};

/** @p KINDS are how many values @p OfKind has. */
template <typename OfKind, size_t KINDS> class WheelOf
{
public:
	/** @param horizon cycles ahead that an event can be, at most */
	explicit WheelOf(uint32_t horizon) : mask_(std::bit_ceil(horizon + 1) - 1)
	{
		for (auto &ring : first_)
			ring.assign(mask_ + size_t{1}, NONE);
	}

	/** Take events the other way round, to show that it does not matter. */
	void reverse() noexcept { reversed_ = true; }

	uint32_t horizon() const noexcept { return mask_; }

	void add(OfKind kind, uint32_t cycle, uint32_t a, uint32_t b = 0)
	{
		uint32_t &first = first_[static_cast<size_t>(kind)][cycle & mask_];

		if (first == NONE || pieces_[first].count == PIECE) [[unlikely]]
			first = more(first);

		Piece &piece = pieces_[first];

		piece.events[piece.count++] = {a, b};
	}

	/**
	 * Calls @p function(a, b) for all events of this kind in the cycle and removes them. It may add events.
	 * @p far(a, b) and @p near(a, b) are called some events ahead, to fetch what the function will need, the
	 * second with what the first has fetched.
	 */
	template <typename Function, typename Far, typename Near>
	void take(OfKind kind, uint32_t cycle, Function function, Far far, Near near)
	{
		uint32_t &first = first_[static_cast<size_t>(kind)][cycle & mask_];
		uint32_t piece = first;

		first = NONE;
		while (piece != NONE) {
			const uint32_t next = pieces_[piece].next;

			take_piece(piece, function, far, near);
			pieces_[piece].next = free_;
			free_ = piece;
			piece = next;
		}
	}

	size_t bytes() const noexcept { return pieces_.size() * sizeof(Piece) + KINDS * first_[0].size() * 4; }

private:
	static constexpr uint32_t NONE = UINT32_MAX;
	static constexpr uint32_t PIECE = 63;
	static constexpr uint32_t FAR = 10;
	static constexpr uint32_t NEAR = 4;

	struct Piece {
		uint32_t next;
		uint32_t count;
		Event events[PIECE];
	};

	/* Of a copy: what is added meanwhile may move the store. */
	template <typename Function, typename Far, typename Near>
	void take_piece(uint32_t piece, Function &function, Far &far, Near &near)
	{
		const uint32_t count = pieces_[piece].count;
		Event events[PIECE];

		std::copy_n(pieces_[piece].events, count, events);
		if (reversed_)
			std::reverse(events, events + count);
		for (uint32_t i = 0; i < std::min(FAR, count); i++)
			far(events[i].a, events[i].b);
		for (uint32_t i = 0; i < std::min(NEAR, count); i++)
			near(events[i].a, events[i].b);
		for (uint32_t i = 0; i < count; i++) {
			if (i + FAR < count)
				far(events[i + FAR].a, events[i + FAR].b);
			if (i + NEAR < count)
				near(events[i + NEAR].a, events[i + NEAR].b);
			function(events[i].a, events[i].b);
		}
	}

	[[gnu::noinline]] uint32_t more(uint32_t next)
	{
		uint32_t piece = free_;

		if (piece == NONE) {
			piece = static_cast<uint32_t>(pieces_.size());
			pieces_.emplace_back();
		} else {
			free_ = pieces_[piece].next;
		}
		pieces_[piece].next = next;
		pieces_[piece].count = 0;
		return piece;
	}

	uint32_t mask_;
	bool reversed_ = false;
	uint32_t free_ = NONE;
	std::array<std::vector<uint32_t>, KINDS> first_;
	std::vector<Piece> pieces_;
};

using Wheel = WheelOf<Kind, TILED_KINDS>;

} // namespace aries::sim

#endif
