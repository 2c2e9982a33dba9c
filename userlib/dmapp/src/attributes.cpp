// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "attributes.hpp"

namespace dmapp
{

namespace
{

constexpr uint16_t kDelivery[] = {GNI_DLVMODE_IN_ORDER,  GNI_DLVMODE_NMIN_HASH, GNI_DLVMODE_MIN_HASH,
				  GNI_DLVMODE_ADAPTIVE0, GNI_DLVMODE_ADAPTIVE1, GNI_DLVMODE_ADAPTIVE2,
				  GNI_DLVMODE_ADAPTIVE3};
constexpr unsigned kRoutings = sizeof(kDelivery) / sizeof(kDelivery[0]);

} // namespace

bool attributes_sound(const Attributes &a)
{
	return a.max_outstanding_nb >= DMAPP_MIN_OUTSTANDING_NB && a.max_outstanding_nb <= DMAPP_MAX_OUTSTANDING_NB &&
	       a.put_relaxed_ordering < kRoutings && a.get_relaxed_ordering < kRoutings && a.max_concurrency >= 1 &&
	       a.PI_ordering >= DMAPP_PI_ORDERING_STRICT && a.PI_ordering <= DMAPP_PI_ORDERING_RELAXED;
}

Attributes attributes_of(const dmapp_rma_attrs_t &a, const Attributes &rest)
{
	Attributes all = rest;

	all.max_outstanding_nb = a.max_outstanding_nb;
	all.offload_threshold = a.offload_threshold;
	all.put_relaxed_ordering = a.put_relaxed_ordering;
	all.get_relaxed_ordering = a.get_relaxed_ordering;
	all.max_concurrency = a.max_concurrency;
	return all;
}

dmapp_rma_attrs_t attributes_short(const Attributes &a)
{
	return {a.max_outstanding_nb, a.offload_threshold, a.put_relaxed_ordering, a.get_relaxed_ordering,
		a.max_concurrency};
}

Ways ways_of(const Attributes &a)
{
	return {a.offload_threshold, kDelivery[a.put_relaxed_ordering], kDelivery[a.get_relaxed_ordering],
		a.put_relaxed_ordering, a.get_relaxed_ordering};
}

} // namespace dmapp
