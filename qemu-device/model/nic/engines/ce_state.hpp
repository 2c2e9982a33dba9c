/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the words of a collective engine say: places, parent, children, configurations. */
#ifndef ARIES_NIC_CE_STATE_HPP
#define ARIES_NIC_CE_STATE_HPP

#include "nic/core/drain.hpp"
#include "nic/core/ecc.hpp"
#include "nic/tables/cq.hpp"

namespace aries
{

enum CeChildKind : uint64_t { CE_CHILD_UNUSED = 0, CE_CHILD_ENGINE = 1, CE_CHILD_ENDPOINT = 2 };

inline constexpr uint16_t CE_SOURCE_ENGINE = 0x8000; /* CeContribution::source of an engine */
inline constexpr uint64_t CE_ABSENT_LEASES = 20;     /* for a process or an engine to come */
inline constexpr unsigned int CE_LEVELS = 8;         /* of a tree; three cover most systems (N22) */

/** Children of an engine as bits. */
constexpr uint32_t ce_all_children(uint64_t ctl)
{
	const uint64_t count = field(ctl, ARIES_CE_CTL_CHILDREN_MASK);

	return count >= ARIES_CE_CHILDREN ? UINT32_MAX : (uint32_t(1) << count) - 1;
}

/** What the lock of an engine protects. */
class CeBlock
{
public:
	explicit CeBlock(CeSlot &ce) noexcept : ce_(ce) {}

	std::atomic<uint32_t> &lock() noexcept { return ce_.lock; }
	/* The holder died in Ce::settle()? Then its outcome stands once the first child is owed it. */
	bool repair() noexcept
	{
		ce_.arrived.fetch_and(~ce_.owed.load());
		if (ce_.sent.load() && ce_.arrived.load() != ce_all_children(ce_.ctl.load()))
			ce_.sent.store(0);
		return true;
	}

private:
	CeSlot &ce_;
};

/** An engine of the fabric. */
struct CePlace {
	uint32_t node;
	uint32_t engine;

	bool operator==(const CePlace &) const = default;
};

/** CE_PARENT and CE_CHILD as places; engine 0 for an endpoint. */
inline CePlace ce_parent_place(uint64_t word)
{
	return {uint32_t(field(word, ARIES_CE_PARENT_PE_MASK)), uint32_t(field(word, ARIES_CE_PARENT_CE_MASK))};
}

inline CePlace ce_child_place(uint64_t word)
{
	return {uint32_t(field(word, ARIES_CE_CHILD_PE_MASK)), uint32_t(field(word, ARIES_CE_CHILD_CE_MASK))};
}

inline bool ce_child_is_engine(uint64_t word)
{
	return field(word, ARIES_CE_CHILD_KIND_MASK) == CE_CHILD_ENGINE;
}

/** The engine that has given a partial result; false for an endpoint. */
inline bool ce_given_by_engine(const CeContribution &given, CePlace &engine)
{
	engine = {given.node, given.source & ~uint32_t(CE_SOURCE_ENGINE)};
	return given.source & CE_SOURCE_ENGINE;
}

/** Whether CE_PARENT @word names @at as the parent, with us as its child @index. */
inline bool ce_parent_is(uint64_t word, CePlace at, uint32_t index)
{
	const CePlace place = ce_parent_place(word);

	return (word & ARIES_CE_PARENT_VALID_MASK) && place.node == at.node && place.engine == at.engine &&
	       field(word, ARIES_CE_PARENT_INDEX_MASK) == index;
}

/** An error of one bit, or @twice of two, in the part of child @index; false if the engine has no such child. */
inline bool ce_hit(CeSlot &ce, uint32_t index, bool twice)
{
	const uint64_t ctl = ce.ctl.load();
	const uint32_t bit = uint32_t(1) << index;

	if (!(ctl & ARIES_CE_CTL_ENABLE_MASK) || !(ce_all_children(ctl) & bit))
		return false;
	if (twice)
		ce.ecc_twice.fetch_or(bit);
	ce.ecc_hit.fetch_or(bit);
	return true;
}

inline bool ce_enabled(const CeSlot &ce)
{
	return ce.ctl.load() & ARIES_CE_CTL_ENABLE_MASK;
}

/** Whether its parent or one of its children, engine or endpoint, is at a place that @which says true of. */
template <typename Which> bool ce_has_neighbour(const CeSlot &ce, Which &&which)
{
	const uint64_t children = field(ce.ctl.load(), ARIES_CE_CTL_CHILDREN_MASK), parent = ce.parent.load();

	for (uint32_t i = 0; i < children && i < ARIES_CE_CHILDREN; i++) {
		if (which(ce_child_place(ce.child[i].load())))
			return true;
	}
	return (parent & ARIES_CE_PARENT_VALID_MASK) && which(ce_parent_place(parent));
}

/** Whether somebody waits for an outcome. */
inline bool ce_pending(const CeSlot &ce)
{
	return ce.arrived.load() || ce.owed.load() || ce.delivering.load();
}

/** Whether an engine that is enabled belongs to a tree of no more use. */
inline bool ce_broken(const CeSlot &ce)
{
	return ce.broken.load() == ce.serial.load();
}

} // namespace aries

#endif
