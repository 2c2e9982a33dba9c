// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Stores that the NIC sees. The descriptor area is memory without side
 * effects that real hardware would map write-combining; the doorbell is the
 * one store that has an effect.
 */
#ifndef UGNI_MMIO_HPP
#define UGNI_MMIO_HPP

#include <cstdint>

#ifdef UGNI_MMIO_HOOK
/* Test builds: the doorbell page is ordinary memory, the test runs the NIC. */
extern "C" void ugni_mmio_store64(volatile uint64_t *address, uint64_t value);
#endif

namespace ugni
{

/** Everything stored before is visible to the NIC before anything stored later. */
static inline void store_fence()
{
#if defined(__x86_64__)
	asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	asm volatile("dmb oshst" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/** The same, and before anything that is loaded later. */
static inline void full_fence()
{
#if defined(__x86_64__)
	asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	asm volatile("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void compiler_barrier()
{
	asm volatile("" ::: "memory");
}

/** One 64-bit store to a doorbell; memory that the NIC may have written is read anew afterwards. */
static inline void doorbell_store(volatile uint64_t *address, uint64_t value)
{
#ifdef UGNI_MMIO_HOOK
	ugni_mmio_store64(address, value);
#else
	*address = value;
#endif
	compiler_barrier();
}

} // namespace ugni

#endif
