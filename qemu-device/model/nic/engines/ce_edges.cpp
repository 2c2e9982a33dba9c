/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edges between the engines of a tree. A tree is made, and made anew, one engine at a time and in any order, so for a
 * while an engine of the new tree stands beside one of the old: what breaks that, and what taking it down breaks, must
 * not reach the new one. Therefore an edge names the configurations at its two ends, and whoever of them comes second
 * makes it. Of engines on two hosts the gateways make it, from what they tell each other: gateway/engines.cpp.
 */
#include "nic/engines/ce_edges.hpp"
#include "nic/target/visit.hpp"

namespace aries
{

namespace
{

/* Between configurations that do not belong to an edge yet; with one that is broken already a tree is no tree. */
void make_edge(CeSlot &above, std::atomic<uint32_t> &child_edge, CeSlot &below)
{
	const uint32_t upper = above.serial.load(), lower = below.serial.load();
	uint32_t other = child_edge.load();

	if (ce_broken(above) || ce_broken(below) || (other && other != lower))
		return;
	other = 0;
	if (!below.parent_edge.compare_exchange_strong(other, upper) && other != upper)
		return;
	child_edge.store(lower);
}

/*
 * To one of another host, whose own end is made there. What its gateway hears of it meanwhile it must see, or we.
 */
void make_far_edge(std::atomic<uint32_t> &child_edge, const CeSlot &below)
{
	uint32_t lower = 0;

	do {
		lower = below.serial.load();
		child_edge.store(ce_broken(below) ? 0 : lower);
	} while (below.serial.load() != lower || (child_edge.load() == lower && ce_broken(below)));
}

} // namespace

void CeEdges::make(uint32_t engine) noexcept
{
	const CePlace at = {core_.node, engine};
	CeSlot &ce = slot(at);
	const uint64_t parent = ce.parent.load();
	const uint64_t children = field(ce.ctl.load(), ARIES_CE_CTL_CHILDREN_MASK);

	if (parent & ARIES_CE_PARENT_VALID_MASK) {
		const uint32_t index = uint32_t(field(parent, ARIES_CE_PARENT_INDEX_MASK)) % ARIES_CE_CHILDREN;
		CeSlot &above = slot(ce_parent_place(parent));
		const uint64_t child = above.child[index].load();
		const CePlace named = ce_child_place(child);

		if (!lives_elsewhere(core_, ce_parent_place(parent).node) && ce_enabled(above) &&
		    ce_child_is_engine(child) && named.node == at.node && named.engine == at.engine)
			make_edge(above, above.child_edge[index], ce);
	}
	for (uint32_t i = 0; i < children && i < ARIES_CE_CHILDREN; i++) {
		const uint64_t child = ce.child[i].load();
		CeSlot &below = slot(ce_child_place(child));

		if (!ce_child_is_engine(child) || !ce_enabled(below) || !ce_parent_is(below.parent.load(), at, i))
			continue;
		if (lives_elsewhere(core_, ce_child_place(child).node))
			make_far_edge(ce.child_edge[i], below);
		else
			make_edge(ce, ce.child_edge[i], below);
	}
}

/*
 * A neighbour that is not enabled yet is not lost. But once somebody waits for a result all engines are supposed to be
 * there, and one that is broken without an edge will not get one.
 */
bool CeEdges::edge_lost(const CeSlot &ce, const CeSlot &neighbour, uint32_t edge) const noexcept
{
	if (edge)
		return neighbour.serial.load() != edge || ce_broken(neighbour);
	return (ce.arrived.load() || ce.sent.load()) && ce_enabled(neighbour) && ce_broken(neighbour);
}

/*
 * One of another host: what ends the edge its gateway finds out, and marks ours. Without an edge what is known of the
 * neighbour may be old, so it gets some time.
 */
bool CeEdges::far_neighbour_lost(const CeSlot &ce, const CeSlot &neighbour, uint64_t now) const noexcept
{
	return now > ce.enabled_ns.load() + CE_ABSENT_LEASES * core_.members.lease_ns() && edge_lost(ce, neighbour, 0);
}

bool CeEdges::neighbours_lost(CePlace at, const CeSlot &ce, uint64_t now) const noexcept
{
	const uint64_t parent = ce.parent.load();
	const uint64_t children = field(ce.ctl.load(), ARIES_CE_CTL_CHILDREN_MASK);

	for (uint32_t i = 0; i < children && i < ARIES_CE_CHILDREN; i++) {
		const uint64_t child = ce.child[i].load();
		const CeSlot &below = slot(ce_child_place(child));
		const uint32_t edge = ce.child_edge[i].load();

		if (ce_child_is_engine(child) && lives_elsewhere(core_, ce_child_place(child).node)) {
			if (!edge && far_neighbour_lost(ce, below, now))
				return true;
			continue;
		}
		if (ce_child_is_engine(child) && (edge || ce_parent_is(below.parent.load(), at, i)) &&
		    edge_lost(ce, below, edge))
			return true;
	}
	if (!(parent & ARIES_CE_PARENT_VALID_MASK))
		return false;
	const CeSlot &above = slot(ce_parent_place(parent));

	if (lives_elsewhere(core_, ce_parent_place(parent).node))
		return !ce.parent_edge.load() && far_neighbour_lost(ce, above, now);
	return edge_lost(ce, above, ce.parent_edge.load()) || (ce.sent.load() && !ce_enabled(above));
}

void CeEdges::mark_neighbours(uint32_t engine) noexcept
{
	const CeSlot &ce = slot({core_.node, engine});
	const uint64_t children = field(ce.ctl.load(), ARIES_CE_CTL_CHILDREN_MASK);

	/* Neighbours on other hosts learn it from their gateways. */
	if (const uint32_t edge = ce.parent_edge.load();
	    edge && !lives_elsewhere(core_, ce_parent_place(ce.parent.load()).node))
		mark(slot(ce_parent_place(ce.parent.load())), edge);
	for (uint32_t i = 0; i < children && i < ARIES_CE_CHILDREN; i++) {
		const CePlace child = ce_child_place(ce.child[i].load());

		if (const uint32_t edge = ce.child_edge[i].load(); edge && !lives_elsewhere(core_, child.node))
			mark(slot(child), edge);
	}
}

void CeEdges::mark(CeSlot &ce, uint32_t serial) noexcept
{
	uint32_t last = ce.broken.load();

	while (int32_t(serial - last) > 0 && !ce.broken.compare_exchange_weak(last, serial))
		;
}

void CeEdges::mark(CePlace at) noexcept
{
	CeSlot &ce = slot(at);
	const uint32_t serial = ce.serial.load();

	if (ce_enabled(ce))
		mark(ce, serial);
}

} // namespace aries
