/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What the sources of this folder get from where they are compiled: in kGNI for the kernel, or in
 * libugni for programs. They are C11, include nothing else of either, and neither allocate nor
 * wait.
 */
#ifndef GNI_ENV_H
#define GNI_ENV_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/types.h>

#include "gni_pub.h"

/* Words that the NIC or another thread stores or loads, one at a time. */
#define gni_load(word) READ_ONCE(*(word))
#define gni_store(word, value) WRITE_ONCE(*(word), value)
/* Such a word announces others: they are stored before it, and loaded after it. */
#define gni_load_acquire(word) smp_load_acquire(word)
/* pairs with gni_load_acquire(), here or at the peer */
#define gni_store_release(word, value) smp_store_release(word, value)

#define gni_unlikely(condition) unlikely(condition)

#else

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "gni_pub.h"
#pragma GCC visibility pop

/* The map of the library says what it exports. */
#define EXPORT_SYMBOL_GPL(symbol) struct gni_exported

#define gni_load(word) __atomic_load_n(word, __ATOMIC_RELAXED)
#define gni_store(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#define gni_load_acquire(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define gni_store_release(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)

#define gni_unlikely(condition) __builtin_expect(!!(condition), 0)

#endif

/* Of small functions in headers: constants of libugni are computed by some of them. */
#ifdef __cplusplus
#define GNI_INLINE constexpr
#else
#define GNI_INLINE inline
#endif

/* The field of a word whose mask and shift have the name @field in aries_hw.h, and such a field. */
#define GNI_FIELD_GET(field, word) (((word) & field##_MASK) >> field##_SHIFT)
#define GNI_FIELD(field, value) ((uint64_t)(value) << field##_SHIFT & field##_MASK)

#endif
