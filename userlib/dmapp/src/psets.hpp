// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file Sets of PEs and their collectives, over the collective engines of the NICs.
 *
 * The members on one node have one engine, that of the first of them (the leader); the engines form a tree in the order
 * of the members. What the others must know of a member is on its board, a page that all PEs can read.
 */
#pragma once

#include "dmapp.h"
#include "rma.h"

#include <array>
#include <cstdint>
#include <vector>

namespace dmapp
{

class Instance;

/** What a member says of a set. */
struct Notice {
	uint64_t identifier;
	int32_t base, stride, count;
	uint32_t engine; /* of a leader */
	uint64_t state;  /* kFree, kCreated, kExported */
	uint64_t reserved[4];

	static constexpr uint64_t kFree = 0, kCreated = 1, kExported = 2;

	bool same_set(const Notice &other) const
	{
		return identifier == other.identifier && base == other.base && stride == other.stride &&
		       count == other.count;
	}
};
static_assert(sizeof(Notice) == 64);

constexpr uint32_t kSets = 8;
/** Elements of one reduction: each is a collective of its own. */
constexpr uint32_t kReduced = 16;
using Board = std::array<Notice, kSets>;

/** Where the outcome of one collective is put. */
struct alignas(32) Outcome {
	gni_ce_result_t result;
};

/** The library's own memory of a PE that the NIC knows, behind the bounce buffer. */
struct Shared {
	Board board;
	std::array<Outcome, size_t{kSets} * kReduced> outcomes;
};

/** One set. */
struct Pset {
	Notice *notice; /* nullptr: there is none here */
	uint32_t generation;
	gni_ce_handle_t engine;
	gni_ep_handle_t leaf;
	std::vector<gni_ep_handle_t> edges;
	std::vector<int> leaders; /* by their places in the set */
	std::vector<int> local;   /* members of this node, likewise */
	int me;
	bool met;    /* what this PE depends on is exported */
	bool broken; /* a collective has failed */
	bool active; /* one is in progress */
	uint32_t serial;
	uint32_t nelems;
	dmapp_c_type_t type;
	void *out;

	bool leads() const { return local.front() == me; }
};

} // namespace dmapp
