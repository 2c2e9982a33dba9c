// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Attributes in force: those of the library, and those that a thread may change for itself. */
#pragma once

#include "dmapp.h"

namespace dmapp
{

using Attributes = dmapp_rma_attrs_ext_t;

constexpr Attributes kDefaults = {
	.max_outstanding_nb = DMAPP_DEF_OUTSTANDING_NB,
	.offload_threshold = DMAPP_OFFLOAD_THRESHOLD,
	.put_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE,
	.get_relaxed_ordering = DMAPP_ROUTING_ADAPTIVE,
	.max_concurrency = 1,
	.PI_ordering = DMAPP_PI_ORDERING_RELAXED,
	.queue_depth = DMAPP_QUEUE_DEFAULT_DEPTH,
	.queue_nelems = DMAPP_QUEUE_DEFAULT_NELEMS,
	.queue_flags = 0,
};

/** What a thread may change: as they go into operations. */
struct Ways {
	uint32_t offload_threshold;
	uint16_t put; /* GNI_DLVMODE_* */
	uint16_t get;
	uint8_t put_routing; /* DMAPP_ROUTING_* of the same */
	uint8_t get_routing;
};

/** Nothing in @a is without a meaning; of the queue, which is not there, anything goes. */
bool attributes_sound(const Attributes &a);

/** The short record with the rest as in @rest. */
Attributes attributes_of(const dmapp_rma_attrs_t &a, const Attributes &rest);
dmapp_rma_attrs_t attributes_short(const Attributes &a);
Ways ways_of(const Attributes &a);

} // namespace dmapp
