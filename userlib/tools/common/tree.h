// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * A tree of collective engines over the ranks of a job: one engine at rank 0, and from four ranks on another one below
 * it, for the upper half.
 */
#ifndef TOOLS_TREE_H
#define TOOLS_TREE_H

#include <cstdint>
#include <memory>
#include <vector>

#include "gni.h"

namespace tools
{

/** Where a rank can be reached. */
struct Member {
	uint32_t pe;
	uint32_t inst_id;
};

/** One rank's part of the tree. All its methods throw Failure for a call that the library refuses. */
class Tree
{
public:
	static constexpr int ranks_max = 2 * GNI_CE_MAX_CHILDREN - 2;

	/**
	 * Makes this rank's engine if it has one. @p nic and @p source must live longer.
	 * @param ranks 1 to ranks_max
	 */
	Tree(gni_nic_handle_t nic, gni_cq_handle_t source, int rank, int ranks);
	Tree(const Tree &) = delete;
	Tree &operator=(const Tree &) = delete;
	~Tree();

	/** First rank of the lower engine; the number of ranks if there is none. */
	int half() const { return half_; }

	/** Whether a rank has an engine. */
	bool has_engine(int rank) const { return rank == 0 || rank == half_; }

	/** Id of this rank's engine. */
	uint32_t engine_id() const;

	/**
	 * Tells this rank's engine who its children and its parent are; what is pending there ends with an error for
	 * the whole tree. Nothing without an engine.
	 * @param members of all ranks
	 * @param lower id of the engine of rank half(), 0 if there is none
	 * @param upper id of the engine of rank 0
	 */
	void configure(const std::vector<Member> &members, uint32_t upper, uint32_t lower);

	/** Makes the endpoint by which this rank contributes, in place of the one before. */
	void join(const std::vector<Member> &members, uint32_t upper, uint32_t lower);

	/** That endpoint. */
	gni_ep_handle_t leaf() const { return leaf_->handle(); }

	/** Ends that endpoint. */
	void leave() { leaf_.reset(); }

private:
	using Edge = std::unique_ptr<Endpoint>;

	Edge edge(const Member &to, uint32_t id, int index, gni_ce_child_t kind) const;
	int first_of(int rank) const { return rank < half_ ? 0 : half_; }

	gni_nic_handle_t nic_;
	gni_cq_handle_t source_;
	int rank_, ranks_, half_;
	gni_ce_handle_t engine_ = nullptr;
	Edge leaf_;
	std::vector<Edge> edges_;
};

} // namespace tools

#endif // TOOLS_TREE_H
