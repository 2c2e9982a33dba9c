// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "tree.h"

#include "failure.h"

namespace tools
{

namespace
{

constexpr uint32_t modes = GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_ADAPT;
/* Of a process the id counts only where it posts. */
constexpr uint32_t any_id = 0;

} // namespace

Tree::Tree(gni_nic_handle_t nic, gni_cq_handle_t source, int rank, int ranks)
	: nic_(nic), source_(source), rank_(rank), ranks_(ranks), half_(ranks < 4 ? ranks : ranks / 2)
{
	if (ranks > ranks_max)
		throw Failure(format("a tree of two engines has room for %d ranks, not for %d", ranks_max, ranks));
	if (has_engine(rank))
		check(GNI_CeCreate(nic, &engine_), "GNI_CeCreate");
}

Tree::~Tree()
{
	leaf_.reset();
	edges_.clear();
	if (engine_)
		GNI_CeDestroy(engine_);
}

uint32_t Tree::engine_id() const
{
	uint32_t id = 0;

	check(GNI_CeGetId(engine_, &id), "GNI_CeGetId");
	return id;
}

Tree::Edge Tree::edge(const Member &to, uint32_t id, int index, gni_ce_child_t kind) const
{
	auto made = std::make_unique<Endpoint>(nic_, source_, to.pe, to.inst_id);

	check(GNI_EpSetCeAttr(made->handle(), id, static_cast<uint32_t>(index), kind), "GNI_EpSetCeAttr");
	return made;
}

void Tree::configure(const std::vector<Member> &members, uint32_t upper, uint32_t lower)
{
	const int first = first_of(rank_), end = first ? ranks_ : half_;
	std::vector<Edge> edges;
	std::vector<gni_ep_handle_t> children;

	if (!engine_)
		return;
	for (int rank = first; rank < end; rank++)
		edges.push_back(edge(members[static_cast<size_t>(rank)], any_id, rank - first, GNI_CE_CHILD_PE));
	if (!first && half_ < ranks_)
		edges.push_back(edge(members[static_cast<size_t>(half_)], lower, half_, GNI_CE_CHILD_VCE));
	children.reserve(edges.size());
	for (const Edge &child : edges)
		children.push_back(child->handle());
	gni_ep_handle_t parent = nullptr;
	if (first) {
		edges.push_back(edge(members[0], upper, half_, GNI_CE_CHILD_VCE));
		parent = edges.back()->handle();
	}
	check(GNI_CeConfigure(engine_, children.data(), static_cast<uint32_t>(children.size()), parent, nullptr, modes),
	      "GNI_CeConfigure");
	edges_ = std::move(edges);
}

void Tree::join(const std::vector<Member> &members, uint32_t upper, uint32_t lower)
{
	const int first = first_of(rank_);

	leaf_ = edge(members[static_cast<size_t>(first)], first ? lower : upper, rank_ - first, GNI_CE_CHILD_PE);
}

} // namespace tools
