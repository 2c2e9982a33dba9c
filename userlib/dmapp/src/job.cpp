// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Begin and end, attributes, the job, texts of codes. */
#include "entry.hpp"
#include "guard.hpp"

#include <iterator>
#include <memory>
#include <new>

namespace dmapp
{

constinit std::atomic<Instance *> current;

namespace
{

pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() has no library that was initialised; what the parent has stays the parent's. */
void in_child()
{
	current = nullptr;
	/* Who had it is not in the child. */
	turn.give();
	beginning = PTHREAD_MUTEX_INITIALIZER;
}

dmapp_return_t begin(const Attributes &wanted)
{
	static bool watched;

	if (current)
		return DMAPP_RC_BUSY;
	if (!watched)
		watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
	if (!watched)
		return DMAPP_RC_NO_SPACE;
	auto instance = std::make_unique<Instance>();
	const dmapp_return_t rc = instance->open(wanted);
	if (rc == DMAPP_RC_SUCCESS) {
		const Locked locked;
		current = instance.release();
	}
	return rc;
}

/* No thread is cancelled while it waits for the other PEs or for the helper: no exception may pass here. */
template <typename F> dmapp_return_t alone(F &&f) noexcept
{
	const ugni::Uncancelled whole;
	dmapp_return_t rc = DMAPP_RC_NO_SPACE;

	(void)pthread_mutex_lock(&beginning);
	try {
		rc = f();
	} catch (const std::bad_alloc &) {
		rc = DMAPP_RC_NO_SPACE;
	}
	(void)pthread_mutex_unlock(&beginning);
	return rc;
}

/* Those in force: what this thread has chosen, or the defaults while there is no instance. */
Attributes in_force()
{
	Attributes a = kDefaults;

	(void)enter([&](Instance &i) {
		const Ways &ways = i.ways();

		a = i.attributes();
		a.offload_threshold = ways.offload_threshold;
		a.put_relaxed_ordering = ways.put_routing;
		a.get_relaxed_ordering = ways.get_routing;
		return DMAPP_RC_SUCCESS;
	});
	return a;
}

dmapp_return_t change(const Attributes &wanted)
{
	return enter([&](Instance &i) {
		Attributes all = i.attributes();

		all.offload_threshold = wanted.offload_threshold;
		all.put_relaxed_ordering = wanted.put_relaxed_ordering;
		all.get_relaxed_ordering = wanted.get_relaxed_ordering;
		if (!attributes_sound(all))
			return DMAPP_RC_INVALID_PARAM;
		i.ways() = ways_of(all);
		return DMAPP_RC_SUCCESS;
	});
}

} // namespace

} // namespace dmapp

using namespace dmapp;

dmapp_return_t dmapp_init(dmapp_rma_attrs_t *requested, dmapp_rma_attrs_t *actual)
{
	const dmapp_return_t rc =
		alone([&] { return begin(requested ? attributes_of(*requested, kDefaults) : kDefaults); });

	if (rc == DMAPP_RC_SUCCESS && actual)
		*actual = attributes_short(in_force());
	return rc;
}

dmapp_return_t dmapp_init_ext(dmapp_rma_attrs_ext_t *requested, dmapp_rma_attrs_ext_t *actual)
{
	const dmapp_return_t rc = alone([&] { return begin(requested ? *requested : kDefaults); });

	if (rc == DMAPP_RC_SUCCESS && actual)
		*actual = in_force();
	return rc;
}

dmapp_return_t dmapp_finalize(void)
{
	return alone([] {
		/* Ends when the turn was given back, which its helper may need for its own end. */
		std::unique_ptr<Instance> ending;
		const Locked locked;

		ending.reset(current);
		if (!ending)
			return DMAPP_RC_RESOURCE_ERROR;
		current = nullptr;
		return ending->gsync_wait();
	});
}

dmapp_return_t dmapp_initialized(int *flag)
{
	if (!flag)
		return DMAPP_RC_INVALID_PARAM;
	*flag = current != nullptr;
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_get_rma_attrs(dmapp_rma_attrs_t *attrs)
{
	if (!attrs)
		return DMAPP_RC_INVALID_PARAM;
	*attrs = attributes_short(in_force());
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_get_rma_attrs_ext(dmapp_rma_attrs_ext_t *attrs)
{
	if (!attrs)
		return DMAPP_RC_INVALID_PARAM;
	*attrs = in_force();
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_set_rma_attrs(dmapp_rma_attrs_t *requested, dmapp_rma_attrs_t *actual)
{
	const dmapp_return_t rc = requested ? change(attributes_of(*requested, kDefaults)) : DMAPP_RC_INVALID_PARAM;

	if (rc == DMAPP_RC_SUCCESS && actual)
		*actual = attributes_short(in_force());
	return rc;
}

dmapp_return_t dmapp_set_rma_attrs_ext(dmapp_rma_attrs_ext_t *requested, dmapp_rma_attrs_ext_t *actual)
{
	const dmapp_return_t rc = requested ? change(*requested) : DMAPP_RC_INVALID_PARAM;

	if (rc == DMAPP_RC_SUCCESS && actual)
		*actual = in_force();
	return rc;
}

dmapp_return_t dmapp_get_jobinfo(dmapp_jobinfo_t *info)
{
	return enter([&](Instance &i) {
		if (!info)
			return DMAPP_RC_INVALID_PARAM;
		i.job(info);
		return DMAPP_RC_SUCCESS;
	});
}

dmapp_return_t dmapp_explain_error(dmapp_return_t err, const char **text)
{
	static constexpr const char *kTexts[] = {
		"success",
		"an argument is wrong, or a place is not in its segment",
		"an address is not a multiple of 8",
		"the network or the other PE failed",
		"something ran out, or the library is not initialised",
		"the other PE does not permit it",
		"no memory",
		"not done yet",
		"not supported",
		"not found",
		"somebody else has it",
		"not used",
	};
	const auto n = static_cast<size_t>(err);

	if (!text)
		return DMAPP_RC_INVALID_PARAM;
	*text = n < std::size(kTexts) ? kTexts[n] : "no code of DMAPP";
	return n < std::size(kTexts) ? DMAPP_RC_SUCCESS : DMAPP_RC_INVALID_PARAM;
}
