// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The header alone, as a C++ program sees it, with the annotation macros and private accessors. */
#define GNI_INLINE_CQ_FUNCTIONS
#include "layout.h"

#include <type_traits>

static_assert(std::is_trivially_copyable_v<gni_post_descriptor_t>);
static_assert(std::is_same_v<decltype(GNI_CQ_EVENT_TYPE_POST), unsigned long long>);
