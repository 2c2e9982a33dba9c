// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What exported functions have in common: the instance, its lock, and no exception on the way out. */
#pragma once

#include "instance.hpp"

#include <utility>

namespace dmapp
{

/** The library's one instance, from init to finalize; a child of fork() has none. It changes under the turn. */
extern constinit std::atomic<Instance *> current;

class Locked
{
public:
	Locked() { turn.take(); }
	~Locked() { turn.give(); }
	Locked(const Locked &) = delete;
	Locked &operator=(const Locked &) = delete;
};

/** Runs @f with the instance. Return: RESOURCE_ERROR if there is none, NO_SPACE without memory, else that of @f. */
template <typename F> [[gnu::always_inline]] inline dmapp_return_t enter(F &&f) noexcept
try {
	const Locked locked;
	Instance *i = current.load(std::memory_order_relaxed);

	if (!i) [[unlikely]]
		return DMAPP_RC_RESOURCE_ERROR;
	return std::forward<F>(f)(*i);
} catch (...) {
	return DMAPP_RC_NO_SPACE;
}

/** Bytes of an element; 0: no such type. */
constexpr uint64_t width_of(dmapp_type_t type)
{
	switch (type) {
	case DMAPP_DQW:
		return 16;
	case DMAPP_QW:
		return 8;
	case DMAPP_DW:
		return 4;
	case DMAPP_BYTE:
		return 1;
	}
	return 0;
}

} // namespace dmapp

#define DMAPP_LIST(...) __VA_ARGS__
/** Defines the three forms of an operation, which @does with How and @args. */
#define DMAPP_FORMS(name, does, params, args)                                                                          \
	dmapp_return_t dmapp_##name(DMAPP_LIST params)                                                                 \
	{                                                                                                              \
		return does({Form::blocking, nullptr}, DMAPP_LIST args);                                               \
	}                                                                                                              \
	dmapp_return_t dmapp_##name##_nb(DMAPP_LIST params, dmapp_syncid_handle_t *syncid)                             \
	{                                                                                                              \
		return does({Form::explicit_id, syncid}, DMAPP_LIST args);                                             \
	}                                                                                                              \
	dmapp_return_t dmapp_##name##_nbi(DMAPP_LIST params)                                                           \
	{                                                                                                              \
		return does({Form::implicit, nullptr}, DMAPP_LIST args);                                               \
	}
