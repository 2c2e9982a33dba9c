/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gateway/engines.hpp"

#include <algorithm>

#include "nic/target/visit.hpp"

namespace aries
{

namespace
{

EngineNews snapshot(const CeSlot &ce, CePlace at)
{
	for (;;) {
		const uint32_t serial = ce.serial.load();
		EngineNews news = {};

		news.node = at.node;
		news.engine = at.engine;
		news.serial = serial;
		news.broken = ce.broken.load();
		news.ctl = ce.ctl.load();
		news.parent = ce.parent.load();
		news.parent_edge = ce.parent_edge.load();
		for (uint32_t i = 0; i < ARIES_CE_CHILDREN; i++) {
			news.child[i] = ce.child[i].load();
			news.child_edge[i] = ce.child_edge[i].load();
		}
		if (ce.serial.load() == serial)
			return news;
	}
}

bool enabled(const EngineNews &news)
{
	return news.ctl & ARIES_CE_CTL_ENABLE_MASK;
}

/* Whether the last known configuration is the one before @serial. */
bool known_before(const CeSlot &known, uint32_t serial)
{
	return known.serial.load() == serial - 1;
}

bool names(uint64_t child, CePlace at)
{
	const CePlace place = ce_child_place(child);

	return ce_child_is_engine(child) && place.node == at.node && place.engine == at.engine;
}

} // namespace

Engines::Engines(Core &core)
	: core_(core), told_(size_t{core.segment.nodes()} * ARIES_CE_CHANNELS),
	  told_inst_(size_t{core.segment.nodes()} * ARIES_CE_INSTANCES)
{
}

void Engines::look(uint32_t node, bool all, std::vector<EngineNews> &news)
{
	for (uint32_t engine = 0; engine < ARIES_CE_CHANNELS; engine++) {
		const CePlace at = {node, engine};
		EngineNews &told = told_[size_t{node} * ARIES_CE_CHANNELS + engine];
		const EngineNews now = snapshot(slot(at), at);

		/* Other hosts need not know of an engine that was never enabled. */
		if (now.serial && (all || now != told))
			news.push_back(now);
		told = now;
	}
}

void Engines::look(uint32_t node, bool all, std::vector<InstanceNews> &news)
{
	const NodeSlot &slot = core_.segment.node(node);

	for (uint32_t i = 0; i < ARIES_CE_INSTANCES; i++) {
		InstanceNews &told = told_inst_[size_t{node} * ARIES_CE_INSTANCES + i];
		InstanceNews now = {node, i, slot.ce_instance[i].load(), 0};

		if (now.word & ARIES_CE_INST_VALID_MASK)
			now.key = ecc_shown(slot.ptag_key[field(now.word, ARIES_CE_INST_PTAG_MASK)].load(), PTAG_ECC);
		if (now.word && (all || now != told))
			news.push_back(now);
		told = now;
	}
}

bool Engines::sound(const EngineNews &news) const noexcept
{
	const uint32_t nodes = core_.segment.nodes();

	if (news.engine >= ARIES_CE_CHANNELS || field(news.ctl, ARIES_CE_CTL_CHILDREN_MASK) > ARIES_CE_CHILDREN ||
	    ce_parent_place(news.parent).node >= nodes)
		return false;
	for (const uint64_t child : news.child) {
		if (ce_child_place(child).node >= nodes)
			return false;
	}
	return true;
}

bool Engines::sound(const InstanceNews &news) noexcept
{
	return news.index < ARIES_CE_INSTANCES;
}

CeSlot *Engines::ours(CePlace at) const noexcept
{
	return lives_elsewhere(core_, at.node) || !ce_enabled(slot(at)) ? nullptr : &slot(at);
}

/*
 * The parent engine is on this host, and has an edge to a configuration of @at that is gone or broken. If the child's
 * host did not know of the edge, and nothing arrived by it, the edge was made from outdated news of @at and is removed.
 * Otherwise the parent engine is broken.
 */
void Engines::end_parent_edge(CePlace at, const EngineNews &news) noexcept
{
	const CeSlot &known = slot(at);
	const uint64_t parent = known.parent.load();
	const uint32_t index = uint32_t(field(parent, ARIES_CE_PARENT_INDEX_MASK)) % ARIES_CE_CHILDREN;
	CeSlot *const above = parent & ARIES_CE_PARENT_VALID_MASK ? ours(ce_parent_place(parent)) : nullptr;

	if (!above || !names(above->child[index].load(), at))
		return;
	/* The serial is loaded first: a mark for a configuration that has ended meanwhile has no effect. */
	const uint32_t serial = above->serial.load(), edge = above->child_edge[index].load();

	if (!edge || (edge == news.serial && news.broken != news.serial))
		return;
	const bool known_there = edge == news.serial
					 ? news.parent_edge == serial
					 : known.serial.load() == edge && known.parent_edge.load() == serial;
	const bool used = above->arrived.load() >> index & 1;

	if (known_there || used)
		CeEdges::mark(*above, serial);
	else
		clear_edge(ce_parent_place(parent), index, serial, edge);
}

/* If the edge was a real one after all, no successor appears, and sweep() breaks the engine when the time is over. */
void Engines::clear_edge(CePlace at, uint32_t index, uint32_t serial, uint32_t edge) noexcept
try {
	const std::lock_guard guard(mutex_);
	const bool again = std::any_of(cleared_.begin(), cleared_.end(), [&](const Cleared &one) {
		return one.above == at && one.index == index && one.serial == serial;
	});

	if (!again)
		cleared_.push_back({at, index, serial, now_ns() + CE_ABSENT_LEASES * core_.members.lease_ns()});
	slot(at).child_edge[index].compare_exchange_strong(edge, 0);
} catch (const std::bad_alloc &) {
	CeEdges::mark(slot(at), serial);
}

/* A child came and went before this host had news of it: its parent here must not wait for it for ever. */
void Engines::expect_successor(CePlace at, const EngineNews &news) noexcept
{
	const CePlace parent = ce_parent_place(news.parent);
	const uint32_t index = uint32_t(field(news.parent, ARIES_CE_PARENT_INDEX_MASK)) % ARIES_CE_CHILDREN;
	CeSlot *const above = news.parent & ARIES_CE_PARENT_VALID_MASK ? ours(parent) : nullptr;

	if (above && names(above->child[index].load(), at) && !above->child_edge[index].load())
		clear_edge(parent, index, above->serial.load(), 0);
}

void Engines::sweep(uint64_t now) noexcept
{
	const std::lock_guard guard(mutex_);

	std::erase_if(cleared_, [&](const Cleared &one) {
		const CeSlot &ce = slot(one.above);
		const bool over = ce.serial.load() != one.serial || ce.child_edge[one.index].load();

		if (!over && now > one.due)
			CeEdges::mark(slot(one.above), one.serial);
		return over || now > one.due;
	});
}

/* The same for child engines on this host, which follow the news of their parent @at. */
void Engines::end_child_edges(CePlace at, const EngineNews &news) noexcept
{
	const CeSlot &known = slot(at);

	for (uint32_t i = 0; i < ARIES_CE_CHILDREN; i++) {
		const uint64_t child = known.child[i].load();
		CeSlot *const below = ce_child_is_engine(child) ? ours(ce_child_place(child)) : nullptr;

		if (!below || !ce_parent_is(below->parent.load(), at, i))
			continue;
		const uint32_t serial = below->serial.load(), edge = below->parent_edge.load();

		if (edge && (edge != news.serial || news.broken == news.serial))
			CeEdges::mark(*below, serial);
	}
}

/* An earlier edge was ended by end_parent_edge(). */
void Engines::make_parent_edge(CePlace at, const EngineNews &news) noexcept
{
	const uint32_t index = uint32_t(field(news.parent, ARIES_CE_PARENT_INDEX_MASK)) % ARIES_CE_CHILDREN;
	CeSlot *const above = news.parent & ARIES_CE_PARENT_VALID_MASK ? ours(ce_parent_place(news.parent)) : nullptr;

	if (above && names(above->child[index].load(), at) && !ce_broken(*above))
		above->child_edge[index].store(news.serial);
}

void Engines::make_child_edges(CePlace at, const EngineNews &news) noexcept
{
	for (uint32_t i = 0; i < ARIES_CE_CHILDREN; i++) {
		const uint64_t child = news.child[i];
		CeSlot *const below = ce_child_is_engine(child) ? ours(ce_child_place(child)) : nullptr;
		uint32_t none = 0, edge = news.serial;

		if (!below || !news.child_edge[i] || news.child_edge[i] != below->serial.load() || ce_broken(*below) ||
		    !ce_parent_is(below->parent.load(), at, i))
			continue;
		/* The edge is not for a configuration that was made meanwhile. */
		if (below->parent_edge.compare_exchange_strong(none, edge) &&
		    below->serial.load() != news.child_edge[i])
			below->parent_edge.compare_exchange_strong(edge, 0);
	}
}

void Engines::show(const EngineNews &news) noexcept
{
	const CePlace at = {news.node, news.engine};
	CeSlot &known = slot(at);

	/* Whether a configuration has ended that had no edge here: no news of it came while it lasted, or it was
	 * broken. */
	const bool missed = !enabled(news) && news.serial != known.serial.load() &&
			    (!known_before(known, news.serial) || ce_broken(known));

	end_parent_edge(at, news);
	end_child_edges(at, news);
	known.ctl.store(0); /* not enabled while the words are of two configurations */
	known.parent.store(news.parent);
	known.parent_edge.store(news.parent_edge);
	for (uint32_t i = 0; i < ARIES_CE_CHILDREN; i++) {
		known.child[i].store(news.child[i]);
		known.child_edge[i].store(news.child_edge[i]);
	}
	known.broken.store(news.broken);
	known.serial.store(news.serial);
	known.ctl.store(news.ctl);
	/*
	 * A parent here may have been enabled since the first look. Either its owner has seen the new words, or this
	 * second look sees the parent's edge.
	 */
	end_parent_edge(at, news);
	if (missed)
		expect_successor(at, news);
	if (!enabled(news) || news.broken == news.serial)
		return;
	make_parent_edge(at, news);
	make_child_edges(at, news);
}

void Engines::show(const InstanceNews &news) noexcept
{
	NodeSlot &slot = core_.segment.node(news.node);

	if (news.word & ARIES_CE_INST_VALID_MASK)
		slot.ptag_key[field(news.word, ARIES_CE_INST_PTAG_MASK)].store(news.key);
	slot.ce_instance[news.index].store(news.word);
}

} // namespace aries
