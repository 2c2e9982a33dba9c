// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What the launcher has told this process. */
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmi
{

/** A process's place in its job. */
struct Place {
	int rank = 0;
	int size = 1;
	int appnum = 0;
	std::string job = "singleton"; /**< name; also the space of keys */
	std::string service;           /**< place of the key-value service as for kvs::open_store(); empty: none */
	long wait_ms = -1;             /**< how long to wait for other ranks; -1: without limit */
	std::vector<int> nodes;        /**< node of each rank; empty: not told */

	/** How long an answer may take that the service has at once: a service that is gone does not hold up who is in
	 * a hurry. */
	long answer_ms() const { return wait_ms < 0 ? wait_ms : std::max(wait_ms, 30000L); }
};

/**
 * Reads PMI_RANK and PMI_SIZE (or OPENGNI_RANK and OPENGNI_RANKS), PMI_APPNUM, OPENGNI_JOB, OPENGNI_KVS,
 * OPENGNI_KVS_TIMEOUT and OPENGNI_LAYOUT. None with a debug line where they do not fit together.
 */
std::optional<Place> place_from_environment();

/** "0x2,3x1" (node x ranks, in rank order) as the node of each rank; none if it is not of that form. */
std::optional<std::vector<int>> parse_layout(std::string_view text, int size);

/** The layout as PMI_process_mapping has it: "(vector,(first node,nodes,ranks on each),...)"; empty for no layout. */
std::string process_mapping(const std::vector<int> &nodes);

/** Puts PMI_GNI_ variables into the environment where PMI_GNI_COOKIE is missing and OPENGNI_COOKIE is there. */
void complete_gni_variables();

} // namespace pmi
